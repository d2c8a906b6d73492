"""Coefficients with confidence intervals: who survived the Titanic, and how sure is that?

Logistic regression without a penalty is maximum likelihood, whose curvature tells the standard errors. exp(coefficient)
is an odds ratio: by what factor the odds of survival change with one unit of the feature, the others held fixed.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tutelage import LogisticRegression, datasets


def main() -> None:
    """Fit, print the table, and read odds ratios from it."""
    frame, y = datasets.titanic(return_X_y=True)
    X = frame.select(
        female=(pl.col("Sex") == "female").cast(pl.Float64),
        child=(pl.col("Age") < 13).fill_null(value=False).cast(pl.Float64),
        second_class=(pl.col("Pclass") == 2).cast(pl.Float64),
        third_class=(pl.col("Pclass") == 3).cast(pl.Float64),
        relatives=(pl.col("SibSp") + pl.col("Parch")).cast(pl.Float64),
    )
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    table = model.inference()
    print(table)
    print()
    for name, low, high in zip(X.columns, table.columns["[0.025"], table.columns["0.975]"], strict=False):
        print(f"{name:>12}: odds times {np.exp(low):5.2f} to {np.exp(high):5.2f}")


if __name__ == "__main__":
    main()

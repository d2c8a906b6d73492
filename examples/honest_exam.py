"""An exam that counts: who survived the Titanic, asked four times.

The rows are sealed first. The first opening has the usual interval; the exam answers the others only as a ladder does,
with a score if it beats the best so far by more than the noise, and allows in the interval for what earlier answers
taught.
"""

from __future__ import annotations

import polars as pl

from tutelage import Exam, GaussianNB, KNeighborsClassifier, LogisticRegression, compare, datasets, risk_bounds


def main() -> None:
    """Seal, choose by cross-validation, open, and open again."""
    frame, y = datasets.titanic(return_X_y=True)
    X = frame.select(
        female=(pl.col("Sex") == "female").cast(pl.Float64),
        child=(pl.col("Age") < 13).fill_null(value=False).cast(pl.Float64),
        first_class=(pl.col("Pclass") == 1).cast(pl.Float64),
        third_class=(pl.col("Pclass") == 3).cast(pl.Float64),
        relatives=(pl.col("SibSp") + pl.col("Parch")).cast(pl.Float64),
    ).to_numpy()
    exam = Exam(X, y, share=0.3, random_state=1912)
    print(f"{len(exam.y)} passengers to learn from, {exam.rows} sealed\n")

    print("Chosen before, by folds of the open rows:")
    print(compare(LogisticRegression(), GaussianNB(), exam.X, exam.y), "\n")

    only_sex = LogisticRegression().fit(exam.X * [1, 0, 0, 0, 0], exam.y)
    print(exam.open(only_sex, name="sex alone"))
    for model in (LogisticRegression(), GaussianNB(), KNeighborsClassifier(7)):
        print(exam.open(model.fit(exam.X, exam.y)))
    print(f"\nopened {len(exam.openings)} times; the best so far: {exam.best}\n")

    print("What theory promises of the logistic regression without the sealed rows:")
    print(risk_bounds(LogisticRegression().fit(exam.X, exam.y), exam.X, exam.y))


if __name__ == "__main__":
    main()

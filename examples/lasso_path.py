"""The lasso path of the diabetes data, drawn: which features enter, and when.

    python examples/lasso_path.py [picture.png]

From right to left the penalty weakens and one feature after another gets a coefficient. Every point of the path carries
its own duality gap.
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_diabetes

from tutelage import Standardise, lasso_path


def main(file: str = "lasso_path.png") -> None:
    """Compute the path, print the order of entry, and draw it."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    data = load_diabetes()
    X = Standardise().fit_transform(data.data)
    y = data.target - data.target.mean()
    alphas, coefs, gaps = lasso_path(X, y, alphas=100, tol=1e-8)
    entry = [int(np.flatnonzero(row)[0]) for row in coefs]
    for feature in np.argsort(entry, kind="stable"):
        print(f"{data.feature_names[feature]:>4} enters at alpha = {alphas[entry[feature]]:8.3f}")
    print(f"largest duality gap, relative to the risk of no features: {np.max(2 * len(y) * gaps / (y @ y)):.1e}")

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    for name, row in zip(data.feature_names, coefs, strict=True):
        (line,) = axes.semilogx(alphas, row)
        axes.annotate(name, (alphas[-1], row[-1]), color=line.get_color(), va="center", ha="right")
    axes.axhline(0, color="0.7", linewidth=0.8, zorder=0)
    axes.set(xlabel="alpha, the strength of the penalty", ylabel="coefficient", title="Lasso path, diabetes data")
    figure.savefig(file, dpi=120)
    plt.close(figure)
    print(f"drawn in {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])

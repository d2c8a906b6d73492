"""What k does to a border: the regions of the k nearest neighbours for k = 1, 3 and 15, drawn.

    python examples/decision_regions.py [picture.png]

With k = 1 every row rules the points nearest to it, and single rows make islands; with 15 the border is smooth. One
search scores every k, each row left out in turn.
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_moons

from tutelage import KNeighborsClassifier
from tutelage.neighbours import best_k, scores_for_every_k


def main(file: str = "decision_regions.png") -> None:
    """Score every k by one search, and draw three of them."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, y = make_moons(n_samples=300, noise=0.35, random_state=0)
    scores = scores_for_every_k(KNeighborsClassifier(), X, y, largest=40)
    print(f"left out one at a time, k = {best_k(KNeighborsClassifier(), X, y, largest=40)} is best")
    across, up = np.meshgrid(
        np.linspace(X[:, 0].min() - 0.5, X[:, 0].max() + 0.5, 400),
        np.linspace(X[:, 1].min() - 0.5, X[:, 1].max() + 0.5, 300),
    )
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True, layout="constrained")
    for axes, k in zip(panels, (1, 3, 15), strict=True):
        model = KNeighborsClassifier(k).fit(X, y)
        region = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
        axes.contourf(across, up, region, levels=[-0.5, 0.5, 1.5], colors=["#cfe0f3", "#fbdcc4"])
        axes.contour(across, up, region, levels=[0.5], colors="#444444", linewidths=0.8)
        axes.scatter(*X.T, c=np.where(y == 1, "#d95f02", "#1f5fa8"), s=10, edgecolors="white", linewidths=0.3)
        axes.set_title(f"k = {k}: {scores[k - 1]:.1%} right when left out")
        axes.set_xticks([])
        axes.set_yticks([])
        print(f"k = {k:2}: leave-one-out accuracy {scores[k - 1]:.3f}")
    figure.savefig(file, dpi=120)
    plt.close(figure)
    print(f"drawn in {file}")


if __name__ == "__main__":
    main(*sys.argv[1:])

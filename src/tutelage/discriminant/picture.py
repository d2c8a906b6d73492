"""The picture of a discriminant: rows in the directions that hold their classes apart.

Matplotlib is optional: ``pip install 'tutelage[plot]'``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tutelage.drawing import pyplot


def plot_directions(model: Any, X: Any, y: Any, ax: Any = None) -> Any:
    """Draw transformed rows by class, with the mean of each.

    Parameters
    ----------
    model : estimator
        Fitted, with ``transform``, ``classes_`` and perhaps ``explained_variance_ratio_``.
    X : array or frame of shape (n, d)
        The rows.
    y : array of shape (n,)
        Their classes.
    ax : matplotlib Axes, optional
        Where to draw.

    Returns
    -------
    matplotlib Axes
        The picture: a histogram where there is one direction, points where there are more.
    """
    plt = pyplot()
    Z, labels = model.transform(X), np.asarray(y)
    if Z.shape[1] == 0:
        raise ValueError("A plot needs a direction between classes, but the model knows one class; fit it to two.")
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
    colours = plt.get_cmap("tab10" if len(model.classes_) <= 10 else "turbo")
    edges = np.histogram_bin_edges(Z[:, 0], bins=30) if Z.shape[1] == 1 else None
    for c, label in enumerate(model.classes_):
        here = Z[labels == label]
        colour = colours(c if len(model.classes_) <= 10 else c / (len(model.classes_) - 1))
        if edges is not None:
            ax.hist(here[:, 0], bins=edges, color=colour, alpha=0.6, label=str(label))
            continue
        ax.scatter(here[:, 0], here[:, 1], s=max(2.0, min(24.0, 4e4 / len(Z))), color=colour, alpha=0.6, linewidths=0)
        if len(here):
            centre = here[:, :2].mean(axis=0)
            ax.scatter(*centre, s=90, marker="X", color=colour, edgecolors="black", label=str(label), zorder=3)
    shares = getattr(model, "explained_variance_ratio_", np.empty(0))
    names = [
        f"discriminant {j + 1}" + (f" ({shares[j]:.0%} of the spread between classes)" if j < len(shares) else "")
        for j in range(min(2, Z.shape[1]))
    ]
    ax.set_xlabel(names[0])
    ax.set_ylabel("rows" if edges is not None else names[1])
    ax.legend(title="class", frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax

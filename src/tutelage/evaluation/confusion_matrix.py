"""The confusion matrix: which class is taken for which.

Counts, the truth down and the prediction across; in each row also the share of that class, with Wilson's interval.

>>> print(confusion(["ham", "ham", "spam", "spam"], ["ham", "spam", "spam", "spam"]))
truth / predicted       ham      spam
              ham         1         1
             spam         0         2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tutelage.drawing import axes_for
from tutelage.evaluation.intervals import wilson
from tutelage.evaluation.metrics import confusion_cells
from tutelage.evaluation.pictures import altair


@dataclass(frozen=True, eq=False)
class Confusion:
    """A confusion matrix.

    Attributes
    ----------
    classes : array of shape (k,)
        The labels.
    counts : array of shape (k, k)
        The truth down, the prediction across.
    """

    classes: Any
    counts: Any

    def frame(self, level: float = 0.95) -> Any:
        """Give a row for each cell: the count, its share of the class, and the interval of that share.

        Parameters
        ----------
        level : float, default=0.95
            The confidence.
        """
        import polars as pl

        names = [str(label) for label in self.classes]
        of_class = self.counts.sum(axis=1)
        rows = []
        for i, truth in enumerate(names):
            for j, told in enumerate(names):
                count, total = int(self.counts[i, j]), int(of_class[i])
                low, high = wilson(count, total, level) if total else (0.0, 1.0)
                share = count / total if total else float("nan")
                rows.append((truth, told, count, share, low, high))
        return pl.DataFrame(rows, schema=["truth", "predicted", "count", "share", "low", "high"], orient="row")

    def __str__(self) -> str:
        names = [str(label) for label in self.classes]
        width = max(9, *(len(name) + 1 for name in names))
        side = max(len("truth / predicted"), *map(len, names))
        lines = ["truth / predicted".rjust(side) + "".join(f" {name:>{width}}" for name in names)]
        lines += [
            name.rjust(side) + "".join(f" {int(count):>{width}}" for count in row)
            for name, row in zip(names, self.counts, strict=True)
        ]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Draw the matrix, coloured by the share of each class.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        """
        k = len(self.classes)
        ax = axes_for(ax, (1.6 + 0.62 * k, 1.2 + 0.55 * k))
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        for i in range(k):
            for j in range(k):
                if k <= 12 or self.counts[i, j]:
                    ax.text(
                        j,
                        i,
                        f"{int(self.counts[i, j]):,}",
                        ha="center",
                        va="center",
                        fontsize="small" if k <= 12 else "xx-small",
                        color="white" if shares[i, j] > 0.55 else "black",
                    )
        names = [str(label) for label in self.classes]
        ax.set_xticks(range(k), names, rotation=0 if max(map(len, names)) * k < 40 else 90)
        ax.set_yticks(range(k), names)
        ax.set(xlabel="predicted", ylabel="truth")
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        base = alt.Chart(self.frame()).encode(x="predicted:N", y="truth:N")
        return base.mark_rect().encode(
            color=alt.Color("share", scale=alt.Scale(scheme="blues", domain=[0, 1])),
            tooltip=["truth", "predicted", "count", "share", "low", "high"],
        ) + base.mark_text().encode(
            text="count", color=alt.condition("datum.share > 0.55", alt.value("white"), alt.value("black"))
        )


def confusion(y: Any, prediction: Any, *, classes: Any = None) -> Confusion:
    """Count which class is taken for which.

    Parameters
    ----------
    y, prediction : arrays of shape (n,)
        The truth, and the labels predicted.
    classes : array, optional
        All labels, sorted; those that occur if not given.

    Returns
    -------
    Confusion
        With `plot`, `chart` and `frame`.
    """
    labels, row, column = confusion_cells(
        np.asarray(y), np.asarray(prediction), None if classes is None else np.asarray(classes)
    )
    k = len(labels)
    return Confusion(labels, np.bincount(row * k + column, minlength=k * k).reshape(k, k))

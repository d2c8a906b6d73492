"""Margins: how far each row is on its right side.

The margin of a row is y f(x) with y = -1 or 1 for two classes, and the score of its class minus the best score of
another for more: negative where the classifier is wrong. Their distribution says more than the share of errors: how
many rows are right but only just, and which are wrong by far (mislabelled, perhaps). For linear classifiers margins are
divided by |w|, and are then distances to the border.

>>> import numpy as np
>>> from tutelage import LogisticRegression
>>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
>>> made = margins(LogisticRegression().fit(X, [0, 0, 1, 1]), X, [0, 0, 1, 1])
>>> bool(np.all(made.values > 0)), made.distances
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tutelage.base import is_sparse
from tutelage.drawing import axes_for
from tutelage.evaluation.meta import responses
from tutelage.evaluation.pictures import COLOURS, GREY, altair
from tutelage.labels import encode_with


@dataclass(frozen=True, eq=False)
class Margins:
    """The margins of rows.

    Attributes
    ----------
    values : array of shape (n,)
        The margin of each row, negative where the classifier is wrong.
    distances : bool
        Whether they are distances to the border of a linear classifier.
    """

    values: Any
    distances: bool

    def frame(self) -> Any:
        """Give the distribution as a table: margins, rising, and the share of rows at or below each."""
        import polars as pl

        ordered = np.sort(self.values)
        return pl.DataFrame({"margin": ordered, "share": np.arange(1, len(ordered) + 1) / len(ordered)})

    def plot(self, ax: Any = None, *, label: str | None = None, color: str = COLOURS[0]) -> Any:
        """Draw the share of rows whose margin is at most so large.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        label : str, optional
            What the rows are called.
        color : str
            The line's.
        """
        ax = axes_for(ax)
        data = self.frame()
        ax.axvline(0, color=GREY, linewidth=0.8)
        ax.step(data["margin"], data["share"], where="post", color=color, label=label)
        ax.set(xlabel=self._title, ylabel="share of rows", ylim=(0, 1))
        if label is not None:
            ax.legend(frameon=False)
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        return (
            alt.Chart(self.frame())
            .mark_line(interpolate="step-after", color=COLOURS[0])
            .encode(x=alt.X("margin", title=self._title), y=alt.Y("share", title="share of rows"))
        )

    @property
    def _title(self) -> str:
        return "distance to the border, negative if wrong" if self.distances else "margin, negative if wrong"


def margins(model: Any, X: Any, y: Any) -> Margins:
    """Give the margins of rows.

    Parameters
    ----------
    model : estimator
        A fitted classifier with scores or probabilities.
    X : array or frame of shape (n, d)
        The rows.
    y : array of shape (n,)
        Their labels.

    Returns
    -------
    Margins
        With `plot`, `chart` and `frame`.
    """
    code = encode_with(model.classes_, np.asarray(y))
    scores = responses(model, X, "score")
    own = np.take_along_axis(scores, code[:, None], 1)[:, 0]
    others = scores.copy()
    np.put_along_axis(others, code[:, None], -np.inf, 1)
    values = own - others.max(axis=1)
    coef: Any = getattr(model, "coef_", None)
    length = 0.0
    if scores.shape[1] == 2 and coef is not None and hasattr(model, "decision_function"):
        length = float(np.linalg.norm(np.ravel(coef.toarray() if is_sparse(coef) else coef)))
    return Margins(values / length, True) if length > 0 else Margins(values, False)

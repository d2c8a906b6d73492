"""What every threshold would do: the ROC curve and the precision-recall curve.

Sort the rows by score and call the first m positive, for every m. The ROC curve shows the share of positives found
(recall) against the share of negatives called positive by mistake; the area under it is the chance that a positive
outranks a negative. The precision-recall curve shows the share of positives among those called; it changes with the
share of positives there are, and is the one to look at where they are few.

Bands are those of single points: with the threshold fixed, recall and the false alarms are shares of rows, with
Wilson's interval.

Cost: one sort. It fails with a single class.

>>> import numpy as np
>>> curve = roc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
>>> curve.false_alarms.tolist(), curve.recall.tolist(), curve.area
([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.drawing import axes_for
from tutelage.evaluation.intervals import Interval, bootstrap, wilson
from tutelage.evaluation.metrics import metric
from tutelage.evaluation.pictures import COLOURS, GREY, altair
from tutelage.evaluation.ranking import delong
from tutelage.labels import encode

if TYPE_CHECKING:
    from tutelage.evaluation.metrics import Floats

MOST_POINTS = 2000  # drawn; curves of more rows are thinned out, their areas are not


@dataclass(frozen=True, eq=False)
class ROC:
    """A ROC curve.

    Attributes
    ----------
    false_alarms, recall : arrays of shape (m,)
        The curve.
    thresholds : array of shape (m,)
        Rows with at least this score are called positive.
    area : float
        Under the curve.
    interval : Interval
        Of the area (DeLong).
    positives, negatives : int
        How many rows there are of each.
    level : float
        The confidence.
    """

    false_alarms: Floats
    recall: Floats
    thresholds: Floats
    area: float
    interval: Interval
    positives: int
    negatives: int
    level: float

    def frame(self) -> Any:
        """Give the curve as a table, with Wilson's interval of each recall."""
        import polars as pl

        keep = thinned(len(self.recall))
        ends = np.array([wilson(share * self.positives, self.positives, self.level) for share in self.recall[keep]])
        columns = {"false alarms": self.false_alarms, "recall": self.recall, "threshold": self.thresholds}
        return pl.DataFrame({name: values[keep] for name, values in columns.items()}).with_columns(
            low=ends[:, 0], high=ends[:, 1]
        )

    def __str__(self) -> str:
        return f"area under the ROC curve {self.area:.4g} ({100 * self.level:g} % interval {self.interval}, DeLong)"

    def plot(self, ax: Any = None, *, label: str | None = None, color: str = COLOURS[0]) -> Any:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; several curves may share them.
        label : str, optional
            What the curve is called.
        color : str
            Its colour.
        """
        ax = axes_for(ax, (4.8, 4.8))
        data = self.frame()
        name = "" if label is None else f"{label}: "
        words = f"{name}area {self.area:.3f} ({self.interval.low:.3f}-{self.interval.high:.3f})"
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        ax.fill_between(data["false alarms"], data["low"], data["high"], color=color, alpha=0.12, linewidth=0)
        ax.plot(data["false alarms"], data["recall"], color=color, label=words)
        ax.set(xlabel="false alarms (share of negatives)", ylabel="recall (share of positives)", aspect="equal")
        ax.legend(frameon=False, loc="lower right", fontsize="small")
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        base = alt.Chart(self.frame(), title=str(self)).encode(x=alt.X("false alarms"))
        return base.mark_area(opacity=0.12, color=COLOURS[0]).encode(y="low", y2="high") + base.mark_line(
            color=COLOURS[0]
        ).encode(y=alt.Y("recall"), order="threshold", tooltip=["threshold", "recall", "false alarms"])


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """A precision-recall curve.

    Attributes
    ----------
    recall, precision, thresholds : arrays of shape (m,)
        The curve: rows with at least the threshold's score are called positive.
    average_precision : float
        The mean precision over the positives.
    interval : Interval
        Of the average precision (BCa bootstrap).
    share : float
        Of positives: the precision of guessing.
    level : float
        The confidence.
    """

    recall: Floats
    precision: Floats
    thresholds: Floats
    average_precision: float
    interval: Interval
    share: float
    level: float

    def frame(self) -> Any:
        """Give the curve as a table."""
        import polars as pl

        keep = thinned(len(self.recall))
        columns = {"recall": self.recall, "precision": self.precision, "threshold": self.thresholds}
        return pl.DataFrame({name: values[keep] for name, values in columns.items()})

    def __str__(self) -> str:
        words = f"{100 * self.level:g} % interval {self.interval}, BCa bootstrap"
        return f"average precision {self.average_precision:.4g} ({words})"

    def plot(self, ax: Any = None, *, label: str | None = None, color: str = COLOURS[0]) -> Any:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; several curves may share them.
        label : str, optional
            What the curve is called.
        color : str
            Its colour.
        """
        ax = axes_for(ax, (4.8, 4.8))
        data = self.frame()
        words = f"{'' if label is None else label + ': '}average precision {self.average_precision:.3f}"
        ax.axhline(self.share, color=GREY, linewidth=0.8)
        ax.step(data["recall"], data["precision"], where="pre", color=color, label=words)
        ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1.01), ylim=(0, 1.02))
        ax.legend(frameon=False, loc="lower left", fontsize="small")
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        return (
            alt.Chart(self.frame(), title=str(self))
            .mark_line(color=COLOURS[0], interpolate="step-before")
            .encode(x="recall", y="precision", order="recall", tooltip=["threshold", "recall", "precision"])
        )


def thinned(points: int) -> Any:
    """Give the numbers of the points that are drawn.

    Parameters
    ----------
    points : int
        How many there are.
    """
    return np.unique(np.linspace(0, points - 1, min(points, MOST_POINTS)).astype(int))


def _counts(y: Any, scores: Any) -> tuple[Floats, Floats, Floats, Any]:
    """Give thresholds from above, and how many positives and negatives have at least each of these scores."""
    classes, code = encode(np.asarray(y))
    s = np.asarray(scores, dtype=float)
    if s.ndim == 2 and s.shape[1] == 2:
        s = s[:, 1]
    if len(classes) != 2:
        raise ValueError(f"y must have rows of two classes, found {classes.tolist()}.")
    if s.shape != code.shape or not np.all(np.isfinite(s)):
        raise ValueError(f"scores must be a finite number for each of {len(code)} rows, found the shape {s.shape}.")
    distinct, place = np.unique(-s, return_inverse=True)
    everyone = np.bincount(place)
    hits = np.bincount(place, weights=code, minlength=len(distinct))
    return -distinct, np.cumsum(hits), np.cumsum(everyone - hits), s


def roc(y: Any, scores: Any, *, level: float = 0.95) -> ROC:
    """Give the ROC curve.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes; the larger is the positive one.
    scores : array of shape (n,) or (n, 2)
        Scores or probabilities.
    level : float, default=0.95
        The confidence of the intervals.

    Returns
    -------
    ROC
        With `plot`, `chart` and `frame`.
    """
    thresholds, hits, alarms, s = _counts(y, scores)
    area = delong(y, s)
    return ROC(
        np.r_[0.0, alarms / alarms[-1]],
        np.r_[0.0, hits / hits[-1]],
        np.r_[np.inf, thresholds],
        area.area,
        area.interval(level),
        round(hits[-1]),
        round(alarms[-1]),
        level,
    )


def precision_recall(
    y: Any, scores: Any, *, level: float = 0.95, tables: int = 2000, random_state: int = 0
) -> PrecisionRecall:
    """Give the precision-recall curve.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes; the larger is the positive one.
    scores : array of shape (n,) or (n, 2)
        Scores or probabilities.
    level : float, default=0.95
        The confidence of the interval.
    tables : int, default=2000
        How many tables its bootstrap draws.
    random_state : int, default=0
        The seed.

    Returns
    -------
    PrecisionRecall
        With `plot`, `chart` and `frame`.

    Examples
    --------
    >>> import numpy as np
    >>> curve = precision_recall(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> curve.precision.round(3).tolist(), round(curve.average_precision, 3)
    ([1.0, 0.5, 0.667, 0.5], 0.833)
    """
    thresholds, hits, alarms, s = _counts(y, scores)
    value = metric("average_precision")(y, s)
    interval = bootstrap(y, s, "average_precision", level=level, tables=tables, random_state=random_state)
    share = float(hits[-1] / (hits[-1] + alarms[-1]))
    return PrecisionRecall(hits / hits[-1], hits / (hits + alarms), thresholds, value, interval, share, level)

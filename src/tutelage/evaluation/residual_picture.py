"""Residuals: what a regression left over, against what it predicted.

A good regression leaves a cloud without shape around zero. A bend says that the model misses a curve, a funnel that the
noise grows with the prediction. The line is the mean residual of neighbouring predictions, in twenty groups of equal
size, with its interval; where it leaves zero, the model is wrong on the average there.

>>> import numpy as np
>>> x = np.linspace(-1, 1, 400)
>>> made = residuals(x**2, np.full(400, 1 / 3) + 0.001 * x)
>>> bool(made.trend["low"][0] > 0 > made.trend["high"][10])
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from tutelage.drawing import axes_for
from tutelage.evaluation.intervals import check_level
from tutelage.evaluation.pictures import COLOURS, GREY, altair


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residuals of a regression.

    Attributes
    ----------
    predicted, residual : arrays of shape (n,)
        The prediction, and the truth minus it.
    trend : polars.DataFrame
        The mean residual of neighbouring predictions: predicted, mean, low, high.
    level : float
        The confidence of the trend.
    """

    predicted: Any
    residual: Any
    trend: Any
    level: float

    def frame(self) -> Any:
        """Give predictions and residuals as a table."""
        import polars as pl

        return pl.DataFrame({"predicted": self.predicted, "residual": self.residual})

    def plot(self, ax: Any = None) -> Any:
        """Draw residuals against predictions, with the trend.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        """
        ax = axes_for(ax)
        ax.axhline(0, color=GREY, linewidth=0.8)
        size = max(2.0, min(20.0, 2e4 / len(self.residual)))
        ax.scatter(self.predicted, self.residual, s=size, color=COLOURS[0], alpha=0.4, linewidths=0)
        ax.fill_between(
            self.trend["predicted"], self.trend["low"], self.trend["high"], color=COLOURS[1], alpha=0.2, linewidth=0
        )
        ax.plot(self.trend["predicted"], self.trend["mean"], color=COLOURS[1])
        ax.set(xlabel="predicted", ylabel="truth minus prediction")
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        points = alt.Chart(self.frame()).mark_circle(size=12, opacity=0.4, color=COLOURS[0])
        base = alt.Chart(self.trend).encode(x="predicted")
        return (
            points.encode(x="predicted", y="residual")
            + base.mark_area(opacity=0.2, color=COLOURS[1]).encode(y="low", y2="high")
            + base.mark_line(color=COLOURS[1]).encode(y="mean")
        )


def residuals(y: Any, prediction: Any, *, level: float = 0.95, groups: int = 20) -> Residuals:
    """Give the residuals of a regression and their trend.

    Parameters
    ----------
    y, prediction : arrays of shape (n,)
        The truth and the prediction.
    level : float, default=0.95
        The confidence of the trend.
    groups : int, default=20
        How many groups of neighbouring predictions make the trend; fewer where there are less than ten rows for each.

    Returns
    -------
    Residuals
        With `plot`, `chart` and `frame`.
    """
    import polars as pl

    truth, told = np.asarray(y, dtype=float), np.asarray(prediction, dtype=float)
    if truth.ndim != 1 or truth.shape != told.shape or len(truth) < 2:
        raise ValueError(
            f"y and prediction must be vectors of the same length, at least 2, found {truth.shape} and {told.shape}."
        )
    left = truth - told
    parts = np.array_split(np.argsort(told, kind="stable"), max(1, min(groups, len(left) // 10)))
    rows = []
    for part in parts:
        mean = float(left[part].mean())
        reach = (
            float(stats.t.ppf(0.5 + check_level(level) / 2, len(part) - 1) * left[part].std(ddof=1)) / len(part) ** 0.5
        )
        rows.append((float(told[part].mean()), mean, mean - reach, mean + reach))
    trend = pl.DataFrame(rows, schema=["predicted", "mean", "low", "high"], orient="row")
    return Residuals(told, left, trend, level)

"""Are the probabilities true? The reliability diagram, its consistency bands, and what Brier's score is made of.

Plot the share of positives among rows with probability p against p; calibrated probabilities lie on the diagonal. Bins
make the picture depend on where they are cut, so the curve here is the isotonic regression of the truth on p (CORP;
Dimitriadis, Gneiting and Jordan 2021): the best function of p that does not fall, with no bins to choose. With it
Brier's score falls apart exactly,

    mean (p - y)^2  =  miscalibration - discrimination + uncertainty
    uncertainty     =  share (1 - share)                        how hard the question is
    discrimination  =  uncertainty - Brier of the curve          what the order of the probabilities knows
    miscalibration  =  Brier - Brier of the curve                what could be had by calibrating

A curve is never on the diagonal, even for true probabilities. The band is where it would lie, at each p, in 95 of 100
tables of the same probabilities whose truth were drawn by them; outside of it they are not calibrated.

Cost: 200 isotonic regressions, O(n log n) each. It fails with few distinct probabilities and few rows: the band is then
most of the square, and says so.

>>> import numpy as np
>>> random = np.random.default_rng(0)
>>> p = random.random(2000)
>>> true = reliability((random.random(2000) < p).astype(int), p)
>>> sure = reliability((random.random(2000) < 0.5 + (p - 0.5) / 3).astype(int), p)
>>> bool(true.miscalibration < 0.01 < 0.03 < sure.miscalibration), true.outside < 0.1, sure.outside > 0.5
(True, True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from tutelage.drawing import axes_for
from tutelage.evaluation.intervals import check_level
from tutelage.evaluation.metrics import as_probabilities
from tutelage.evaluation.pictures import COLOURS, GREY, altair

if TYPE_CHECKING:
    from tutelage.evaluation.metrics import Floats


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability diagram.

    Attributes
    ----------
    predicted, observed : arrays of shape (m,)
        The distinct probabilities, rising, and the share of positives there by isotonic regression.
    low, high : arrays of shape (m,)
        The consistency band.
    rows : array of shape (m,)
        How many rows have each probability.
    level : float
        Of the band.
    brier, miscalibration, discrimination, uncertainty : float
        Brier's score and its parts.
    """

    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    rows: Floats
    level: float
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    @property
    def outside(self) -> float:
        """The share of rows whose probability is outside of the band."""
        out = (self.observed < self.low - 1e-12) | (self.observed > self.high + 1e-12)
        return float(self.rows[out].sum() / self.rows.sum())

    @property
    def calibration_error(self) -> float:
        """The mean distance of the curve from the diagonal, over rows."""
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.rows))

    def __str__(self) -> str:
        return (
            f"Brier {self.brier:.4g} = miscalibration {self.miscalibration:.4g} - discrimination "
            f"{self.discrimination:.4g} + "
            f"uncertainty {self.uncertainty:.4g}; {100 * self.outside:.0f} % of the rows are outside of the "
            f"{100 * self.level:g} % band."
        )

    def frame(self) -> Any:
        """Give the diagram as a table."""
        import polars as pl

        return pl.DataFrame(
            {
                "predicted": self.predicted,
                "observed": self.observed,
                "low": self.low,
                "high": self.high,
                "rows": self.rows.astype(np.int64),
            }
        )

    def plot(self, ax: Any = None, *, label: str | None = None) -> Any:
        """Draw the curve, the band and where the probabilities are.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        label : str, optional
            What the curve is called.
        """
        ax = axes_for(ax, (4.8, 4.8))
        ax.fill_between(self.predicted, self.low, self.high, color=COLOURS[0], alpha=0.15, linewidth=0)
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8)
        ax.plot(self.predicted, self.observed, color=COLOURS[1], label=label)
        counts, edges = np.histogram(self.predicted, bins=40, range=(0, 1), weights=self.rows)
        ax.bar(edges[:-1], 0.12 * counts / counts.max(), width=np.diff(edges), align="edge", color=GREY, alpha=0.5)
        ax.set(xlabel="predicted probability", ylabel="share of positives", xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set_title(
            f"Brier {self.brier:.3f}: miscalibration {self.miscalibration:.3f}, discrimination "
            f"{self.discrimination:.3f}",
            fontsize="small",
        )
        if label is not None:
            ax.legend(frameon=False)
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        base = alt.Chart(self.frame()).encode(x=alt.X("predicted", title="predicted probability"))
        band = base.mark_area(opacity=0.15, color=COLOURS[0]).encode(
            y=alt.Y("low", title="share of positives"), y2="high"
        )
        curve = base.mark_line(color=COLOURS[1]).encode(y="observed", tooltip=["predicted", "observed", "rows"])
        diagonal = base.mark_line(color=GREY, strokeWidth=0.8).encode(y="predicted")
        return band + diagonal + curve


def reliability(
    y: Any, probability: Any, *, level: float = 0.95, draws: int = 200, classes: Any = None, random_state: int = 0
) -> Reliability:
    """Hold probabilities against the truth.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes; the larger is the positive one.
    probability : array of shape (n,) or (n, 2)
        Probabilities of the positive class.
    level : float, default=0.95
        Of the consistency band, at each probability.
    draws : int, default=200
        Tables drawn for the band.
    classes : array of shape (2,), optional
        The labels, where y may lack one.
    random_state : int, default=0
        The seed of the draws.

    Returns
    -------
    Reliability
        With `plot`, `chart` and `frame`.
    """
    tail = (1 - check_level(level)) / 2
    code, P = as_probabilities(np.asarray(y), np.asarray(probability, dtype=float), classes)
    if P.shape[1] != 2:
        raise ValueError(f"y must have two classes, found {P.shape[1]}; ask about one class against the others.")
    p, positive = P[:, 1], (code == 1).astype(float)
    distinct, place = np.unique(p, return_inverse=True)
    rows = np.bincount(place).astype(float)

    def curve(truth: Floats) -> Floats:
        return np.asarray(isotonic_regression(np.bincount(place, weights=truth) / rows, weights=rows).x)

    observed = curve(positive)
    random = np.random.default_rng(random_state)
    drawn = np.stack([curve((random.random(len(p)) < p).astype(float)) for _ in range(draws)])
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    share = float(positive.mean())
    brier, of_curve = float(np.mean((p - positive) ** 2)), float(np.mean((observed[place] - positive) ** 2))
    uncertainty = share * (1 - share)
    return Reliability(
        distinct, observed, low, high, rows, level, brier, brier - of_curve, uncertainty - of_curve, uncertainty
    )

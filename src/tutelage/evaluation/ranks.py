"""Several models on several tables: Friedman's test and Nemenyi's critical difference (Demsar 2006).

Scores on different tables cannot be added up, but ranks can. On each of N tables the k models get ranks, the best 1,
ties sharing theirs; R_j is the mean rank of model j. If all are equally good,

    chi2 = 12 N / (k (k + 1)) sum_j (R_j - (k + 1) / 2)^2  (divided by a correction for ties)
    F    = (N - 1) chi2 / (N (k - 1) - chi2)   ~   F(k - 1, (k - 1)(N - 1))         (Iman and Davenport 1980)

Where that is refused, two models differ if their mean ranks differ by more than the critical difference

    CD = q sqrt(k (k + 1) / (6 N)),     q the quantile of the studentised range over sqrt(2).

Cost: that of sorting. It fails on folds of one table, which are not independent, and with fewer than some five tables.

>>> import numpy as np
>>> scores = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.75], [0.95, 0.9, 0.6], [0.7, 0.65, 0.6]])
>>> made = friedman(scores, ["forest", "logistic", "tree"])
>>> made.mean_ranks
array([1.  , 2.25, 2.75])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from tutelage.drawing import axes_for
from tutelage.evaluation.intervals import check_level
from tutelage.evaluation.pictures import COLOURS, altair

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class Friedman:
    """Several models ranked on several tables.

    Attributes
    ----------
    names : list of str
        The models.
    mean_ranks : array of shape (k,)
        The mean rank of each; 1 would be the best on every table.
    statistic, p_value : float
        Iman and Davenport's F and the chance of one at least as large among equals.
    chi2 : float
        Friedman's statistic itself.
    critical_difference : float
        How far mean ranks must be apart (Nemenyi).
    pairs : array of shape (k, k)
        Nemenyi's p-value of each pair.
    tables : int
        How many tables.
    level : float
        The confidence.
    """

    names: list[str]
    mean_ranks: Any
    statistic: float
    p_value: float
    chi2: float
    critical_difference: float
    pairs: Any
    tables: int
    level: float

    def groups(self) -> list[list[str]]:
        """Give the largest groups of models, in the order of their ranks, that the tables do not tell apart."""
        order = np.argsort(self.mean_ranks, kind="stable")
        ranks = self.mean_ranks[order]
        found: list[list[str]] = []
        reached = 0
        for first in range(len(order)):
            last = int(np.searchsorted(ranks, ranks[first] + self.critical_difference, side="right"))
            if last - first > 1 and last > reached:
                found.append([self.names[place] for place in order[first:last]])
            reached = max(reached, last)
        return found

    def __str__(self) -> str:
        verdict = "differ" if self.p_value < 1 - self.level else "are not told apart"
        words = (
            f"{len(self.names)} models on {self.tables} tables {verdict} (F = {self.statistic:.3g}, p = "
            f"{self.p_value:.2g});"
            f" mean ranks differ if they are {self.critical_difference:.2f} apart."
        )
        lines = [words]
        width = max(map(len, self.names))
        lines += [
            f"  {self.names[place]:<{width}}  {self.mean_ranks[place]:.2f}"
            for place in np.argsort(self.mean_ranks, kind="stable")
        ]
        return "\n".join(lines)

    def frame(self) -> Any:
        """Give the mean ranks as a table, the best first."""
        import polars as pl

        return pl.DataFrame({"model": self.names, "mean rank": self.mean_ranks}).sort("mean rank", maintain_order=True)

    def chart(self) -> Any:
        """Describe the mean ranks to Altair, with bars as long as the critical difference."""
        alt = altair()
        table = self.frame()
        table = table.with_columns((table["mean rank"] + self.critical_difference).alias("told apart from"))
        base = alt.Chart(table).encode(y=alt.Y("model", sort=None, title=None))
        return base.mark_rule(color=COLOURS[1]).encode(
            x=alt.X("mean rank", scale=alt.Scale(zero=False)), x2="told apart from"
        ) + base.mark_point(filled=True, color=COLOURS[0], size=60).encode(x="mean rank")

    def plot(self, ax: Any = None) -> Any:
        """Draw the mean ranks; bars join models that are not told apart.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        """
        k = len(self.names)
        ax = axes_for(ax, (6.4, 1.2 + 0.35 * k))
        order = np.argsort(self.mean_ranks, kind="stable")
        for row, place in enumerate(order):
            rank = float(self.mean_ranks[place])
            ax.plot([rank, rank], [-row, 0.6], color="#56738A", linewidth=0.8)
            ax.annotate(f" {self.names[place]} ({rank:.2f})", (rank, -row), va="center", fontsize="small")
            ax.plot(rank, -row, "o", color=COLOURS[0], markersize=4)
        for row, group in enumerate(self.groups()):
            ends = [float(self.mean_ranks[self.names.index(name)]) for name in (group[0], group[-1])]
            ax.plot(ends, [0.75 + 0.2 * row] * 2, color=COLOURS[1], linewidth=3, solid_capstyle="round")
        ax.set_xlim(1 - 0.05 * k, k + 0.35 * k)
        ax.set_yticks([])
        ax.set_xlabel(f"mean rank on {self.tables} tables; critical difference {self.critical_difference:.2f}")
        ax.spines[["top", "right", "left"]].set_visible(False)
        return ax


def friedman(
    scores: Any, names: Sequence[str] | None = None, *, greater_is_better: bool = True, level: float = 0.95
) -> Friedman:
    """Rank several models on several tables.

    Parameters
    ----------
    scores : array of shape (tables, models)
        A row for each table.
    names : sequence of str, optional
        What the models are called.
    greater_is_better : bool, default=True
        Whether more is better.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Friedman
        The ranks and what to think of them.
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError(
            f"scores must have at least 2 rows (tables) and 3 columns (models), found the shape {table.shape}; for two "
            "models use compare."
        )
    if not np.all(np.isfinite(table)):
        raise ValueError("scores must be finite; leave out the tables on which a model has no score.")
    check_level(level)
    N, k = table.shape
    words = [f"model {place}" for place in range(k)] if names is None else [str(name) for name in names]
    if len(words) != k:
        raise ValueError(f"names must have one name for each of {k} columns, found {len(words)}.")
    ranks = stats.rankdata(-table if greater_is_better else table, axis=1)
    mean = ranks.mean(axis=0)
    # With ties the ranks of a row spread less; without, the denominator is N k (k + 1) / 12.
    spread = float(((ranks - (k + 1) / 2) ** 2).sum()) / (k - 1)
    chi2 = float(N**2 * ((mean - (k + 1) / 2) ** 2).sum() / spread) if spread > 0 else 0.0
    room = N * (k - 1) - chi2
    statistic = (N - 1) * chi2 / room if room > 1e-9 * N * (k - 1) else math.inf
    scale = math.sqrt(k * (k + 1) / (6 * N))
    q = float(stats.studentized_range.ppf(level, k, np.inf)) / math.sqrt(2)
    apart = np.abs(mean[:, None] - mean) / scale * math.sqrt(2)
    pairs = np.ones((k, k))
    above = np.triu_indices(k, 1)
    pairs[above] = stats.studentized_range.sf(apart[above], k, np.inf)
    pairs.T[above] = pairs[above]
    p = float(stats.f.sf(statistic, k - 1, (k - 1) * (N - 1)))
    return Friedman(words, mean, statistic, p, chi2, q * scale, pairs, N, level)

"""Permutation importances with intervals: how much worse a model gets when a column is shuffled.

Shuffle one column of rows that the model has not seen: its values stay, its connection with the others and the truth is
cut. What the score loses is what the model draws from that column (Breiman 2001). For a metric that is a mean over
rows, the loss of each row is averaged over the shuffles, and the importance is a mean over rows, with the interval of a
mean: it says what another table would have given, not only what another shuffle would. For other metrics the interval
is over bootstrap tables of rows, each compared with the same shuffles.

Correlated columns share: shuffling one leaves the others to speak for it, and both look unimportant. Shuffle such
columns as a group.

Cost: one prediction of all rows for each column and shuffle. It says what this model uses, not what the truth depends
on.

>>> import numpy as np
>>> from tutelage import LinearRegression
>>> random = np.random.default_rng(0)
>>> X = random.normal(size=(400, 3))
>>> y = 2 * X[:, 0] + X[:, 1] + random.normal(size=400)
>>> made = importances(LinearRegression().fit(X[:200], y[:200]), X[200:], y[200:], "squared_error")
>>> bool(made.costs[0] > made.costs[1] > 10 * abs(made.costs[2])), 0 in made.intervals[2]
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy import sparse, stats

from tutelage.base import is_sparse
from tutelage.drawing import axes_for
from tutelage.evaluation.intervals import Interval, bca_of, check_level
from tutelage.evaluation.metrics import Metric, row_values, value_of
from tutelage.evaluation.pictures import COLOURS, GREY, altair
from tutelage.evaluation.refits import check_table, default_metric
from tutelage.evaluation.samples import all_but_a_block, draws
from tutelage.evaluation.scores import predicted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEANS = {"accuracy", "error", "log_loss", "brier", "squared_error", "absolute_error"}


@dataclass(frozen=True, eq=False)
class Importances:
    """What shuffling columns costs.

    Attributes
    ----------
    names : list of str
        The columns, or groups of them.
    costs : array of shape (m,)
        How much worse the metric gets.
    intervals : list of Interval
        Of each.
    metric : str
        The metric.
    score : float
        Its value without shuffling.
    level : float
        The confidence.
    """

    names: list[str]
    costs: Any
    intervals: list[Interval]
    metric: str
    score: float
    level: float

    def frame(self) -> Any:
        """Give a row for each column, the most important first."""
        import polars as pl

        ends = np.array(self.intervals)
        table = pl.DataFrame({"name": self.names, "importance": self.costs, "low": ends[:, 0], "high": ends[:, 1]})
        return table.sort("importance", descending=True, maintain_order=True)

    def __str__(self) -> str:
        width = max(map(len, self.names))
        lines = [f"{self.metric} {self.score:.4g}; shuffling a column costs ({100 * self.level:g} % intervals)"]
        lines += [
            f"  {name:<{width}}  {value:>9.4g}   {low:.4g} to {high:.4g}"
            for name, value, low, high in self.frame().iter_rows()
        ]
        return "\n".join(lines)

    def plot(self, ax: Any = None, *, most: int = 20) -> Any:
        """Draw the importances and their intervals.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        most : int, default=20
            How many columns are drawn, the most important first.
        """
        table = self.frame().head(most)
        ax = axes_for(ax, (6.0, 0.9 + 0.3 * len(table)))
        place = np.arange(len(table))[::-1]
        ax.axvline(0, color=GREY, linewidth=0.8)
        ax.hlines(place, table["low"], table["high"], color=COLOURS[0], linewidth=2, alpha=0.5)
        ax.plot(table["importance"], place, "o", color=COLOURS[0], markersize=5)
        ax.set_yticks(place, table["name"].to_list())
        ax.set_xlabel(f"what shuffling costs in {self.metric}")
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        base = alt.Chart(self.frame()).encode(y=alt.Y("name", sort=None, title=None))
        return base.mark_rule(color=COLOURS[0], strokeWidth=2, opacity=0.5).encode(
            x=alt.X("low", title=f"what shuffling costs in {self.metric}"), x2="high"
        ) + base.mark_point(filled=True, color=COLOURS[0], size=60).encode(x="importance")


def importances(
    model: Any,
    X: Any,
    y: Any,
    metric_name: str | Metric | None = None,
    *,
    groups: Mapping[str, Sequence[Any]] | None = None,
    repeats: int = 5,
    level: float = 0.95,
    tables: int = 1000,
    random_state: int = 0,
) -> Importances:
    """Measure what shuffling each column costs.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array, sparse matrix or frame of shape (n, d)
        Rows that the model has not seen.
    y : array of shape (n,)
        The truth.
    metric_name : str or Metric, optional
        Accuracy for classifiers and the squared error for regressors if not given.
    groups : mapping of str to columns, optional
        Columns, by name or number, that are shuffled together.
    repeats : int, default=5
        Shuffles of each column.
    level : float, default=0.95
        The confidence of the intervals.
    tables : int, default=1000
        How many tables a bootstrap draws, for metrics that are no means over rows.
    random_state : int, default=0
        The seed.

    Returns
    -------
    Importances
        With `plot`, `chart` and `frame`.
    """
    check_level(level)
    truth = check_table(X, y)
    chosen = default_metric(model, metric_name)
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, found {repeats!r}.")
    columns = column_names(X)
    asked = (
        {name: [place] for place, name in enumerate(columns)}
        if groups is None
        else {
            str(name): [columns.index(one) if isinstance(one, str) else int(one) for one in members]
            for name, members in groups.items()
        }
    )
    random = np.random.default_rng(random_state)
    sign = 1.0 if chosen.greater_is_better else -1.0
    plain, classes = predicted(model, X, chosen.needs)
    score = chosen(truth, plain, classes=classes)
    values, intervals = [], []
    for members in asked.values():
        shuffled = [
            predicted(model, with_columns(X, members, random.permutation(len(truth))), chosen.needs)[0]
            for _ in range(repeats)
        ]
        if chosen.name in MEANS:
            before = row_values(chosen, truth, plain, classes=classes)
            after = np.mean([row_values(chosen, truth, one, classes=classes) for one in shuffled], axis=0)
            value, interval = _of_mean(sign * (before - after), level)
        else:
            value, interval = _of_tables(truth, plain, shuffled, chosen, classes, sign, level, tables, random_state)
        values.append(value)
        intervals.append(interval)
    return Importances(list(asked), np.array(values), intervals, chosen.name, score, level)


def _of_mean(losses: Any, level: float) -> tuple[float, Interval]:
    mean, n = float(losses.mean()), len(losses)
    spread = float(losses.std(ddof=1)) if n > 1 else 0.0
    reach = float(stats.t.ppf(0.5 + level / 2, max(n - 1, 1))) * spread / n**0.5
    return mean, Interval(mean - reach, mean + reach)


def _of_tables(
    truth: Any,
    plain: Any,
    shuffled: list[Any],
    chosen: Metric,
    classes: Any,
    sign: float,
    level: float,
    tables: int,
    seed: int,
) -> tuple[float, Interval]:
    n = len(truth)
    before = chosen.on(truth, plain, classes=classes)
    after = [chosen.on(truth, one, classes=classes) for one in shuffled]

    def losses(weights: Any) -> Any:
        return sign * (before.weighted(weights) - np.mean([one.weighted(weights) for one in after], axis=0))

    seen = sign * (value_of(before, n) - float(np.mean([value_of(one, n) for one in after])))
    drawn = np.concatenate([losses(counts) for counts in draws(np.random.default_rng(seed), n, tables)])
    left_out = np.concatenate([losses(kept) for kept in all_but_a_block(n)])
    return seen, bca_of(seen, drawn, left_out, np.ones(len(left_out)), level)


def column_names(X: Any) -> list[str]:
    """Give the names of columns: those of a frame, or x0, x1, ...

    Parameters
    ----------
    X : array, sparse matrix or frame
        The table.

    Examples
    --------
    >>> column_names(np.zeros((2, 3)))
    ['x0', 'x1', 'x2']
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [str(name) for name in frame.columns]
    shape = getattr(X, "shape", None) or np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X must have rows and columns, found the shape {tuple(shape)}.")
    return [f"x{column}" for column in range(shape[1])]


def with_columns(X: Any, columns: Sequence[int], order: Any) -> Any:
    """Give a table with the rows of some columns in another order; the table itself stays as it is.

    Parameters
    ----------
    X : array, sparse matrix or frame
        The table.
    columns : sequence of int
        Which columns.
    order : array of shape (n,)
        Numbers of rows.
    """
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        names = [frame.columns[column] for column in columns]
        return frame.with_columns(*(frame[name][order.tolist()].alias(name) for name in names)).to_native()
    if is_sparse(X):
        by_column, moved = X.tocsc(), set(columns)
        parts = [by_column[:, [j]] for j in range(X.shape[1])]
        return sparse.hstack([one[order] if j in moved else one for j, one in enumerate(parts)], format=X.format)
    made = np.array(X)
    made[:, list(columns)] = made[np.ix_(order, list(columns))]
    return made

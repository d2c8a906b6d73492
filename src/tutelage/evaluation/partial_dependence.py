"""Partial dependence and ICE: what a model answers as one column changes and the others stay.

For each value v of a grid, set the column to v in all rows and predict: a row's predictions over the grid are its curve
of individual conditional expectation (ICE; Goldstein, Kapelner, Bleich and Pitkin 2015), and their mean is the partial
dependence (Friedman 2001). Where the curves of single rows cross, columns interact and the mean hides it. The band is
the interval of the mean over rows; it speaks of the rows, not of the fit.

Cost: one prediction of the (thinned) rows for each value of the grid. It fails for correlated columns: rows are put
where there are none, and the model answers there all the same.

>>> import numpy as np
>>> from tutelage import LinearRegression
>>> random = np.random.default_rng(0)
>>> X = random.normal(size=(200, 2))
>>> made = dependence(LinearRegression().fit(X, 3 * X[:, 0] - X[:, 1]), X, 0)
>>> bool(np.allclose(np.diff(made.mean) / np.diff(made.grid), 3))
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy import stats
from sklearn.base import is_classifier
from sklearn.utils.validation import _num_samples

from tutelage.base import is_sparse
from tutelage.drawing import axes_for
from tutelage.evaluation.importance import column_names
from tutelage.evaluation.intervals import check_level
from tutelage.evaluation.meta import responses
from tutelage.evaluation.pictures import COLOURS, GREY, altair
from tutelage.evaluation.refits import pick

MOST_CURVES = 100  # drawn


@dataclass(frozen=True, eq=False)
class Dependence:
    """What a model answers as one column changes.

    Attributes
    ----------
    name : str
        The column.
    grid : array of shape (m,)
        Its values.
    curves : array of shape (n, m)
        The answers for each row.
    target : str
        What is answered.
    values : array of shape (n,)
        The column in these rows.
    level : float
        Of the band around the mean.
    """

    name: str
    grid: Any
    curves: Any
    target: str
    values: Any
    level: float

    @property
    def mean(self) -> Any:
        """The partial dependence."""
        return self.curves.mean(axis=0)

    def frame(self) -> Any:
        """Give the partial dependence as a table."""
        import polars as pl

        n = len(self.curves)
        reach = float(stats.norm.ppf(0.5 + self.level / 2)) * self.curves.std(axis=0) / n**0.5
        return pl.DataFrame(
            {self.name: self.grid, "mean": self.mean, "low": self.mean - reach, "high": self.mean + reach}
        )

    def plot(self, ax: Any = None, *, centred: bool = False) -> Any:
        """Draw the partial dependence over the curves of single rows.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        centred : bool, default=False
            Whether all curves start from zero, which shows where they part.
        """
        ax = axes_for(ax)
        data = self.frame()
        if data[self.name].dtype.is_numeric():
            some = self.curves[np.linspace(0, len(self.curves) - 1, min(len(self.curves), MOST_CURVES)).astype(int)]
            start = some[:, :1] if centred else 0.0
            ax.plot(self.grid, (some - start).T, color=GREY, linewidth=0.5, alpha=0.4)
            shift = float(data["mean"][0]) if centred else 0.0
            ax.fill_between(
                self.grid, data["low"] - shift, data["high"] - shift, color=COLOURS[0], alpha=0.25, linewidth=0
            )
            ax.plot(self.grid, data["mean"] - shift, color=COLOURS[0], linewidth=2)
            inside = self.values[(self.values >= self.grid[0]) & (self.values <= self.grid[-1])]
            ax.plot(
                np.quantile(inside, np.linspace(0.05, 0.95, 19)),
                [0.01] * 19,
                "|",
                color="black",
                transform=ax.get_xaxis_transform(),
                markersize=6,
            )
        else:
            ax.bar([str(one) for one in self.grid], data["mean"], color=COLOURS[0], alpha=0.6)
        ax.set(xlabel=self.name, ylabel=self.target)
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        base = alt.Chart(self.frame()).encode(x=self.name)
        return base.mark_area(opacity=0.25, color=COLOURS[0]).encode(
            y=alt.Y("low", title=self.target), y2="high"
        ) + base.mark_line(color=COLOURS[0]).encode(y="mean")


def dependence(
    model: Any,
    X: Any,
    column: int | str,
    *,
    grid: Any = None,
    points: int = 40,
    rows: int = 1000,
    label: Any = None,
    level: float = 0.95,
    random_state: int = 0,
) -> Dependence:
    """Ask a model what it answers as one column changes.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array, sparse matrix or frame of shape (n, d)
        Rows.
    column : int or str
        Which column.
    grid : array, optional
        Its values; by default quantiles from 2 to 98 %, or all values if there are few or they are no numbers.
    points : int, default=40
        How many values.
    rows : int, default=1000
        How many rows at most; more are thinned out at random.
    label : optional
        The class whose probability is asked for; the last one if not given.
    level : float, default=0.95
        Of the band around the mean.
    random_state : int, default=0
        The seed of the thinning.

    Returns
    -------
    Dependence
        With `plot`, `chart` and `frame`.
    """
    check_level(level)
    names = column_names(X)
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"column must be one of {names[:8]}{'...' if len(names) > 8 else ''}, found {column!r}.")
        column = names.index(column)
    if not -len(names) <= column < len(names):
        raise ValueError(f"column must be one of {len(names)} columns, found {column!r}.")
    column %= len(names)
    n = _num_samples(X)
    if n > rows:
        X = pick(X, np.sort(np.random.default_rng(random_state).permutation(n)[:rows]))
    values = _column(X, column)
    if grid is None:
        distinct = np.unique(values)
        numeric = distinct.dtype.kind in "fiu"
        if numeric and len(distinct) > points:
            grid = np.unique(np.quantile(values, np.linspace(0.02, 0.98, points)))
        else:
            grid = distinct
    grid = np.asarray(grid)
    if grid.ndim != 1 or len(grid) == 0:
        raise ValueError(f"grid must be a vector of values, found the shape {grid.shape}.")
    place = None
    target = "prediction"
    if is_classifier(model):
        classes = list(model.classes_)
        if label is not None and label not in classes:
            raise ValueError(f"label must be one of {classes[:8]}, found {label!r}.")
        place = len(classes) - 1 if label is None else classes.index(label)
        target = f"probability of {classes[place]}"
    curves = []
    for value in grid:
        asked = _set(X, column, value)
        answer = responses(model, asked, "probability")[:, place] if place is not None else model.predict(asked)
        curves.append(np.asarray(answer, dtype=float).ravel())
    return Dependence(names[column], grid, np.stack(curves, axis=1), target, values, level)


def _column(X: Any, column: int) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame[frame.columns[column]].drop_nulls().to_numpy()
    if is_sparse(X):
        return X.tocsc()[:, [column]].toarray().ravel()
    return np.asarray(X)[:, column]


def _set(X: Any, column: int, value: Any) -> Any:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        name = frame.columns[column]
        shown = value.item() if isinstance(value, np.generic) else value
        return frame.with_columns(nw.lit(shown).alias(name)).to_native()
    if is_sparse(X):
        made = X.tolil(copy=True)
        made[:, column] = value
        return made.asformat(X.format)
    made = np.array(X)
    if made.dtype.kind in "iu" and np.asarray(value).dtype.kind == "f":
        made = made.astype(float)
    made[:, column] = value
    return made

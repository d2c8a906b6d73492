"""The path of a linear model: its coefficients along the strength of its penalty.

One number decides how much a penalised model believes its data. The picture of all coefficients against it tells more
than any single fit: which of them enter first, which change sign, where they settle, and how much the choice of the
strength matters at all.

`path` fits a model at each of a falling sequence of strengths, warm-started from the last where the model can be. Any
linear learner of this library with a strength will do:

    alpha       Ridge, Lasso, ElasticNet, BridgeRegressor, HuberRegressor, QuantileRegressor, PoissonRegressor, ...
    strength    ERMClassifier, ERMRegressor
    C           LogisticRegression: its inverse, so the strength is 1 / C
    covariance  MAPClassifier, MAPRegressor: that of the prior, so the strength is 1 / covariance

Where a penalty sets coefficients to zero, the path begins at the weakest strength that leaves nothing but zeros, found
by a search; otherwise it covers the range that the learner declares.

Cost: that of so many fits, each from the last. `tutelage.lasso_path` and `enet_path` share the products between columns
along the path too, and are faster for least squares. It fails where a model has no strength.

>>> import numpy as np
>>> from tutelage import Lasso
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(100, 4))
>>> along = path(Lasso(), X, X @ [3.0, 0.0, -1.0, 0.0] + 0.1 * rng.normal(size=100), count=30)
>>> along.coefs.shape
(30, 4)
>>> (along.coefs != 0).argmax(axis=0)[[0, 2]]
array([1, 5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from tutelage.base import Floats, is_sparse
from tutelage.drawing import pyplot
from tutelage.linear.base import LinearModel

if TYPE_CHECKING:
    from tutelage.certificate import Certificate

# Which parameter is the strength, and whether it is its inverse.
STRENGTHS = {"strength": False, "alpha": False, "C": True, "covariance": True}
# Told apart also by those who see few colours, and dark enough for text on white.
COLOURS = (
    *("#0072B2", "#D55E00", "#009E73", "#B1568C", "#8A6D00", "#56738A"),
    *("#7B3294", "#A6341B", "#3B7D23", "#1B9AAA", "#5E4FA2", "#444444"),
)
# Other lines are grey and have no names.
MOST_NAMES = len(COLOURS)


@dataclass(frozen=True, eq=False)
class StrengthPath:
    """The fits of a model along the strength of its penalty.

    Attributes
    ----------
    parameter : str
        The parameter of the model that was varied.
    strengths : array of shape (m,)
        The strengths, falling; where the parameter is an inverse strength (C), its inverse.
    coefs : array of shape (m, d), or (m, k, d) with k rows of coefficients
        The coefficients.
    intercepts : array of shape (m,) or (m, k)
        The intercepts.
    certificates : list of Certificate
        The proofs.
    names : list of str
        The names of the features.
    labels : list
        What each row of coefficients is for, where there are several: the classes, or the numbers of the targets.
    """

    parameter: str
    strengths: Floats
    coefs: Floats
    intercepts: Floats
    certificates: list[Certificate]
    names: list[str]
    labels: list[Any]

    def __len__(self) -> int:
        return len(self.strengths)

    @property
    def values(self) -> Floats:
        """The values of the parameter itself."""
        return 1.0 / self.strengths if STRENGTHS[self.parameter] else self.strengths

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients against the strength, weaker to the right.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, for models of one row of coefficients; None makes a new figure.

        Returns
        -------
        matplotlib axes, or an array of them where there are several rows of coefficients
            What was drawn.
        """
        plt = pyplot("Drawing a path")
        tables = self.coefs[:, None, :] if self.coefs.ndim == 2 else self.coefs
        rows = tables.shape[1]
        if ax is None:
            across = min(rows, 3)
            down = -(-rows // across)
            size = (6.4, 4.2) if rows == 1 else (3.9 * across, 3.2 * down + 0.3)
            _, grid = plt.subplots(
                down, across, figsize=size, layout="constrained", squeeze=False, sharex=True, sharey=True
            )
            for empty in grid.ravel()[rows:]:
                empty.set_visible(False)
            all_axes = list(grid.ravel()[:rows])
        else:
            all_axes = list(np.ravel(ax))
            if len(all_axes) != rows:
                raise ValueError(
                    f"ax must have one place for each of {rows} rows of coefficients, found {len(all_axes)}."
                )
        named = self._named(tables)
        for place, one in enumerate(all_axes):
            self._draw(one, tables[:, place, :], named)
            if rows > 1:
                one.set_title(str(self.labels[place]), fontsize="medium")
        for place, one in enumerate(all_axes):  # after all lines, which may share their axes
            self._name(one, tables[-1, place, :], named)
        for one in all_axes:
            spot = one.get_subplotspec() if rows > 1 else None
            if spot is None or spot.is_last_row():
                one.set_xlabel(_words(self.parameter))
            if spot is None or spot.is_first_col():
                one.set_ylabel("coefficient")
        return all_axes[0] if rows == 1 else np.array(all_axes)

    def _named(self, tables: Floats) -> list[int]:
        """The columns that get a colour and a name, the same in every place: those of the largest coefficients."""
        largest = np.abs(tables).max(axis=(0, 1))
        order = np.argsort(-largest, kind="stable")[:MOST_NAMES]
        return [int(column) for column in order if largest[column] > 0]

    def _draw(self, ax: Any, table: Floats, named: list[int]) -> None:
        """Draw the lines of one row of coefficients."""
        ax.axhline(0.0, color="0.75", linewidth=0.8, zorder=1)
        for column in range(table.shape[1]):
            if column not in named:
                ax.plot(self.strengths, _without_zeros(table[:, column]), color="0.82", linewidth=0.7, zorder=1.5)
        for colour, column in reversed(list(zip(COLOURS, named, strict=False))):
            ax.plot(self.strengths, _without_zeros(table[:, column]), color=colour, linewidth=1.6, zorder=2)
        ax.set_xscale("log")
        if len(self.strengths) > 1:
            ax.set_xlim(self.strengths.max(), self.strengths.min())
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize="small")

    def _name(self, ax: Any, last: Floats, named: list[int]) -> None:
        """Name the lines at their ends."""
        low, high = ax.get_ylim()
        points = ax.get_position().height * ax.figure.get_size_inches()[1] * 72
        ends = _apart(last[named], 11.0 / points * (high - low), low, high)
        for colour, column, end in zip(COLOURS, named, ends, strict=False):
            ax.annotate(
                self.names[column], (1.0, end), xycoords=("axes fraction", "data"), xytext=(4, 0),
                textcoords="offset points", va="center", color=colour, fontsize="small", annotation_clip=False,
            )  # fmt: skip


def _without_zeros(line: Floats) -> Floats:
    """A line that is not drawn where it stays at zero."""
    zero = line == 0
    beside = np.ones_like(zero)
    beside[1:] &= zero[:-1]
    beside[:-1] &= zero[1:]
    return np.where(zero & beside, np.nan, line)


def _words(parameter: str) -> str:
    return (
        f"strength of the penalty (1 / {parameter})"
        if STRENGTHS[parameter]
        else f"strength of the penalty ({parameter})"
    )


def _apart(ends: Floats, least: float, low: float, high: float) -> Floats:
    """Move labels up or down until none lies on another, keeping their order and their middle."""
    if not len(ends):
        return ends
    order = np.argsort(ends, kind="stable")
    places = ends[order].astype(float)
    # Groups of labels that touch share a centre, and stand side by side around it.
    groups: list[list[float]] = []  # centre, size
    for place in places:
        groups.append([place, 1.0])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < least * (groups[-1][1] + groups[-2][1]) / 2:
            centre, size = groups.pop()
            before = groups[-1]
            before[0] = (before[0] * before[1] + centre * size) / (before[1] + size)
            before[1] += size
            reach = least * (before[1] - 1) / 2
            before[0] = min(max(before[0], low + reach), max(high - reach, low + reach))
    made = np.empty(len(ends))
    spread = [centre + least * (k - (size - 1) / 2) for centre, size in groups for k in range(int(size))]
    made[order] = spread
    return made


def path(
    model: LinearModel,
    X: Any,
    y: Any,
    *,
    strengths: Any = None,
    count: int = 50,
    ratio: float = 1e-3,
    sample_weight: Any = None,
) -> StrengthPath:
    """Fit a linear model along the strength of its penalty.

    Parameters
    ----------
    model : estimator
        A linear learner of this library with a strength. It is not changed: what is fitted are clones.
    X : array, sparse matrix or frame of shape (n, d)
        The rows.
    y : array of shape (n,)
        The targets, or the classes.
    strengths : array, optional
        The strengths, all above 0, in any order. None chooses `count` of them.
    count : int, default=50
        How many strengths to choose.
    ratio : float, default=1e-3
        The weakest strength over the strongest, where the strongest is found by its zeros.
    sample_weight : array of shape (n,), optional
        How much each row counts.

    Returns
    -------
    StrengthPath
        Coefficients, intercepts and certificates; ``plot()`` draws them.

    Examples
    --------
    >>> from tutelage import Ridge, path
    >>> along = path(Ridge(), [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]], [0.0, 1.0, 2.0], strengths=[1.0, 10.0])
    >>> along.strengths, along.coefs.round(3)
    (array([10.,  1.]), array([[ 0.16 , -0.079],
           [ 0.583, -0.25 ]]))
    """
    name = _strength_of(model)
    if strengths is None:
        if count < 2:
            raise ValueError(f"The 'count' parameter of path must be an int of at least 2. Got {count!r} instead.")
        if not 0 < ratio < 1:
            raise ValueError(f"The 'ratio' parameter of path must lie between 0 and 1. Got {ratio!r} instead.")
        falling = _grid(model, name, X, y, sample_weight, int(count), ratio)
    else:
        falling = np.unique(np.asarray(strengths, dtype=np.float64).ravel())[::-1]
        if not len(falling) or not np.all((falling > 0) & np.isfinite(falling)):
            raise ValueError(
                f"The 'strengths' parameter of path must be finite numbers above 0. Got {strengths!r} instead."
            )
    fits = _Fits(model, name, X, y, sample_weight)
    coefs, intercepts, certificates = [], [], []
    for strength in falling:
        fitted = fits.at(float(strength))
        coefs.append(_table(fitted))
        intercepts.append(np.asarray(fitted.intercept_, dtype=np.float64).copy())
        certificates.append(fitted.certificate_)
    table = np.array(coefs)
    intercept = np.array(intercepts)
    labels = _labels(fits.model, table)
    if table.ndim == 3 and table.shape[1] == 1:
        table, intercept = table[:, 0], intercept.reshape(len(intercept))
    return StrengthPath(
        name, np.array(falling), table, intercept, certificates, _names(fits.model, table.shape[-1]), labels
    )


class _Fits:
    """Clones of a model, each started from the last where it can be."""

    def __init__(self, model: LinearModel, name: str, X: Any, y: Any, sample_weight: Any) -> None:
        self.model: Any = clone(model)
        self.name = name
        self.data = (X, y) if sample_weight is None else (X, y, sample_weight)
        if "warm_start" in self.model.get_params(deep=False):
            self.model.set_params(warm_start=True)

    def at(self, strength: float) -> Any:
        """Fit at a strength."""
        self.model.set_params(**{self.name: 1.0 / strength if STRENGTHS[self.name] else strength})
        return self.model.fit(*self.data)


def _strength_of(model: Any) -> str:
    """Find the parameter of a model that is its strength."""
    parameters = model.get_params(deep=False) if isinstance(model, LinearModel) else {}
    for name in STRENGTHS:
        if name in parameters:
            if name == "covariance" and np.ndim(parameters[name]):
                raise ValueError(
                    "The 'model' parameter of path must have a prior of one variance, found a covariance of shape "
                    f"{np.shape(parameters[name])}; scale the columns of X instead, and set covariance=1.0."
                )
            return name
    raise ValueError(
        "The 'model' parameter of path must be a linear learner of this library with a strength (alpha, strength, C or "
        f"covariance). Got {model!r} instead."
    )


def _grid(model: Any, name: str, X: Any, y: Any, sample_weight: Any, count: int, ratio: float) -> Floats:
    """Choose strengths: from the weakest that leaves nothing but zeros, or over the declared range."""
    declared = model.search_space()[name]
    low, high = sorted(1.0 / end if STRENGTHS[name] else end for end in (declared.low, declared.high))
    fits = _Fits(model, name, X, y, sample_weight)

    def empty(strength: float) -> bool:
        return not np.any(_table(fits.at(strength)))

    top = high
    if not empty(high):
        # A penalty without zeros never empties the model, however strong it is; one with zeros soon does.
        top = 1e4 * high
        if not empty(top):
            grid: Floats = np.geomspace(high, low, count)
            return grid
    while top > 1e-12 * high and empty(top / 10):
        top /= 10
    while empty(top / 2 ** (1 / 4)):
        top /= 2 ** (1 / 4)
    falling: Floats = np.geomspace(top, ratio * top, count)
    return falling


def _table(model: Any) -> Floats:
    coef = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
    return np.array(coef, dtype=np.float64)


def _names(model: Any, columns: int) -> list[str]:
    own = getattr(model, "features_", None)
    if own is not None and hasattr(own, "get_feature_names_out"):
        return [str(name) for name in own.get_feature_names_out()]
    known = getattr(model, "feature_names_in_", None)
    return [f"x{column}" for column in range(columns)] if known is None else [str(name) for name in known]


def _labels(model: Any, table: Floats) -> list[Any]:
    if table.ndim == 2 or table.shape[1] == 1:
        return []
    return list(getattr(model, "classes_", [f"y{place}" for place in range(table.shape[1])]))

"""What more rows, or another value of a parameter, would bring.

A score as a function of the number n of training rows rises ever more slowly, for most learners about as a power law

    score(n) = a - b n^-c,      b >= 0,  0 < c <= 2,

towards a limit a that more rows of the same kind cannot pass. `LearningCurve.of` measures the score on held-out rows
for growing n, fits the law to it (for each c it is linear in a and b; c is searched), and says what n rows more would
bring, with an interval from resampling the folds. c near 1/2 is the rate of a mean, near 1 that of well-chosen
parameters.

`ValidationCurve.of` measures the score along a parameter. Where the learner has an algebra for the parameter
(`tutelage.fold_paths`) the curve costs little more than a fit.

Cost: sizes * folds fits. It fails where the curve has a knee further out than the rows reach: extrapolate by a factor
of two, not of a hundred. And the interval knows of the folds, not of the law's being wrong.

>>> import numpy as np
>>> from tutelage import LinearRegression
>>> random = np.random.default_rng(0)
>>> X = random.normal(size=(400, 10))
>>> y = X @ random.normal(size=10) + 3 * random.normal(size=400)
>>> curve = LearningCurve.of(LinearRegression(), X, y, sizes=[30, 60, 120, 240, 320])
>>> bool(curve.at(800) > curve.at(320))
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from tutelage.selection.curves import learning_curve, validation_curve
from tutelage.selection.drawing import LAW, TEST, TRAIN, axes_for, band

if TYPE_CHECKING:
    from tutelage.base import Floats

# Rates that are looked at, and how many times the folds are drawn for an interval.
RATES = np.geomspace(0.03, 2.0, 80)
DRAWS = 300


@dataclass(frozen=True)
class PowerLaw:
    """score(n) = limit - drop n^-rate.

    Attributes
    ----------
    limit, drop, rate : float
        a, b and c; the drop is 0 where the scores do not rise.
    """

    limit: float
    drop: float
    rate: float

    def __call__(self, rows: Any) -> Any:
        """Give the score at numbers of rows."""
        return self.limit - self.drop * np.asarray(rows, dtype=np.float64) ** -self.rate

    @classmethod
    def through(cls, sizes: Any, scores: Any, weights: Any = None) -> PowerLaw:
        """Fit the law by least squares.

        Parameters
        ----------
        sizes : array of shape (m,)
            Numbers of rows; three different ones at least.
        scores : array of shape (m,)
            The scores there.
        weights : array of shape (m,), optional
            How much each counts.

        Returns
        -------
        PowerLaw
            The law.

        Examples
        --------
        >>> law = PowerLaw.through([10, 20, 40, 80], 0.9 - 2.0 / np.array([10.0, 20.0, 40.0, 80.0]))
        >>> round(law.limit, 3), round(law.drop, 3), round(law.rate, 3)
        (0.9, 2.0, 1.0)
        """
        places, values = np.asarray(sizes, dtype=np.float64), np.asarray(scores, dtype=np.float64)
        weight = np.ones(len(places)) if weights is None else np.asarray(weights, dtype=np.float64)
        if len(np.unique(places)) < 3:
            raise ValueError(
                f"A power law needs three different numbers of rows, found {np.unique(places).tolist()}; give "
                "more sizes."
            )

        def fit(rate: float) -> tuple[float, PowerLaw]:
            falls = (places / places[0]) ** -rate
            mean_falls, mean_values = np.average(falls, weights=weight), np.average(values, weights=weight)
            spread = float(weight @ (falls - mean_falls) ** 2)
            slope = float(weight @ ((falls - mean_falls) * (values - mean_values))) / spread
            slope = min(slope, 0.0)
            limit = float(mean_values - slope * mean_falls)
            left = float(weight @ (values - limit - slope * falls) ** 2)
            return left, cls(limit, float(-slope * places[0] ** rate), float(rate))

        best = min(range(len(RATES)), key=lambda place: fit(float(RATES[place]))[0])
        low, high = float(RATES[max(best - 1, 0)]), float(RATES[min(best + 1, len(RATES) - 1)])
        for _ in range(60):  # golden section between the neighbours of the best
            first, second = high - (high - low) * 0.6180339887, low + (high - low) * 0.6180339887
            if fit(first)[0] <= fit(second)[0]:
                high = second
            else:
                low = first
        return min((fit((low + high) / 2), fit(float(RATES[best]))), key=lambda found: found[0])[1]


@dataclass(frozen=True)
class LearningCurve:
    """Scores for growing numbers of rows, and the law they follow.

    Attributes
    ----------
    sizes : array of shape (m,)
        The numbers of rows.
    train, test : arrays of shape (m, folds)
        Scores on the rows of the fit, and on those held out.
    law : PowerLaw
        Fitted to the means of `test`.
    """

    sizes: Any
    train: Floats
    test: Floats
    law: PowerLaw = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", PowerLaw.through(self.sizes, self.test.mean(axis=1)))

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sizes: Any = (0.1, 0.2, 0.4, 0.7, 1.0),
        cv: Any = None,
        scoring: Any = None,
        groups: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> LearningCurve:
        """Measure a learning curve.

        Parameters
        ----------
        estimator : estimator
            Not changed.
        X, y : indexable
            The rows and their targets.
        sizes : array, default=(0.1, 0.2, 0.4, 0.7, 1.0)
            Numbers of rows, or shares of those of the first fold; three at least.
        cv, scoring, groups, n_jobs
            As in `tutelage.selection.cross_validate`.
        random_state : int, RandomState or None, default=0
            The seed of the order in which rows are added.

        Returns
        -------
        LearningCurve
            The curve.
        """
        found = learning_curve(
            estimator, X, y, train_sizes=np.asarray(sizes), cv=cv, scoring=scoring, groups=groups, n_jobs=n_jobs,
            shuffle=True, random_state=random_state, error_score="raise",
        )  # fmt: skip
        return cls(*found)

    def at(self, rows: Any) -> Any:
        """Give the score that the law foretells for numbers of rows."""
        return self.law(rows)

    def gain(self, more: int, *, level: float = 0.9, random_state: Any = 0) -> Gain:
        """Say what so many rows more would bring.

        Parameters
        ----------
        more : int
            Rows beyond the largest size.
        level : float, default=0.9
            Of the interval.
        random_state : int, RandomState or None, default=0
            The seed of the draws of folds.

        Returns
        -------
        Gain
            The expected gain, and an interval.
        """
        random = check_random_state(random_state)
        now = int(self.sizes[-1])
        folds = self.test.shape[1]
        drawn = []
        for _ in range(DRAWS if folds > 1 else 0):
            law = PowerLaw.through(self.sizes, self.test[:, random.randint(folds, size=folds)].mean(axis=1))
            drawn.append(float(law(now + more) - law(now)))
        expected = float(self.at(now + more) - self.at(now))
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]) if drawn else (np.nan, np.nan)
        return Gain(now, more, float(self.at(now)), expected, float(ends[0]), float(ends[1]), level)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores and the law, beyond the rows to twice their number.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib axes
            What was drawn.
        """
        ax = axes_for(ax)
        band(ax, self.sizes, self.train, TRAIN, "rows of the fit")
        band(ax, self.sizes, self.test, TEST, "rows held out")
        further = np.geomspace(self.sizes[0], 2 * self.sizes[-1], 200)
        ax.plot(further, self.at(further), color=LAW, linewidth=1, linestyle="--", label="power law")
        ax.set_xlabel("training rows")
        ax.set_ylabel("score")
        ax.legend(frameon=False, fontsize="small")
        return ax


@dataclass(frozen=True)
class Gain:
    """What more rows would bring.

    Attributes
    ----------
    rows, more : int
        The rows there are, and how many come to them.
    score, gain : float
        The score now, and what is added to it.
    low, high : float
        The interval of the gain.
    level : float
        Its level.
    """

    rows: int
    more: int
    score: float
    gain: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return (
            f"{self.more} rows more than {self.rows} would raise the score from {self.score:.4g} by {self.gain:.2g} "
            f"({self.level:.0%} interval over folds: {self.low:.2g} to {self.high:.2g})."
        )


@dataclass(frozen=True)
class ValidationCurve:
    """Scores along a parameter.

    Attributes
    ----------
    parameter : str
        The parameter.
    values : list
        Its values.
    train, test : arrays of shape (values, folds)
        Scores on the rows of the fit, and on those held out.
    """

    parameter: str
    values: Any
    train: Floats
    test: Floats

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        parameter: str,
        values: Any,
        *,
        cv: Any = None,
        scoring: Any = None,
        groups: Any = None,
        n_jobs: int | None = None,
    ) -> ValidationCurve:
        """Measure a validation curve.

        Parameters
        ----------
        estimator : estimator
            Not changed.
        X, y : indexable
            The rows and their targets.
        parameter : str
            The parameter.
        values : list
            Its values.
        cv, scoring, groups, n_jobs
            As in `tutelage.selection.cross_validate`.

        Returns
        -------
        ValidationCurve
            The curve.

        Examples
        --------
        >>> from tutelage import KNeighborsRegressor
        >>> X, y = [[float(i)] for i in range(20)], [float(i) for i in range(20)]
        >>> ValidationCurve.of(KNeighborsRegressor(), X, y, "n_neighbors", [1, 16]).best
        1
        """
        train, test = validation_curve(
            estimator, X, y, param_name=parameter, param_range=values, cv=cv, scoring=scoring, groups=groups,
            n_jobs=n_jobs,
        )  # fmt: skip
        return cls(parameter, list(values), train, test)

    @property
    def best(self) -> Any:
        """The value of the largest mean score on held-out rows."""
        return self.values[int(np.nanargmax(self.test.mean(axis=1)))]

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores; values that span more than a factor of 50 on a logarithmic scale.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib axes
            What was drawn.
        """
        ax = axes_for(ax)
        numeric = all(
            isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in self.values
        )
        places = np.asarray(self.values, dtype=np.float64) if numeric else np.arange(len(self.values))
        band(ax, places, self.train, TRAIN, "rows of the fit")
        band(ax, places, self.test, TEST, "rows held out")
        if not numeric:
            ax.set_xticks(places, [str(value) for value in self.values])
        elif places.min() > 0 and places.max() > 50 * places.min():
            ax.set_xscale("log")
        ax.set_xlabel(self.parameter)
        ax.set_ylabel("score")
        ax.legend(frameon=False, fontsize="small")
        return ax

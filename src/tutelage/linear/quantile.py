"""Quantile regression: the median, or any other quantile, of the target given the features.

The mean of a target says little where its distribution is skewed or has outliers. The quantile of level t is the
number with a share t of the targets below it, and what it minimises is the pinball loss: too low a prediction costs t
for each unit, too high a one 1 - t (Koenker and Bassett 1978):

    minimise over w, b:   (1 / S) sum_i s_i (t max(r_i, 0) + (1 - t) max(-r_i, 0))  +  alpha |w|_1,    r = y - X w - b

At t = 1/2 it is least absolute deviations. Two fits, at t = 0.05 and 0.95, make a prediction interval for targets of
any distribution. A linear program, whose solution fits some rows exactly; `tutelage.linear.interior_point` tells how it
is solved, to the last digits, with a dual point as proof.

Cost: 10 to 20 rounds, each some ten readings of X and n d^2 / 2 products. It fails to be unique where rows tie (the
median of two numbers is anything between them), and fits of several levels may cross where there is little data.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(0, 10, size=(2000, 1))
>>> y = X[:, 0] * (1 + rng.exponential(size=2000))
>>> low, high = (QuantileRegressor(quantile=level, alpha=0).fit(X, y) for level in (0.05, 0.95))
>>> inside = (low.predict(X) <= y) & (y <= high.predict(X))
>>> inside.mean().round(2), low.certificate_.relative_gap < 1e-8
(np.float64(0.9), True)
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from tutelage import losses, penalties
from tutelage.base import Accepts
from tutelage.linear.base import LinearRegressor
from tutelage.linear.interior_point import fit_quantile
from tutelage.parameters import Count, Interval, NonNegative, Positive, Range, fitted
from tutelage.risk import Risk, Solution, minimise

SolverName = Literal["highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"]
# More unknowns than this at once, and a general method takes over from the interior point.
LARGEST = 5000


class QuantileRegressor(LinearRegressor):
    """Quantile regression with an l1 penalty.

    A drop-in for scikit-learn's class of the same name. ``certificate_`` is the proof of the fit; without ties it is
    exact to rounding.

    Examples
    --------
    >>> from tutelage import QuantileRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 400.0]
    >>> QuantileRegressor(quantile=0.5, alpha=0).fit(X, y).predict([[10.0]]).round(6)
    array([10.])
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    quantile: Annotated[
        float, Interval(0, 1, closed="neither"), "The level of the quantile; 0.5 is the median.", Range(0.05, 0.95)
    ] = 0.5
    alpha: Annotated[NonNegative, "Strength of the l1 penalty.", Range(1e-5, 1e1, logarithmic=True)] = 1.0
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    solver: Annotated[SolverName, "A hint, which changes nothing: one algorithm serves."] = "highs"
    solver_options: Annotated[dict[str, Any] | None, "Options of SciPy's solver: without effect."] = None
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-8
    max_iter: Annotated[Count, "The most rounds of the solver."] = 1000
    time_limit: Annotated[Positive | None, "The most seconds of a fit."] = None

    n_iter_: int = fitted("The rounds that were made.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        if self.solver == "interior-point":
            raise ValueError(
                "Solver interior-point is not anymore available in SciPy >= 1.11.0. Leave solver out: an interior "
                "point method of our own is what runs."
            )
        solution = self._solve(X, y, weight)
        self.n_iter_ = solution.rounds
        self.keep_solution(solution, X)
        return self

    def _solve(self, X: Any, y: Any, weight: Any) -> Solution:
        options = {"tol": self.tol, "max_rounds": self.max_iter, "time_limit": self.time_limit}
        if X.shape[1] <= LARGEST or self.alpha > 0:
            return fit_quantile(
                X, y, weight, level=self.quantile, alpha=self.alpha, fit_intercept=self.fit_intercept, **options
            )
        risk = Risk(losses.Quantile(self.quantile), penalties.NoPenalty(), self.fit_intercept)
        return minimise(risk, X, y, weight, **options)

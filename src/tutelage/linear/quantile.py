"""Quantile regression: the median, or any other quantile, of the target given the features.

The mean of a target says little where its distribution is skewed or has outliers. The quantile of level t is the
number with a share t of the targets below it, and what it minimises is the pinball loss: too low a prediction costs t
for each unit, too high a one 1 - t (Koenker and Bassett 1978):

    minimise over w, b:   (1 / S) sum_i s_i (t max(r_i, 0) + (1 - t) max(-r_i, 0))  +  alpha |w|_1,    r = y - X w - b

At t = 1/2 it is least absolute deviations. Two fits, at t = 0.05 and 0.95, make a prediction interval for targets of
any distribution. A linear program, whose solution fits some rows exactly; `tutelage.linear.interior_point` tells how it
is solved, to the last digits, with a dual point as proof.

Where columns outnumber rows, the program is solved on the columns that matter, and its dual point a finds those that
are missing, |x_j . a| > alpha, until there are none (column generation); or on all of them, where nearly as many
coefficients are in use as there are rows.

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

import numpy as np

from tutelage import losses, penalties
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.certificate import Reason
from tutelage.linear.base import LinearRegressor
from tutelage.linear.interior_point import Answer, Clock, Program
from tutelage.machine import serial_blas
from tutelage.parameters import Count, Interval, NonNegative, Positive, Range, fitted
from tutelage.risk import Risk, Solution, minimise

SolverName = Literal["highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"]
# More coefficients than this without a penalty, and a general method takes over from the interior point.
LARGEST = 5000
# Products in a round on all columns that are not too many.
WHOLE = 3e10
# More columns than rows and than this, and columns are generated.
WIDE = 200


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
        if X.shape[1] <= LARGEST or self.alpha > 0:
            return fit_quantile(
                X, y, weight, level=self.quantile, alpha=self.alpha, fit_intercept=self.fit_intercept, tol=self.tol,
                max_rounds=self.max_iter, time_limit=self.time_limit,
            )  # fmt: skip
        risk = Risk(losses.Quantile(self.quantile), penalties.NoPenalty(), self.fit_intercept)
        return minimise(risk, X, y, weight, tol=self.tol, max_rounds=self.max_iter, time_limit=self.time_limit)


def fit_quantile(
    X: Matrix,
    y: Floats,
    weight: Floats | None,
    *,
    level: float,
    alpha: float,
    fit_intercept: bool = True,
    tol: float = 1e-8,
    max_rounds: int = 1000,
    time_limit: float | None = None,
) -> Solution:
    """Minimise the mean quantile loss plus ``alpha`` times the sum of absolute values.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows.
    y : array of shape (n,)
        The targets.
    weight : array of shape (n,) or None
        How much each row counts.
    level : float
        Which quantile, between 0 and 1.
    alpha : float
        Strength of the penalty.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    tol : float, default=1e-8
        The relative duality gap to reach.
    max_rounds : int, default=1000
        The most rounds.
    time_limit : float, optional
        The most seconds.

    Returns
    -------
    Solution
        Coefficients, intercept and certificate.
    """
    if weight is not None and not weight.all():
        used = np.flatnonzero(weight)
        X, y, weight = X[used], y[used], weight[used]
    share = np.full(len(y), 1.0 / len(y)) if weight is None else weight / weight.sum()
    clock = Clock(tol, max_rounds, time_limit)
    samples, columns = X.shape
    if alpha > 0 and columns > max(WIDE, samples):
        with serial_blas():
            return _generate_columns(X, y, share, level, alpha, fit_intercept, clock)
    program = Program(X, y, share, level, alpha, fit_intercept)
    with serial_blas():
        answer = program.solve(clock)
    return Solution(answer.coef, answer.intercept, clock.certificate(answer, program.passes))


def _generate_columns(
    X: Matrix, y: Floats, share: Floats, level: float, alpha: float, fit_intercept: bool, clock: Clock
) -> Solution:
    """Solve on the columns that matter, and let the dual point find those that are missing."""
    whole = Program(X, y, share, level, alpha, fit_intercept)
    by_column = X.tocsc() if is_sparse(X) else X
    constant = _quantile(y, share, level) if fit_intercept else 0.0
    residual = y - constant
    balance = np.where(residual > 0, whole.high[: len(y)], whole.low[: len(y)])
    balance[residual == 0] = 0.0
    if fit_intercept:
        balance[residual == 0] = -balance.sum() / max(1, np.count_nonzero(residual == 0))
    best = Answer(np.zeros(X.shape[1]), constant, balance, whole.primal(np.zeros(X.shape[1]), residual), 0.0)
    best.dual = whole.dual(balance, best.coef)
    best.reason = Reason.CONVERGED
    used = np.empty(0, dtype=np.intp)
    passes, thinned = 0.0, False
    while best.gap > clock.tol:
        slopes = np.abs(whole.rows.transpose_times(np.ascontiguousarray(best.balance[:, None])).ravel())
        slopes[used] = 0.0
        count = min(max(50, len(used)), int((slopes > alpha).sum()))
        if not count:
            best.reason = Reason.ROUNDING
            break
        used = np.sort(np.append(used, np.argpartition(slopes, len(slopes) - count)[len(slopes) - count :]))
        crowded = len(used) > 2 * len(y) > 2 * WIDE and np.count_nonzero(best.coef) > 0.85 * len(y)
        if crowded and not thinned and len(y) ** 2 * X.shape[1] < WHOLE:
            # As many columns matter as there are rows: solve with all of them, then with those in use, to the corner.
            found = whole.solve(clock)
            best = found if found.primal < best.primal else best
            best.dual, best.balance = max(best.dual, found.dual), found.balance
            used, thinned = np.sort(np.argsort(-np.abs(found.coef), kind="stable")[: len(y)]), True
        part = Program(by_column[:, used], y, share, level, alpha, fit_intercept)
        found = part.solve(clock)
        passes += part.passes * len(used) / X.shape[1]
        coef = np.zeros(X.shape[1])
        coef[used] = found.coef
        answer = Answer(coef, found.intercept, found.balance[: len(y)], found.primal, 0.0)
        answer.dual = whole.dual(answer.balance, coef)
        # The next columns come from the last dual point, not from the best.
        bound = max(best.dual, answer.dual)
        if answer.primal > best.primal:
            answer = Answer(best.coef, best.intercept, answer.balance, best.primal, bound)
        best = answer
        best.dual = bound
        if found.reason in (Reason.ROUNDS, Reason.TIME):
            best.reason = found.reason
            break
    return Solution(best.coef, best.intercept, clock.certificate(best, passes + whole.passes))


def _quantile(y: Floats, share: Floats, level: float) -> float:
    """The smallest target with at least that share at or below it."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(share[order])
    place = int((reached < level * (1 - 1e-14)).sum())
    return float(y[order[min(place, len(y) - 1)]])

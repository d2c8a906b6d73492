"""Quantile regression as a linear program, by an interior point that ends in a corner.

Problem, with shares s_i of the weights (their sum is 1) and the level t of the quantile:

    minimise over w, b:   sum_i s_i (t max(r_i, 0) + (1 - t) max(-r_i, 0))  +  alpha sum_j |w_j|,    r = y - X w - b

|w_j| is such a sum too, of a row e_j with the target 0. The dual has one number a_i for each row, and is a linear
program whose only coupling is balance:

    maximise over a:   sum_i a_i y_i     subject to   s_i (t - 1) <= a_i <= s_i t,   |X' a| <= alpha,   sum_i a_i = 0

so any a inside its bounds, shrunk until |X' a| <= alpha, bounds the minimum from below: the certificate.

Algorithm (Portnoy and Koenker 1997).

1. Begin at a = 0, which is inside and in balance, and at least squares. z and u price the lower and the upper bounds:
   r = u - z.
2. Newton's method on z (a - low) = mu, u (high - a) = mu, whose equations are weighted least squares with the weights
   1 / (z / (a - low) + u / (high - a)); a trial step with mu = 0 says how much mu to keep (Mehrotra 1992). Go 0.9995 of
   the way to the nearest bound.
3. The solution of a linear program is a corner: as many rows and zero coefficients as there are unknowns hold with
   equality, those of the largest weights. Solve for them. If the corner's own dual point proves it, it is the answer,
   exact to rounding; otherwise go on.

Cost: 10 to 20 rounds of n d^2 / 2 products, native, and d^3 / 3; where d is large beside n and alpha is above 0, the
rounds run on the columns that matter, and X' a finds those that are missing (column generation). It fails to be fast
where thousands of coefficients are in use at once.

>>> import numpy as np
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0.0, 1.0, 2.0, 3.0, 9.0])
>>> solution = fit_quantile(X, y, None, level=0.5, alpha=0.0)
>>> solution.coef.round(6), solution.certificate.relative_gap < 1e-9
(array([1.]), True)
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from tutelage import matrices
from tutelage.base import Floats, Matrix, is_sparse
from tutelage.certificate import Certificate, Reason
from tutelage.machine import serial_blas
from tutelage.risk import Solution

if TYPE_CHECKING:
    from tutelage import _core

# A corner is worth looking for from this relative gap on; systems larger than LARGE look for it only at the end.
NEAR, LARGE = 1e-3, 200
# What a corner must prove of itself to be the answer.
PROVEN = 1e-10
# Sums so much smaller than their terms are zero but for rounding.
BALANCED = 1e-11
# Rounds without progress after which rounding is to blame.
PATIENCE = 5


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
    clock = _Clock(tol, max_rounds, time_limit)
    samples, columns = X.shape
    if alpha > 0 and columns > max(LARGE, samples):
        with serial_blas():
            return _generate_columns(X, y, share, level, alpha, fit_intercept, clock)
    program = Program(X, y, share, level, alpha, fit_intercept)
    with serial_blas():
        answer = program.solve(clock)
    return Solution(answer.coef, answer.intercept, clock.certificate(answer, program.passes))


@dataclass
class _Clock:
    """When to stop, and what was done until then."""

    tol: float
    max_rounds: int
    time_limit: float | None
    rounds: int = 0

    def __post_init__(self) -> None:
        self.begun = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begun

    def spent(self) -> Reason | None:
        if self.rounds >= self.max_rounds:
            return Reason.ROUNDS
        return Reason.TIME if self.time_limit is not None and self.seconds > self.time_limit else None

    def certificate(self, answer: Answer, passes: float) -> Certificate:
        return Certificate(
            primal=answer.primal,
            dual=answer.dual,
            rounds=self.rounds,
            passes=passes,
            seconds=self.seconds,
            solver="interior_point",
            reason=answer.reason,
        )


@dataclass
class Answer:
    """A point, a dual point, and the two values.

    Attributes
    ----------
    coef, intercept : array, float
        The point.
    balance : array of shape (n,)
        The dual point.
    primal, dual : float
        Their values.
    reason : Reason
        Why the solver stopped here.
    """

    coef: Floats
    intercept: float
    balance: Floats
    primal: float
    dual: float
    reason: Reason = Reason.CONVERGED

    @property
    def gap(self) -> float:
        """How far apart they are, relatively to the value; 0 where both are 0."""
        apart = max(self.primal - self.dual, 0.0)
        return apart / self.primal if self.primal > 0 else 0.0


class Program:
    """The linear program of one quantile.

    Parameters
    ----------
    X, y, share : arrays
        The rows, their targets, and their weights, all above 0, which add up to 1.
    level, alpha, fit_intercept
        As in `fit_quantile`.
    """

    def __init__(self, X: Matrix, y: Floats, share: Floats, level: float, alpha: float, fit_intercept: bool) -> None:
        self.X, self.y, self.share, self.level, self.alpha = X, y, share, level, alpha
        self.intercept = fit_intercept
        self.rows = matrices.rows(X)
        self.samples, self.columns = X.shape
        # With a penalty, a row e_j with the target 0 for each coefficient.
        self.priced = self.columns if alpha > 0 else 0
        price = np.full(self.priced, alpha)
        self.low = np.concatenate([share * (level - 1), -price])
        self.high = np.concatenate([share * level, price])
        self.targets = np.concatenate([y, np.zeros(self.priced)])
        mean, variance = self.rows.statistics(np.ascontiguousarray(share))
        self.squares = variance + mean**2
        self.passes = 1.0

    # ---- products ----

    def times(self, coef: Floats, intercept: float) -> Floats:
        """Scores of the rows, and of those of the penalty."""
        self.passes += 1
        scores = self.rows.times(np.ascontiguousarray(coef[None, :])).ravel() + intercept
        return np.concatenate([scores, coef]) if self.priced else scores

    def transposed(self, balance: Floats) -> tuple[Floats, float]:
        """X' a for the rows and those of the penalty together, and sum a."""
        self.passes += 1
        own = balance[: self.samples]
        made = self.rows.transpose_times(np.ascontiguousarray(own[:, None])).ravel()
        if self.priced:
            made += balance[self.samples :]
        return made, float(own.sum()) if self.intercept else 0.0

    # ---- values ----

    def primal(self, coef: Floats, residual: Floats) -> float:
        """The value of the risk."""
        loss = np.dot(self.share, np.maximum(self.level * residual, (self.level - 1) * residual))
        return float(loss + self.alpha * np.abs(coef).sum())

    def dual(self, balance: Floats, coef: Floats) -> float:
        """The value of a dual point made feasible; without a penalty, up to the rounding of its balance."""
        own = np.clip(balance[: self.samples], self.low[: self.samples], self.high[: self.samples])
        if self.intercept:
            above, below = own[own > 0].sum(), -own[own < 0].sum()
            own = np.where(own > 0, own * min(1.0, below / above if above > 0 else 1.0), own)
            own = np.where(own < 0, own * min(1.0, above / below if below > 0 else 1.0), own)
        self.passes += 1
        slopes = self.rows.transpose_times(np.ascontiguousarray(own[:, None])).ravel()
        value = float(np.dot(own, self.y))
        if self.alpha > 0:
            steepest = float(np.abs(slopes).max(initial=0.0))
            return value * min(1.0, self.alpha / steepest) if steepest > 0 else value
        if (np.abs(slopes) > BALANCED * np.sqrt(self.squares)).any():
            return 0.0  # a = 0 is always a point
        # What rounding leaves of X' a is worth its product with the coefficients of the minimum.
        return value - 2 * float(np.dot(np.abs(slopes), np.abs(coef)))

    # ---- the method ----

    def solve(self, clock: _Clock) -> Answer:
        """Find the minimum."""
        coef, intercept = self._least_squares()
        residual = self.targets - self.times(coef, intercept)
        own = residual[: self.samples]
        best = Answer(coef, intercept, np.zeros(self.samples), self.primal(coef, own), 0.0)
        scale = float(np.dot(self.share, np.abs(self.y)))
        if best.primal <= 1e-14 * scale:  # every row fits exactly
            best.dual = best.primal
            best.reason = Reason.EXACT
            return best
        low, high = self.low, self.high
        a = np.zeros(len(low))
        slack = 0.1 * float(np.abs(residual).mean()) + 1e-300
        z, u = np.maximum(-residual, 0) + slack, np.maximum(residual, 0) + slack
        idle = 0
        while True:
            answer = self._measure(coef, intercept, a, residual)
            idle = 0 if answer.gap < 0.9 * best.gap else idle + 1
            best = _better(best, answer)
            arrived = best.gap <= clock.tol
            if (best.gap < NEAR and self.columns <= LARGE) or arrived or idle > PATIENCE:
                corner = self._corner(a, z, u)
                if corner is not None and corner.gap <= max(PROVEN, min(best.gap, clock.tol)):
                    return corner
            spent = clock.spent()
            if arrived or spent is not None or idle > PATIENCE:
                best.reason = Reason.CONVERGED if arrived else spent or Reason.ROUNDING
                return best
            clock.rounds += 1
            below, above = a - low, high - a
            weight = 1.0 / (z / below + u / above)
            system = _System(self, weight)
            missing = self.transposed(a)
            mu = (np.dot(z, below) + np.dot(u, above)) / (2 * len(a))

            def direction(
                mend_low: Any, mend_high: Any, *, state: tuple[Any, ...] = (residual, below, above, weight, system)
            ) -> tuple[Floats, float, Floats, Floats, Floats]:
                residual, below, above, weight, system = state
                goal = residual + mend_low / below - mend_high / above
                slopes, total = self.transposed(weight * goal)
                step_coef, step_intercept = system.solve(slopes + missing[0], total + missing[1])
                step = weight * (goal - self.times(step_coef, step_intercept))
                step_z = mend_low / below - z - z / below * step
                step_u = mend_high / above - u + u / above * step
                return step_coef, step_intercept, step, step_z, step_u

            trial = direction(0.0, 0.0)
            inside = _furthest(below, trial[2], above, -trial[2])
            prices = _furthest(z, trial[3], u, trial[4])
            left = np.dot(z + prices * trial[3], below + inside * trial[2])
            left += np.dot(u + prices * trial[4], above - inside * trial[2])
            kept = mu * (left / (2 * len(a)) / mu) ** 3 if mu > 0 else 0.0
            step_coef, step_intercept, step, step_z, step_u = direction(
                kept - trial[2] * trial[3], kept + trial[2] * trial[4]
            )
            inside = min(1.0, 0.9995 * _furthest(below, step, above, -step))
            prices = min(1.0, 0.9995 * _furthest(z, step_z, u, step_u))
            if not (np.isfinite(inside) and np.isfinite(prices) and np.isfinite(step_coef).all()):
                idle = PATIENCE + 1
                continue
            a = a + inside * step
            coef, intercept = coef + prices * step_coef, intercept + prices * step_intercept
            z, u = z + prices * step_z, u + prices * step_u
            residual = self.targets - self.times(coef, intercept)

    def _least_squares(self) -> tuple[Floats, float]:
        weight = np.concatenate([self.share, np.full(self.priced, 1e-6 / max(1, self.priced))])
        slopes, total = self.transposed(weight * self.targets)
        return _System(self, weight).solve(slopes, total)

    def _measure(self, coef: Floats, intercept: float, a: Floats, residual: Floats) -> Answer:
        own = a[: self.samples]
        return Answer(coef, intercept, own, self.primal(coef, residual[: self.samples]), self.dual(own, coef))

    def _corner(self, a: Floats, z: Floats, u: Floats) -> Answer | None:
        """Solve for the rows and zeros that hold with equality; None where they do not settle the coefficients."""
        unknown = self.columns + int(self.intercept)
        weight = 1.0 / (z / (a - self.low) + u / (self.high - a))
        if unknown > len(weight):
            return None
        count = min(len(weight), 3 * unknown + 10)
        likely = np.argpartition(weight, len(weight) - count)[len(weight) - count :]
        lines = self._lines(likely)
        _, triangle, order = linalg.qr(
            (np.sqrt(weight[likely])[:, None] * lines).T, mode="economic", pivoting=True, check_finite=False
        )
        size = np.abs(np.diag(triangle))
        if not size[-1] > 1e-14 * size[0]:
            return None
        chosen = np.sort(likely[order[:unknown]])
        rows, zeros = chosen[chosen < self.samples], chosen[chosen >= self.samples] - self.samples
        free = np.setdiff1d(np.arange(self.columns), zeros)
        square = self._lines(rows)
        square = np.hstack([square[:, free], square[:, self.columns :]])
        try:
            factors = linalg.lu_factor(square, check_finite=False)
            point = linalg.lu_solve(factors, self.y[rows], check_finite=False)
            point += linalg.lu_solve(factors, self.y[rows] - square @ point, check_finite=False)
        except (linalg.LinAlgError, linalg.LinAlgWarning, ValueError):
            return None
        if not np.isfinite(point).all():
            return None
        coef = np.zeros(self.columns)
        coef[free] = point[: len(free)]
        intercept = float(point[-1]) if self.intercept else 0.0
        residual = self.targets - self.times(coef, intercept)
        # The dual point of a corner: bounds where the sign of the residual says which, balance for the others.
        balance = np.where(residual > 0, self.high, self.low)
        tied = np.abs(residual) <= 1e-13 * (np.abs(self.targets) + np.abs(self.targets - residual))
        balance[tied] = a[tied]
        balance[chosen] = 0.0
        slopes, total = self.transposed(balance)
        wanted = -np.append(slopes[free], total) if self.intercept else -slopes[free]
        balance[rows] = linalg.lu_solve(factors, wanted, trans=1, check_finite=False)
        own = residual[: self.samples]
        return Answer(coef, intercept, balance, self.primal(coef, own), self.dual(balance, coef))

    def _lines(self, which: Any) -> Floats:
        """Rows, of X and of the penalty, with their constant."""
        own = which[which < self.samples]
        made = np.zeros((len(which), self.columns + int(self.intercept)))
        places = np.flatnonzero(which < self.samples)
        found = self.X[own]
        made[places, : self.columns] = found.toarray() if is_sparse(found) else found
        if self.intercept:
            made[places, -1] = 1.0
        others = np.flatnonzero(which >= self.samples)
        made[others, which[others] - self.samples] = 1.0
        return made


class _System:
    """The normal equations of weighted least squares, factored."""

    def __init__(self, program: Program, weight: Floats) -> None:
        own = np.ascontiguousarray(weight[: program.samples])
        rows = program.rows
        program.passes += 1
        self.total = float(own.sum())
        self.mean = None
        if program.intercept:
            self.mean = rows.transpose_times(own[:, None]).ravel() / self.total
            lower = centred_products(rows, own, self.mean)
        else:
            lower = np.array(rows.sandwich(own))
        diagonal = np.einsum("ii->i", lower)
        if program.priced:
            diagonal += weight[program.samples :]
        scale = np.where(diagonal > 0, diagonal, 1.0)
        self.scale = 1.0 / np.sqrt(scale)
        lower *= self.scale[:, None]
        lower *= self.scale
        diagonal[:] = 1.0
        lean = 0.0
        while True:  # collinear columns: lean on a multiple of the identity, which the outer rounds correct
            try:
                self.factor = linalg.cho_factor(lower, lower=True, check_finite=False)
                break
            except linalg.LinAlgError:
                lean = 10 * lean if lean else 1e-14 * max(1, len(lower))
                diagonal[:] = 1.0 + lean
                if lean > 1:
                    raise

    def solve(self, slopes: Floats, total: float) -> tuple[Floats, float]:
        """Coefficients and intercept with the given products."""
        if self.mean is None:
            return self._coefficients(slopes), 0.0
        coef = self._coefficients(slopes - self.mean * total)
        return coef, float(total / self.total - np.dot(self.mean, coef))

    def _coefficients(self, slopes: Floats) -> Floats:
        found: Floats = linalg.cho_solve(self.factor, self.scale * slopes, check_finite=False) * self.scale
        return found


def centred_products(rows: _core.Rows, weight: Floats, mean: Floats) -> Floats:
    """Give the lower triangle of (X - mean)' diag(weight) (X - mean), where mean is that of X under the weights."""
    if not rows.sparse:
        return np.array(rows.sandwich(weight, np.ascontiguousarray(mean)))
    lower = np.array(rows.sandwich(weight))
    lower -= np.outer(mean * weight.sum(), mean)
    return lower


def _furthest(first: Floats, step: Floats, second: Floats, other: Floats) -> float:
    """How far both can go before one of their numbers is negative, 1 at most."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = (float(np.min(np.where(s < 0, -v / s, math.inf), initial=math.inf)) for v, s in
                ((first, step), (second, other)))  # fmt: skip
    return min(1.0, *ends)


def _better(best: Answer, answer: Answer) -> Answer:
    """Keep the lower point and the higher bound."""
    point = answer if answer.primal <= best.primal else best
    bound = answer if answer.dual >= best.dual else best
    return Answer(point.coef, point.intercept, bound.balance, point.primal, bound.dual, point.reason)


def _generate_columns(
    X: Matrix, y: Floats, share: Floats, level: float, alpha: float, fit_intercept: bool, clock: _Clock
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
    passes = 0.0
    while best.gap > clock.tol:
        slopes = np.abs(whole.rows.transpose_times(np.ascontiguousarray(best.balance[:, None])).ravel())
        slopes[used] = 0.0
        count = int(min(max(50, len(used)), np.count_nonzero(slopes > alpha)))
        if not count:
            best.reason = Reason.ROUNDING
            break
        used = np.sort(np.append(used, np.argpartition(slopes, len(slopes) - count)[len(slopes) - count :]))
        part = Program(by_column[:, used], y, share, level, alpha, fit_intercept)
        found = part.solve(clock)
        passes += part.passes * len(used) / X.shape[1]
        coef = np.zeros(X.shape[1])
        coef[used] = found.coef
        answer = Answer(coef, found.intercept, found.balance[: len(y)], found.primal, 0.0)
        answer.dual = whole.dual(answer.balance, coef)
        # The next columns come from the last dual point, not from the best.
        bound = max(best.dual, answer.dual)
        best = answer if answer.primal <= best.primal else Answer(best.coef, best.intercept, answer.balance, best.primal,
                                                                  bound)  # fmt: skip
        best.dual = bound
        if found.reason in (Reason.ROUNDS, Reason.TIME):
            best.reason = found.reason
            break
    return Solution(best.coef, best.intercept, clock.certificate(best, passes + whole.passes))


def _quantile(y: Floats, share: Floats, level: float) -> float:
    """The smallest target with at least that share at or below it."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(share[order])
    return float(y[order[min(int(np.searchsorted(reached, level * (1 - 1e-14))), len(y) - 1)]])

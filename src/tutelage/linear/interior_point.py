"""Quantile regression as a linear program, by an interior point that ends in a corner.

Problem, with shares s_i of the weights (their sum is 1) and the level t of the quantile:

    minimise over w, b:   sum_i s_i (t max(r_i, 0) + (1 - t) max(-r_i, 0))  +  alpha sum_j |w_j|,    r = y - X w - b

|w_j| is such a sum too, of a row e_j with the target 0. The dual has one number a_i for each row, and is a linear
program whose only coupling is balance:

    maximise over a:   sum_i a_i y_i    with   s_i (t - 1) <= a_i <= s_i t,   |X' a| <= alpha,   sum_i a_i = 0

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

Cost: 10 to 20 rounds of n d^2 / 2 products, native, and d^3 / 3. It fails to be fast where thousands of coefficients
are in use at once.

>>> import numpy as np
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0.0, 1.0, 2.0, 3.0, 9.0])
>>> answer = Program(X, y, np.full(5, 0.2), level=0.5, alpha=0.0, fit_intercept=True).solve(Clock(tol=1e-9))
>>> answer.coef.round(6), answer.gap < 1e-9
(array([1.]), True)
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import linalg

from tutelage import matrices
from tutelage.base import Floats, Matrix, is_sparse
from tutelage.certificate import Certificate, Reason

if TYPE_CHECKING:
    from tutelage import _core

# A corner is worth looking for from this relative gap on; systems larger than LARGE look for it only at the end.
NEAR, LARGE = 1e-3, 200
# Larger systems have none looked for: their columns are first thinned to those in use.
LARGEST_CORNER = 3000
# What a corner must prove of itself to be the answer.
PROVEN = 1e-10
# Sums so much smaller than their terms are zero but for rounding.
BALANCED = 1e-11
# Rounds without progress after which rounding is to blame.
PATIENCE = 5


@dataclass
class Clock:
    """When to stop, and what was done until then.

    Attributes
    ----------
    tol : float
        The relative duality gap to reach.
    max_rounds : int, default=1000
        The most rounds.
    time_limit : float, optional
        The most seconds.
    rounds : int
        Those that were made.
    """

    tol: float
    max_rounds: int = 1000
    time_limit: float | None = None
    rounds: int = 0

    def __post_init__(self) -> None:
        self.begun = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self.begun

    def spent(self) -> Reason | None:
        """Why to stop before the tolerance, or None."""
        if self.rounds >= self.max_rounds:
            return Reason.ROUNDS
        return Reason.TIME if self.time_limit is not None and self.seconds > self.time_limit else None

    def certificate(self, answer: Answer, passes: float) -> Certificate:
        """Make the proof of an answer."""
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


@dataclass
class _State:
    """A point, its residuals, a dual point, and the prices of its lower and upper bounds."""

    coef: Floats
    intercept: float
    residual: Floats
    a: Floats
    z: Floats
    u: Floats


class _Step(NamedTuple):
    """A step of all but the residuals."""

    coef: Floats
    intercept: float
    a: Floats
    z: Floats
    u: Floats


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

    @cached_property
    def across(self) -> _core.Rows:
        """The columns of X, as rows."""
        return matrices.rows(self.X.T)

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

    def solve(self, clock: Clock) -> Answer:
        """Find the minimum."""
        coef, intercept = self._least_squares()
        residual = self.targets - self.times(coef, intercept)
        own = residual[: self.samples]
        best = Answer(coef, intercept, np.zeros(self.samples), self.primal(coef, own), 0.0)
        scale = float(np.dot(self.share, np.abs(self.y)))
        a = np.zeros(len(self.low))
        slack = 0.1 * float(np.abs(residual).mean()) + 1e-300
        z, u = np.maximum(-residual, 0) + slack, np.maximum(residual, 0) + slack
        state = _State(coef, intercept, residual, a, z, u)
        idle = 0
        while True:
            answer = self._measure(state)
            idle = 0 if answer.gap < 0.9 * best.gap else idle + 1
            best = _better(best, answer)
            if not math.isfinite(best.primal):
                best.reason = Reason.DIVERGED
                return best
            if best.primal <= 1e-14 * scale:  # every row fits exactly
                best.dual, best.reason = best.primal, Reason.EXACT
                return best
            arrived = best.gap <= clock.tol
            if (best.gap < NEAR and self.columns <= LARGE) or arrived or idle > PATIENCE:
                corner = self._corner(state)
                if corner is not None and corner.gap <= max(PROVEN, min(best.gap, clock.tol)):
                    return corner
            spent = clock.spent()
            if arrived or spent is not None or idle > PATIENCE:
                best.reason = Reason.CONVERGED if arrived else spent or Reason.ROUNDING
                return best
            clock.rounds += 1
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                moved = self._round(state)
            if moved is None:
                idle = PATIENCE + 1
            else:
                state = moved

    def _round(self, state: _State) -> _State | None:
        """Step 2: a trial step, the step, and how far to go; None where numbers end."""
        a, z, u = state.a, state.z, state.u
        below, above = a - self.low, self.high - a
        weight = 1.0 / (z / below + u / above)
        system = self.system(weight)
        missing = self.transposed(a)

        def direction(mend_low: Any, mend_high: Any) -> _Step:
            goal = state.residual + mend_low / below - mend_high / above
            slopes, total = self.transposed(weight * goal)
            coef, intercept = system.solve(slopes + missing[0], total + missing[1])
            step = weight * (goal - self.times(coef, intercept))
            return _Step(
                coef, intercept, step, mend_low / below - z - z / below * step, mend_high / above - u + u / above * step
            )

        mu = (np.dot(z, below) + np.dot(u, above)) / (2 * len(a))
        trial = direction(0.0, 0.0)
        inside = furthest(below, trial.a, above, -trial.a)
        prices = furthest(z, trial.z, u, trial.u)
        left = np.dot(z + prices * trial.z, below + inside * trial.a)
        left += np.dot(u + prices * trial.u, above - inside * trial.a)
        kept = mu * (left / (2 * len(a)) / mu) ** 3 if mu > 0 else 0.0
        step = direction(kept - trial.a * trial.z, kept + trial.a * trial.u)
        inside = min(1.0, 0.9995 * furthest(below, step.a, above, -step.a))
        prices = min(1.0, 0.9995 * furthest(z, step.z, u, step.u))
        if not (np.isfinite(inside) and np.isfinite(prices) and np.isfinite(step.coef).all()):
            return None
        coef, intercept = state.coef + prices * step.coef, state.intercept + prices * step.intercept
        residual = self.targets - self.times(coef, intercept)
        return _State(coef, intercept, residual, a + inside * step.a, z + prices * step.z, u + prices * step.u)

    def _least_squares(self) -> tuple[Floats, float]:
        weight = np.concatenate([self.share, np.full(self.priced, 1e-6 / max(1, self.priced))])
        slopes, total = self.transposed(weight * self.targets)
        return self.system(weight).solve(slopes, total)

    def system(self, weight: Floats) -> _System | _WideSystem:
        """Factor the normal equations of least squares with these weights."""
        wide = self.priced and self.samples < self.columns
        return _WideSystem(self, weight) if wide else _System(self, weight)

    def _measure(self, state: _State) -> Answer:
        own = state.a[: self.samples]
        value = self.primal(state.coef, state.residual[: self.samples])
        return Answer(state.coef, state.intercept, own, value, self.dual(own, state.coef))

    def _corner(self, state: _State) -> Answer | None:
        """Solve for the rows and zeros that hold with equality; None where they do not settle the coefficients."""
        unknown = self.columns + int(self.intercept)
        if unknown > LARGEST_CORNER:
            return None
        a = state.a
        weight = 1.0 / (state.z / (a - self.low) + state.u / (self.high - a))
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
    """The normal equations of weighted least squares, factored: a matrix with a row for each coefficient."""

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
        if program.priced:
            np.einsum("ii->i", lower)[:] += weight[program.samples :]
        self.factor = _Factor(lower)

    def solve(self, slopes: Floats, total: float) -> tuple[Floats, float]:
        """Coefficients and intercept with the given products."""
        if self.mean is None:
            return self.factor.solve(slopes), 0.0
        coef = self.factor.solve(slopes - self.mean * total)
        return coef, float(total / self.total - np.dot(self.mean, coef))


class _WideSystem:
    """The same equations where columns outnumber rows: a matrix with a row for each row of X.

    With D the weights of the coefficients and Q those of the rows, (D + X' Q X)^-1 X' Q = D^-1 X' T^-1 for
    T = Q^-1 + X D^-1 X'.
    """

    def __init__(self, program: Program, weight: Floats) -> None:
        program.passes += 1
        self.program = program
        self.inverse = 1.0 / weight[program.samples :]
        lower = np.array(program.across.sandwich(np.ascontiguousarray(self.inverse)))
        np.einsum("ii->i", lower)[:] += 1.0 / weight[: program.samples]
        self.factor = _Factor(lower)
        self.constant = self.factor.solve(np.ones(program.samples)) if program.intercept else np.zeros(program.samples)

    def solve(self, slopes: Floats, total: float) -> tuple[Floats, float]:
        """Coefficients and intercept with the given products."""
        rows = self.program.rows
        self.program.passes += 2
        scores = rows.times(np.ascontiguousarray((self.inverse * slopes)[None, :])).ravel()
        pull = self.factor.solve(scores)
        intercept = 0.0
        if self.program.intercept:
            intercept = float((total - pull.sum()) / self.constant.sum())
            pull = pull + intercept * self.constant
        coef: Floats = self.inverse * (slopes - rows.transpose_times(np.ascontiguousarray(pull[:, None])).ravel())
        return coef, intercept


class _Factor:
    """The Cholesky factor of a matrix scaled to ones on its diagonal; of lower triangles, which it overwrites."""

    def __init__(self, lower: Floats) -> None:
        diagonal = np.einsum("ii->i", lower)
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        lower *= self.scale[:, None]
        lower *= self.scale
        diagonal[:] = 1.0
        lean = 0.0
        while True:  # collinear columns: lean on a multiple of the identity, which the outer rounds correct
            try:
                self.factor = linalg.cho_factor(lower, lower=True, check_finite=False)
            except linalg.LinAlgError:
                lean = 10 * lean if lean else 1e-14 * max(1, len(lower))
                diagonal[:] = 1.0 + lean
                if not lean < 1:
                    self.factor = (np.full_like(lower, np.nan), True)
                    return
            else:
                return

    def solve(self, right: Floats) -> Floats:
        """Solve for one right side."""
        found: Floats = linalg.cho_solve(self.factor, self.scale * right, check_finite=False) * self.scale
        return found


def centred_products(rows: _core.Rows, weight: Floats, mean: Floats) -> Floats:
    """Give the lower triangle of (X - mean)' diag(weight) (X - mean), where mean is that of X under the weights."""
    if not rows.sparse:
        return np.array(rows.sandwich(weight, np.ascontiguousarray(mean)))
    lower = np.array(rows.sandwich(weight))
    lower -= np.outer(mean * weight.sum(), mean)
    return lower


def furthest(first: Floats, step: Floats, second: Floats, other: Floats) -> float:
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

"""Huber regression: least squares for the rows that fit, absolute deviations for the others, in a scale of its own.

One row far away moves a least squares fit as far as it likes. Huber's loss is a parabola for small residuals and a
line beyond, so that an outlier pulls with a force that does not grow; but small and large need a unit. Huber's
proposal is to fit it, sigma, jointly with the coefficients:

    minimise over w, b, sigma:   sum_i s_i (sigma + sigma H(r_i / sigma))  +  alpha |w|^2,      r = y - X w - b

    H(z) = z^2               where |z| <= epsilon
           2 epsilon |z| - epsilon^2   beyond

which is convex in all of them together, and changes with the units of y as sigma does.

Algorithm. For given residuals the best sigma solves sum_i s_i min((r_i / sigma)^2, epsilon^2) = S, one equation that
sorting solves exactly, so it is eliminated. What is left, a convex function of (w, b), is made of pieces that are
nearly quadratic, and Newton's method finds the right piece: its Hessian is X' D X / sigma over the rows inside, less
the part that sigma takes up (a matrix of rank one). Where a step does not lower the value enough it is shortened, and
where it fails, the rows outside lend the curvature of a parabola that touches their line from above. Where the best
sigma is nearly zero (most rows fit nearly exactly) the pieces are too small to step across: after a few rounds an
interior point (`tutelage.linear.huber_interior`) takes over, and Newton's method finds the last digits.

Proof. u_i = r_i / sigma, clipped to epsilon, is a point of the dual problem,

    maximise over u:   sum_i s_i 2 u_i y_i - |X' (s u)|^2 / alpha     with  |u_i| <= epsilon,  sum_i s_i u_i^2 <= S,
                                                                             sum_i s_i u_i = 0

(for alpha = 0, X' (s u) = 0 instead), and the gap to its value is the certificate.

Cost: 5 to 15 rounds of n d^2 / 2 products and a few readings of X. Where d exceeds n, the rows are first written in the
coordinates of the space they span, which leaves n columns. It fails where more than 1 / epsilon^2 of the rows lie
exactly on a plane: there the best sigma is zero, and sigma stays at a number near it.

>>> import numpy as np
>>> X = np.arange(10.0)[:, None]
>>> y = 2 * X[:, 0] + 1 + 0.1 * (-1) ** np.arange(10)
>>> y[0] = 1000.0
>>> model = HuberRegressor(alpha=0).fit(X, y)
>>> model.coef_.round(1), model.outliers_[0]
(array([2.]), np.True_)
>>> model.certificate_.relative_gap < 1e-5
True
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy import linalg

from tutelage import matrices
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.certificate import Certificate, Reason
from tutelage.linear.accuracy import LAST_DIGITS, SMALL
from tutelage.linear.base import LinearRegressor
from tutelage.linear.huber_interior import interior_point
from tutelage.linear.interior_point import centred_products
from tutelage.linear.positive_systems import solve_by_rows, solve_positive
from tutelage.machine import serial_blas
from tutelage.parameters import Interval, NonNegative, NonNegativeCount, Positive, Range, fitted

# The least sigma: scikit-learn's bound.
SMALLEST_SCALE = 10 * float(np.finfo(np.float64).eps)
# After so many rounds of Newton's method an interior point takes over, for so many at most.
PLAIN_ROUNDS, INSIDE_ROUNDS = 8, 60
# The gap at which it hands back.
INSIDE_DIGITS = 1e-10
# Sums so much smaller than their terms are zero but for rounding.
BALANCED = 1e-11


class HuberRegressor(LinearRegressor):
    """Linear regression that outliers cannot move far, its scale fitted jointly.

    A drop-in for scikit-learn's class of the same name. ``tol`` is the relative duality gap at which the fit stops, and
    ``certificate_`` is the proof.

    Examples
    --------
    >>> from tutelage import HuberRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.1, 0.9, 2.1, 2.9, 4.1, 400.0]
    >>> HuberRegressor(alpha=0).fit(X, y).coef_.round()
    array([1.])
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    epsilon: Annotated[
        float,
        Interval(1),
        "Residuals beyond so many times the scale count linearly: the smaller, the more robust.",
        Range(1.05, 3),
    ] = 1.35
    max_iter: Annotated[NonNegativeCount, "The most rounds of the solver."] = 100
    alpha: Annotated[NonNegative, "Strength of the squared norm; 0 for none.", Range(1e-6, 1e4, logarithmic=True)] = (
        0.0001
    )
    warm_start: Annotated[bool, "Whether to start from the coefficients of the last fit."] = False
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-05
    time_limit: Annotated[Positive | None, "The most seconds of a fit."] = None

    scale_: Any = fitted("The scale: the unit in which residuals are small or large.")
    outliers_: Any = fitted("For each row of the fit, whether its residual exceeds epsilon times the scale.")
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
        start = None
        if self.warm_start and hasattr(self, "coef_"):
            start = np.append(self.coef_, self.intercept_).astype(np.float64)
        X, y, weight = self.validate(X, y, sample_weight)
        if start is not None and len(start) != X.shape[1] + 1:
            raise ValueError(
                f"The coefficients to start from have {len(start) - 1} columns and X has {X.shape[1]}; set "
                "warm_start=False for the first fit on other features."
            )
        with serial_blas():
            answer = fit_huber(
                X, y, weight, self.epsilon, self.alpha, fit_intercept=self.fit_intercept, start=start, tol=self.tol,
                max_rounds=self.max_iter, time_limit=self.time_limit,
            )  # fmt: skip
        self.n_iter_ = answer.certificate.rounds
        self.scale_ = answer.scale
        self.outliers_ = np.abs(answer.residual) > self.epsilon * answer.scale
        opening = f"lbfgs failed to converge after {self.n_iter_} iteration(s)."
        ran_out = answer.certificate.reason is Reason.ROUNDS
        self.keep(answer.coef, answer.intercept, answer.certificate, X, opening=opening if ran_out else "")
        return self


@dataclass
class _State:
    """A point, the best scale for it, and what follows from them."""

    coef: Floats
    intercept: float
    residual: Floats
    scale: float
    value: float


@dataclass
class HuberFit:
    """A point and its proof."""

    coef: Floats
    intercept: float
    scale: float
    residual: Floats
    certificate: Certificate


def fit_huber(
    X: Matrix,
    y: Floats,
    weight: Floats | None,
    epsilon: float,
    alpha: float,
    *,
    fit_intercept: bool = True,
    start: Floats | None = None,
    tol: float = 1e-5,
    max_rounds: int = 100,
    time_limit: float | None = None,
) -> HuberFit:
    """Minimise the joint risk of coefficients, intercept and scale.

    Parameters
    ----------
    X, y, weight : arrays
        The rows, their targets and their weights.
    epsilon, alpha : float
        As in `HuberRegressor`.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    start : array of shape (d + 1,), optional
        Coefficients and intercept to begin with.
    tol : float, default=1e-5
        The relative duality gap to reach; small problems go on to the last digits.
    max_rounds : int, default=100
        The most rounds.
    time_limit : float, optional
        The most seconds.

    Returns
    -------
    HuberFit
        The minimum.
    """
    samples, columns = X.shape
    if columns <= samples:
        return _Huber(X, y, weight, epsilon, alpha, fit_intercept).run(start, tol, max_rounds, time_limit)
    # The coefficients of the minimum are a combination of the rows: n coordinates hold all of them.
    gram = X @ X.T
    gram = np.asarray(gram.toarray() if is_sparse(gram) else gram, dtype=np.float64)
    values, vectors = linalg.eigh(gram)
    kept = values > 1e-14 * max(1, samples) * max(values[-1], 0.0)
    if not kept.any():
        kept[-1] = True
        values = np.ones_like(values)
    root = np.sqrt(values[kept])
    inner = np.ascontiguousarray(vectors[:, kept] * root)
    begin = None
    if start is not None:
        begin = np.append((X @ start[:-1]) @ vectors[:, kept] / root, start[-1])
    problem = _Huber(inner, y, weight, epsilon, alpha, fit_intercept)
    problem.dense = inner
    answer = problem.run(begin, tol, max_rounds, time_limit)
    answer.coef = np.asarray(X.T @ (vectors[:, kept] @ (answer.coef / root)), dtype=np.float64)
    return answer


class _Huber:
    """The risk of one data set, halved: its sum of squares is then that of least squares."""

    def __init__(
        self, X: Matrix, y: Floats, weight: Floats | None, epsilon: float, alpha: float, intercept: bool
    ) -> None:
        self.rows = matrices.rows(X)
        self.samples, self.columns = X.shape
        self.entries = X.nnz if is_sparse(X) else X.size
        self.y, self.epsilon, self.alpha, self.intercept = y, epsilon, alpha, intercept
        self.weight = np.ones(self.samples) if weight is None else weight
        self.total = float(self.weight.sum())
        self.passes = 0.0
        self.X = X
        self.dense: Floats | None = None  # X itself, where its products would lose a small alpha
        self._column_squares: Floats | None = None

    def run(self, start: Floats | None, tol: float, max_rounds: int, time_limit: float | None) -> HuberFit:
        """Newton's method on the risk without its scale."""
        begun = time.perf_counter()
        if start is None:
            state = self._least_squares() if max_rounds else self._at(np.zeros(self.columns), 0.0)
        else:
            state = self._at(start[:-1], float(start[-1]) if self.intercept else 0.0)
        aim = min(tol, LAST_DIGITS) if self.entries <= SMALL else tol
        reason, rounds, stalled = Reason.CONVERGED, 0, False
        self.best, self.bound, inside = state, 0.0, False
        while True:
            step, dual = self._newton(state)
            gap = self._told(state, dual)
            if self.best.scale <= SMALLEST_SCALE and self.best.value <= self._rounding():
                reason = Reason.EXACT  # every row fits
                break
            if gap <= aim or (gap <= tol and (inside or (start is not None and rounds == 0))):
                break
            late = time_limit is not None and time.perf_counter() - begun > time_limit
            if rounds >= max_rounds or late or (stalled and inside):
                ended = Reason.TIME if late else Reason.ROUNDS if rounds >= max_rounds else Reason.ROUNDING
                reason = Reason.CONVERGED if gap <= tol else ended
                break
            if gap > tol and not inside and (stalled or rounds >= PLAIN_ROUNDS):
                inside = True
                rounds += self._from_inside(max(aim, INSIDE_DIGITS), min(INSIDE_ROUNDS, max_rounds - rounds))
                state, stalled = self.best, False
                continue
            rounds += 1
            moved = self._advance(state, step) or self._advance(state, self._majorised(state))
            stalled = moved is None
            if stalled and gap <= tol:
                break
            state = moved or state
        state = self.best
        certificate = Certificate(
            primal=2 * state.value,
            dual=2 * self.bound,
            rounds=rounds,
            passes=self.passes,
            seconds=time.perf_counter() - begun,
            solver="newton",
            reason=reason,
        )
        return HuberFit(state.coef, state.intercept, state.scale, state.residual, certificate)

    def _told(self, state: _State, dual: float) -> float:
        """Keep the lower point and the higher bound; give their relative gap."""
        self.best = state if state.value < self.best.value else self.best
        self.bound = max(self.bound, dual)
        return max(self.best.value - self.bound, 0.0) / self.best.value if self.best.value > 0 else 0.0

    def _from_inside(self, aim: float, rounds: int) -> int:
        """Let an interior point lower the value and raise the bound; give its rounds."""

        def arrived(coef: Floats, intercept: float, u: Floats) -> bool:
            whole = np.zeros(self.samples)
            whole[self.weight > 0] = u
            return self._told(self._at(coef, intercept), self._dual(whole, coef)) <= aim

        begin = self._least_squares()
        point = (begin.coef, begin.intercept)
        return interior_point(
            self.X, self.y, self.weight, self.epsilon, self.alpha, self.intercept, point, rounds, arrived
        )[2]

    def _rounding(self) -> float:
        """What the value of a perfect fit amounts to."""
        return 1e-12 * float(np.dot(self.weight, np.abs(self.y))) + 2 * SMALLEST_SCALE * self.total

    # ---- values ----

    def _at(self, coef: Floats, intercept: float) -> _State:
        self.passes += 1
        residual = self.y - self.rows.times(np.ascontiguousarray(coef[None, :])).ravel() - intercept
        size = np.abs(residual)
        scale = best_scale(size, self.weight, self.epsilon)
        # Sums of what is above the threshold and what is below it, without squares that could overflow.
        inside = np.minimum(size / scale, self.epsilon)
        loss = scale * float(np.dot(self.weight, inside * (size / scale - inside / 2)))
        value = self.total * scale / 2 + loss + self.alpha / 2 * float(coef @ coef)
        return _State(coef, intercept, residual, scale, value)

    def _least_squares(self) -> _State:
        zero = _State(np.zeros(self.columns), 0.0, self.y, 1.0, 0.0)
        step, _ = self._solve(zero, self.weight, np.zeros(self.samples), self.weight * self.y, self.alpha)
        if not np.isfinite(step).all():
            return self._at(np.zeros(self.columns), 0.0)
        return self._at(step[: self.columns], float(step[-1]) if self.intercept else 0.0)

    def _dual(self, u: Floats, coef: Floats) -> float:
        """The value of a dual point, made feasible by shrinking."""
        s = self.weight
        u = np.clip(u, -self.epsilon, self.epsilon)
        if self.intercept:
            above, below = float(np.dot(s, np.maximum(u, 0))), float(np.dot(s, np.maximum(-u, 0)))
            u = np.where(u > 0, u * min(1.0, below / above if above > 0 else 1.0), u)
            u = np.where(u < 0, u * min(1.0, above / below if below > 0 else 1.0), u)
        energy = float(np.dot(s, u * u))
        if energy > self.total:
            u = u * np.sqrt(self.total / energy)
            energy = self.total
        self.passes += 1
        slopes = self.rows.transpose_times(np.ascontiguousarray((s * u)[:, None])).ravel()
        linear, square = float(np.dot(s * u, self.y)), float(slopes @ slopes)
        spare = SMALLEST_SCALE * (self.total - energy) / 2
        if self.alpha > 0:
            shrink = min(1.0, max(0.0, self.alpha * linear / square)) if square > 0 else 1.0
            return shrink * linear - shrink**2 * square / (2 * self.alpha) + spare * (shrink == 1.0)
        if (np.abs(slopes) > BALANCED * self.epsilon * np.sqrt(self.total * self._squares())).any():
            return SMALLEST_SCALE * self.total / 2  # u = 0 is always a point
        # What rounding leaves of X' (s u) is worth its product with the coefficients of the minimum.
        return linear - 2 * float(np.abs(slopes) @ np.abs(coef)) + spare

    def _squares(self) -> Floats:
        """sum_i s_i x_ij^2."""
        if self._column_squares is None:
            mean, variance = self.rows.statistics(np.ascontiguousarray(self.weight, dtype=np.float64))
            self._column_squares = self.total * (variance + mean**2)
        return self._column_squares

    # ---- steps ----

    def _newton(self, state: _State) -> tuple[Floats, float]:
        """Newton's step, and the value of the dual point that lies along it."""
        sigma, residual = state.scale, state.residual
        inside = (np.abs(residual) <= self.epsilon * sigma) & (self.weight > 0)
        curvature = np.where(inside, self.weight, 0.0)
        free = sigma > SMALLEST_SCALE
        pull = curvature * residual / sigma if free else np.zeros(self.samples)
        force = self.weight * np.clip(residual / sigma, -self.epsilon, self.epsilon) * sigma
        step, change = self._solve(state, curvature, pull, force, self.alpha * sigma)
        if not np.isfinite(step).all():
            return np.zeros_like(step), self._dual(residual / sigma, state.coef)
        move = self.rows.times(np.ascontiguousarray(step[None, : self.columns])).ravel()
        self.passes += 1
        if self.intercept:
            move += step[-1]
        here, ahead = residual / sigma, (residual - move) / max(sigma + change, SMALLEST_SCALE)
        dual = self._dual(here, state.coef)
        if free:
            dual = max(dual, self._dual(ahead, state.coef))
        return step, dual

    def _majorised(self, state: _State) -> Floats:
        """The step of the parabolas that touch the loss from above: always downhill."""
        sigma, size = state.scale, np.abs(state.residual)
        curvature = self.weight * np.minimum(1.0, self.epsilon * sigma / np.maximum(size, 1e-300))
        force = curvature * state.residual
        return self._solve(state, curvature, np.zeros(self.samples), force, self.alpha * sigma)[0]

    def _solve(
        self, state: _State, curvature: Floats, pull: Floats, force: Floats, alpha: float
    ) -> tuple[Floats, float]:
        """Solve for the step of (w, b), and that of sigma: everything times sigma, so that nothing is divided by it."""
        self.passes += 3
        columns = self.columns
        total = float(curvature.sum())
        both = np.stack([curvature, pull, force], axis=1)
        products = self.rows.transpose_times(np.ascontiguousarray(both))
        centre = self.intercept and total > 0
        mean = products[0] / total if centre else np.zeros(columns)
        lower = centred_products(self.rows, np.ascontiguousarray(curvature), mean)
        matrix = np.tril(lower) + np.tril(lower, -1).T
        matrix[np.diag_indices(columns)] += alpha
        sums = both.sum(axis=0) if self.intercept else np.zeros(3)
        slopes = products[2] - alpha * state.coef - mean * sums[2]
        cross = products[1] - mean * sums[1]
        stiff = float(np.dot(pull, state.residual)) / state.scale  # the curvature of sigma
        if centre and total > 0:
            stiff -= sums[1] ** 2 / total
            total_pull, total_force = sums[1] / total, sums[2] / total
        else:
            total_pull = total_force = 0.0
        right = np.stack([slopes, cross], axis=1)
        answer = None if self.dense is None else solve_by_rows(self.dense - mean, curvature, alpha, right)
        if answer is None:
            answer = solve_positive(matrix, right)
        change = 0.0
        if pull.any():
            # sigma's own equation: its slope is zero, since it is the best.
            left = stiff - float(cross @ answer[:, 1])
            goal = -float(cross @ answer[:, 0]) - sums[1] * total_force
            change = goal / left if left > 1e-12 * stiff > 0 else 0.0
        step = answer[:, 0] - change * answer[:, 1]
        if not self.intercept:
            return step, change
        constant = total_force - change * total_pull - float(mean @ step)
        return np.append(step, constant), change

    def _advance(self, state: _State, step: Floats) -> _State | None:
        """Go along a step as far as it lowers the value; None where it does not."""
        if not step.any():
            return None
        length = 1.0
        for _ in range(30):
            coef = state.coef + length * step[: self.columns]
            made = self._at(coef, state.intercept + length * float(step[-1]) if self.intercept else 0.0)
            if made.value < state.value:
                return made
            length *= 0.3
        return None


def best_scale(size: Floats, weight: Floats, epsilon: float) -> float:
    """Give the scale that is best for absolute residuals: sum_i s_i min((r_i / sigma)^2, epsilon^2) = sum_i s_i.

    Parameters
    ----------
    size : array of shape (n,)
        The absolute residuals.
    weight : array of shape (n,)
        How much each row counts.
    epsilon : float
        The threshold, in scales.

    Returns
    -------
    float
        At least `SMALLEST_SCALE`.

    Examples
    --------
    >>> best_scale(np.array([1.0, 1.0, 1.0]), np.ones(3), epsilon=10.0)
    1.0
    """
    largest = float(size.max(initial=0.0))
    if largest <= SMALLEST_SCALE:
        return SMALLEST_SCALE
    order = np.argsort(size)
    unit, s = size[order] / largest, weight[order]
    inside = np.cumsum(s * unit * unit)
    total = float(s.sum())
    beyond = total - np.cumsum(s)  # the weight above each row
    # With rows up to i inside, sigma^2 = inside_i / (total - epsilon^2 beyond_i); the true i is the first where
    # epsilon sigma reaches no further than the next row.
    room = total - epsilon**2 * np.maximum(beyond, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = np.where(room > 0, inside / room, np.inf)
    after = np.append(unit[1:], np.inf)
    first = int(np.argmax(epsilon * np.sqrt(square) < after))
    return max(float(np.sqrt(square[first])) * largest, SMALLEST_SCALE)

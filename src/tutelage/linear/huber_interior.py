"""Huber regression where Newton's method finds no piece to stand on: an interior point.

Where most rows fit nearly exactly the best sigma is nearly zero, and the pieces of the risk of `tutelage.linear.huber`
are too small to step across. Its optimality conditions are those of a linear program but for two terms:

    r_i = sigma u_i + t_i - z_i,     t_i (epsilon - u_i) = 0,     z_i (u_i + epsilon) = 0         for each row
    sigma (S - sum_i s_i u_i^2) / 2 = 0,     X' (s u) = alpha w,     sum_i s_i u_i = 0

Newton's method on them, their zeros replaced by a falling mu (Mehrotra's predictor and corrector), needs one weighted
least squares for each round, with the weights s / (sigma + t / (epsilon - u) + z / (u + epsilon)), and one more right
side for sigma. u is a point of the dual problem all along.

Cost: 15 to 40 rounds, each like one of Newton's. It fails to give the last digits, which the pieces have.

>>> import numpy as np
>>> X = np.arange(8.0)[:, None]
>>> y, start = 2 * X[:, 0] + (X[:, 0] > 6), (np.zeros(1), 0.0)
>>> coef, *_ = interior_point(X, y, np.ones(8), 1.01, 0.0, True, start, 30, lambda coef, constant, u: False)
>>> coef.round(4)
array([2.])
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.linear.interior_point import Program, furthest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.base import Floats, Matrix


@np.errstate(divide="ignore", invalid="ignore", over="ignore")  # what ends as no number ends the method
def interior_point(
    X: Matrix,
    y: Floats,
    weight: Floats,
    epsilon: float,
    alpha: float,
    intercept: bool,
    start: tuple[Floats, float],
    rounds: int,
    arrived: Callable[[Floats, float, Floats], bool],
) -> tuple[Floats, float, int]:
    """Follow the central path.

    Parameters
    ----------
    X, y, weight : arrays
        The rows, their targets and their weights.
    epsilon, alpha : float
        Of the halved risk, whose penalty is alpha |w|^2 / 2.
    intercept : bool
        Whether there is an intercept.
    start : coefficients and intercept
        Where to begin.
    rounds : int
        The most rounds.
    arrived : function of coefficients, intercept and u
        Whether to stop; it is told of every round.

    Returns
    -------
    coef, intercept, rounds
        The last point, and how many rounds were made.
    """
    used = weight > 0
    X, y, s = X[used], y[used], np.ascontiguousarray(weight[used])
    program = Program(X, y, s, 0.5, 0.0, intercept)
    program.priced = X.shape[1]  # a row for each coefficient, for the squared norm
    ridge = np.full(X.shape[1], alpha)
    total = float(s.sum())

    def scores(coef: Floats, constant: float) -> Floats:
        return program.times(coef, constant)[: len(y)]

    def products(v: Floats) -> tuple[Floats, float]:
        return program.transposed(np.concatenate([s * v, np.zeros(X.shape[1])]))

    coef, constant = start
    residual = y - scores(coef, constant)
    size = float(np.dot(s, np.abs(residual))) / total
    if size == 0:
        return coef, constant, 0
    u, sigma = np.zeros(len(y)), size
    t, z = np.maximum(residual, 0) + 0.1 * size, np.maximum(-residual, 0) + 0.1 * size
    for made in range(rounds):
        above, below, room = epsilon - u, u + epsilon, (total - float(np.dot(s, u * u))) / 2
        q = 1.0 / (sigma + t / above + z / below)
        system = program.system(np.concatenate([s * q, ridge]))
        slopes, drift = products(u)
        slopes = slopes - alpha * coef
        # The part of u that is out of balance, taken away for the proof.
        fix = system.solve(slopes, drift)
        if arrived(coef, constant, u - q * scores(*fix)):
            return coef, constant, made
        pull = system.solve(*products(q * u))
        along = u - scores(*pull)
        stiff = float(np.dot(s * q * u, along))

        here = (residual, u, sigma, t, z, above, below, room, q, s, slopes, drift, pull, along, stiff)
        step_to = partial(_direction, program, system, here)
        mu = (float(np.dot(s, t * above + z * below)) + sigma * room) / (3 * total)
        trial = step_to(0.0, 0.0, 0.0)
        length = _length(u, t, z, sigma, trial, epsilon, s, total)
        left = mu * (1 - length) ** 3
        step = step_to(
            left - trial[2] * trial[4], left + trial[2] * trial[3],
            left * total + trial[5] * float(np.dot(s, u * trial[2])),
        )  # fmt: skip
        length = min(1.0, 0.995 * _length(u, t, z, sigma, step, epsilon, s, total))
        if not (math.isfinite(length) and np.isfinite(step[0]).all()) or length < 1e-10:
            return coef, constant, made
        coef, constant = coef + length * step[0], constant + length * step[1]
        u, t, z = u + length * step[2], t + length * step[3], z + length * step[4]
        sigma += length * step[5]
        residual = y - scores(coef, constant)
    return coef, constant, rounds


def _direction(
    program: Program, system: Any, here: tuple[Any, ...], low: Any, high: Any, spare: float
) -> tuple[Any, ...]:
    """Newton's step of coefficients, intercept, u, t, z and sigma towards the given products."""
    residual, u, sigma, t, z, above, below, room, q, s, slopes, drift, pull, along, stiff = here
    goal = residual - sigma * u + low / below - high / above
    made, sums = program.transposed(np.concatenate([s * q * goal, np.zeros(program.columns)]))
    first = system.solve(made + slopes, sums + drift)
    rest = goal - program.times(*first)[: program.samples]
    wide = room + sigma * stiff
    d_sigma = (spare - sigma * room + sigma * float(np.dot(s * q * u, rest))) / wide if wide > 0 else 0.0
    d_u = q * (rest - d_sigma * along)
    d_t, d_z = high / above - t + t / above * d_u, low / below - z - z / below * d_u
    return first[0] - d_sigma * pull[0], first[1] - d_sigma * pull[1], d_u, d_t, d_z, d_sigma


def _length(
    u: Floats, t: Floats, z: Floats, sigma: float, step: tuple[Any, ...], epsilon: float, s: Floats, total: float
) -> float:
    """How far all that must be positive stays so: 1 at most."""
    _, _, d_u, d_t, d_z, d_sigma = step
    length = min(furthest(epsilon - u, -d_u, u + epsilon, d_u), furthest(t, d_t, z, d_z))
    if d_sigma < 0:
        length = min(length, -sigma / d_sigma)
    # sum s (u + length d_u)^2 = total
    a, b = float(np.dot(s, d_u * d_u)), float(np.dot(s, u * d_u))
    c = float(np.dot(s, u * u)) - total
    if a > 0:
        root = math.sqrt(max(b * b - a * c, 0.0))
        length = min(length, -c / (b + root) if b >= 0 else (root - b) / a)
    return length

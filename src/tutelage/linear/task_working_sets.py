"""The lasso of several targets where columns are many: fits of the few columns that matter, until no other does.

Most features of a sparse fit are zero, and a feature j stays at zero as long as the norm of its slopes, |G_j|, is at
most alpha r. So:

    1. the slopes of all features at the present W, by one reading of X, and the duality gap of the whole problem;
    2. the working set: the features in use, and those whose |G_j| exceeds alpha r the most;
    3. the problem of these alone (`tutelage.linear.multi_task.TaskSums`); back to 1.

The gap is that of all features, so the certificate proves the whole. A working set at least doubles where it must, so
that there are few rounds.

Cost: two readings of X a round, and n m^2 / 2 for a working set of m. It fails, and says None, where the working set
would pass some thousands.

>>> import numpy as np
>>> X, Y = np.eye(3, 5), np.outer([4.0, 0.0, 0.0], [3.0, 4.0])
>>> fit_by_working_sets(X, Y, None, 1.0, 1.0, fit_intercept=False, tol=1e-9).coef[:, 0]
array([10.2, 13.6])
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import matrices
from tutelage.base import is_sparse
from tutelage.certificate import Certificate, Reason
from tutelage.linear.multi_task import TaskSums
from tutelage.risk import Solution

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix

FIRST, MOST = 100, 2000


def fit_by_working_sets(
    X: Matrix,
    Y: Floats,
    weight: Floats | None,
    alpha: float,
    l1_ratio: float,
    *,
    fit_intercept: bool,
    tol: float = 1e-4,
    max_iter: int = 1000,
    time_limit: float | None = None,
) -> Solution | None:
    """Fit as `tutelage.linear.multi_task.fit_tasks` does; None where too many columns matter."""
    began = time.perf_counter()
    columns, outputs = X.shape[1], Y.shape[1]
    handle = matrices.rows(X)
    by_columns = X.tocsc() if is_sparse(X) else X
    share = np.full(len(Y), 1.0 / len(Y)) if weight is None else weight / weight.sum()
    means = handle.transpose_times(share[:, None])[0] if fit_intercept else np.zeros(columns)
    centred = Y - share @ Y if fit_intercept else Y
    l1, l2 = alpha * l1_ratio, alpha * (1 - l1_ratio)
    used: Any = np.empty(0, dtype=np.intp)
    part = np.zeros((outputs, 0))
    best, passes, primal, gap = -math.inf, 2.0, math.inf, math.inf
    reason = Reason.ROUNDS
    for rounds in range(max_iter + 1):
        residual = centred - (by_columns[:, used] @ part.T - means[used] @ part.T)
        weighted = np.ascontiguousarray(share[:, None] * residual)
        slopes = handle.transpose_times(weighted) - np.outer(weighted.sum(axis=0), means)
        passes += 1
        sizes = np.linalg.norm(slopes, axis=0)
        value, linear = float((weighted * residual).sum()) / 2, float((weighted * centred).sum())
        norms = np.linalg.norm(part, axis=0)
        primal = value + float(l1 * norms.sum() + l2 / 2 * (norms**2).sum())
        best = max(best, *(_dual(t, value, linear, sizes, l1, l2) for t in _scales(value, linear, sizes, l1, l2)))
        gap = max(primal - best, 0.0)
        if gap <= tol * primal:
            reason = Reason.CONVERGED
            break
        if time_limit is not None and time.perf_counter() - began > time_limit:
            reason = Reason.TIME
            break
        if rounds == max_iter:
            break
        alive = used[norms > 0]
        chosen = _working_set(alive, sizes, l1)
        if len(chosen) > MOST:
            return None
        if rounds > 0 and np.array_equal(chosen, used) and gap <= 1e-12 * abs(linear):
            reason = Reason.ROUNDING
            break
        start = np.zeros((outputs, len(chosen)))
        start[:, np.searchsorted(chosen, alive)] = part[:, norms > 0]
        inside = by_columns[:, chosen]
        sums = TaskSums.of(inside, Y, weight, fit_intercept)
        if sums is None:
            return None
        fitted = sums.fit(
            inside, alpha, l1_ratio, tol=0.1 * tol, max_iter=max_iter, time_limit=time_limit, start=start.ravel()
        )
        used, part = chosen, np.atleast_2d(fitted.coef)
    coef = np.zeros((outputs, columns))
    coef[:, used] = part
    intercept = share @ Y - part @ means[used] if fit_intercept else np.zeros(outputs)
    certificate = Certificate(
        primal=primal,
        dual=best,
        gap=gap,
        rounds=rounds,
        passes=passes,
        seconds=time.perf_counter() - began,
        solver="block_coordinate_descent",
        reason=reason,
    )
    return Solution(coef, intercept, certificate)


def _working_set(alive: Any, sizes: Floats, l1: float) -> Any:
    """Features in use, and of the others those that would move the most."""
    outside = sizes.copy()
    outside[alive] = 0.0
    room = max(FIRST, 2 * len(alive))
    worst = np.argpartition(outside, -room)[-room:] if room < len(sizes) else np.arange(len(sizes))
    return np.union1d(alive, worst[outside[worst] > l1])


def _scales(value: float, linear: float, sizes: Floats, l1: float, l2: float) -> list[float]:
    """Factors of the residual that may make good dual points."""
    wish = linear / (2 * value) if value > 0 else 1.0
    largest = float(sizes.max(initial=0.0))
    bound = l1 / largest if largest > l1 else 1.0
    if l2 > 0:
        return [1.0, min(max(wish, 0.0), 1.0), min(max(wish, 0.0), bound)]
    return [min(max(wish, 0.0), l1 / largest if largest > 0 else wish)]


def _dual(t: float, value: float, linear: float, sizes: Floats, l1: float, l2: float) -> float:
    """The dual value of the residual times t."""
    over = np.maximum(t * sizes - l1, 0.0)
    bent = float((over**2).sum()) / (2 * l2) if l2 > 0 else 0.0
    return linear * t - value * t * t - bent

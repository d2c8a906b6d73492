"""Rademacher complexity: how well a class of functions fits coin tosses, on these very rows, by trying.

    C = E over fair signs s of  sup over f in the class  (1 / n) sum_i s_i f(x_i)

A class that fits noise well can fit anything. Unlike the VC dimension it is measured on the rows at hand, and for many
classes the supremum is a formula:

    "functions"   a finite set, given by its values on the rows:   max_j (1 / n) s . f_j
    "ball"        f(x) = w . x with |w| <= radius:                  (radius / n) |X' s|
    "kernel"      the same in the space of a kernel:               (radius / n) sqrt(s' K s)

The expectation is a mean over drawn signs. That it is one is allowed for: by McDiarmid's inequality the mean of m draws
is off by no more than sqrt(2 sum_i c_i^2 log(1 / d) / (m n^2)) with probability 1 - d, where |f(x_i)| <= c_i.

With probability 1 - d, for every f of the class and a loss within [0, 1] that changes by at most L |difference of f|,

    R(f) <= R_n(f) + 2 L C + 3 sqrt(log(2 / d) / (2 n))

L is 1/2 for functions with values -1 and 1 and the zero-one loss, and 1 / margin for the share of rows whose margin y
f(x) is below a margin. `margin_bound` tries all powers of two as margins and pays for the choice.

Cost: m products of n signs with n x d numbers. It fails, that is becomes vacuous, where the ball is large against the
margins.

>>> import numpy as np
>>> X = np.random.default_rng(0).normal(size=(1000, 5))
>>> complexity = rademacher(X, "ball")
>>> bool(abs(complexity.value - np.sqrt(5 / 1000)) < 0.01)
True
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np

from tutelage.evaluation.bounds import Bound
from tutelage.evaluation.intervals import check_level
from tutelage.machine import serial_blas

ERROR_SHARE = 0.1  # of the probability of being wrong that the drawing of signs may use up
EXPONENTS = math.pi**2 / 3 - 1  # the sum over whole numbers e of 1 / (1 + |e|)^2


class Complexity(NamedTuple):
    """An empirical Rademacher complexity.

    Attributes
    ----------
    value : float
        The mean over drawn signs.
    spread : float
        sqrt(sum of c_i^2) / n, from which the error of the drawing follows.
    draws : int
        How many vectors of signs were drawn.
    rows : int
        How many rows.
    """

    value: float
    spread: float
    draws: int
    rows: int

    def ceiling(self, delta: float) -> float:
        """Give what the expectation stays below with probability 1 - delta.

        Parameters
        ----------
        delta : float
            The probability of being wrong.
        """
        return self.value + self.spread * math.sqrt(2 * math.log(1 / delta) / self.draws)


def rademacher(
    values: Any,
    kind: Literal["functions", "ball", "kernel"] = "functions",
    *,
    radius: float = 1.0,
    draws: int = 400,
    random_state: int = 0,
) -> Complexity:
    """Measure the empirical Rademacher complexity of a class of functions.

    Parameters
    ----------
    values : array of shape (n, m), (n, d) or (n, n)
        The values of m functions, or the rows, or the kernel's matrix.
    kind : {"functions", "ball", "kernel"}, default="functions"
        What `values` are.
    radius : float, default=1.0
        Of the ball.
    draws : int, default=400
        How many vectors of signs are drawn.
    random_state : int, default=0
        The seed.

    Returns
    -------
    Complexity
        With a `ceiling` that allows for the drawing.
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or not np.all(np.isfinite(table)):
        raise ValueError(f"values must be a finite matrix, found the shape {table.shape}.")
    if kind not in {"functions", "ball", "kernel"}:
        raise ValueError(f"kind must be 'functions', 'ball' or 'kernel', found {kind!r}.")
    if kind == "kernel" and table.shape[0] != table.shape[1]:
        raise ValueError(f"values must be a square kernel matrix, found the shape {table.shape}.")
    if not radius > 0 or draws < 1:
        raise ValueError(f"radius must be positive and draws at least 1, found {radius!r} and {draws!r}.")
    n = len(table)
    signs = np.random.default_rng(random_state).integers(0, 2, size=(draws, n)) * 2.0 - 1
    with serial_blas():
        product = signs @ table
        if kind == "functions":
            best, ceiling = product.max(axis=1), np.abs(table).max(axis=1)
        elif kind == "ball":
            best, ceiling = radius * np.sqrt((product**2).sum(axis=1)), radius * np.sqrt((table**2).sum(axis=1))
        else:
            best = radius * np.sqrt(np.maximum((product * signs).sum(axis=1), 0.0))
            ceiling = radius * np.sqrt(np.maximum(np.diag(table), 0.0))
    return Complexity(float(best.mean()) / n, float(np.sqrt((ceiling**2).sum())) / n, draws, n)


def rademacher_bound(error: float, complexity: Complexity, *, lipschitz: float = 0.5, level: float = 0.95) -> Bound:
    """Bound the error of any function of a class by its complexity.

    Parameters
    ----------
    error : float
        The mean loss on the rows, within [0, 1].
    complexity : Complexity
        Of the class, on the same rows.
    lipschitz : float, default=0.5
        How much the loss changes with f at most; a half for the zero-one loss of functions with values -1 and 1.
    level : float, default=0.95
        The confidence.

    Examples
    --------
    >>> signs = np.where(np.random.default_rng(0).random((5000, 20)) < 0.5, -1.0, 1.0)
    >>> rademacher_bound(0.1, rademacher(signs)).value < 0.25
    True
    """
    delta = 1 - check_level(level)
    value = _value(error, complexity, lipschitz, math.log(1 / delta))
    return Bound("Rademacher", value, level, error, complexity.rows, {"complexity": complexity.value})


def _value(error: float, complexity: Complexity, lipschitz: float, log_chances: float) -> float:
    drawing = complexity.ceiling(math.exp(-(log_chances - math.log(ERROR_SHARE))))
    room = log_chances - math.log1p(-ERROR_SHARE)
    return error + 2 * lipschitz * drawing + 3 * math.sqrt((math.log(2) + room) / (2 * complexity.rows))


def margin_bound(margins: Any, complexity: Complexity, *, level: float = 0.95) -> Bound:
    """Bound the error of a linear classifier by the share of rows whose margin is small.

    Parameters
    ----------
    margins : array of shape (n,)
        y f(x) with y = -1 or 1, for an f of the class: for the ball of radius 1, w . x / |w|.
    complexity : Complexity
        Of the class, on the same rows.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Bound
        The best over margins that are powers of two; details has the margin.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X = np.column_stack([np.where(random.random(20_000) < 0.5, -1.0, 1.0), 0.1 * random.normal(size=20_000)])
    >>> bound = margin_bound(np.abs(X[:, 0]), rademacher(X, "ball", draws=50))
    >>> bound.vacuous, bound.details["margin"]
    (False, 1.0)
    """
    told = np.asarray(margins, dtype=float)
    if told.shape != (complexity.rows,):
        raise ValueError(f"margins must be one for each of {complexity.rows} rows, found the shape {told.shape}.")
    delta = 1 - check_level(level)
    best, chosen, seen = math.inf, 1.0, 1.0
    for exponent in range(-40, 41):
        margin = 2.0**exponent
        share = float(np.mean(told < margin))
        log_chances = math.log(EXPONENTS * (1 + abs(exponent)) ** 2 / delta)
        value = _value(share, complexity, 1 / margin, log_chances)
        if value < best:
            best, chosen, seen = value, margin, share
    details = {"margin": chosen, "share below": seen, "complexity": complexity.value}
    return Bound("margin", best, level, float(np.mean(told <= 0)), complexity.rows, details)

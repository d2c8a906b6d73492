"""Intervals: how far the number measured may be from the number meant.

A score on n rows is an estimate of the score on all rows there could be. Its interval [low, high] is a statement about
the procedure: in 95 of 100 such tables the interval holds the true score.

    wilson              a share of rows: the p for which what was seen is not surprising, (p - share)^2 <= z^2 p (1 - p)
                        / n
    clopper_pearson     a share, never covering less than promised: the p that an exact binomial test does not refuse
    bootstrap           any metric: its spread over tables of n rows drawn with replacement from the table itself, the
                        quantiles moved by bias correction and acceleration (BCa, Efron 1987)
    newcombe            the difference of two shares of the same rows

BCa reads off the quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) instead of Phi(z): z0 says how often a resampled value
falls below the value seen (bias), and a is a sixth of the skewness of the values with each row left out (acceleration).

Cost: Wilson nothing; Clopper-Pearson two quantiles of the beta distribution; BCa 2,000 tables, each O(n) for a mean and
O(k^2) for what a confusion matrix says. It fails for extremes (a maximum, an all-right classifier): what was never seen
cannot be drawn, and the interval is a point. Fewer than some twenty rows of the rarer class make any of them a
courtesy.

>>> low, high = wilson(8, 10)
>>> round(low, 3), round(high, 3)
(0.49, 0.943)
>>> low, high = clopper_pearson(10, 10)
>>> round(low, 3), high
(0.692, 1.0)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.special import ndtr, ndtri

from tutelage.evaluation.metrics import Metric, metric, value_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.evaluation.metrics import Floats, Sample


class Interval(NamedTuple):
    """Where a number lies, at a level of confidence.

    Attributes
    ----------
    low, high : float
        The ends.
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """How far the ends are apart."""
        return self.high - self.low

    def __contains__(self, number: object) -> bool:
        """Whether a number is inside."""
        return isinstance(number, (int, float, np.number)) and bool(self.low <= number <= self.high)

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


def check_level(level: float) -> float:
    """Check a level of confidence."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, found {level!r}; 0.95 is usual.")
    return float(level)


def _check_share(right: float, total: float) -> None:
    if total < 1 or not 0 <= right <= total:
        raise ValueError(f"right must lie between 0 and total, and total be at least 1, found {right!r} of {total!r}.")


def wilson(right: float, total: float, level: float = 0.95) -> Interval:
    """Give Wilson's interval (1927) for a share of rows.

    Parameters
    ----------
    right, total : number
        How many rows, out of how many.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Interval
        The shares that are not refuted.

    Examples
    --------
    >>> print(wilson(90, 100))
    0.8256 to 0.9448
    """
    _check_share(right, total)
    quantile = float(ndtri(0.5 + check_level(level) / 2))
    share, spread = right / total, quantile**2 / total
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread**2 / 4) / (1 + spread)
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def clopper_pearson(right: float, total: float, level: float = 0.95) -> Interval:
    """Give the exact interval of Clopper and Pearson (1934) for a share of rows.

    Parameters
    ----------
    right, total : number
        How many rows, out of how many.
    level : float, default=0.95
        The confidence, which it never falls short of.

    Returns
    -------
    Interval
        The shares that an exact binomial test does not refuse.

    Examples
    --------
    >>> print(clopper_pearson(90, 100))
    0.8238 to 0.951
    """
    _check_share(right, total)
    tail = (1 - check_level(level)) / 2
    low = 0.0 if right == 0 else float(stats.beta.ppf(tail, right, total - right + 1))
    high = 1.0 if right == total else float(stats.beta.isf(tail, right + 1, total - right))
    return Interval(low, high)


def newcombe(both: int, first: int, second: int, neither: int, level: float = 0.95) -> Interval:
    """Give Newcombe's interval (1998, method 10) for the difference of two shares of the same rows.

    Parameters
    ----------
    both, first, second, neither : int
        Rows on which both were right, only the first, only the second, neither.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Interval
        The difference, the first share minus the second.

    Examples
    --------
    >>> low, high = newcombe(36, 12, 2, 0)
    >>> round(low, 4), round(high, 4)
    (0.0569, 0.3404)
    """
    n = both + first + second + neither
    _check_share(both + first, n)
    p, q = (both + first) / n, (both + second) / n
    low_p, high_p = wilson(both + first, n, level)
    low_q, high_q = wilson(both + second, n, level)
    product = float((both + first) * (second + neither) * (both + second) * (first + neither))
    determinant = float(both * neither - first * second)
    if determinant > 0:  # a correction for continuity, where the answers agree more than chance
        determinant = max(determinant - n / 2, 0.0)
    correlation = determinant / math.sqrt(product) if product > 0 else 0.0

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(a * a - 2 * correlation * a * b + b * b, 0.0))

    return Interval(p - q - reach(p - low_p, high_q - q), p - q + reach(high_p - p, q - low_q))


def bootstrap(
    y: Any,
    prediction: Any,
    metric_name: str | Metric | Callable[[Any, Any], float] = "accuracy",
    *,
    classes: Any = None,
    level: float = 0.95,
    tables: int = 2000,
    random_state: int | None = 0,
) -> Interval:
    """Give the BCa bootstrap interval of any metric.

    Parameters
    ----------
    y : array of shape (n,)
        The truth.
    prediction : array of shape (n,) or (n, k)
        What was predicted.
    metric_name : str, Metric or callable, default="accuracy"
        Which metric.
    classes : array, optional
        The labels of the columns of probabilities.
    level : float, default=0.95
        The confidence.
    tables : int, default=2000
        How many tables are drawn.
    random_state : int or None, default=0
        The seed.

    Returns
    -------
    Interval
        The metric's.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 50)
    >>> prediction = np.where(np.arange(100) % 10 == 0, 1 - y, y)
    >>> 0.9 in bootstrap(y, prediction, "f1")
    True
    """
    sample = metric(metric_name).on(y, prediction, classes=classes)
    return bca(sample, len(np.asarray(y)), level=level, tables=tables, random_state=random_state)


def bca(
    sample: Sample, rows: int, *, level: float = 0.95, tables: int = 2000, random_state: int | None = 0
) -> Interval:
    """Give the BCa interval of a metric applied to a table; see `bootstrap`."""
    if tables < 100:
        raise ValueError(f"tables must be at least 100 for the quantiles of an interval, found {tables!r}.")
    seen = value_of(sample, rows)
    values = sample.resampled(np.random.default_rng(random_state), tables)
    left_out, multiplicity = sample.left_out()
    return bca_of(seen, values, left_out, multiplicity, level)


def bca_of(seen: float, values: Floats, left_out: Floats, multiplicity: Floats, level: float = 0.95) -> Interval:
    """Give the BCa interval from the value seen, resampled values, and values with rows left out.

    Parameters
    ----------
    seen : float
        The value on the table itself.
    values : array
        The values on resampled tables; NaN where the metric was not defined.
    left_out, multiplicity : arrays
        The values with a row, or block of rows, left out, and how many such there are of each.
    level : float, default=0.95
        The confidence.
    """
    tail = (1 - check_level(level)) / 2
    values = values[np.isfinite(values)]
    if len(values) == 0 or not math.isfinite(seen):
        return Interval(math.nan, math.nan)
    known = np.isfinite(left_out)
    left_out, multiplicity = left_out[known], multiplicity[known]
    # Values equal to the one seen count half, so that few distinct values make no bias; rounding must not tell them
    # apart.
    close = np.abs(values - seen) <= 1e-12 * max(abs(seen), float(np.abs(values).max()))
    share = (np.count_nonzero((values < seen) & ~close) + 0.5 * np.count_nonzero(close)) / len(values)
    z0 = float(ndtri(np.clip(share, 0.5 / len(values), 1 - 0.5 / len(values))))
    acceleration = 0.0
    if len(left_out):
        apart = np.average(left_out, weights=multiplicity) - left_out
        square = float((multiplicity * apart**2).sum())
        acceleration = float((multiplicity * apart**3).sum()) / (6 * square**1.5) if square > 0 else 0.0
    ends = []
    for z in (float(ndtri(tail)), float(-ndtri(tail))):
        moved = 1 - acceleration * (z0 + z)
        place = float(ndtr(z0 + (z0 + z) / moved)) if moved > 0 else float(z > 0)
        ends.append(float(np.quantile(values, place)))
    return Interval(*ends)

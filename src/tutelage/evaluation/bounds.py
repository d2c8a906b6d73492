"""Bounds with numbers: what can be promised of the error on all rows there could be, and when that is nothing.

R is the error of a classifier on the population, R_n its share of errors on n rows, and every bound holds with
probability 1 - d over the draw of the rows:

    test set       R is below the largest p under which so few errors on m fresh rows have probability at least d
    VC             R <= R_n + 2 sqrt(2 (h log(2 e n / h) + log(2 / d)) / n),     h the VC dimension of the class
                   searched D + 1 for hyperplanes in D dimensions; at most min(D, 4 r^2 / margin^2) for hyperplanes of a
                   margin (the width of the street, 2 / |w|) in a ball of radius r, if the margin was fixed beforehand
    compression    the classifier can be rebuilt from d of the n rows: the other n - d are a test set, at a confidence
                   shared among the C(n, d) choices. Support vectors; the rows on which a perceptron was wrong.

`tutelage.evaluation.complexity` and `tutelage.evaluation.pac_bayes` have those that look at the rows themselves.

A bound of 1 or more says nothing and is called vacuous; most textbook bounds are, at the sizes of textbook tables. The
test set's never is, which is why there is an exam.

Cost: a few logarithms. A bound is false, not loose, where its premise fails: rows that are not independent, a test set
looked at twice, a margin chosen after the fact.

>>> print(holdout_bound(5, 100))
test set: error at most 0.1023 with confidence 95 % (0.05 on 100 rows)
>>> print(vc_bound(0.05, 500, 11))
VC: vacuous, since 1.064 is no less than 1 (0.05 on 500 rows)
>>> vc_bound(0.05, 100_000, 11).vacuous
False
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy import stats
from scipy.special import gammaln

from tutelage.evaluation.intervals import check_level


@dataclass(frozen=True)
class Bound:
    """An upper bound of the error.

    Attributes
    ----------
    name : str
        Which bound.
    value : float
        The bound; more than 1 where it says nothing.
    level : float
        The probability with which it holds.
    empirical : float
        The share of errors that it starts from.
    rows : int
        The rows that it is about.
    details : dict
        The numbers that went in.
    """

    name: str
    value: float
    level: float
    empirical: float
    rows: int
    details: dict[str, float]

    @property
    def vacuous(self) -> bool:
        """Whether it says nothing, since errors above 1 there are none."""
        return not self.value < 1

    def __str__(self) -> str:
        said = f"({self.empirical:.4g} on {self.rows:,} rows)"
        if self.vacuous:
            return f"{self.name}: vacuous, since {self.value:.4g} is no less than 1 {said}"
        return f"{self.name}: error at most {self.value:.4g} with confidence {100 * self.level:g} % {said}"


def check_rows(rows: int, errors: float = 0.0) -> None:
    """Check a number of rows and of errors among them."""
    if rows < 1 or not 0 <= errors <= rows:
        raise ValueError(f"errors must lie between 0 and rows, and rows be at least 1, found {errors!r} of {rows!r}.")


def binomial_ceiling(errors: int, rows: int, log_delta: float) -> float:
    """Give the largest p under which at most so many errors have a probability of at least exp(log_delta).

    Parameters
    ----------
    errors, rows : int
        What was seen.
    log_delta : float
        The logarithm of the probability with which the answer may be wrong.

    Examples
    --------
    >>> round(binomial_ceiling(0, 10, math.log(0.05)), 4)
    0.2589
    """
    if errors >= rows:
        return 1.0
    if errors == 0:
        return -math.expm1(log_delta / rows)
    if log_delta > -600:
        return float(stats.beta.isf(math.exp(log_delta), errors + 1, rows - errors))
    return kl_ceiling(
        errors / rows, -log_delta / rows
    )  # Chernoff's bound, where the exact tail is not a number any more


def kl(q: float, p: float) -> float:
    """Give the relative entropy of coins that show heads with probability q and p.

    Examples
    --------
    >>> round(kl(0.25, 0.5), 4)
    0.1308
    """
    first = 0.0 if q <= 0 else q * math.log(q / p) if p > 0 else math.inf
    second = 0.0 if q >= 1 else (1 - q) * math.log((1 - q) / (1 - p)) if p < 1 else math.inf
    return first + second


def kl_ceiling(q: float, room: float) -> float:
    """Give the largest p with kl(q, p) <= room.

    Parameters
    ----------
    q : float
        The share seen.
    room : float
        How much relative entropy is allowed.

    Examples
    --------
    >>> p = kl_ceiling(0.1, 0.05)
    >>> abs(kl(0.1, p) - 0.05) < 1e-12
    True
    """
    low, high = q, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if middle in {low, high}:
            break
        low, high = (middle, high) if kl(q, middle) <= room else (low, middle)
    return high


def holdout_bound(errors: int, rows: int, *, level: float = 0.95) -> Bound:
    """Bound the error by errors on rows that had no part in the choice of the classifier.

    Parameters
    ----------
    errors, rows : int
        Errors, and fresh rows.
    level : float, default=0.95
        The confidence.

    Examples
    --------
    >>> round(holdout_bound(0, 59).value, 3)
    0.05
    """
    check_rows(rows, errors)
    value = binomial_ceiling(errors, rows, math.log(1 - check_level(level)))
    return Bound("test set", value, level, errors / rows, rows, {"errors": errors})


def vc_bound(error: float, rows: int, dimension: float, *, level: float = 0.95) -> Bound:
    """Bound the error of the best of a class of a known VC dimension.

    Parameters
    ----------
    error : float
        The share of errors on the rows learned from.
    rows : int
        How many.
    dimension : float
        The VC dimension: D + 1 for hyperplanes in D dimensions with an intercept.
    level : float, default=0.95
        The confidence.

    Examples
    --------
    >>> bound = vc_bound(0.0, 10_000, 3)
    >>> round(bound.value, 4)
    0.1627
    """
    check_rows(rows, error * rows)
    if dimension <= 0:
        raise ValueError(f"dimension must be positive, found {dimension!r}.")
    log_delta = math.log(2 / (1 - check_level(level)))
    # Sauer's lemma needs n >= h; below, every division of the rows can be had, and 2^n of them are counted.
    counted = dimension * math.log(2 * math.e * rows / dimension) if rows >= dimension else 2 * rows * math.log(2)
    value = error + 2 * math.sqrt(2 * (counted + log_delta) / rows)
    return Bound("VC", value, level, error, rows, {"dimension": dimension})


def margin_dimension(radius: float, margin: float, dimensions: int) -> float:
    """Bound the VC dimension of hyperplanes with a margin: min(D, 4 r^2 / margin^2).

    Parameters
    ----------
    radius : float
        Of a ball that holds all rows.
    margin : float
        The width of the street between the classes, 2 / |w|, fixed before the rows were seen.
    dimensions : int
        How many columns there are.

    Examples
    --------
    >>> margin_dimension(1.0, 0.5, 1000)
    16.0
    """
    if not (radius > 0 and margin > 0 and dimensions > 0):
        raise ValueError(
            f"radius, margin and dimensions must be positive, found {radius!r}, {margin!r} and {dimensions!r}."
        )
    return max(1.0, min(float(dimensions), 4 * radius**2 / margin**2))


def _log_choose(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def compression_bound(
    rows: int, size: int, errors: int = 0, *, log_messages: float = 0.0, level: float = 0.95
) -> Bound:
    """Bound the error of a classifier that can be rebuilt from a few of its rows.

    Parameters
    ----------
    rows : int
        The rows learned from.
    size : int
        How many of them it needs: its support vectors, for instance.
    errors : int, default=0
        Errors on the others. A support vector machine has none there: rows that it gets wrong are support vectors.
    log_messages : float, default=0.0
        The logarithm of how many classifiers the same few rows could have stood for.
    level : float, default=0.95
        The confidence.

    Examples
    --------
    >>> round(compression_bound(1000, 20).value, 4)
    0.1021
    """
    check_rows(rows, size)
    check_rows(max(rows - size, 1), errors)
    log_delta = math.log(1 - check_level(level)) - _log_choose(rows, size) - math.log(rows + 1) - log_messages
    value = 1.0 if size == rows else binomial_ceiling(errors, rows - size, log_delta)
    empirical = errors / max(rows - size, 1)
    return Bound("compression", value, level, empirical, rows, {"size": size, "errors": errors})


def perceptron_bound(rows: int, mistakes: Any, errors: int = 0, *, level: float = 0.95) -> Bound:
    """Bound the error of a perceptron by its mistakes: w is a sum of the rows on which it was wrong.

    Parameters
    ----------
    rows : int
        The rows learned from.
    mistakes : array of shape (rows,)
        How often it was wrong on each row during training.
    errors : int, default=0
        Errors of the final perceptron on rows that it was never wrong on.
    level : float, default=0.95
        The confidence.

    Examples
    --------
    >>> counts = [2, 1, 0, 1] + [0] * 496
    >>> round(perceptron_bound(500, counts).value, 3)
    0.06
    """
    counts = [int(count) for count in mistakes]
    if len(counts) != rows or min(counts) < 0:
        raise ValueError(f"mistakes must be a count for each of {rows} rows, found {len(counts)} values.")
    size, total = sum(count > 0 for count in counts), sum(counts)
    # Which rows, how many mistakes in all, and how these are shared out: each row has one at least.
    log_messages = math.log(total + 1) + math.log(total + 2) + (_log_choose(total - 1, size - 1) if size else 0.0)
    made = compression_bound(rows, size, errors, log_messages=log_messages, level=level)
    return Bound("perceptron", made.value, level, made.empirical, rows, {"mistakes": total, "rows wrong": size})

"""The area under the ROC curve, its interval and its comparison, by DeLong's method.

The area is the chance that a positive row scores above a negative one, ties counting half:

    area = mean over positives i and negatives j of  [s_i > s_j] + [s_i = s_j] / 2

DeLong, DeLong and Clarke-Pearson (1988) saw it as a U-statistic: with V_i the share of negatives below positive i, and
W_j the share of positives above negative j, its variance is var(V) / P + var(W) / N, and for two scores of the same
rows the covariances follow in the same way. V and W are differences of midranks, so one sort is all it costs (Sun and
Xu 2014): O(n log n) where the definition takes O(P N).

The interval is made on the scale of log(area / (1 - area)) and carried back: it stays inside (0, 1) and keeps its
promise near 1, where the symmetric one does not. It fails with one row of a class, and says nothing (0 to 1) where the
classes are separated without error.

>>> import numpy as np
>>> made = delong(np.array([0, 0, 1, 1, 1]), np.array([0.1, 0.5, 0.4, 0.8, 0.9]))
>>> round(made.area, 4), round(made.variance, 4)
(0.8333, 0.0556)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import rankdata

from tutelage.evaluation.intervals import Interval, check_level
from tutelage.labels import encode


class Area(NamedTuple):
    """An area under the ROC curve.

    Attributes
    ----------
    area : float
        The area.
    variance : float
        Of the estimate.
    """

    area: float
    variance: float

    def interval(self, level: float = 0.95) -> Interval:
        """Give the interval, made on the scale of the log-odds.

        Parameters
        ----------
        level : float, default=0.95
            The confidence.
        """
        quantile = float(ndtri(0.5 + check_level(level) / 2))
        if not 0 < self.area < 1:
            return Interval(0.0, 1.0)
        reach = quantile * math.sqrt(self.variance) / (self.area * (1 - self.area))
        centre = logit(self.area)
        return Interval(float(expit(centre - reach)), float(expit(centre + reach)))


class AreaDifference(NamedTuple):
    """Two areas of the same rows compared.

    Attributes
    ----------
    difference : float
        The first area minus the second.
    variance : float
        Of the difference.
    p_value : float
        The chance of a difference at least as large between scores of equal area.
    """

    difference: float
    variance: float
    p_value: float

    def interval(self, level: float = 0.95) -> Interval:
        """Give the interval of the difference.

        Parameters
        ----------
        level : float, default=0.95
            The confidence.
        """
        reach = float(ndtri(0.5 + check_level(level) / 2)) * math.sqrt(self.variance)
        return Interval(max(-1.0, self.difference - reach), min(1.0, self.difference + reach))


def _placements(positive: Any, score: Any) -> tuple[Any, Any]:
    """Give the share of negatives below each positive, and of positives above each negative."""
    score = np.asarray(score, dtype=float)
    if score.shape != positive.shape or not np.all(np.isfinite(score)):
        raise ValueError(
            f"score must be a finite number for each of {len(positive)} rows, found the shape {score.shape}."
        )
    P, N = np.count_nonzero(positive), np.count_nonzero(~positive)
    everyone = rankdata(score)
    below = (everyone[positive] - rankdata(score[positive])) / N
    above = 1 - (everyone[~positive] - rankdata(score[~positive])) / P
    return below, above


def _positives(y: Any) -> Any:
    classes, code = encode(np.asarray(y))
    if len(classes) != 2:
        raise ValueError(f"y must have rows of two classes for the area under the ROC curve, found {classes.tolist()}.")
    return code == 1


def _covariance(a: Any, b: Any) -> float:
    return float((a - a.mean()) @ (b - b.mean())) / (len(a) - 1) if len(a) > 1 else math.inf


def delong(y: Any, score: Any) -> Area:
    """Give the area under the ROC curve and its variance.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes; the larger is the positive one.
    score : array of shape (n,)
        More for rows that are rather positive.

    Returns
    -------
    Area
        With its `interval`.
    """
    below, above = _placements(_positives(y), score)
    variance = _covariance(below, below) / len(below) + _covariance(above, above) / len(above)
    return Area(float(below.mean()), variance)


def compare_areas(y: Any, first: Any, second: Any) -> AreaDifference:
    """Compare the areas of two scores of the same rows.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes; the larger is the positive one.
    first, second : arrays of shape (n,)
        The scores.

    Returns
    -------
    AreaDifference
        The difference, its variance and what to think of it.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 50)
    >>> noise = np.random.default_rng(0).normal(size=(2, 100))
    >>> compare_areas(y, y + 0.5 * noise[0], 0.2 * y + noise[1]).p_value < 0.001
    True
    """
    positive = _positives(y)
    (below_a, above_a), (below_b, above_b) = _placements(positive, first), _placements(positive, second)
    below, above = below_a - below_b, above_a - above_b
    difference = float(below.mean())
    variance = _covariance(below, below) / len(below) + _covariance(above, above) / len(above)
    if variance <= 0:
        return AreaDifference(difference, 0.0, 1.0 if difference == 0 else 0.0)
    return AreaDifference(difference, variance, 2 * float(ndtr(-abs(difference) / math.sqrt(variance))))

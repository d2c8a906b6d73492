"""Losses of the margin m = y z, for labels -1 and +1: how far z stands on the right side.

All but the first stand in for the zero-one loss, which no slope leads downhill. The convex ones that slope down at m
= 0 are calibrated: with enough data and a rich enough family, minimising them minimises the number of errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tutelage.losses.base import Loss


@dataclass(frozen=True, eq=False, repr=False)
class ZeroOne(Loss):
    """One for an error, zero for a hit: ``1 if m <= 0 else 0``.

    It is what a classifier is judged by, and only that: it is flat wherever it is continuous, and minimising it over
    linear functions is NP-hard. A score of exactly 0 is counted as an error.

    Examples
    --------
    >>> ZeroOne().value([1, 1, -1], [0.3, -2.0, -0.1]).tolist()
    [0.0, 1.0, 0.0]
    """

    name: ClassVar[str] = "zero_one"


@dataclass(frozen=True, eq=False, repr=False)
class Perceptron(Loss):
    """``max(0, -m)``: only errors cost, in proportion to their depth (Rosenblatt 1958).

    Its stochastic subgradient method is the perceptron. It is not calibrated, and w = 0 costs nothing, so it is
    minimised with a margin, a constraint or an early stop. At m = 0 its slope in m is -1, so that learning can start.

    Examples
    --------
    >>> Perceptron().value(1, [-2.0, 0.0, 3.0]).tolist()
    [2.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "perceptron"


@dataclass(frozen=True, eq=False, repr=False)
class Hinge(Loss):
    """``max(0, 1 - m)``: the support vector machine's loss (Cortes and Vapnik 1995).

    Rows with m > 1 have no influence at all, so the solution rests on the others, the support vectors. It has a corner
    at m = 1 (slope 0 there). Conjugate: ``y a`` for ``-1 <= y a <= 0``.

    Examples
    --------
    >>> Hinge().value(1, [-1.0, 0.5, 2.0]).tolist()
    [2.0, 0.5, 0.0]
    """

    name: ClassVar[str] = "hinge"


@dataclass(frozen=True, eq=False, repr=False)
class SquaredHinge(Loss):
    """``max(0, 1 - m)^2``: the hinge without its corner, at the price of minding outliers more.

    Smooth enough for Newton's method, whose curvature is 2 for the rows with m < 1 and 0 for the others. No factor 1/2.

    Examples
    --------
    >>> SquaredHinge().value(1, [-1.0, 0.5, 2.0]).tolist()
    [4.0, 0.25, 0.0]
    """

    name: ClassVar[str] = "squared_hinge"


@dataclass(frozen=True, eq=False, repr=False)
class SmoothedHinge(Loss):
    """The hinge with its corner rounded by a parabola between m = 1 - width and m = 1.

    It differs from the hinge by at most width / 2, and is its Moreau envelope, moved: the conjugate is the hinge's plus
    ``width a^2 / 2``. As width goes to 0 it becomes the hinge, and harder to minimise (its smoothness is 1 / width).

    Parameters
    ----------
    width : float, default=1
        Length of the rounded part; above 0.

    Examples
    --------
    >>> SmoothedHinge(width=0.5).value(1, [0.0, 0.75, 1.0]).tolist()
    [0.75, 0.0625, 0.0]
    """

    name: ClassVar[str] = "smoothed_hinge"
    width: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Logistic(Loss):
    """``log(1 + exp(-m))``: the negative log-likelihood of logistic regression (Cox 1958).

    With P(y = 1 | x) = 1 / (1 + exp(-z)), minimising it estimates probabilities, not only the better class. On
    separable data it has no minimum without a penalty: the weights grow without end. Conjugate: the negative entropy
    of -y a.

    Examples
    --------
    >>> print(Logistic().value(1, 0.0).round(6))
    0.693147
    >>> Logistic().slope(-1, [0.0, 10000.0]).tolist()
    [0.5, 1.0]
    """

    name: ClassVar[str] = "logistic"


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Loss):
    """``exp(-m)``: the loss that AdaBoost minimises (Freund and Schapire 1997).

    Deep errors cost exponentially, so one mislabelled row can rule the fit; it is neither smooth (in the sense of a
    bounded curvature) nor Lipschitz, and infinite beyond m = -709.

    Examples
    --------
    >>> Exponential().value(1, 0.0).item()
    1.0
    """

    name: ClassVar[str] = "exponential"


@dataclass(frozen=True, eq=False, repr=False)
class ModifiedHuber(Loss):
    """``max(0, 1 - m)^2`` down to m = -1, then the straight line ``-4 m`` (Zhang 2004).

    The squared hinge made robust: deep errors cost only in proportion. From its scores, clipped to [-1, 1], one reads
    probabilities: (1 + z) / 2.

    Examples
    --------
    >>> ModifiedHuber().value(1, [-2.0, 0.0, 1.0]).tolist()
    [8.0, 1.0, 0.0]
    """

    name: ClassVar[str] = "modified_huber"

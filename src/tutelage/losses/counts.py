"""Losses for counts and amounts, with z = log(mean): half the unit deviance of generalised linear models.

The variance of the target grows as a power of its mean: 1 for Poisson, 2 for gamma, 3 for the inverse Gaussian,
between 1 and 2 for amounts that are often exactly zero (insurance claims). The deviance keeps the terms in y alone
that other libraries drop, so that a perfect prediction costs 0 and none costs less; slopes and minimisers are the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tutelage.losses.base import Loss


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(Loss):
    """``exp(z) - y z + y log(y) - y``: counts, whose variance is their mean (Nelder and Wedderburn 1972).

    It needs only that E(y | x) = exp(z) to estimate the mean, whatever the distribution. Its curvature exp(z) has no
    bound, so gradient methods search for their step. y must not be negative.

    Examples
    --------
    >>> Poisson().value([0.0, 1.0], 0.0).tolist()
    [1.0, 0.0]
    """

    name: ClassVar[str] = "poisson"


@dataclass(frozen=True, eq=False, repr=False)
class Gamma(Loss):
    """``z - log(y) + y exp(-z) - 1``: amounts whose standard deviation is in proportion to their mean.

    It depends on y and the mean through their ratio alone, so the unit of y does not matter. y must be positive.

    Examples
    --------
    >>> Gamma().value([1.0, 1.0], [0.0, 1.0]).round(6).tolist()
    [0.0, 0.367879]
    """

    name: ClassVar[str] = "gamma"


@dataclass(frozen=True, eq=False, repr=False)
class Tweedie(Loss):
    """The family between and beyond: half the unit deviance for variance = mean^power (Tweedie 1984).

    Power 0 is half the squared error of exp(z), 1 is :class:`Poisson`, 2 is :class:`Gamma`, 3 the inverse Gaussian.
    It is convex in z for powers from 1 to 2 only; elsewhere a solver can promise a stationary point and no more. No
    distribution belongs to powers between 0 and 1, but the loss still estimates the mean. y must be positive for powers
    from 2 on, not negative between 0 and 2.

    Parameters
    ----------
    power : float, default=1.5
        The variance is mean^power.

    Examples
    --------
    >>> print(Tweedie(power=1).value(3.0, 0.5).round(9), Poisson().value(3.0, 0.5).round(9))
    0.444558137 0.444558137
    """

    name: ClassVar[str] = "tweedie"
    power: float = 1.5

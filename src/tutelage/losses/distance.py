"""Losses of the residual r = z - y, for real targets: how far off a prediction is.

What such a loss estimates is its minimiser over constants: the mean (squared), the median (absolute), a quantile, and
for the others something between the first two that outliers cannot move far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tutelage.losses.base import Loss


@dataclass(frozen=True, eq=False, repr=False)
class Squared(Loss):
    """``r^2 / 2``: least squares (Legendre 1805, Gauss 1809).

    It estimates the mean, and is the negative log-likelihood of normal noise. One row far away can move the fit as far
    as it likes. Every quadratic penalty beside it has a closed form. Conjugate: ``a y + a^2 / 2``.

    Examples
    --------
    >>> Squared().value(1.0, [0.0, 1.0, 4.0]).tolist()
    [0.5, 0.0, 4.5]
    """

    name: ClassVar[str] = "squared"


@dataclass(frozen=True, eq=False, repr=False)
class Absolute(Loss):
    """``|r|``: least absolute deviations (Boscovich 1757, Laplace 1793). It estimates the median.

    The minimum often passes exactly through as many rows as there are coefficients, and need not be unique.

    Examples
    --------
    >>> Absolute().value(1.0, [0.0, 1.0, 4.0]).tolist()
    [1.0, 0.0, 3.0]
    """

    name: ClassVar[str] = "absolute"


@dataclass(frozen=True, eq=False, repr=False)
class Huber(Loss):
    """``r^2 / 2`` up to abs(r) = delta, ``delta |r| - delta^2 / 2`` beyond (Huber 1964).

    Least squares for the rows that fit, least absolute deviations for those that do not. At delta = 1.35 and normal
    noise of variance 1 it loses 5 % of the efficiency of least squares; delta is in the units of y, so scale y or
    estimate the scale.

    Parameters
    ----------
    delta : float, default=1.35
        Residuals beyond it count linearly; above 0.

    Examples
    --------
    >>> Huber(delta=1).value(0.0, [0.5, 3.0]).tolist()
    [0.125, 2.5]
    """

    name: ClassVar[str] = "huber"
    delta: float = 1.35


@dataclass(frozen=True, eq=False, repr=False)
class EpsilonInsensitive(Loss):
    """``max(0, |r| - epsilon)``: support vector regression (Vapnik 1995).

    Residuals up to epsilon cost nothing, so rows inside the tube have no influence on the fit.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half the width of the tube; at least 0.

    Examples
    --------
    >>> EpsilonInsensitive(epsilon=0.5).value(0.0, [0.25, 2.0]).tolist()
    [0.0, 1.5]
    """

    name: ClassVar[str] = "epsilon_insensitive"
    epsilon: float = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class SquaredEpsilonInsensitive(Loss):
    """``max(0, |r| - epsilon)^2``: support vector regression without a corner. No factor 1/2.

    Parameters
    ----------
    epsilon : float, default=0.1
        Half the width of the tube; at least 0.

    Examples
    --------
    >>> SquaredEpsilonInsensitive(epsilon=0.5).value(0.0, [0.25, 2.0]).tolist()
    [0.0, 2.25]
    """

    name: ClassVar[str] = "squared_epsilon_insensitive"
    epsilon: float = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Quantile(Loss):
    """``level max(0, y - z) + (1 - level) max(0, z - y)``: the pinball loss (Koenker and Bassett 1978).

    It estimates the quantile of that level: too low a prediction costs level for each unit, too high a one 1 - level.
    Fits at several levels may cross where there is little data. At level 1/2 it is half the absolute loss.

    Parameters
    ----------
    level : float, default=0.5
        Which quantile; above 0 and below 1.

    Examples
    --------
    >>> Quantile(level=0.75).value(0.0, [-1.0, 1.0]).tolist()
    [0.75, 0.25]
    """

    name: ClassVar[str] = "quantile"
    level: float = 0.5

"""Penalties that are a sum over coefficients, each of which may have a weight.

Weights multiply the penalty of each coefficient: shape (d,), the same for every score, or (k, d). A coefficient of
weight 0 is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tutelage.penalties.base import Penalty
from tutelage.vocabulary import checked_list

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False, repr=False)
class NoPenalty(Penalty):
    """Zero: nothing is penalised.

    Then the minimum may lie at infinity (logistic regression on separable data) or be a whole line (collinear columns).

    Examples
    --------
    >>> NoPenalty().value([3.0, -4.0])
    0.0
    """

    name: ClassVar[str] = "none"


@dataclass(frozen=True, eq=False, repr=False)
class L2(Penalty):
    """``strength sum w^2 / 2``: ridge, weight decay (Tikhonov 1943; Hoerl and Kennard 1970).

    It makes the minimum unique and Newton's systems well conditioned, shrinks all coefficients and sets none to zero.
    It is the prior N(0, 1 / strength) of maximum a posteriori estimation (:class:`GaussianPrior` gives the scale).

    Parameters
    ----------
    strength : float, default=1
        How much; at least 0.
    weights : array-like, default=None
        Of each coefficient; None is 1 for all.

    Examples
    --------
    >>> L2(strength=0.5).value([3.0, -4.0])
    6.25
    >>> L2(weights=[1.0, 0.0]).prox([3.0, -4.0], step=2.0).tolist()
    [1.0, -4.0]
    """

    name: ClassVar[str] = "l2"
    strength: float = 1.0
    weights: npt.ArrayLike | None = None


@dataclass(frozen=True, eq=False, repr=False)
class L1(Penalty):
    """``strength sum |w|``: the lasso (Tibshirani 1996).

    Its corner at zero sets coefficients to exactly zero. Among correlated columns it keeps an arbitrary few, and it
    shrinks the large coefficients as much as the small. With weights 1 / abs(w) of an earlier fit it is the adaptive
    lasso.

    Parameters
    ----------
    strength : float, default=1
        How much; at least 0.
    weights : array-like, default=None
        Of each coefficient; None is 1 for all.

    Examples
    --------
    >>> L1(strength=1.0).prox([3.0, -0.5], step=1.0).tolist()
    [2.0, 0.0]
    """

    name: ClassVar[str] = "l1"
    strength: float = 1.0
    weights: npt.ArrayLike | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ElasticNet(Penalty):
    """``l1 sum |w| + l2 sum w^2 / 2``: sparse like the lasso, stable like ridge (Zou and Hastie 2005).

    Correlated columns enter together. scikit-learn's alpha and l1_ratio are l1 = alpha l1_ratio and
    l2 = alpha (1 - l1_ratio).

    Parameters
    ----------
    l1 : float, default=1
        Strength of sum abs(w); at least 0.
    l2 : float, default=1
        Strength of sum w^2 / 2; at least 0.
    weights : array-like, default=None
        Of each coefficient, for both parts; None is 1 for all.

    Examples
    --------
    >>> ElasticNet(l1=1.0, l2=1.0).prox([3.0, -0.5], step=1.0).tolist()
    [1.0, 0.0]
    """

    name: ClassVar[str] = "elastic_net"
    l1: float = 1.0
    l2: float = 1.0
    weights: npt.ArrayLike | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Lq(Penalty):
    """``strength sum |w|^q`` for any q > 0: bridge regression (Frank and Friedman 1993).

    Between 1 and 2 it lies between lasso and ridge; above 1 no coefficient is exactly zero. Below 1 it is nearer to
    counting the coefficients that are not zero, sparser and less biased than the lasso, and **not convex**: fits end
    at a stationary point, which depends on the start. Its prox is the global one, found by Newton's method.

    Parameters
    ----------
    strength : float, default=1
        How much; at least 0. At q = 2 it is twice as strong as :class:`L2`, which has a factor 1/2.
    q : float, default=0.5
        The exponent; above 0.
    weights : array-like, default=None
        Of each coefficient; None is 1 for all.

    Examples
    --------
    >>> Lq(q=0.5).prox([3.0, 1.0], step=1.0).round(6).tolist()
    [2.695453, 0.0]
    >>> Lq(q=0.5).facts.convex
    False
    """

    name: ClassVar[str] = "lq"
    strength: float = 1.0
    q: float = 0.5
    weights: npt.ArrayLike | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Box(Penalty):
    """``l1 sum |w| + l2 sum w^2 / 2`` where lower <= w <= upper, infinite elsewhere.

    Every bound may be a number or a list of one for each coefficient, and infinite.

    Parameters
    ----------
    lower, upper : float or array-like, default=-1, 1
        The smallest and the largest coefficient.
    l1 : float, default=0
        Strength of sum abs(w); at least 0.
    l2 : float, default=0
        Strength of sum w^2 / 2; at least 0.
    weights : array-like, default=None
        Of each coefficient, for both strengths; where 0, the coefficient is free of its bounds too.

    Examples
    --------
    >>> Box(lower=0, upper=[1.0, 5.0]).prox([3.0, 3.0], step=1.0).tolist()
    [1.0, 3.0]
    """

    name: ClassVar[str] = "box"
    lower: float | npt.ArrayLike = -1.0
    upper: float | npt.ArrayLike = 1.0
    l1: float = 0.0
    l2: float = 0.0
    weights: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        for bound in ("lower", "upper"):
            if np.ndim(getattr(self, bound)) > 0:
                self._set(bound, checked_list(getattr(self, bound), bound, "Box", ndim=2))
        super().__post_init__()

    def _check_lists(self) -> None:
        super()._check_lists()
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        if lower.ndim and upper.ndim and lower.size != upper.size:
            raise ValueError(f"lower and upper of Box must have one length; they have {lower.size} and {upper.size}.")
        pairs = np.broadcast_arrays(lower.ravel(), upper.ravel())
        wrong = np.flatnonzero(pairs[0] > pairs[1])
        if wrong.size:
            low, high = (bound[wrong[0]] for bound in pairs)
            raise ValueError(f"lower of Box must not be above upper; found {low} and {high}.")


@dataclass(frozen=True, eq=False, repr=False)
class NonNegative(Penalty):
    """``l1 sum w + l2 sum w^2 / 2`` where w >= 0, infinite elsewhere: non-negative least squares and its kin.

    Parameters
    ----------
    l1 : float, default=0
        Strength of sum w; at least 0. Above 0: the positive lasso.
    l2 : float, default=0
        Strength of sum w^2 / 2; at least 0.
    weights : array-like, default=None
        Of each coefficient, for both strengths; where 0, the coefficient may be negative.

    Examples
    --------
    >>> NonNegative(l1=1.0).prox([3.0, -3.0], step=1.0).tolist()
    [2.0, 0.0]
    """

    name: ClassVar[str] = "non_negative"
    l1: float = 0.0
    l2: float = 0.0
    weights: npt.ArrayLike | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MCP(Penalty):
    """The minimax concave penalty: ``strength |w| - w^2 / (2 gamma)``, constant from abs(w) = gamma strength (Zhang
    2010).

    Sparse like the lasso, but large coefficients are not shrunk at all. **Not convex**: fits end at a stationary point,
    unless the data's curvature exceeds 1 / gamma along every coordinate.

    Parameters
    ----------
    strength : float, default=1
        How much; at least 0.
    gamma : float, default=3
        How far it bends; above 0.
    weights : array-like, default=None
        Of each coefficient; None is 1 for all.

    Examples
    --------
    >>> MCP(strength=1.0, gamma=3.0).prox([0.5, 2.0, 5.0], step=1.0).round(9).tolist()
    [0.0, 1.5, 5.0]
    """

    name: ClassVar[str] = "mcp"
    strength: float = 1.0
    gamma: float = 3.0
    weights: npt.ArrayLike | None = None


@dataclass(frozen=True, eq=False, repr=False)
class SCAD(Penalty):
    """Smoothly clipped absolute deviation (Fan and Li 2001): the lasso near zero, constant from abs(w) = a strength.

    With a strength that shrinks at the right rate it finds the true coefficients as if it had been told which are zero.
    **Not convex**: fits end at a stationary point.

    Parameters
    ----------
    strength : float, default=1
        How much; at least 0.
    a : float, default=3.7
        Where it becomes constant, in strengths; above 2.
    weights : array-like, default=None
        Of each coefficient; None is 1 for all.

    Examples
    --------
    >>> SCAD(strength=1.0).prox([0.5, 1.5, 5.0], step=1.0).tolist()
    [0.0, 0.5, 5.0]
    """

    name: ClassVar[str] = "scad"
    strength: float = 1.0
    a: float = 3.7
    weights: npt.ArrayLike | None = None

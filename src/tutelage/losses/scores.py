"""Losses of a row of k scores, one for each class, for categories 0, 1, ..., k - 1.

The class of the largest score is the prediction; adding the same number to all scores of a row changes none of these
losses, so without a penalty one score may be fixed at zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tutelage.losses.base import Loss


@dataclass(frozen=True, eq=False, repr=False)
class Multinomial(Loss):
    """``log(sum_c exp(z_c)) - z_y``: multinomial logistic regression (softmax, cross-entropy).

    With P(y = c | x) in proportion to exp(z_c) it is the negative log-likelihood. For two classes it is the logistic
    loss of z_1 - z_0. Its Hessian in z, diag(p) - p p', couples the scores of a row.

    Examples
    --------
    >>> print(Multinomial().value(2, [0.0, 0.0, 0.0]).round(6))
    1.098612
    """

    name: ClassVar[str] = "multinomial"
    several_scores: ClassVar[bool] = True


@dataclass(frozen=True, eq=False, repr=False)
class CrammerSinger(Loss):
    """``max_c (z_c + [c != y]) - z_y``: the hinge on the margin over the best other class (Crammer and Singer 2001).

    Only the worst rival counts. It is calibrated only where one class has a probability above one half.

    Examples
    --------
    >>> CrammerSinger().value(0, [2.0, 1.5, -1.0]).item()
    0.5
    """

    name: ClassVar[str] = "crammer_singer"
    several_scores: ClassVar[bool] = True


@dataclass(frozen=True, eq=False, repr=False)
class WestonWatkins(Loss):
    """``sum over c != y of max(0, 1 + z_c - z_y)``: a hinge for every rival class (Weston and Watkins 1999).

    Every rival that comes too near counts, so it grows with the number of classes.

    Examples
    --------
    >>> WestonWatkins().value(0, [2.0, 1.5, 1.25]).item()
    0.75
    """

    name: ClassVar[str] = "weston_watkins"
    several_scores: ClassVar[bool] = True

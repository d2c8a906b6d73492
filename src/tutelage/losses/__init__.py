"""Losses: what a row costs, given its target y and its score z.

A learner that minimises risk is a loss, a penalty and a way to compute z. A loss is scalar mathematics:

- ``value(y, z)``, what the row costs;
- ``slope(y, z)``, its derivative in z (or the subgradient that its facts name);
- ``curvature(y, z)``, the second derivative, where Newton's method can use one;
- ``conjugate(y, a)``, the largest a z - value(y, z) over z: from it comes the dual problem, and so the duality gap that
  certifies a fit. Where a is the slope at z, ``value(y, z) + conjugate(y, a) = a z`` (Fenchel and Young);
- ``prox(y, z, step)``, the u with the least ``(u - z)^2 / 2 + step value(y, u)``, for losses with corners.

Most are functions of one number. Margin losses take m = y z with labels -1 and +1; distance losses take r = z - y
with real targets; the losses of counts take z = log(mean); the losses of several scores take one score for each
class. Applied to a matrix of k targets, a loss of one score is summed over the columns.

Each states its facts, which decide what solvers may do with it:

>>> Huber(delta=1.35).facts.lipschitz, Logistic().facts.smoothness, Hinge().facts.has_curvature
(1.35, 0.25, False)

The numbers come from the native core, where a loss is a struct of these same lines; one loop of vector instructions
serves them all (a logistic value, slope and curvature take one to two nanoseconds). A loss of one's own is any object
with ``value`` and ``slope`` in NumPy.

>>> import numpy as np
>>> loss, y, z = Logistic(), np.array([1.0, -1.0]), np.array([0.5, 0.5])
>>> a = loss.slope(y, z)
>>> bool(np.allclose(loss.value(y, z) + loss.conjugate(y, a), a * z))
True
"""

from __future__ import annotations

from tutelage.losses.base import Loss, LossFacts
from tutelage.losses.counts import Gamma, Poisson, Tweedie
from tutelage.losses.distance import Absolute, EpsilonInsensitive, Huber, Quantile, Squared, SquaredEpsilonInsensitive
from tutelage.losses.margin import (
    Exponential,
    Hinge,
    Logistic,
    ModifiedHuber,
    Perceptron,
    SmoothedHinge,
    SquaredHinge,
    ZeroOne,
)
from tutelage.losses.scores import CrammerSinger, Multinomial, WestonWatkins
from tutelage.losses.user import UserLoss, check_slope, native_loss

LOSSES: tuple[type[Loss], ...] = (
    *(ZeroOne, Perceptron, Hinge, SquaredHinge, SmoothedHinge, Logistic, Exponential, ModifiedHuber),
    *(Squared, Absolute, Huber, EpsilonInsensitive, SquaredEpsilonInsensitive, Quantile),
    *(Poisson, Gamma, Tweedie),
    *(Multinomial, CrammerSinger, WestonWatkins),
)
"""Every loss of the vocabulary."""


def named(name: str, **parameters: float) -> Loss:
    """Return the loss of that name.

    Examples
    --------
    >>> named("huber", delta=2)
    Huber(delta=2)
    """
    found = [loss for loss in LOSSES if loss.name == name]
    if not found:
        known = ", ".join(loss.name for loss in LOSSES)
        raise ValueError(f"name is {name!r}, which is no loss; the losses are {known}.")
    return found[0](**parameters)


def table() -> str:
    """Return the vocabulary as a Markdown table, one line for each loss.

    Examples
    --------
    >>> print(table().splitlines()[0])
    | loss | formula | targets | convex | smoothness | Lipschitz | calibrated | curvature | conjugate | prox | kink |
    """
    heads = [
        *("loss", "formula", "targets", "convex", "smoothness"),
        *("Lipschitz", "calibrated", "curvature", "conjugate", "prox", "kink"),
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for loss in (kind() for kind in LOSSES):
        facts = loss.facts
        truths = (facts.calibrated, facts.has_curvature, facts.has_conjugate, facts.has_prox)
        formula = facts.formula.replace("|", "\\|")
        cells = [repr(loss), formula, facts.targets, _yes(facts.convex), f"{facts.smoothness:g}"]
        cells += [f"{facts.lipschitz:g}", *map(_yes, truths), facts.kink.replace("|", "\\|")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


__all__ = [
    "LOSSES",
    "Absolute",
    "CrammerSinger",
    "EpsilonInsensitive",
    "Exponential",
    "Gamma",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "LossFacts",
    "ModifiedHuber",
    "Multinomial",
    "Perceptron",
    "Poisson",
    "Quantile",
    "SmoothedHinge",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "Tweedie",
    "UserLoss",
    "WestonWatkins",
    "ZeroOne",
    "check_slope",
    "named",
    "native_loss",
    "table",
]

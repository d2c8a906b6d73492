"""Losses of one's own: an object with ``value`` and ``slope`` in NumPy is a loss.

It is asked for whole vectors, never for a row, so it costs little more than a native one: the products with X, where a
fit spends its time, are native either way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from tutelage.losses.base import Loss

if TYPE_CHECKING:
    import numpy.typing as npt

    from tutelage import _core
    from tutelage.vocabulary import Array


@runtime_checkable
class UserLoss(Protocol):
    """What an object must have to be a loss.

    It may also have ``curvature(y, z)`` (then Newton's method runs on it), ``conjugate(y, a)`` (then fits carry a
    duality gap) and ``prox(y, z, step)`` (then it may have corners), and say what is true of it: ``name``, ``formula``,
    ``convex`` (True unless it says otherwise), ``smoothness`` (a bound on the curvature), ``lipschitz``, ``targets``.
    With k scores to a row, z and slope have shape (n, k).
    """

    def value(self, y: Array, z: Array) -> Array:
        """Return the loss of each row."""

    def slope(self, y: Array, z: Array) -> Array:
        """Return the derivative of each row in its score."""


def native_loss(loss: Loss | UserLoss, scores: int = 1, y: npt.ArrayLike | None = None) -> _core.Loss:
    """Return the native form of a loss of ours or of a user's.

    Parameters
    ----------
    loss : Loss or object with value(y, z) and slope(y, z)
        The loss. That the slope of a user's loss is the derivative of its value is checked, by differences.
    scores : int, default=1
        How many scores a row has.
    y : array-like, default=None
        Targets to check a user's loss on; without them, such as its ``targets`` allows are drawn.
    """
    if isinstance(loss, Loss):
        return loss.native(scores)
    if isinstance(loss, type) or not isinstance(loss, UserLoss):
        raise TypeError(
            f"loss must be one of tutelage.losses or an object with value(y, z) and slope(y, z); found {loss!r}."
        )
    from tutelage import _core

    native = _core.user_loss(loss, scores)
    check_slope(loss, scores=scores, y=y)
    return native


def check_slope(loss: UserLoss, *, scores: int = 1, y: npt.ArrayLike | None = None, seed: int = 0) -> None:
    """Raise ValueError where the slope of a loss is not the derivative of its value.

    At drawn scores, the slope must lie between the differences of the value on either side, which a corner of a convex
    loss allows and a wrong formula does not.

    Parameters
    ----------
    loss : object with value(y, z) and slope(y, z)
        The loss.
    scores : int, default=1
        How many scores a row has.
    y : array-like, default=None
        Targets to check it on, the first 64 of them; without them, such as its ``targets`` allows are drawn.
    seed : int, default=0
        Of the draws.

    Examples
    --------
    >>> class Cauchy:
    ...     def value(self, y, z):
    ...         return np.log1p((z - y) ** 2)
    ...     def slope(self, y, z):
    ...         return (z - y) / (1 + (z - y) ** 2)  # a factor 2 is missing
    >>> check_slope(Cauchy())
    Traceback (most recent call last):
    ValueError: slope of the loss Cauchy is not the derivative of its value: at y = 0.12573,
    z = 0.986909 it is 0.494467, where the value changes at the rate 0.988935.
    """
    random = np.random.default_rng(seed)
    targets = _some_targets(loss, scores, random) if y is None else np.asarray(y, dtype=np.float64).ravel()[:64]
    shape = (len(targets),) if scores == 1 else (len(targets), scores)
    z = random.normal(size=shape) * random.choice([0.3, 1.0, 3.0], size=(len(targets),) + (1,) * (scores > 1))
    slope = np.asarray(loss.slope(targets, z), dtype=np.float64)
    if slope.shape != shape:
        raise ValueError(
            f"slope of the loss {_name(loss)} must have the shape of z, {shape}; found the shape {slope.shape}."
        )
    step = 1e-6
    value = np.asarray(loss.value(targets, z), dtype=np.float64)
    if value.shape != (len(targets),):
        raise ValueError(
            f"value of the loss {_name(loss)} must have one number for each row, the shape ({len(targets)},); found "
            f"the shape {value.shape}."
        )
    for column in range(scores):
        move = np.zeros(shape)
        move[(...,) if scores == 1 else (..., column)] = step
        here = slope if scores == 1 else slope[:, column]
        above = (np.asarray(loss.value(targets, z + move)) - value) / step
        below = (value - np.asarray(loss.value(targets, z - move))) / step
        allowed = 1e-4 * (1 + np.abs(here)) + 1e-9 * np.abs(value) / step
        wrong = (here < np.minimum(above, below) - allowed) | (here > np.maximum(above, below) + allowed)
        wrong |= np.isnan(here) & ~np.isnan(above)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"slope of the loss {_name(loss)} is not the derivative of its value: at y = {targets[row]:.6g}, "
                f"z = {_shown(z[row])} it is {here[row]:.6g}, where the value changes at the rate "
                f"{(above[row] + below[row]) / 2:.6g}."
            )


def _some_targets(loss: UserLoss, scores: int, random: np.random.Generator) -> Array:
    kind = getattr(loss, "targets", "real")
    if kind == "label":
        return random.choice([-1.0, 1.0], size=64)
    if kind == "category":
        return random.integers(scores, size=64).astype(np.float64)
    if kind == "nonnegative":
        return random.poisson(2.0, size=64).astype(np.float64)
    return random.exponential(size=64) if kind == "positive" else random.normal(size=64)


def _name(loss: object) -> str:
    return str(getattr(loss, "name", type(loss).__name__))


def _shown(z: Any) -> str:
    return f"{z:.6g}" if np.ndim(z) == 0 else "[" + ", ".join(f"{score:.6g}" for score in z) + "]"

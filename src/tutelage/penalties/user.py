"""Penalties of one's own: an object with ``value`` and ``prox`` or ``slope`` in NumPy is a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from tutelage.penalties.base import Penalty

if TYPE_CHECKING:
    import numpy.typing as npt

    from tutelage import _core
    from tutelage.vocabulary import Array


@runtime_checkable
class UserPenalty(Protocol):
    """What an object must have to be a penalty: ``value(w)``, and ``prox(w, step)`` or ``slope(w)`` or both.

    With prox the proximal solvers run on it, with slope the smooth ones. It may also have ``conjugate(v)`` (then fits
    carry a duality gap) and ``curvature(w)``, and say what is true of it: ``name``, ``formula``, ``convex`` (True
    unless it says otherwise), ``strong_convexity``. w has shape (d,), or (k, d) where there are k scores.
    """

    def value(self, w: Array) -> float:
        """Return the penalty at w."""


def native_penalty(penalty: Penalty | UserPenalty, shape: tuple[int, ...] | None = None) -> _core.Penalty:
    """Return the native form of a penalty of ours or of a user's.

    Parameters
    ----------
    penalty : Penalty or object with value(w) and prox(w, step) or slope(w)
        The penalty.
    shape : tuple of int, default=None
        Of the coefficients, (d,) or (k, d): a user's penalty is then checked against its own value, by differences, and
        the lists of ours against the number of coefficients.
    """
    if isinstance(penalty, Penalty):
        native = penalty.native()
        if shape is not None:
            native.check(*((1, *shape) if len(shape) == 1 else shape))
        return native
    offers = hasattr(penalty, "prox") or hasattr(penalty, "slope")
    if isinstance(penalty, type) or not (offers and isinstance(penalty, UserPenalty)):
        raise TypeError(
            "penalty must be one of tutelage.penalties or an object with value(w) and prox(w, step) or slope(w); found "
            f"{penalty!r}."
        )
    from tutelage import _core

    if shape is not None:
        check_penalty(penalty, shape)
    return _core.user_penalty(penalty)


def check_penalty(penalty: UserPenalty, shape: tuple[int, ...], *, seed: int = 0) -> None:
    """Raise ValueError where the slope or the prox of a penalty does not belong to its value.

    The slope is compared with differences of the value along drawn directions; the prox must not be worse than points
    near and far from it.

    Parameters
    ----------
    penalty : object with value(w) and prox(w, step) or slope(w)
        The penalty.
    shape : tuple of int
        Of the coefficients: (d,) or (k, d).
    seed : int, default=0
        Of the draws.

    Examples
    --------
    >>> class Lasso:
    ...     def value(self, w):
    ...         return np.abs(w).sum()
    ...     def prox(self, w, step):
    ...         return w - step * np.sign(w)  # does not stop at zero
    >>> check_penalty(Lasso(), (3,))
    Traceback (most recent call last):
    ValueError: prox of the penalty Lasso does not minimise |u - w|^2 / 2 + step value(u): for step 0.5 there is a \
better point.
    """
    random = np.random.default_rng(seed)
    name = str(getattr(penalty, "name", type(penalty).__name__))
    w = random.normal(size=shape)
    value = np.asarray(penalty.value(w), dtype=np.float64)
    if value.size != 1:
        raise ValueError(f"value of the penalty {name} must be one number; it has the shape {value.shape}.")
    if hasattr(penalty, "slope"):
        slope = _same_shape(penalty.slope(w), shape, "slope", name)
        for _ in range(8):
            direction = 1e-6 * random.normal(size=shape)
            rate = float(np.sum(slope * direction))
            change = (float(penalty.value(w + direction)) - float(penalty.value(w - direction))) / 2
            rounding = 1e-12 * (1 + abs(float(value)))
            if (
                abs(change - rate)
                > 1e-4 * float(np.linalg.norm(direction)) * (1 + float(np.linalg.norm(slope))) + rounding
            ):
                raise ValueError(
                    f"slope of the penalty {name} is not the gradient of its value: along a direction where the value "
                    f"changes by {change:.6g} it says {rate:.6g}."
                )
    if not hasattr(penalty, "prox"):
        return
    for step in (0.5, 2.0):
        u = _same_shape(penalty.prox(w, step), shape, "prox", name)
        best = _objective(penalty, w, step, u)
        for reach in (1e-3, 0.1, 1.0):
            for other in [u + reach * random.normal(size=shape) for _ in range(16)] + [u * (1 - reach), w, 0 * w]:
                if _objective(penalty, w, step, other) < best - 1e-9 * (1 + abs(best)):
                    raise ValueError(
                        f"prox of the penalty {name} does not minimise |u - w|^2 / 2 + step value(u): for step "
                        f"{step:g} there is a better point."
                    )


def _objective(penalty: UserPenalty, w: Array, step: float, u: Array) -> float:
    return float(np.sum((u - w) ** 2)) / 2 + step * float(penalty.value(u))


def _same_shape(answer: npt.ArrayLike, shape: tuple[int, ...], method: str, name: str) -> Array:
    array = np.asarray(answer, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"{method} of the penalty {name} must have the shape of w, {shape}; found the shape {array.shape}."
        )
    return array

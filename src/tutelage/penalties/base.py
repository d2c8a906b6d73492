"""What every penalty can be asked, and where its numbers come from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.vocabulary import Word, checked_list

if TYPE_CHECKING:
    import numpy.typing as npt

    from tutelage import _core
    from tutelage.vocabulary import Array


@dataclass(frozen=True, kw_only=True)
class PenaltyFacts:
    """What is true of a penalty, for its parameters.

    Attributes
    ----------
    name, formula : str
        What it is called, and what it is.
    convex : bool
        Whether it is convex; where it is not, solvers promise a stationary point only.
    separable : bool
        Whether it is a sum over coefficients.
    quadratic : bool
        Whether its Hessian is constant, so that Newton's method and the closed form take it.
    smooth : bool
        Whether it has a gradient everywhere.
    strong_convexity : float
        An m such that penalty - m |w|^2 / 2 is convex; below 0 where the penalty itself is not.
    has_conjugate, has_prox : bool
        Which of these it can be asked.
    """

    name: str
    formula: str
    convex: bool
    separable: bool
    quadratic: bool
    smooth: bool
    strong_convexity: float
    has_conjugate: bool
    has_prox: bool


@cache
def native_table() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the declared parameters of every native penalty: its name, the name of the parameter, the declaration."""
    from tutelage import _core

    return {penalty["name"]: {row["name"]: row for row in penalty["parameters"]} for penalty in _core.penalty_table()}


@dataclass(frozen=True, eq=False, repr=False)
class Penalty(Word):
    """A penalty on the coefficients of a fit, never on its intercept.

    w has shape (d,), or (k, d) where there are k scores or outputs: one row of coefficients for each.
    """

    def __post_init__(self) -> None:
        self._check_numbers(native_table()[self.name])
        self._check_lists()

    def _check_lists(self) -> None:
        if getattr(self, "weights", None) is not None:
            weights = checked_list(self.weights, "weights", type(self).__name__, ndim=2)  # type: ignore[attr-defined]
            if not (np.isfinite(weights).all() and (weights >= 0).all()):
                bad = weights[~(np.isfinite(weights) & (weights >= 0))].flat[0]
                raise ValueError(f"weights of {type(self).__name__} must be finite and not negative; found {bad}.")
            self._set("weights", weights)

    def native(self) -> _core.Penalty:
        """Return the native penalty."""
        from tutelage import _core

        return _core.make_penalty(self.name, dict(self.parameters()))

    @property
    def facts(self) -> PenaltyFacts:
        """What is true of this penalty."""
        return facts_of(self.native())

    def value(self, w: npt.ArrayLike) -> float:
        """Return the penalty at w; infinite where w is not allowed."""
        return self.native().value(_block(w))

    def prox(self, w: npt.ArrayLike, step: float) -> Array:
        """Return the u with the least ``|u - w|^2 / 2 + step value(u)``."""
        if not step > 0:
            raise ValueError(f"step must be above 0; found {step!r}.")
        return self.native().prox(_block(w), step)

    def slope(self, w: npt.ArrayLike) -> Array:
        """Return the gradient at w, of a smooth penalty."""
        self._needs("smooth", "gradient everywhere; use prox")
        return self.native().slope(_block(w))

    def curvature(self, w: npt.ArrayLike) -> Array:
        """Return the diagonal of the Hessian at w, of a smooth penalty."""
        self._needs("smooth", "gradient everywhere; use prox")
        return self.native().curvature(_block(w))

    def conjugate(self, v: npt.ArrayLike) -> float:
        """Return the largest v.w - value(w) over w; infinite outside its domain."""
        self._needs("has_conjugate", "finite conjugate")
        return self.native().conjugate(_block(v))

    def dual_scale(self, v: npt.ArrayLike) -> float:
        """Return the largest t in [0, 1] with a finite conjugate at t v."""
        self._needs("has_conjugate", "finite conjugate")
        return self.native().dual_scale(_block(v))

    def stationarity(self, w: npt.ArrayLike, gradient: npt.ArrayLike) -> float:
        """Return how far minus the gradient of the risk is from being a subgradient of the penalty at w.

        The distance is in the largest coordinate. It is zero where w is stationary: for a convex penalty, a minimum.
        """
        point, slope = _block(w), _block(gradient)
        if point.shape != slope.shape:
            raise ValueError(f"gradient must have the shape of w, {point.shape}; found {slope.shape}.")
        return self.native().stationarity(point, slope)

    def _needs(self, fact: str, what: str) -> None:
        if not getattr(self.facts, fact):
            raise TypeError(f"{self!r} has no {what}.")


def facts_of(native: _core.Penalty) -> PenaltyFacts:
    """Return the facts of a native penalty."""
    facts = native.facts
    return PenaltyFacts(**{field.name: facts[field.name] for field in fields(PenaltyFacts)})


def _block(w: npt.ArrayLike) -> Array:
    block = np.ascontiguousarray(w, dtype=np.float64)
    if block.ndim not in {1, 2}:
        raise ValueError(f"w must have the shape (d,) or (k, d); found the shape {np.shape(w)}.")
    return block

"""What every loss can be asked, and where its numbers come from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tutelage.vocabulary import Word

if TYPE_CHECKING:
    import numpy.typing as npt

    from tutelage import _core
    from tutelage.vocabulary import Array


@dataclass(frozen=True, kw_only=True)
class LossFacts:
    """What is true of a loss, for its parameters.

    Attributes
    ----------
    name, formula : str
        What it is called, and what it is.
    targets : str
        What y holds: ``label`` (-1 or +1), ``category`` (0, 1, ..., k - 1), ``real``, ``nonnegative`` or ``positive``.
    convex : bool
        Whether it is convex in z.
    trainable : bool
        Whether a learner can follow its slope (the zero-one loss has none worth following).
    calibrated : bool
        Whether minimising it over all functions finds the most probable class; for a loss of real targets, when y is -1
        or +1.
    smoothness, lipschitz : float
        The largest curvature and the largest slope; infinite where there is none.
    has_curvature, has_conjugate, has_prox : bool
        Which of these it can be asked.
    kink : str
        Which subgradient stands where there are several.
    """

    name: str
    formula: str
    targets: str
    convex: bool
    trainable: bool
    calibrated: bool
    smoothness: float
    lipschitz: float
    has_curvature: bool
    has_conjugate: bool
    has_prox: bool
    kink: str


@cache
def native_table() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the declared parameters of every native loss: name of the loss, name of the parameter, declaration."""
    from tutelage import _core

    return {loss["name"]: {row["name"]: row for row in loss["parameters"]} for loss in _core.loss_table()}


@dataclass(frozen=True, eq=False, repr=False)
class Loss(Word):
    """A loss: what a row costs, given its target y and its score z.

    Every method takes arrays. For a loss of one score, y and z broadcast against each other; for a loss of several
    scores the last axis of z holds the scores of a row and y has one axis less.
    """

    several_scores: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._check_numbers(native_table()[self.name])

    def native(self, scores: int = 1) -> _core.Loss:
        """Return the native loss, for so many scores to a row."""
        from tutelage import _core

        return _core.make_loss(self.name, dict(self.parameters()), scores)

    @property
    def facts(self) -> LossFacts:
        """What is true of this loss."""
        return facts_of(self.native(2 if self.several_scores else 1))

    def value(self, y: npt.ArrayLike, z: npt.ArrayLike) -> Array:
        """Return the loss of each row."""
        native, y, z, rows = self._rows(y, z)
        return native.value(y, z).reshape(rows)[()]

    def slope(self, y: npt.ArrayLike, z: npt.ArrayLike) -> Array:
        """Return the derivative in each score; on a kink, the subgradient that ``facts.kink`` names."""
        native, y, z, _ = self._rows(y, z)
        return native.slope(y, z).reshape(z.shape)[()]

    def curvature(self, y: npt.ArrayLike, z: npt.ArrayLike) -> Array:
        """Return the second derivative in each score."""
        native, y, z, _ = self._rows(y, z)
        self._needs("has_curvature", "curvature")
        return native.curvature(y, z).reshape(z.shape)[()]

    def conjugate(self, y: npt.ArrayLike, a: npt.ArrayLike) -> Array:
        """Return the largest a.z - value(y, z) over z; infinite outside its domain."""
        native, y, a, rows = self._rows(y, a)
        self._needs("has_conjugate", "conjugate in closed form")
        return native.conjugate(y, a).reshape(rows)[()]

    def prox(self, y: npt.ArrayLike, z: npt.ArrayLike, step: float) -> Array:
        """Return the u with the least ``|u - z|^2 / 2 + step value(y, u)``, for each row."""
        native, y, z, _ = self._rows(y, z)
        self._needs("has_prox", "proximal operator in closed form")
        if not step > 0:
            raise ValueError(f"step must be above 0; found {step!r}.")
        return native.prox(y, z, step).reshape(z.shape)[()]

    def _needs(self, fact: str, what: str) -> None:
        if not getattr(self.facts, fact):
            raise TypeError(f"{self!r} has no {what}.")

    def _rows(self, y: npt.ArrayLike, z: npt.ArrayLike) -> tuple[_core.Loss, Array, Array, tuple[int, ...]]:
        """Bring targets and scores to one shape; returns the native loss, both, and the shape of the rows."""
        targets, scores = np.asarray(y, dtype=np.float64), np.asarray(z, dtype=np.float64)
        if not self.several_scores:
            targets, scores = np.broadcast_arrays(targets, scores)
            return self.native(), np.ascontiguousarray(targets), np.ascontiguousarray(scores), scores.shape
        if scores.ndim == 0:
            raise ValueError(f"z of {self!r} must have an axis for the scores of a row; it is a single number.")
        rows = np.broadcast_shapes(targets.shape, scores.shape[:-1])
        count = scores.shape[-1]
        targets = np.ascontiguousarray(np.broadcast_to(targets, rows))
        scores = np.ascontiguousarray(np.broadcast_to(scores, (*rows, count)))
        return self.native(count), targets, scores, rows


def facts_of(native: _core.Loss) -> LossFacts:
    """Return the facts of a native loss."""
    facts = native.facts
    return LossFacts(**{field.name: facts[field.name] for field in fields(LossFacts)})

"""Discriminants on every fold: means and scatter that add up.

A discriminant is a function of the number, the mean and the scatter of the rows of each class (`tutelage.counts`). Each
fold is measured once, and the rows outside it are the sum of the other folds.

Cost: one reading of X (n d^2 / 2), and the d x d algebra of each fold and candidate. It fails where the rows themselves
are asked for (Ledoit and Wolf's shrinkage, covariance estimators, fewer rows than columns): those are refitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import counts
from tutelage.fold_paths import FoldPath, NoFoldPath, fold_codes, grouped, sibling, side_by_side, without_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tutelage.fold_paths import Rows


class _ScatteredPath(FoldPath):
    """The candidates of one fold: the scatter of its training rows, and the parameters."""

    def __init__(self, template: Any, settings: list[dict[str, Any]], X: Any, codes: Any, measured: Any) -> None:
        self.template, self.settings, self.X, self.codes, self.measured = template, settings, X, codes, measured

    def model(self, candidate: int) -> Any:
        one = sibling(self.template, **self.settings[candidate])
        try:
            one.check_parameters()
            one._learn(self.X, self.codes, self.measured)  # noqa: SLF001 - of the same chapter
        except (ValueError, NotImplementedError, np.linalg.LinAlgError):
            return None  # refitting says the same, as a failure of this candidate
        return one


def scattered_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any,
    *, own: bool, can: Callable[[Any], bool],
) -> Iterator[FoldPath | None]:  # fmt: skip
    """Give the paths of a discriminant.

    Parameters
    ----------
    model : estimator
        With ``_learn(X, codes, measured)``.
    X, y : arrays
        All rows and their classes.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        The candidates.
    weight : None
        Discriminants have no weights of rows.
    own : bool
        Whether each class has a scatter of its own.
    can : callable
        Whether a candidate is a function of the scatter alone.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    held = fold_codes(folds, len(np.asarray(y)))
    if held is None or len(folds) < 2 or weight is not None or np.ndim(y) != 1:
        raise NoFoldPath
    settings = [dict(candidate) for candidate in grid]
    if not all(can(sibling(model, **setting)) for setting in settings) or len(grouped(model, grid)) > len(grid):
        raise NoFoldPath
    rows, codes, _ = model.validate(X, y)
    classes = len(model.classes_)
    count = len(folds) + bool((held == len(folds)).any())
    if rows.shape[1] ** 2 * (classes if own else 1) * 3 * count > 60_000_000:
        raise NoFoldPath

    def measure(part: int) -> Any:
        inside = np.flatnonzero(held == part)
        return counts.scatter(rows[inside], codes[inside], None, classes, own=own)

    rest = without_each(side_by_side(measure, range(count)), lambda one, other: one + other)

    def walk() -> Iterator[FoldPath | None]:
        for fold, (train, _) in enumerate(folds):
            seen = np.bincount(codes[train], minlength=classes)
            sound = bool((seen > 1).all()) and len(train) > rows.shape[1] + classes
            yield _ScatteredPath(model, settings, rows, codes[train], rest[fold]) if sound else None

    return walk()

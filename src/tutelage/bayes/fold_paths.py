"""Naive Bayes on every fold: counts that add up.

Each fold is counted once. What the rows outside a fold count is the sum of the other folds, and a candidate (a
smoothing, a prior) is made of that without another look at the rows.

Cost: one reading of X, and a table for each fold and candidate. It fails where the training rows of a fold lack a
class, or the folds are no partition: those are refitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.base import is_sparse
from tutelage.fold_paths import FoldPath, NoFoldPath, fold_codes, grouped, sibling, without_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import Rows

# Parameters that decide what is counted, rather than what is made of it.
COUNTED = ("binarize", "families")


class _CountedPath(FoldPath):
    """The candidates of one fold: their counts, and how a model is made of them."""

    def __init__(self, makers: list[Any], held: Any) -> None:
        self.makers, self.held = makers, held

    def model(self, candidate: int) -> Any:
        template, parameters, counted = self.makers[candidate]
        one = sibling(template, **parameters)
        one.check_parameters()
        one._accept_counts(*counted)  # noqa: SLF001 - of the same chapter
        return one

    def predictions(self) -> Any:
        models = [self.model(candidate) for candidate in range(len(self.makers))]
        beyond = any(one._unheard_of(self.held) for one in models)  # noqa: SLF001 - of the same chapter
        if beyond:
            return None  # the models say so themselves, each for itself
        return np.stack([one.classes_[one._joint(self.held).argmax(axis=1)] for one in models])  # noqa: SLF001


def counted_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any
) -> Iterator[FoldPath | None]:
    """Give the paths of a naive Bayes learner that counts.

    Parameters
    ----------
    model : CountingClassifier
        With ``_measure_rows`` and ``_accept_counts``.
    X, y, weight : arrays
        All rows, their classes, their weights or None.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        The candidates.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    names = [name for name in model.get_params(deep=False) if name not in COUNTED]
    held = fold_codes(folds, len(np.asarray(y)))
    if held is None or len(folds) < 2 or np.ndim(y) != 1:
        raise NoFoldPath
    groups = grouped(model, grid, *names)
    prepared = []
    for group in groups:
        template = group.model
        rows, codes, weights = template.validate(X, y, weight)
        template._begin(rows, codes, weights)  # noqa: SLF001 - of the same chapter
        rows = rows.tocsr() if is_sparse(rows) else rows
        parts = []
        for part in range(len(folds) + bool((held == len(folds)).any())):
            own = np.flatnonzero(held == part)
            parts.append(
                template._measure_rows(rows[own], codes[own], None if weights is None else weights[own])  # noqa: SLF001
            )
        rest = without_each(parts, lambda one, other: tuple(a + b for a, b in zip(one, other, strict=True)))
        prepared.append((group, rows, codes, weights, rest))

    def walk() -> Iterator[FoldPath | None]:
        for fold, (train, test) in enumerate(folds):
            makers: list[Any] = [None] * len(grid)
            whole = True
            for group, _, codes, weights, rest in prepared:
                seen = np.bincount(codes[train], minlength=len(group.model.classes_)) > 0
                whole &= bool(seen.all()) and (weights is None or bool((weights[train] > 0).all()))
                for candidate, values in zip(group.candidates, group.values, strict=True):
                    given = values if len(names) > 1 else (values,)
                    makers[candidate] = group.model, dict(zip(names, given, strict=True)), rest[fold]
            yield _CountedPath(makers, prepared[0][1][test]) if whole else None

    return walk()

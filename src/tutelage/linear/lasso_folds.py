"""The lasso and the elastic net on every fold: one path for each.

For a share of the l1 part the fits of all strengths are one path (`tutelage.linear.paths`), which keeps products of
columns and working sets from one strength to the next. Folds are independent, and walked side by side.

Cost: a path for each fold and share, little more than its last fit. It fails where strengths are zero: least squares
has its own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.base import is_sparse
from tutelage.fold_paths import FoldPath, NoFoldPath, grouped, sibling, side_by_side
from tutelage.linear.paths import follow_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.base import Floats
    from tutelage.fold_paths import Group, Rows
    from tutelage.linear.paths import Path


class _LassoPath(FoldPath):
    """The paths of one fold, one for each group of candidates."""

    def __init__(self, walked: list[tuple[Group, Path]], held: Any, count: int) -> None:
        self.walked, self.held = walked, held
        self.home = {
            candidate: (group, path, value)
            for group, path in walked
            for candidate, value in zip(group.candidates, group.values, strict=True)
        }
        self.count = count

    def _place(self, candidate: int) -> tuple[Group, Path, float, int]:
        group, path, alpha = self.home[candidate]
        return group, path, alpha, int(np.flatnonzero(path.alphas == alpha)[0])

    def model(self, candidate: int) -> Any:
        group, path, alpha, place = self._place(candidate)
        if len(path.alphas) < len(set(group.values)):
            return None
        one = sibling(group.model, alpha=alpha)
        certificate = path.certificates[place]
        coef = path.coefs[:, [place]].toarray()[:, 0]
        intercept = np.float64(path.intercepts[place]) if group.model.fit_intercept else 0.0
        one.keep(coef, intercept, certificate, self.held)
        one.dual_gap_, one.n_iter_ = float(certificate.gap), certificate.rounds
        return one

    def predictions(self) -> Any:
        rows: list[Floats] = []
        scores = {id(path): self.held @ path.coefs.toarray() + path.intercepts for _, path in self.walked}
        for candidate in range(self.count):
            group, path, _, place = self._place(candidate)
            if len(path.alphas) < len(set(group.values)) or not path.certificates[place].reason.trustworthy:
                return None
            rows.append(scores[id(path)][:, place])
        return np.stack(rows)


def lasso_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any
) -> Iterator[FoldPath | None]:
    """Give the paths of `Lasso` or `ElasticNet`.

    Parameters
    ----------
    model : estimator
        Not changed.
    X, y, weight : arrays
        All rows, their targets, their weights or None.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        The candidates.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    groups = grouped(model, grid, "alpha")
    for group in groups:
        strong = all(isinstance(value, int | float | np.floating) and value > 0 for value in group.values)
        if not strong or group.model.warm_start or not isinstance(group.model.precompute, bool):
            raise NoFoldPath
    if np.ndim(y) != 1:
        raise NoFoldPath
    checked = [group.model.validate(X, y, weight) for group in groups]
    rows, targets, weights = checked[0]
    rows = rows.tocsr() if is_sparse(rows) else rows

    def of_fold(fold: tuple[Rows, Rows]) -> FoldPath | None:
        train, test = fold
        own = None if weights is None else weights[train]
        if not len(train) or (own is not None and not own.any()):
            return None
        inner = rows[train]
        walked = []
        for group in groups:
            words = group.model
            ratio = float(getattr(words, "l1_ratio", 1.0))
            path = follow_path(
                inner, targets[train], own, alphas=np.unique(np.asarray(group.values, dtype=np.float64))[::-1],
                l1_ratio=ratio, positive=words.positive, fit_intercept=words.fit_intercept, tol=words.tol,
                max_iter=words.max_iter or 1000, time_limit=words.time_limit,
            )  # fmt: skip
            walked.append((group, path))
        return _LassoPath(walked, rows[test], len(grid))

    return iter(side_by_side(of_fold, folds))

"""Every number of neighbours, on every fold, by one search for each fold.

The k nearest rows are the first k of the K nearest, so for each fold the K nearest training rows of each held-out row
are found once, for the largest K of the grid; votes and means of each candidate, under any weighting, are made of the
first k of them. Votes are those of refitting, to the last bit.

Cost: one search for each fold, and k additions for each candidate and row. It fails where the fold has fewer rows than
a candidate has neighbours: that candidate is refitted, and says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from tutelage.fold_paths import FoldPath, NoFoldPath, grouped, sibling

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import Group, Rows


class Remembered:
    """An index that knows the answer to one question: the neighbours of the rows of one fold.

    Parameters
    ----------
    index : Index
        Which answers every other.
    asked : array
        The rows of the fold, as the model checks them.
    found : (distances, rows)
        Their nearest, as many as any candidate wants.
    """

    def __init__(self, index: Any, asked: Any, found: tuple[Any, Any]) -> None:
        self.index, self.asked, self.found = index, asked, found

    def nearest(self, X: Any, k: int, *, exclude: bool = False) -> tuple[Any, Any]:
        """Give the k nearest of rows."""
        known = X is not None and not exclude and k <= self.found[0].shape[1] and self._same(X)
        if known:
            return self.found[0][:, :k], self.found[1][:, :k]
        found: tuple[Any, Any] = self.index.nearest(X, k, exclude=exclude)
        return found

    def _same(self, X: Any) -> bool:
        if X is self.asked:
            return True
        both = isinstance(X, np.ndarray) and isinstance(self.asked, np.ndarray)
        return both and X.shape == self.asked.shape and X.dtype == self.asked.dtype and np.array_equal(X, self.asked)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "index":
            raise AttributeError(name)
        return getattr(self.index, name)


class _NeighbourPath(FoldPath):
    """The candidates of one fold, each group with its search."""

    def __init__(self, searched: list[tuple[Group, Any]], asked: Any, count: int) -> None:
        self.asked = asked
        self.makers: list[Any] = [None] * count
        for group, fitted in searched:
            for candidate, (k, weights) in zip(group.candidates, group.values, strict=True):
                if isinstance(k, int | np.integer) and 0 < k <= fitted.n_samples_fit_:
                    self.makers[candidate] = (fitted, k, weights)

    def model(self, candidate: int) -> Any:
        made = self.makers[candidate]
        if made is None:
            return None
        one = sibling(made[0], n_neighbors=made[1], weights=made[2])
        one.check_parameters()
        return one

    def predictions(self) -> Any:
        if any(made is None for made in self.makers):
            return None
        return np.stack([self.model(candidate).predict(self.asked) for candidate in range(len(self.makers))])


def _nested(model: Any) -> bool:
    """Whether the k nearest are the first k of the K nearest, for rows that can be taken by their numbers."""
    plain = isinstance(model.metric, str) and model.metric not in {"precomputed", "edit", "gower"}
    return plain and model.algorithm != "approximate"


def neighbour_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any
) -> Iterator[FoldPath | None]:
    """Give the paths of `KNeighborsClassifier` or `KNeighborsRegressor`.

    Parameters
    ----------
    model : estimator
        Not changed.
    X, y : arrays
        All rows and their labels or targets.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        The candidates.
    weight : None
        Neighbours have no weights of rows.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    groups = grouped(model, grid, "n_neighbors", "weights")
    if weight is not None or not all(_nested(group.model) for group in groups):
        raise NoFoldPath

    def walk() -> Iterator[FoldPath | None]:
        for train, test in folds:
            inner, held = _safe_indexing(X, train), _safe_indexing(X, test)
            searched = []
            asked = None
            for group in groups:
                wanted = [k for k, _ in group.values if isinstance(k, int | np.integer) and 0 < k <= len(train)]
                if not wanted:
                    continue
                fitted = clone(group.model).set_params(n_neighbors=int(max(wanted)))
                fitted.fit(inner, _safe_indexing(y, train))
                asked = fitted._queries(held)  # noqa: SLF001 - of the same chapter
                found = fitted._nearest(asked, int(max(wanted)))  # noqa: SLF001
                fitted._index = Remembered(fitted._index, asked, found)  # noqa: SLF001
                searched.append((group, fitted))
            yield _NeighbourPath(searched, asked, len(grid))

    return walk()

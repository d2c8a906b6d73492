"""Paths through a pipeline: its feature maps are fitted once for each fold, its last step by its own algebra.

Candidates that differ in parameters of the last step alone share everything before it, so for each fold the maps are
fitted and applied once, and the last step is asked for its `tutelage.fold_paths` on what they make of the fold. The
algebra that joins folds is lost, since each fold has features of its own; the one that joins candidates is kept.

>>> import numpy as np
>>> from sklearn.pipeline import make_pipeline
>>> from sklearn.preprocessing import StandardScaler
>>> from tutelage import Ridge
>>> X, y = np.arange(8.0)[:, None] ** 2, np.arange(8.0)
>>> fold = (np.arange(4, 8), np.arange(4))
>>> pipeline = make_pipeline(StandardScaler(), Ridge())
>>> path = next(iter(pipeline_paths(pipeline, X, y, [fold], [{"ridge__alpha": 2.0}])))
>>> refitted = pipeline.set_params(ridge__alpha=2.0).fit(X[4:], y[4:]).predict(X[:4])
>>> bool(np.allclose(path.predictions()[0], refitted))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from tutelage.fold_paths import FoldPath, NoFoldPath
from tutelage.selection.engine import knows_folds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import Rows


class _PipelinePath(FoldPath):
    """The fits of one fold behind fitted feature maps."""

    def __init__(self, steps: list[tuple[str, Any]], name: str, path: FoldPath, whole: Pipeline) -> None:
        self.steps, self.name, self.path, self.whole = steps, name, path, whole

    def model(self, candidate: int) -> Any:
        last = self.path.model(candidate)
        if last is None:
            return None
        return Pipeline([*self.steps, (self.name, last)], memory=self.whole.memory, verbose=self.whole.verbose)

    def predictions(self) -> Any:
        return self.path.predictions()


def pipeline_paths(
    pipeline: Pipeline, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]]
) -> Iterator[FoldPath | None]:
    """Give the paths of a pipeline whose last step has some.

    Parameters
    ----------
    pipeline : Pipeline
        Not changed.
    X, y : indexable
        All rows and their targets.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        Candidates that set parameters of the last step only.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    if type(pipeline) is not Pipeline or len(pipeline.steps) < 2:
        raise NoFoldPath
    name, last = pipeline.steps[-1]
    if not knows_folds(last) or not all(key.startswith(f"{name}__") for candidate in grid for key in candidate):
        raise NoFoldPath
    own = [{key.removeprefix(f"{name}__"): value for key, value in candidate.items()} for candidate in grid]
    if any("__" in key for candidate in own for key in candidate):
        raise NoFoldPath
    return _walk(pipeline, X, y, folds, own)


def _walk(
    pipeline: Pipeline, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: list[dict[str, Any]]
) -> Iterator[FoldPath | None]:
    name, last = pipeline.steps[-1]
    for train, test in folds:
        maps = clone(pipeline[:-1])
        try:
            made = maps.fit_transform(_safe_indexing(X, train), _safe_indexing(y, train))
            held = maps.transform(_safe_indexing(X, test))
            rows = _stacked(made, held)
            targets = np.concatenate([np.asarray(_safe_indexing(y, train)), np.asarray(_safe_indexing(y, test))])
            inner = [(np.arange(len(train)), np.arange(len(train), len(train) + len(test)))]
            path = next(iter(clone(last).fold_paths(rows, targets, inner, grid, sample_weight=None)))
        except (NoFoldPath, ValueError, TypeError):
            yield None  # refitting says what is wrong, if anything is
            continue
        yield None if path is None else _PipelinePath(maps.steps, name, path, pipeline)


def _stacked(made: Any, held: Any) -> Any:
    if sparse.issparse(made):
        return sparse.vstack([made, held], format="csr")  # type: ignore[call-overload, unused-ignore]
    if not isinstance(made, np.ndarray):
        raise NoFoldPath  # frames keep their names in the refitted model
    return np.concatenate([made, held])

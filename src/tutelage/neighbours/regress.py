"""Regression by the mean of neighbours' targets.

    y(x) = sum_{i in N(x)} weight_i y_i / sum_{i in N(x)} weight_i

>>> KNeighborsRegressor(2).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0]).predict([[1.6]])
array([2.5])
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tutelage.base import Accepts, Regressor
from tutelage.neighbours.base import (
    KNearest,
    Neighbourly,
    Neighbours,
    Radius,
    Weighting,
    WithinRadius,
    neighbour_weights,
)
from tutelage.parameters import parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.base import Floats
    from tutelage.fold_paths import FoldPath, Rows


class _Averaging(Neighbourly, Regressor):
    """What both regressors share."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, many_outputs=True)

    weights: Weighting = "uniform"

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their targets.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; for the metric "precomputed" the distances between them.
        y : array of shape (n,) or (n, outputs)
            The targets.
        """
        if self._borrowed(X):
            self.check_parameters()
            y = np.asarray(y, dtype=float)
        else:
            X, y, _ = self.validate(X, y)
        self._keep(X)
        self._y = y
        return self


class KNeighborsRegressor(_Averaging, KNearest):
    """Predict the mean target of the k nearest rows.

    Examples
    --------
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]).predict([[1.5]])
    array([0.5])
    """

    n_neighbors: Neighbours = parameter(default=5, kw_only=False)

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, all numbers of neighbours by one search.

        Parameters
        ----------
        X, y : arrays
            All rows and their targets.
        folds : list of (train, test)
            Row numbers.
        grid : list of dict
            The candidates.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        iterator of FoldPath or None
            See `tutelage.fold_paths`.
        """
        from tutelage.neighbours.fold_paths import neighbour_fold_paths

        return neighbour_fold_paths(self, X, y, folds, grid, sample_weight)

    def predict(self, X: Any) -> Floats:
        """Predict the weighted mean of the neighbours' targets.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), or None
            None: the rows of the fit, each without itself, which is leave-one-out.
        """
        asked = self._queries(X)
        k = self._how_many(None)
        self._check_enough(k, asked is None, self.n_samples_fit_ if asked is None else asked.shape[0])
        distances, rows = self._nearest(asked, k, exclude=asked is None)
        weight = neighbour_weights(self.weights, distances)
        targets = self._y[rows]
        if weight is None:
            return np.asarray(targets.mean(axis=1))
        share = weight if targets.ndim == 2 else weight[:, :, None]
        return np.asarray((targets * share).sum(axis=1) / share.sum(axis=1))


class RadiusNeighborsRegressor(_Averaging, WithinRadius):
    """Predict the mean target of all rows within a radius; NaN, with a warning, where there is none.

    Examples
    --------
    >>> model = RadiusNeighborsRegressor(radius=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.5]])
    array([0.5])
    """

    radius: Radius = parameter(default=1.0, kw_only=False)

    def predict(self, X: Any) -> Floats:
        """Predict the weighted mean of the neighbours' targets.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), or None
            None: the rows of the fit, each without itself.
        """
        asked = self._queries(X)
        starts, rows, distances = self._within(asked, self.radius, exclude=asked is None)
        queries = len(starts) - 1
        weight = neighbour_weights(self.weights, distances, starts)
        owner = np.repeat(np.arange(queries), np.diff(starts))
        total = np.bincount(owner, weights=weight, minlength=queries).astype(float)
        columns = self._y.reshape(len(self._y), -1)[rows].T
        sums = [
            np.bincount(owner, weights=column if weight is None else column * weight, minlength=queries)
            for column in columns
        ]
        lonely = np.diff(starts) == 0
        if lonely.any():
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.",
                UserWarning,
                stacklevel=2,
            )
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.stack(sums, axis=1) / total[:, None]
        means[lonely] = np.nan
        return np.asarray(means if self._y.ndim == 2 else means[:, 0])

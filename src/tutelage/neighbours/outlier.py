"""The local outlier factor: how much thinner the data are around a row than around its neighbours.

    reach_i(x) = max(D(x, x_i), distance of x_i from its own k-th neighbour)
    density(x) = 1 / mean_{i in N_k(x)} reach_i(x)
    LOF(x)     = mean_{i in N_k(x)} density(x_i) / density(x)

About 1 inside a cluster, whatever the cluster's own density; well above 1 outside. Distances alone cannot say that:
a row
as far from a dense cluster as the rows of a thin one are from each other is an outlier of the dense one. Cost: one
search.

>>> LocalOutlierFactor(n_neighbors=2).fit_predict([[-1.1], [0.2], [101.1], [0.3]])
array([ 1,  1, -1,  1])
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from tutelage.neighbours.base import KNearest, Method, only_if
from tutelage.parameters import Count, Interval, fitted, parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.base import Floats

_INSTEAD = {
    "predict": "use fit_predict if you want to predict on training data. Use novelty=True to predict new data.",
    "decision_function": "see negative_outlier_factor_ for the training data. Use novelty=True to score new data.",
    "score_samples": "see negative_outlier_factor_ for the training data. Use novelty=True to score new data.",
}


def _only_for_novelty(method: str) -> Callable[[Method], Method]:
    def check(model: Any) -> bool:
        if not model.novelty:
            raise AttributeError(f"{method} is not available when novelty=False, {_INSTEAD[method]}")
        return True

    return only_if(check)


def _not_for_novelty(model: Any) -> bool:
    if model.novelty:
        raise AttributeError(
            "fit_predict is not available when novelty=True. Use novelty=False if you want to predict on the "
            "training set."
        )
    return True


class LocalOutlierFactor(OutlierMixin, KNearest):  # type: ignore[misc]
    """Tell outliers by the density of the data around them and around their neighbours.

    Examples
    --------
    >>> model = LocalOutlierFactor(n_neighbors=2).fit([[-1.1], [0.2], [101.1], [0.3]])
    >>> model.negative_outlier_factor_.round(2)
    array([ -0.98,  -1.04, -73.37,  -0.98])
    """

    n_neighbors: Annotated[Count, "How many neighbours."] = parameter(default=20, kw_only=False)
    contamination: Annotated[
        float | Literal["auto"],
        Interval(0, 0.5, closed="right"),
        "The share of outliers among the rows of the fit; 'auto': those whose factor is above 1.5.",
    ] = "auto"
    novelty: Annotated[bool, "Whether new rows are to be judged, rather than those of the fit."] = False

    negative_outlier_factor_: Any = fitted("The negative of the factor of each row of the fit.")
    n_neighbors_: int = fitted("The number of neighbours in use: at most the number of the other rows.")
    offset_: float = fitted("Rows whose negative factor is below it are outliers.")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - part of the API
        """Keep the rows and the density around each of them.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; for the metric "precomputed" the distances between them.
        y : ignored
            Present by convention.
        """
        self.check_parameters()
        self._keep(X if self._borrowed(X) else self.validate_rows(X, reset=True))
        n = self.n_samples_fit_
        if self.n_neighbors > n:
            warnings.warn(
                f"n_neighbors ({self.n_neighbors}) is greater than the total number of samples ({n}). n_neighbors "
                "will be "
                "set to (n_samples - 1) for estimation.",
                UserWarning,
                stacklevel=2,
            )
        self.n_neighbors_ = max(1, min(self.n_neighbors, n - 1))
        distances, rows = self.kneighbors(n_neighbors=self.n_neighbors_)
        kind = self._fit_X.dtype if self._fit_X.dtype == np.float32 else np.float64
        self._reach = distances[:, -1].astype(kind)
        self._density = self._densities(distances.astype(kind), rows)
        self.negative_outlier_factor_ = -np.mean(self._density[rows] / self._density[:, None], axis=1)
        self.offset_ = (
            -1.5
            if isinstance(self.contamination, str)
            else float(np.percentile(self.negative_outlier_factor_, 100.0 * self.contamination))
        )
        if np.min(self.negative_outlier_factor_) < -1e7 and not self.novelty:
            warnings.warn(
                "Duplicate values are leading to incorrect results. Increase the number of neighbors for more accurate "
                "results.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _densities(self, distances: Any, rows: Any) -> Any:
        # The least density of rows that are all alike is kept finite.
        return 1.0 / (np.mean(np.maximum(distances, self._reach[rows]), axis=1) + 1e-10)

    @only_if(_not_for_novelty)
    def fit_predict(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002 - part of the API
        """Fit, and say of each row whether it is one of the crowd (1) or an outlier (-1).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : ignored
            Present by convention.
        """
        return self.fit(X)._predict()  # noqa: SLF001 - its own

    def _predict(self, X: Any = None) -> Any:
        if X is None:
            return np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)
        return np.where(self.decision_function(X) < 0, -1, 1)

    @_only_for_novelty("predict")
    def predict(self, X: Any = None) -> Any:
        """Say of new rows whether they are like those of the fit (1) or outliers (-1).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d)
            New rows.
        """
        return self._predict(X)

    @_only_for_novelty("decision_function")
    def decision_function(self, X: Any) -> Floats:
        """Give `score_samples` less `offset_`: negative for outliers.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d)
            New rows.
        """
        return np.asarray(self.score_samples(X) - self.offset_)

    @_only_for_novelty("score_samples")
    def score_samples(self, X: Any) -> Floats:
        """Give the negative of the factor of new rows; none is its own neighbour unless it is in the fit too.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d)
            New rows.
        """
        check_is_fitted(self)
        distances, rows = self.kneighbors(X, n_neighbors=self.n_neighbors_)
        density = self._densities(distances.astype(self._reach.dtype), rows)
        return np.asarray(-np.mean(self._density[rows] / density[:, None], axis=1))

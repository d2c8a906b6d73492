"""Neighbours without targets: searches and the graphs that they make.

>>> NearestNeighbors(n_neighbors=1).fit([[0.0], [1.0], [3.0]]).kneighbors([[0.9]])
(array([[0.1]]), array([[1]]))
"""

from __future__ import annotations

from typing import Any, Self

from tutelage.neighbours.base import KNearest, Neighbours, Radius, WithinRadius


class NearestNeighbors(KNearest, WithinRadius):
    """Search for the k nearest rows, or for all within a radius.

    Examples
    --------
    >>> model = NearestNeighbors(n_neighbors=1).fit([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [1.0, 1.0, 0.5]])
    >>> model.kneighbors([[1.0, 1.0, 1.0]])
    (array([[0.5]]), array([[2]]))
    """

    n_neighbors: Neighbours = 5
    radius: Radius = 1.0

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - part of the API
        """Keep the rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; for the metric "precomputed" the distances between them.
        y : ignored
            Present by convention.
        """
        self.check_parameters()
        self._keep(X if self._borrowed(X) else self.validate_rows(X, reset=True))
        return self


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """Give the k nearest rows of every row as a sparse matrix.

    Parameters
    ----------
    X : array, sparse matrix or fitted `NearestNeighbors`
        The rows.
    n_neighbors : int
        How many neighbours.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether entries are ones or distances.
    metric, p, metric_params, n_jobs : as of `NearestNeighbors`
        How to measure.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour; "auto": in the mode "connectivity".
    """
    if not isinstance(X, KNearest):
        X = NearestNeighbors(
            n_neighbors=n_neighbors, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs
        ).fit(X)
    else:
        _check_same(X, metric=metric, p=p, metric_params=metric_params)
    return X.kneighbors_graph(_asked(X, mode, include_self), n_neighbors, mode)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: str = "connectivity",
    metric: Any = "minkowski",
    p: float = 2,
    metric_params: dict[str, Any] | None = None,
    include_self: bool | str = False,
    n_jobs: int | None = None,
) -> Any:
    """Give all rows within a radius of every row as a sparse matrix.

    Parameters
    ----------
    X : array, sparse matrix or fitted `NearestNeighbors`
        The rows.
    radius : float
        The radius.
    mode : {"connectivity", "distance"}, default="connectivity"
        Whether entries are ones or distances.
    metric, p, metric_params, n_jobs : as of `NearestNeighbors`
        How to measure.
    include_self : bool or "auto", default=False
        Whether a row is its own neighbour; "auto": in the mode "connectivity".
    """
    if not isinstance(X, WithinRadius):
        X = NearestNeighbors(radius=radius, metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs).fit(X)
    else:
        _check_same(X, metric=metric, p=p, metric_params=metric_params)
    return X.radius_neighbors_graph(_asked(X, mode, include_self), radius, mode)


def _asked(model: Any, mode: str, include_self: bool | str) -> Any:
    own = mode == "connectivity" if isinstance(include_self, str) else include_self
    return model._fit_X if own else None  # noqa: SLF001 - of the same chapter


def _check_same(model: Any, **words: Any) -> None:
    for name, value in words.items():
        if getattr(model, name) != value:
            raise ValueError(
                f"Got {value} for {name}, while the estimator has {getattr(model, name)} for the same parameter."
            )

"""What all learners of neighbours share: their parameters, the rows they keep, and the questions one can ask them."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn.neighbors import sort_graph_by_row_values
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_non_negative

from tutelage.base import Accepts, Estimator, is_sparse
from tutelage.neighbours.index import Index
from tutelage.neighbours.metrics import BALLS, BOXES, BRUTE, SPARSE, VALID
from tutelage.neighbours.strings import as_strings
from tutelage.parameters import Arrays, Count, Interval, fitted
from tutelage.parameters.rules import AnyCallable, Has, Options
from tutelage.tables import Vocabulary, as_codes

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix

    # The mark by which other libraries know what can be asked for k neighbours.
    class _KNeighborsMixin: ...
else:
    from sklearn.neighbors._base import KNeighborsMixin as _KNeighborsMixin

Method = TypeVar("Method", bound=Callable[..., Any])


def only_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Hide a method where the check of its model fails, as scikit-learn's ``available_if`` does."""
    return cast("Callable[[Method], Method]", available_if(check))


METRIC = Options(tuple(sorted(BRUTE | BALLS)))
Weighting = Annotated[
    Literal["uniform", "distance"] | Callable[..., Any] | None,
    "What a neighbour's vote weighs: the same, the inverse of its distance, or a function of the distances.",
]
# Beyond so many columns boxes overlap so much that a tree visits most leaves, and brute force is cheaper; sooner so
# where brute force is a float32 product. Measured: docs/notes/neighbours.md.
TREE_COLUMNS = 15
TREE_COLUMNS_EUCLIDEAN = 10


class Neighbourly(Estimator):
    """Base of everything that keeps rows and searches them."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    algorithm: Annotated[
        Literal["auto", "ball_tree", "kd_tree", "brute", "approximate"],
        "How to search; the answers are the same, and 'auto' takes what costs least. 'approximate' may miss neighbours "
        "of those asked by number, and needs the library FAISS.",
    ] = "auto"
    leaf_size: Annotated[Count, "Rows in a leaf of a tree."] = 30
    p: Annotated[float | None, Interval(0, closed="right"), "The exponent of the Minkowski metric."] = 2
    metric: Annotated[
        Any, METRIC, AnyCallable(), Has("pairwise"), "The distance: a name, or a function of two rows."
    ] = "minkowski"
    metric_params: Annotated[dict[str, Any] | None, "What else the metric needs to know: w, V, VI, categorical."] = None
    n_jobs: Annotated[int | None, "Not needed: `tutelage.set_threads` says how many threads there are."] = None

    effective_metric_: Any = fitted("The metric in use: Minkowski's with p = 1, 2 or inf by its own name.")
    effective_metric_params_: dict[str, Any] = fitted("What the metric in use needs to know.")
    n_samples_fit_: int = fitted("The number of rows kept.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.positive_only = tags.input_tags.pairwise
        tags.input_tags.allow_nan = isinstance(self.metric, str) and self.metric in {"nan_euclidean", "gower"}
        return tags

    def _check_arrays(self, *arrays: Any, **options: Any) -> Any:
        if isinstance(self.metric, str) and self.metric == "gower":
            known: Vocabulary | None = None if options.get("reset", True) else getattr(self, "_vocabulary", None)
            rows, learned = as_codes(arrays[0], known)
            self._vocabulary = learned
            return super()._check_arrays(rows, *arrays[1:], **options)
        if not isinstance(self.metric, str) or self.metric != "edit":
            return super()._check_arrays(*arrays, **options)
        strings = as_strings(arrays[0])
        if options.get("reset", True):
            self.n_features_in_ = 1
        if len(arrays) == 1:
            return strings
        y = np.asarray(arrays[1])
        check_consistent_length(strings, y)
        return strings, y

    def _tidy(self, X: Matrix) -> Matrix:
        return X if self._precomputed() else super()._tidy(X)

    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _borrowed(self, X: Any) -> bool:
        """Whether X is itself something fitted, whose rows are to be taken over."""
        return isinstance(X, Neighbourly) or type(X).__name__ in {"KDTree", "BallTree"}

    def _keep(self, X: Any) -> None:
        """Keep rows that were validated, or those of something fitted before."""
        self._check_algorithm()
        self._name_metric()
        if isinstance(X, Neighbourly):
            for name in ("_fit_X", "_index", "_fit_method", "n_samples_fit_", "n_features_in_"):
                setattr(self, name, getattr(X, name))
            return
        if self._borrowed(X):
            X = np.array(X.data)
            self.n_features_in_ = X.shape[1]
        if self._precomputed():
            X = _distances(X)
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"Precomputed matrix must be square. Input is a {X.shape[0]}x{X.shape[1]} matrix.")
        elif is_sparse(X):
            self._check_sparse()
            X = X.tocsr()
        self._fit_X = X
        self.n_samples_fit_ = X.shape[0]
        self._fit_method = self._choose(X)
        self._check_exponent()
        if self._fit_method == "approximate" and self.effective_metric_ not in {"euclidean", "l2"}:
            raise ValueError(
                f"algorithm='approximate' knows the Euclidean metric alone, found the metric {self.metric!r} with "
                f"p={self.p:g}; choose algorithm='auto'."
            )
        self._index = Index(
            X,
            self.effective_metric_,
            self.effective_metric_params_,
            "brute" if is_sparse(X) else self._fit_method,
            self.leaf_size,
        )

    def _check_algorithm(self) -> None:
        if not isinstance(self.metric, str):
            if self.algorithm == "kd_tree" and not hasattr(self.metric, "pairwise"):
                raise ValueError(f"kd_tree does not support callable metric {self.metric!r}; use algorithm='brute'.")
        elif self.algorithm != "auto" and self.metric not in VALID[self.algorithm]:
            raise ValueError(
                f"Metric '{self.metric}' not valid for algorithm={self.algorithm!r}, which cannot bound it; use "
                f"algorithm='auto', or a metric among {sorted(VALID[self.algorithm])}."
            )
        if self.metric_params is not None and "p" in self.metric_params and self.p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ is ignored.",
                SyntaxWarning,
                stacklevel=4,
            )

    def _name_metric(self) -> None:
        params = dict(self.metric_params or {})
        self.effective_metric_ = self.metric
        if isinstance(self.metric, str) and self.metric == "minkowski":
            p, weights = params.pop("p", self.p), params.pop("w", None)
            name = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p) if weights is None else None
            self.effective_metric_ = name or "minkowski"
            if name is None:
                params.update(p=p, w=weights)
        if isinstance(self.metric, str) and self.metric == "gower" and getattr(self, "_vocabulary", None):
            params["categorical"] = sorted({*params.get("categorical", ()), *self._vocabulary})
        self.effective_metric_params_ = params

    def _check_sparse(self) -> None:
        if self.algorithm not in {"auto", "brute"}:
            warnings.warn("cannot use tree with sparse input: using brute force", UserWarning, stacklevel=4)
        metric = self.effective_metric_
        if isinstance(metric, str) and metric not in SPARSE:
            raise ValueError(
                f"Metric '{metric}' not valid for sparse input. Use one of {sorted(SPARSE)}, a function of two sparse "
                "rows, or dense rows."
            )

    def _choose(self, X: Matrix) -> str:
        """The algorithm: as asked, or the cheapest."""
        if is_sparse(X) or X.ndim == 1:  # strings
            return "brute"
        if self.algorithm != "auto":
            return self.algorithm
        metric, params = self.effective_metric_, self.effective_metric_params_
        wanted = getattr(self, "n_neighbors", None)
        by_products = isinstance(metric, str) and metric in {"euclidean", "l2"}
        widest = TREE_COLUMNS_EUCLIDEAN if by_products else TREE_COLUMNS
        if self._precomputed() or X.shape[1] > widest or (wanted is not None and wanted >= X.shape[0] // 2):
            return "brute"
        if not isinstance(metric, str):
            return "ball_tree"
        if metric == "minkowski" and params["p"] < 1:
            return "brute"
        if metric in BOXES and params.get("w") is None:
            return "kd_tree"
        return "ball_tree" if metric in BALLS else "brute"

    def _check_exponent(self) -> None:
        metric, params, method = self.effective_metric_, self.effective_metric_params_, self._fit_method
        if not isinstance(metric, str) or metric != "minkowski":
            return
        if params["p"] < 1:
            if method != "brute":
                raise ValueError(
                    f'algorithm="{method}" does not support 0 < p < 1 for the Minkowski metric. To resolve this '
                    'problem either set p >= 1 or algorithm="brute".'
                )
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing the execution with "
                "`algorithm='brute'`.",
                UserWarning,
                stacklevel=4,
            )
        if method == "kd_tree" and params.get("w") is not None:
            raise ValueError(
                "algorithm='kd_tree' is not valid for metric='minkowski' with a weight parameter 'w': try "
                "algorithm='ball_tree' or algorithm='brute' instead."
            )

    def _queries(self, X: Any) -> Any:
        """Check queries: rows as those of the fit, or distances to them; None stays None."""
        check_is_fitted(self)
        if X is None:
            return None
        if self._precomputed():
            X = _distances(X)
            if not is_sparse(X) and X.shape[1] != self.n_samples_fit_:
                raise ValueError(
                    f"X must hold the distances to the {self.n_samples_fit_} rows of the fit, found {X.shape[1]} "
                    "columns."
                )
            return X
        X = self.validate_rows(X)
        if is_sparse(X):
            if self._fit_method != "brute":
                raise ValueError(
                    f"{self._fit_method} does not work with sparse matrices. Densify the data, or set algorithm='brute'"
                )
            return X.tocsr() if is_sparse(self._fit_X) else X.toarray()
        return sparse.csr_array(X) if is_sparse(self._fit_X) else X

    def _nearest(self, X: Any, k: int, *, exclude: bool = False) -> tuple[Floats, Any]:
        """The k nearest of checked queries (None: of the rows themselves)."""
        graph = self._fit_X if X is None else X
        if self._precomputed() and is_sparse(graph):
            return _first_of_graph(graph, k, exclude=exclude)
        return self._index.nearest(X, k, exclude=exclude)

    def _within(
        self, X: Any, radius: Any, *, exclude: bool = False, by_distance: bool = False
    ) -> tuple[Any, Any, Floats]:
        """All within a radius of checked queries: starts, rows, distances."""
        graph = self._fit_X if X is None else X
        if self._precomputed() and is_sparse(graph):
            return _within_of_graph(graph, float(radius), exclude=exclude)
        radii = np.ascontiguousarray(np.broadcast_to(np.asarray(radius, dtype=np.float64), (graph.shape[0],)))
        return self._index.within(X, radii, exclude=exclude, by_distance=by_distance)


class KNearest(_KNeighborsMixin, Neighbourly):
    """Base of what can be asked for k neighbours."""

    def kneighbors(self, X: Any = None, n_neighbors: Any = None, return_distance: bool = True) -> Any:
        """Find the k nearest rows of each query, nearest first.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), default=None
            The queries; distances to the rows of the fit for the metric "precomputed". None asks for the neighbours of
            the rows of the fit, of which none is its own neighbour.
        n_neighbors : int, default=None
            How many; None: as the parameter says.
        return_distance : bool, default=True
            Whether to give the distances too.

        Returns
        -------
        distances : array of shape (queries, n_neighbors)
            Only if `return_distance` is true.
        rows : array of shape (queries, n_neighbors)
            Row numbers; at equal distance the lower comes first.
        """
        check_is_fitted(self)
        k = self._how_many(n_neighbors)
        asked = self._queries(X)
        own = asked is None
        self._check_enough(k, own, self.n_samples_fit_ if own else asked.shape[0])
        distances, rows = self._nearest(asked, k + own)
        if own:
            # Each row goes; where equal rows have pushed it out of its own list, the first of them.
            others = rows != np.arange(len(rows))[:, None]
            others[others.all(axis=1), 0] = False
            distances, rows = distances[others].reshape(-1, k), rows[others].reshape(-1, k)
        return (distances, rows) if return_distance else rows

    def _how_many(self, n_neighbors: Any) -> int:
        if n_neighbors is None:
            return int(self.n_neighbors)  # type: ignore[attr-defined]
        if not isinstance(n_neighbors, numbers.Integral):
            raise TypeError(f"n_neighbors does not take {type(n_neighbors)} value, enter integer value")
        if n_neighbors <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {n_neighbors}")
        return int(n_neighbors)

    def _check_enough(self, k: int, own: bool, queries: int) -> None:
        if k + own > self.n_samples_fit_:
            raise ValueError(
                f"Expected n_neighbors {'<' if own else '<='} n_samples_fit, but n_neighbors = {k}, n_samples_fit = "
                f"{self.n_samples_fit_}, n_samples = {queries}"
            )

    def kneighbors_graph(self, X: Any = None, n_neighbors: Any = None, mode: str = "connectivity") -> Any:
        """Give the neighbours of queries as a sparse matrix.

        Parameters
        ----------
        X : array, sparse matrix or frame, default=None
            As for `kneighbors`.
        n_neighbors : int, default=None
            How many; None: as the parameter says.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether entries are ones or distances.

        Returns
        -------
        sparse matrix of shape (queries, rows of the fit)
        """
        check_is_fitted(self)
        _check_mode(mode)
        distances, rows = self.kneighbors(X, n_neighbors)
        data = np.ones(rows.size) if mode == "connectivity" else distances.ravel()
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return sparse.csr_matrix((data, rows.ravel(), starts), shape=(len(rows), self.n_samples_fit_))


class WithinRadius(Neighbourly):
    """Base of what can be asked for all neighbours within a radius."""

    def radius_neighbors(
        self, X: Any = None, radius: Any = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """Find all rows within a radius of each query; those at the radius itself belong to them.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), default=None
            As for `kneighbors`.
        radius : float or array of shape (queries,), default=None
            The radius; None: as the parameter says.
        return_distance : bool, default=True
            Whether to give the distances too.
        sort_results : bool, default=False
            Whether to order by distance; otherwise by row number.

        Returns
        -------
        distances : array of arrays
            Only if `return_distance` is true.
        rows : array of arrays
            Row numbers.
        """
        check_is_fitted(self)
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        asked = self._queries(X)
        wanted = self.radius if radius is None else radius  # type: ignore[attr-defined]
        starts, rows, distances = self._within(asked, wanted, exclude=asked is None, by_distance=sort_results)
        rows = _as_lists(rows, starts)
        return (_as_lists(distances, starts), rows) if return_distance else rows

    def radius_neighbors_graph(
        self, X: Any = None, radius: Any = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """Give the neighbours within a radius as a sparse matrix.

        Parameters
        ----------
        X : array, sparse matrix or frame, default=None
            As for `kneighbors`.
        radius : float, default=None
            The radius; None: as the parameter says.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether entries are ones or distances.
        sort_results : bool, default=False
            Whether the entries of a row stand in the order of distance.

        Returns
        -------
        sparse matrix of shape (queries, rows of the fit)
        """
        check_is_fitted(self)
        _check_mode(mode)
        asked = self._queries(X)
        wanted = self.radius if radius is None else radius  # type: ignore[attr-defined]
        starts, rows, distances = self._within(asked, wanted, exclude=asked is None, by_distance=sort_results)
        data = np.ones(len(rows)) if mode == "connectivity" else distances
        return sparse.csr_matrix((data, rows, starts), shape=(len(starts) - 1, self.n_samples_fit_))


def _check_mode(mode: str) -> None:
    if mode not in {"connectivity", "distance"}:
        raise ValueError(f'Unsupported mode, must be one of "connectivity", or "distance" but got "{mode}" instead')


def _as_lists(values: Any, starts: Any) -> Any:
    lists = np.empty(len(starts) - 1, dtype=object)
    lists[:] = np.split(values, starts[1:-1])
    return lists


def _distances(X: Any) -> Any:
    """Check given distances: none negative, and the rows of a sparse graph in the order of distance."""
    if not is_sparse(X):
        X = check_array(X, input_name="X")
        check_non_negative(X, "the precomputed distances X")
        return X
    if X.format not in {"csr", "csc", "coo", "lil"}:
        raise TypeError(f"Sparse matrix in {X.format!r} format is not supported due to its handling of explicit zeros")
    copied = X.format != "csr"
    graph = check_array(X, accept_sparse="csr", input_name="precomputed distance matrix")
    if graph.nnz and graph.data.min() < 0:
        raise ValueError("Negative values in data passed to precomputed distance matrix.")
    return sort_graph_by_row_values(graph, copy=not copied, warn_when_not_sorted=True)


def _first_of_graph(graph: Any, k: int, *, exclude: bool) -> tuple[Floats, Any]:
    """The first k entries of each row of a graph sorted by distance."""
    if exclude:
        graph = _without_diagonal(graph)
    counts = np.diff(graph.indptr)
    if counts.min() < k:
        raise ValueError(
            f"{k} neighbors per samples are required, but some samples have only {counts.min()} neighbors in "
            "precomputed "
            "graph matrix. Decrease number of neighbors used or recompute the graph with more neighbors."
        )
    places = graph.indptr[:-1, None] + np.arange(k)
    return graph.data[places].astype(np.float64), graph.indices[places].astype(np.int64)


def _within_of_graph(graph: Any, radius: float, *, exclude: bool) -> tuple[Any, Any, Floats]:
    if exclude:
        graph = _without_diagonal(graph)
    near = graph.data <= radius
    starts = np.concatenate([[0], np.cumsum(near)])[graph.indptr]
    return starts, graph.indices[near].astype(np.int64), graph.data[near].astype(np.float64)


def _without_diagonal(graph: Any) -> Any:
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    kept = graph.indices != rows
    starts = np.concatenate([[0], np.cumsum(kept)])[graph.indptr]
    return sparse.csr_array((graph.data[kept], graph.indices[kept], starts), shape=graph.shape)


def neighbour_weights(weights: Any, distances: Floats, starts: Any = None) -> Any:
    """Weigh neighbours by their distances: None where all weigh the same.

    A neighbour at distance zero takes the whole vote, together with others there.

    Parameters
    ----------
    weights : {"uniform", "distance"}, callable or None
        The parameter.
    distances : array of shape (queries, k), or flat
        Flat where `starts` says which belong to which query.
    starts : array of shape (queries + 1,), optional
        Bounds of the lists of a flat array.
    """
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return None
    if callable(weights):
        if starts is None:
            return np.asarray(weights(distances), dtype=np.float64)
        answered = weights(_as_lists(distances, starts))
        return np.concatenate([np.asarray(one, dtype=np.float64) for one in answered]) if len(distances) else distances
    zero = distances == 0
    with np.errstate(divide="ignore"):
        inverse = 1.0 / distances
    # A distance so small that its inverse is infinite counts as zero.
    zero |= np.isinf(inverse)
    if starts is None:
        touching = zero.any(axis=1)
        inverse[touching] = zero[touching]
        return inverse
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    touching = np.bincount(owner, weights=zero, minlength=len(starts) - 1) > 0
    return np.where(touching[owner], zero, inverse)


Radius = Annotated[float | None, Interval(0, closed="both"), "How far a neighbour may be."]
Neighbours = Annotated[Count | None, "How many neighbours."]
OutlierLabel = Annotated[int | str | Arrays | None, "The label of a query without neighbours; None: an error."]

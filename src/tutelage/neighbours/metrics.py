"""Distances by name: what a metric needs to know, and how rows are prepared so that few native kernels serve many
names.

Many metrics are another one after a map of the rows:

    seuclidean       Euclidean of x / sqrt(V)
    mahalanobis      Euclidean of L' x, where VI = L L'
    minkowski, w     Minkowski of w^(1/p) x
    cosine           half the squared Euclidean distance of x / |x|: exactly 0 between equal rows, where 1 - cos is not
    correlation      the same of x - mean(x)
    haversine        twice the arc sine of half the chord between points on the unit sphere

A zero vector has no direction; its cosine distance from everything is 1. Two more coordinates say so: a zero row is at
(0, 1, 0), a zero query at (0, 0, 1), so that both are at half the squared distance 1 from every unit vector and from
each other.

>>> import numpy as np
>>> prepared = resolve("cosine", {}, np.array([[3.0, 4.0], [0.0, 0.0]]))
>>> prepared.rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
array([[0.6, 0.8, 0. , 0. ],
       [0. , 0. , 1. , 0. ]])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tutelage.base import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tutelage.base import Floats

Map = Callable[[Any, bool], Any]  # rows, and whether they are queries, to rows

SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "infinity": "chebyshev", "p": "minkowski"}
BOOLEAN = frozenset(
    ["jaccard", "dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule", "matching"]
)
# What each algorithm can search exactly, in scikit-learn's words and ours.
BOXES = frozenset(["chebyshev", "cityblock", "euclidean", "infinity", "l1", "l2", "manhattan", "minkowski", "p"])
BALLS = BOXES | {"braycurtis", "canberra", "dice", "hamming", "haversine", "jaccard", "mahalanobis", "pyfunc"} | {
    "rogerstanimoto", "russellrao", "seuclidean", "sokalmichener", "sokalsneath",
}  # fmt: skip
BRUTE = BALLS | {"correlation", "cosine", "edit", "gower", "nan_euclidean", "precomputed", "sqeuclidean", "yule"}
APPROXIMATE = frozenset(["euclidean", "l2", "minkowski"])
VALID = {"kd_tree": BOXES, "ball_tree": BALLS, "brute": BRUTE, "approximate": APPROXIMATE}
SPARSE = frozenset(["cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "precomputed"])
HOMOGENEOUS = {"euclidean": 1, "sqeuclidean": 2, "manhattan": 1, "chebyshev": 1, "minkowski": 1}


def _same(rows: Any, _: bool) -> Any:
    return rows


@dataclass(frozen=True)
class Prepared:
    """A metric ready for the core.

    Attributes
    ----------
    kernel : str
        The native kernel's name.
    p : float
        The exponent of Minkowski's.
    map : callable
        Maps rows (and queries) to what the kernel compares.
    outward : callable
        Maps the kernel's distances to those of the metric; monotone.
    inward : callable
        Maps a radius to the kernel's.
    """

    kernel: str
    p: float = 2.0
    map: Map = _same
    outward: Callable[[Floats], Floats] = field(default=lambda distances: distances)
    inward: Callable[[Floats], Floats] = field(default=lambda radii: radii)

    def rows(self, X: Any, *, queries: bool = False) -> Any:
        """Give rows as the kernel compares them, in C order, or CSR: float64, but float32 rows that no map changed."""
        mapped = self.map(X, queries)
        if is_sparse(mapped):
            return mapped
        if self.map is _same and not queries and getattr(mapped, "dtype", None) == np.float32:
            return np.ascontiguousarray(mapped)
        return np.ascontiguousarray(mapped, dtype=np.float64)


def resolve(metric: str, params: dict[str, Any], X: Any) -> Prepared:
    """Find the kernel and the map of a metric.

    Parameters
    ----------
    metric : str
        A name of `BRUTE`, not "precomputed", "edit" or "pyfunc".
    params : dict
        p, w, V, VI or, for Gower's, categorical.
    X : array or sparse matrix of shape (n, d)
        The rows of the fit: seuclidean, mahalanobis and Gower's take their scales from them unless they are given.
    """
    name = SYNONYMS.get(metric, metric)
    if name == "minkowski":
        return _minkowski(params)
    if name in {"cosine", "correlation"}:
        centre = name == "correlation"
        return Prepared("half_sqeuclidean", map=lambda rows, queries: directions(rows, queries, centre=centre))
    if name == "seuclidean":
        variance = params.get("V")
        scale = np.sqrt(
            np.var(np.asarray(X, float), axis=0, ddof=1) if variance is None else np.asarray(variance, float)
        )
        return Prepared("euclidean", map=lambda rows, _: rows / scale)
    if name == "mahalanobis":
        factor = _mahalanobis(params, X)
        return Prepared("euclidean", map=lambda rows, _: np.asarray(rows, float) @ factor)
    if name == "haversine":
        return Prepared("euclidean", map=lambda rows, _: on_sphere(rows), outward=_arc, inward=_chord)
    if name == "gower":
        return Prepared("gower", map=_gower(params, X))
    if name in BOOLEAN:
        return Prepared(name, map=lambda rows, _: np.asarray(rows) != 0)
    return Prepared(name)


def _minkowski(params: dict[str, Any]) -> Prepared:
    p, weights = float(params.get("p", 2)), params.get("w")
    kernel = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(p, "minkowski")
    if weights is None:
        return Prepared(kernel, p)
    given = np.asarray(weights, dtype=float)
    if not np.all(given >= 0):
        raise ValueError(f"The weights w of the Minkowski metric must be at least 0, found {given.min()!s}.")
    # The greatest of weighted gaps, where p is infinite: a weight says whether a coordinate counts by itself.
    scale = given if np.isinf(p) else given ** (1 / p)
    return Prepared(kernel, p, map=lambda rows, _: rows * scale)


def directions(rows: Any, queries: bool, *, centre: bool = False) -> Any:
    """Divide rows by their norms, with two more coordinates for those that are zero."""
    if is_sparse(rows):
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=float).ravel())
        scaled = sparse.diags_array(1 / np.where(norms == 0, 1.0, norms)) @ rows.astype(np.float64)
        marks = sparse.csr_array(_marks(norms == 0, queries))
        return sparse.hstack([scaled, marks], format="csr")
    numbers = np.array(rows, dtype=np.float64)
    largest = np.abs(numbers).max(axis=1, initial=0.0)
    numbers /= np.where(largest == 0, 1.0, largest)[:, None]  # so that no square overflows or vanishes
    if centre:
        numbers -= numbers.mean(axis=1, keepdims=True)
    norms = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
    numbers /= np.where(norms == 0, 1.0, norms)[:, None]
    return np.hstack([numbers, _marks(norms == 0, queries)])


def _marks(zero: NDArray[np.bool_], queries: bool) -> Floats:
    marks = np.zeros((len(zero), 2))
    marks[:, 1 if queries else 0] = zero
    return marks


def _mahalanobis(params: dict[str, Any], X: Any) -> Floats:
    inverse = params.get("VI")
    if inverse is None:
        covariance = params.get("V")
        inverse = np.linalg.inv(np.cov(np.asarray(X, float).T) if covariance is None else np.asarray(covariance, float))
    symmetric = np.asarray(inverse, dtype=float)
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    if values[0] < -1e-10 * abs(values[-1]):
        raise ValueError(
            "The matrix VI of the Mahalanobis metric must be positive semi-definite, found the eigenvalue "
            f"{values[0]!s}."
        )
    factor: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return factor


def on_sphere(rows: Any) -> Floats:
    """Map (latitude, longitude) in radians to points of the unit sphere."""
    if rows.shape[1] != 2:
        raise ValueError(
            f"Haversine distance only valid in 2 dimensions, latitude and longitude in radians; X has {rows.shape[1]}."
        )
    latitude, longitude = np.asarray(rows, dtype=float).T
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )


def _arc(chords: Floats) -> Floats:
    arcs: Floats = 2 * np.arcsin(np.clip(chords / 2, 0.0, 1.0))
    return arcs


def _chord(arcs: Floats) -> Floats:
    chords: Floats = 2 * np.sin(np.clip(arcs, 0.0, np.pi) / 2)
    return chords


def _gower(params: dict[str, Any], X: Any) -> Map:
    """Divide the columns of numbers by their range over X; columns of categories stay the codes that they are."""
    numbers = np.asarray(X, dtype=float)
    categorical = np.zeros(numbers.shape[1], dtype=bool)
    categorical[np.asarray(params.get("categorical", ()), dtype=int)] = True
    seen = ~np.isnan(numbers).all(axis=0)
    extent = np.ones(numbers.shape[1])
    extent[seen] = np.nanmax(numbers[:, seen], axis=0) - np.nanmin(numbers[:, seen], axis=0)
    scale = np.where(categorical | (extent == 0), 1.0, extent)
    return lambda rows, _: np.asarray(rows, dtype=float) / scale

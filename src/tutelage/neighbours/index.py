"""Rows that can be asked for their neighbours: one door to every kind of search.

An `Index` is made from the rows of a fit and answers two questions: the k nearest, and all within a radius. Which
search runs is a matter of cost alone, since all of them give the same rows and, to the last bit, the same distances:

- brute force over panels of eight rows: any metric, n d operations a query;
- float32 products with exact measuring afterwards: Euclidean metrics, where there are enough queries to pay for the
  images of the rows (`images`);
- a KD tree or a ball tree, where the metric allows bounds;
- sparse rows, strings and given distances by brute force.

The exception is "approximate", which only who asks for it gets (`approximate`).

>>> import numpy as np
>>> index = Index(np.array([[0.0], [1.0], [3.0]]), "euclidean", {}, "brute")
>>> index.nearest(np.array([[0.9]]), 2)
(array([[0.1, 0.9]]), array([[1, 0]]))
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import _core
from tutelage.base import is_sparse
from tutelage.neighbours.metrics import HOMOGENEOUS, SYNONYMS, resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tutelage.base import Floats, Matrix

    Rows = NDArray[np.intp]
    Nearest = tuple[Floats, Rows]
    Within = tuple[Rows, Rows, Floats]

# Multiplications of a product search for one operation of brute force over panels, measured: products pay for their
# images from some 10^8 coordinate pairs on.
_WORTH_IMAGES = 100_000_000
_SAFE = 1e140  # squares of numbers beyond it, or below its inverse, leave the range of a double
_BLOCK = 4_000_000  # numbers in a block of distances that Python computes


class Index:
    """Rows, a metric and an algorithm.

    Parameters
    ----------
    X : array, sparse matrix, or sequence of strings
        The rows, checked before; for "precomputed" the distances between them.
    metric : str or callable
        A name of `tutelage.neighbours.metrics.BRUTE`, or a function of two rows, or scikit-learn's DistanceMetric.
    params : dict
        What the metric needs to know; words for a callable.
    algorithm : {"brute", "kd_tree", "ball_tree", "approximate"}
        The answers do not depend on it, but for the last, whose k nearest are probably the nearest.
    leaf_size : int, default=30
        Rows in a leaf of a tree.
    """

    def __init__(
        self,
        X: Matrix,
        metric: Any,
        params: dict[str, Any],
        algorithm: str,
        leaf_size: int = 30,
        *,
        factor: float = 0.0,
    ) -> None:
        self.X = X
        self.metric = SYNONYMS.get(metric, metric) if isinstance(metric, str) else metric
        self.params = params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self._searches: dict[str, Any] = {}
        self._given = self.metric == "precomputed" if isinstance(self.metric, str) else False
        self._called = self._pairwise()
        self._strings = isinstance(self.metric, str) and self.metric == "edit"
        if self._given or self._called is not None or self._strings:
            return
        self._factor = factor
        if algorithm == "approximate":
            self._cells()
        elif algorithm != "brute":
            self._prepare()
            self._panels()

    def __getstate__(self) -> dict[str, Any]:
        # Searches are made again where the model is unpacked.
        kept = {"_searches", "_called", "_prepared", "_rows", "_power"}
        return {name: value for name, value in vars(self).items() if name not in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _searches={}, _called=None)
        self._called = self._pairwise()

    def _prepare(self) -> None:
        """Map the rows, once, when they are first needed."""
        if hasattr(self, "_rows"):
            return
        self._prepared = resolve(self.metric, self.params, self.X)
        rows = self._prepared.rows(self.X)
        self._power = HOMOGENEOUS.get(self._prepared.kernel, 0)
        self._factor = self._factor or (_factor(_largest(rows)) if self._power else 1.0)
        self._rows = rows if self._factor == 1.0 else rows.astype(np.float64) * self._factor

    def __len__(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    def nearest(self, queries: Any, k: int, *, exclude: bool = False) -> Nearest:
        """Find the k nearest rows of each query, nearest first, lower row numbers first at equal distance.

        Parameters
        ----------
        queries : as X, or None for the rows themselves
            For "precomputed", distances to every row.
        k : int
            At most the number of rows (less one, where each is excluded from its own neighbours).
        exclude : bool, default=False
            Whether query i is row i and not its own neighbour.

        Returns
        -------
        distances, rows : arrays of shape (queries, k)
        """
        if self.algorithm == "approximate":
            probably: Nearest = self._cells().nearest(queries, k, exclude=exclude)
            return probably
        distances, rows = self._ask(queries, "nearest", exclude, k)
        return distances, rows.view(np.intp)  # not the type of another name that NumPy takes the core's for

    def within(self, queries: Any, radii: Floats, *, exclude: bool = False, by_distance: bool = False) -> Within:
        """Find all rows within a radius of each query.

        Returns
        -------
        starts, rows, distances : arrays
            Those of query i stand at ``starts[i] : starts[i + 1]``, by row number or by distance.
        """
        starts, rows, distances = self._ask(queries, "within", exclude, radii, by_distance)
        return starts.view(np.intp), rows.view(np.intp), distances

    def _ask(self, queries: Any, question: str, exclude: bool, *words: Any) -> Any:
        if self._given:
            block = np.ascontiguousarray(self.X if queries is None else queries, dtype=np.float64)
            return getattr(_core, f"{question}_of_distances")(block, exclude, *words)
        if self._called is not None:
            return self._ask_called(queries, question, exclude, *words)
        if self._strings:
            rows = self._search("strings", lambda: letters(self.X))
            return getattr(_core, f"{question}_strings")(
                *rows, *(rows if queries is None else letters(queries)), exclude, *words
            )
        return self._ask_kernel(queries, question, exclude, *words)

    def _ask_kernel(self, queries: Any, question: str, exclude: bool, *words: Any) -> Any:
        self._prepare()
        asked = self._rows if queries is None else self._prepared.rows(queries, queries=True)
        if not is_sparse(asked):
            asked = np.asarray(asked, dtype=np.float64)
        if queries is not None and self._power:
            if self._factor != 1.0:
                asked = asked * self._factor
            elif (found := _factor(_largest(asked))) < 1.0:
                smaller = Index(self.X, self.metric, self.params, self.algorithm, self.leaf_size, factor=found)
                return smaller._ask(queries, question, exclude, *words)
        if question == "within":
            radii, by_distance = words
            words = (np.ascontiguousarray(self._prepared.inward(radii) * self._factor**self._power), by_distance)
        if is_sparse(self._rows):
            answer = getattr(_core, f"{question}_sparse")(
                *_csr(self._rows), *_csr(asked), self._prepared.kernel, exclude, *words
            )
        else:
            search = self._products() if self._worth_images(len(asked)) else self._panels()
            answer = getattr(search, question)(asked, exclude, *words)
        return self._outward(answer, 0 if question == "nearest" else 2)

    def _outward(self, answer: tuple[Any, ...], place: int) -> tuple[Any, ...]:
        distances = self._prepared.outward(answer[place])
        if self._factor != 1.0:
            distances = distances / self._factor**self._power
        return (*answer[:place], distances, *answer[place + 1 :])

    def _search(self, kind: str, make: Callable[[], Any]) -> Any:
        if kind not in self._searches:
            self._searches[kind] = make()
        return self._searches[kind]

    def _cells(self) -> Any:
        from tutelage.neighbours.approximate import InvertedFile

        return self._search("cells", lambda: InvertedFile(self.X))

    def _panels(self) -> Any:
        kernel, p = self._prepared.kernel, self._prepared.p
        tree = "brute" if self.algorithm == "approximate" else self.algorithm
        return self._search(
            "panels",
            lambda: _core.panel_search(
                np.asarray(self._rows, dtype=np.float64), kernel, p, tree, max(1, self.leaf_size)
            ),
        )

    def _worth_images(self, queries: int) -> bool:
        if self.algorithm != "brute" or not self._prepared.kernel.endswith("euclidean"):
            return False
        if self._prepared.kernel == "nan_euclidean":
            return False
        return "products" in self._searches or queries * self._rows.size >= _WORTH_IMAGES

    def _products(self) -> Any:
        return self._search(
            "products", lambda: _core.product_search(self._rows, self._prepared.kernel, *images(self._rows))
        )

    def _pairwise(self) -> Callable[[Any, Any], Floats] | None:
        """How Python computes the distances of some queries to all rows, where it must."""
        metric: Any = self.metric
        if isinstance(metric, str):
            if metric != "pyfunc":
                return None
            metric = self.params["func"]
        elif hasattr(metric, "pairwise"):
            return lambda queries, rows: np.asarray(metric.pairwise(queries, rows), dtype=np.float64)
        words = {name: value for name, value in self.params.items() if self.metric != "pyfunc" or name != "func"}

        def distances(queries: Any, rows: Any) -> Floats:
            pairs = ((queries[[i]], rows[[j]]) for i in range(queries.shape[0]) for j in range(rows.shape[0]))
            if not is_sparse(rows):
                pairs = ((query, row) for query in queries for row in rows)
            found = np.fromiter((metric(a, b, **words) for a, b in pairs), dtype=np.float64)
            return found.reshape(queries.shape[0], -1)

        return distances

    def _ask_called(self, queries: Any, question: str, exclude: bool, *words: Any) -> Any:
        asked = self.X if queries is None else queries
        step = max(1, _BLOCK // max(1, len(self)))
        answers = []
        for first in range(0, asked.shape[0], step):
            block = self._called(asked[first : first + step], self.X)  # type: ignore[misc]
            if exclude:  # the block's own rows stand at `first`; a row that counts as infinitely far is taken out below
                here = np.arange(len(block))
                block = np.delete(block.ravel(), here * block.shape[1] + first + here).reshape(len(block), -1)
            part = (words[0][first : first + step], *words[1:]) if question == "within" else words
            answer = getattr(_core, f"{question}_of_distances")(np.ascontiguousarray(block), False, *part)
            place = 1
            if exclude:
                own = np.arange(first, first + len(block))
                own = own[:, None] if question == "nearest" else np.repeat(own, np.diff(answer[0]))
                answer = (*answer[:place], answer[place] + (answer[place] >= own), *answer[place + 1 :])
            answers.append(answer)
        if question == "nearest":
            return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))
        counts = np.concatenate([np.diff(starts) for starts, _, _ in answers])
        return (
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([rows for _, rows, _ in answers]),
            np.concatenate([distances for _, _, distances in answers]),
        )


def images(X: Floats) -> tuple[Floats, Floats, float]:
    """Choose how float32 products look at rows: what to subtract, the directions to keep, and the scale.

    The directions are the leading principal ones of a sample, as many as make the whole search cheapest: the product
    costs one multiplication a direction, a row that passes costs some fifteen a coordinate, and how many pass is
    counted on the sample. No directions at all means every coordinate as it is.

    Returns
    -------
    mean : array of shape (d,)
    basis : array of shape (m, d)
        Orthonormal rows; none where the data spread alike in all directions or are few.
    scale : float
        A power of two, so that scaling is exact.
    """
    n, d = X.shape
    low, high = X.min(axis=0), X.max(axis=0)
    sample = np.asarray(X[:: max(1, n // 2000)], dtype=np.float64)
    mean = sample.mean(axis=0)
    extent = float(np.linalg.norm(np.maximum(high - mean, mean - low)))
    scale = 2.0 ** -math.ceil(math.log2(extent)) if extent > 0 else 1.0
    none = np.zeros((0, d))
    if d < 48 or n < 4000:
        return mean, none, scale
    centred = sample - mean
    most = min(160, d // 2)
    vectors = _orthonormal(centred[:most].T)
    for _ in range(3):
        vectors = _orthonormal(centred.T @ (centred @ vectors))
    values, turn = np.linalg.eigh((centred @ vectors).T @ (centred @ vectors))
    vectors = vectors @ turn[:, np.argsort(values)[::-1]]  # still orthonormal: `turn` is
    return mean, np.ascontiguousarray(vectors[:, : _directions(centred, vectors, n)].T), scale


def _orthonormal(columns: Floats) -> Floats:
    """An orthonormal basis of the columns: by two Cholesky factors, a few products, where that is accurate."""
    basis = columns
    try:
        for _ in range(2):
            lower = np.linalg.cholesky(basis.T @ basis)
            basis = np.linalg.solve(lower, basis.T).T
        if np.abs(basis.T @ basis - np.eye(basis.shape[1])).max() < 1e-12:
            return basis
    except np.linalg.LinAlgError:
        pass
    return np.linalg.qr(columns)[0]


def _directions(centred: Floats, vectors: Floats, n: int) -> int:
    """The number of directions for which a search of n rows costs least, or none."""
    d = centred.shape[1]
    probes = centred[:: max(1, len(centred) // 64)]
    squares = (centred**2).sum(axis=1)
    true = (probes**2).sum(axis=1)[:, None] + squares - 2 * probes @ centred.T
    true[true <= 1e-9 * squares.max()] = np.inf  # a probe is not its own neighbour
    rank = min(max(0, round(5 * len(centred) / n)), len(centred) - 1)
    reach = np.partition(true, rank, axis=1)[:, rank]
    along, of_probes = centred @ vectors, probes @ vectors
    choices = {0: float(d)}
    for m in (8, 16, 32, 48, 64, 96, 128, 160):
        if m > vectors.shape[1]:
            break
        a, b = of_probes[:, :m], along[:, :m]
        left_a = np.sqrt(np.maximum(0, (probes**2).sum(axis=1) - (a**2).sum(axis=1)))
        left_b = np.sqrt(np.maximum(0, squares - (b**2).sum(axis=1)))
        bound = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T + (left_a[:, None] - left_b) ** 2
        choices[m] = m + 8 + float(np.mean(bound <= reach[:, None])) * (15 * d + 500)
    return min(choices, key=choices.__getitem__)


def letters(strings: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Give strings as one run of code points and where each begins."""
    words = [str(one) for one in np.asarray(strings, dtype=object).ravel().tolist()]
    starts = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
    return np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.int32), starts


def _csr(X: Any) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows.data.astype(np.float64), rows.indices.astype(np.int64), rows.indptr.astype(np.int64)


def _largest(X: Any) -> float:
    numbers = X.data if is_sparse(X) else X
    return float(max(numbers.max(), -numbers.min())) if numbers.size else 0.0


def _factor(largest: float) -> float:
    """A power of two that brings numbers whose squares no double can hold back to the size of one; mostly 1."""
    if largest == 0 or 1 / _SAFE < largest < _SAFE:
        return 1.0
    return 2.0 ** -max(-1000, min(1000, math.frexp(largest)[1]))

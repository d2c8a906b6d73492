"""Buckets: a number becomes the interval it lies in."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from tutelage.base import Accepts, Matrix
from tutelage.features.indicators import indicate
from tutelage.features.maps import FeatureMap, Names, as_names
from tutelage.parameters import Arrays, Interval, Range, fitted, invalid, parameter


class Buckets(FeatureMap):
    """Cut the range of each feature into intervals, and say in which one a value lies.

    A linear model of buckets is a step function of each feature: it needs no scale, no shape and fears no outlier.
    Edges are quantiles of the training rows (equally many rows in each bucket), equidistant, or given. Equal
    quantiles are merged, so a feature with few distinct values has fewer buckets. The first and the last bucket are
    open: values beyond the training rows fall into them. A bucket contains its lower edge and not its upper.

    scikit-learn's KBinsDiscretizer does the same with equal widths and k-means, without given edges, missing values or
    names that say the interval; this class exists for those three.

    Examples
    --------
    >>> import numpy as np
    >>> ages = np.array([[1.0], [20.0], [30.0], [70.0]])
    >>> buckets = Buckets(edges=[18, 65]).fit(ages)
    >>> buckets.transform(ages).toarray()
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> buckets.get_feature_names_out(["age"]).tolist()
    ['age < 18', '18 <= age < 65', 'age >= 65']
    """

    count: Annotated[
        Annotated[int, Interval(2)],
        "The number of buckets of each feature.",
        Range(3, 30, logarithmic=True, integer=True),
    ] = parameter(default=5, kw_only=False)
    strategy: Annotated[
        Literal["quantile", "uniform"], "Whether buckets hold equally many rows or are equally wide."
    ] = "quantile"
    edges: Annotated[
        Arrays | None,
        "The inner edges, instead of learning them: increasing numbers for all features, or a list of such lists, "
        "one for "
        "each feature.",
    ] = None
    missing: Annotated[
        Literal["error", "bucket"], "Whether NaN is an error or has a bucket of its own in every feature."
    ] = "error"
    encode: Annotated[
        Literal["onehot", "ordinal"], "Whether the result is a column for each bucket, or the number of the bucket."
    ] = "onehot"
    sparse_output: Annotated[bool, "Whether one-hot columns are a CSR matrix."] = True

    accepts: ClassVar[Accepts] = Accepts()

    edges_: list[npt.NDArray[np.float64]] = fitted("The inner edges of each feature, increasing.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "bucket"
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the edges.

        Parameters
        ----------
        X : array of shape (n, d)
            The training rows.
        y : object
            Not used.
        """
        X = self.validate(X)
        if self.edges is not None:
            self.edges_ = self._read_edges(X.shape[1])
            return self
        shares = np.linspace(0, 1, self.count + 1)[1:-1]
        if self.strategy == "quantile":
            # Edges that are values of the data leave no bucket empty.
            quantile = np.nanquantile if np.isnan(X).any() else np.quantile
            inner = quantile(X.astype(np.float64, copy=False), shares, axis=0, method="higher")
        else:
            low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
            inner = low + shares[:, None] * (high - low)
        lowest = np.fmin.reduce(X, axis=0)
        # An edge at the least value would leave the first bucket empty.
        self.edges_ = [np.unique(column[column > low]) for column, low in zip(inner.T, lowest, strict=True)]
        return self

    def _read_edges(self, features: int) -> list[npt.NDArray[np.float64]]:
        given: Any = self.edges
        try:
            one_for_all = np.ndim(given[0]) == 0
            lists = [np.asarray(one, dtype=float) for one in ([given] * features if one_for_all else given)]
        except (TypeError, ValueError, IndexError):
            lists = []
        good = [one.ndim == 1 and np.isfinite(one).all() and bool((np.diff(one) > 0).all()) for one in lists]
        if len(lists) != features or not all(good):
            raise invalid(
                self, "edges", f"a list of increasing numbers, or {features} such lists, one for each feature"
            )
        return lists

    def _codes(self, X: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        codes = np.empty(X.shape, dtype=np.int64, order="F")
        for feature, edges in enumerate(self.edges_):
            codes[:, feature] = np.searchsorted(edges, X[:, feature], side="right")
        return codes

    def _widths(self) -> npt.NDArray[np.int64]:
        own = self.missing == "bucket"
        return np.array([len(edges) + 1 + own for edges in self.edges_], dtype=np.int64)

    def transform(self, X: Any) -> Matrix:
        """Replace each value by its bucket."""
        X = self.validate_rows(X)
        codes = self._codes(X)
        widths = self._widths()
        if self.missing == "bucket":
            codes = np.where(np.isnan(X), widths - 1, codes)
        if self.encode == "ordinal":
            return codes.astype(X.dtype)
        return indicate(codes, widths, X.dtype, self.sparse_output)

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the columns by their intervals: ``18 <= age < 65``."""
        names = self.input_names(input_features)
        if self.encode == "ordinal":
            return names
        result = []
        for name, edges in zip(names, self.edges_, strict=True):
            words = [f"{edge:.6g}" for edge in edges]
            if not words:
                result.append(f"any {name}")
            else:
                result.append(f"{name} < {words[0]}")
                result += [f"{low} <= {name} < {high}" for low, high in pairwise(words)]
                result.append(f"{name} >= {words[-1]}")
            if self.missing == "bucket":
                result.append(f"{name} missing")
        return as_names(result)

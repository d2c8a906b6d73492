"""Standardising: every feature gets mean zero and standard deviation one.

    z_j = (x_j - mean_j) / scale_j,     mean_j = sum_i s_i x_ij / sum s,     scale_j^2 = sum_i s_i (x_ij - mean_j)^2 /
    sum s

Penalties, step sizes, distances and kernels treat all features alike, so the features' units should be comparable.

Algorithm: one reading of the rows. Each block of rows, while it is in the cache, gives its weight, mean and sum of
squared deviations; two such triples merge exactly (Chan, Golub and LeVeque 1983):

    mean = mean_a + (mean_b - mean_a) s_b / (s_a + s_b),    squares = squares_a + squares_b + (mean_b - mean_a)^2 s_a
    s_b / (s_a + s_b)

The naive sum of x^2 - mean^2 would lose all digits where the mean is large. Sums are float64 for float32 rows too.
Columns whose squares overflow or underflow (1e300, 1e-300) are measured again in units of their largest value. A
column that is constant up to rounding gets scale 1, so it becomes zero.

>>> import numpy as np
>>> Standardise().fit_transform(np.array([[1.0, 5.0], [3.0, 5.0]]))
array([[-1.,  0.],
       [ 1.,  0.]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.features.maps import FeatureMap, Names
from tutelage.parameters import fitted

if TYPE_CHECKING:
    from tutelage.labels import Weights

# Rows measured at a time: few enough to stay in the cache, many enough to forget the cost of a call.
BLOCK = 1024
_ROUNDING = 64 * np.finfo(float).eps
_SMALLEST_VARIANCE = 1e-280


class Standardise(FeatureMap):
    """Move every feature to mean zero and scale it to standard deviation one.

    It does what scikit-learn's StandardScaler does, in one reading of the rows instead of several, right for values
    near the ends of the floating-point range, and with weights that count as repetitions. NaN is ignored in the
    moments and stays NaN.

    Examples
    --------
    >>> from scipy import sparse
    >>> Standardise(centre=False).fit_transform(sparse.csr_array([[0.0, 3.0], [4.0, 9.0]])).toarray()
    array([[0., 1.],
           [2., 3.]])
    """

    centre: Annotated[
        bool, "Whether to subtract the mean; must be False for sparse rows, which would become dense."
    ] = True
    scale: Annotated[bool, "Whether to divide by the standard deviation."] = True

    accepts: ClassVar[Accepts] = Accepts(missing=True)

    mean_: Floats = fitted("The mean of each feature.")
    scale_: Floats = fitted("The standard deviation of each feature; 1 where the feature is constant.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.centre
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Measure mean and standard deviation.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The training rows.
        y : object
            Not used.
        sample_weight : array of shape (n,), optional
            How much each row counts.
        """
        X = self._validate_sparse(X, reset=True)
        weight = self._validate_weight(sample_weight, X)
        mean, deviation = _sparse_moments(X, weight) if is_sparse(X) else dense_moments(X, weight)
        constant = ~(deviation > _ROUNDING * np.abs(mean))
        self.mean_, self.scale_ = mean, np.where(constant, 1.0, deviation)
        return self

    def _validate_sparse(self, X: Any, reset: bool) -> Matrix:
        if is_sparse(X) and self.centre is True:
            raise TypeError(
                "Sparse data was passed for X, but dense data is required: the 'centre' parameter of Standardise is "
                "True. Set "
                "centre=False to keep zeros zero, or make X dense by X.toarray()."
            )
        return self.validate(X) if reset else self.validate_rows(X)

    def transform(self, X: Any) -> Matrix:
        """Standardise rows."""
        X = self._validate_sparse(X, reset=False)
        if is_sparse(X):
            return _scale_columns(X, 1 / self.scale_) if self.scale else X.copy()
        result = np.empty_like(X)
        with np.errstate(over="ignore"):
            np.subtract(X, self.mean_ if self.centre else 0.0, out=result, casting="same_kind")
            if self.scale:
                np.divide(result, self.scale_, out=result, casting="same_kind")
        return result

    def inverse_transform(self, X: Any) -> Matrix:
        """Undo `transform`."""
        X = self.validate_rows(X)
        if is_sparse(X):
            return _scale_columns(X, self.scale_) if self.scale else X.copy()
        result = np.empty_like(X)
        np.multiply(X, self.scale_ if self.scale else 1.0, out=result, casting="same_kind")
        if self.centre:
            np.add(result, self.mean_, out=result, casting="same_kind")
        return result

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the columns as before."""
        return self.input_names(input_features)


def _scale_columns(X: Any, factors: Floats) -> Any:
    result = X.copy()
    if X.format == "csr":
        result.data *= factors.astype(X.dtype)[X.indices]
    else:
        result.data *= np.repeat(factors.astype(X.dtype), np.diff(X.indptr))
    return result


def dense_moments(X: npt.NDArray[Any], weight: Weights | None = None) -> tuple[Floats, Floats]:
    """Compute weighted means and standard deviations of columns, NaN left out, in one reading.

    Examples
    --------
    >>> dense_moments(np.array([[1e9], [1e9 + 2]]))
    (array([1.e+09]), array([1.]))
    """
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        mean, variance = _merge_blocks(X, weight)
        # Out of range: measured again in units of the largest value of the column.
        odd = ~np.isfinite(variance) | (variance < _SMALLEST_VARIANCE)
        if odd.any():
            largest = np.fmax.reduce(np.abs(X[:, odd]), axis=0).astype(np.float64)
            unit = np.where((largest > 0) & np.isfinite(largest), largest, 1.0)
            unit_mean, unit_variance = _merge_blocks(X[:, odd] / unit, weight)
            mean[odd] = unit_mean * unit
            deviation = np.sqrt(variance)
            deviation[odd] = np.sqrt(unit_variance) * unit
            return mean, deviation
    return mean, np.sqrt(variance)


def _merge_blocks(X: npt.NDArray[Any], weight: Weights | None) -> tuple[Floats, Floats]:
    total, mean, squares = (np.zeros(X.shape[1]) for _ in range(3))
    for start in range(0, X.shape[0], BLOCK):
        block = X[start : start + BLOCK].astype(np.float64, copy=False)
        weights = None if weight is None else weight[start : start + BLOCK]
        own_total, own_mean, own_squares = _measure_block(block, weights)
        together = total + own_total
        share = own_total / np.where(together > 0, together, 1.0)
        difference = own_mean - mean
        mean += difference * share
        squares += own_squares + difference**2 * total * share
        total = together
    return mean, squares / np.where(total > 0, total, 1.0)


def _measure_block(block: Floats, weight: Weights | None) -> tuple[Any, Floats, Floats]:
    """Give the weight, mean and sum of squared deviations of each column of a block."""
    if weight is None:
        total: Any = float(len(block))
        mean = block.sum(axis=0) / total
        if not np.isnan(mean).any():
            deviations = block - mean
            return total, mean, np.einsum("ij,ij->j", deviations, deviations)
        weight = np.ones(len(block))
    known = ~np.isnan(block)
    weights = weight[:, None] * known
    total = weights.sum(axis=0)
    safe = np.where(total > 0, total, 1.0)
    filled = np.where(known, block, 0.0)
    mean = (weights * filled).sum(axis=0) / safe
    deviations = filled - mean
    return total, mean, (weights * deviations**2).sum(axis=0)


def _sparse_moments(X: Any, weight: Weights | None) -> tuple[Floats, Floats]:
    """Compute means and standard deviations of the columns of a sparse matrix, zeros included, NaN left out."""
    rows, columns = X.shape
    values = X.data.astype(np.float64)
    is_csr = X.format == "csr"
    column = X.indices if is_csr else np.repeat(np.arange(columns), np.diff(X.indptr))

    def sums(entries: Floats | None) -> Floats:
        return np.bincount(column, weights=entries, minlength=columns).astype(np.float64)

    known = ~np.isnan(values)
    total: Any
    if weight is None and known.all():
        total, entry_weights = float(rows), None
    else:
        row = np.repeat(np.arange(rows), np.diff(X.indptr)) if is_csr else X.indices
        weights = np.ones(rows) if weight is None else weight
        entry_weights = weights[row] * known
        values[~known] = 0.0
        total = weights.sum() - sums(weights[row] * ~known)
        total = np.where(total > 0, total, 1.0)
    mean = sums(values if entry_weights is None else entry_weights * values) / total
    deviations = values - mean[column]
    deviations *= deviations
    squares = sums(deviations if entry_weights is None else entry_weights * deviations)
    zero_weight = np.maximum(total - sums(entry_weights), 0.0)  # of the entries that are not stored
    return mean, np.sqrt((squares + zero_weight * mean**2) / total)

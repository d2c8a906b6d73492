"""Handles on the memory of X, so that the native core reads it where it lies.

A learner's products with X (scores, gradients, weighted Gram matrices) need it row by row or column by column. Dense
arrays of float32 or float64 in C or Fortran order, and CSR or CSC matrices with 32- or 64-bit indices, are read without
a copy in the order that their solver likes; CSR becomes CSC (or the reverse), and repeated entries are added up, in one
parallel pass, in a copy. X itself is never changed.

>>> import numpy as np
>>> X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
>>> handle = rows(X)
>>> handle.times(np.array([[1.0, -1.0]])).ravel()
array([-1., -1., -1.])
>>> np.tril(X.T @ X) == handle.sandwich(np.ones(3))
array([[ True,  True],
       [ True,  True]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["columns", "rows"]


def rows(X: Any) -> _core.Rows:
    """Give the core X to read by rows.

    Parameters
    ----------
    X : array or SciPy sparse matrix of shape (n, d)
        Checked before. float32 and float64 are read as they are, other types as float64.

    Returns
    -------
    Rows
        It keeps the memory of X alive.
    """
    from scipy import sparse

    if not sparse.issparse(X):
        return _core.rows(_readable(X))
    lines = _compressed(X)
    if lines.format == "csr":
        return _core.rows(lines.data, lines.indices, lines.indptr, lines.shape)
    data, indices, indptr = _core.other_compression(lines.data, lines.indices, lines.indptr, lines.shape[0])
    return _core.rows(data, indices, indptr, lines.shape)


def columns(X: Any, *, copy: bool = True) -> _core.Columns:
    """Give the core X to read by columns.

    Parameters
    ----------
    X : array or SciPy sparse matrix of shape (n, d)
        Checked before. float32 and float64 are read as they are, other types as float64.
    copy : bool, default=True
        Whether a C-ordered array is copied into Fortran order. Column by column, the array itself is read several times
        slower: every number brings its neighbours of the same row along.

    Returns
    -------
    Columns
        It keeps the memory of X, or of its copy, alive.
    """
    from scipy import sparse

    if not sparse.issparse(X):
        array = _readable(X)
        if copy and array.strides[0] != array.itemsize and min(array.shape) > 1:
            array = np.asarray(_core.fortran_copy(array))
        return _core.columns(array)
    lines = _compressed(X)
    if lines.format == "csc":
        return _core.columns(lines.data, lines.indices, lines.indptr, lines.shape)
    data, indices, indptr = _core.other_compression(lines.data, lines.indices, lines.indptr, lines.shape[1])
    return _core.columns(data, indices, indptr, lines.shape)


def _readable(X: Any) -> NDArray[Any]:
    """X as an array of native float32 or float64 whose rows or columns lie in one piece; a copy only if it must be."""
    array = np.asarray(X)
    if array.dtype not in (np.float32, np.float64) or not array.dtype.isnative:
        array = array.astype(np.float32 if array.dtype == np.float32 else np.float64)
    in_one_piece = array.itemsize in array.strides or array.size <= 1
    if not in_one_piece or not array.flags.aligned or any(stride % array.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)
    return array


def _compressed(X: Any) -> Any:
    """X as CSR or CSC with float data, indices of one type and no repeated entry; a copy only if it must be."""
    if X.format not in {"csr", "csc"}:
        X = X.tocsr()
    if X.data.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != X.indptr.dtype or X.indices.dtype not in (np.int32, np.int64):
        X = type(X)((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    return X

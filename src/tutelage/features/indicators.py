"""Indicators: one column for each bucket of a number (`Buckets`) or each value of a category (`OneHot`).

Both turn every feature into a code, the number of its bucket or category, and then all codes at once into columns of
zeros and ones. In a sparse result the codes are the column indices, so that nothing else has to be computed.

A code of -1 means no column: all zeros.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    import numpy.typing as npt

    from tutelage.base import Matrix


def indicate(codes: npt.NDArray[Any], widths: npt.NDArray[Any], dtype: Any, sparse_output: bool) -> Matrix:
    """Turn codes into columns of zeros and ones.

    Parameters
    ----------
    codes : array of integers, shape (n, d)
        For each row and feature the column within the feature's columns; -1 for none.
    widths : array of integers, shape (d,)
        The number of columns of each feature.
    dtype : NumPy type
        The type of the result.
    sparse_output : bool
        Whether the result is a CSR matrix.
    """
    rows, features = codes.shape
    columns = int(widths.sum())
    absolute = codes + (np.cumsum(widths) - widths)
    absent = codes < 0
    if not sparse_output:
        result = np.zeros((rows, columns), dtype=dtype)
        row_of = np.broadcast_to(np.arange(rows)[:, None], codes.shape)
        if absent.any():
            result[row_of[~absent], absolute[~absent]] = 1
        else:
            result[row_of, absolute] = 1
        return result
    present = ~absent
    index = np.int64 if max(columns, rows * features) > np.iinfo(np.int32).max else np.int32
    starts: npt.NDArray[Any] = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(index)
    indices: npt.NDArray[Any] = absolute[present].astype(index)
    return sparse.csr_matrix((np.ones(len(indices), dtype=dtype), indices, starts), shape=(rows, columns))

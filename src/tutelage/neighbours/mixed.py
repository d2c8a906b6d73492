"""Rows that are no numbers: strings for the edit distance, and tables of numbers and categories for Gower's.

>>> import numpy as np
>>> numbers, vocabulary = as_codes(np.array([[1.5, "red"], [2.0, None], [3.0, "blue"]], dtype=object), None)
>>> numbers
array([[1.5, 1. ],
       [2. , nan],
       [3. , 0. ]])
>>> as_codes(np.array([[1.5, "green"]], dtype=object), vocabulary)[0]
array([[1.5, 2. ]])
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tutelage.base import Floats

Vocabulary = dict[int, dict[Any, int]]  # column -> label -> code


def as_codes(X: Any, vocabulary: Vocabulary | None) -> tuple[Any, Vocabulary]:
    """Give a table as numbers, each category as its code and what is missing as NaN.

    Parameters
    ----------
    X : frame or array of shape (n, d)
        Columns of numbers or of labels. An array of numbers is given back as it is.
    vocabulary : dict or None
        The codes of the fit; a label that is not among them gets a code of its own. None: learn them here.
    """
    columns = _columns(X)
    if columns is None:
        return X, {} if vocabulary is None else vocabulary
    learned: Vocabulary = {} if vocabulary is None else vocabulary
    coded = [_coded(column, number, learned, vocabulary is None) for number, column in enumerate(columns)]
    return np.stack(coded, axis=1), learned


def _columns(X: Any) -> list[list[Any]] | None:
    """The columns of a frame or of an array with labels in it; None for an array of numbers."""
    if hasattr(X, "columns"):
        return [np.asarray(X[name], dtype=object).tolist() for name in X.columns]
    array = np.asarray(X)
    if array.dtype.kind not in "OSU":
        return None
    if array.ndim != 2:
        raise ValueError(
            f"X must be a table of rows and columns for the metric 'gower', found {array.ndim} dimensions."
        )
    return [column.tolist() for column in np.asarray(X, dtype=object).T]


def _coded(column: list[Any], number: int, vocabulary: Vocabulary, learn: bool) -> Floats:
    missing = [value is None or bool(value != value) for value in column]  # noqa: PLR0124 - NaN is not itself
    present = [value for value, gone in zip(column, missing, strict=True) if not gone]
    if learn and not all(isinstance(value, Real) for value in present):
        vocabulary[number] = {label: code for code, label in enumerate(sorted({str(value) for value in present}))}
    codes = vocabulary.get(number)
    out = np.full(len(column), np.nan)
    if codes is None:
        out[~np.array(missing, dtype=bool)] = [float(value) for value in present]
    else:
        out[~np.array(missing, dtype=bool)] = [codes.get(str(value), len(codes)) for value in present]
    return out


def as_strings(X: Any) -> Any:
    """Give a list, a series or a column of strings as an array of objects."""
    strings = np.asarray(X, dtype=object)
    if strings.ndim == 2 and strings.shape[1] == 1:
        strings = strings[:, 0]
    if strings.ndim != 1:
        raise ValueError(f"X must be a list of strings for the metric 'edit', found the shape {strings.shape}.")
    strange = next((one for one in strings.tolist() if not isinstance(one, str)), None)
    if strange is not None:
        raise TypeError(f"X must be a list of strings for the metric 'edit', found {strange!r} in it.")
    return strings

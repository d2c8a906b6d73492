"""Tables whose columns are numbers or labels, as one matrix of numbers.

A column of labels becomes the codes of its labels, in their sorted order; what is missing becomes NaN. Learners that
take categories as they are (Gower's metric, naive Bayes) learn the codes with the fit and use them again afterwards. A
label that the fit did not meet gets the code behind the last.

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


def as_codes(X: Any, vocabulary: Vocabulary | None, *, extend: bool = False) -> tuple[Any, Vocabulary]:
    """Give a table as numbers, each label as its code and what is missing as NaN.

    Parameters
    ----------
    X : frame or array of shape (n, d)
        Columns of numbers or of labels. An array of numbers is given back as it is.
    vocabulary : dict or None
        The codes of the fit; None: learn them here.
    extend : bool, default=False
        Whether labels that the vocabulary lacks get codes of their own, in a copy of it, in place of one for all.

    Returns
    -------
    X : array or frame
        Numbers; a frame where X is one, so that its columns keep their names.
    vocabulary : dict
        The codes; columns of numbers are not in it.
    """
    frame = _as_frame(X)
    if frame is None:
        array = np.asarray(X) if not hasattr(X, "dtype") else X
        if array.dtype.kind not in "OSU" or array.ndim != 2:
            return X, {} if vocabulary is None else vocabulary
        columns = list(np.asarray(X, dtype=object).T)
    else:
        columns = list(frame.iter_columns())
    learned: Vocabulary = {} if vocabulary is None else {number: dict(codes) for number, codes in vocabulary.items()}
    coded = [_coded(column, number, learned, vocabulary is None, extend) for number, column in enumerate(columns)]
    numbers = np.stack(coded, axis=1) if coded else np.empty((len(X), 0))
    if frame is None or not all(isinstance(name, str) for name in frame.columns):
        return numbers, learned
    import polars as pl

    return pl.DataFrame(numbers, schema=list(frame.columns)), learned


def _as_frame(X: Any) -> Any:
    """Read a frame of any library; None for an array."""
    import narwhals

    return narwhals.from_native(X, eager_only=True) if narwhals.dependencies.is_into_dataframe(X) else None


def _coded(column: Any, number: int, vocabulary: Vocabulary, learn: bool, extend: bool) -> Floats:
    dtype: Any = getattr(column, "dtype", None)
    numeric = hasattr(dtype, "is_numeric") and (dtype.is_numeric() or str(dtype) == "Boolean")
    if numeric and number not in vocabulary:
        return np.array([np.nan if value is None else value for value in column.to_list()], dtype=np.float64)
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    missing = np.array([value is None or bool(value != value) for value in values], dtype=bool)  # noqa: PLR0124 - NaN
    present = [value for value, gone in zip(values, missing, strict=True) if not gone]
    if (
        strange := next((value for value in present if isinstance(value, dict | list | set | np.ndarray)), None)
    ) is not None:
        raise TypeError(
            f"Column {number} of X has {strange!r} in it, which is no label: an argument must be a string or a number."
        )
    if learn and not all(isinstance(value, Real) for value in present):
        vocabulary[number] = {label: code for code, label in enumerate(sorted({str(value) for value in present}))}
    codes = vocabulary.get(number)
    out = np.full(len(values), np.nan)
    if codes is None:
        out[~missing] = [float(value) for value in present]
        return out
    if extend:
        for label in sorted({str(value) for value in present} - codes.keys()):
            codes[label] = len(codes)
    out[~missing] = [codes.get(str(value), len(codes)) for value in present]
    return out

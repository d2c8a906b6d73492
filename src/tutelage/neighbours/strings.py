"""Rows that are no numbers: strings, for the edit distance. Tables of labels for Gower's: `tutelage.tables`.

>>> as_strings(["ab", "b"])
array(['ab', 'b'], dtype=object)
"""

from __future__ import annotations

from typing import Any

import numpy as np


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

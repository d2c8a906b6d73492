"""Where to cut the range of a number into buckets: equally many rows, equal widths, or where the classes change.

The third is Fayyad and Irani's (1993): cut where the entropy of the classes falls most, as long as the fall pays for
the bits that describe the cut, and go on inside both parts. With N rows of k classes, entropy E, and k1, E1 and k2, E2
in the parts, the cut is made if

    gain > [ log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 - k2 E2) ] / N.

A column that says nothing of the classes is not cut at all. Cost: one sorting, then N k for each level of cuts.

>>> import numpy as np
>>> values, codes = np.arange(40.0), (np.arange(40) >= 25).astype(np.intp)
>>> inner_edges(values, codes, np.ones(40), "mdl", 10)
array([25.])
>>> inner_edges(values, codes, np.ones(40), "quantile", 4)
array([10., 20., 30.])
>>> inner_edges(values, codes, np.ones(40), "uniform", 3)
array([13., 26.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tutelage.base import Floats
    from tutelage.labels import Codes


def inner_edges(values: Floats, codes: Codes, weight: Floats, strategy: str, count: int) -> Floats:
    """Find where to cut.

    Parameters
    ----------
    values, codes, weight : arrays of shape (n,)
        Numbers, none missing; classes; weights, which count as repetitions.
    strategy : {"quantile", "uniform", "mdl"}
        Equally many rows, equal widths, or Fayyad and Irani's.
    count : int
        The number of buckets of the first two, at most.

    Returns
    -------
    array
        Increasing. A bucket contains its lower edge and not its upper.
    """
    if len(values) == 0:
        return np.empty(0)
    order = np.argsort(values, kind="stable")
    values, codes, weight = values[order], codes[order], weight[order]
    if strategy == "mdl":
        return _by_description(values, codes, weight)
    shares = np.arange(1, count) / count
    if strategy == "uniform":
        edges: Floats = values[0] + shares * (values[-1] - values[0])
    else:
        cumulated = np.cumsum(weight)
        edges = values[np.minimum(np.searchsorted(cumulated, shares * cumulated[-1], side="right"), len(values) - 1)]
    return np.unique(edges[edges > values[0]])


def _by_description(values: Floats, codes: Codes, weight: Floats) -> Floats:
    classes = int(codes.max()) + 1
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > 0)  # of runs of equal values
    table = np.zeros((len(values), classes))
    table[np.arange(len(values)), codes] = weight
    before = np.vstack([np.zeros(classes), np.cumsum(np.add.reduceat(table, starts, axis=0), axis=0)])
    distinct = values[starts]
    cuts: list[int] = []
    waiting = [(0, len(distinct))]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        whole = before[last] - before[first]
        left = before[first + 1 : last] - before[first]
        right = whole - left
        rows = whole.sum()
        entropies = _entropy(left), _entropy(right)
        mixed = (left.sum(axis=1) * entropies[0] + right.sum(axis=1) * entropies[1]) / rows
        best = int(mixed.argmin())
        kinds = [int((part > 0).sum()) for part in (whole, left[best], right[best])]
        entropy = float(_entropy(whole[None])[0])
        bits = kinds[0] * entropy - kinds[1] * entropies[0][best] - kinds[2] * entropies[1][best]
        price = (np.log2(max(rows - 1, 1.0)) + np.log2(3.0 ** kinds[0] - 2) - bits) / rows
        if entropy - mixed[best] > price:
            middle = first + 1 + best
            cuts.append(middle)
            waiting += [(first, middle), (middle, last)]
    made: Floats = distinct[np.sort(np.array(cuts, dtype=np.intp))]
    return made


def _entropy(table: Floats) -> Floats:
    """Give the entropy, in bits, of each row of counts."""
    totals = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, totals, out=np.zeros_like(table), where=totals > 0)
    made: Floats = -(shares * np.log2(shares, out=np.zeros_like(shares), where=shares > 0)).sum(axis=1)
    return made

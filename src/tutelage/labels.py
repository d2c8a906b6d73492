"""Labels: any names for the classes become 0, 1, ..., k - 1, and the classes get their weights.

Learners count, index and compare; they want small integers. People label with strings, booleans, 1 and 2, or -1 and 1.
`encode` maps a vector of labels to ``(classes, codes)`` with ``classes[codes] == labels`` and the classes sorted, in
linear time where the labels are integers (a table over their range) and in O(n log k) comparisons otherwise.

`class_weights` gives every class its weight: one number for each class, with ``"balanced"`` making the total weight
of all classes equal, ``weight[c] = total / (k * total of c)``. Totals are sums of sample weights, so a sample of
weight two counts as two samples.

>>> import numpy as np
>>> classes, codes = encode(np.array(["no", "yes", "no"]))
>>> classes, codes
(array(['no', 'yes'], dtype='<U3'), array([0, 1, 0]))
>>> class_weights("balanced", classes, codes)
array([0.75, 1.5 ])
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Labels: TypeAlias = npt.NDArray[Any]
Codes: TypeAlias = npt.NDArray[np.intp]
Weights: TypeAlias = npt.NDArray[np.float64]
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"] | None

_LARGEST_EXACT_INTEGER = 2.0**53


def encode(labels: Labels) -> tuple[Labels, Codes]:
    """Find the classes among labels, sorted, and the index of each label's class.

    Parameters
    ----------
    labels : array of shape (n,)
        Integers, whole floats, booleans, strings, dates, or objects of one sortable kind; none missing.

    Returns
    -------
    classes : array of shape (k,)
        The distinct labels, sorted, of the same dtype.
    codes : array of intp, shape (n,)
        ``classes[codes]`` equals `labels`.
    """
    kind = labels.dtype.kind
    if kind == "b":
        classes, codes = _encode_integers(labels.view(np.uint8))
        return classes.astype(bool), codes
    if kind in "iu":
        return _encode_integers(labels)
    if kind == "f":
        return _encode_floats(labels)
    if kind == "O":
        return _encode_objects(labels)
    classes = np.unique(labels)
    return classes, np.searchsorted(classes, labels)


def _encode_integers(labels: Labels) -> tuple[Labels, Codes]:
    low, high = int(labels.min()), int(labels.max())
    span = high - low + 1
    # A table over the range costs its length; beyond a few times n, sorting is cheaper.
    if span > 4 * len(labels) + 1024 or high >= 2**62 or low <= -(2**62):
        classes = np.unique(labels)
        return classes, np.searchsorted(classes, labels)
    offsets = labels.astype(np.intp)
    offsets -= low
    present = np.bincount(offsets, minlength=span) > 0
    table = np.cumsum(present) - 1
    classes = (np.flatnonzero(present) + low).astype(labels.dtype)
    return classes, table.astype(np.intp, copy=False)[offsets]


def _encode_floats(labels: Labels) -> tuple[Labels, Codes]:
    if np.any(labels != np.rint(labels)):
        raise ValueError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete "
            "classes on a "
            f"regression target with continuous values; y contains {labels[labels != np.rint(labels)][0]!s}, so use a "
            "regressor, or cut y into classes."
        )
    if np.abs(labels).max() >= _LARGEST_EXACT_INTEGER:
        classes = np.unique(labels)
        return classes, np.searchsorted(classes, labels)
    classes, codes = _encode_integers(labels.astype(np.int64))
    return classes.astype(labels.dtype), codes


def _encode_objects(labels: Labels) -> tuple[Labels, Codes]:
    distinct = set(labels.tolist())
    try:
        ordered = sorted(distinct)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in distinct})
        raise TypeError(
            f"The labels y must all be of one kind, found {' and '.join(kinds)}; convert them, for example by "
            "y.astype(str), and drop the rows without a label."
        ) from None
    if any(isinstance(label, float) and label != round(label) for label in ordered):
        return _encode_floats(labels.astype(float))
    classes = np.empty(len(ordered), dtype=object)
    classes[:] = ordered
    table = {label: code for code, label in enumerate(ordered)}
    return classes, np.fromiter(map(table.__getitem__, labels.tolist()), dtype=np.intp, count=len(labels))


def encode_with(classes: Labels, labels: Labels) -> Codes:
    """Find the index of each label among known, sorted classes; a label that is not among them is an error."""
    codes: Codes = np.searchsorted(classes, labels)
    codes[codes == len(classes)] = 0
    unknown = classes[codes] != labels
    if np.any(unknown):
        names = np.unique(labels[unknown]).tolist()
        raise ValueError(
            f"The target label(s) {names} in y do not exist in the initial classes {classes.tolist()}; give all "
            "classes "
            "in the first call."
        )
    return codes


def warn_of_many_classes(classes: Labels, samples: int) -> None:
    """Warn when y has so many distinct labels that it may be a quantity."""
    if samples > 20 and len(classes) > round(0.5 * samples):
        warnings.warn(
            f"The number of unique classes is greater than 50% of the number of samples: {len(classes)} classes among "
            f"{samples} samples. `y` could represent a regression problem, not a classification problem.",
            UserWarning,
            stacklevel=2,
        )


def class_weights(
    class_weight: ClassWeight, classes: Labels, codes: Codes, sample_weight: Weights | None = None
) -> Weights | None:
    """Give the weight of each class.

    Parameters
    ----------
    class_weight : mapping, "balanced" or None
        Weights by label, where a class without one weighs 1; or equal total weight for every class; or None.
    classes, codes : arrays
        As `encode` gives them.
    sample_weight : array of shape (n,), optional
        Weights of the samples, which ``"balanced"`` sums.

    Returns
    -------
    array of shape (k,) or None
        None if every class weighs 1 because nothing was asked for. Multiply ``weights[codes]`` into the sample weights.
    """
    if class_weight is None or (not isinstance(class_weight, str) and len(class_weight) == 0):
        return None
    if isinstance(class_weight, str):
        totals = np.bincount(codes, weights=sample_weight, minlength=len(classes)).astype(float)
        present = totals > 0
        weights = np.zeros(len(classes))
        weights[present] = totals.sum() / (present.sum() * totals[present])
        return weights
    names = classes.tolist()
    missing = [name for name in names if name not in class_weight]
    if missing and len(names) - len(missing) != len(class_weight):
        strange = [name for name in class_weight if name not in names]
        raise ValueError(
            f"The classes, {missing}, are not in class_weight, which names {strange} that y does not contain; name "
            "classes "
            f"among {names}."
        )
    weights = np.array([float(class_weight.get(name, 1.0)) for name in names])
    if not np.all(weights >= 0):
        raise ValueError(
            f"The weights in class_weight must be at least 0, found {min(weights)!s}; drop a class by weight 0."
        )
    return weights

"""Laws of labels: encoding can be undone, agrees with NumPy, and class weights mean what repetition means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.utils.class_weight import compute_class_weight

from tutelage.labels import class_weights, encode, encode_with, warn_of_many_classes

SHAPES = st.integers(1, 30)
LABELS = st.one_of(
    npst.arrays(st.sampled_from([np.int8, np.uint8, np.int64, np.uint64]), SHAPES),
    npst.arrays(np.int64, SHAPES, elements=st.integers(-3, 3)),
    npst.arrays(np.float64, SHAPES, elements=st.integers(-(10**6), 10**6)),
    npst.arrays(np.float32, SHAPES, elements=st.integers(-100, 100)),
    npst.arrays(np.bool_, SHAPES),
    npst.arrays("U3", SHAPES, elements=st.text("ab ", max_size=3)),
    npst.arrays(object, SHAPES, elements=st.text("abc", max_size=2)),
    npst.arrays(object, SHAPES, elements=st.integers(-3, 3)),
    npst.arrays("datetime64[D]", SHAPES, elements=st.integers(0, 9).map(lambda day: np.datetime64(day, "D"))),
)


@given(LABELS)
def test_encoding_agrees_with_numpy_and_can_be_undone(labels: Any) -> None:
    classes, codes = encode(labels)
    expected_classes, expected_codes = np.unique(labels, return_inverse=True)
    np.testing.assert_array_equal(classes, expected_classes)
    np.testing.assert_array_equal(codes, expected_codes)
    assert classes.dtype == labels.dtype
    assert codes.dtype == np.intp
    np.testing.assert_array_equal(classes[codes], labels)


@given(LABELS)
def test_known_classes_give_the_same_codes(labels: Any) -> None:
    classes, codes = encode(labels)
    np.testing.assert_array_equal(encode_with(classes, labels), codes)


def test_the_extremes_of_integers_do_not_overflow() -> None:
    ends = np.iinfo(np.int64)
    classes, codes = encode(np.array([ends.max, ends.min, 0, ends.min]))
    assert classes.tolist() == [ends.min, 0, ends.max]
    assert codes.tolist() == [2, 0, 1, 0]
    classes, codes = encode(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64))
    assert codes.tolist() == [1, 0]
    assert encode(np.array([1e300, -1e300]))[1].tolist() == [1, 0]


@pytest.mark.parametrize("labels", [np.array([0.5, 1.0]), np.array([0.5, 1.0], dtype=object)])
def test_quantities_are_no_labels(labels: Any) -> None:
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.* y contains 0\.5, so use a regressor"):
        encode(labels)


def test_labels_of_two_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match=r"one kind, found NoneType and str; convert them"):
        encode(np.array(["a", None], dtype=object))


@pytest.mark.parametrize("unknown", [5, -1, 1])
def test_a_label_that_was_not_announced_is_refused(unknown: int) -> None:
    with pytest.raises(ValueError, match=rf"target label\(s\) \[{unknown}\] in y do not exist in the initial classes"):
        encode_with(np.array([0, 2]), np.array([0, unknown]))


def test_many_classes_arouse_suspicion() -> None:
    with pytest.warns(UserWarning, match="25 classes among 30 samples"):
        warn_of_many_classes(np.arange(25), 30)


@pytest.mark.parametrize(
    "class_weight", ["balanced", {0: 2.0, 1: 3.0, 2: 0.5}, {1: 3.0}, {}, {0: 1, 1: 2, 2: 3, 99: 4}], ids=str
)
def test_class_weights_are_those_of_scikit_learn(class_weight: Any) -> None:
    labels = np.array([0, 0, 2, 1, 0, 2])
    classes, codes = encode(labels)
    ours = class_weights(class_weight, classes, codes)
    expected = compute_class_weight(class_weight, classes=classes, y=labels)
    np.testing.assert_allclose(np.ones(3) if ours is None else ours, expected)


@given(npst.arrays(np.intp, 12, elements=st.integers(0, 2)), npst.arrays(np.intp, 12, elements=st.integers(0, 3)))
def test_balanced_weights_equalise_totals_and_count_weight_as_repetition(codes: Any, times: Any) -> None:
    classes = np.arange(3)
    weights = class_weights("balanced", classes, codes, times.astype(float))
    repeated = class_weights("balanced", classes, np.repeat(codes, times))
    assert weights is not None
    assert repeated is not None
    np.testing.assert_allclose(weights, repeated)
    totals = np.bincount(codes, weights=weights[codes] * times, minlength=3)
    assert len(np.unique(np.round(totals[totals > 0], 9))) <= 1
    np.testing.assert_allclose(totals.sum(), times.sum())


def test_wrong_class_weights_are_refused() -> None:
    classes, codes = encode(np.array(["a", "b"]))
    with pytest.raises(ValueError, match=r"The classes, \['b'\], are not in class_weight, which names \['c'\]"):
        class_weights({"a": 1, "c": 2}, classes, codes)
    with pytest.raises(ValueError, match=r"class_weight must be at least 0, found -1.0"):
        class_weights({"a": -1}, classes, codes)

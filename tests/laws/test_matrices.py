"""Laws of matrices: whatever the layout, type and number of threads, the products are NumPy's."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse

from tutelage import _core, matrices
from tutelage.machine import threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

SHAPES = [(0, 3), (3, 0), (0, 0), (1, 1), (1, 9), (9, 1), (2, 2), (7, 5), (8, 16), (13, 17), (33, 24), (65, 25),
          (300, 10), (257, 49), (100, 130), (40, 211), (9, 700), (1030, 4)]  # fmt: skip
SCORES = [1, 2, 3, 4, 5, 8, 11, 26]
TYPES = [np.float32, np.float64]


def with_index_type(X: Any, kind: type) -> Any:
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    return X


def wider(X: Array) -> Array:
    """The same numbers inside a larger array: rows further apart than they are long."""
    around = np.full((X.shape[0] + 1, X.shape[1] + 3), np.nan, dtype=X.dtype)
    around[: X.shape[0], 2 : 2 + X.shape[1]] = X
    return around[: X.shape[0], 2 : 2 + X.shape[1]]


LAYOUTS: dict[str, Callable[[Array], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "part of C": wider,
    "part of Fortran": lambda X: wider(X.T).T,
    "upside down": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "every other": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "csr32": lambda X: with_index_type(sparse.csr_matrix(X), np.int32),
    "csr64": lambda X: with_index_type(sparse.csr_matrix(X), np.int64),
    "csc32": lambda X: with_index_type(sparse.csc_matrix(X), np.int32),
    "csc64": lambda X: with_index_type(sparse.csc_array(X), np.int64),
    "coo": sparse.coo_matrix,
}
DENSE = [name for name in LAYOUTS if not name.startswith("c")]


def numbers(shape: tuple[int, int], dtype: type, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    X[rng.random(shape) < 0.6] = 0
    return X.astype(dtype)


def agree(found: Array, expected: Array, terms: int) -> None:
    """Equal up to the rounding of sums of so many terms of order one."""
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14 * (terms + 10))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_by_rows_are_numpys(layout: str, dtype: type, shape: tuple[int, int]) -> None:
    X = numbers(shape, dtype)
    handle = matrices.rows(LAYOUTS[layout](X))
    exact = X.astype(np.float64)
    n, d = shape
    rng = np.random.default_rng(1)
    assert handle.shape == shape
    for k in SCORES:
        w, s = rng.normal(size=(k, d)), rng.normal(size=(n, k))
        agree(handle.times(w), exact @ w.T, d)
        agree(handle.transpose_times(s), s.T @ exact, n)
    c = rng.random(n)
    c[::3] = 0
    agree(handle.sandwich(c), np.tril((exact.T * c) @ exact), n)
    if not handle.sparse:
        m = rng.normal(size=d)
        agree(handle.sandwich(c, m), np.tril(((exact - m).T * c) @ (exact - m)), 5 * n)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_by_columns_are_numpys(layout: str, dtype: type, shape: tuple[int, int]) -> None:
    X = numbers(shape, dtype)
    exact = X.astype(np.float64)
    n, d = shape
    rng = np.random.default_rng(1)
    r, c = rng.normal(size=n), rng.random(n)
    for copy in (False, True):
        handle = matrices.columns(LAYOUTS[layout](X), copy=copy)
        assert handle.shape == shape
        for j in range(min(d, 30)):
            x = exact[:, j]
            agree(handle.dot(j, r), x @ r, n)
            agree(handle.add(j, -0.7, r), r - 0.7 * x, 1)
            agree(handle.weighted_dot(j, c, r), x @ (c * r), n)
            agree(handle.weighted_square(j, c), x**2 @ c, n)
            agree(handle.weighted_square(j), x @ x, n)
            assert handle.stored_in(j) == (n if layout in DENSE else np.count_nonzero(x))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("make", [matrices.rows, matrices.columns])
def test_statistics_are_weighted_means_and_variances(layout: str, dtype: type, make: Callable[..., Any]) -> None:
    for shape in SHAPES:
        X = numbers(shape, dtype)
        exact = X.astype(np.float64)
        handle = make(LAYOUTS[layout](X))
        weights = np.random.default_rng(2).random(shape[0])
        weights[1::4] = 0
        for s in (None, weights):
            mean, variance = handle.statistics(s)
            if shape[0] == 0 or (s is not None and s.sum() == 0):
                assert not mean.any()
                assert not variance.any()
                continue
            expected = np.average(exact, axis=0, weights=s) if shape[1] else np.zeros(0)
            agree(mean, expected, 10)
            agree(variance, np.average((exact - expected) ** 2, axis=0, weights=s) if shape[1] else np.zeros(0), 10)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_column_of_mean_1e8_keeps_its_variance(layout: str) -> None:
    rng = np.random.default_rng(0)
    X = 1e8 + np.round(rng.normal(size=(3000, 3)), 3)
    s = rng.random(3000)
    centred = X - 1e8  # exact
    mean = np.average(centred, axis=0, weights=s)
    expected = np.average((centred - mean) ** 2, axis=0, weights=s)
    for make in (matrices.rows, matrices.columns):
        found, variance = make(LAYOUTS[layout](X)).statistics(s)
        np.testing.assert_allclose(variance, expected, rtol=1e-7)  # the mean itself is known to 1e-8
        np.testing.assert_allclose(found, 1e8 + mean, rtol=1e-14)


@pytest.mark.parametrize("layout", DENSE)
@pytest.mark.parametrize("columns", [3, 20, 260])
def test_the_centred_sandwich_keeps_its_digits(layout: str, columns: int) -> None:
    rng = np.random.default_rng(0)
    centred = np.round(rng.normal(size=(1500, columns)), 3)
    X = 1e8 + centred
    exact = X - 1e8
    c = rng.random(1500)
    found = matrices.rows(LAYOUTS[layout](X)).sandwich(c, np.full(columns, 1e8))
    np.testing.assert_allclose(found, np.tril((exact.T * c) @ exact), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(50, 3), (300, 40), (20, 211)], ids=str)
def test_standardised_is_standardising(layout: str, shape: tuple[int, int]) -> None:
    n, d = shape
    X = numbers(shape, np.float64)
    X[:, -1] = 2  # constant: centred only
    rng = np.random.default_rng(3)
    handle = matrices.rows(LAYOUTS[layout](X))
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale[-1] = 0
    plain = (X - mean) / np.where(scale == 0, 1, scale)
    view = handle.standardised(mean, scale)
    c = rng.random(n)
    for k in (1, 4):
        w, s = rng.normal(size=(k, d)), rng.normal(size=(n, k))
        agree(view.times(w), plain @ w.T, 100 * d)
        agree(view.transpose_times(s), s.T @ plain, 100 * n)
    agree(view.sandwich(c), np.tril((plain.T * c) @ plain), 1000 * n)
    agree(view.statistics()[1], plain.var(axis=0), 1000)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (50, 3), (300, 40), (20, 211)], ids=str)
def test_augmented_is_a_column_of_ones(layout: str, shape: tuple[int, int]) -> None:
    n, d = shape
    X = numbers(shape, np.float64)
    rng = np.random.default_rng(3)
    view = matrices.rows(LAYOUTS[layout](X)).augmented()
    plain = np.column_stack([X, np.ones(n)])
    c = rng.random(n)
    for k in (1, 4):
        w, s = rng.normal(size=(k, d + 1)), rng.normal(size=(n, k))
        agree(view.times(w), plain @ w.T, d)
        agree(view.transpose_times(s), s.T @ plain, n)
    agree(view.sandwich(c), np.tril((plain.T * c) @ plain), n)
    if not view.sparse:
        m = rng.normal(size=d + 1)
        agree(view.sandwich(c, m), np.tril(((plain - m).T * c) @ (plain - m)), 100 * n)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(20000, 11), (4000, 60), (700, 420), (30, 3000)], ids=str)
def test_the_bits_do_not_depend_on_threads(layout: str, dtype: type, shape: tuple[int, int]) -> None:
    n, d = shape
    X = LAYOUTS[layout](numbers(shape, dtype))
    rng = np.random.default_rng(4)
    c = rng.random(n)
    products = []
    for count in (1, 2, 7):
        with threads(count):
            by_rows = matrices.rows(X)
            found = [by_rows.sandwich(c)] if d < 1000 else []
            for k in (1, 5):
                w, s = np.ones((k, d)) / 3, np.cos(np.arange(n * k)).reshape(n, k)
                found += [by_rows.times(w), by_rows.transpose_times(s)]
            found += [*by_rows.statistics(c), *matrices.columns(X).statistics(c)]
            products.append([a.tobytes() for a in found])
    assert products[0] == products[1] == products[2]


def test_repeated_and_unsorted_indices_add_up() -> None:
    data = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    indices, indptr = np.array([2, 0, 2, 1, 1], dtype=np.int32), np.array([0, 3, 5], dtype=np.int32)
    exact = np.array([[2.0, 0.0, 4.0], [0.0, 9.0, 0.0]])
    handle = _core.rows(data, indices, indptr, (2, 3))
    w, s = np.arange(15.0).reshape(5, 3), np.arange(10.0).reshape(2, 5)
    np.testing.assert_array_equal(handle.times(w), exact @ w.T)
    np.testing.assert_array_equal(handle.transpose_times(s), s.T @ exact)
    np.testing.assert_array_equal(handle.sandwich(np.ones(2)), np.tril(exact.T @ exact))
    X = sparse.csr_matrix((data, indices, indptr), shape=(2, 3))
    np.testing.assert_array_equal(matrices.columns(X).weighted_square(2), 16.0)
    np.testing.assert_allclose(matrices.rows(X).statistics()[1], exact.var(axis=0))
    assert X.nnz == 5, "the matrix that was given stays as it was"


def test_the_other_compression_is_scipys() -> None:
    X = sparse.random(3000, 700, density=0.3, format="csr", random_state=np.random.default_rng(0))
    for kind in (np.int32, np.int64):
        given = with_index_type(X.copy(), kind)
        data, indices, indptr = _core.other_compression(given.data, given.indices, given.indptr, 700)
        expected = X.tocsc()
        expected.sort_indices()
        np.testing.assert_array_equal(data, expected.data)
        np.testing.assert_array_equal(indices, expected.indices)
        np.testing.assert_array_equal(indptr, expected.indptr)
        assert indices.dtype == kind


def test_nothing_is_copied_that_can_be_read_and_memory_is_kept() -> None:
    for order in ("C", "F"):
        X = np.array(numbers((50, 4), np.float64), order=order)
        X.setflags(write=False)
        handle = matrices.rows(X)
        assert matrices._readable(X) is X
        expected = X.sum(axis=1)
        del X
        gc.collect()
        np.testing.assert_allclose(handle.standardised(np.zeros(4), np.ones(4)).times(np.ones((1, 4)))[:, 0], expected)


def test_memory_mapped_and_foreign_numbers(tmp_path: Any) -> None:
    X = numbers((40, 6), np.float64)
    np.save(tmp_path / "x.npy", X)
    w = np.ones((1, 6))
    for same in (np.load(tmp_path / "x.npy", mmap_mode="r"), X.astype(">f8"), X.astype(np.longdouble)):
        np.testing.assert_allclose(matrices.rows(same).times(w), X @ w.T)
    np.testing.assert_array_equal(matrices.rows(np.eye(3, dtype=bool)).times(np.ones((1, 3))), np.ones((3, 1)))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: _core.rows(np.zeros((2, 2), dtype=int)), "float32 or float64"),
        (lambda: _core.rows(np.zeros((4, 4))[::2, ::2]), "one piece"),
        (lambda: _core.rows(np.ones(1), np.array([5]), np.array([0, 1]), (1, 3)), "outside its shape"),
        (lambda: _core.rows(np.ones(1), np.array([-1]), np.array([0, 1]), (1, 3)), "outside its shape"),
        (lambda: _core.rows(np.ones(1), np.array([0]), np.array([0, 9]), (1, 3)), "outside its data"),
        (lambda: _core.rows(np.ones(2), np.array([0, 1]), np.array([0, 2, 1, 2]), (3, 3)), "outside its shape"),
        (lambda: _core.columns(np.ones(1), np.array([0]), np.array([0, 1]), (1, 3)), "one entry more"),
        (lambda: _core.rows(np.ones((2, 2))).times(np.ones((1, 3))), "each column"),
        (lambda: _core.columns(np.ones((2, 2))).dot(2, np.ones(2)), "column of X"),
    ],
)
def test_what_cannot_be_read_is_refused(call: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()

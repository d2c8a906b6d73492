"""Laws of counts and moments: those of the definition, whatever the layout and the threads; they add and subtract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse

from tutelage import counts
from tutelage.machine import threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]

SHAPES = [(1, 1, 1), (3, 9, 2), (7, 5, 3), (40, 17, 3), (300, 3, 7), (1030, 24, 2), (90, 211, 5), (20000, 4, 3)]
DENSE: dict[str, Callable[[Array], Any]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 Fortran": lambda X: np.asfortranarray(X.astype(np.float32)),
    "part": lambda X: np.pad(X, ((0, 1), (2, 3)))[: len(X), 2 : 2 + X.shape[1]],
}
SPARSE: dict[str, Callable[[Array], Any]] = {
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "csr float32": lambda X: sparse.csr_array(X.astype(np.float32)),
}


def examples(n: int, d: int, k: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Rows that float32 holds exactly, classes (the last one may have no row) and weights, some of them zero."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 64) / 16
    X[rng.random((n, d)) < 0.3] = 0
    return X, rng.integers(0, k, n).astype(np.intp), rng.integers(0, 4, n).astype(float)


def by_definition(X: Array, codes: Array, weight: Array | None, k: int) -> tuple[Array, Array, Array, Array]:
    s = np.ones(len(X)) if weight is None else weight
    total = np.array([s[codes == c].sum() for c in range(k)])
    sums = np.array([s[codes == c] @ X[codes == c] for c in range(k)])
    mean = np.divide(sums, total[:, None], out=np.zeros_like(sums), where=total[:, None] > 0)
    centred = X - mean[codes]
    scatter = np.array([(centred * (s * (codes == c))[:, None]).T @ centred for c in range(k)])
    return total, sums, mean, scatter


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", [*DENSE, *SPARSE])
def test_sums_are_those_of_the_definition(layout: str, shape: tuple[int, int, int], weighted: bool) -> None:
    X, codes, weight = examples(*shape)
    s = weight if weighted else None
    total, expected, _, _ = by_definition(X, codes, s, shape[2])
    made = counts.sums({**DENSE, **SPARSE}[layout](X), codes, s, shape[2])
    np.testing.assert_array_equal(made.total, total)
    np.testing.assert_allclose(made.sums, expected, rtol=1e-12, atol=1e-12)
    above = counts.sums({**DENSE, **SPARSE}[layout](X), codes, s, shape[2], 0.25)
    np.testing.assert_array_equal(above.sums, by_definition((X > 0.25).astype(float), codes, s, shape[2])[1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", DENSE)
def test_moments_and_scatter_are_those_of_the_definition(
    layout: str, shape: tuple[int, int, int], weighted: bool
) -> None:
    X, codes, weight = examples(*shape)
    s, k = weight if weighted else None, shape[2]
    total, _, mean, scatter = by_definition(X, codes, s, k)
    moments = counts.moments(DENSE[layout](X), codes, s, k)
    np.testing.assert_allclose(moments.total, np.broadcast_to(total[:, None], mean.shape))
    np.testing.assert_allclose(moments.mean, mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments.square, np.einsum("cjj->cj", scatter), rtol=1e-11, atol=1e-11)
    own = counts.scatter(DENSE[layout](X), codes, s, k, own=True)
    np.testing.assert_allclose(own.scatter, scatter, rtol=1e-10, atol=1e-10)
    shared = counts.scatter(DENSE[layout](X), codes, s, k)
    np.testing.assert_allclose(shared.scatter, scatter.sum(axis=0), rtol=1e-10, atol=1e-10)


def test_missing_entries_are_left_out() -> None:
    X, codes, weight = examples(500, 11, 3)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    X[:, 4] = np.nan
    for layout in (np.ascontiguousarray, np.asfortranarray):
        made = counts.moments(layout(X), codes, weight, 3, missing=True)
        for j in range(X.shape[1]):
            there = ~np.isnan(X[:, j])
            total, _, mean, scatter = by_definition(X[there][:, [j]], codes[there], weight[there], 3)
            np.testing.assert_allclose(made.total[:, j], total)
            np.testing.assert_allclose(made.mean[:, j], mean[:, 0], atol=1e-12)
            np.testing.assert_allclose(made.square[:, j], scatter[:, 0, 0], rtol=1e-11, atol=1e-11)


def test_nothing_cancels_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(3000, 20))
    codes = rng.integers(0, 2, 3000).astype(np.intp)
    near = counts.scatter(noise, codes, None, 2)
    far = counts.scatter(noise + np.array([1e8, -3e7])[codes][:, None], codes, None, 2)
    np.testing.assert_allclose(far.scatter, near.scatter, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(
        counts.moments(noise + 1e9, codes, None, 2).square, counts.moments(noise, codes, None, 2).square, rtol=1e-6
    )


def rounded(made: Any) -> list[Array]:
    parts = [getattr(made, name) for name in made.__dataclass_fields__]
    return [array for part in parts for array in (part if isinstance(part, tuple) else (part,))]


MAKERS: dict[str, Callable[[Array, Array, Array | None], Any]] = {
    "sums": lambda X, c, s: counts.sums(X, c, s, 4),
    "sparse sums": lambda X, c, s: counts.sums(sparse.csr_matrix(X), c, s, 4),
    "moments": lambda X, c, s: counts.moments(X, c, s, 4),
    "missing": lambda X, c, s: counts.moments(np.where(X == 0, np.nan, X), c, s, 4, missing=True),
    "own": lambda X, c, s: counts.scatter(X, c, s, 4, own=True),
    "shared": lambda X, c, s: counts.scatter(X, c, s, 4),
    "categories": lambda X, c, s: counts.categories(
        np.abs(X).astype(int), c, s, 4, (np.abs(X).astype(int).max(axis=0) + 1)
    ),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", MAKERS)
def test_all_less_a_fold_is_the_rest(kind: str, weighted: bool) -> None:
    X, codes, weight = examples(400, 9, 4)
    fold = np.arange(400) % 5 == 0
    s = weight if weighted else None

    def make(mask: Array) -> Any:
        return MAKERS[kind](X[mask], codes[mask], None if s is None else s[mask])

    whole, part, rest = make(np.ones(400, bool)), make(fold), make(~fold)
    for made, expected in zip(rounded(whole - part), rounded(rest), strict=True):
        wide = made[..., : expected.shape[-1]]  # tables may have room for categories that only the fold has
        np.testing.assert_allclose(wide, expected, rtol=1e-10, atol=1e-10)
        assert not made[..., expected.shape[-1] :].any()
    for made, expected in zip(rounded(rest + part), rounded(whole), strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", MAKERS)
def test_nothing_is_left_of_all_less_all(kind: str) -> None:
    X, codes, weight = examples(60, 5, 4)
    whole = MAKERS[kind](X, codes, weight)
    for made in rounded(whole - whole):
        np.testing.assert_allclose(made, 0.0, atol=1e-9)


def test_forgetting_what_was_not_learned_is_an_error() -> None:
    X, codes, _ = examples(60, 5, 4)
    with pytest.raises(ValueError, match="must be among those that were learned"):
        counts.sums(X[:20], codes[:20], None, 4) - counts.sums(X, codes, None, 4)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("shape", [(20000, 7), (3000, 130)])
def test_bits_do_not_depend_on_threads(kind: str, shape: tuple[int, int], thread_count: int) -> None:
    X, codes, weight = examples(*shape, 4)
    with threads(1):
        alone = rounded(MAKERS[kind](X, codes, weight))
    with threads(thread_count):
        together = rounded(MAKERS[kind](X, codes, weight))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


def test_codes_out_of_range_are_errors() -> None:
    with pytest.raises(ValueError, match="codes"):
        counts.sums(np.ones((2, 1)), np.array([0, 2], dtype=np.intp), None, 2)
    with pytest.raises(ValueError, match="codes"):
        counts.moments(np.ones((2, 1)), np.array([0], dtype=np.intp), None, 2)

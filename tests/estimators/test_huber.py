"""Huber regression: the joint minimum over coefficients, intercept and scale, and its proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from tutelage import HuberRegressor, threads
from tutelage.linear.huber import best_scale


def data(n: int = 150, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 1
    return X, X @ np.arange(1.0, d + 1) - 1 + random.standard_t(1.5, size=n)


def risk(X: Any, y: np.ndarray, point: np.ndarray, epsilon: float, alpha: float, weight: np.ndarray) -> float:
    """scikit-learn's objective; the last two numbers are intercept and scale."""
    coef, intercept, scale = point[:-2], point[-2], point[-1]
    z = np.abs(y - X @ coef - intercept) / scale
    loss = np.where(z < epsilon, z**2, 2 * epsilon * z - epsilon**2)
    return float(np.dot(weight, scale + scale * loss) + alpha * coef @ coef)


def point_of(model: HuberRegressor) -> np.ndarray:
    return np.concatenate([model.coef_, [model.intercept_, model.scale_]])


@pytest.mark.parametrize("epsilon", [1.01, 1.35, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 10.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_point_nearby_is_better_and_no_other_method_finds_one(epsilon: float, alpha: float, seed: int) -> None:
    X, y = data(seed=seed)
    random = np.random.default_rng(seed)
    weight = random.integers(0, 4, len(y)).astype(float)
    model = HuberRegressor(epsilon=epsilon, alpha=alpha).fit(X, y, weight)
    least = risk(X, y, point_of(model), epsilon, alpha, weight)
    assert model.certificate_.primal == pytest.approx(least, rel=1e-12)
    assert model.certificate_.relative_gap <= 1e-9
    for size in (1e-3, 0.1, 1.0):
        for _ in range(20):
            other = point_of(model) + size * random.normal(size=6)
            other[-1] = abs(other[-1])
            assert risk(X, y, other, epsilon, alpha, weight) >= least * (1 - 1e-12)
    found = optimize.minimize(
        lambda p: risk(X, y, p, epsilon, alpha, weight),
        np.append(np.zeros(5), 1.0),
        bounds=[(None, None)] * 5 + [(1e-6, None)],
    )
    assert model.certificate_.dual <= found.fun * (1 + 1e-12)
    assert least <= found.fun * (1 + 1e-10)


def test_the_best_scale_solves_its_equation() -> None:
    random = np.random.default_rng(2)
    for epsilon in (1.0001, 1.35, 5.0):
        size, weight = np.abs(random.standard_cauchy(50)), random.integers(0, 3, 50).astype(float)
        scale = best_scale(size, weight, epsilon)
        assert np.dot(weight, np.minimum((size / scale) ** 2, epsilon**2)) == pytest.approx(weight.sum())


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_and_wide_rows_give_the_same_fit(intercept: bool) -> None:
    X, y = data(60, 90, seed=3)
    X[np.abs(X) < 1] = 0
    model = HuberRegressor(alpha=5.0, fit_intercept=intercept)
    dense = model.fit(X, y).coef_
    assert model.certificate_.relative_gap <= 1e-5
    assert model.fit(sparse.csr_array(X), y).coef_ == pytest.approx(dense, abs=1e-7)
    # The same problem with its columns written out: a column of zeros more than rows makes no difference.
    tall = np.vstack([X, np.zeros((40, 90))])
    padded = HuberRegressor(alpha=5.0, fit_intercept=intercept).fit(
        tall, np.append(y, np.zeros(40)), np.repeat([1.0, 0.0], [60, 40])
    )
    assert padded.coef_ == pytest.approx(dense, abs=1e-6)


def test_the_fit_follows_the_units_of_the_targets() -> None:
    X, y = data(seed=4)
    one, other = HuberRegressor(alpha=0).fit(X, y), HuberRegressor(alpha=0).fit(X, 1000 * y)
    assert other.coef_ == pytest.approx(1000 * one.coef_, rel=1e-9)
    assert other.scale_ == pytest.approx(1000 * one.scale_, rel=1e-9)
    assert np.array_equal(other.outliers_, one.outliers_)


def test_a_few_rows_cannot_move_it_far() -> None:
    X, y = data(200, 2, seed=5)
    y = X @ [1.0, 2.0] + 0.1 * np.random.default_rng(5).normal(size=200)
    clean = HuberRegressor().fit(X, y)
    y[:10] += 1e6
    spoilt = HuberRegressor().fit(X, y)
    assert spoilt.coef_ == pytest.approx(clean.coef_, abs=0.1)
    assert spoilt.outliers_[:10].all()


def test_rows_on_a_plane_are_found_exactly() -> None:
    random = np.random.default_rng(6)
    X = random.normal(size=(300, 3))
    y = X @ np.ones(3)
    y[:60] += 10 * random.random(60)
    model = HuberRegressor(alpha=0).fit(X, y)
    assert model.coef_ == pytest.approx(np.ones(3), abs=1e-7)
    assert model.certificate_.relative_gap <= 1e-5


def test_collinear_columns_share() -> None:
    X, y = data(seed=7)
    twice = HuberRegressor(alpha=0).fit(np.hstack([X, X[:, :1]]), y)
    once = HuberRegressor(alpha=0).fit(X, y)
    assert twice.coef_[0] + twice.coef_[-1] == pytest.approx(once.coef_[0], abs=1e-6)
    assert twice.certificate_.primal == pytest.approx(once.certificate_.primal, rel=1e-9)


def test_the_bits_do_not_depend_on_the_number_of_threads() -> None:
    X, y = data(20000, 20, seed=8)
    fits = []
    for n in (1, 2, 7):
        with threads(n):
            fits.append(point_of(HuberRegressor().fit(X, y)))
    assert all(np.array_equal(other, fits[0]) for other in fits[1:])


def test_a_warm_start_from_the_answer_ends_at_once() -> None:
    X, y = data(seed=9)
    model = HuberRegressor(warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ == 0
    with pytest.raises(ValueError, match="warm_start=False"):
        model.fit(X[:, :2], y)


def test_out_of_rounds_is_told() -> None:
    X, y = data(seed=10)
    with pytest.warns(match="limit on the number of rounds"):
        model = HuberRegressor(max_iter=1).fit(X, y)
    assert model.n_iter_ == 1

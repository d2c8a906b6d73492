"""Quantile regression: a linear program, its corner and its proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from tutelage import QuantileRegressor, threads
from tutelage.certificate import Reason


def data(n: int = 120, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) + 0.5
    return X, X[:, 0] - 2 * X[:, 1] + random.standard_t(2, size=n) + 3


def risk(model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None = None) -> float:
    residual = y - X @ model.coef_ - model.intercept_
    t = model.quantile
    loss = np.average(np.maximum(t * residual, (t - 1) * residual), weights=weight)
    return float(loss + model.alpha * np.abs(model.coef_).sum())


def reference(X: np.ndarray, y: np.ndarray, t: float, alpha: float, intercept: bool, weight: np.ndarray) -> float:
    """The least risk, by SciPy's simplex: coefficients and residuals in positive and negative parts."""
    n, d = X.shape
    share = weight / weight.sum()
    one = np.ones((n, 1)) if intercept else np.zeros((n, 0))
    free = one.shape[1]
    cost = np.concatenate([np.zeros(2 * free), np.full(2 * d, alpha), share * t, share * (1 - t)])
    equal = np.hstack([one, -one, X, -X, np.eye(n), -np.eye(n)])
    return float(optimize.linprog(cost, A_eq=equal, b_eq=y, method="highs").fun)


@pytest.mark.parametrize("alpha", [0.0, 0.001, 0.05, 0.3])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_risk_is_that_of_the_linear_program(alpha: float, level: float, intercept: bool) -> None:
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    model = QuantileRegressor(quantile=level, alpha=alpha, fit_intercept=intercept).fit(X, y, weight)
    least = reference(X, y, level, alpha, intercept, weight)
    assert risk(model, X, y, weight) == pytest.approx(least, rel=1e-10)
    assert model.certificate_.dual <= least * (1 + 1e-12)
    assert model.certificate_.relative_gap <= model.tol


@pytest.mark.parametrize("alpha", [0.3, 0.02])
def test_more_columns_than_rows(alpha: float) -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(40, 300))
    y = X[:, :3].sum(axis=1) + random.normal(size=40)
    model = QuantileRegressor(alpha=alpha).fit(X, y)
    least = reference(X, y, 0.5, alpha, True, np.ones(40))
    assert risk(model, X, y) == pytest.approx(least, rel=1e-9)
    assert np.count_nonzero(model.coef_) <= 40


def test_as_many_columns_in_use_as_there_are_rows() -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(220, 900))
    y = X[:, :3].sum(axis=1) + random.normal(size=220)
    model = QuantileRegressor(alpha=0.005).fit(X, y)
    assert np.count_nonzero(model.coef_) > 0.8 * 220
    assert model.certificate_.relative_gap <= model.tol
    assert model.certificate_.dual <= risk(model, X, y)


def test_few_rows_and_a_million_sparse_columns() -> None:
    X = sparse.random(10, 10**6, density=1e-3, format="csr", random_state=0)
    y = np.random.default_rng(4).normal(size=10)
    model = QuantileRegressor(alpha=1e-3).fit(X, y)
    assert model.certificate_.relative_gap <= model.tol
    assert model.certificate_.primal == pytest.approx(risk(model, X, y))


def test_a_corner_fits_as_many_rows_as_it_has_unknowns_and_the_rest_by_shares() -> None:
    X, y = data(501, 5, seed=5)
    model = QuantileRegressor(quantile=0.3, alpha=0).fit(X, y)
    residual = y - model.predict(X)
    on = np.abs(residual) < 1e-10
    assert on.sum() == 6
    assert np.sum((residual < 0) & ~on) <= 0.3 * 501 <= np.sum((residual < 0) | on)


def test_sparse_rows_give_the_same_corner() -> None:
    X, y = data(seed=6)
    X[X < 0.3] = 0
    dense = QuantileRegressor(alpha=0.03).fit(X, y)
    compressed = QuantileRegressor(alpha=0.03).fit(sparse.csr_array(X), y)
    assert compressed.coef_ == pytest.approx(dense.coef_, rel=1e-10, abs=1e-14)
    assert np.array_equal(compressed.coef_ == 0, dense.coef_ == 0)


def test_the_bits_do_not_depend_on_the_number_of_threads() -> None:
    X, y = data(5000, 30, seed=7)
    fits = []
    for n in (1, 2, 7):
        with threads(n):
            fits.append(QuantileRegressor(quantile=0.7, alpha=0.01).fit(X, y))
    for other in fits[1:]:
        assert np.array_equal(other.coef_, fits[0].coef_)
        assert other.intercept_ == fits[0].intercept_


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_targets_that_fit_exactly(alpha: float) -> None:
    X, _ = data(seed=8)
    model = QuantileRegressor(alpha=alpha).fit(X, np.full(len(X), 2.5))
    assert model.intercept_ == pytest.approx(2.5)
    assert model.coef_ == pytest.approx(0, abs=1e-12)


def test_ties_and_duplicated_columns() -> None:
    random = np.random.default_rng(9)
    X = np.repeat(random.integers(0, 3, size=(300, 2)), 2, axis=1).astype(float)
    y = random.integers(0, 4, size=300).astype(float)
    for alpha in (0.0, 0.01):
        model = QuantileRegressor(quantile=0.4, alpha=alpha).fit(X, y)
        assert risk(model, X, y) == pytest.approx(reference(X, y, 0.4, alpha, True, np.ones(300)), rel=1e-7)


def test_limits_are_kept_and_told() -> None:
    X, y = data(1000, 10, seed=10)
    with pytest.warns(match="limit on the number of rounds"):
        model = QuantileRegressor(alpha=0.01, max_iter=1).fit(X, y)
    assert model.certificate_.reason is Reason.ROUNDS
    assert model.n_iter_ == 1
    assert model.certificate_.dual <= reference(X, y, 0.5, 0.01, True, np.ones(1000)) <= model.certificate_.primal


def test_the_solver_that_scipy_gave_up_is_refused() -> None:
    with pytest.raises(ValueError, match="interior-point is not anymore available"):
        QuantileRegressor(solver="interior-point").fit(*data())

"""The table of ``inference()`` against statsmodels, and the laws that any such table keeps."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from tutelage import (
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    TweedieRegressor,
)


def data(kind: str, n: int = 120, d: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d)) + np.array([2.0, -1.0, 0.0])
    w = np.array([0.4, -0.3, 0.2])
    score = X @ w - 1.0
    y = {
        "normal": score + rng.normal(size=n),
        "binary": (score + rng.logistic(size=n) > 0).astype(float),
        "classes": np.argmax(rng.gumbel(size=(n, 3)) + np.outer(score, [0.0, 1.0, -0.5]), axis=1),
        "counts": rng.poisson(np.exp(score)).astype(float),
        "amounts": rng.gamma(2.0, np.exp(score) / 2.0),
    }[kind]
    return X, y, rng.integers(1, 4, size=n).astype(float)


def with_constant_last(X: Any) -> Any:
    return np.column_stack([X, np.ones(len(X))])


def agree(table: Any, reference: Any, *, rtol: float = 1e-5) -> None:
    np.testing.assert_allclose(table.coefficient, reference.params, rtol=rtol)
    np.testing.assert_allclose(table.error, reference.bse, rtol=rtol)
    np.testing.assert_allclose(table.statistic, reference.tvalues, rtol=rtol)
    np.testing.assert_allclose(table.p, reference.pvalues, rtol=10 * rtol, atol=1e-300)
    np.testing.assert_allclose(np.column_stack([table.low, table.high]), reference.conf_int(), rtol=10 * rtol)


GENERALISED = {
    "binary": (lambda: LogisticRegression(C=np.inf, tol=1e-12), sm.families.Binomial()),
    "counts": (lambda: PoissonRegressor(alpha=0, tol=1e-12), sm.families.Poisson()),
    "amounts": (lambda: GammaRegressor(alpha=0, tol=1e-12), sm.families.Gamma(sm.families.links.Log())),
}


@pytest.mark.parametrize("kind", GENERALISED)
@pytest.mark.parametrize("weighted", [False, True])
def test_generalised_linear_models_agree_with_statsmodels(kind: str, weighted: bool) -> None:
    make, family = GENERALISED[kind]
    X, y, weight = data(kind)
    table = make().fit(X, y, weight if weighted else None).inference()
    reference = sm.GLM(y, with_constant_last(X), family=family, freq_weights=weight if weighted else None)
    agree(table, reference.fit(tol=1e-14))


@pytest.mark.parametrize("power", [1.5, 1.9])
def test_tweedie_agrees_with_statsmodels(power: float) -> None:
    X, y, _ = data("amounts")
    family = sm.families.Tweedie(sm.families.links.Log(), var_power=power)
    agree(
        TweedieRegressor(power=power, alpha=0, tol=1e-12).fit(X, y).inference(),
        sm.GLM(y, with_constant_last(X), family=family).fit(tol=1e-14),
    )


@pytest.mark.parametrize("intercept", [False, True])
def test_least_squares_agrees_with_statsmodels(intercept: bool) -> None:
    X, y, _ = data("normal")
    table = LinearRegression(fit_intercept=intercept).fit(X, y).inference(0.9)
    reference = sm.OLS(y, with_constant_last(X) if intercept else X).fit()
    np.testing.assert_allclose(table.coefficient, reference.params, rtol=1e-9)
    np.testing.assert_allclose(table.error, reference.bse, rtol=1e-9)
    np.testing.assert_allclose(table.p, reference.pvalues, rtol=1e-7)
    np.testing.assert_allclose(np.column_stack([table.low, table.high]), reference.conf_int(0.1), rtol=1e-7)


def test_a_row_of_weight_k_is_k_rows() -> None:
    X, y, weight = data("normal")
    times = weight.astype(int)
    weighted = LinearRegression().fit(X, y, weight).inference()
    repeated = LinearRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times)).inference()
    np.testing.assert_allclose(weighted.error, repeated.error, rtol=1e-9)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, rtol=1e-8, atol=1e-14)


def test_each_of_several_targets_has_the_table_of_a_fit_of_its_own() -> None:
    X, y, _ = data("normal")
    Y = np.column_stack([y, 2.0 * y + X[:, 0] ** 2])
    together = LinearRegression().fit(X, Y).inference()
    errors = np.concatenate([LinearRegression().fit(X, column).inference().error for column in Y.T])
    np.testing.assert_allclose(together.error, errors, rtol=1e-8)
    assert list(dict.fromkeys(together.classes)) == ["y0", "y1"]


def test_several_classes_agree_with_statsmodels_as_contrasts() -> None:
    X, y, _ = data("classes")
    table = LogisticRegression(C=np.inf, tol=1e-13).fit(X, y).inference(against=0)
    reference = sm.MNLogit(y, with_constant_last(X)).fit(disp=0, tol=1e-14, method="newton", maxiter=100)
    np.testing.assert_allclose(table.coefficient, np.asarray(reference.params).T.ravel(), rtol=1e-5)
    np.testing.assert_allclose(table.error, np.asarray(reference.bse).T.ravel(), rtol=1e-5)


def test_moving_the_columns_moves_only_the_intercept() -> None:
    X, y, _ = data("normal")
    near, far = (LinearRegression().fit(X + by, y).inference() for by in (0.0, 1e5))
    np.testing.assert_allclose(near.error[:-1], far.error[:-1], rtol=1e-6)


def test_a_pickled_model_has_the_same_table() -> None:
    X, y, _ = data("normal")
    model = LinearRegression().fit(X, y)
    again = pickle.loads(pickle.dumps(model)).inference()
    np.testing.assert_array_equal(model.inference().error, again.error)
    assert again.to_frame().shape == (4, 7)
    assert "<table>" in again._repr_html_()


def test_a_penalised_fit_says_why_it_has_none() -> None:
    X, y, _ = data("counts")
    with pytest.raises(ValueError, match=r"penalised: set alpha=0, or use a MAP model"):
        PoissonRegressor().fit(X, y).inference()
    with pytest.raises(ValueError, match="positive=False"):
        LinearRegression(positive=True).fit(X, y).inference()
    assert not hasattr(Ridge(), "inference")
    assert not hasattr(Lasso(), "inference")


def test_collinear_columns_say_why_they_have_none() -> None:
    X, y, _ = data("normal")
    twice = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="collinear"):
        LinearRegression().fit(twice, y).inference()
    with pytest.raises(ValueError, match="collinear"):
        PoissonRegressor(alpha=0).fit(twice, np.abs(y)).inference()
    with pytest.raises(ValueError, match="more rows than coefficients"):
        LinearRegression().fit(X[:4], y[:4]).inference()
    with pytest.raises(ValueError, match=r"between 0 and 1, found 2"):
        LinearRegression().fit(X, y).inference(2)

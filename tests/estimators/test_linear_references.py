"""Linear learners against a few lines of NumPy: normal equations, optimality conditions, plain refitting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.model_selection import KFold, StratifiedKFold

from tutelage import (
    BridgeRegressor,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    Lasso,
    LassoCV,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNet,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    TweedieRegressor,
    enet_path,
)

rng = np.random.default_rng(3)
N, D = 50, 6
X = rng.normal(size=(N, D)) + np.linspace(-1, 2, D)
Y = X[:, :3] @ rng.normal(size=(3, 2)) + 0.5 * rng.normal(size=(N, 2)) + 4.0
y = Y[:, 0]
classes = np.argmax(X[:, :3] + rng.gumbel(size=(N, 3)), axis=1)
weight = rng.uniform(0.5, 2.0, size=N)


def slopes(residual: Any, weight: Any = None) -> tuple[Any, Any]:
    """X' s r / S and the mean of r."""
    share = np.full(N, 1 / N) if weight is None else weight / weight.sum()
    return X.T @ (share * residual), share @ residual


@pytest.mark.parametrize("weights", [None, weight], ids=["alike", "weighted"])
def test_least_squares_and_ridge_solve_the_normal_equations(weights: Any) -> None:
    s = np.ones(N) if weights is None else weights
    one = np.column_stack([X, np.ones(N)])
    for alpha, model in ((0.0, LinearRegression()), (2.5, Ridge(2.5))):
        price = np.diag([alpha] * D + [0.0])
        expected = np.linalg.solve(one.T @ (s[:, None] * one) + price, one.T @ (s[:, None] * Y))
        model.fit(X, Y, weights)
        np.testing.assert_allclose(model.coef_, expected[:-1].T, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_, expected[-1], rtol=1e-9)


def test_collinear_columns_give_the_answer_of_least_norm() -> None:
    twice = np.column_stack([X, X])
    model = LinearRegression(fit_intercept=False).fit(twice, y)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(twice) @ y, rtol=1e-7)


def test_classifiers_by_least_squares_regress_on_the_labels() -> None:
    signs = np.where(classes[:, None] == np.arange(3), 1.0, -1.0)
    np.testing.assert_allclose(RidgeClassifier(2.0).fit(X, classes).coef_, Ridge(2.0).fit(X, signs).coef_, rtol=1e-9)
    units = (signs > 0).astype(float)
    np.testing.assert_allclose(
        LeastSquaresClassifier(2.0).fit(X, classes).coef_, Ridge(2.0).fit(X, units).coef_, rtol=1e-9
    )


def test_ridge_cv_leaves_each_row_out() -> None:
    alphas = [0.1, 1.0, 10.0]
    keep = ~np.eye(N, dtype=bool)
    errors = [
        np.mean([(y[i] - Ridge(a).fit(X[keep[i]], y[keep[i]]).predict(X[i : i + 1])[0]) ** 2 for i in range(N)])
        for a in alphas
    ]
    model = RidgeCV(alphas).fit(X, y)
    assert model.alpha_ == alphas[int(np.argmin(errors))]
    np.testing.assert_allclose(-model.best_score_, min(errors), rtol=1e-9)


@pytest.mark.parametrize("weights", [None, weight], ids=["alike", "weighted"])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_lasso_and_its_kin_are_optimal(ratio: float, weights: Any) -> None:
    alpha = 0.3
    model = (Lasso(alpha) if ratio == 1 else ElasticNet(alpha, l1_ratio=ratio)).fit(X, y, weights)
    g, mean = slopes(y - model.predict(X), weights)
    g -= alpha * (1 - ratio) * model.coef_
    used = model.coef_ != 0
    assert 0 < used.sum() < D
    np.testing.assert_allclose(mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(g[used], alpha * ratio * np.sign(model.coef_[used]), rtol=1e-6)
    assert np.all(np.abs(g[~used]) <= alpha * ratio)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("columns", [D, 3000])
def test_tasks_share_their_zeros_optimally(columns: int, intercept: bool) -> None:
    wide = np.column_stack([X, np.random.default_rng(0).normal(size=(N, columns - D))])
    alpha, ratio = 0.4, 0.9
    model = MultiTaskElasticNet(alpha, l1_ratio=ratio, tol=1e-10, fit_intercept=intercept, max_iter=10000).fit(wide, Y)
    residual = Y - model.predict(wide)
    g = (wide.T @ residual / N).T - alpha * (1 - ratio) * model.coef_
    size = np.linalg.norm(model.coef_, axis=0)
    used = size > 0
    assert 0 < used.sum() <= N
    np.testing.assert_allclose(g[:, used], alpha * ratio * model.coef_[:, used] / size[used], atol=2e-5)
    assert np.all(np.linalg.norm(g[:, ~used], axis=0) <= alpha * ratio * (1 + 1e-6))


def test_bridge_regression_with_known_exponents() -> None:
    np.testing.assert_allclose(BridgeRegressor(0.3, q=1).fit(X, y).coef_, Lasso(0.3).fit(X, y).coef_, atol=1e-4)
    np.testing.assert_allclose(BridgeRegressor(0.3, q=2).fit(X, y).coef_, Ridge(0.6 * N).fit(X, y).coef_, rtol=1e-8)
    model = BridgeRegressor(0.3, q=1.5, tol=1e-12).fit(X, y)
    g, _ = slopes(y - model.predict(X))
    np.testing.assert_allclose(g, 0.3 * 1.5 * np.sign(model.coef_) * np.sqrt(np.abs(model.coef_)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("weights", [None, weight], ids=["alike", "weighted"])
def test_logistic_regression_has_no_gradient(weights: Any) -> None:
    s = np.ones(N) if weights is None else weights
    two = LogisticRegression(C=0.7).fit(X, classes == 1, weights)
    left = s * (expit(two.decision_function(X)) - (classes == 1))
    np.testing.assert_allclose(X.T @ left + two.coef_[0] / 0.7, 0.0, atol=1e-6)
    np.testing.assert_allclose(left.sum(), 0.0, atol=1e-6)
    many = LogisticRegression(C=0.7).fit(X, classes, weights)
    left = s[:, None] * (softmax(many.decision_function(X), axis=1) - (classes[:, None] == np.arange(3)))
    np.testing.assert_allclose(left.T @ X + many.coef_ / 0.7, 0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "power"),
    [
        (PoissonRegressor(alpha=0.2), 1.0),
        (GammaRegressor(alpha=0.2), 2.0),
        (TweedieRegressor(power=1.5, alpha=0.2), 1.5),
    ],
    ids=repr,
)
def test_generalised_linear_models_have_no_gradient(model: Any, power: float) -> None:
    target = np.exp(0.3 * y)
    mean = model.fit(X, target, weight).predict(X)
    g, level = slopes((target - mean) * mean ** (1 - power), weight)
    np.testing.assert_allclose(g, 0.2 * model.coef_, atol=1e-7)
    np.testing.assert_allclose(level, 0.0, atol=1e-7)


def test_cross_validated_lassos_are_plain_refits() -> None:
    alphas, folds = [0.05, 0.2, 0.8], KFold(3)
    model = LassoCV(alphas=alphas, cv=folds).fit(X, y)
    parts = list(folds.split(X))

    def error(alpha: float, train: Any, test: Any) -> float:
        return float(np.mean((y[test] - Lasso(alpha).fit(X[train], y[train]).predict(X[test])) ** 2))

    errors = [[error(alpha, *part) for part in parts] for alpha in model.alphas_]
    np.testing.assert_allclose(model.mse_path_, errors, rtol=1e-6)
    np.testing.assert_allclose(model.coef_, Lasso(model.alpha_).fit(X, y).coef_, rtol=1e-6)
    both = ElasticNetCV(l1_ratio=[0.3, 1.0], alphas=alphas, cv=folds).fit(X, y)
    plain = ElasticNet(both.alpha_, l1_ratio=both.l1_ratio_).fit(X, y)
    np.testing.assert_allclose(both.coef_, plain.coef_, rtol=1e-6)


def test_cross_validated_logistic_regression_is_plain_refitting() -> None:
    folds = StratifiedKFold(3)
    model = LogisticRegressionCV(
        Cs=[0.01, 1.0, 10.0], l1_ratios=(0,), cv=folds, scoring="accuracy", use_legacy_attributes=False
    ).fit(X, classes)
    for f, (train, test) in enumerate(folds.split(X, classes)):
        for c, C in enumerate(model.Cs_):
            plain = LogisticRegression(C=C).fit(X[train], classes[train])
            assert model.scores_[f, 0, c] == plain.score(X[test], classes[test])
    np.testing.assert_allclose(model.coef_, LogisticRegression(C=model.C_).fit(X, classes).coef_, rtol=1e-6)


def test_a_path_is_its_fits() -> None:
    alphas, coefs, gaps = enet_path(X, y, l1_ratio=0.7, alphas=[0.1, 0.5, 1.0])
    for alpha, coef in zip(alphas, coefs.T, strict=True):
        plain = ElasticNet(alpha, l1_ratio=0.7, fit_intercept=False).fit(X, y)
        np.testing.assert_allclose(coef, plain.coef_, rtol=1e-6, atol=1e-9)
    assert np.all(gaps >= 0)


def test_a_path_with_an_intercept_finds_it_whatever_the_mean() -> None:
    for shift in (0.0, 1.0, 1.7, 1e4):
        model = LassoCV(alphas=20, cv=3).fit(X, y + shift)
        plain = LassoCV(alphas=20, cv=3).fit(X, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(model.intercept_ - shift, plain.intercept_, rtol=1e-5)


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (Lasso(0.3, warm_start=True), {"alpha": 0.1}),
        (ElasticNet(0.3, warm_start=True), {"alpha": 0.1}),
        (LogisticRegression(C=1.0, warm_start=True), {"C": 10.0}),
        (PoissonRegressor(alpha=1.0, warm_start=True), {"alpha": 0.1}),
    ],
    ids=repr,
)
def test_a_warm_start_ends_at_the_same_optimum(model: Any, change: dict[str, Any]) -> None:
    target = classes if isinstance(model, LogisticRegression) else np.exp(0.3 * y)
    warm = model.set_params(tol=1e-10).fit(X, target).set_params(**change).fit(X, target)
    cold = type(model)(**(model.get_params() | {"warm_start": False})).fit(X, target)
    np.testing.assert_allclose(warm.coef_, cold.coef_, rtol=1e-4, atol=1e-6)

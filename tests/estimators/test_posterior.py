"""MAP models: their maximum and Laplace posterior against closed forms and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import log_softmax

from tutelage import LogisticRegression, MAPClassifier, MAPRegressor

D = 3
SPREAD = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 0.5]])


def data(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, D)) + np.array([0, 5, 0])
    return X, X @ [1.0, -0.5, 0.0] + random.normal(size=n), random.integers(1, 4, size=n).astype(float)


def hessian(f: Any, point: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """Second derivatives by central differences."""
    moves = step * np.eye(len(point))
    return np.array(
        [[(f(point + a + b) - f(point + a - b) - f(point - a + b) + f(point - a - b)) / (4 * step**2) for b in moves]
         for a in moves]
    )  # fmt: skip


@pytest.mark.parametrize("covariance", [0.7, np.array([0.1, 1.0, 10.0]), SPREAD], ids=["one", "each", "full"])
@pytest.mark.parametrize("mean", [0.0, np.array([1.0, 0.0, -1.0])], ids=["zero", "each"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_posterior_of_linear_regression_in_closed_form(covariance: Any, mean: Any, intercept: bool) -> None:
    X, y, weight = data()
    noise = 0.8
    model = MAPRegressor(mean, covariance, noise_variance=noise, fit_intercept=intercept).fit(X, y, weight)
    # Normal times normal: precisions add; a flat intercept has none.
    matrix = np.diag(np.broadcast_to(covariance, D)) if np.ndim(covariance) < 2 else covariance
    prior = np.linalg.inv(matrix)
    A = np.hstack([X, np.ones((len(y), 1))]) if intercept else X
    before = np.pad(prior, (0, 1)) if intercept else prior
    expected = np.append(np.broadcast_to(mean, D), 0.0) if intercept else np.broadcast_to(mean, D)
    posterior = np.linalg.inv(A.T @ (weight[:, None] * A) / noise + before)
    centre = posterior @ (A.T @ (weight * y) / noise + before @ expected)
    found = np.append(model.coef_, model.intercept_) if intercept else model.coef_
    assert found == pytest.approx(centre, abs=1e-7)
    table = model.inference(level=0.9)
    assert table.covariance == pytest.approx(posterior, abs=1e-8)
    assert table.coefficient == pytest.approx(centre, abs=1e-7)
    assert table.high - table.low == pytest.approx(2 * 1.6448536 * np.sqrt(np.diag(posterior)), rel=1e-6)
    new = np.array([[0.3, 4.0, -1.0]])
    row = np.append(new[0], 1.0) if intercept else new[0]
    means, deviations = model.predict(new, return_std=True)
    assert deviations[0] == pytest.approx(np.sqrt(row @ posterior @ row + noise), rel=1e-7)
    assert means[0] == pytest.approx(row @ centre)
    _, compressed = model.predict(sparse.csr_array(new), return_std=True)
    assert compressed == pytest.approx(deviations)


@pytest.mark.parametrize("covariance", [0.7, SPREAD], ids=["one", "full"])
def test_the_posterior_of_two_classes_by_differences(covariance: Any) -> None:
    X, z, weight = data(1)
    y = np.where(z > np.median(z) + np.random.default_rng(1).normal(size=len(z)), 1.0, -1.0)
    mean = np.array([0.5, 0.0, -0.5])
    model = MAPClassifier(mean, covariance, tol=1e-14).fit(X, y, weight)
    prior = np.linalg.inv(covariance * np.eye(D) if np.ndim(covariance) == 0 else covariance)

    def surprise(point: np.ndarray) -> float:
        scores = X @ point[:D] + point[D]
        off = point[:D] - mean
        return float(np.dot(weight, np.logaddexp(0, -y * scores)) + off @ prior @ off / 2)

    point = np.append(model.coef_[0], model.intercept_)
    slope = [(surprise(point + e) - surprise(point - e)) / 2e-6 for e in 1e-6 * np.eye(D + 1)]
    assert slope == pytest.approx(np.zeros(D + 1), abs=1e-5)
    assert model.inference().covariance == pytest.approx(np.linalg.inv(hessian(surprise, point)), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_posterior_of_three_classes_by_differences(intercept: bool) -> None:
    X, z, weight = data(2)
    y = np.digitize(z + np.random.default_rng(2).normal(size=len(z)), np.quantile(z, [0.3, 0.6]))
    model = MAPClassifier(covariance=SPREAD, fit_intercept=intercept, tol=1e-14).fit(X, y, weight)
    prior = np.linalg.inv(SPREAD)

    def surprise(point: np.ndarray) -> float:
        coef = point[: 3 * D].reshape(3, D)
        intercepts = point[3 * D :] if intercept else np.zeros(3)
        likelihood = log_softmax(X @ coef.T + intercepts, axis=1)[np.arange(len(y)), y]
        return float(-np.dot(weight, likelihood) + np.einsum("ij,jk,ik", coef, prior, coef) / 2)

    point = np.append(model.coef_.ravel(), model.intercept_) if intercept else model.coef_.ravel()
    curvature = hessian(surprise, point)
    if intercept:
        assert np.sum(model.intercept_) == pytest.approx(0, abs=1e-12)
        # The common part of the intercepts is flat: bound, inverted, and taken away.
        flat = np.zeros_like(curvature)
        flat[3 * D :, 3 * D :] = 1.0
        centre = np.eye(len(point))
        centre[3 * D :, 3 * D :] -= 1 / 3
        expected = centre @ np.linalg.inv(curvature + flat) @ centre
    else:
        expected = np.linalg.inv(curvature)
    order = [*range(D), 3 * D, *range(D, 2 * D), 3 * D + 1, *range(2 * D, 3 * D), 3 * D + 2]
    order = order if intercept else list(range(3 * D))
    assert model.inference().covariance == pytest.approx(expected[np.ix_(order, order)], rel=1e-3, abs=2e-4)


def test_a_variance_is_the_strength_of_logistic_regression() -> None:
    X, z, _ = data(3)
    y = np.digitize(z, np.quantile(z, [0.3, 0.6]))
    for labels in (y, y > 0):
        ours = MAPClassifier(covariance=0.3, tol=1e-12).fit(X, labels)
        theirs = LogisticRegression(C=0.3, tol=1e-12).fit(X, labels)
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
        assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)


def test_without_data_on_a_column_the_prior_remains() -> None:
    X, y, _ = data(4)
    X[:, 2] = 0
    model = MAPRegressor(mean=[0.0, 0.0, 7.0], covariance=[1.0, 1.0, 0.25]).fit(X, y)
    assert model.coef_[2] == pytest.approx(7)
    assert model.inference().error[2] == pytest.approx(0.5)


def test_a_strong_prior_wins_and_a_weak_one_yields() -> None:
    X, y, _ = data(5)
    strong = MAPRegressor(mean=3.0, covariance=1e-12).fit(X, y)
    assert strong.coef_ == pytest.approx(np.full(D, 3.0), abs=1e-6)
    weak = MAPRegressor(mean=3.0, covariance=1e12).fit(X, y)
    centred = X - X.mean(axis=0)
    assert weak.coef_ == pytest.approx(np.linalg.lstsq(centred, y - y.mean(), rcond=None)[0], abs=1e-6)


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ({"mean": [1.0, 2.0]}, "'mean' parameter of MAPRegressor must be finite"),
        ({"covariance": np.eye(2)}, "'covariance' parameter of MAPRegressor must be a variance"),
        ({"covariance": -np.eye(D)}, "positive definite"),
        ({"covariance": -1.0}, "covariance|strength|positive"),
        ({"noise_variance": 0.0}, "'noise_variance' parameter"),
    ],
)
def test_impossible_priors_are_named(prior: dict[str, Any], match: str) -> None:
    X, y, _ = data()
    with pytest.raises(ValueError, match=match):
        MAPRegressor(**prior).fit(X, y)

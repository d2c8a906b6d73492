"""Bounds: each holds on simulated populations as often as it says, is its formula, and says when it is vacuous."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from tutelage import LogisticRegression, risk_bounds
from tutelage.evaluation import (
    clopper_pearson,
    compression_bound,
    holdout_bound,
    margin_bound,
    margin_dimension,
    pac_bayes_bound,
    perceptron_bound,
    rademacher,
    rademacher_bound,
    vc_bound,
)
from tutelage.evaluation.bounds import binomial_ceiling, kl, kl_ceiling

LEVEL = 0.8  # low, so that violations would be seen
RUNS = 120


def holds(violations: int, runs: int = RUNS) -> bool:
    return bool(stats.binomtest(violations, runs, 1 - LEVEL, alternative="greater").pvalue > 1e-3)


def perceptron(X: Any, y: Any, epochs: int = 5) -> tuple[Any, Any]:
    """Rosenblatt's, with y = -1 or 1; the mistakes on each row."""
    w, mistakes = np.zeros(X.shape[1]), np.zeros(len(X), int)
    for _ in range(epochs):
        for i, (x, sign) in enumerate(zip(X, y, strict=True)):
            if sign * (x @ w) <= 0:
                w += sign * x
                mistakes[i] += 1
    return w, mistakes


def population(seed: int, n: int, noise: float = 0.0, margin: float = 0.0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(4 * n, 3))
    X = X[np.abs(X[:, 0]) > margin][:n]
    y = np.sign(X[:, 0]) * np.where(random.random(len(X)) < noise, -1, 1)
    return X, y


# --- formulas
# ------------------------------------------------------------------------------------------------------------


def test_vc_is_the_formula() -> None:
    n, h, d = 5000, 7, 0.05
    expected = 0.1 + 2 * math.sqrt(2 * (h * math.log(2 * math.e * n / h) + math.log(2 / d)) / n)
    assert vc_bound(0.1, n, h).value == pytest.approx(expected)
    assert vc_bound(0.1, n, h + 1).value > expected > vc_bound(0.1, 2 * n, h).value
    assert vc_bound(0.1, 5, 50).vacuous
    assert "vacuous" in str(vc_bound(0.1, 5, 50))
    assert margin_dimension(2.0, 0.5, 10) == 10
    assert margin_dimension(2.0, 2.0, 10) == 4


def test_the_holdout_bound_is_the_one_sided_exact_interval() -> None:
    for errors, rows in ((0, 10), (3, 50), (50, 50), (120, 4000)):
        assert holdout_bound(errors, rows, level=0.975).value == pytest.approx(clopper_pearson(errors, rows).high)
        assert stats.binom.cdf(errors, rows, binomial_ceiling(errors, rows, math.log(0.05))) == pytest.approx(
            1.0 if errors == rows else 0.05
        )


def test_chernoff_takes_over_where_the_exact_tail_has_no_number() -> None:
    exact, rough = binomial_ceiling(50, 1000, -590.0), binomial_ceiling(50, 1000, -601.0)
    assert exact < rough < 1
    assert kl_ceiling(0.05, 590 / 1000) >= exact


def test_kl_and_its_ceiling_are_inverse() -> None:
    for q, room in product([0.0, 0.1, 0.5, 0.99, 1.0], [1e-6, 0.1, 3.0]):
        p = kl_ceiling(q, room)
        assert q <= p <= 1
        if p < 1 - 1e-12:
            assert kl(q, p) == pytest.approx(room, rel=1e-6, abs=1e-12)
    assert kl(0.3, 0.3) == 0
    assert kl_ceiling(0.2, 0.05) <= 0.2 + math.sqrt(0.05 / 2)  # Pinsker


def test_rademacher_by_drawing_is_rademacher_by_counting() -> None:
    table = np.random.default_rng(0).normal(size=(8, 5))
    signs = np.array(list(product([-1.0, 1.0], repeat=8)))
    exact = (signs @ table).max(axis=1).mean() / 8
    ball = np.linalg.norm(signs @ table, axis=1).mean() / 8
    for kind, values, expected in (
        ("functions", table, exact),
        ("ball", table, ball),
        ("kernel", table @ table.T, ball),
    ):
        made = rademacher(values, kind, draws=20_000)  # type: ignore[arg-type]
        assert made.value == pytest.approx(expected, rel=0.03)
        assert made.ceiling(0.01) > expected
    assert rademacher(table, "ball", radius=3.0).value == pytest.approx(3 * rademacher(table, "ball").value)


def test_more_functions_fit_noise_better() -> None:
    signs = np.where(np.random.default_rng(0).random((300, 500)) < 0.5, -1.0, 1.0)
    few, many = rademacher(signs[:, :5]), rademacher(signs)
    assert few.value < many.value < math.sqrt(2 * math.log(500) / 300)  # Massart


def test_pac_bayes_is_the_formula() -> None:
    X, y = population(0, 2000)
    made = pac_bayes_bound([1.0, 0.0, 0.0], X, y > 0)
    m = made.details["length"]
    errors = ndtr(-m * y * X[:, 0] / np.linalg.norm(X, axis=1)).mean()
    assert made.details["errors of the cloud"] == pytest.approx(errors)
    room = (m * m / 2 + math.log(2 * math.sqrt(2000) * 49 / 0.05)) / 2000
    assert kl(errors, made.details["cloud"]) == pytest.approx(room, rel=1e-6)
    assert made.value == 2 * made.details["cloud"]
    scaled = pac_bayes_bound([7.0, 0.0, 0.0], 3 * X, y > 0)
    assert scaled.value == pytest.approx(made.value)


def test_the_cloud_errs_as_its_formula_says() -> None:
    X, y = population(1, 50)
    random = np.random.default_rng(0)
    w, m = np.array([1.0, 0.5, 0.0]), 2.0
    drawn = m * w / np.linalg.norm(w) + random.normal(size=(20_000, 3))
    seen = (y[:, None] * (X @ drawn.T) <= 0).mean(axis=1)
    told = ndtr(-m * y * (X @ w) / (np.linalg.norm(w) * np.linalg.norm(X, axis=1)))
    np.testing.assert_allclose(seen, told, atol=0.015)


# --- they hold
# -----------------------------------------------------------------------------------------------------------


def test_the_holdout_bound_holds_and_is_tight() -> None:
    p, n = 0.13, 150
    errors = np.random.default_rng(0).binomial(n, p, size=2000)
    violations = sum(holdout_bound(int(one), n, level=LEVEL).value < p for one in errors)
    exact = stats.binom.cdf([k for k in range(n) if holdout_bound(k, n, level=LEVEL).value < p][-1], n, p)
    assert exact <= 1 - LEVEL
    assert abs(violations / 2000 - exact) < 5 * math.sqrt(0.2 * 0.8 / 2000)
    assert exact > 0.1


def test_vc_rademacher_and_margin_bounds_hold_for_the_best_of_a_class() -> None:
    """Thresholds on three columns, the best on the rows; its error is known."""
    directions = np.random.default_rng(5).normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    violations = {"VC": 0, "Rademacher": 0, "margin": 0}
    for seed in range(RUNS):
        X, y = population(seed, 400, noise=0.1)
        told = np.sign(X @ directions.T)
        wrong = (told != y[:, None]).mean(axis=0)
        best = int(wrong.argmin())
        angle = math.acos(float(np.clip(directions[best, 0], -1, 1))) / math.pi  # where its sign differs from the truth
        true = 0.9 * angle + 0.1 * (1 - angle)
        violations["VC"] += vc_bound(float(wrong[best]), 400, 3, level=LEVEL).value < true
        complexity = rademacher(told, draws=50)
        violations["Rademacher"] += rademacher_bound(float(wrong[best]), complexity, level=LEVEL).value < true
        ball = rademacher(X, "ball", draws=50)
        violations["margin"] += margin_bound(y * (X @ directions[best]), ball, level=LEVEL).value < true
    assert all(map(holds, violations.values())), violations


def test_the_pac_bayes_bound_holds_for_the_fitted_classifier() -> None:
    violations = {"vote": 0, "cloud": 0}
    for seed in range(60):
        X, y = population(seed, 300, noise=0.05)
        w = np.linalg.lstsq(X, y, rcond=None)[0]
        made = pac_bayes_bound(w, X, y > 0, level=LEVEL)
        fresh, truth = population(10_000 + seed, 20_000, noise=0.05)
        violations["vote"] += made.value < (np.sign(fresh @ w) != truth).mean()
        cosine = truth * (fresh @ w) / (np.linalg.norm(w) * np.linalg.norm(fresh, axis=1))
        violations["cloud"] += made.details["cloud"] < ndtr(-made.details["length"] * cosine).mean()
        assert made.value < 1
    assert holds(violations["vote"], 60)
    assert holds(violations["cloud"], 60)


def test_the_compression_bound_of_a_perceptron_holds_and_says_something() -> None:
    violations, values = 0, []
    for seed in range(60):
        X, y = population(seed, 500, margin=0.3)
        w, mistakes = perceptron(X, y)
        clean = mistakes == 0
        errors = int((np.sign(X[clean] @ w) != y[clean]).sum())
        made = perceptron_bound(500, mistakes, errors, level=LEVEL)
        fresh, truth = population(10_000 + seed, 5000, margin=0.3)
        violations += made.value < (np.sign(fresh @ w) != truth).mean()
        values.append(made.value)
    assert holds(violations, 60)
    assert np.median(values) < 0.3


def test_a_larger_compression_set_is_worth_less() -> None:
    values = [compression_bound(1000, size).value for size in (0, 5, 50, 500)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(binomial_ceiling(0, 1000, math.log(0.05 / 1001)))
    assert compression_bound(10, 10).vacuous
    assert compression_bound(1000, 5, log_messages=3.0).value > values[1]


def test_a_table_of_all_bounds_for_a_model() -> None:
    X, y = population(3, 3000, noise=0.02)
    model = LogisticRegression().fit(X[:2000], y[:2000])
    made = risk_bounds(model, X[:2000], y[:2000], X[2000:], y[2000:])
    assert [one.name for one in made.bounds] == ["test set", "VC", "margin", "PAC-Bayes"]
    assert made["test set"].value < made["PAC-Bayes"].value < 1
    assert made["VC"].details["dimension"] == 4
    assert len(str(made).splitlines()) == 4
    model.support_ = np.arange(30)
    assert risk_bounds(model, X[:2000], y[:2000])["compression"].details["size"] == 30
    with pytest.raises(KeyError, match="does not apply"):
        made["compression"]


def test_bad_input_is_told_in_a_sentence() -> None:
    X, y = population(0, 100)
    with pytest.raises(ValueError, match="errors must lie between"):
        holdout_bound(5, 3)
    with pytest.raises(ValueError, match="dimension must be positive"):
        vc_bound(0.1, 100, 0)
    with pytest.raises(ValueError, match="must be positive"):
        margin_dimension(1, 0, 3)
    with pytest.raises(ValueError, match="square kernel matrix"):
        rademacher(X, "kernel")
    with pytest.raises(ValueError, match="one for each of 100 rows"):
        margin_bound([1.0], rademacher(X, "ball"))
    with pytest.raises(ValueError, match="a column for each of 2 coefficients"):
        pac_bayes_bound([1.0, 2.0], X, y)
    with pytest.raises(ValueError, match="linear classifier of two classes"):
        risk_bounds(object(), X, y)

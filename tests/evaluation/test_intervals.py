"""Intervals: references where they are known, and laws."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from tutelage.evaluation import Interval, bootstrap, clopper_pearson, newcombe, wilson
from tutelage.evaluation.intervals import bca_of
from tutelage.evaluation.scores import assess, evaluate

COUNTS = [(right, total) for total in (1, 7, 223, 10_000) for right in sorted({0, 1, total // 3, total})]


@pytest.mark.parametrize(("right", "total"), COUNTS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
@pytest.mark.parametrize(("made", "theirs"), [(wilson, "wilson"), (clopper_pearson, "beta")])
def test_shares_have_the_intervals_of_statsmodels(right: int, total: int, level: float, made: Any, theirs: str) -> None:
    expected = np.nan_to_num(proportion_confint(right, total, alpha=1 - level, method=theirs), nan=0.0)
    if theirs == "beta":  # statsmodels says NaN for the ends that are certain
        expected = [0.0 if right == 0 else expected[0], 1.0 if right == total else expected[1]]
    np.testing.assert_allclose(made(right, total, level), expected, rtol=1e-9, atol=1e-12)


def test_newcombe_agrees_with_his_table() -> None:
    """Newcombe (1998), Statistics in Medicine 17, table III: method 10 for several divisions of 50 and more rows."""
    for counts, expected in {
        (36, 12, 2, 0): (0.0569, 0.3404),
        (53, 1, 0, 1): (-0.0546, 0.0915),
    }.items():
        made = newcombe(*counts)
        assert made.low <= (counts[1] - counts[2]) / sum(counts) <= made.high
        if counts == (36, 12, 2, 0):
            np.testing.assert_allclose(made, expected, atol=5e-5)


def test_newcombe_turns_around_with_its_arguments() -> None:
    one, other = newcombe(50, 10, 4, 20), newcombe(50, 4, 10, 20)
    np.testing.assert_allclose(one, (-other.high, -other.low))


@pytest.mark.parametrize("skewed", [False, True])
def test_bca_is_that_of_scipy(skewed: bool) -> None:
    random = np.random.default_rng(0)
    errors = random.exponential(size=80) if skewed else random.normal(size=80)
    ours = bootstrap(np.zeros(80), errors, "root_squared_error", tables=20_000)
    theirs = stats.bootstrap(
        (errors,), lambda e, axis: np.sqrt(np.mean(e**2, axis=axis)), n_resamples=20_000, rng=1
    ).confidence_interval
    np.testing.assert_allclose(ours, theirs, rtol=0.02)


def test_bca_without_bias_and_skewness_is_the_percentile_interval() -> None:
    values = np.random.default_rng(0).normal(size=4001)
    seen = float(np.median(values))
    made = bca_of(seen, values, np.array([-1.0, 1.0]), np.ones(2))
    np.testing.assert_allclose(made, np.quantile(values, [0.025, 0.975]), atol=0.01)


def test_an_interval_moves_with_an_increasing_map_of_the_metric() -> None:
    errors = np.random.default_rng(1).normal(size=150)
    squared = bootstrap(np.zeros(150), errors, "squared_error")
    root = bootstrap(np.zeros(150), errors, "root_squared_error")
    np.testing.assert_allclose(np.sqrt(squared), root, rtol=0.01)


def test_the_same_seed_gives_the_same_interval() -> None:
    y, z = np.repeat([0, 1], 30), np.tile([0, 1, 1], 20)
    assert bootstrap(y, z, "f1", random_state=3) == bootstrap(y, z, "f1", random_state=3)
    assert bootstrap(y, z, "f1", random_state=3) != bootstrap(y, z, "f1", random_state=4)


@pytest.mark.parametrize("name", ["f1", "matthews", "log_loss", "r2", "root_squared_error", "average_precision"])
def test_common_metrics_are_resampled_in_less_than_a_second(name: str) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 10_000)
    z = np.clip(0.5 * y + 0.5 * random.random(10_000), 0, 1)
    start = time.process_time()
    bootstrap(y, (z > 0.5).astype(int) if name in {"f1", "matthews"} else z, name)
    assert time.process_time() - start < 2.0  # some 0.2 s; twice looped in Python it would be minutes


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("accuracy", "Wilson"),
        ("recall", "Wilson"),
        ("auc", "DeLong"),
        ("f1", "BCa bootstrap"),
        ("brier", "BCa bootstrap"),
    ],
)
def test_the_interval_is_chosen_by_the_metric(name: str, method: str) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    p = np.clip(0.3 * y + 0.7 * random.random(200), 0, 1)
    made = assess(y, (p > 0.5).astype(int) if name in {"accuracy", "recall", "f1"} else p, name)
    assert made.method == method
    assert made.value in made.interval
    if name == "recall":
        hits = int(np.sum((y == 1) & (p > 0.5)))
        assert made.interval == wilson(hits, int(y.sum()))


def test_evaluate_gives_every_score_an_interval() -> None:
    from tutelage import LinearRegression, LogisticRegression

    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = np.where(X[:, 0] + random.normal(size=300) > 0, "up", "down")
    made = evaluate(LogisticRegression().fit(X[:150], y[:150]), X[150:], y[150:])
    assert [one.metric for one in made.scores] == ["accuracy", "balanced_accuracy", "auc", "log_loss", "brier"]
    assert all(one.interval.low < one.value < one.interval.high for one in made.scores)
    assert "accuracy" in str(made)
    target = X[:, 0] + random.normal(size=300)
    numbers = evaluate(LinearRegression().fit(X[:150], target[:150]), X[150:], target[150:], level=0.8)
    assert [one.metric for one in numbers.scores] == ["root_squared_error", "absolute_error", "r2"]
    with pytest.raises(KeyError, match="was not measured"):
        numbers["auc"]


def test_a_metric_of_probabilities_that_the_model_lacks_is_told() -> None:
    from tutelage import RidgeClassifier

    X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    with pytest.raises(ValueError, match="RidgeClassifier gives none: it has no predict_proba"):
        evaluate(RidgeClassifier().fit(X, y), X, y, ["log_loss"])
    assert evaluate(RidgeClassifier().fit(X, y), X, y, "auc")["auc"].value == 1


def test_bad_input_is_told_in_a_sentence() -> None:
    y = np.array([0, 1, 1, 0])
    with pytest.raises(ValueError, match="level must lie between 0 and 1, found 95"):
        wilson(1, 2, 95)
    with pytest.raises(ValueError, match="right must lie between 0 and total"):
        clopper_pearson(3, 2)
    with pytest.raises(ValueError, match="tables must be at least 100"):
        bootstrap(y, y, tables=5)
    with pytest.raises(ValueError, match="is for a share of rows"):
        assess(y, y, "f1", method="wilson")
    with pytest.raises(ValueError, match="method must be one of"):
        assess(y, y, method="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metrics must name at least one"):
        evaluate(None, y[:, None], y, [])


def test_an_interval_prints_and_holds_numbers() -> None:
    made = Interval(0.25, 0.5)
    assert 0.3 in made
    assert 0.6 not in made
    assert "x" not in made
    assert str(made) == "0.25 to 0.5"
    assert made.width == 0.25

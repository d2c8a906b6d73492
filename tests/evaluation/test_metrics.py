"""Metrics are those of scikit-learn, and their pieces add up: weights are repetitions, left out is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import metrics as theirs

import tutelage
from tutelage.evaluation import METRICS, metric
from tutelage.evaluation.metrics import Metric, row_values, value_of
from tutelage.evaluation.samples import MOST_BLOCKS, draws

RANDOM = np.random.default_rng(0)
N = 120
BINARY = RANDOM.integers(0, 2, N)
SCORE = np.round(BINARY + RANDOM.normal(size=N), 1)  # with ties
PROBABILITY = 1 / (1 + np.exp(-SCORE))
LABEL = (SCORE > 0.5).astype(int)
THREE = RANDOM.integers(0, 3, N)
P3 = RANDOM.dirichlet([1, 1, 1], N) * 0.6 + 0.4 * np.eye(3)[THREE]
TOLD3 = P3.argmax(axis=1)
NUMBER = RANDOM.normal(size=N)
GUESS = NUMBER + 0.5 * RANDOM.normal(size=N)

CASES: dict[str, tuple[Any, Any, Any]] = {
    "accuracy": (THREE, TOLD3, theirs.accuracy_score),
    "error": (THREE, TOLD3, theirs.zero_one_loss),
    "balanced_accuracy": (THREE, TOLD3, theirs.balanced_accuracy_score),
    "precision": (BINARY, LABEL, theirs.precision_score),
    "recall": (BINARY, LABEL, theirs.recall_score),
    "specificity": (BINARY, LABEL, lambda y, z: theirs.recall_score(y, z, pos_label=0)),
    "f1": (BINARY, LABEL, theirs.f1_score),
    "f1_macro": (THREE, TOLD3, lambda y, z: theirs.f1_score(y, z, average="macro")),
    "kappa": (THREE, TOLD3, theirs.cohen_kappa_score),
    "matthews": (THREE, TOLD3, theirs.matthews_corrcoef),
    "log_loss": (THREE, P3, theirs.log_loss),
    "brier": (BINARY, PROBABILITY, theirs.brier_score_loss),
    "auc": (BINARY, SCORE, theirs.roc_auc_score),
    "average_precision": (BINARY, SCORE, theirs.average_precision_score),
    "squared_error": (NUMBER, GUESS, theirs.mean_squared_error),
    "root_squared_error": (NUMBER, GUESS, theirs.root_mean_squared_error),
    "absolute_error": (NUMBER, GUESS, theirs.mean_absolute_error),
    "r2": (NUMBER, GUESS, theirs.r2_score),
}
NAMES = sorted(METRICS)


def test_every_metric_has_a_reference() -> None:
    assert set(CASES) == set(METRICS)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_scikit_learn(name: str) -> None:
    y, z, reference = CASES[name]
    assert metric(name)(y, z) == pytest.approx(reference(y, z), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_weight_is_a_number_of_copies(name: str) -> None:
    y, z, _ = CASES[name]
    sample = metric(name).on(y, z)
    counts = np.random.default_rng(1).multinomial(N, np.full(N, 1 / N), size=4).astype(float)
    rows = [np.repeat(np.arange(N), count.astype(int)) for count in counts]
    expected = [metric(name)(y[one], z[one], classes=np.unique(y) if z.ndim == 2 else None) for one in rows]
    np.testing.assert_allclose(sample.weighted(counts), expected, rtol=1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_left_out_is_the_metric_without_these_rows(name: str) -> None:
    y, z, _ = CASES[name]
    sample = metric(name).on(y, z)
    values, multiplicity = sample.left_out()
    expected = [metric(name)(np.delete(y, i), np.delete(z, i, axis=0)) for i in range(N)]
    assert multiplicity.sum() == N <= MOST_BLOCKS
    np.testing.assert_allclose(np.sort(np.repeat(values, multiplicity.astype(int))), np.sort(expected), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_resampled_values_have_the_spread_of_tables_drawn_one_by_one(name: str) -> None:
    y, z, _ = CASES[name]
    sample = metric(name).on(y, z)
    quick = sample.resampled(np.random.default_rng(2), 3000)
    slow = np.concatenate([sample.weighted(counts) for counts in draws(np.random.default_rng(3), N, 3000)])
    error = slow.std() / np.sqrt(3000)
    assert abs(quick.mean() - slow.mean()) < 5 * np.sqrt(2) * error
    assert quick.std() == pytest.approx(slow.std(), rel=0.12)


def test_a_function_of_ones_own_is_resampled_too() -> None:
    sample = metric(lambda y, z: float(np.mean(y == z))).on(THREE, TOLD3)
    known = metric("accuracy").on(THREE, TOLD3)
    weights = np.random.default_rng(0).integers(0, 3, size=(5, N)).astype(float)
    np.testing.assert_allclose(sample.weighted(weights), known.weighted(weights))


def test_the_area_of_three_classes_is_the_mean_of_one_against_the_rest() -> None:
    expected = theirs.roc_auc_score(THREE, P3, multi_class="ovr")
    assert metric("auc")(THREE, P3) == pytest.approx(expected)


def test_brier_of_three_classes_is_the_squared_distance() -> None:
    assert metric("brier")(THREE, P3) == pytest.approx(np.mean(((P3 - np.eye(3)[THREE]) ** 2).sum(axis=1)))


@pytest.mark.parametrize("name", ["accuracy", "error", "log_loss", "brier", "squared_error", "absolute_error"])
def test_row_values_average_to_the_metric(name: str) -> None:
    y, z, _ = CASES[name]
    assert row_values(name, y, z).mean() == pytest.approx(metric(name)(y, z))


def test_labels_may_be_words() -> None:
    words = np.array(["no", "yes"])
    assert metric("f1")(words[BINARY], words[LABEL]) == metric("f1")(BINARY, LABEL)
    assert metric("auc")(words[BINARY], SCORE) == metric("auc")(BINARY, SCORE)


@pytest.mark.parametrize("name", ["squared_error", "auc", "f1", "r2"])
def test_the_same_bits_on_any_number_of_threads(name: str, thread_count: int) -> None:
    y, z, _ = CASES[name]
    with tutelage.threads(thread_count):
        values = metric(name).on(y, z).resampled(np.random.default_rng(0), 50)
    with tutelage.threads(1):
        assert np.array_equal(values, metric(name).on(y, z).resampled(np.random.default_rng(0), 50))


def test_r2_keeps_its_digits_far_from_zero() -> None:
    far = NUMBER + 1e7
    assert metric("r2")(far, GUESS + 1e7) == pytest.approx(metric("r2")(NUMBER, GUESS), rel=1e-6)


@pytest.mark.parametrize(
    ("name", "y", "z", "words"),
    [
        ("f1_makro", BINARY, LABEL, r"metric must be one of .* found 'f1_makro'.*Did you mean 'f1_macro'"),
        ("accuracy", BINARY, LABEL[:-1], "a row for each of the 120 rows"),
        ("f1", THREE, TOLD3, "two classes"),
        ("log_loss", BINARY, SCORE, "sum to 1"),
        ("log_loss", BINARY, P3, "3 columns and 2 classes"),
        ("auc", np.zeros(N, int), SCORE, "rows of two classes"),
        ("auc", THREE, SCORE, "a column for each of 3 classes"),
        ("squared_error", np.array(["a"] * N), GUESS, "vectors of numbers"),
        ("squared_error", NUMBER, np.where(GUESS > 1, np.nan, GUESS), "must be finite"),
        ("accuracy", np.zeros((2, 2)), np.zeros(2), "y must be a vector"),
    ],
)
def test_bad_input_is_told_in_a_sentence(name: str, y: Any, z: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        metric(name)(y, z)


def test_precision_of_nothing_is_not_a_number() -> None:
    assert np.isnan(metric("precision")(np.array([0, 1]), np.array([0, 0])))


def test_value_of_is_the_call() -> None:
    chosen = metric("matthews")
    assert isinstance(chosen, Metric)
    assert value_of(chosen.on(THREE, TOLD3), N) == chosen(THREE, TOLD3)


def test_a_table_of_one_class_keeps_what_is_positive() -> None:
    ones, zeros = np.ones(5, int), np.zeros(5, int)
    assert metric("f1")(ones, ones) == 1
    assert metric("recall")(ones, zeros) == 0
    assert np.isnan(metric("recall")(zeros, zeros))
    assert metric("specificity")(zeros, zeros) == 1
    words = np.array(["yes"] * 5)
    assert metric("f1")(words, words, classes=["no", "yes"]) == 1
    assert metric("accuracy")(np.array(["new"] * 5), words, classes=["no", "yes"]) == 0

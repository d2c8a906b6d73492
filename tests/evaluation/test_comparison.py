"""Comparisons: references, error rates by simulation, and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as theirs

from tutelage import (
    GaussianNB,
    KNeighborsClassifier,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    compare,
)
from tutelage.evaluation import corrected_interval, corrected_t, five_by_two, friedman, mcnemar, paired_bootstrap


def answers(both: int, first: int, second: int, neither: int) -> tuple[Any, Any, Any]:
    a = np.repeat([1, 1, 0, 0], [both, first, second, neither])
    b = np.repeat([1, 0, 1, 0], [both, first, second, neither])
    return np.ones(len(a), int), a, b


@pytest.mark.parametrize("table", [(40, 12, 5, 10), (0, 3, 3, 1), (100, 60, 30, 4), (5, 0, 0, 2), (9, 7, 0, 0)])
def test_mcnemar_is_that_of_statsmodels(table: tuple[int, int, int, int]) -> None:
    cells = np.array(table).reshape(2, 2)
    y, a, b = answers(*table)
    assert mcnemar(y, a, b).p_value == pytest.approx(theirs(cells, exact=True).pvalue)
    if table[1] + table[2]:
        assert mcnemar(y, a, b, kind="chi2").p_value == pytest.approx(
            stats.chi2.sf(max(abs(table[1] - table[2]) - 1, 0) ** 2 / (table[1] + table[2]), 1)
        )
        assert mcnemar(y, a, b, kind="mid-p").p_value <= mcnemar(y, a, b).p_value


def test_the_corrected_t_is_the_formula() -> None:
    d = np.random.default_rng(0).normal(0.1, 1, 30)
    made = corrected_t(d, train_rows=90, test_rows=10)
    t = d.mean() / np.sqrt((1 / 30 + 1 / 9) * d.var(ddof=1))
    assert made.statistic == pytest.approx(t)
    assert made.p_value == pytest.approx(2 * stats.t.sf(abs(t), 29))
    assert (made.p_value < 0.05) == (0 not in made.interval)
    plain = stats.t.interval(0.95, 29, d.mean(), d.std(ddof=1) / np.sqrt(30))
    assert corrected_interval(d, train_rows=90, test_rows=10).width > plain[1] - plain[0]


def test_without_a_test_share_the_correction_vanishes() -> None:
    d = np.random.default_rng(1).normal(0.1, 1, 12)
    made = corrected_t(d, train_rows=1e12, test_rows=1)
    assert made.p_value == pytest.approx(stats.ttest_1samp(d, 0).pvalue)


def test_five_by_two_is_the_formula_and_its_interval_the_test() -> None:
    d = np.random.default_rng(0).normal(0.3, 0.3, (5, 2))
    variances = ((d - d.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    made = five_by_two(d)
    assert made.statistic == pytest.approx((d**2).sum() / (2 * variances.sum()))
    assert made.p_value == pytest.approx(stats.f.sf(made.statistic, 10, 5))
    for end in made.interval:
        assert five_by_two(d - end).p_value == pytest.approx(0.05)


def test_the_paired_bootstrap_knows_that_rows_are_shared() -> None:
    random = np.random.default_rng(0)
    y = random.normal(size=400)
    noise = random.normal(size=400)
    made = paired_bootstrap(y, y + noise, y + 1.1 * noise, "squared_error")
    assert made.p_value < 0.01
    assert made.interval.high < 0
    assert made.difference == pytest.approx(np.mean(noise**2) * (1 - 1.21))
    same = paired_bootstrap(y, y + noise, y + noise, "squared_error")
    assert same.p_value == 1
    swapped = paired_bootstrap(y, y + 1.1 * noise, y + noise, "squared_error")
    assert swapped.difference == -made.difference


X = np.random.default_rng(0).normal(size=(600, 2))
Y = np.where(X[:, 0] * X[:, 1] + 0.2 * np.random.default_rng(1).normal(size=600) > 0, "in", "out")


@pytest.mark.parametrize(
    ("metric", "words"),
    [("accuracy", "McNemar's test on 300 rows"), ("auc", "DeLong's test"), ("log_loss", "paired bootstrap")],
)
def test_fitted_models_are_compared_on_rows(metric: str, words: str) -> None:
    good, bad = KNeighborsClassifier(15).fit(X[:300], Y[:300]), LogisticRegression().fit(X[:300], Y[:300])
    made = compare(good, bad, X[300:], Y[300:], metric)
    assert made.better == "KNeighborsClassifier"
    assert words in str(made)
    assert str(made).startswith("KNeighborsClassifier is better than LogisticRegression (")
    turned = compare(bad, good, X[300:], Y[300:], metric)
    assert turned.better == "KNeighborsClassifier"
    assert turned.difference == -made.difference


@pytest.mark.parametrize("method", ["auto", "5x2cv"])
def test_learners_are_compared_by_refitting(method: Any) -> None:
    made = compare(KNeighborsClassifier(15), LogisticRegression(), X, Y, method=method, repeats=1)
    assert made.better == "KNeighborsClassifier"
    same = compare(GaussianNB(), GaussianNB(), X, Y, method=method, repeats=1)
    assert same.better is None
    assert same.p_value == 1
    assert "do not tell the first GaussianNB from the second GaussianNB" in str(same)


def test_regressions_are_compared_by_their_squared_error() -> None:
    target = X[:, 0] + 0.1 * X[:, 1]
    made = compare(LinearRegression(), Ridge(1e5), X, target)
    assert made.better == "LinearRegression"
    assert made.difference < 0


def test_the_tests_refuse_equals_as_seldom_as_promised() -> None:
    """McNemar's and the corrected t test stay at or below their level for classifiers of equal error."""
    mc = ct = 0
    runs = 400
    for seed in range(runs):
        random = np.random.default_rng(seed)
        right = random.random((2, 300)) < 0.8
        mc += mcnemar(np.ones(300, int), right[0].astype(int), right[1].astype(int)).p_value < 0.05
        folds = (right[0].astype(float) - right[1]).reshape(10, 30).mean(axis=1)
        ct += corrected_t(folds, train_rows=270, test_rows=30).p_value < 0.05
    assert stats.binomtest(mc, runs, 0.05, alternative="greater").pvalue > 1e-3
    assert stats.binomtest(ct, runs, 0.05, alternative="greater").pvalue > 1e-3


def test_bad_input_is_told_in_a_sentence() -> None:
    fitted = GaussianNB().fit(X, Y)
    with pytest.raises(ValueError, match="only first is"):
        compare(fitted, GaussianNB(), X, Y)
    with pytest.raises(ValueError, match="is for fitted models"):
        compare(GaussianNB(), GaussianNB(), X, Y, method="mcnemar")
    with pytest.raises(ValueError, match="method must be one of"):
        compare(fitted, fitted, X, Y, method="t")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="compares accuracies"):
        compare(fitted, fitted, X, Y, "log_loss", method="mcnemar")
    with pytest.raises(ValueError, match="both be classifiers or both"):
        compare(GaussianNB(), LinearRegression(), X, Y)
    with pytest.raises(ValueError, match="10 rows of every class for 10 folds, found 2 of the class 'b'"):
        compare(GaussianNB(), RidgeClassifier(), X[:40], np.repeat(["a", "b"], [38, 2]))
    with pytest.raises(ValueError, match="shape"):
        five_by_two([1.0, 2.0])
    with pytest.raises(ValueError, match="at least 2"):
        corrected_t([1.0], train_rows=9, test_rows=1)
    with pytest.raises(ValueError, match="X must have a row for each"):
        compare(fitted, fitted, X[:10], Y)


# The areas under the ROC curve of four variants of C4.5 on 14 tables: Demsar (2006), table 6.
DEMSAR = np.array(
    [
        (0.763, 0.768, 0.771, 0.798),
        (0.599, 0.591, 0.590, 0.569),
        (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657),
        (0.882, 0.888, 0.886, 0.898),
        (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685),
        (0.583, 0.583, 0.563, 0.625),
        (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000),
        (0.940, 0.962, 0.965, 0.962),
        (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.97501, 0.975),  # printed alike, ranked apart
        (0.957, 0.978, 0.946, 0.970),
    ]
)


def test_friedman_gives_the_ranks_and_the_critical_difference_of_demsar() -> None:
    made = friedman(DEMSAR, ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"], level=0.95)
    np.testing.assert_allclose(made.mean_ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert made.critical_difference == pytest.approx(1.25, abs=0.005)
    assert made.chi2 == pytest.approx(stats.friedmanchisquare(*DEMSAR.T).statistic)
    assert made.p_value < 0.05
    # A pair is told apart where its ranks are further apart than the critical difference.
    apart = np.abs(made.mean_ranks[:, None] - made.mean_ranks) > made.critical_difference
    assert np.array_equal(made.pairs < 0.05, apart)
    assert friedman(-DEMSAR, greater_is_better=False).mean_ranks.tolist() == made.mean_ranks.tolist()


def test_groups_join_what_is_not_told_apart() -> None:
    scores = np.tile([0.9, 0.8, 0.2, 0.1], (10, 1)) + 0.001 * np.arange(10)[:, None]
    made = friedman(scores, list("abcd"))
    assert made.groups() == [["a", "b"], ["b", "c"], ["c", "d"]]
    same = friedman(np.ones((5, 3)))
    assert same.p_value == 1
    assert same.groups() == [["model 0", "model 1", "model 2"]]


def test_friedman_refuses_equals_as_seldom_as_promised() -> None:
    refused = sum(friedman(np.random.default_rng(seed).random((12, 4))).p_value < 0.05 for seed in range(300))
    assert stats.binomtest(refused, 300, 0.05).pvalue > 1e-3


def test_friedman_says_what_it_lacks() -> None:
    with pytest.raises(ValueError, match="for two models use compare"):
        friedman(np.ones((5, 2)))
    with pytest.raises(ValueError, match="must be finite"):
        friedman(np.full((5, 3), np.nan))
    with pytest.raises(ValueError, match="one name for each"):
        friedman(np.ones((5, 3)), ["a"])

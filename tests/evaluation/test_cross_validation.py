"""Cross-validated intervals: the formulas, the number of fits, and what they are for."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from tutelage import GaussianNB, LinearRegression, cross_evaluate
from tutelage.evaluation import corrected_interval, nested_interval
from tutelage.evaluation.cross_validation import fold_scores
from tutelage.evaluation.metrics import metric
from tutelage.evaluation.refits import random_folds

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 2))
TARGET = X[:, 0] + RANDOM.normal(size=90)
LABEL = (TARGET > 0).astype(int)


class Counting(RegressorMixin, BaseEstimator):
    """Predicts the mean, and remembers how many rows each fit had."""

    sizes: list[int] = []  # noqa: RUF012 - shared by clones on purpose

    def fit(self, _: Any, y: Any) -> Any:
        self.sizes.append(len(y))
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_the_corrected_interval_is_the_formula() -> None:
    scores = RANDOM.normal(size=30)
    made = corrected_interval(scores, train_rows=90, test_rows=10, level=0.9)
    error = np.sqrt((1 / 30 + 1 / 9) * scores.var(ddof=1))
    np.testing.assert_allclose(made, stats.t.interval(0.9, 29, scores.mean(), error))


def test_fold_scores_are_those_of_scikit_learn() -> None:
    ours = fold_scores([GaussianNB()], X, LABEL, metric("accuracy"), folds=5, repeats=2, seed=7)[0]
    theirs = [
        cross_val_score(GaussianNB(), X, LABEL, cv=StratifiedKFold(5, shuffle=True, random_state=seed))
        for seed in (7, 8)
    ]
    np.testing.assert_allclose(ours, np.concatenate(theirs))
    made = cross_evaluate(GaussianNB(), X, LABEL, folds=5, repeats=2, random_state=7)
    assert made.value == pytest.approx(np.mean(theirs))
    assert "2 times" in made.method


def test_nested_fits_each_pair_of_folds_once() -> None:
    Counting.sizes.clear()
    nested_interval(Counting(), X, TARGET, folds=6, repeats=3)
    assert sorted(set(Counting.sizes)) == [60, 75]
    assert Counting.sizes.count(75) == 3 * 6
    assert Counting.sizes.count(60) == 3 * 15


def test_nested_is_the_algorithm_of_the_paper() -> None:
    """One repetition, written out as it is printed: for each fold an inner cross-validation of the others."""
    folds, n = 5, 90
    made = nested_interval(LinearRegression(), X, TARGET, folds=folds, repeats=1, random_state=3)
    parts = random_folds(TARGET, folds, 3, stratified=False)
    inner, apart, variance, outer = [], [], [], []
    for held in parts:
        rest = [part for part in parts if part is not held]
        errors = []
        for part in rest:
            train = np.setdiff1d(np.arange(n), np.concatenate([held, part]))
            model = LinearRegression().fit(X[train], TARGET[train])
            errors.append((TARGET[part] - model.predict(X[part])) ** 2)
        e_in = np.concatenate(errors)
        train = np.setdiff1d(np.arange(n), held)
        e_out = (TARGET[held] - LinearRegression().fit(X[train], TARGET[train]).predict(X[held])) ** 2
        inner.append(e_in.mean())
        outer.append(e_out)
        apart.append((e_in.mean() - e_out.mean()) ** 2)
        variance.append(e_out.var(ddof=1) / len(e_out))
    everyone = np.concatenate(outer)
    naive = everyone.std(ddof=1) / np.sqrt(n)
    error = np.sqrt(max(np.mean(apart) - np.mean(variance), 0) * (folds - 1) / folds)
    error = np.clip(error, naive, naive * np.sqrt(folds))
    estimate = np.mean(inner)
    centre = estimate - (1 + (folds - 2) / folds) * (estimate - everyone.mean())
    assert made.value == pytest.approx(centre)
    np.testing.assert_allclose(made.interval, stats.norm.interval(0.95, centre, error))


def test_the_bias_of_fewer_rows_is_taken_out() -> None:
    """Least squares on n rows errs 1 + (d + 1) / n + ...; the estimate is for all rows, not for n - 2 folds."""
    estimates, raw = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        rows = random.normal(size=(40, 8))
        y = random.normal(size=40)
        estimates.append(nested_interval(LinearRegression(), rows, y, folds=5, repeats=2).value)
        raw.append(cross_evaluate(LinearRegression(), rows, y, folds=5).value)
    true = (1 + 1 / 40) * (1 + 8 / (40 - 8 - 2))
    error = np.std(estimates) / np.sqrt(60)
    assert abs(np.mean(estimates) - true) < 4 * error
    assert np.mean(raw) > np.mean(estimates)


@pytest.mark.parametrize("name", ["accuracy", "log_loss", "brier"])
def test_classifiers_and_frames_are_taken(name: str) -> None:
    frame = pl.DataFrame(X, schema=["a", "b"])
    words = np.array(["no", "yes"])[LABEL]
    made = nested_interval(GaussianNB(), frame, words, name, folds=4, repeats=2)
    assert made.interval.low < made.value < made.interval.high
    assert made.metric == name


def test_the_same_seed_gives_the_same_interval_in_any_number_of_processes() -> None:
    one = nested_interval(GaussianNB(), X, LABEL, folds=3, repeats=2, n_jobs=1)
    two = nested_interval(GaussianNB(), X, LABEL, folds=3, repeats=2, n_jobs=2)
    assert one == two


def test_folds_divide_the_rows() -> None:
    for stratified in (False, True):
        folds = random_folds(LABEL, 7, 0, stratified=stratified)
        assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(90))
    assert [len(fold) for fold in random_folds(LABEL, 4, 0, stratified=False)] == [
        len(test) for _, test in KFold(4).split(X)
    ]


def test_bad_input_is_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="a mean over rows"):
        nested_interval(GaussianNB(), X, LABEL, "f1")
    with pytest.raises(ValueError, match="folds must be at least 3"):
        nested_interval(GaussianNB(), X, LABEL, folds=2)
    with pytest.raises(ValueError, match="repeats must be at least 1"):
        nested_interval(GaussianNB(), X, LABEL, repeats=0)
    with pytest.raises(ValueError, match="method must be"):
        cross_evaluate(GaussianNB(), X, LABEL, method="naive")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="folds must lie between 2"):
        cross_evaluate(GaussianNB(), X, LABEL, folds=1)
    with pytest.raises(ValueError, match="scores must be at least 2"):
        corrected_interval([1.0], train_rows=9, test_rows=1)
    with pytest.raises(ValueError, match="must be positive"):
        corrected_interval([1.0, 2.0], train_rows=0, test_rows=1)

"""Forward and backward selection: the steps are those of refitting, however they are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector as Theirs
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score

import tutelage as t
from tutelage.selection.logistic_subsets import LogisticSubsets
from tutelage.selection.squared_subsets import SquaredSubsets

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 8)) + RANDOM.normal(size=(150, 1)) + np.arange(8)
Z = (X - X.mean(axis=0)) @ [1.0, -1.0, 0.0, 0.5, 0.0, 0.0, -0.7, 0.2]
Y = Z + RANDOM.normal(size=150) + 5
C = np.where(Z + RANDOM.logistic(size=150) > 0, "b", "a")
FOLDS = list(KFold(4, shuffle=True, random_state=0).split(X))
LEARNERS = {
    "least squares": (t.LinearRegression(), Y, "r2"),
    "ridge": (t.Ridge(alpha=5.0), Y, "neg_mean_squared_error"),
    "ridge, no intercept": (t.Ridge(alpha=5.0, fit_intercept=False), Y, "neg_root_mean_squared_error"),
    "logistic": (t.LogisticRegression(tol=1e-10), C, "neg_log_loss"),
    "logistic, no intercept": (t.LogisticRegression(tol=1e-10, fit_intercept=False, C=0.1), C, "accuracy"),
}


def subsets(model: Any, y: Any, metric: str, folds: Any) -> Any:
    if isinstance(model, t.LogisticRegression):
        return LogisticSubsets(X, np.where(y == "b", 1.0, -1.0), folds, 1 / model.C, model.fit_intercept, metric)
    return SquaredSubsets(X, y, folds, getattr(model, "alpha", 0.0), model.fit_intercept, metric)


def refitted(model: Any, y: Any, metric: str, folds: Any, columns: list[int]) -> float:
    return float(
        np.mean(cross_val_score(type(model)(**model.get_params()), X[:, columns], y, cv=folds, scoring=metric))
    )


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("folds", [FOLDS, list(ShuffleSplit(3, random_state=1).split(X))], ids=["folds", "overlapping"])
def test_each_candidate_has_the_score_of_refitting(name: str, folds: Any) -> None:
    model, y, metric = LEARNERS[name]
    quick = subsets(model, y, metric, folds)
    chosen: list[int] = []
    for _ in range(3):
        left = np.array([column for column in range(8) if column not in chosen])
        scores = quick.forward(np.array(chosen, dtype=int), left)
        wanted = [refitted(model, y, metric, folds, [*chosen, int(column)]) for column in left]
        assert np.allclose(scores, wanted, rtol=1e-6, atol=1e-8)
        chosen.append(int(left[np.argmax(scores)]))
        if isinstance(quick, LogisticSubsets):
            assert quick.keep(chosen[-1])
    kept = np.arange(8)
    scores = quick.backward(kept)
    wanted = [refitted(model, y, metric, folds, [int(c) for c in kept if c != column]) for column in kept]
    assert np.allclose(scores, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_columns_are_those_of_scikit_learns_selector(name: str, direction: Any) -> None:
    model, y, metric = LEARNERS[name]
    words = {"n_features_to_select": 4, "direction": direction, "scoring": metric, "cv": FOLDS}
    ours = t.SequentialFeatureSelector(model, **words).fit(X, y)
    theirs = Theirs(model, **words).fit(X, y)
    assert ours.support_.tolist() == theirs.support_.tolist()


def test_any_estimator_can_be_wrapped() -> None:
    model = t.KNeighborsRegressor(3)
    ours = t.SequentialFeatureSelector(model, n_features_to_select=2, cv=FOLDS).fit(X, Y)
    theirs = Theirs(model, n_features_to_select=2, cv=FOLDS).fit(X, Y)
    assert ours.support_.tolist() == theirs.support_.tolist()
    assert ours.transform(X).shape == (150, 2)


def test_a_column_that_is_a_sum_of_others_is_refitted_and_not_preferred() -> None:
    doubled = np.column_stack([X, X[:, 0] + X[:, 1]])
    quick = SquaredSubsets(doubled, Y, FOLDS, 0.0, True, "r2")
    assert np.isnan(quick.forward(np.array([0, 1]), np.array([8]))).all()
    ours = t.SequentialFeatureSelector(t.LinearRegression(), n_features_to_select=5, cv=FOLDS).fit(doubled, Y)
    theirs = Theirs(t.LinearRegression(), n_features_to_select=5, cv=FOLDS).fit(doubled, Y)
    wanted, found = (
        cross_val_score(t.LinearRegression(), one.transform(doubled), Y, cv=FOLDS) for one in (theirs, ours)
    )
    assert np.allclose(found.mean(), wanted.mean(), rtol=1e-8)


@pytest.mark.parametrize("name", ["ridge", "logistic"])
def test_screening_fits_few_and_finds_the_strong(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, y, metric = LEARNERS[name]
    kind = LogisticSubsets if name == "logistic" else SquaredSubsets
    forward, asked = kind.forward, []

    def counted(self: Any, chosen: Any, candidates: Any) -> Any:
        asked.append(len(candidates))
        return forward(self, chosen, candidates)

    monkeypatch.setattr(kind, "forward", counted)
    words = {"n_features_to_select": 2, "scoring": metric, "cv": FOLDS}
    t.SequentialFeatureSelector(model, screen=2, **words).fit(X, y)
    assert asked == [2, 2]


def test_the_statistic_of_a_column_is_the_gain_of_squared_error() -> None:
    quick = SquaredSubsets(X, Y, [(np.arange(150), np.arange(10))], 0.0, True, "r2")
    chosen, left = np.array([1]), np.array([0, 3, 6])

    def error(columns: list[int]) -> float:
        model = t.LinearRegression().fit(X[:, columns], Y)
        return float(((Y - model.predict(X[:, columns])) ** 2).sum())

    assert np.allclose(quick.statistics(chosen, left), [error([1]) - error([1, int(column)]) for column in left])


def test_separable_classes_are_refitted() -> None:
    easy = np.where(X[:, 0] > X[:, 0].mean(), 1.0, -1.0)
    quick = LogisticSubsets(X, easy, FOLDS, 1e-12, True, "neg_log_loss")
    scores = quick.forward(np.array([], dtype=int), np.array([0, 1]))
    assert np.isnan(scores[0])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"n_features_to_select": 8}, "n_features_to_select must be < n_features"),
        ({"n_features_to_select": "auto", "tol": -1e-3}, "tol must be strictly positive"),
        ({"screen": 0}, "The 'screen' parameter"),
    ],
)
def test_bad_parameters_are_named(words: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        t.SequentialFeatureSelector(t.Ridge(), **words).fit(X, Y)


def test_a_gain_below_tol_ends_the_selection() -> None:
    selector = t.SequentialFeatureSelector(t.LinearRegression(), tol=0.05, cv=FOLDS).fit(X, Y)
    theirs = Theirs(t.LinearRegression(), tol=0.05, cv=FOLDS).fit(X, Y)
    assert selector.support_.tolist() == theirs.support_.tolist()
    assert selector.n_features_to_select_ == selector.support_.sum()

"""Cuts are the best there are, by trying all; decisions cost least."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from tutelage import (
    CostClassifier,
    GaussianNB,
    KNeighborsClassifier,
    LogisticRegression,
    RidgeClassifier,
    ThresholdClassifier,
)
from tutelage.evaluation import METRICS, best_offsets, best_threshold, cheapest, metric

RANDOM = np.random.default_rng(0)
LABELS = sorted(name for name, one in METRICS.items() if one.needs == "labels")


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("digits", [1, 8])
def test_no_threshold_is_better(name: str, digits: int) -> None:
    y = (RANDOM.random(80) < 0.3).astype(int)
    s = np.round(y + RANDOM.normal(size=80), digits)
    made = best_threshold(y, s, name)
    chosen, sign = metric(name), 1 if METRICS[name].greater_is_better else -1
    tried = [chosen(y, (s >= cut).astype(int), classes=[0, 1]) for cut in [*np.unique(s), np.inf]]
    assert made.value == pytest.approx(chosen(y, (s >= made.threshold).astype(int), classes=[0, 1]))
    assert sign * made.value == pytest.approx(np.nanmax(sign * np.array(tried)))


def test_a_threshold_that_costs_least() -> None:
    y = (RANDOM.random(200) < 0.3).astype(int)
    s = y + RANDOM.normal(size=200)
    costs = np.array([[0.0, 1.0], [8.0, 0.0]])
    made = best_threshold(y, s, costs=costs)

    def cost(cut: float) -> float:
        return float(costs[y, (s >= cut).astype(int)].mean())

    assert made.value == pytest.approx(cost(made.threshold))
    assert made.value == pytest.approx(min(cost(cut) for cut in [*s, np.inf]))
    assert made.threshold < best_threshold(y, s, costs=costs.T).threshold


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_no_single_offset_can_be_changed_for_the_better(name: str) -> None:
    code = RANDOM.choice(3, p=[0.7, 0.2, 0.1], size=150)
    scores = 1.2 * np.eye(3)[code] + RANDOM.normal(size=(150, 3))
    offsets = best_offsets(code, scores, name)
    chosen = metric(name)

    def value(offsets: Any) -> float:
        return chosen(code, (scores + offsets).argmax(axis=1), classes=[0, 1, 2])

    best = value(offsets)
    assert best >= value(np.zeros(3))
    for c, shift in product(range(3), np.linspace(-3, 3, 121)):
        assert value(offsets + shift * np.eye(3)[c]) <= best + 1e-9


def test_the_cheapest_decision_is_found_by_trying_all() -> None:
    P, costs = RANDOM.dirichlet(np.ones(4), 50), RANDOM.random((4, 4))
    told = cheapest(P, costs)
    expected = [min(range(4), key=lambda j: sum(p[i] * costs[i, j] for i in range(4))) for p in P]
    assert told.tolist() == expected
    assert np.array_equal(cheapest(P, 1 - np.eye(4)), P.argmax(axis=1))


@pytest.mark.parametrize("inner", [LogisticRegression(), RidgeClassifier()])
def test_a_rare_class_is_found_once_the_cut_is_tuned(inner: Any) -> None:
    y = np.where(RANDOM.random(1500) < 0.08, "rare", "common")
    X = RANDOM.normal(size=(1500, 2)) + (y == "rare")[:, None]
    plain = inner.fit(X[:1000], y[:1000])
    tuned = ThresholdClassifier(inner).fit(X[:1000], y[:1000])
    balanced = metric("balanced_accuracy")
    assert balanced(y[1000:], tuned.predict(X[1000:])) > balanced(y[1000:], plain.predict(X[1000:])) + 0.1


def test_three_classes_have_offsets() -> None:
    code = RANDOM.choice(3, p=[0.9, 0.05, 0.05], size=1500)
    X = RANDOM.normal(size=(1500, 2)) + 1.5 * np.eye(3)[code][:, :2]
    tuned = ThresholdClassifier(GaussianNB()).fit(X[:1000], code[:1000])
    balanced = metric("balanced_accuracy")
    plain = GaussianNB().fit(X[:1000], code[:1000])
    assert balanced(code[1000:], tuned.predict(X[1000:])) > balanced(code[1000:], plain.predict(X[1000:]))
    assert tuned.offsets_.shape == (3,)


def test_costs_move_decisions() -> None:
    y = RANDOM.integers(0, 2, 600)
    X = RANDOM.normal(size=(600, 2)) + y[:, None]
    dear = CostClassifier(LogisticRegression(), costs=[[0, 1], [20, 0]]).fit(X, y)
    even = CostClassifier(LogisticRegression()).fit(X, y)
    assert np.array_equal(even.predict(X), LogisticRegression().fit(X, y).predict(X))
    assert dear.predict(X).mean() > even.predict(X).mean()
    probabilities = dear.estimator_.predict_proba(X)[:, 1]
    assert np.array_equal(dear.predict(X) == 1, probabilities > 1 / 21)


def test_a_frozen_classifier_is_only_cut() -> None:
    y = RANDOM.integers(0, 2, 300)
    X = RANDOM.normal(size=(300, 2)) + y[:, None]
    model = KNeighborsClassifier(9).fit(X[:150], y[:150])
    tuned = ThresholdClassifier(FrozenEstimator(model), metric="f1").fit(X[150:], y[150:])
    assert tuned.threshold_ == best_threshold(y[150:], model.predict_proba(X[150:])[:, 1], "f1").threshold


def test_bad_input_is_told_in_a_sentence() -> None:
    y, s = np.array([0, 1, 1]), np.array([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"one of a confusion matrix .* found 'auc'"):
        best_threshold(y, s, "auc")
    with pytest.raises(ValueError, match=r"costs must be a finite matrix of shape \(2, 2\)"):
        best_threshold(y, s, costs=[1, 2])
    with pytest.raises(ValueError, match="two classes"):
        best_threshold([1, 1, 1], s)
    with pytest.raises(ValueError, match="costs must be a finite matrix"):
        CostClassifier(GaussianNB(), costs=np.ones((3, 3))).fit(s[:, None], y)

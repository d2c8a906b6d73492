"""Laws of forests: what must not change one, what its trees have seen, and that it is better than a tree."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_friedman1, make_moons
from sklearn.metrics import r2_score

import tutelage
from tutelage.ensembles import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from tutelage.trees import DecisionTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

FORESTS: list[Callable[..., Any]] = [
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
]


def examples(n: int = 1500) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=(n, 5)), rng.integers(0, 4, (n, 3))])
    y = (X[:, 0] + X[:, 5] * X[:, 1] + rng.normal(size=n) > 0.5).astype(int)
    return X, y


def answers(model: Any, X: Any) -> Any:
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def same_trees(one: Any, other: Any) -> None:
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        for name in ("children_left", "children_right", "feature", "threshold"):
            np.testing.assert_array_equal(getattr(a.tree_, name), getattr(b.tree_, name))


@pytest.mark.parametrize("make", FORESTS)
def test_the_number_of_threads_changes_no_bit(make: Callable[..., Any]) -> None:
    X, y = examples()
    found = []
    for threads in (1, 2, 7):
        with tutelage.threads(threads):
            model = make(15, random_state=3).fit(X, y)
            found.append((model, answers(model, X)))
    for model, said in found[1:]:
        same_trees(found[0][0], model)
        np.testing.assert_array_equal(found[0][1], said)


@pytest.mark.parametrize("make", FORESTS)
def test_the_order_of_the_rows_changes_nothing(make: Callable[..., Any]) -> None:
    X, y = examples()
    order = np.random.default_rng(0).permutation(len(y))
    one, other = make(8, random_state=3).fit(X, y), make(8, random_state=3).fit(X[order], y[order])
    same_trees(one, other)
    np.testing.assert_allclose(answers(one, X), answers(other, X), rtol=1e-12)


@pytest.mark.parametrize("make", FORESTS)
def test_with_a_share_of_the_weight_weights_are_copies(make: Callable[..., Any]) -> None:
    X, y = examples(400)
    w = np.random.default_rng(1).integers(0, 4, 400)
    share = {"max_samples": 0.7} if "Random" in make.__name__ else {}
    weighted = make(8, random_state=3, **share).fit(X, y, sample_weight=w)
    repeated = make(8, random_state=3, **share).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(answers(weighted, X), answers(repeated, X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", FORESTS)
def test_a_forest_is_the_mean_of_its_trees(make: Callable[..., Any]) -> None:
    X, y = examples()
    model = make(9, random_state=0).fit(X, y)
    np.testing.assert_allclose(answers(model, X), np.mean([answers(tree, X) for tree in model], axis=0), rtol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(answers(model, X), answers(again, X))
    np.testing.assert_allclose(answers(model, sparse.csr_matrix(X)), answers(model, X))


def test_out_of_bag_is_what_trees_say_that_have_not_drawn_the_row() -> None:
    X, y = examples(300)
    for weight in (None, np.linspace(0.5, 2, 300)):
        model = RandomForestRegressor(80, oob_score=True, random_state=0).fit(X, y.astype(float), sample_weight=weight)
        sums, counts = np.zeros(300), np.zeros(300)
        for tree, rows in zip(model, model.estimators_samples_, strict=True):
            unseen = ~np.isin(np.arange(300), rows)
            sums[unseen] += tree.predict(X[unseen])
            counts[unseen] += 1
        np.testing.assert_allclose(model.oob_prediction_, sums / counts)
        assert model.oob_score_ == pytest.approx(r2_score(y, sums / counts))


def test_a_tree_is_grown_on_the_rows_it_has_drawn() -> None:
    X, y = examples(300)
    model = RandomForestClassifier(5, random_state=2).fit(X, y)
    for tree, rows in zip(model, model.estimators_samples_, strict=True):
        alone = DecisionTreeClassifier(max_features="sqrt", random_state=tree.random_state).fit(X[rows], y[rows])
        np.testing.assert_allclose(alone.predict_proba(X), tree.predict_proba(X))


def test_rows_are_drawn_by_their_weights() -> None:
    X, y = examples(200)
    weight = np.where(np.arange(200) < 100, 3.0, 1.0)
    weight[150:] = 0
    model = RandomForestClassifier(200, random_state=0).fit(X, y, sample_weight=weight)
    times = np.mean([np.bincount(rows, minlength=200) for rows in model.estimators_samples_], axis=0)
    assert times.sum() == pytest.approx(200)
    assert np.all(times[150:] == 0)
    expected = 200 * weight / weight.sum()
    assert np.abs(times - expected)[:150].max() < 6 * np.sqrt(expected.max() / 200)


def test_warm_start_adds_the_trees_that_are_missing() -> None:
    X, y = examples(300)
    grown = RandomForestClassifier(4, warm_start=True, random_state=1).fit(X, y)
    first = list(grown)
    grown.set_params(n_estimators=9).fit(X, y)
    assert list(grown)[:4] == first
    same_trees(grown, RandomForestClassifier(9, random_state=1).fit(X, y))


def test_a_forest_is_better_than_its_trees() -> None:
    X, y = make_moons(1200, noise=0.35, random_state=0)
    for make in (RandomForestClassifier, ExtraTreesClassifier):
        model = make(60, random_state=0).fit(X[:600], y[:600])
        alone = np.mean([np.mean(tree.predict(X[600:]) == y[600:]) for tree in model])
        assert model.score(X[600:], y[600:]) > alone + 0.02
    X, y = make_friedman1(1200, random_state=0)
    for make in (RandomForestRegressor, ExtraTreesRegressor):
        model = make(40, random_state=0).fit(X[:600], y[:600])
        alone = np.mean([tree.score(X[600:], y[600:]) for tree in model])
        assert model.score(X[600:], y[600:]) > alone + 0.1


def test_histograms_serve_forests_too() -> None:
    X, y = examples(4000)
    exact = RandomForestClassifier(30, random_state=0).fit(X[:2000], y[:2000])
    binned = RandomForestClassifier(30, random_state=0, splitter="histogram").fit(X[:2000], y[:2000])
    assert abs(exact.score(X[2000:], y[2000:]) - binned.score(X[2000:], y[2000:])) < 0.02


def test_an_embedding_has_a_one_for_each_tree() -> None:
    X, _ = examples(200)
    model = RandomTreesEmbedding(12, random_state=0)
    coded = model.fit_transform(X)
    assert np.all(coded.sum(axis=1) == 12)
    np.testing.assert_array_equal(coded.toarray(), model.transform(X).toarray())
    assert len(model.get_feature_names_out()) == coded.shape[1]

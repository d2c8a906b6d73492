"""The lecture's tree: its numbers on the restaurant, its theorem, missing values, pruning, rules and picture."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutelage.datasets import restaurant
from tutelage.trees import DecisionTree
from tutelage.trees.branches import Question, entropy
from tutelage.trees.lecture import error_bound


def visits() -> tuple[Any, Any]:
    X, y = restaurant(return_X_y=True)
    return X.drop("Example"), y


def test_the_restaurant_has_the_gains_of_the_textbook() -> None:
    X, y = visits()
    codes, weight = (y == "T").astype(np.intp), np.ones(len(y))
    assert entropy(np.bincount(codes).astype(float)) == 1.0

    def gain(name: str) -> float:
        labels, column = np.unique(X[name].to_numpy(), return_inverse=True)
        return Question(column.astype(float), codes, weight, 2, len(labels)).gain

    assert gain("Pat") == pytest.approx(0.541, abs=5e-4)
    assert gain("Type") == pytest.approx(0.0, abs=1e-12)
    assert max(X.columns, key=gain) == "Pat"


def test_the_learned_tree_asks_patrons_hungry_type_friday() -> None:
    X, y = visits()
    model = DecisionTree().fit(X, y)
    asked = []
    node = model.root_
    while node.column is not None:
        asked.append(model.names()[node.column])
        node = max(node.branches, key=lambda branch: len(branch.walk()))
    assert asked == ["Pat", "Hun", "Type", "Fri"]
    np.testing.assert_array_equal(model.predict(X), y)


@given(seed=st.integers(0, 10_000), criterion=st.sampled_from(["gain", "gain_ratio", "gini"]))
@settings(max_examples=40, deadline=None)
def test_a_grown_tree_is_consistent_with_data_free_of_contradictions(seed: int, criterion: str) -> None:
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 3, (40, 4)), axis=0)
    table = np.array([[f"v{a}", f"v{b}", c, d] for a, b, c, d in X], dtype=object)
    y = rng.integers(0, 3, len(X))
    np.testing.assert_array_equal(DecisionTree(criterion=criterion).fit(table, y).predict(table), y)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_gain_is_mutual_information(seed: int) -> None:
    rng = np.random.default_rng(seed)
    column, codes = rng.integers(0, 4, 50), rng.integers(0, 3, 50)
    joint = np.zeros((4, 3))
    np.add.at(joint, (column, codes), 1 / 50)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    shared = sum(p * math.log2(p / q) for p, q in zip(joint.ravel(), independent.ravel(), strict=True) if p > 0)
    assert Question(column.astype(float), codes, np.ones(50), 3, 4).gain == pytest.approx(shared, abs=1e-12)


def test_empty_branches_answer_like_their_parent() -> None:
    X, y = visits()
    model = DecisionTree().fit(X, y)
    row = X[3:4].with_columns(Type=pl.lit("French"))
    assert model.predict_proba(row).tolist() == [[0.5, 0.5]]  # of the four hungry guests of a full house two waited


def test_a_missing_value_goes_down_every_branch() -> None:
    X = np.array([["a"], ["a"], ["a"], ["b"]], dtype=object)
    model = DecisionTree().fit(X, [0, 0, 0, 1])
    np.testing.assert_allclose(model.predict_proba(np.array([[None]], dtype=object)), [[0.75, 0.25]])
    # In training too: the row counts 3/4 in one branch and 1/4 in the other, and not in the gain.
    gaps = np.array([["a"], ["a"], ["a"], ["b"], [None]], dtype=object)
    root = DecisionTree().fit(gaps, [0, 0, 0, 1, 1]).root_
    np.testing.assert_allclose([branch.counts for branch in root.branches], [[3, 0.75], [0, 1.25]])
    assert root.gain == pytest.approx(4 / 5 * entropy(np.array([3.0, 1.0])))


def test_an_unseen_category_is_answered_by_the_node_that_asks() -> None:
    X = np.array([["a"], ["a"], ["b"]], dtype=object)
    model = DecisionTree().fit(X, [0, 0, 1])
    np.testing.assert_allclose(model.predict_proba(np.array([["c"]], dtype=object)), [[2 / 3, 1 / 3]])


def test_weights_are_copies() -> None:
    rng = np.random.default_rng(3)
    X, y, w = rng.integers(0, 4, (60, 3)).astype(float), rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    weighted, repeated = DecisionTree().fit(X, y, w), DecisionTree().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted.text() == repeated.text()


def test_gain_ratio_does_not_fall_for_a_name_tag() -> None:
    X = np.array([[f"guest {i}", "yes" if i % 2 else "no"] for i in range(8)], dtype=object)
    y = [i % 2 for i in range(8)]
    assert DecisionTree(criterion="gain").fit(X, y).root_.column == 0
    assert DecisionTree(criterion="gain_ratio").fit(X, y).root_.column == 1


def test_pruning_forgets_noise_and_keeps_what_is_so() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (600, 6)).astype(float)
    truth = (X[:, 0] == 1).astype(int)
    y = np.where(rng.random(600) < 0.1, 1 - truth, truth)
    whole = DecisionTree().fit(X[:300], y[:300])
    bounded = DecisionTree(pruning="pessimistic").fit(X[:300], y[:300])
    reduced = DecisionTree().fit(X[:300], y[:300]).prune(X[300:], y[300:])
    sizes = [len(model.root_.walk()) for model in (whole, bounded, reduced)]
    assert sizes[1] < sizes[0]
    assert sizes[2] < sizes[0]
    assert reduced.score(X[300:], y[300:]) >= whole.score(X[300:], y[300:])
    rng = np.random.default_rng(1)
    fresh = rng.integers(0, 3, (500, 6)).astype(float)
    right = [np.mean(model.predict(fresh) == (fresh[:, 0] == 1)) for model in (whole, bounded, reduced)]
    assert min(right[1:]) > right[0]


@pytest.mark.parametrize(("errors", "weight"), [(0, 6), (2, 9), (5, 40)])
def test_the_bound_is_the_rate_at_which_so_few_errors_have_that_chance(errors: int, weight: int) -> None:
    rate = error_bound(errors, weight, 0.25)
    chance = sum(math.comb(weight, k) * rate**k * (1 - rate) ** (weight - k) for k in range(errors + 1))
    assert chance == pytest.approx(0.25)


def test_rules_say_what_the_tree_says() -> None:
    X, y = visits()
    model = DecisionTree().fit(X, y)
    for rule in model.rules():
        holds = np.all([X[c.name].to_numpy() == c.value for c in rule.conditions], axis=0)
        assert holds.sum() == rule.weight
        assert (y[holds] == rule.label).sum() == rule.right
    numbers = DecisionTree().fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0])
    assert next(str(rule) for rule in numbers.rules()) == "if x0 > 1.5 and x0 <= 3.5 then 1 (2 of 2)"


def test_the_picture_is_a_drawing_of_every_node() -> None:
    X, y = visits()
    model = DecisionTree().fit(X, y)
    plain, followed = ET.fromstring(model.svg()), ET.fromstring(model.svg(X[3:4]))
    nodes = len(model.root_.walk())
    lines = [element for element in plain.iter() if element.tag.endswith("path")]
    assert len(lines) == nodes - 1
    bold = [element for element in followed.iter() if element.get("stroke-width") == "2.5"]
    assert len(bold) == 5 + 4  # the five nodes on the way of the fourth guest, and the four lines between them

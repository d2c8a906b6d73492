"""Laws of trees: the best split that loops find, and what must not change a tree."""

from __future__ import annotations

import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import tutelage
from tutelage.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    Tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = ("gini", "entropy")
NUMBERS = ("squared_error", "absolute_error", "poisson")


def impurity(criterion: str, y: Any, w: Any) -> float:
    """The definition, in words of NumPy."""
    if criterion in CLASSES:
        shares = np.bincount(y.astype(int), weights=w) / w.sum()
        shares = shares[shares > 0]
        return float(1 - (shares**2).sum() if criterion == "gini" else -(shares * np.log2(shares)).sum())
    mean = np.average(y, weights=w)
    if criterion == "squared_error":
        return float(np.average((y - mean) ** 2, weights=w))
    if criterion == "poisson":
        if mean == 0:
            return math.inf
        return float(np.average(np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0), weights=w))
    return min(float(np.average(np.abs(y - middle), weights=w)) for middle in y)


def least_impurity_after_a_split(criterion: str, X: Any, y: Any, w: Any, min_leaf: int = 1) -> float:
    """Brute force: every cut of every column, with what is missing on either side."""
    least = math.inf
    for column in X.T:
        missing = np.isnan(column)
        for cut in np.unique(column[~missing]):
            for left in (column <= cut, (column <= cut) | missing):
                if min_leaf <= left.sum() <= len(y) - min_leaf:
                    sides = [w[side].sum() * impurity(criterion, y[side], w[side]) for side in (left, ~left)]
                    least = min(least, sum(sides))
    return least


def of_root(tree: Tree) -> float:
    """The weighted impurity of the two children of the root."""
    children = [tree.children_left[0], tree.children_right[0]]
    return float((tree.impurity[children] * tree.weighted_n_node_samples[children]).sum())


def fit(criterion: str, X: Any, y: Any, w: Any = None, **parameters: Any) -> Any:
    cls = DecisionTreeClassifier if criterion in CLASSES else DecisionTreeRegressor
    return cls(criterion=criterion, **parameters).fit(X, y, sample_weight=w)


def same(one: Tree, other: Tree, *, thresholds: bool = True) -> None:
    for name in ("children_left", "children_right", "feature", "n_node_samples", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    if thresholds:
        np.testing.assert_array_equal(one.threshold, other.threshold)


def examples(seed: int, n: int, d: int, *, values: int, missing: bool, counts: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, (n, d)).astype(float)
    if missing:
        X[rng.random((n, d)) < 0.2] = np.nan
    y = rng.integers(0, 3, n) if counts else rng.normal(size=n)
    return X, y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])
@given(seed=st.integers(0, 10_000), values=st.sampled_from([2, 5, 1000]), min_leaf=st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_the_first_split_is_the_best_there_is(
    criterion: str, missing: bool, weighted: bool, seed: int, values: int, min_leaf: int
) -> None:
    X, y, w = examples(seed, 30, 3, values=values, missing=missing, counts=criterion != "squared_error")
    w = w if weighted else np.ones(len(y))
    found = fit(criterion, X, y, w if weighted else None, max_depth=1, min_samples_leaf=min_leaf).tree_
    least = least_impurity_after_a_split(criterion, X, y, w, min_leaf)
    if found.node_count == 3:
        assert of_root(found) == pytest.approx(least, rel=1e-9, abs=1e-9)
    else:
        assert least == math.inf or found.impurity[0] < 1e-12


@pytest.mark.parametrize("values", [255, 256, 257])
@pytest.mark.parametrize("missing", [False, True])
def test_as_many_values_as_a_byte_has(values: int, missing: bool) -> None:
    X = np.arange(2.0 * values)[:, None] % values
    y = (X[:, 0] >= values - 1).astype(int)
    if missing:
        X, y = np.vstack([X, [[np.nan], [np.nan]]]), np.append(y, [2, 2])
    for model in (DecisionTreeClassifier(), ExtraTreeClassifier(random_state=0)):
        np.testing.assert_array_equal(model.fit(X, y).predict(X), y)


@pytest.mark.parametrize("many", [300, 3000])  # over 256 distinct values a column is sorted, not counted
def test_sorted_columns_find_the_best_split_too(many: int) -> None:
    rng = np.random.default_rng(3)
    X, w = rng.normal(size=(many, 2)), np.ones(many)
    y = (X[:, 0] * X[:, 1] > 0.3).astype(int)
    for criterion, targets in (("gini", y), ("entropy", y), ("squared_error", y + X[:, 1])):
        found = fit(criterion, X, targets, max_depth=1).tree_
        assert of_root(found) == pytest.approx(least_impurity_after_a_split(criterion, X, targets, w), rel=1e-9)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_grown_tree_is_consistent_with_data_free_of_contradictions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 4, (60, 4)), axis=0).astype(float)
    y = rng.integers(0, 3, len(X))
    for model in (
        DecisionTreeClassifier(),
        DecisionTreeClassifier(splitter="histogram"),
        DecisionTreeClassifier(criterion="entropy", max_features=1, random_state=seed),
        ExtraTreeClassifier(random_state=seed),
        DecisionTreeRegressor(),
        ExtraTreeRegressor(random_state=seed),
    ):
        np.testing.assert_array_equal(model.fit(X, y).predict(X), y)


def big(n: int = 12_000) -> tuple[Any, Any]:
    """Enough rows that nodes are cut up and grow as parts of their own."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=(n, 6)), rng.integers(0, 5, (n, 4))])
    X[rng.random(X.shape) < 0.03] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 7]) * np.nan_to_num(X[:, 1]) + rng.normal(size=n) > 0) * 1
    return X, y


MODELS: list[Callable[[], Any]] = [
    DecisionTreeClassifier,
    lambda: DecisionTreeClassifier(splitter="histogram"),
    lambda: DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=300),
    lambda: DecisionTreeClassifier(max_features=3, random_state=1),
    lambda: ExtraTreeClassifier(random_state=1),
    DecisionTreeRegressor,
    lambda: DecisionTreeRegressor(criterion="poisson", max_depth=8),
    lambda: ExtraTreeRegressor(max_features=4, random_state=2),
]


@pytest.mark.parametrize("make", MODELS)
def test_the_number_of_threads_changes_no_bit(make: Callable[[], Any]) -> None:
    X, y = big()
    found = []
    for threads in (1, 2, 7):
        with tutelage.threads(threads):
            model = make().fit(X, y)
            found.append((model.tree_, model.predict(X)))
    for tree, predicted in found[1:]:
        same(found[0][0], tree)
        np.testing.assert_array_equal(found[0][0].value, tree.value)
        np.testing.assert_array_equal(found[0][0].impurity, tree.impurity)
        np.testing.assert_array_equal(found[0][1], predicted)


@pytest.mark.parametrize("make", MODELS)
def test_leaves_hold_the_rows_that_come_there(make: Callable[[], Any]) -> None:
    X, y = big()
    model = make().fit(X, y)
    tree, leaves = model.tree_, model.apply(X)
    path = model.decision_path(X)
    np.testing.assert_array_equal(np.asarray(path.sum(axis=0)).ravel(), tree.n_node_samples)
    at_leaves = tree.children_left == -1
    np.testing.assert_array_equal(
        np.bincount(leaves, minlength=tree.node_count)[at_leaves], tree.n_node_samples[at_leaves]
    )
    means = np.bincount(leaves, weights=y, minlength=tree.node_count)[at_leaves] / tree.n_node_samples[at_leaves]
    shown = tree.value[at_leaves, 0, 1 if isinstance(model, DecisionTreeClassifier) else 0]
    np.testing.assert_allclose(shown, means, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])
def test_weights_are_copies(criterion: str) -> None:
    for seed in range(5):
        X, y, w = examples(seed, 200, 4, values=50, missing=seed % 2 == 1, counts=True)
        w = w - 1  # some weigh nothing
        weighted = fit(criterion, X, y, w).tree_
        repeated = fit(criterion, np.repeat(X, w.astype(int), axis=0), np.repeat(y, w.astype(int))).tree_
        same_ways(weighted, repeated, X)


def same_ways(one: Tree, other: Tree, X: Any) -> None:
    """Trees that ask the same and answer the same, though they count copies otherwise."""
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(one.weighted_n_node_samples, other.weighted_n_node_samples)


@pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])
@pytest.mark.parametrize("transform", [np.arctan, np.cbrt, lambda x: 1000 * x - 3], ids=["arctan", "cbrt", "affine"])
def test_an_increasing_transform_changes_no_question(criterion: str, transform: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    one, other = fit(criterion, X, y), fit(criterion, transform(X), y)
    same(one.tree_, other.tree_, thresholds=False)
    np.testing.assert_array_equal(one.predict(X), other.predict(transform(X)))


@pytest.mark.parametrize("criterion", [*CLASSES, "squared_error", "poisson"])
@pytest.mark.parametrize("splitter", ["best", "histogram"])
def test_the_order_of_the_rows_changes_nothing(criterion: str, splitter: str) -> None:
    X, y = big(3000)
    if criterion in NUMBERS:
        y = y + np.abs(np.nan_to_num(X[:, 2]))
    order = np.random.default_rng(0).permutation(len(y))
    one, other = fit(criterion, X, y, splitter=splitter), fit(criterion, X[order], y[order], splitter=splitter)
    same(one.tree_, other.tree_)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12)


def test_more_bins_converge_to_the_exact_tree() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 200, (3000, 4)).astype(float)
    y = X[:, 0] * np.sin(X[:, 1] / 30) + X[:, 2]
    exact = DecisionTreeRegressor(max_depth=6).fit(X, y)
    errors = [
        np.abs(DecisionTreeRegressor(max_depth=6, splitter="histogram", bins=bins).fit(X, y).predict(X) - y).mean()
        for bins in (2, 8, 32, 255)
    ]
    assert errors == sorted(errors, reverse=True)
    same(exact.tree_, DecisionTreeRegressor(max_depth=6, splitter="histogram").fit(X, y).tree_)


@pytest.mark.parametrize(
    "make", [*MODELS, lambda: DecisionTreeClassifier(criterion="entropy", class_weight="balanced")]
)
def test_the_form_of_X_changes_nothing(make: Callable[[], Any]) -> None:
    X, y = big(2500)
    X = np.nan_to_num(X)
    X[np.abs(X) < 0.5] = 0
    whole = make().fit(X, y)
    forms = [np.asfortranarray(X), X[::-1][::-1], sparse.csr_matrix(X), sparse.csc_array(X)]
    for form in forms:
        model = make().fit(form, y)
        same(whole.tree_, model.tree_)
        np.testing.assert_array_equal(whole.apply(X), model.apply(form))
    single = X.astype(np.float32)
    same(make().fit(single, y).tree_, make().fit(single.astype(float), y).tree_)


def test_pruning_gives_nested_trees_of_least_cost() -> None:
    X, y = big(2000)
    model = DecisionTreeClassifier(min_samples_leaf=5).fit(X, y)
    path = model.cost_complexity_pruning_path(X, y)
    assert np.all(np.diff(path.ccp_alphas) >= -1e-15)
    assert np.all(np.diff(path.impurities) >= -1e-15)
    for alpha in (path.ccp_alphas[1:] + path.ccp_alphas[:-1])[::40] / 2:
        pruned = DecisionTreeClassifier(min_samples_leaf=5, ccp_alpha=alpha).fit(X, y).tree_
        cost = price(pruned, alpha)
        for other in path.ccp_alphas[::25]:
            rival = DecisionTreeClassifier(min_samples_leaf=5, ccp_alpha=other).fit(X, y).tree_
            assert cost <= price(rival, alpha) + 1e-12


def price(tree: Tree, alpha: float) -> float:
    leaf = tree.children_left == -1
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return float((tree.impurity * share)[leaf].sum() + alpha * leaf.sum())


def test_best_first_takes_the_largest_gains() -> None:
    X, y = big(2000)
    whole = DecisionTreeRegressor().fit(X, y).tree_
    few = DecisionTreeRegressor(max_leaf_nodes=12).fit(X, y).tree_
    assert few.n_leaves == 12

    def gains(tree: Tree) -> Any:
        cost = tree.impurity * tree.weighted_n_node_samples
        inner = tree.children_left != -1
        return cost[inner] - cost[tree.children_left[inner]] - cost[tree.children_right[inner]]

    # Greedy: what was taken first gained most among what could be taken; of the first question there is no choice.
    assert gains(few).max() == pytest.approx(gains(whole).max())
    assert gains(few).sum() >= gains(DecisionTreeRegressor(max_depth=3).fit(X, y).tree_).sum()


@pytest.mark.parametrize("criterion", [*CLASSES, "squared_error", "absolute_error"])
@pytest.mark.parametrize("limits", [{}, {"max_leaf_nodes": 40}, {"splitter": "histogram"}])
def test_monotone_constraints_hold(criterion: str, limits: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] - X[:, 1] + rng.normal(size=600)
    targets = (y > 0).astype(int) if criterion in CLASSES else y
    model = fit(criterion, X, targets, monotonic_cst=[1, -1, 0], **limits)
    grid = np.repeat(X[:40], 25, axis=0)
    for column, sign in ((0, 1), (1, -1)):
        moved = grid.copy()
        moved[:, column] = np.tile(np.linspace(-3, 3, 25), 40)
        said = model.predict_proba(moved)[:, 1] if criterion in CLASSES else model.predict(moved)
        assert np.all(sign * np.diff(said.reshape(40, 25), axis=1) >= -1e-12)


def test_several_outputs_agree_with_one() -> None:
    X, y = big(1500)
    # Deeper down there are questions of equal gain, which are the same only where sums are exact.
    both = DecisionTreeClassifier(max_depth=5).fit(X, np.column_stack([y, y]))
    one = DecisionTreeClassifier(max_depth=5).fit(X, y)
    same(both.tree_, one.tree_)
    np.testing.assert_array_equal(both.predict(X), np.column_stack([one.predict(X), one.predict(X)]))
    whole = DecisionTreeClassifier().fit(X, np.column_stack([y, 1 - y]))
    np.testing.assert_array_equal(whole.predict(X), np.column_stack([y, 1 - y]))
    numbers = DecisionTreeRegressor(max_depth=5).fit(X, np.column_stack([y, y]).astype(float))
    same(numbers.tree_, DecisionTreeRegressor(max_depth=5).fit(X, y).tree_)


def test_a_pickled_tree_is_the_same_tree() -> None:
    X, y = big(500)
    model = DecisionTreeClassifier().fit(X, y)
    model.predict(X)
    again = pickle.loads(pickle.dumps(model))
    same(model.tree_, again.tree_)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_missing_values_unseen_in_training_go_where_most_rows_went() -> None:
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    assert DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1]).predict([[np.nan]]) == [0]
    assert DecisionTreeClassifier().fit(X, [0, 0, 1, 1, 1]).predict([[np.nan]]) == [1]


@pytest.mark.parametrize(
    ("parameters", "y", "sentence"),
    [
        ({"max_depth": 0}, [0, 1], "max_depth"),
        ({"min_samples_leaf": 0}, [0, 1], "min_samples_leaf"),
        ({"monotonic_cst": [1]}, [0, 1], "monotonic_cst has shape 1 but the input data X has 2 features"),
        ({"monotonic_cst": [2, 0]}, [0, 1], "-1, 0 or 1"),
        ({"bins": 256}, [0, 1], "bins"),
        ({"criterion": "gin"}, [0, 1], "Did you mean 'gini'"),
        ({}, [0, math.nan], "NaN"),
    ],
)
def test_bad_input_gets_a_sentence(parameters: dict[str, Any], y: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        DecisionTreeClassifier(**parameters).fit([[0.0, 1.0], [1.0, 1.0]], y)


def test_too_many_classes_are_refused() -> None:
    X = np.arange(70_000.0)[:, None]
    with (
        pytest.warns(UserWarning, match="number of unique classes"),
        pytest.raises(ValueError, match="at most 65535 classes for a tree, found 70000"),
    ):
        DecisionTreeClassifier().fit(X, np.arange(70_000))


def test_a_column_all_missing_is_never_asked_about() -> None:
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    tree = DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1, 1]).tree_
    assert set(tree.feature[tree.feature >= 0]) == {1}

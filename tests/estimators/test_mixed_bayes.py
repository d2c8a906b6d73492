"""NaiveBayes: each family against the namesake that knows it alone, and the laws of missing values and explanations."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.special import expit

import tutelage
from tutelage.bayes.buckets import inner_edges
from tutelage.machine import threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

FAMILIES = {0: "bernoulli", 1: "categorical", 2: "gaussian", 3: "poisson", 4: "buckets"}


def table(n: int = 400, classes: int = 2, missing: float = 0.0, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = np.stack(
        [
            rng.random(n) < 0.2 + 0.5 * y / classes,
            rng.integers(0, 4, n) * (y > 0) + 3,
            rng.normal(size=n) + y,
            rng.poisson(6 + 4 * y),
            rng.exponential(1 + y),
        ],
        axis=1,
    ).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def test_each_family_is_its_namesake() -> None:
    X, y = table()
    for column, name, words in [
        (0, "bernoulli", tutelage.BernoulliNB()),
        (1, "categorical", tutelage.CategoricalNB()),
        (2, "gaussian", tutelage.GaussianNB()),
    ]:
        one = X[:, [column]] - (3 if name == "categorical" else 0)
        ours = tutelage.NaiveBayes(name).fit(one, y)
        np.testing.assert_allclose(ours.predict_proba(one), words.fit(one, y).predict_proba(one), rtol=1e-8)
    model = tutelage.NaiveBayes("poisson", alpha=0.0).fit(X[:, [3]], y)
    for c in (0, 1):
        np.testing.assert_allclose(
            model.predict_joint_log_proba(X[:, [3]])[:, c],
            stats.poisson(X[y == c, 3].mean()).logpmf(X[:, 3]) + np.log((y == c).mean()),
            rtol=1e-9,
        )


def test_columns_multiply() -> None:
    X, y = table()
    whole = tutelage.NaiveBayes(FAMILIES).fit(X, y)
    prior = np.log(whole.class_prior_)
    parts = [
        tutelage.NaiveBayes(family).fit(X[:, [j]], y).predict_joint_log_proba(X[:, [j]]) - prior
        for j, family in FAMILIES.items()
    ]
    np.testing.assert_allclose(whole.predict_joint_log_proba(X), sum(parts) + prior, rtol=1e-10)


@pytest.mark.parametrize("family", FAMILIES.values())
def test_a_missing_value_is_left_out_of_the_product(family: str) -> None:
    X, y = table()
    j = list(FAMILIES.values()).index(family)
    model = tutelage.NaiveBayes(FAMILIES).fit(X, y)
    holes = X.copy()
    holes[:, j] = np.nan
    rest = [i for i in FAMILIES if i != j]
    without = tutelage.NaiveBayes(dict(enumerate(FAMILIES[i] for i in rest))).fit(X[:, rest], y)
    np.testing.assert_allclose(model.predict_proba(holes), without.predict_proba(X[:, rest]), rtol=1e-9)
    # In training too: the column is estimated from the rows that have it, and the others from all rows.
    some = X.copy()
    some[::3, j] = np.nan
    there = ~np.isnan(some[:, j])
    learned = tutelage.NaiveBayes(FAMILIES).fit(some, y)
    alone = tutelage.NaiveBayes(FAMILIES).fit(X[there], y[there])
    np.testing.assert_allclose(learned.parameters_[j], alone.parameters_[j], rtol=1e-9)
    for i in rest:
        np.testing.assert_array_equal(learned.parameters_[i], model.parameters_[i])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_explanation_adds_up_to_the_prediction(classes: int) -> None:
    X, y = table(classes=classes, missing=0.1)
    model = tutelage.NaiveBayes(FAMILIES).fit(X, y)
    evidence = model.explain(X)
    if classes == 2:
        odds = evidence.sum(axis=1) + np.log(model.class_prior_[1] / model.class_prior_[0])
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(odds), rtol=1e-9)
    else:
        scores = evidence.sum(axis=1) + np.log(model.class_prior_)
        np.testing.assert_allclose(np.diff(scores), np.diff(model.predict_joint_log_proba(X)), rtol=1e-8, atol=1e-9)
    assert not evidence[np.isnan(X)].any()


@pytest.mark.parametrize("family", [*FAMILIES.values(), "each"])
def test_forgetting_a_fold_is_fitting_the_rest(family: str) -> None:
    X, y = table(missing=0.1)
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    words: Any = FAMILIES if family == "each" else family
    X = np.abs(X)  # a Poisson column holds counts
    whole = tutelage.NaiveBayes(words).fit(X, y, weight)
    fold = np.arange(len(X)) % 4 == 1
    # Families, categories and edges are those of all rows: a fold does not choose them anew.
    rest = copy.copy(whole)
    rest.counts_ = rest._count(*rest.validate(X[~fold], y[~fold], weight[~fold], reset=False))
    rest._estimate()
    less = copy.copy(whole).forget(X[fold], y[fold], weight[fold])
    np.testing.assert_allclose(less.predict_log_proba(X), rest.predict_log_proba(X), rtol=1e-8, atol=1e-9)
    again = less.partial_fit(X[fold], y[fold], sample_weight=weight[fold])
    np.testing.assert_allclose(again.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-8, atol=1e-9)


def test_families_are_chosen_by_a_look() -> None:
    X, y = table(2000)
    assert tutelage.NaiveBayes().fit(X, y).families_ == list(FAMILIES.values())
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    model = tutelage.NaiveBayes({"c": "buckets", "d": "categorical"}).fit(frame, y)
    assert model.families_ == ["bernoulli", "categorical", "buckets", "categorical", "buckets"]
    assert len(model.parameters_[2][0]) == 10


def test_a_sample_is_from_the_model() -> None:
    X, y = table(3000)
    model = tutelage.NaiveBayes(FAMILIES).fit(X, y)
    drawn, classes = model.sample(60000, random_state=0)
    again, _ = model.sample(60000, random_state=0)
    np.testing.assert_array_equal(drawn, again)
    learned = tutelage.NaiveBayes(FAMILIES).fit(drawn, classes)
    np.testing.assert_allclose(learned.class_prior_, model.class_prior_, atol=0.01)
    for j, family in FAMILIES.items():
        if family == "buckets":
            edges = model.values_[j]
            for c in (0, 1):
                shares = np.bincount(np.searchsorted(edges, drawn[classes == c, j], side="right"), minlength=10)
                np.testing.assert_allclose(shares / (classes == c).sum(), model.parameters_[j][c], atol=0.02)
        else:
            np.testing.assert_allclose(learned.parameters_[j], model.parameters_[j], atol=0.06)


def test_a_category_that_no_class_has_met_says_nothing() -> None:
    model = tutelage.NaiveBayes("categorical").fit([[1.0, 5.0], [2.0, 5.0], [2.0, 6.0]], [0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[99.0, 5.0]]), model.predict_proba([[np.nan, 5.0]]))
    model.partial_fit([[99.0, 5.0]], [0])
    assert model.predict_proba([[99.0, 5.0]])[0, 0] > model.predict_proba([[np.nan, 5.0]])[0, 0]


def test_hard_cases() -> None:
    nothing = tutelage.NaiveBayes().fit([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 7.0]], [0, 0, 1])
    assert np.isfinite(nothing.predict_log_proba([[3.0, np.nan]])).all()
    np.testing.assert_allclose(nothing.predict_proba([[np.nan, np.nan]]), [[2 / 3, 1 / 3]])
    constant = tutelage.NaiveBayes("gaussian").fit([[1.0, 0.0], [1.0, 1.0], [1.0, 3.0], [1.0, 4.0]], [0, 0, 1, 1])
    np.testing.assert_allclose(constant.predict_proba([[50.0, 2.0]]), [[0.5, 0.5]])
    absent = tutelage.NaiveBayes("gaussian").fit([[0.0], [1.0], [np.nan]], [0, 0, 1])
    assert absent.explain([[0.3]]).shape == (1, 1)
    never = tutelage.NaiveBayes("poisson").fit([[0.0], [0.0], [0.0]], [0, 0, 1])
    assert np.isfinite(never.predict_log_proba([[0.0]])).all()


@pytest.mark.parametrize("strategy", ["quantile", "uniform", "mdl"])
def test_a_weight_of_two_is_two_rows(strategy: str) -> None:
    X, y = table(missing=0.1)
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = tutelage.NaiveBayes(strategy=strategy).fit(X, y, weight)
    repeated = tutelage.NaiveBayes(strategy=strategy).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.families_ == repeated.families_
    np.testing.assert_allclose(weighted.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-8)


def test_description_length_cuts_where_classes_change_and_nowhere_else() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=500)
    bands = ((x > 0.3) & (x < 0.7)).astype(np.intp)
    edges = inner_edges(x, bands, np.ones(500), "mdl", 10)
    np.testing.assert_allclose(edges, [x[x > 0.3].min(), x[x >= 0.7].min()])
    assert len(inner_edges(x, rng.integers(0, 2, 500).astype(np.intp), np.ones(500), "mdl", 10)) == 0


def test_bits_do_not_depend_on_threads(thread_count: int) -> None:
    X, y = table(20000, missing=0.1)
    answers = []
    for count in (1, thread_count):
        with threads(count):
            answers.append(tutelage.NaiveBayes(FAMILIES).fit(X, y).predict_log_proba(X))
    np.testing.assert_array_equal(*answers)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"families": {9: "gaussian"}}, "keys are columns of X, which 9 is not"),
        ({"families": {0: "normal"}}, "'normal' is not"),
        ({"families": "poisson"}, "Column 2 of X must hold counts"),
        ({"priors": [0.5, 0.6]}, "probabilities that add up to 1"),
    ],
)
def test_bad_input_gets_a_sentence(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        tutelage.NaiveBayes(**words).fit(*table())


def polars_frame(table: Array) -> Any:
    columns = {"colour": table[:, 0].tolist(), "size": table[:, 1].tolist()}
    return pl.DataFrame(columns)


def pandas_frame(table: Array) -> Any:
    columns = {"colour": table[:, 0].tolist(), "size": table[:, 1].tolist()}
    return pd.DataFrame(columns)


def labelled(n: int = 60) -> tuple[Array, Array, Array]:
    """A table with a column of labels, the same with codes in their place, and classes."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 3, n)
    number, y = random.normal(size=n) + codes, (codes + random.integers(0, 2, n)) % 3
    table = np.column_stack([np.array(["blue", "green", "red"], dtype=object)[codes], number.astype(object)])
    table[::7, 0] = None
    table[3::11, 1] = None
    plain = np.column_stack([np.where(np.arange(n) % 7 == 0, np.nan, codes), number])
    plain[3::11, 1] = np.nan
    return table, plain, y


@pytest.mark.parametrize("make", [np.asarray, polars_frame, pandas_frame])
def test_labels_say_what_their_codes_say(make: Any) -> None:
    table, plain, y = labelled()
    with_labels = tutelage.NaiveBayes().fit(make(table), y)
    with_codes = tutelage.NaiveBayes({0: "categorical"}).fit(plain, y)
    np.testing.assert_allclose(with_labels.predict_proba(make(table)), with_codes.predict_proba(plain), rtol=1e-12)
    if make is not np.asarray:
        assert list(with_labels.feature_names_in_) == ["colour", "size"]


def test_labels_met_later_are_learned_and_forgotten() -> None:
    table, _, y = labelled()
    first = table[:, 0] != "red"
    model = tutelage.NaiveBayes({1: "gaussian"}).fit(table[first], y[first])
    model.partial_fit(table[~first], y[~first])
    whole = tutelage.NaiveBayes({1: "gaussian"}).fit(table, y)
    np.testing.assert_allclose(model.predict_proba(table), whole.predict_proba(table), rtol=1e-9)
    # A label that nobody has met says nothing.
    strange = np.array([["mauve", 0.5], [None, 0.5]], dtype=object)
    np.testing.assert_array_equal(*whole.predict_proba(strange))


def test_rows_drawn_have_labels() -> None:
    table, _, y = labelled()
    rows, _ = tutelage.NaiveBayes().fit(table, y).sample(200, random_state=0)
    assert set(rows[:, 0]) == {"blue", "green", "red"}
    assert all(isinstance(value, float) for value in rows[:, 1])


def test_labels_must_be_labels() -> None:
    table, _, y = labelled()
    with pytest.raises(ValueError, match=r"families.*'categorical' or 'auto' for column 0, which holds labels"):
        tutelage.NaiveBayes({0: "gaussian"}).fit(table, y)
    table[5, 0] = {"a": 1}
    with pytest.raises(TypeError, match=r"Column 0 of X has \{'a': 1\} in it, which is no label"):
        tutelage.NaiveBayes().fit(table, y)

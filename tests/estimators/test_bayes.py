"""Naive Bayes: references of a few lines of NumPy, scikit-learn's answers, the lecture's examples, and hard cases."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from scipy import sparse

import tutelage
from tutelage.machine import threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

DISCRETE = ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"]
ALL = ["GaussianNB", *DISCRETE]
ATTRIBUTES = ("classes_", "class_count_", "class_prior_", "class_log_prior_", "theta_", "var_", "epsilon_",
              "feature_count_", "feature_log_prob_", "feature_all_", "category_count_", "n_categories_")  # fmt: skip


def rows(name: str, n: int = 300, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 6)) + y[:, None] if name == "GaussianNB" else rng.poisson(1 + y[:, None], (n, 6))
    return X.astype(float), np.array(["low", "middle", "top"])[y], rng.integers(0, 3, n).astype(float)


def same(a: Any, b: Any, rtol: float = 1e-9) -> None:
    if isinstance(b, list):
        for one, other in zip(a, b, strict=True):
            np.testing.assert_allclose(one, other, rtol=rtol)
    elif np.asarray(b).dtype.kind in "US":
        np.testing.assert_array_equal(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_fits_are_those_of_the_namesake(name: str, weighted: bool) -> None:
    X, y, weight = rows(name)
    s = weight if weighted else None
    ours = getattr(tutelage, name)().fit(X, y, s)
    reference = getattr(theirs, name)().fit(X, y, s)
    for attribute in ATTRIBUTES:
        if hasattr(reference, attribute):
            same(getattr(ours, attribute), getattr(reference, attribute))
    for method in ("predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        same(getattr(ours, method)(X), getattr(reference, method)(X), rtol=1e-7)


@pytest.mark.parametrize("name", ALL)
def test_forgetting_a_fold_is_fitting_the_rest(name: str) -> None:
    X, y, weight = rows(name)
    X[0], X[1] = X.max(axis=0), X[1]  # the largest categories stay
    fold = np.arange(len(X)) % 5 == 1
    cls = getattr(tutelage, name)
    whole = cls().fit(X, y, weight)
    before = whole.predict_log_proba(X)
    less = copy.copy(whole).forget(X[fold], y[fold], weight[fold])
    rest = cls().fit(X[~fold], y[~fold], weight[~fold])
    np.testing.assert_allclose(less.predict_log_proba(X), rest.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(whole.predict_log_proba(X), before)  # the copy forgot, not the model
    again = less.partial_fit(X[fold], y[fold], sample_weight=weight[fold])
    if name != "GaussianNB":  # whose smoothing is a share of the spread of the last rows alone, as in scikit-learn
        np.testing.assert_allclose(again.predict_log_proba(X), before, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_give_what_dense_ones_do(name: str, make: Any) -> None:
    X, y, weight = rows(name)
    dense, thin = (getattr(tutelage, name)().fit(one, y, weight) for one in (X, make(X)))
    np.testing.assert_array_equal(dense.feature_log_prob_, thin.feature_log_prob_)
    np.testing.assert_allclose(dense.predict_proba(X), thin.predict_proba(make(X)), rtol=1e-12)


def test_a_team_that_lost_four_games_wins_the_next_with_one_sixth() -> None:
    model = tutelage.BernoulliNB().fit([[0], [0], [0], [0]], [2009] * 4)
    assert np.exp(model.feature_log_prob_[0, 0]) == pytest.approx(1 / 6, rel=1e-15)


def test_a_word_never_seen_gives_no_nothing_over_nothing() -> None:
    X, y = np.array([[1, 0, 0], [0, 1, 0]]), [0, 1]
    for name in ("BernoulliNB", "MultinomialNB"):
        smooth = getattr(tutelage, name)().fit(X, y)
        assert np.isfinite(smooth.predict_log_proba([[1, 0, 5]])).all()
        np.testing.assert_array_equal(smooth.predict([[1, 0, 5], [0, 1, 5]]), y)


def test_without_smoothing_what_cannot_be_has_probability_zero() -> None:
    X, y = np.array([[1, 0], [1, 1]]), np.array([0, 1])
    for name in ("BernoulliNB", "MultinomialNB"):
        model = getattr(tutelage, name)(alpha=0.0).fit(X, y)
        np.testing.assert_array_equal(model.predict_proba([[1, 1]]), [[0.0, 1.0]])


def test_the_two_event_models_count_differently() -> None:
    """Bernoulli: documents with the word, and absence counts; multinomial: occurrences, and repetition counts."""
    X, y = np.array([[5, 0], [0, 1], [1, 1]]), np.array([0, 1, 1])
    bernoulli, multinomial = tutelage.BernoulliNB().fit(X, y), tutelage.MultinomialNB().fit(X, y)
    np.testing.assert_allclose(np.exp(bernoulli.feature_log_prob_), [[2 / 3, 1 / 3], [2 / 4, 3 / 4]])
    np.testing.assert_allclose(np.exp(multinomial.feature_log_prob_), [[6 / 7, 1 / 7], [2 / 5, 3 / 5]])
    once, often = bernoulli.predict_proba([[1, 0], [9, 0]])
    np.testing.assert_array_equal(once, often)
    assert multinomial.predict_proba([[9, 0]])[0, 0] > multinomial.predict_proba([[1, 0]])[0, 0]


@pytest.mark.parametrize("name", ALL)
def test_bits_do_not_depend_on_threads(name: str, thread_count: int) -> None:
    X, y, weight = rows(name, 30000)
    answers = []
    for count in (1, thread_count):
        with threads(count):
            answers.append(getattr(tutelage, name)().fit(X, y, weight).predict_log_proba(X))
    np.testing.assert_array_equal(*answers)


def test_float32_is_kept() -> None:
    X, y, _ = rows("GaussianNB")
    model = tutelage.GaussianNB().fit(X.astype(np.float32), y)
    assert {getattr(model, name).dtype for name in ("theta_", "var_", "class_prior_", "class_count_")} == {
        np.dtype(np.float32)
    }
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32


def test_hard_cases() -> None:
    constant = tutelage.GaussianNB(var_smoothing=0.0).fit([[1.0], [1.0], [2.0]], [0, 0, 1])
    np.testing.assert_array_equal(constant.predict_proba([[1.0], [2.0]]), np.eye(2))
    one_row = tutelage.GaussianNB().fit([[1.0, 5.0], [2.0, 6.0], [9.0, 7.0]], [0, 0, 1])
    assert np.isfinite(one_row.predict_log_proba([[1.0, 5.0]])[0, 0])
    empty_rows = tutelage.MultinomialNB().fit([[0, 0], [0, 0], [1, 0]], [0, 0, 1])
    np.testing.assert_allclose(empty_rows.predict_proba([[0, 0]]), [[2 / 3, 1 / 3]])
    later = tutelage.MultinomialNB().partial_fit([[1, 0]], ["a"], classes=["a", "b"])
    assert later.predict([[0, 1]])[0] == "a"
    assert later.partial_fit([[0, 3]], ["b"]).predict([[0, 1]])[0] == "b"
    weightless = tutelage.GaussianNB().fit([[0.0], [1.0], [5.0]], [0, 0, 1], [1.0, 1.0, 0.0])
    assert weightless.class_prior_[1] == 0
    np.testing.assert_array_equal(weightless.predict([[5.0]]), [0])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: tutelage.MultinomialNB().fit([[-1.0]], [0]), "Negative values in data passed to MultinomialNB"),
        (lambda: tutelage.GaussianNB().fit([[np.nan]], [0]), "NaN"),
        (lambda: tutelage.GaussianNB().fit([[0.0], [1.0]], [0, 1], [0.0, 0.0]), "at least one non-zero"),
        (lambda: tutelage.GaussianNB(priors=[0.5]).fit([[0.0], [1.0]], [0, 1]), "Number of priors"),
        (lambda: tutelage.GaussianNB().fit([[0.0]], [0]).partial_fit([[0.0]], [3]), r"\[3\] in y do not exist"),
        (lambda: tutelage.BernoulliNB().fit([[0.0]], [0]).forget([[0.0], [1.0]], [0, 0]), "among those that were"),
    ],
)
def test_bad_input_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


def test_a_category_unseen_in_training_is_named() -> None:
    model = tutelage.CategoricalNB().fit([[0, 1], [1, 0]], [0, 1])
    with pytest.raises(IndexError, match="Column 1 of X has the category 7, but only 2"):
        model.predict([[0, 7]])
    roomy = tutelage.CategoricalNB(min_categories=8).fit([[0, 1], [1, 0]], [0, 1])
    np.testing.assert_allclose(roomy.predict_proba([[0, 7]]), [[2 / 3, 1 / 3]])

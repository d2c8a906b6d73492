"""Curves, bias and variance, nested and bootstrap scores: identities, recoveries, and what chance may do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import tutelage as t
from tutelage.selection.learning import PowerLaw

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(240, 6))
Y = X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.2] + 2 * RANDOM.normal(size=240)
C = np.array(list("abc"))[np.digitize(Y, [-1.0, 1.0])]


@given(limit=st.floats(-1, 1), drop=st.floats(0.01, 5), rate=st.floats(0.1, 1.9))
@settings(max_examples=50, deadline=None)
def test_a_power_law_is_recovered_from_its_points(limit: float, drop: float, rate: float) -> None:
    sizes = np.array([20, 40, 80, 160, 320])
    law = PowerLaw.through(sizes, limit - drop * sizes**-rate)
    further = np.array([20, 640, 1280])
    assert np.allclose(law(further), limit - drop * further**-rate, atol=1e-5 * max(drop, 1))


def test_a_power_law_never_falls_and_needs_three_sizes() -> None:
    law = PowerLaw.through([10, 20, 40], [0.9, 0.8, 0.7])
    assert law(10) == law(1000) == pytest.approx(0.8)
    with pytest.raises(ValueError, match="three different numbers of rows"):
        PowerLaw.through([10, 20], [0.1, 0.2])


def test_the_gain_of_more_rows_of_least_squares_is_what_theory_says() -> None:
    """With d columns and noise of variance 1 the expected squared error is 1 + d / (n - d - 1)."""
    random = np.random.default_rng(1)
    A = random.normal(size=(4000, 10))
    b = A.sum(axis=1) + random.normal(size=4000)
    curve = t.LearningCurve.of(
        t.LinearRegression(), A, b, sizes=[25, 50, 100, 200, 400], scoring="neg_mean_squared_error", cv=10
    )
    told = curve.gain(400)
    assert told.gain == pytest.approx(10 / 389 - 10 / 789, abs=0.02)
    assert told.low <= told.gain <= told.high
    assert "400 rows more than 400 would raise the score" in str(told)


def test_curves_are_drawn() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    curve = t.LearningCurve.of(t.Ridge(), X, Y, sizes=[0.2, 0.5, 1.0])
    assert len(curve.plot().lines) == 3
    along = t.ValidationCurve.of(t.Ridge(), X, Y, "alpha", np.geomspace(1e-3, 1e3, 4))
    assert along.plot().get_xscale() == "log"
    words = t.ValidationCurve.of(t.KNeighborsClassifier(), X, C, "weights", ["uniform", "distance"])
    ax = words.plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["uniform", "distance"]
    parts = t.bias_variance(t.Ridge(), X, Y, samples=5, random_state=0)
    assert len(parts.plot().patches) == 2
    mpl.pyplot.close("all")


def test_the_curve_along_a_parameter_is_that_of_scikit_learn() -> None:
    from sklearn.model_selection import validation_curve

    values = [0.1, 1.0, 10.0]
    for ours, theirs in zip(
        t.validation_curve(t.Ridge(), X, Y, param_name="alpha", param_range=values),
        validation_curve(t.Ridge(), X, Y, param_name="alpha", param_range=values),
        strict=True,
    ):
        assert np.allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize(
    ("model", "y"), [(DecisionTreeRegressor(random_state=0), Y), (DecisionTreeClassifier(random_state=0), C)]
)
def test_bias_and_variance_add_up_row_by_row(model: object, y: np.ndarray) -> None:
    parts = t.bias_variance(model, X, y, samples=20, random_state=0)
    assert np.allclose(parts.rows[:, 0], parts.rows[:, 1] + parts.rows[:, 2])
    assert parts.loss == pytest.approx(parts.bias + parts.variance)
    if parts.kind == "squared":
        assert (parts.rows[:, 2] >= -1e-12).all()
    else:  # variance costs where the most frequent class is right, and pays where it is wrong
        wrong = parts.rows[:, 1] == 1
        assert (parts.rows[~wrong, 2] >= 0).all()
        assert (parts.rows[wrong, 2] <= 0).all()


def test_a_model_that_never_changes_has_no_variance() -> None:
    from sklearn.dummy import DummyRegressor

    parts = t.bias_variance(DummyRegressor(strategy="constant", constant=1.0), X, Y, samples=5)
    assert parts.variance == 0
    with pytest.raises(ValueError, match="samples must be an int of at least 2"):
        t.bias_variance(DummyRegressor(), X, Y, samples=1)


def test_a_nested_score_is_that_of_the_search_on_each_fold() -> None:
    from sklearn.model_selection import KFold

    search = t.GridSearchCV(t.Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, cv=3)
    found = t.nested_score(search, X, Y, cv=4)
    for (train, test), score, choice in zip(KFold(4).split(X), found.scores, found.choices, strict=True):
        alone = t.GridSearchCV(t.Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, cv=3).fit(X[train], Y[train])
        assert score == alone.score(X[test], Y[test])
        assert choice == alone.best_params_
    assert found.optimism == pytest.approx(found.inner.mean() - found.scores.mean())
    with pytest.raises(ValueError, match="refit=True"):
        t.nested_score(t.GridSearchCV(t.Ridge(), {}, refit=False), X, Y)


def test_the_632_bootstrap_is_a_mixture_of_its_parts() -> None:
    found = t.bootstrap_score(t.Ridge(), X, Y, n_splits=30, random_state=0)
    rate = (found.own - found.out) / (found.own - found.none)
    weight = 0.632120558 / (1 - 0.367879441 * rate)
    assert found.overfitting == pytest.approx(rate)
    assert found.score == pytest.approx((1 - weight) * found.own + weight * found.out)
    assert "overfitting" in str(found)


def test_the_632_bootstrap_does_not_believe_a_memory() -> None:
    labels = np.random.default_rng(3).integers(0, 2, 240)
    found = t.bootstrap_score(t.KNeighborsClassifier(1), X, labels, n_splits=40, random_state=0)
    assert found.own == 1.0
    # Nothing can be known of these labels: a score beyond three standard errors of 1/2 would be belief in memory.
    assert abs(found.score - 0.5) < 3 * 0.5 / np.sqrt(240) + 0.02


def test_a_permutation_test_is_fair_where_there_is_nothing() -> None:
    random = np.random.default_rng(4)
    values = [
        t.permutation_test_score(
            t.Ridge(), random.normal(size=(30, 2)), random.normal(size=30), n_permutations=19, random_state=seed, cv=3
        )[2]
        for seed in range(60)
    ]
    # p <= 0.2 with probability 0.2 at most: 60 of them have 12 +- 3.1
    assert sum(value <= 0.2 for value in values) <= 12 + 3.5 * 3.1
    assert min(values) >= 1 / 20

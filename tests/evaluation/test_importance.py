"""What a model uses, and how: against scikit-learn's inspection, and by laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.inspection import partial_dependence, permutation_importance

from tutelage import GaussianNB, LinearRegression, LogisticRegression
from tutelage.evaluation import dependence, importances
from tutelage.evaluation.importance import with_columns

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(500, 3))
TARGET = 2 * X[:, 0] - X[:, 1] + RANDOM.normal(size=500)
LABEL = (TARGET > 0).astype(int)
REGRESSION = LinearRegression().fit(X[:250], TARGET[:250])
CLASSIFIER = LogisticRegression().fit(X[:250], LABEL[:250])


@pytest.mark.parametrize(
    ("model", "y", "metric", "scoring"),
    [
        (REGRESSION, TARGET, "squared_error", "neg_mean_squared_error"),
        (REGRESSION, TARGET, "r2", "r2"),
        (CLASSIFIER, LABEL, "accuracy", "accuracy"),
        (CLASSIFIER, LABEL, "auc", "roc_auc"),
        (CLASSIFIER, LABEL, "log_loss", "neg_log_loss"),
    ],
)
def test_they_are_those_of_scikit_learn(model: Any, y: Any, metric: str, scoring: str) -> None:
    made = importances(model, X[250:], y[250:], metric, repeats=30, tables=200)
    theirs = permutation_importance(model, X[250:], y[250:], scoring=scoring, n_repeats=30, random_state=0)
    error = np.maximum(theirs.importances_std / np.sqrt(30), 1e-4)
    assert np.all(np.abs(made.costs - theirs.importances_mean) < 6 * error)
    for value, interval in zip(made.costs, made.intervals, strict=True):
        assert interval.low <= value <= interval.high


def test_the_importance_of_least_squares_is_known() -> None:
    """Shuffling column j of independent columns costs 2 w_j^2 var(x_j) in squared error."""
    covered = 0
    for seed in range(150):
        random = np.random.default_rng(seed)
        rows = random.normal(size=(300, 2))
        model = LinearRegression().fit(rows, rows @ [1.0, 0.0])
        y = rows @ [1.0, 0.0] + random.normal(size=300)
        made = importances(model, rows, y, "squared_error", repeats=5)
        covered += 2.0 in made.intervals[0]
        assert made.costs[1] == pytest.approx(0, abs=1e-9)
    assert covered >= 0.85 * 150  # the shuffles add a little that the rows do not show


def test_groups_are_shuffled_together() -> None:
    twins = np.column_stack([X, X[:, 0]])
    model = LinearRegression().fit(twins[:250], TARGET[:250])
    alone = importances(model, twins[250:], TARGET[250:])
    together = importances(model, twins[250:], TARGET[250:], groups={"twins": [0, 3], "other": ["x1"]})
    assert together.names == ["twins", "other"]
    assert together.costs[0] > 1.5 * max(alone.costs[0], alone.costs[3])


@pytest.mark.parametrize("kind", ["polars", "pandas", "csr", "csc_array"])
def test_every_kind_of_table_gives_the_same(kind: str) -> None:
    def table(rows: Any) -> Any:
        names = ["x0", "x1", "x2"]
        if kind == "polars":
            return pl.DataFrame(rows, schema=names)
        if kind == "pandas":
            return pd.DataFrame(rows, columns=names)
        return sparse.csr_matrix(rows) if kind == "csr" else sparse.csc_array(rows)

    model = LogisticRegression().fit(table(X[:250]), LABEL[:250])
    made = importances(model, table(X[250:]), LABEL[250:])
    plain = importances(CLASSIFIER, X[250:], LABEL[250:])
    np.testing.assert_allclose(made.costs, plain.costs, atol=0.02)
    assert made.names == plain.names
    curve = dependence(model, table(X[250:]), 1, points=5)
    np.testing.assert_allclose(curve.mean, dependence(CLASSIFIER, X[250:], 1, points=5).mean, atol=1e-3)


def test_tables_are_left_as_they_are() -> None:
    before = X.copy()
    moved = with_columns(X, [1], np.arange(500)[::-1])
    assert np.array_equal(X, before)
    assert np.array_equal(moved[:, 1], X[::-1, 1])
    assert np.array_equal(moved[:, [0, 2]], X[:, [0, 2]])


@pytest.mark.parametrize("model", [REGRESSION, CLASSIFIER, GaussianNB().fit(X, LABEL)])
def test_partial_dependence_is_that_of_scikit_learn(model: Any) -> None:
    grid = np.linspace(-1, 1, 7)
    made = dependence(model, X, 1, grid=grid)
    options = {} if model is REGRESSION else {"response_method": "predict_proba"}
    theirs = partial_dependence(model, X, [1], custom_values={1: grid}, kind="both", **options)
    np.testing.assert_allclose(made.mean, theirs["average"][0], rtol=1e-9)
    np.testing.assert_allclose(made.curves, theirs["individual"][0], rtol=1e-9)


def test_words_and_names_can_be_columns() -> None:
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    frame = pl.DataFrame({"colour": ["red", "blue"] * 100, "size": np.arange(200.0)})
    y = (np.arange(200) % 2 == 0).astype(int)
    inner = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    model = make_pipeline(inner, LogisticRegression()).fit(frame, y)
    made = dependence(model, frame, "colour")
    assert made.grid.tolist() == ["blue", "red"]
    assert made.mean[1] > 0.9
    assert made.mean[0] < 0.1
    assert importances(model, frame, y).frame()["name"][0] == "colour"


def test_bad_input_is_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"column must be one of \['x0'"):
        dependence(REGRESSION, X, "y")
    with pytest.raises(ValueError, match="one of 3 columns"):
        dependence(REGRESSION, X, 7)
    with pytest.raises(ValueError, match="label must be one of"):
        dependence(CLASSIFIER, X, 0, label="no")
    with pytest.raises(ValueError, match="repeats must be at least 1"):
        importances(REGRESSION, X, TARGET, repeats=0)

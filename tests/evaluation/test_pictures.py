"""Every picture has its data, a Matplotlib drawing and an Altair chart of them; neither is imported before."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn import metrics as theirs

from tutelage import GaussianNB, LinearRegression, LogisticRegression
from tutelage.evaluation import (
    confusion,
    decision_regions,
    dependence,
    friedman,
    importances,
    margins,
    precision_recall,
    reliability,
    residuals,
    roc,
    wilson,
)

RANDOM = np.random.default_rng(0)
Y = RANDOM.integers(0, 2, 300)
X = RANDOM.normal(size=(300, 3)) + Y[:, None]
MODEL = LogisticRegression().fit(X, Y)
P = MODEL.predict_proba(X)
THREE = RANDOM.integers(0, 3, 300)
PICTURES = {
    "roc": lambda: roc(Y, P),
    "precision_recall": lambda: precision_recall(Y, P),
    "confusion": lambda: confusion(Y, MODEL.predict(X)),
    "reliability": lambda: reliability(Y, P),
    "residuals": lambda: residuals(X[:, 0], 0.5 * X[:, 1]),
    "regions": lambda: decision_regions(MODEL, X, Y, points=30),
    "three regions": lambda: decision_regions(GaussianNB().fit(X, THREE), X, THREE, columns=(2, 0), points=30),
    "margins": lambda: margins(MODEL, X, Y),
    "importances": lambda: importances(MODEL, X, Y),
    "dependence": lambda: dependence(MODEL, X, 0),
    "ranks": lambda: friedman(RANDOM.random((8, 4)), list("abcd")),
}


@pytest.fixture(autouse=True)
def _no_window() -> Any:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_is_data_a_drawing_and_a_chart(name: str) -> None:
    import matplotlib.pyplot as plt

    made = PICTURES[name]()
    assert isinstance(made.frame(), pl.DataFrame)
    assert made.frame().height > 1
    axes = made.plot()
    axes.figure.canvas.draw()
    assert axes.get_xlabel()
    assert axes.has_data()
    _, given = plt.subplots()
    assert made.plot(given) is given
    assert made.chart().to_dict()["$schema"].startswith("https://vega.github.io/schema/vega-lite")


def test_the_roc_curve_is_that_of_scikit_learn() -> None:
    score = np.round(P[:, 1], 1)
    made = roc(Y, score)
    false_alarms, recall, thresholds = theirs.roc_curve(Y, score, drop_intermediate=False)
    np.testing.assert_allclose(made.false_alarms, false_alarms)
    np.testing.assert_allclose(made.recall, recall)
    np.testing.assert_allclose(made.thresholds[1:], thresholds[1:])
    assert made.area == pytest.approx(np.trapezoid(recall, false_alarms))
    assert made.area in made.interval


def test_the_precision_recall_curve_is_that_of_scikit_learn() -> None:
    score = np.round(P[:, 1], 1)
    made = precision_recall(Y, score)
    precision, recall, thresholds = theirs.precision_recall_curve(Y, score)
    np.testing.assert_allclose(made.precision[::-1], precision[:-1])
    np.testing.assert_allclose(made.recall[::-1], recall[:-1])
    np.testing.assert_allclose(made.thresholds[::-1], thresholds)
    assert made.share == pytest.approx(Y.mean())


def test_a_long_curve_is_thinned_out_but_its_area_is_not() -> None:
    y = RANDOM.integers(0, 2, 30_000)
    score = y + RANDOM.normal(size=30_000)
    made = roc(y, score)
    assert made.frame().height <= 2000
    assert made.frame()["recall"][-1] == 1
    assert made.area == pytest.approx(theirs.roc_auc_score(y, score))


def test_the_confusion_matrix_is_that_of_scikit_learn() -> None:
    words = np.array(["a", "b", "c"])
    told = np.where(RANDOM.random(300) < 0.6, THREE, 2)
    made = confusion(words[THREE], words[told])
    assert np.array_equal(made.counts, theirs.confusion_matrix(THREE, told))
    cell = made.frame().filter((pl.col("truth") == "a") & (pl.col("predicted") == "c")).to_dicts()[0]
    assert (cell["low"], cell["high"]) == wilson(cell["count"], int(np.sum(THREE == 0)))


def test_regions_are_what_the_classifier_answers_there() -> None:
    made = decision_regions(MODEL, X, Y, columns=(2, 1), held=[5.0, 0.0, 0.0], points=20)
    i, j = 3, 15
    assert made.region[i, j] == MODEL.predict([[5.0, made.up[i], made.across[j]]])[0]
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    named = decision_regions(LogisticRegression().fit(frame, Y), frame, points=20)
    assert named.names == ("a", "b")
    assert len(named.X) == 0
    sparse_regions = decision_regions(MODEL, sparse.csr_matrix(X), Y, columns=(2, 1), held=[5.0, 0.0, 0.0], points=20)
    assert np.array_equal(sparse_regions.region, made.region)
    with pytest.raises(ValueError, match="columns of numbers"):
        decision_regions(MODEL, pl.DataFrame({"a": ["x", "y"], "b": [1, 2]}))


def test_margins_are_distances_and_their_sign_is_right() -> None:
    made = margins(MODEL, X, Y)
    distance = np.where(Y == 1, 1, -1) * (X @ MODEL.coef_[0] + MODEL.intercept_[0]) / np.linalg.norm(MODEL.coef_)
    np.testing.assert_allclose(made.values, distance)
    many = margins(GaussianNB().fit(X, THREE), X, THREE)
    assert np.array_equal(many.values > 0, GaussianNB().fit(X, THREE).predict(X) == THREE)
    assert not many.distances


def test_the_residuals_trend_has_intervals_that_hold() -> None:
    inside = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        x = random.normal(size=400)
        trend = residuals(x + random.normal(size=400), x).trend
        inside.append(((trend["low"] < 0) & (trend["high"] > 0)).mean())
    assert 0.93 < np.mean(inside) < 0.97


def test_ranks_are_drawn() -> None:
    axes = friedman(RANDOM.random((8, 4)), list("abcd")).plot()
    axes.figure.canvas.draw()
    assert {text.get_text().split()[0] for text in axes.texts} == set("abcd")


def test_nothing_draws_before_it_is_asked_to() -> None:
    code = """
import sys
from tutelage import evaluation
for name in dir(evaluation):
    getattr(evaluation, name)
assert not {"matplotlib", "altair"} & set(sys.modules)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


def test_a_missing_package_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    made = residuals(X[:, 0], LinearRegression().fit(X[:, 1:], X[:, 0]).predict(X[:, 1:]))
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'tutelage\[plot\]'"):
        made.plot()
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ImportError, match=r"pip install 'tutelage\[plot\]'"):
        made.chart()

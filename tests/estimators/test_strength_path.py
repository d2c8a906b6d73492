"""Paths along the strength: each point is a fit of its own, and the picture shows them all."""

from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone

import tutelage
from tutelage import path

mpl.use("Agg")

MODELS: list[tuple[Any, str]] = [
    (tutelage.Ridge(), "alpha"),
    (tutelage.Lasso(tol=1e-10), "alpha"),
    (tutelage.ElasticNet(tol=1e-10, l1_ratio=0.3), "alpha"),
    (tutelage.HuberRegressor(tol=1e-12), "alpha"),
    (tutelage.QuantileRegressor(quantile=0.3), "alpha"),
    (tutelage.ERMRegressor("huber", "l1", tol=1e-10), "strength"),
    (tutelage.MAPRegressor(), "covariance"),
    (tutelage.LogisticRegression(tol=1e-10), "C"),
    (tutelage.LogisticRegression(l1_ratio=1.0, solver="auto", tol=1e-6, max_iter=1000), "C"),
    (tutelage.RidgeClassifier(), "alpha"),
    (tutelage.ERMClassifier("squared_hinge", "elastic_net", tol=1e-10), "strength"),
]


def data(model: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(80, 5))
    y = X @ [2.0, -1.0, 0.0, 0.0, 0.5] + random.normal(size=80)
    return X, (np.digitize(y, [-1, 1]) if hasattr(model, "decision_function") else y)


@pytest.mark.parametrize(("model", "parameter"), MODELS, ids=lambda one: str(one)[:40])
def test_each_point_of_a_path_is_a_fit(model: Any, parameter: str) -> None:
    X, y = data(model)
    before = model.get_params()
    along = path(model, X, y, count=6)
    assert model.get_params() == before
    assert not hasattr(model, "coef_")
    assert along.parameter == parameter
    assert len(along) == 6
    assert np.all(np.diff(along.strengths) < 0)
    for value, coef, intercept, certificate in zip(
        along.values, along.coefs, along.intercepts, along.certificates, strict=True
    ):
        alone = clone(model).set_params(**{parameter: value}).fit(X, y)
        assert coef == pytest.approx(alone.coef_, abs=1e-4 * (1 + np.abs(alone.coef_).max()))
        assert intercept == pytest.approx(alone.intercept_, abs=1e-3)
        assert certificate.reason.trustworthy


def test_a_path_of_zeros_begins_where_they_end() -> None:
    X, y = data(tutelage.Lasso())
    along = path(tutelage.Lasso(), X, y, count=20)
    strongest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert not along.coefs[0].any()
    assert strongest <= along.strengths[0] <= 1.2 * strongest
    assert along.strengths[-1] == pytest.approx(1e-3 * along.strengths[0])
    assert along.coefs[-1].all()


def test_strengths_of_ones_own_fall() -> None:
    X, y = data(tutelage.Ridge())
    along = path(tutelage.Ridge(), X, y, strengths=[1.0, 100.0, 10.0], sample_weight=np.arange(80.0))
    assert along.strengths.tolist() == [100.0, 10.0, 1.0]
    alone = tutelage.Ridge(alpha=10.0).fit(X, y, np.arange(80.0))
    assert along.coefs[1] == pytest.approx(alone.coef_)


def test_names_come_from_frames_and_features() -> None:
    import pandas as pd

    X, y = data(tutelage.Ridge())
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert path(tutelage.Ridge(), frame, y, count=2).names == list("abcde")
    model = tutelage.ERMRegressor(features=tutelage.Polynomial(degree=2))
    along = path(model, frame, y, count=2)
    assert len(along.names) == along.coefs.shape[1] > 5


@pytest.mark.parametrize("rows", [1, 3])
def test_the_picture_has_a_line_for_each_coefficient_and_a_name_at_its_end(rows: int) -> None:
    import matplotlib.pyplot as plt

    model = tutelage.LogisticRegression() if rows == 3 else tutelage.Ridge()
    X, y = data(model)
    along = path(model, X, y, count=10)
    places = np.atleast_1d(along.plot())
    assert len(places) == rows
    for row, place in enumerate(places):
        named = {text.get_text() for text in place.texts}
        assert named == {"x0", "x1", "x2", "x3", "x4"}
        ends = np.sort([text.xy[1] for text in place.texts])
        height = place.get_window_extent().height / (place.get_ylim()[1] - place.get_ylim()[0])
        assert np.diff(ends).min() * height > 8  # points and pixels: no name on another
        table = along.coefs if rows == 1 else along.coefs[:, row]
        drawn = {tuple(np.round(line.get_ydata(), 9)) for line in place.lines if len(line.get_xdata()) == 10}
        assert {tuple(np.round(column, 9)) for column in table.T} <= drawn
        assert place.get_xscale() == "log"
        assert place.get_xlim()[0] > place.get_xlim()[1]
    plt.close("all")


def test_many_lines_are_drawn_and_the_largest_named() -> None:
    import matplotlib.pyplot as plt

    random = np.random.default_rng(1)
    X = random.normal(size=(100, 30))
    y = X @ np.arange(30.0) + random.normal(size=100)
    place = path(tutelage.Ridge(), X, y, count=5).plot()
    assert {text.get_text() for text in place.texts} == {f"x{column}" for column in range(18, 30)}
    assert sum(len(line.get_xdata()) == 5 for line in place.lines) == 30
    plt.close("all")


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data(tutelage.Ridge())
    along = path(tutelage.Ridge(), X, y, count=2)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"tutelage\[plot\]"):
        along.plot()


def test_what_has_no_path_is_named() -> None:
    X, y = data(tutelage.Ridge())
    with pytest.raises(ValueError, match="'model' parameter of path must be a linear learner"):
        path(tutelage.LinearRegression(), X, y)
    with pytest.raises(ValueError, match="'strengths' parameter of path"):
        path(tutelage.Ridge(), X, y, strengths=[0.0, 1.0])
    with pytest.raises(ValueError, match="'count' parameter of path"):
        path(tutelage.Ridge(), X, y, count=1)
    with pytest.raises(ValueError, match="covariance"):
        path(tutelage.MAPRegressor(covariance=np.eye(5)), X, y)

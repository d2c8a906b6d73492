"""Calibrators against scikit-learn's, laws of each, and the diagram that judges them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, logit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from tutelage import CalibratedClassifier, GaussianNB, LogisticRegression, RidgeClassifier
from tutelage.evaluation import (
    BetaCalibration,
    IsotonicCalibration,
    PlattScaling,
    TemperatureScaling,
    metric,
    reliability,
)

RANDOM = np.random.default_rng(0)
SCORE = RANDOM.normal(size=2000) * 2
Y = (RANDOM.random(2000) < expit(0.7 * SCORE - 0.4)).astype(int)
METHODS = ["platt", "isotonic", "beta", "temperature"]


class Fixed(ClassifierMixin, BaseEstimator):
    """A classifier whose score is the first column."""

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, 0]

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize(("ours", "theirs"), [("platt", "sigmoid"), ("isotonic", "isotonic")])
def test_they_are_those_of_scikit_learn(ours: Any, theirs: str) -> None:
    X = SCORE[:, None]
    model = Fixed().fit(X, Y)
    made = CalibratedClassifier(FrozenEstimator(model), method=ours).fit(X, Y).predict_proba(X)
    expected = CalibratedClassifierCV(FrozenEstimator(model), method=theirs, ensemble=False).fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(made, expected, atol=2e-4)


def test_platt_finds_the_sigmoid_that_made_the_labels() -> None:
    made = PlattScaling().fit(SCORE, Y)
    assert made.slope == pytest.approx(0.7, abs=0.1)
    assert made.intercept == pytest.approx(-0.4, abs=0.12)


def test_platt_has_an_answer_for_separable_scores() -> None:
    made = PlattScaling().fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]))
    assert np.all(np.isfinite([made.slope, made.intercept]))
    # At the optimum the mean probability of each target is its target: (2 + 1) / (2 + 2) and 1 / (2 + 2).
    assert made.predict(np.array([-2.0, -1.0, 1.0, 2.0])).sum() == pytest.approx(2.0)


def test_beta_contains_the_identity() -> None:
    p = RANDOM.random(20_000)
    made = BetaCalibration().fit(p, (RANDOM.random(20_000) < p).astype(int))
    np.testing.assert_allclose([made.a, made.b, made.c], [1, 1, 0], atol=0.08)


def test_beta_undoes_a_beta_distortion_that_platt_cannot() -> None:
    p = RANDOM.random(20_000)
    y = (RANDOM.random(20_000) < p).astype(int)
    distorted = expit((logit(p) + 1.0 * np.log(p)) / 1.0)  # a and b differ
    beta, platt = BetaCalibration().fit(distorted, y), PlattScaling().fit(logit(distorted), y)
    log_loss = metric("log_loss")
    assert log_loss(y, beta.predict(distorted)) < log_loss(y, platt.predict(logit(distorted)))
    assert np.abs(beta.predict(distorted) - p).mean() < 0.02


def test_beta_never_turns_the_order_around() -> None:
    p = RANDOM.random(500)
    made = BetaCalibration().fit(p, (RANDOM.random(500) > p).astype(int))  # the scores are upside down
    assert made.a >= 0
    assert made.b >= 0


@pytest.mark.parametrize("classes", [2, 4])
def test_temperature_is_at_the_minimum(classes: int) -> None:
    scores = RANDOM.normal(size=(1500, classes))
    truth = np.array([RANDOM.choice(classes, p=row) for row in softmax(scores, axis=1)])
    made = TemperatureScaling().fit(3 * scores, truth)
    assert made.temperature == pytest.approx(3, rel=0.2)

    def cost(temperature: float) -> float:
        return metric("log_loss")(truth, softmax(3 * scores / temperature, axis=1))

    assert cost(made.temperature) <= min(cost(made.temperature * 1.01), cost(made.temperature / 1.01))
    assert np.array_equal(made.predict(scores).argmax(axis=1), scores.argmax(axis=1))


def test_isotonic_is_the_least_squares_fit_that_does_not_fall() -> None:
    made = IsotonicCalibration().fit(SCORE, Y)
    at = made.predict(SCORE)
    order = np.argsort(SCORE)
    assert np.all(np.diff(at[order]) >= 0)
    # Means of blocks: residuals sum to zero on each block of equal values.
    for value in np.unique(at):
        assert Y[at == value].mean() == pytest.approx(value)
    shaken = np.maximum.accumulate(np.clip(at[order] + RANDOM.normal(0, 0.02, 2000), 0, 1))
    assert np.mean((at - Y) ** 2) < np.mean((shaken - Y[order]) ** 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [2, 3])
def test_calibration_mends_a_classifier_that_is_too_sure(method: Any, k: int) -> None:
    y = RANDOM.integers(0, k, 1500)
    X = np.repeat(RANDOM.normal(size=(1500, 2)) + np.eye(3)[y][:, :2] * 1.5, 8, axis=1)
    train, test = slice(0, 1000), slice(1000, 1500)
    words = np.array(["a", "b", "c"])[y]
    plain = GaussianNB().fit(X[train], words[train])
    calm = CalibratedClassifier(GaussianNB(), method=method).fit(X[train], words[train])
    P = calm.predict_proba(X[test])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    log_loss = metric("log_loss")
    assert log_loss(words[test], P) < 0.8 * log_loss(words[test], plain.predict_proba(X[test]))
    assert set(calm.predict(X[test])) <= set(words)
    assert len(calm.calibrators_) == (1 if k == 2 or method == "temperature" else 3)


def test_frames_reach_a_pipeline_as_frames() -> None:
    frame = pl.DataFrame({"colour": ["red", "blue"] * 60, "size": np.arange(120.0)})
    y = (np.arange(120) % 2 + (np.arange(120) > 80) > 0).astype(int)
    inner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"), LogisticRegression()
    )
    model = CalibratedClassifier(inner, cv=3).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["colour", "size"]
    assert model.predict_proba(frame).shape == (120, 2)


def test_bad_input_is_told_in_a_sentence() -> None:
    X = SCORE[:, None]
    with pytest.raises(ValueError, match="cv must be at most the number of rows of the rarest class, 2"):
        CalibratedClassifier(RidgeClassifier()).fit(X[:50], np.repeat([0, 1], [48, 2]))
    with pytest.raises(ValueError, match="only one class"):
        CalibratedClassifier(RidgeClassifier()).fit(X[:50], np.zeros(50))
    with pytest.raises(ValueError, match="'method' parameter"):
        CalibratedClassifier(RidgeClassifier(), method="platte").fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scores must be probabilities"):
        BetaCalibration().fit(SCORE, Y)
    with pytest.raises(ValueError, match="y must be 0 and 1"):
        PlattScaling().fit(SCORE, Y + 3)


# --- the diagram
# ---------------------------------------------------------------------------------------------------------


def test_briers_parts_add_up_and_are_not_negative() -> None:
    for p in (expit(0.7 * SCORE - 0.4), expit(3 * SCORE), np.full(2000, 0.5)):
        made = reliability(Y, p, draws=20)
        assert made.brier == pytest.approx(np.mean((p - Y) ** 2))
        assert made.brier == pytest.approx(made.miscalibration - made.discrimination + made.uncertainty)
        assert min(made.miscalibration, made.discrimination) >= -1e-15
        assert made.uncertainty == pytest.approx(Y.mean() * (1 - Y.mean()))
    assert reliability(Y, np.full(2000, 0.5), draws=20).discrimination == pytest.approx(0)


def test_an_isotonic_calibration_has_no_miscalibration_left() -> None:
    p = IsotonicCalibration().fit(SCORE, Y).predict(SCORE)
    made = reliability(Y, p, draws=20)
    assert made.miscalibration == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(made.observed, made.predicted, atol=1e-9)


def test_the_band_holds_true_probabilities_as_often_as_it_says() -> None:
    inside = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        p = np.round(random.random(400), 1)
        made = reliability((random.random(400) < p).astype(int), p, draws=200)
        inside.append(1 - made.outside)
    assert 0.92 < np.mean(inside) < 0.98


def test_the_diagram_says_what_it_lacks() -> None:
    with pytest.raises(ValueError, match="probabilities"):
        reliability(Y, SCORE)
    with pytest.raises(ValueError, match="two classes"):
        reliability(np.arange(3), np.full((3, 3), 1 / 3))

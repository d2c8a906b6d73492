"""The general sentence: the same fits as the learners that are special cases of it, and losses of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, softmax

import tutelage
from tutelage import ERMClassifier, ERMRegressor, Polynomial, losses, penalties
from tutelage.linear.erm import penalty_of

CLASSIFIER_LOSSES = sorted(ERMClassifier._parameter_constraints["loss"][1].options)


def data(n: int = 150, d: int = 3, classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    scores = X @ random.normal(size=(d, classes)) + random.gumbel(size=(n, classes))
    return X, np.array(["ant", "bee", "cat", "dog"])[scores.argmax(axis=1)]


def numbers(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 3))
    return X, X @ [1.0, -1.0, 0.0] + 2 + random.normal(size=150)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("loss", CLASSIFIER_LOSSES)
def test_every_loss_learns_two_classes_and_four(loss: str, classes: int) -> None:
    X, y = data(classes=classes)
    model = ERMClassifier(loss=loss, strength=0.02, tol=1e-5).fit(X, y)
    if loss == "perceptron":  # to predict nothing costs nothing, which is why it is learnt online
        assert model.certificate_.primal == pytest.approx(0, abs=1e-9)
    else:
        assert model.score(X, y) > (0.6 if classes == 2 else 0.4)
        assert model.certificate_.measure <= 1e-5
    assert model.coef_.shape == (1 if classes == 2 else classes, 3)
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        assert shares.sum(axis=1) == pytest.approx(1)
        assert shares.min() >= 0
        assert np.mean(model.classes_[shares.argmax(axis=1)] == model.predict(X)) == 1


def test_the_logistic_loss_is_logistic_regression() -> None:
    X, y = data()
    theirs = tutelage.LogisticRegression(C=1 / (0.01 * len(y)), tol=1e-12).fit(X, y)
    ours = ERMClassifier(strength=0.01, tol=1e-12).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-7)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-7)


def test_the_multinomial_loss_is_learnt_at_once_and_the_logistic_one_class_at_a_time() -> None:
    X, y = data(classes=4)
    joint = ERMClassifier(loss="multinomial", strength=0.01, tol=1e-12).fit(X, y)
    theirs = tutelage.LogisticRegression(C=1 / (0.01 * len(y)), tol=1e-12).fit(X, y)
    assert joint.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-6)
    each = ERMClassifier(loss="logistic", strength=0.01, tol=1e-12).fit(X, y)
    for row, name in enumerate(each.classes_):
        alone = ERMClassifier(loss="logistic", strength=0.01, tol=1e-12).fit(X, y == name)
        assert each.coef_[row] == pytest.approx(alone.coef_[0], abs=1e-8)


def test_two_classes_of_a_loss_of_several_scores_are_their_difference() -> None:
    X, y = data()
    both = ERMClassifier(loss="multinomial", strength=0.01, tol=1e-12).fit(X, y)
    one = ERMClassifier(loss="logistic", strength=0.005, tol=1e-12).fit(X, y)
    # w_1 = -w_0 = w / 2, so that |w_0|^2 + |w_1|^2 = |w|^2 / 2.
    assert both.coef_ == pytest.approx(one.coef_, abs=1e-6)
    assert both.predict_proba(X) == pytest.approx(one.predict_proba(X), abs=1e-6)


@pytest.mark.parametrize(
    ("loss", "link"),
    [
        ("logistic", expit),
        ("exponential", lambda z: expit(2 * z)),
        ("squared", lambda z: (1 + np.clip(z, -1, 1)) / 2),
        ("squared_hinge", lambda z: (1 + np.clip(z, -1, 1)) / 2),
        ("modified_huber", lambda z: (1 + np.clip(z, -1, 1)) / 2),
    ],
)
def test_the_link_finds_the_share_of_a_class_where_there_is_nothing_but_an_intercept(loss: str, link: Any) -> None:
    y = np.repeat([0, 1], [300, 100])
    model = ERMClassifier(loss=loss, penalty="l2", strength=1.0, tol=1e-12).fit(np.zeros((400, 1)), y)
    assert link(model.intercept_) == pytest.approx(0.25, abs=1e-5)
    assert model.predict_proba([[0.0]])[0] == pytest.approx([0.75, 0.25], abs=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "perceptron", "crammer_singer", losses.SmoothedHinge()])
def test_losses_without_a_link_offer_no_probabilities(loss: Any) -> None:
    model = ERMClassifier(loss=loss)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba"):
        model.predict_proba([[0.0]])


def test_weights_of_classes_are_weights_of_rows() -> None:
    X, y = data()
    heavy = ERMClassifier(class_weight={"ant": 3.0, "bee": 1.0}, tol=1e-12).fit(X, y)
    rows = ERMClassifier(tol=1e-12).fit(X, y, np.where(y == "ant", 3.0, 1.0))
    assert heavy.coef_ == pytest.approx(rows.coef_)


def test_the_squared_loss_is_ridge_regression_and_the_huber_loss_its_own() -> None:
    X, y = numbers()
    ridge = tutelage.Ridge(alpha=0.1 * len(y)).fit(X, y)
    assert ERMRegressor("squared", "l2", strength=0.1).fit(X, y).coef_ == pytest.approx(ridge.coef_, abs=1e-8)
    lasso = tutelage.Lasso(alpha=0.2, tol=1e-10).fit(X, y)
    assert ERMRegressor("squared", "l1", strength=0.2, tol=1e-10).fit(X, y).coef_ == pytest.approx(
        lasso.coef_, abs=1e-6
    )


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_counts_and_amounts_are_predicted_by_their_means(loss: str) -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(300, 2))
    y = random.gamma(2.0, np.exp(X[:, 0]) / 2) + 1e-3
    model = ERMRegressor(loss, "none").fit(X, y)
    assert model.predict(X) == pytest.approx(np.exp(X @ model.coef_ + model.intercept_))
    # With an intercept and no penalty the slope of the risk in it is zero: means balance, each over its variance.
    power = {"poisson": 1.0, "gamma": 2.0, "tweedie": losses.Tweedie().power}[loss]
    mean = model.predict(X)
    assert np.mean((mean - y) * mean ** (1 - power)) == pytest.approx(0, abs=1e-3)


class Cauchy:
    """Not convex: outliers hardly count."""

    convex = False

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return np.log1p((z - y) ** 2)

    def slope(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return 2 * (z - y) / (1 + (z - y) ** 2)


class OwnSoftmax:
    """The multinomial loss, written by a user."""

    targets = "category"
    several_scores = True

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        rows = np.arange(len(z))
        top = z.max(axis=1)
        return np.log(np.exp(z - top[:, None]).sum(axis=1)) + top - z[rows, y.astype(int)]

    def slope(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        shares = softmax(z, axis=1)
        shares[np.arange(len(z)), y.astype(int)] -= 1
        return shares

    def probability(self, z: np.ndarray) -> np.ndarray:
        return softmax(z, axis=1)


def test_a_loss_of_ones_own_for_numbers() -> None:
    X, y = numbers()
    y[:15] += 1000
    model = ERMRegressor(Cauchy(), "none").fit(X, y)
    assert model.coef_ == pytest.approx([1, -1, 0], abs=0.4)


def test_a_loss_of_ones_own_for_classes() -> None:
    X, y = data(classes=4)
    own = ERMClassifier(OwnSoftmax(), strength=0.01).fit(X, y)
    ours = ERMClassifier("multinomial", strength=0.01).fit(X, y)
    assert own.predict_proba(X) == pytest.approx(ours.predict_proba(X), abs=1e-3)


def test_features_are_fitted_applied_and_named() -> None:
    X, _ = data()
    ring = np.where((X**2).sum(axis=1) > 2, "out", "in")
    assert ERMClassifier().fit(X, ring).score(X, ring) < 0.8
    model = ERMClassifier(features=Polynomial(degree=2), strength=1e-4).fit(X, ring)
    assert model.score(X, ring) > 0.97
    assert model.n_features_in_ == 3
    assert model.coef_.shape[1] == len(model.features_.get_feature_names_out())


def test_strengths() -> None:
    assert penalty_of("l1", None) == penalties.L1(1e-3)
    assert penalty_of("l1", 0.5) == penalties.L1(0.5)
    assert penalty_of(penalties.MCP(0.5, gamma=2.0), 0.1) == penalties.MCP(0.1, gamma=2.0)
    assert penalty_of(penalties.L2Ball(2.0), None) == penalties.L2Ball(2.0)
    with pytest.raises(ValueError, match="'strength' parameter must be None"):
        penalty_of(penalties.L2Ball(2.0), 0.1)


def test_what_does_not_fit_together_is_named() -> None:
    X, y = numbers()
    with pytest.raises(ValueError, match="'loss' parameter of ERMRegressor must be one for numbers"):
        ERMRegressor(losses.Hinge()).fit(X, y)
    with pytest.raises(ValueError, match="'loss' parameter of ERMClassifier must be one for classes"):
        ERMClassifier(losses.Poisson()).fit(*data())
    with pytest.raises(ValueError, match="targets y must be at least 0"):
        ERMRegressor("poisson").fit(X, y)
    with pytest.raises(ValueError, match="'loss' parameter"):
        ERMRegressor("sqared").fit(X, y)
    with pytest.raises(ValueError, match="cannot minimise"):
        ERMRegressor("squared", "l1", solver="newton").fit(X, y)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_warm_start_from_the_answer_ends_at_once(classes: int) -> None:
    X, y = data(classes=classes)
    for loss in ("logistic", "multinomial"):
        model = ERMClassifier(loss, warm_start=True, tol=1e-6, solver="newton").fit(X, y)
        first = model.n_iter_
        assert model.fit(X, y).n_iter_ < first

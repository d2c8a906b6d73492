"""Each loss against its textbook definition in NumPy, and against scikit-learn's where it has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn._loss import loss as peer
from sklearn.metrics import mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance, mean_tweedie_deviance

from tutelage import losses
from tutelage.losses import LOSSES, Loss

if TYPE_CHECKING:
    from collections.abc import Callable


def smoothed_hinge(m: np.ndarray, width: float) -> np.ndarray:
    return np.where(m >= 1, 0, np.where(m >= 1 - width, (1 - m) ** 2 / (2 * width), 1 - m - width / 2))


def modified_huber(m: np.ndarray) -> np.ndarray:
    return np.where(m >= -1, np.maximum(0, 1 - m) ** 2, -4 * m)


def huber(r: np.ndarray, delta: float) -> np.ndarray:
    return np.where(np.abs(r) <= delta, r**2 / 2, delta * np.abs(r) - delta**2 / 2)


def pinball(r: np.ndarray, level: float) -> np.ndarray:
    return np.maximum(level * -r, (1 - level) * r)


def tweedie(y: np.ndarray, z: np.ndarray, p: float) -> np.ndarray:
    mean = np.exp(z)
    return np.maximum(y, 0) ** (2 - p) / ((1 - p) * (2 - p)) - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p)


MARGIN: dict[Loss, Callable[[np.ndarray], np.ndarray]] = {
    losses.ZeroOne(): lambda m: (m <= 0).astype(float),
    losses.Perceptron(): lambda m: np.maximum(0, -m),
    losses.Hinge(): lambda m: np.maximum(0, 1 - m),
    losses.SquaredHinge(): lambda m: np.maximum(0, 1 - m) ** 2,
    losses.SmoothedHinge(width=0.4): lambda m: smoothed_hinge(m, 0.4),
    losses.Logistic(): lambda m: np.logaddexp(0, -m),
    losses.Exponential(): lambda m: np.exp(-m),
    losses.ModifiedHuber(): modified_huber,
}
DISTANCE: dict[Loss, Callable[[np.ndarray], np.ndarray]] = {
    losses.Squared(): lambda r: r**2 / 2,
    losses.Absolute(): np.abs,
    losses.Huber(delta=0.7): lambda r: huber(r, 0.7),
    losses.EpsilonInsensitive(epsilon=0.3): lambda r: np.maximum(0, np.abs(r) - 0.3),
    losses.SquaredEpsilonInsensitive(epsilon=0.3): lambda r: np.maximum(0, np.abs(r) - 0.3) ** 2,
    losses.Quantile(level=0.2): lambda r: pinball(r, 0.2),
}
COUNTS: dict[Loss, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    losses.Poisson(): lambda y, z: np.exp(z) - y * z + y * np.log(y) - y,
    losses.Gamma(): lambda y, z: y / np.exp(z) - np.log(y / np.exp(z)) - 1,
    **{losses.Tweedie(power=p): lambda y, z, p=p: tweedie(y, z, p) for p in (-2.0, 0.0, 0.5, 1.5, 1.9, 2.5, 3.0)},
}


def row_by_row(one: Callable[[int, np.ndarray], float]) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda y, z: np.array([one(int(label), row) for label, row in zip(y, z, strict=True)])


SCORES: dict[Loss, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    losses.Multinomial(): row_by_row(lambda y, z: np.logaddexp.reduce(z) - z[y]),
    losses.CrammerSinger(): row_by_row(lambda y, z: max(z + (np.arange(len(z)) != y)) - z[y]),
    losses.WestonWatkins(): row_by_row(lambda y, z: sum(max(0, 1 + s - z[y]) for c, s in enumerate(z) if c != y)),
}


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


def test_every_loss_has_a_reference() -> None:
    assert {type(loss) for loss in [*MARGIN, *DISTANCE, *COUNTS, *SCORES]} == set(LOSSES)


@pytest.mark.parametrize("loss", MARGIN, ids=repr)
def test_margin(loss: Loss, random: np.random.Generator) -> None:
    y, z = random.choice([-1.0, 1.0], 500), 3 * random.normal(size=500)
    assert np.allclose(loss.value(y, z), MARGIN[loss](y * z), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("loss", DISTANCE, ids=repr)
def test_distance(loss: Loss, random: np.random.Generator) -> None:
    y, z = random.normal(size=(2, 500))
    assert np.allclose(loss.value(y, z), DISTANCE[loss](z - y), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("loss", COUNTS, ids=repr)
def test_counts(loss: Loss, random: np.random.Generator) -> None:
    y, z = random.gamma(1.0, 2.0, 500) + 1e-6, random.normal(size=500)
    assert np.allclose(loss.value(y, z), COUNTS[loss](y, z), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", SCORES, ids=repr)
@pytest.mark.parametrize("k", [1, 2, 3, 5, 33, 200])
def test_scores(loss: Loss, k: int, random: np.random.Generator) -> None:
    y, z = random.integers(k, size=150).astype(float), 2 * random.normal(size=(150, k))
    assert np.allclose(loss.value(y, z), SCORES[loss](y, z), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    ("loss", "theirs"),
    [
        (losses.Squared(), peer.HalfSquaredError()),
        (losses.Absolute(), peer.AbsoluteError()),
        (losses.Quantile(level=0.3), peer.PinballLoss(quantile=0.3)),
        (losses.Poisson(), peer.HalfPoissonLoss()),
        (losses.Gamma(), peer.HalfGammaLoss()),
        (losses.Tweedie(power=1.5), peer.HalfTweedieLoss(power=1.5)),
        (losses.Tweedie(power=-1.0), peer.HalfTweedieLoss(power=-1.0)),
        (losses.Tweedie(power=0.0), peer.HalfTweedieLoss(power=0.0)),
        (losses.Tweedie(power=3.0), peer.HalfTweedieLoss(power=3.0)),
    ],
    ids=lambda value: repr(value) if isinstance(value, Loss) else type(value).__name__,
)
def test_slope_and_curvature_are_those_of_scikit_learn(loss: Loss, theirs: object, random: np.random.Generator) -> None:
    y, z = random.gamma(1.0, 2.0, 500) + 1e-6, random.normal(size=500)
    slope, curvature = theirs.gradient_hessian(y, z)  # type: ignore[attr-defined]
    assert np.allclose(loss.slope(y, z), slope, rtol=1e-10, atol=1e-12)
    if loss.facts.has_curvature:
        assert np.allclose(loss.curvature(y, z), curvature, rtol=1e-10, atol=1e-12)
    constant = theirs.constant_to_optimal_zero(y)  # type: ignore[attr-defined]
    assert np.allclose(loss.value(y, z), theirs.loss(y, z) + constant, rtol=1e-9, atol=1e-9)  # type: ignore[attr-defined]


def test_logistic_and_multinomial_are_those_of_scikit_learn(random: np.random.Generator) -> None:
    y, z = random.integers(2, size=500).astype(float), 3 * random.normal(size=500)
    assert np.allclose(losses.Logistic().value(2 * y - 1, z), peer.HalfBinomialLoss().loss(y, z), rtol=1e-13)
    y, z = random.integers(7, size=500).astype(float), 3 * random.normal(size=(500, 7))
    theirs = peer.HalfMultinomialLoss(n_classes=7)
    value, slope = theirs.loss_gradient(y, z)
    assert np.allclose(losses.Multinomial().value(y, z), value, rtol=1e-12)
    assert np.allclose(losses.Multinomial().slope(y, z), slope, rtol=1e-12, atol=1e-15)


def test_means_are_half_the_deviances_of_the_metrics(random: np.random.Generator) -> None:
    y, z = random.gamma(1.0, 2.0, 500) + 1e-6, random.normal(size=500)
    mean = np.exp(z)
    assert losses.Poisson().value(y, z).mean() == pytest.approx(mean_poisson_deviance(y, mean) / 2)
    assert losses.Gamma().value(y, z).mean() == pytest.approx(mean_gamma_deviance(y, mean) / 2)
    for power in (0, 1, 1.3, 2, 3):
        value = losses.Tweedie(power=power).value(y, z).mean()
        assert value == pytest.approx(mean_tweedie_deviance(y, mean, power=power) / 2)
    assert losses.Quantile(level=0.8).value(y, z).mean() == pytest.approx(mean_pinball_loss(y, z, alpha=0.8))


@pytest.mark.parametrize("power", [1 - 1e-9, 1 + 1e-9, 2 - 1e-9, 2 + 1e-9])
def test_tweedie_is_continuous_in_its_power(power: float, random: np.random.Generator) -> None:
    y, z = random.gamma(1.0, 2.0, 500) + 1e-6, random.normal(size=500)
    limit = losses.Poisson() if power < 1.5 else losses.Gamma()
    assert np.allclose(losses.Tweedie(power=power).value(y, z), limit.value(y, z), rtol=1e-6, atol=1e-12)
    assert np.allclose(losses.Tweedie(power=power).slope(y, z), limit.slope(y, z), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", [loss for loss in [*MARGIN, *DISTANCE] if loss.facts.has_conjugate], ids=repr)
def test_the_conjugate_is_the_best_of_a_grid(loss: Loss, random: np.random.Generator) -> None:
    reference = MARGIN.get(loss) or DISTANCE[loss]
    for a in random.uniform(-1, 1, 20):
        y = 1.0 if loss in MARGIN else 0.4

        def best(reach: float, a: float = a, y: float = y) -> float:
            grid = np.linspace(-reach, reach, 40001)
            with np.errstate(over="ignore"):
                return (a * grid - reference(grid * y if loss in MARGIN else grid - y)).max()

        conjugate = float(loss.conjugate(y, a))
        if np.isfinite(conjugate):
            assert best(20.0) == pytest.approx(conjugate, abs=1e-3)
        else:
            assert best(2000.0) > 5 * best(20.0)

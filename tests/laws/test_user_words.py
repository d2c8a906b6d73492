"""Losses and penalties written in NumPy: they become native ones, and what is wrong with them is said."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest

from tutelage import _core, losses, penalties


class Wave:
    """A loss of one's own: log(cosh(r))."""

    smoothness = 1.0
    lipschitz = 1.0

    def value(self, y, z):
        return np.logaddexp(z - y, y - z) - np.log(2)

    def slope(self, y, z):
        return np.tanh(z - y)

    def curvature(self, y, z):
        return 1 - np.tanh(z - y) ** 2


class OwnAbsolute:
    """A loss with a corner, a conjugate and a prox."""

    name = "own absolute"

    def value(self, y, z):
        return np.abs(z - y)

    def slope(self, y, z):
        return np.sign(z - y)

    def conjugate(self, y, a):
        return np.where(np.abs(a) <= 1 + 1e-12, a * y, np.inf)

    def prox(self, y, z, step):
        return y + np.sign(z - y) * np.maximum(np.abs(z - y) - step, 0)


class OwnSoftmax:
    """A loss of several scores."""

    targets = "category"

    def value(self, y, z):
        return np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y.astype(int)]

    def slope(self, y, z):
        p = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
        p[np.arange(len(y)), y.astype(int)] -= 1
        return p


class OwnLasso:
    def value(self, w):
        return 0.3 * np.abs(w).sum()

    def prox(self, w, step):
        return np.sign(w) * np.maximum(np.abs(w) - 0.3 * step, 0)

    def conjugate(self, v):
        return 0.0 if np.abs(v).max() <= 0.3 * (1 + 1e-12) else np.inf


class OwnRidge:
    strong_convexity = 0.3

    def value(self, w):
        return 0.15 * (w**2).sum()

    def slope(self, w):
        return 0.3 * w

    def curvature(self, w):
        return np.full(w.shape, 0.3)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(9)


def test_a_loss_of_ones_own_is_a_native_loss(random: np.random.Generator) -> None:
    y, z, u, s = random.normal(size=(4, 50))
    loss, native = Wave(), losses.native_loss(Wave())
    assert native.value(y, z).tolist() == loss.value(y, z).tolist()
    assert native.slope(y, z).tolist() == loss.slope(y, z).tolist()
    assert native.curvature_times(y, z, u).tolist() == (loss.curvature(y, z) * u).tolist()
    assert native.total(y, s**2, z) == pytest.approx((s**2 * loss.value(y, z)).sum())
    facts = native.facts
    assert (facts["name"], facts["smoothness"], facts["has_curvature"], facts["has_prox"]) == ("Wave", 1.0, True, False)


def test_ours_and_ones_own_agree(random: np.random.Generator) -> None:
    y, z = random.normal(size=(2, 60))
    own, ours = losses.native_loss(OwnAbsolute()), losses.Absolute().native()
    assert np.allclose(own.prox(y, z, 0.3), ours.prox(y, z, 0.3))
    assert np.allclose(own.conjugate(y, 0.5 * np.sign(z)), ours.conjugate(y, 0.5 * np.sign(z)))
    rows = np.column_stack([y, 0.1 * z])
    smooth, native = _core.envelope(own, 3.0), _core.envelope(ours, 3.0)
    for method in ("value", "slope", "curvature"):
        assert np.allclose(getattr(smooth, method)(rows, z), getattr(native, method)(rows, z), atol=1e-8)
    assert np.allclose(smooth.conjugate(rows, 0.5 * z.clip(-1, 1)), native.conjugate(rows, 0.5 * z.clip(-1, 1)))


def test_several_scores(random: np.random.Generator) -> None:
    y, z = random.integers(4, size=30).astype(float), random.normal(size=(30, 4))
    native = losses.native_loss(OwnSoftmax(), scores=4)
    assert np.allclose(native.value(y, z), losses.Multinomial().value(y, z))
    assert np.allclose(native.slope(y, z).reshape(30, 4), losses.Multinomial().slope(y, z))


def test_a_penalty_of_ones_own_is_a_native_penalty(random: np.random.Generator) -> None:
    for shape in ((6,), (3, 6)):
        w, g = random.normal(size=(2, *shape))
        own, ours = penalties.native_penalty(OwnLasso(), shape), penalties.L1(strength=0.3)
        assert own.value(w) == pytest.approx(ours.value(w))
        assert np.allclose(own.prox(w, 2.0), ours.prox(w, 2.0))
        assert own.dual_scale(w) == pytest.approx(ours.dual_scale(w))
        assert np.isfinite(own.conjugate(own.dual_scale(w) * w))
        u = own.prox(w, 1.0)
        assert own.stationarity(u, u - w) <= 1e-12
        assert own.stationarity(w, g) > 0
        smooth, ridge = penalties.native_penalty(OwnRidge(), shape), penalties.L2(strength=0.3)
        assert np.allclose(smooth.slope(w), ridge.slope(w))
        assert np.allclose(smooth.curvature(w), ridge.curvature(w))
        assert smooth.stationarity(w, -ridge.slope(w)) <= 1e-12
        assert (smooth.facts["smooth"], smooth.facts["has_prox"]) == (True, False)


def test_the_lists_of_our_penalties_are_checked_against_the_shape() -> None:
    with pytest.raises(ValueError, match="2 entries where there are 3"):
        penalties.native_penalty(penalties.L2(weights=[1.0, 2.0]), (3,))


class WrongSlope(Wave):
    def slope(self, y, z):
        return 2 * np.tanh(z - y)


class FlatSlope(Wave):
    def slope(self, y, z):
        return float(y[0] * z[0])


class WrongSoftmax(OwnSoftmax):
    def slope(self, y, z):
        return super().slope(y, z)[:, ::-1]


class WrongProx(OwnLasso):
    def prox(self, w, step):
        return w - 0.3 * step


class WrongGradient(OwnRidge):
    def slope(self, w):
        return 0.15 * w


@pytest.mark.parametrize(
    ("loss", "scores", "sentence"),
    [
        (WrongSlope(), 1, "slope of the loss WrongSlope is not the derivative of its value: at y = "),
        (FlatSlope(), 1, r"slope of the loss FlatSlope must have the shape of z, \(64,\); found the shape \(\)"),
        (WrongSoftmax(), 3, r"slope of the loss WrongSoftmax is not .* z = \[.*,.*,.*\] it is"),
    ],
)
def test_a_wrong_loss_is_named(loss: object, scores: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        losses.native_loss(loss, scores)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("penalty", "sentence"),
    [
        (WrongProx(), "prox of the penalty WrongProx does not minimise"),
        (WrongGradient(), "slope of the penalty WrongGradient is not the gradient of its value"),
    ],
)
def test_a_wrong_penalty_is_named(penalty: object, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        penalties.native_penalty(penalty, (4,))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", losses.LOSSES, ids=lambda kind: kind.__name__)
def test_the_check_of_slopes_passes_what_is_right(kind: type[losses.Loss]) -> None:
    class Disguised:
        """Ours, as if it were a user's."""

        targets = kind().facts.targets
        value, slope = kind().value, kind().slope

    if kind().facts.trainable:
        losses.check_slope(Disguised(), scores=3 if kind.several_scores else 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, "hinge", Wave, np.sin, OwnLasso()], ids=lambda thing: type(thing).__name__)
def test_what_is_no_loss_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match=r"loss must be one of tutelage\.losses or an object with value"):
        losses.native_loss(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize("thing", [None, "l1", OwnLasso, Wave.value], ids=lambda thing: type(thing).__name__)
def test_what_is_no_penalty_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match=r"penalty must be one of tutelage\.penalties or an object with value"):
        penalties.native_penalty(thing)  # type: ignore[arg-type]


class Failing(Wave):
    def slope(self, y, z):
        raise ZeroDivisionError(f"in the middle of {len(y)} and {len(z)}")


def test_exceptions_of_a_users_loss_come_through() -> None:
    native = _core.user_loss(Failing())
    with pytest.raises(ZeroDivisionError, match="in the middle"):
        native.slope(np.zeros(3), np.zeros(3))


class Short(Wave):
    def value(self, y, z):
        return (y * z)[1:]


def test_an_answer_of_the_wrong_length_is_named() -> None:
    with pytest.raises(ValueError, match="value of the loss Short gave 2 numbers where 3 were due"):
        _core.user_loss(Short()).total(np.zeros(3), np.ones(3), np.zeros(3))


def test_a_row_of_weight_zero_has_no_say() -> None:
    exponential = losses.Exponential().native()
    assert exponential.total(np.ones(2), np.array([0.0, 1.0]), np.array([-1e5, 0.0])) == 1.0


def test_arrays_handed_out_may_be_kept() -> None:
    kept = []

    class Keeping(Wave):
        def value(self, y, z):
            kept.append((y, z))
            return super().value(y, z)

    y = np.arange(5.0)
    _core.user_loss(Keeping()).total(y, np.ones(5), y + 1)
    assert kept[0][0].tolist() == [0, 1, 2, 3, 4]
    assert kept[0][1].tolist() == [1, 2, 3, 4, 5]


def test_a_users_loss_is_let_go() -> None:
    loss = Wave()
    before = sys.getrefcount(loss)
    native = _core.user_loss(loss)
    smooth = _core.envelope(losses.native_loss(OwnAbsolute()), 1.0)
    assert sys.getrefcount(loss) == before + 1
    del native, smooth
    gc.collect()
    assert sys.getrefcount(loss) == before

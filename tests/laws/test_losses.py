"""What must hold of every loss of the vocabulary, for several values of its parameters."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tutelage import _core, losses
from tutelage.losses import LOSSES, Loss

VARIANTS: list[Loss] = [
    *(kind() for kind in LOSSES),
    losses.SmoothedHinge(width=0.25),
    losses.SmoothedHinge(width=3.0),
    losses.Huber(delta=0.1),
    losses.Huber(delta=5.0),
    losses.EpsilonInsensitive(epsilon=0.0),
    losses.EpsilonInsensitive(epsilon=1.5),
    losses.SquaredEpsilonInsensitive(epsilon=0.0),
    losses.SquaredEpsilonInsensitive(epsilon=1.5),
    losses.Quantile(level=0.1),
    losses.Quantile(level=0.99),
    *(losses.Tweedie(power=power) for power in (-1.0, 0.0, 0.5, 1.0, 1.001, 1.9, 2.0, 2.5, 3.0)),
]
ONE_SCORE = [loss for loss in VARIANTS if not loss.several_scores]
SEVERAL = [loss for loss in VARIANTS if loss.several_scores]
COUNTS = [1, 2, 3, 7, 40, 130]  # of scores: below, at and above the widths of the native loops


def having(fact: str, among: list[Loss] = VARIANTS) -> list[Loss]:
    return [loss for loss in among if getattr(loss.facts, fact)]


def name_of(value: object) -> str:
    return repr(value)


def targets(loss: Loss, n: int, random: np.random.Generator, k: int = 2) -> np.ndarray:
    """Targets such as the loss accepts, the boundary of what it accepts among them."""
    kind = loss.facts.targets
    if kind == "label":
        return random.choice([-1.0, 1.0], n)
    if kind == "category":
        return random.integers(k, size=n).astype(float)
    if kind == "real":
        return random.normal(size=n) * 2
    positive = random.gamma(1.0, 2.0, n) + 1e-3
    return np.where(random.random(n) < 0.3, 0.0, positive) if kind == "nonnegative" else positive


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20260801)


def rows(loss: Loss, random: np.random.Generator, n: int = 300, k: int = 4) -> tuple[np.ndarray, np.ndarray]:
    y = targets(loss, n, random, k)
    shape = (n, k) if loss.several_scores else (n,)
    return y, random.normal(size=shape) * random.choice([0.2, 1.0, 3.0], size=(n,) + (1,) * loss.several_scores)


def axis_step(z: np.ndarray, score: int, step: float) -> np.ndarray:
    move = np.zeros_like(z)
    move[..., score] = step
    return move


# ---- the vocabulary is whole ----


def test_the_python_and_the_native_vocabulary_are_one() -> None:
    native = {row["name"]: row for row in _core.loss_table()}
    assert list(native) == [kind.name for kind in LOSSES]
    for kind in LOSSES:
        declared = {row["name"]: row["default"] for row in native[kind.name]["parameters"]}
        assert dict(kind().parameters()) == declared
        assert native[kind.name]["several_scores"] == kind.several_scores
        assert losses.named(kind.name) == kind()
        assert kind.__doc__ is not None
        for row in native[kind.name]["parameters"]:
            assert row["name"] in kind.__doc__
            assert row["meaning"]


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
def test_a_loss_is_a_value(loss: Loss) -> None:
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert eval(repr(loss), vars(losses)) == loss
    assert len({loss, pickle.loads(pickle.dumps(loss))}) == 1
    assert loss != "a loss"
    with pytest.raises(AttributeError):
        loss.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("kind", LOSSES, ids=lambda kind: kind.__name__)
def test_parameters_out_of_range_are_named(kind: type[Loss]) -> None:
    rows = next(row["parameters"] for row in _core.loss_table() if row["name"] == kind.name)
    for row in rows:
        for bad in [row["low"] - 1, row["high"] + 1, np.nan, *([row["low"]] if row["open_low"] else [])]:
            if np.isfinite(bad) or np.isnan(bad):
                with pytest.raises(ValueError, match=f"{row['name']} of {kind.__name__} must be"):
                    kind(**{row["name"]: bad})
        with pytest.raises(TypeError, match="must be a number"):
            kind(**{row["name"]: "1"})


def test_the_table_has_a_line_for_each() -> None:
    assert len(losses.table().splitlines()) == 2 + len(LOSSES)


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
def test_facts_agree_with_each_other(loss: Loss) -> None:
    facts = loss.facts
    assert facts.smoothness > 0
    assert facts.lipschitz > 0
    if np.isfinite(facts.smoothness):
        assert facts.has_curvature, "what is smooth has a curvature almost everywhere"
    if facts.has_conjugate or facts.has_prox:
        assert facts.convex
    if facts.trainable and not facts.has_curvature:
        assert facts.has_prox, "a loss with corners is minimised through its prox"
    for fact in ("curvature", "conjugate", "prox"):
        y, z = np.ones(3), np.zeros((3, 2) if loss.several_scores else 3)
        arguments = (y, z, 1.0) if fact == "prox" else (y, z)
        if not getattr(facts, f"has_{fact}"):
            with pytest.raises(TypeError, match=r"has no (curvature|conjugate|proximal)"):
                getattr(loss, fact)(*arguments)


# ---- value, slope, curvature ----


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
def test_values_are_never_negative(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    assert (loss.value(y, z) >= 0).all()


@pytest.mark.parametrize("loss", [loss for loss in VARIANTS if loss.facts.trainable], ids=name_of)
def test_slope_is_the_derivative_of_value(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    slope, h = loss.slope(y, z), 1e-6
    for score in range(z.shape[-1] if loss.several_scores else 1):
        move = axis_step(z, score, h) if loss.several_scores else np.full_like(z, h)
        here = slope[..., score] if loss.several_scores else slope
        above = (loss.value(y, z + move) - loss.value(y, z)) / h
        below = (loss.value(y, z) - loss.value(y, z - move)) / h
        slack = 1e-5 * (1 + np.abs(here) + np.abs(loss.value(y, z)))
        assert (here >= np.minimum(above, below) - slack).all()
        assert (here <= np.maximum(above, below) + slack).all()


@pytest.mark.parametrize("loss", having("has_curvature"), ids=name_of)
def test_curvature_is_the_derivative_of_slope(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    curvature, h = loss.curvature(y, z), 1e-6
    for score in range(z.shape[-1] if loss.several_scores else 1):
        move = axis_step(z, score, h) if loss.several_scores else np.full_like(z, h)
        at = (..., score) if loss.several_scores else ...
        above = (loss.slope(y, z + move)[at] - loss.slope(y, z)[at]) / h
        below = (loss.slope(y, z)[at] - loss.slope(y, z - move)[at]) / h
        slack = 1e-4 * (1 + np.abs(curvature[at]) + np.abs(loss.slope(y, z)[at]))
        assert (curvature[at] >= np.minimum(above, below) - slack).all()
        assert (curvature[at] <= np.maximum(above, below) + slack).all()


@pytest.mark.parametrize("loss", having("has_curvature"), ids=name_of)
def test_curvature_times_is_the_derivative_of_slope_along(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    u = random.normal(size=z.shape)
    product = (
        loss.native(z.shape[-1]).curvature_times(y, z, u).reshape(z.shape)
        if loss.several_scores
        else (loss.native().curvature_times(y, z, u))
    )
    difference = (loss.slope(y, z + 1e-6 * u) - loss.slope(y, z - 1e-6 * u)) / 2e-6
    near_a_corner = np.abs(difference - product) > 1e-4 * (1 + np.abs(product) + np.abs(loss.slope(y, z)))
    assert near_a_corner.mean() < 0.01


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
def test_facts_bound_slope_and_curvature(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random, n=2000)
    slope = loss.slope(y, z)
    size = np.linalg.norm(slope, axis=-1) if loss.several_scores else np.abs(slope)
    k = z.shape[-1] if loss.several_scores else 1
    lipschitz = _core.make_loss(loss.name, dict(loss.parameters()), k).facts["lipschitz"]
    assert size.max() <= lipschitz * (1 + 1e-12)
    if np.isfinite(loss.facts.smoothness):
        assert loss.curvature(y, z).max() <= loss.facts.smoothness * (1 + 1e-12)
    if loss.facts.convex and loss.facts.has_curvature:
        assert loss.curvature(y, z).min() >= 0


@pytest.mark.parametrize("loss", [loss for loss in VARIANTS if np.isfinite(loss.facts.smoothness)], ids=name_of)
def test_smoothness_bounds_the_change_of_slope(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random, n=2000)
    other = z + random.normal(size=z.shape) * random.choice([1e-3, 1.0, 10.0], size=(2000,) + (1,) * (z.ndim - 1))
    change, move = loss.slope(y, other) - loss.slope(y, z), other - z
    if loss.several_scores:
        change, move = np.linalg.norm(change, axis=-1), np.linalg.norm(move, axis=-1)
    assert (np.abs(change) <= loss.facts.smoothness * np.abs(move) * (1 + 1e-9) + 1e-14).all()


@pytest.mark.parametrize("loss", having("convex"), ids=name_of)
def test_convex_losses_lie_above_their_tangents(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random, n=2000)
    other = z + 3 * random.normal(size=z.shape)
    rise = loss.slope(y, z) * (other - z)
    tangent = loss.value(y, z) + (rise.sum(axis=-1) if loss.several_scores else rise)
    assert (loss.value(y, other) >= tangent - 1e-9 * (1 + np.abs(tangent))).all()


@pytest.mark.parametrize(
    "loss", [losses.ZeroOne(), *(losses.Tweedie(power=power) for power in (-1.0, 0.0, 0.5, 2.5, 3.0))], ids=name_of
)
def test_what_is_called_not_convex_is_not(loss: Loss, random: np.random.Generator) -> None:
    assert not loss.facts.convex
    y, z = rows(loss, random, n=5000)
    other = 4 * random.normal(size=z.shape)
    middle = loss.value(y, (z + other) / 2)
    assert (middle > (loss.value(y, z) + loss.value(y, other)) / 2 + 1e-6).any()


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
@pytest.mark.parametrize("far", [1e4, -1e4, 1e300, -1e300])
def test_nothing_overflows_that_is_finite(loss: Loss, far: float, random: np.random.Generator) -> None:
    y = targets(loss, 40, random, k=3)
    z = np.full(40, far)
    if loss.several_scores:
        z = random.permuted(np.tile([far, 0.0, 1.0], (40, 1)), axis=1)
    value, slope = loss.value(y, z), loss.slope(y, z)
    assert not np.isnan(value).any()
    assert not np.isnan(slope).any()
    if np.isfinite(loss.facts.lipschitz):  # then value grows no faster than |z|
        assert np.isfinite(value).all()
        assert np.isfinite(slope).all()
    if loss.facts.has_curvature:
        assert not np.isnan(loss.curvature(y, z)).any()
    if loss.facts.has_prox:
        assert np.isfinite(loss.prox(y, z, 0.5)).all()


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
def test_nan_stays_visible(loss: Loss) -> None:
    y = np.ones(9)
    z = np.zeros((9, 3)) if loss.several_scores else np.zeros(9)
    z[4] = np.nan
    assert np.isnan(loss.value(y, z)).tolist() == [row == 4 for row in range(9)]
    if loss.several_scores or loss.facts.has_curvature:
        return
    assert not np.isnan(np.delete(loss.slope(y, z), 4)).any()


@pytest.mark.parametrize("loss", VARIANTS, ids=name_of)
def test_weights_are_repetitions(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random, n=101)
    weights = random.integers(0, 4, 101)
    native = loss.native(z.shape[-1] if loss.several_scores else 1)
    repeated = native.value(np.repeat(y, weights), np.repeat(z, weights, axis=0)).sum()
    assert native.total(y, weights.astype(float), z) == pytest.approx(repeated, rel=1e-12)


# ---- duality ----


@pytest.mark.parametrize("loss", having("has_conjugate"), ids=name_of)
def test_fenchel_and_young(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random, n=2000)
    a = loss.slope(y, z)
    product = (a * z).sum(axis=-1) if loss.several_scores else a * z
    value, conjugate = loss.value(y, z), loss.conjugate(y, a)
    assert np.allclose(value + conjugate, product, rtol=1e-9, atol=1e-9 * (1 + np.abs(product)))
    other = z + 2 * random.normal(size=z.shape)
    product = (a * other).sum(axis=-1) if loss.several_scores else a * other
    assert (loss.value(y, other) + conjugate >= product - 1e-9 * (1 + np.abs(product))).all()


@pytest.mark.parametrize("loss", having("has_conjugate"), ids=name_of)
def test_averages_of_slopes_are_in_the_domain_of_the_conjugate(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    share = random.random(300)[:, None] if loss.several_scores else random.random(300)
    a = share * loss.slope(y, z) + (1 - share) * loss.slope(y, z + random.normal(size=z.shape))
    conjugate = loss.conjugate(y, a)
    assert np.isfinite(conjugate).all()
    product = (a * z).sum(axis=-1) if loss.several_scores else a * z
    assert (loss.value(y, z) + conjugate >= product - 1e-9 * (1 + np.abs(product))).all()


@pytest.mark.parametrize(
    "loss", [loss for loss in having("has_conjugate") if loss.facts.lipschitz < np.inf], ids=name_of
)
def test_the_conjugate_is_infinite_beyond_the_steepest_slope(loss: Loss, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    a = np.zeros_like(z)
    if loss.several_scores:
        a[:, 0], a[:, 1] = 4.0, -4.0
    else:
        a += 1.01 * loss.facts.lipschitz * np.where(random.random(a.shape) < 0.5, -1, 1)
    assert np.isinf(loss.conjugate(y, a)).all()


@pytest.mark.parametrize("loss", having("has_prox"), ids=name_of)
@pytest.mark.parametrize("step", [0.03, 0.7, 20.0])
def test_prox_beats_every_other_point(loss: Loss, step: float, random: np.random.Generator) -> None:
    y, z = rows(loss, random)

    def objective(u: np.ndarray) -> np.ndarray:
        square = (u - z) ** 2 / 2
        return (square.sum(axis=-1) if loss.several_scores else square) + step * loss.value(y, u)

    u = loss.prox(y, z, step)
    best = objective(u)
    for reach in (1e-3, 0.1, 1.0, 10.0):
        for _ in range(40):
            assert (objective(u + reach * random.normal(size=z.shape)) >= best - 1e-10 * (1 + np.abs(best))).all()


@pytest.mark.parametrize("loss", having("has_conjugate", having("has_prox")), ids=name_of)
@pytest.mark.parametrize("step", [0.03, 0.7, 20.0])
def test_prox_lands_where_its_residual_is_a_subgradient(loss: Loss, step: float, random: np.random.Generator) -> None:
    """Moreau: (z - u) / step is a subgradient at u, so value and conjugate meet there."""
    y, z = rows(loss, random)
    u = loss.prox(y, z, step)
    a = (z - u) / step
    product = (a * u).sum(axis=-1) if loss.several_scores else a * u
    assert np.allclose(loss.value(y, u) + loss.conjugate(y, a), product, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", having("has_prox"), ids=name_of)
@pytest.mark.parametrize("sigma", [0.2, 5.0])
def test_the_envelope_is_a_smooth_loss(loss: Loss, sigma: float, random: np.random.Generator) -> None:
    y, z = rows(loss, random)
    k = z.shape[-1] if loss.several_scores else 1
    alpha = 0.3 * random.normal(size=z.shape)
    native = _core.envelope(loss.native(k), sigma)
    rows_of_targets = np.column_stack([y, alpha])
    v = z + alpha / sigma
    u = loss.prox(y, v, 1 / sigma)
    total = (lambda x: x.sum(axis=-1)) if loss.several_scores else (lambda x: x)
    expected = loss.value(y, u) + total(sigma / 2 * (v - u) ** 2 - alpha**2 / (2 * sigma))
    value = native.value(rows_of_targets, z)
    slope = native.slope(rows_of_targets, z).reshape(z.shape)
    assert np.allclose(value, expected, rtol=1e-12, atol=1e-12)
    assert np.allclose(slope, sigma * (v - u), rtol=1e-9, atol=1e-12)
    if loss.facts.has_conjugate:
        meeting = value + native.conjugate(rows_of_targets, slope)
        assert np.allclose(meeting, total(slope * z), rtol=1e-9, atol=1e-9)
    direction = random.normal(size=z.shape)
    product = native.curvature_times(rows_of_targets, z, direction).reshape(z.shape)
    ahead = native.slope(rows_of_targets, z + 1e-7 * direction).reshape(z.shape)
    behind = native.slope(rows_of_targets, z - 1e-7 * direction).reshape(z.shape)
    at_a_corner = np.abs((ahead - behind) / 2e-7 - product) > 1e-5 * (1 + sigma)
    assert at_a_corner.mean() < 0.01
    diagonal = native.curvature(rows_of_targets, z).reshape(z.shape)
    assert (diagonal >= -1e-12).all()
    assert (diagonal <= native.facts["smoothness"] * (1 + 1e-12)).all()


# ---- several scores, several outputs ----


@pytest.mark.parametrize("loss", SEVERAL, ids=name_of)
@pytest.mark.parametrize("k", COUNTS)
def test_adding_to_all_scores_changes_nothing(loss: Loss, k: int, random: np.random.Generator) -> None:
    y, z = rows(loss, random, k=k)
    moved = z + random.normal(size=(300, 1))
    assert np.allclose(loss.value(y, z), loss.value(y, moved), rtol=1e-10, atol=1e-12)
    assert np.allclose(loss.slope(y, z).sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize(
    ("several", "binary", "scale"),
    [
        (losses.Multinomial(), losses.Logistic(), 1.0),
        (losses.CrammerSinger(), losses.Hinge(), 1.0),
        (losses.WestonWatkins(), losses.Hinge(), 1.0),
    ],
    ids=name_of,
)
def test_two_scores_are_one_margin(several: Loss, binary: Loss, scale: float, random: np.random.Generator) -> None:
    y, z = rows(several, random, k=2)
    label, difference = 2 * y - 1, z[:, 1] - z[:, 0]
    assert np.allclose(several.value(y, z), binary.value(label, difference), rtol=1e-12, atol=1e-14)
    slope = binary.slope(label, difference)
    assert np.allclose(several.slope(y, z), np.column_stack([-slope, slope]), rtol=1e-12, atol=1e-14)
    a = slope * random.random(300)
    pair = several.conjugate(y, np.column_stack([-a, a]))
    assert np.allclose(pair, binary.conjugate(label, a), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("k", COUNTS)
def test_the_multinomial_hessian(k: int, random: np.random.Generator) -> None:
    loss = losses.Multinomial()
    y, z = rows(loss, random, n=70, k=k)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    assert np.allclose(loss.slope(y, z), p - np.eye(k)[y.astype(int)], rtol=1e-12, atol=1e-15)
    assert np.allclose(loss.curvature(y, z), p * (1 - p), rtol=1e-12, atol=1e-15)
    u = random.normal(size=z.shape)
    hessian_u = p * (u - (p * u).sum(axis=1, keepdims=True))
    assert np.allclose(loss.native(k).curvature_times(y, z, u).reshape(z.shape), hessian_u, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("loss", ONE_SCORE, ids=name_of)
def test_several_outputs_are_summed(loss: Loss, random: np.random.Generator) -> None:
    y = targets(loss, 60, random).reshape(20, 3)
    z = random.normal(size=(20, 3))
    native = loss.native(3)
    assert (native.scores, native.targets) == (3, 3)
    assert np.allclose(native.value(y, z), loss.value(y, z).sum(axis=1))
    assert np.allclose(native.slope(y, z).reshape(20, 3), loss.slope(y, z))
    weights = random.random(20)
    assert native.total(y, weights, z) == pytest.approx((weights[:, None] * loss.value(y, z)).sum())


def test_categories_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match=r"categories 0, \.\.\., 2"):
        losses.Multinomial().value(3, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="categories"):
        losses.Multinomial().slope(0.5, [0.0, 0.0, 0.0])


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(ValueError, match="'hinges', which is no loss; the losses are zero_one, perceptron, hinge"):
        losses.named("hinges")

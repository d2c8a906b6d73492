"""What must hold of every penalty of the vocabulary, for several values of its parameters."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tutelage import _core, penalties
from tutelage.penalties import PENALTIES, Penalty

D = 5
WEIGHTS = [1.0, 0.5, 2.0, 0.0, 1.0]
POSITIVE = [1.0, 0.5, 2.0, 3.0, 1.0]
CORRELATED = np.eye(D) + 0.5 + np.diag([0.0, 1.0, 2.0, 3.0, 4.0])

VARIANTS: list[Penalty] = [
    *(kind() for kind in PENALTIES),
    penalties.L2(strength=0.3, weights=WEIGHTS),
    penalties.L2(strength=0.0),
    penalties.L1(strength=0.3, weights=WEIGHTS),
    penalties.L1(strength=0.0),
    penalties.ElasticNet(l1=0.3, l2=0.0),
    penalties.ElasticNet(l1=0.0, l2=0.7),
    penalties.ElasticNet(l1=0.3, l2=0.7, weights=POSITIVE),
    *(penalties.Lq(strength=0.7, q=q) for q in (0.3, 0.9, 1.0, 1.01, 1.5, 2.0, 2.5, 4.0)),
    penalties.Lq(strength=0.7, q=1.3, weights=POSITIVE),
    penalties.Box(lower=0.0, upper=np.inf, l1=0.4),
    penalties.Box(lower=-0.5, upper=2.0, l1=0.4, l2=0.6),
    penalties.Box(lower=0.5, upper=[0.5, 1.0, 2.0, 3.0, 4.0]),
    penalties.Box(lower=-np.inf, upper=-0.5, l2=1.0, weights=POSITIVE),
    penalties.NonNegative(l1=0.5),
    penalties.NonNegative(l1=0.5, l2=2.0, weights=WEIGHTS),
    penalties.MCP(strength=0.5, gamma=1.2),
    penalties.MCP(strength=0.5, gamma=3.0, weights=WEIGHTS),
    penalties.SCAD(strength=0.5, a=2.5),
    penalties.SCAD(strength=0.5, weights=POSITIVE),
    penalties.GroupL2(strength=0.5, groups=[[0, 3], [1]], weights=[2.0, 1.0]),
    penalties.GroupL2(strength=0.5, l2=0.8, groups=[[0, 3], [1, 2]]),
    penalties.GroupL2(strength=0.5, l2=0.8),
    penalties.LInfinity(strength=0.3),
    penalties.L1Ball(bound=0.2),
    penalties.L1Ball(bound=0.0),
    penalties.L2Ball(bound=0.2),
    penalties.GaussianPrior(mean=[1.0, 0.0, -1.0, 2.0, 0.5], covariance=[1.0, 2.0, 0.5, 1.0, 3.0], strength=0.4),
    penalties.GaussianPrior(mean=0.5, covariance=CORRELATED, strength=2.0),
]


def having(fact: str, among: list[Penalty] = VARIANTS) -> list[Penalty]:
    return [penalty for penalty in among if getattr(penalty.facts, fact)]


CONVEX = having("convex")
BLOCKS = [(D,), (1, D), (3, D)]


def name_of(value: object) -> str:
    return repr(value)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20260802)


def objective(penalty: Penalty, w: np.ndarray, step: float, u: np.ndarray) -> float:
    return float(((u - w) ** 2).sum()) / 2 + step * penalty.value(u)


def inside(penalty: Penalty, w: np.ndarray) -> np.ndarray:
    """A point near w where the penalty is finite: its prox for a short step."""
    return penalty.prox(w, 1e-3)


# ---- the vocabulary is whole ----


def test_the_python_and_the_native_vocabulary_are_one() -> None:
    native = {row["name"]: row for row in _core.penalty_table()}
    assert list(native) == [kind.name for kind in PENALTIES]
    for kind in PENALTIES:
        assert kind.__doc__ is not None
        mine = dict(kind().parameters())
        for row in native[kind.name]["parameters"]:
            assert mine[row["name"]] == row["default"]
            assert row["name"] in kind.__doc__
        assert penalties.named(kind.name) == kind()


@pytest.mark.parametrize("penalty", VARIANTS, ids=name_of)
def test_a_penalty_is_a_value(penalty: Penalty) -> None:
    copy = pickle.loads(pickle.dumps(penalty))
    assert copy == penalty
    assert len({penalty, copy}) == 1
    assert penalty != "a penalty"
    if "<array" not in repr(penalty):
        assert eval(repr(penalty), {**vars(penalties), "inf": np.inf}) == penalty


@pytest.mark.parametrize("kind", PENALTIES, ids=lambda kind: kind.__name__)
def test_parameters_out_of_range_are_named(kind: type[Penalty]) -> None:
    rows = next(row["parameters"] for row in _core.penalty_table() if row["name"] == kind.name)
    for row in rows:
        for bad in [row["low"] - 1, row["high"] + 1, np.nan, *([row["low"]] if row["open_low"] else [])]:
            if np.isfinite(bad) or np.isnan(bad):
                with pytest.raises(ValueError, match=f"{row['name']} of {kind.__name__} must be"):
                    kind(**{row["name"]: bad})
        with pytest.raises(TypeError, match="must be a number"):
            kind(**{row["name"]: "1"})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: penalties.L2(weights=[1.0, -1.0]), r"weights of L2 must be finite and not negative; found -1\.0"),
        (lambda: penalties.L1(weights=[1.0, np.nan]), "weights of L1 must not contain NaN"),
        (lambda: penalties.L1(weights="heavy"), "weights of L1 must be an array of numbers"),
        (lambda: penalties.Box(lower=2.0, upper=1.0), "lower of Box must not be above upper"),
        (lambda: penalties.Box(lower=[0.0, 2.0], upper=1.0), r"found 2\.0 and 1\.0"),
        (lambda: penalties.GroupL2(groups=[[0, 1], [1]]), "column 1 is in two"),
        (lambda: penalties.GroupL2(groups=[[-1]]), "must name columns from 0 on"),
        (lambda: penalties.GroupL2(groups=[[0], [1]], weights=[1.0]), "one entry for each of its 2 groups"),
        (lambda: penalties.GaussianPrior(covariance=[[1.0, 2.0], [2.0, 1.0]]), "positive definite"),
        (lambda: penalties.GaussianPrior(covariance=[[1.0, 0.0], [0.5, 1.0]]), "not symmetric"),
        (lambda: penalties.GaussianPrior(covariance=-1.0), "found the variance -1"),
        (lambda: penalties.L2(weights=[1.0, 2.0]).value([1.0, 2.0, 3.0]), "2 entries where there are 3 coefficients"),
        (lambda: penalties.GroupL2(groups=[[7]]).value([1.0, 2.0]), "column 7 where X has 2"),
        (lambda: penalties.GaussianPrior(covariance=np.eye(2)).value([1.0]), "for 2 coefficients, but there are 1"),
        (lambda: penalties.Box(upper=[1.0, 2.0]).value([0.0, 0.0, 0.0]), "2 entries where there are 3"),
        (lambda: penalties.named("lasso"), "'lasso', which is no penalty; the penalties are none, l2, l1"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(make: object, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        make()  # type: ignore[operator]


def test_the_table_has_a_line_for_each() -> None:
    assert len(penalties.table().splitlines()) == 2 + len(PENALTIES)


@pytest.mark.parametrize("penalty", VARIANTS, ids=name_of)
def test_facts_agree_with_each_other(penalty: Penalty) -> None:
    facts = penalty.facts
    assert facts.smooth or not facts.quadratic
    assert facts.convex == (facts.strong_convexity >= 0)
    assert facts.convex or not facts.has_conjugate
    assert facts.has_prox


# ---- value and prox ----


@pytest.mark.parametrize("penalty", VARIANTS, ids=name_of)
@pytest.mark.parametrize("step", [0.05, 1.0, 8.0])
def test_prox_beats_every_other_point(penalty: Penalty, step: float, random: np.random.Generator) -> None:
    """Also where the penalty is not convex: its prox is the global one."""
    for scale in (0.1, 1.0, 5.0):
        w = scale * random.normal(size=D)
        u = penalty.prox(w, step)
        best = objective(penalty, w, step, u)
        assert np.isfinite(best)
        assert best <= objective(penalty, w, step, inside(penalty, 0 * w)) + 1e-12
        for reach in (1e-4, 0.03, 0.5, 3.0):
            for other in u + reach * random.normal(size=(30, D)):
                for candidate in (other, np.where(random.random(D) < 0.5, u, other), inside(penalty, other)):
                    assert objective(penalty, w, step, candidate) >= best - 1e-11 * (1 + abs(best))


@pytest.mark.parametrize("penalty", having("separable"), ids=name_of)
@pytest.mark.parametrize("step", [0.05, 1.0, 8.0])
def test_prox_of_one_coefficient_beats_a_grid(penalty: Penalty, step: float, random: np.random.Generator) -> None:
    native = penalty.native()
    for j, v in enumerate(3 * random.normal(size=D)):
        u = native.prox_one(j, v, step)
        best = (u - v) ** 2 / 2 + step * native.value_one(j, u)
        for other in np.linspace(-10, 10, 4001):
            assert (other - v) ** 2 / 2 + step * native.value_one(j, other) >= best - 1e-12 * (1 + abs(best))


@pytest.mark.parametrize("penalty", having("separable"), ids=name_of)
def test_separable_penalties_are_sums_over_coefficients(penalty: Penalty, random: np.random.Generator) -> None:
    native, w = penalty.native(), inside(penalty, random.normal(size=(3, D)))
    parts = [native.value_one(j, value) for j, value in enumerate(w.ravel())]
    assert penalty.value(w) == pytest.approx(sum(parts), rel=1e-13)
    together = penalty.prox(w, 0.7).ravel()
    assert [native.prox_one(j, v, 0.7) for j, v in enumerate(w.ravel())] == together.tolist()


@pytest.mark.parametrize("penalty", VARIANTS, ids=name_of)
def test_prox_keeps_nan_visible(penalty: Penalty) -> None:
    w = np.ones(D)
    w[2] = np.nan
    assert np.isnan(penalty.prox(w, 1.0)[2])


@pytest.mark.parametrize("penalty", having("smooth"), ids=name_of)
def test_slope_is_the_gradient_of_value(penalty: Penalty, random: np.random.Generator) -> None:
    for shape in BLOCKS:
        w = random.normal(size=shape)
        slope = penalty.slope(w)
        for direction in random.normal(size=(10, *shape)):
            change = (penalty.value(w + 1e-6 * direction) - penalty.value(w - 1e-6 * direction)) / 2e-6
            assert change == pytest.approx((slope * direction).sum(), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("penalty", having("smooth"), ids=name_of)
def test_curvature_is_the_diagonal_of_the_derivative_of_slope(penalty: Penalty, random: np.random.Generator) -> None:
    w = random.normal(size=D)
    curvature = penalty.curvature(w)
    for j in range(D):
        move = 1e-6 * np.eye(D)[j]
        change = (penalty.slope(w + move) - penalty.slope(w - move))[j] / 2e-6
        assert curvature[j] == pytest.approx(change, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("penalty", having("quadratic"), ids=name_of)
def test_the_hessian_pieces_are_of_one_hessian(penalty: Penalty, random: np.random.Generator) -> None:
    native = penalty.native()
    w, v = random.normal(size=(2, 3, D))
    product = native.hessian_times(v)
    assert np.allclose(penalty.slope(w + v) - penalty.slope(w), product, rtol=1e-12, atol=1e-12)
    for score in range(3):
        hessian = native.hessian(D, score)
        assert np.allclose(hessian, hessian.T)
        assert np.allclose(hessian @ v[score], product[score])
        assert np.allclose(native.hessian_diagonal(3, D)[score], np.diag(hessian))
        assert np.linalg.eigvalsh(hessian).min() >= penalty.facts.strong_convexity - 1e-12


@pytest.mark.parametrize("penalty", [p for p in VARIANTS if not p.facts.smooth], ids=name_of)
def test_what_has_corners_refuses_a_slope(penalty: Penalty) -> None:
    with pytest.raises(TypeError, match="has no gradient everywhere"):
        penalty.slope(np.ones(D))
    with pytest.raises(RuntimeError, match="is not quadratic"):
        penalty.native().hessian_times(np.ones(D))


@pytest.mark.parametrize("penalty", CONVEX, ids=name_of)
def test_strong_convexity_holds(penalty: Penalty, random: np.random.Generator) -> None:
    for _ in range(100):
        a, b = (inside(penalty, scale * random.normal(size=D)) for scale in (1.0, 3.0))
        share = random.random()
        middle = penalty.value(share * a + (1 - share) * b)
        chord = share * penalty.value(a) + (1 - share) * penalty.value(b)
        bonus = penalty.facts.strong_convexity * share * (1 - share) * ((a - b) ** 2).sum() / 2
        assert middle <= chord - bonus + 1e-10 * (1 + abs(chord))


@pytest.mark.parametrize("penalty", [p for p in VARIANTS if not p.facts.convex], ids=name_of)
def test_what_is_called_not_convex_is_not(penalty: Penalty, random: np.random.Generator) -> None:
    a, b = random.normal(size=(2, 2000, D))
    chords = [(penalty.value(p) + penalty.value(q)) / 2 - penalty.value((p + q) / 2) for p, q in zip(a, b, strict=True)]
    assert min(chords) < -1e-3
    bend = penalty.facts.strong_convexity
    if np.isfinite(bend):  # adding -bend |w|^2 / 2 makes it convex
        excess = [chord - bend * ((p - q) ** 2).sum() / 8 for chord, p, q in zip(chords, a, b, strict=True)]
        assert min(excess) >= -1e-12


# ---- duality ----


@pytest.mark.parametrize("penalty", having("has_conjugate"), ids=name_of)
@pytest.mark.parametrize("shape", BLOCKS, ids=str)
def test_moreau(penalty: Penalty, shape: tuple[int, ...], random: np.random.Generator) -> None:
    """(w - prox(w)) / step is a subgradient at prox(w), where value and conjugate meet."""
    for step in (0.2, 3.0):
        w = 2 * random.normal(size=shape)
        u = penalty.prox(w, step)
        v = (w - u) / step
        assert penalty.value(u) + penalty.conjugate(v) == pytest.approx((u * v).sum(), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("penalty", having("has_conjugate"), ids=name_of)
def test_the_conjugate_is_never_below_what_some_w_reaches(penalty: Penalty, random: np.random.Generator) -> None:
    for scale in (0.1, 1.0, 4.0):
        v = scale * random.normal(size=D)
        conjugate = penalty.conjugate(v)
        reached = [
            (v * w).sum() - penalty.value(w) for w in (inside(penalty, r * random.normal(size=D)) for r in range(40))
        ]
        assert max(reached) <= conjugate + 1e-9 * (1 + abs(conjugate))


WITHOUT_LISTS = [p for p in having("separable") if all(np.ndim(value) == 0 for _, value in p.parameters())]


@pytest.mark.parametrize("penalty", having("has_conjugate", WITHOUT_LISTS), ids=name_of)
def test_the_conjugate_of_one_coefficient_is_the_best_of_a_grid(penalty: Penalty, random: np.random.Generator) -> None:
    """Where the best of the grid is its end, the supremum lies beyond; where it is infinite it grows with the grid."""
    near, far = np.linspace(-30, 30, 3001), np.linspace(-3000, 3000, 3001)
    for v in random.normal(size=6):
        on_near, on_far = (np.array([v * w - penalty.value([w]) for w in grid]) for grid in (near, far))
        conjugate = penalty.conjugate([v])
        if np.isinf(conjugate):
            assert on_far.max() > 10 * max(on_near.max(), 0.01)
        elif 0 < on_near.argmax() < 3000:
            assert on_near.max() == pytest.approx(conjugate, abs=2e-3)
        else:
            assert on_far.max() <= conjugate


@pytest.mark.parametrize("penalty", having("has_conjugate"), ids=name_of)
@pytest.mark.parametrize("shape", BLOCKS, ids=str)
def test_dual_scale_is_the_largest_feasible(
    penalty: Penalty, shape: tuple[int, ...], random: np.random.Generator
) -> None:
    for scale in (0.05, 1.0, 10.0):
        v = scale * random.normal(size=shape)
        t = penalty.dual_scale(v)
        assert 0 <= t <= 1
        assert np.isfinite(penalty.conjugate(t * v))
        if t < 1:
            assert np.isinf(penalty.conjugate(min(1.0, t * 1.001 + 1e-9) * v))


# ---- optimality ----


@pytest.mark.parametrize("penalty", VARIANTS, ids=name_of)
@pytest.mark.parametrize("shape", BLOCKS, ids=str)
def test_the_proximal_point_is_stationary(
    penalty: Penalty, shape: tuple[int, ...], random: np.random.Generator
) -> None:
    for step in (0.2, 1.0, 3.0):
        w = 2 * random.normal(size=shape)
        u = penalty.prox(w, step)
        assert penalty.stationarity(u, (u - w) / step) <= 1e-9 * (1 + np.abs(w).max() / step)


@pytest.mark.parametrize("penalty", CONVEX, ids=name_of)
def test_other_points_are_not_stationary(penalty: Penalty, random: np.random.Generator) -> None:
    """For the convex problem |u - w|^2 / 2 + value(u) only the proximal point is; distance bounds the stationarity."""
    for _ in range(20):
        w = 2 * random.normal(size=D)
        best = penalty.prox(w, 1.0)
        u = inside(penalty, best + random.normal(size=D))
        away = np.linalg.norm(u - best)
        # strong monotonicity: the distance to the subdifferential is at least the distance to the minimum
        if away > 1e-6:
            assert penalty.stationarity(u, u - w) >= 0.99 * away / np.sqrt(D) - 1e-9


@pytest.mark.parametrize("penalty", VARIANTS, ids=name_of)
def test_a_forbidden_point_is_infinitely_far_from_stationary(penalty: Penalty) -> None:
    w = np.full(D, 1e3)
    if np.isinf(penalty.value(w)):
        assert np.isinf(penalty.stationarity(w, np.zeros(D)))


def test_rows_of_a_block_share_the_groups_and_the_lists() -> None:
    w = np.arange(1.0, 7.0).reshape(2, 3)
    assert penalties.GroupL2(strength=2.0).value(w) == pytest.approx(2 * np.linalg.norm(w, axis=0).sum())
    assert penalties.L2(weights=[1.0, 2.0, 3.0]).value(w) == pytest.approx((w**2 * [1.0, 2.0, 3.0]).sum() / 2)
    each = np.arange(6.0).reshape(2, 3)
    assert penalties.L1(weights=each).value(w) == pytest.approx((w * each).sum())


def test_the_scale_of_the_prior_is_that_of_ridge() -> None:
    w = np.array([1.0, -2.0, 3.0])
    assert penalties.GaussianPrior(covariance=4.0, strength=0.1).value(w) == penalties.L2(strength=0.025).value(w)
    full = penalties.GaussianPrior(covariance=np.diag([4.0, 4.0, 4.0]), strength=0.1)
    assert full.value(w) == pytest.approx(penalties.L2(strength=0.025).value(w))

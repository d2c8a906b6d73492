"""Each penalty against its definition in NumPy, and its prox against brute force or a published formula."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import minimize

from tutelage import penalties
from tutelage.penalties import PENALTIES, Penalty

if TYPE_CHECKING:
    from collections.abc import Callable


def mcp(w: np.ndarray, strength: float, gamma: float) -> float:
    size = np.abs(w)
    return np.where(size <= gamma * strength, strength * size - size**2 / (2 * gamma), gamma * strength**2 / 2).sum()


def scad(w: np.ndarray, strength: float, a: float) -> float:
    size = np.abs(w)
    bend = (2 * a * strength * size - size**2 - strength**2) / (2 * (a - 1))
    flat = strength**2 * (a + 1) / 2
    return np.where(size <= strength, strength * size, np.where(size <= a * strength, bend, flat)).sum()


def inside(holds: np.bool_, value: float = 0.0) -> float:
    return value if holds else np.inf


COVARIANCE = np.array([[2.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.3, 0.0], [0.0, 0.3, 1.5, 0.1], [0.0, 0.0, 0.1, 1.0]])
VALUES: dict[Penalty, Callable[[np.ndarray], float]] = {
    penalties.NoPenalty(): lambda _: 0.0,
    penalties.L2(strength=0.6): lambda w: 0.3 * (w**2).sum(),
    penalties.L1(strength=0.6): lambda w: 0.6 * np.abs(w).sum(),
    penalties.ElasticNet(l1=0.6, l2=0.4): lambda w: 0.6 * np.abs(w).sum() + 0.2 * (w**2).sum(),
    penalties.Lq(strength=0.6, q=0.7): lambda w: 0.6 * (np.abs(w) ** 0.7).sum(),
    penalties.Lq(strength=0.6, q=1.7): lambda w: 0.6 * (np.abs(w) ** 1.7).sum(),
    penalties.Box(lower=-1, upper=0.5, l1=0.1): lambda w: inside(
        (w >= -1).all() & (w <= 0.5).all(), 0.1 * np.abs(w).sum()
    ),
    penalties.NonNegative(l1=0.1, l2=0.2): lambda w: inside((w >= 0).all(), 0.1 * w.sum() + 0.1 * (w**2).sum()),
    penalties.MCP(strength=0.6, gamma=1.5): lambda w: mcp(w, 0.6, 1.5),
    penalties.SCAD(strength=0.6, a=2.5): lambda w: scad(w, 0.6, 2.5),
    penalties.GroupL2(strength=0.6, l2=0.2, groups=[[0, 2], [3]]): (
        lambda w: 0.6 * np.hypot(w[0], w[2]) + 0.6 * abs(w[3]) + 0.1 * (w**2).sum()
    ),
    penalties.LInfinity(strength=0.6): lambda w: 0.6 * np.abs(w).max(),
    penalties.L1Ball(bound=2.0): lambda w: inside(np.abs(w).sum() <= 2 + 1e-9),
    penalties.L2Ball(bound=2.0): lambda w: inside((w**2).sum() <= 2 + 1e-9),
    penalties.GaussianPrior(mean=0.5, covariance=COVARIANCE, strength=0.3): (
        lambda w: 0.15 * (w - 0.5) @ np.linalg.solve(COVARIANCE, w - 0.5)
    ),
}


def test_every_penalty_has_a_reference() -> None:
    assert {type(penalty) for penalty in VALUES} == set(PENALTIES)


@pytest.mark.parametrize("penalty", VALUES, ids=repr)
def test_value(penalty: Penalty) -> None:
    for w in np.random.default_rng(3).normal(size=(200, 4)) * [1.0, 0.1, 2.0, 0.5]:
        assert penalty.value(w) == pytest.approx(VALUES[penalty](w), rel=1e-12)
        assert penalty.value(np.abs(w) / 10) == pytest.approx(VALUES[penalty](np.abs(w) / 10), rel=1e-12)


@pytest.mark.parametrize(
    "penalty", [p for p in VALUES if isinstance(p, penalties.GroupL2 | penalties.GaussianPrior)], ids=repr
)
def test_the_prox_is_what_a_general_minimiser_approaches(penalty: Penalty) -> None:
    for w in 2 * np.random.default_rng(4).normal(size=(3, 4)):
        u = penalty.prox(w, 0.7)

        def objective(x: np.ndarray, w: np.ndarray = w) -> float:
            return ((x - w) ** 2).sum() / 2 + 0.7 * VALUES[penalty](x)

        found = minimize(objective, 0.1 * w, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        assert found.fun - 1e-3 * (1 + found.fun) <= objective(u) <= found.fun + 1e-9


def test_the_prox_of_the_largest_is_a_smooth_program_in_one_more_variable() -> None:
    for w in 2 * np.random.default_rng(8).normal(size=(5, 4)):
        found = minimize(
            lambda x, w=w: ((x[:4] - w) ** 2).sum() / 2 + 0.7 * 0.6 * x[4],
            np.append(w, np.abs(w).max() + 1),
            constraints={"type": "ineq", "fun": lambda x: np.append(x[4] - x[:4], x[4] + x[:4])},
            options={"ftol": 1e-14},
        )
        assert np.allclose(penalties.LInfinity(strength=0.6).prox(w, 0.7), found.x[:4], atol=1e-5)


def test_the_projection_on_the_l2_ball_scales() -> None:
    for w in np.random.default_rng(8).normal(size=(20, 4)):
        expected = w * min(1.0, np.sqrt(2.0) / np.linalg.norm(w))
        assert np.allclose(penalties.L2Ball(bound=2.0).prox(w, 3.0), expected, rtol=1e-13)


def test_the_projection_on_the_l1_ball_is_the_one_by_sorting() -> None:
    """Held, Wolfe and Crowder 1974: the threshold from the sorted magnitudes."""
    for w in np.random.default_rng(5).standard_cauchy(size=(200, 30)):
        ordered = np.sort(np.abs(w))[::-1]
        thresholds = (np.cumsum(ordered) - 1.5) / np.arange(1, 31)
        threshold = max(0.0, thresholds[np.flatnonzero(ordered > thresholds)[-1]])
        expected = np.sign(w) * np.maximum(np.abs(w) - threshold, 0)
        assert np.allclose(penalties.L1Ball(bound=1.5).prox(w, 1.0), expected, rtol=1e-12, atol=1e-13)


def test_the_bridge_at_one_half_thresholds_where_xu_and_others_say() -> None:
    """Xu, Chang, Xu and Zhang 2012: zero up to (3 / 2) (step strength)^(2/3), and a cosine beyond."""
    penalty, t = penalties.Lq(strength=0.8, q=0.5), 0.8 * 0.9
    threshold = 1.5 * t ** (2 / 3)
    v = np.linspace(0, 6, 1000)
    expected = np.zeros_like(v)
    above = v > threshold
    angle = np.arccos(t / 4 * (v[above] / 3) ** -1.5)
    expected[above] = 2 / 3 * v[above] * (1 + np.cos(2 / 3 * (np.pi - angle)))
    assert np.allclose(penalty.prox(v, 0.9), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("q", [1.0001, 1.2, 1.5, 3.0, 8.0])
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_bridge_above_one_solves_its_equation(q: float, scale: float) -> None:
    v = scale * np.random.default_rng(6).exponential(size=100)
    u = penalties.Lq(strength=0.5, q=q).prox(v, 1.0)
    moved = u > 0
    assert np.allclose((u + 0.5 * q * u ** (q - 1))[moved], v[moved], rtol=1e-9, atol=0)
    least = np.finfo(float).tiny  # where the root is below the smallest normal number it is 0
    assert (v[~moved] <= least + 0.5 * q * least ** (q - 1)).all()

"""Losses and penalties written in NumPy, in every batch solver: the answers of native ones of the same formula."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tutelage import _core, losses, penalties, solvers
from tutelage.machine import threads
from tutelage.risk import Risk, minimise

if TYPE_CHECKING:
    from tutelage.losses import Loss
    from tutelage.penalties import Penalty

NAMES = [name for name in solvers.SOLVERS if name != "auto"]


class Disguised:
    """A loss of ours, as if it were a user's."""

    def __init__(self, loss: Loss, *methods: str) -> None:
        self.targets, self.lipschitz = loss.facts.targets, loss.facts.lipschitz
        for method in ("value", "slope", *methods):
            setattr(self, method, getattr(loss, method))


class DisguisedPenalty:
    """A penalty of ours, as if it were a user's."""

    def __init__(self, penalty: Penalty, *methods: str) -> None:
        for method in ("value", *methods):
            setattr(self, method, getattr(penalty, method))


SMOOTH = (losses.Logistic(), ("curvature", "conjugate"))
KINKED = (losses.Quantile(0.3), ("prox", "conjugate"))
SLOPE_ALONE = (losses.Huber(), ())


def data(loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(10)
    X = random.normal(size=(70, 4))
    y = X @ [1.0, -1.0, 0.0, 0.5] + random.normal(size=70)
    return X, np.where(y > 0, 1.0, -1.0) if loss.facts.targets == "label" else y


@pytest.mark.parametrize(("loss", "methods"), [SMOOTH, KINKED, SLOPE_ALONE], ids=str)
def test_a_loss_of_ones_own_in_every_solver(loss: Loss, methods: tuple[str, ...]) -> None:
    X, y = data(loss)
    own = Disguised(loss, *methods)
    for penalty in (penalties.L2(0.1), penalties.L1(0.05), penalties.LInfinity(0.1)):
        native = minimise(Risk(loss, penalty), X, y, tol=1e-6, time_limit=20)
        ran = 0
        for name in NAMES:
            if _core.objection(name, losses.native_loss(own), penalty.native()):
                continue
            solution = minimise(Risk(own, penalty), X, y, solver=name, tol=1e-6, max_rounds=5000, time_limit=20)
            assert solution.value == pytest.approx(native.value, rel=5e-6), (penalty, name)
            assert solution.coef == pytest.approx(native.coef, abs=2e-2), (penalty, name)
            ran += 1
        assert ran >= 1


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Squared(), losses.Hinge()], ids=repr)
@pytest.mark.parametrize("methods", [("prox",), ("prox", "conjugate")], ids=str)
@pytest.mark.parametrize("penalty", [penalties.L1(0.05), penalties.LInfinity(0.1), penalties.L2(0.1)], ids=repr)
def test_a_penalty_of_ones_own_in_every_solver(loss: Loss, methods: tuple[str, ...], penalty: Penalty) -> None:
    X, y = data(losses.Logistic())
    own = DisguisedPenalty(penalty, *methods)
    native = minimise(Risk(loss, penalty), X, y, tol=1e-7, time_limit=20)
    for name in NAMES:
        if _core.objection(name, loss.native(), penalties.native_penalty(own)):
            continue
        solution = minimise(Risk(loss, own), X, y, solver=name, tol=1e-5, max_rounds=5000, time_limit=20)
        assert solution.value == pytest.approx(native.value, rel=1e-4), name
        assert solution.certificate.measure <= 1e-5, name


def test_a_penalty_of_ones_own_needs_a_prox() -> None:
    X, y = data(losses.Logistic())
    own = DisguisedPenalty(penalties.L2(0.1), "slope")
    with pytest.raises(ValueError, match=r"^No solver can minimise .* no proximal operator; give the penalty .*\.$"):
        minimise(Risk(losses.Logistic(), own), X, y)


class Failing:
    """A loss that gives up in the middle of a fit."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return (z - y) ** 2 / 2

    def slope(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        self.left -= 1
        if self.left < 0:
            raise ZeroDivisionError("out of calls")
        return z - y


@pytest.mark.parametrize("calls", [0, 1, 2, 4])
@pytest.mark.parametrize("name", ["lbfgs", "proximal_gradient"])
def test_what_a_users_loss_raises_comes_through(name: str, calls: int) -> None:
    X, y = data(losses.Squared())
    with pytest.raises(ZeroDivisionError, match="out of calls"):
        minimise(Risk(Failing(calls), penalties.L2(0.1)), X, y, solver=name, tol=0)
    assert minimise(Risk(losses.Squared()), X, y).value > 0


def test_a_thread_that_has_done_nothing_before_can_fit_a_loss_of_ones_own() -> None:
    """Native memory is kept for each thread: a loss that sees all rows at once must not count on what others left."""
    loss = losses.Logistic()
    own = Disguised(loss, "curvature", "conjugate")
    X, y = data(loss)
    wanted = minimise(Risk(own, penalties.L2(0.1)), X, y, solver="newton", tol=1e-10).coef
    found: list[np.ndarray] = []

    def fit() -> None:
        with threads(1):  # or the pool's threads, which know the work, do it
            found.append(minimise(Risk(own, penalties.L2(0.1)), X, y, solver="newton", tol=1e-10).coef)

    one = threading.Thread(target=fit)
    one.start()
    one.join()
    np.testing.assert_array_equal(found[0], wanted)

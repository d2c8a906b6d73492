"""What must hold of the certificate of every fit: it never promises more than is true."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse

from tutelage import _core, losses, penalties, solvers
from tutelage.certificate import Kind, Reason
from tutelage.losses import LOSSES, Loss
from tutelage.risk import Risk, minimise

if TYPE_CHECKING:
    from tutelage.penalties import Penalty

N, D, K = 50, 4, 3
NAMES = [name for name in solvers.SOLVERS if name != "auto"]
CONVEX = [kind() for kind in LOSSES if kind().facts.trainable and kind().facts.convex]
PENALTIES: list[Penalty] = [
    penalties.NoPenalty(),
    penalties.L2(0.05),
    penalties.L1(0.03),
    penalties.Box(-0.2, 0.4),
    penalties.LInfinity(0.05),
    penalties.GaussianPrior(mean=0.5, strength=0.1),
]


def data(loss: Loss, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, D)) * [1.0, 0.2, 5.0, 1.0]
    z = X[:, 0] - X[:, 1] - 0.3
    kind = loss.facts.targets
    if kind == "label":
        return X, np.where(z + 1.5 * random.normal(size=N) > 0, 1.0, -1.0)
    if kind == "category":
        return X, np.clip(np.round(z + random.normal(size=N) + 1), 0, K - 1)
    if kind == "real":
        return X, z + random.standard_t(3, N)
    if kind == "nonnegative":
        return X, random.poisson(np.exp(0.5 * z)).astype(float)
    return X, np.exp(0.5 * z) * random.gamma(2.0, 0.5, N) + 1e-3


@pytest.mark.parametrize("loss", CONVEX, ids=repr)
def test_the_optimum_is_never_further_than_the_gap(loss: Loss) -> None:
    X, y = data(loss)
    native = loss.native(K if loss.several_scores else 1)
    for penalty in PENALTIES:
        risk = Risk(loss, penalty)
        able = [name for name in NAMES if not _core.objection(name, native, penalty.native())]
        tight = [minimise(risk, X, y, solver=name, tol=1e-7, max_rounds=500, time_limit=2) for name in able]
        least = min(solution.value for solution in tight)
        limits: list[dict[str, Any]] = [{"tol": 0.1}, {"tol": 1e-3}, *({"tol": 0, "max_rounds": m} for m in range(4))]
        for name in able:
            for limit in limits:
                proof = minimise(risk, X, y, solver=name, time_limit=2, **limit).certificate
                if proof.kind is not Kind.DUALITY_GAP:
                    assert math.isnan(proof.dual)
                    continue
                what = f"{penalty!r} by {name} with {limit}: {proof}, but {least} was reached"
                assert proof.primal - least <= proof.gap + 1e-9 * (1 + abs(least)), what
                assert proof.dual <= least + 1e-9 * (1 + abs(least)), what
                assert proof.gap == pytest.approx(proof.primal - proof.dual, abs=1e-12 * (1 + abs(proof.primal)))
                assert proof.relative_gap == (proof.gap / abs(proof.primal) if proof.gap else 0)
                assert proof.rounds <= limit.get("max_rounds", 1000) or proof.solver.startswith("closed_form")
                if proof.reason is Reason.CONVERGED:
                    assert proof.relative_gap <= limit["tol"] or proof.solver.startswith("closed_form"), what


class Slope:
    """A penalty without a conjugate: the lasso that does not say so."""

    def value(self, w: np.ndarray) -> float:
        return 0.05 * float(np.abs(w).sum())

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        return np.sign(w) * np.maximum(np.abs(w) - 0.05 * step, 0)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic()], ids=repr)
@pytest.mark.parametrize("rounds", [0, 1, 3, 1000])
def test_without_a_dual_it_says_stationarity(loss: Loss, rounds: int) -> None:
    X, y = data(loss)
    proof = minimise(Risk(loss, Slope()), X, y, tol=1e-4, max_rounds=rounds, time_limit=10).certificate
    assert proof.kind is Kind.STATIONARITY
    assert math.isnan(proof.gap)
    assert math.isnan(proof.dual)
    if rounds == 1000:
        assert proof.measure <= 1e-4


class Negative:
    """The squared loss less one: no loss of ours goes below zero, a user's may."""

    convex = True

    def value(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return (z - y) ** 2 / 2 - 1

    def slope(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return z - y

    def curvature(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return np.ones_like(z + y)

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> np.ndarray:
        return a * y + a**2 / 2 + 1


@pytest.mark.parametrize("name", ["newton", "truncated_newton", "lbfgs", "proximal_gradient"])
def test_a_loss_below_zero_has_a_dual_below_zero(name: str) -> None:
    X, y = data(losses.Squared())
    y *= 0.3
    ours = minimise(Risk(losses.Squared(), penalties.L2(0.1)), X, y)
    solution = minimise(Risk(Negative(), penalties.L2(0.1)), X, y, solver=name, tol=1e-8)
    assert solution.reason is Reason.CONVERGED
    assert solution.value == pytest.approx(ours.value - 1, rel=1e-7)
    assert solution.certificate.dual < 0


# ---- where there is no minimum, or no time ----


@pytest.mark.parametrize("name", ["auto", "newton", "truncated_newton", "lbfgs"])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Exponential(), losses.Multinomial()], ids=repr)
def test_separable_classes_are_named(loss: Loss, name: str) -> None:
    X = np.random.default_rng(5).normal(size=(80, 3))
    side = (X[:, 0] > 0).astype(float)
    y = side if loss.several_scores else 2 * side - 1
    solution = minimise(Risk(loss), X, y, solver=name, tol=1e-9, max_rounds=2000, time_limit=20)
    assert np.isfinite(solution.coef).all()
    assert solution.reason is not Reason.CONVERGED
    assert solution.reason is Reason.SEPARABLE


def test_time_is_kept() -> None:
    random = np.random.default_rng(6)
    X, y = random.normal(size=(4000, 200)), random.choice([-1.0, 1.0], 4000)
    begun = time.monotonic()
    solution = minimise(Risk(losses.Hinge(), penalties.L1(1e-4)), X, y, tol=0, time_limit=0.3)
    assert time.monotonic() - begun < 5
    assert solution.reason is Reason.TIME


INTERRUPTED = """
import numpy as np, sys, time
from tutelage import losses, penalties
from tutelage.risk import Risk, minimise
random = np.random.default_rng(0)
X, y = random.normal(size=(20000, 150)), random.choice([-1.0, 1.0], 20000)
risk = Risk(losses.Logistic(), penalties.LInfinity(1e-5))
print("begun", flush=True)
try:
    minimise(risk, X, y, solver="proximal_gradient", tol=0, max_rounds=10**9)
except KeyboardInterrupt:
    print("interrupted", minimise(Risk(losses.Logistic()), X[:100, :2], y[:100]).reason.name, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process on Windows cannot be sent Ctrl-C alone")
def test_ctrl_c_returns_at_once_and_leaves_the_library_usable() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.5)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
        assert answer == "interrupted CONVERGED\n"
        assert time.monotonic() - begun < 10


# ---- hard numbers ----

HARD = {
    "huge": lambda X: X * [1e300, 1, 1, 1],
    "denormal": lambda X: X * [5e-324, 1, 1, 1],
    "tiny": lambda X: X * [1e-200, 1, 1, 1],
    "zero": lambda X: X * [0, 1, 1, 1],
    "all zero": lambda X: X * 0,
    "one row": lambda X: X[:1],
    "one column": lambda X: X[:, :1],
    "no column": lambda X: X[:, :0],
}


@pytest.mark.parametrize("what", HARD)
@pytest.mark.parametrize("loss", [losses.Squared(), losses.Logistic(), losses.Hinge(), losses.Poisson()], ids=repr)
def test_hard_numbers_give_an_answer_or_a_sentence(what: str, loss: Loss) -> None:
    X, y = data(loss)
    X = HARD[what](X)
    y = y[: len(X)]
    for penalty in (penalties.NoPenalty(), penalties.L2(0.1), penalties.L1(0.05)):
        for name in NAMES:
            if _core.objection(name, loss.native(), penalty.native()):
                continue
            solution, refusal = None, "."
            try:
                solution = minimise(Risk(loss, penalty), X, y, solver=name, max_rounds=50, time_limit=1)
            except (ValueError, RuntimeError) as error:
                refusal = str(error)
            assert refusal.endswith("."), (penalty, name, refusal)
            if solution is None:
                continue
            assert np.isfinite(solution.coef).all(), (penalty, name, solution.certificate)
            assert np.isfinite(solution.intercept), (penalty, name, solution.certificate)


def test_few_rows_and_a_million_sparse_columns() -> None:
    X = sparse.random(10, 10**6, density=1e-4, random_state=7, format="csr")
    y = np.where(np.arange(10) % 2, 1.0, -1.0)
    for loss, penalty in ((losses.Logistic(), penalties.L2(0.1)), (losses.Squared(), penalties.L1(0.01))):
        assert minimise(Risk(loss, penalty), X, y).reason is Reason.CONVERGED


def test_two_hundred_classes() -> None:
    random = np.random.default_rng(8)
    X, y = random.normal(size=(1000, 10)), np.arange(1000) % 200.0
    solution = minimise(Risk(losses.Multinomial(), penalties.L2(0.01)), X, y)
    assert solution.coef.shape == (200, 10)
    assert solution.reason is Reason.CONVERGED

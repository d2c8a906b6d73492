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
    from pathlib import Path

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
    penalties.NonNegative(),
    penalties.L1(0.03, weights=[1.0, 0.0, 1.0, 0.0]),
    penalties.GroupL2(0.03, groups=[[0, 1]]),
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
        tight = [minimise(risk, X, y, solver=name, tol=1e-7, max_rounds=500, time_limit=0.2) for name in able]
        least = min(solution.value for solution in tight)
        limits: list[dict[str, Any]] = [{"tol": 0.1}, {"tol": 1e-3}, *({"tol": 0, "max_rounds": m} for m in range(4))]
        for name in able:
            for limit in limits:
                proof = minimise(risk, X, y, solver=name, time_limit=0.2, **limit).certificate
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


@pytest.mark.parametrize("seed", range(6))
def test_no_certificate_promises_too_much_where_numbers_are_hard(seed: int) -> None:
    """Few rows, columns of very different sizes or nearly the same, weights of zero, classes that nearly separate."""
    random = np.random.default_rng(seed)
    words: list[Penalty] = [penalties.NoPenalty(), penalties.L2(1e-5), penalties.L1(0.0), penalties.NonNegative()]
    for loss in (losses.Logistic(), losses.Hinge(), losses.SquaredHinge(), losses.Poisson(), losses.Huber()):
        n, d = int(random.integers(8, 50)), int(random.integers(2, 6))
        X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-2, 2, d)
        X[:, -1] = X[:, 0] + 1e-4 * random.normal(size=n)
        z = X[:, 0] / np.abs(X[:, 0]).mean() + 0.5 * random.normal(size=n)
        kind = loss.facts.targets
        y = np.where(z > 0, 1.0, -1.0) if kind == "label" else np.round(np.exp(z)) if kind == "nonnegative" else z
        y[0], y[1] = y[1], y[0]
        weight = np.where(np.arange(n) < 4, 1, random.integers(0, 3, n)).astype(float)
        for penalty in words:
            able = [name for name in NAMES if not _core.objection(name, loss.native(), penalty.native())]
            proofs = [
                minimise(Risk(loss, penalty), X, y, weight, solver=name, time_limit=0.1, **limit).certificate
                for name in able
                for limit in ({"tol": 1e-9}, {"tol": 1e-3}, *({"tol": 0.0, "max_rounds": m} for m in (0, 1, 2, 5)))
            ]
            least, most = min(proof.primal for proof in proofs), max(proof.primal for proof in proofs)
            for proof in proofs:
                if proof.kind is Kind.DUALITY_GAP:
                    assert proof.dual <= least + 1e-9 * most, (loss, penalty, proof, least)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("name", ["auto", "newton", "truncated_newton", "lbfgs", "proximal_gradient"])
@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Exponential(), losses.Multinomial()], ids=repr)
def test_separable_classes_are_named(loss: Loss, name: str, scale: float) -> None:
    X = scale * np.random.default_rng(5).normal(size=(80, 3))
    side = (X[:, 0] > 0).astype(float)
    y = side if loss.several_scores else 2 * side - 1
    solution = minimise(Risk(loss), X, y, solver=name, tol=1e-9, max_rounds=2000, time_limit=20)
    assert np.isfinite(solution.coef).all()
    assert solution.reason is Reason.SEPARABLE
    assert solution.seconds < 5


@pytest.mark.parametrize("name", ["newton", "truncated_newton", "lbfgs"])
def test_separable_classes_with_a_penalty_have_a_minimum(name: str) -> None:
    X = np.random.default_rng(5).normal(size=(80, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    solution = minimise(Risk(losses.Logistic(), penalties.L2(1e-10)), X, y, solver=name, tol=1e-4)
    assert solution.reason is Reason.CONVERGED
    squared = minimise(Risk(losses.SquaredHinge()), X, y, solver=name, tol=1e-4)
    assert squared.reason is not Reason.SEPARABLE  # its minimum is zero, at the first line that separates by a margin
    assert squared.value < 1e-6


def test_time_is_kept() -> None:
    random = np.random.default_rng(6)
    X, y = random.normal(size=(4000, 200)), random.choice([-1.0, 1.0], 4000)
    begun = time.monotonic()
    solution = minimise(Risk(losses.Hinge(), penalties.L1(1e-4)), X, y, tol=0, time_limit=0.3)
    assert time.monotonic() - begun < 5
    assert solution.reason is Reason.TIME


@pytest.mark.parametrize("loss", [losses.Squared(), losses.Logistic(), losses.SquaredHinge()], ids=type)
def test_time_is_kept_inside_a_working_set(loss: Loss) -> None:
    """Nearly dependent columns and next to no penalty: what is inside a round would take minutes."""
    random = np.random.default_rng(7)
    common = random.normal(size=(3000, 5)) @ random.normal(size=(5, 1500))
    X, y = common + 1e-3 * random.normal(size=(3000, 1500)), random.choice([-1.0, 1.0], 3000)
    risk = Risk(loss, penalties.L1(1e-8))
    begun = time.monotonic()
    solution = minimise(risk, X, y, solver="coordinate_descent", tol=1e-13, time_limit=0.2)
    assert time.monotonic() - begun < 5
    assert solution.reason is Reason.TIME
    assert solution.certificate.dual <= solution.value <= float(np.mean(loss.value(y, np.zeros(3000)))) + 1e-12


INTERRUPTED = """
import numpy as np, sys
from tutelage import losses, penalties
from tutelage.risk import Risk, minimise
random = np.random.default_rng(0)
solver, loss, penalty, n, d = sys.argv[1:]
X, y = random.normal(size=(int(n), int(d))), random.choice([-1.0, 1.0], int(n))
risk = Risk(eval(loss), eval(penalty))
print("begun", flush=True)
try:
    while True:
        minimise(risk, X, y, solver=solver, tol=0, max_rounds=10**9)
except KeyboardInterrupt:
    print("interrupted", minimise(Risk(losses.Logistic()), X[:100, :2], y[:100]).reason.name, flush=True)
"""
LONG = [
    ("closed_form", "losses.Squared()", "penalties.L2(1e-3)", 4000, 1200),
    ("newton", "losses.Logistic()", "penalties.L2(1e-6)", 8000, 600),
    ("truncated_newton", "losses.Logistic()", "penalties.L2(1e-6)", 20000, 150),
    ("lbfgs", "losses.Logistic()", "penalties.L2(1e-6)", 20000, 150),
    ("proximal_gradient", "losses.Logistic()", "penalties.LInfinity(1e-5)", 20000, 150),
    ("coordinate_descent", "losses.Squared()", "penalties.L1(1e-6)", 900, 1200),
    ("augmented_lagrangian", "losses.Hinge()", "penalties.L1(1e-4)", 4000, 200),
]


@pytest.mark.skipif(sys.platform == "win32", reason="a process on Windows cannot be sent Ctrl-C alone")
@pytest.mark.parametrize("case", LONG, ids=lambda case: case[0])
def test_ctrl_c_returns_at_once_and_leaves_the_library_usable(case: tuple[Any, ...]) -> None:
    command = [sys.executable, "-c", INTERRUPTED, *map(str, case)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
        assert answer == "interrupted CONVERGED\n"
        assert time.monotonic() - begun < 5


def test_every_solver_is_interrupted() -> None:
    assert {case[0] for case in LONG} == set(NAMES)


# ---- hard numbers ----

HARD = {
    "huge": lambda X: X * [1e300, 1, 1, 1],
    "denormal": lambda X: X * [5e-324, 1, 1, 1],
    "tiny": lambda X: X * [1e-200, 1, 1, 1],
    "zero": lambda X: X * [0, 1, 1, 1],
    "all zero": lambda X: X * 0,
    "duplicated": lambda X: X[:, [0, 0, 1, 1]],
    "constant": lambda X: X * [0, 1, 1, 0] + [3.0, 0, 0, 1e6],
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


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_is_refused_in_a_sentence(bad: float) -> None:
    X, y = data(losses.Logistic())
    weight = np.ones(N)
    for penalty in (penalties.NoPenalty(), penalties.L2(0.1), penalties.L1(0.05)):
        for loss in (losses.Logistic(), losses.Squared(), losses.Hinge()):
            risk = Risk(loss, penalty)
            for name in NAMES:
                if _core.objection(name, loss.native(), penalty.native()):
                    continue
                for layout in (np.array, np.asfortranarray, sparse.csr_matrix, sparse.csc_matrix):
                    spoilt = X.copy()
                    spoilt[7, 2] = bad
                    with pytest.raises(ValueError, match=r"^X has NaN.*\.$"):
                        minimise(risk, layout(spoilt), y, solver=name, time_limit=1)
                for what, values in (("y", y), ("sample_weight", weight)):
                    spoilt = values.copy()
                    spoilt[7] = bad
                    given = (spoilt, weight) if what == "y" else (y, spoilt)
                    with pytest.raises(ValueError, match=rf"^{what} has -?(nan|inf) at place 7; .*\.$"):
                        minimise(risk, X, *given, solver=name)


def test_weights_that_mean_nothing_are_refused_in_a_sentence() -> None:
    X, y = data(losses.Logistic())
    for weight, sentence in (
        (-np.ones(N), r"^sample_weight has -1\.0; .*\.$"),
        (np.zeros(N), r"^sample_weight is zero for every row; .*\.$"),
        (np.ones(N - 1), r"^sample_weight has 49 rows where X has 50; .*\.$"),
    ):
        with pytest.raises(ValueError, match=sentence):
            minimise(Risk(losses.Logistic()), X, y, weight)


def test_memory_that_is_read_only_or_on_disk_is_read_as_it_is(tmp_path: Path) -> None:
    X, y = data(losses.Logistic())
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for loss, penalty in ((losses.Logistic(), penalties.L2(0.1)), (losses.Logistic(), penalties.L1(0.05))):
        plain = minimise(Risk(loss, penalty), X, y)
        for other in (mapped, np.broadcast_to(X, X.shape)):
            fixed = y.copy()
            fixed.flags.writeable = False
            assert not other.flags.writeable
            assert minimise(Risk(loss, penalty), other, fixed).coef.tobytes() == plain.coef.tobytes()


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

"""What must hold of every batch solver, whatever the loss and the penalty."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tutelage import _core, losses, penalties, solvers, threads
from tutelage.certificate import Kind, Reason
from tutelage.losses import LOSSES, Loss
from tutelage.penalties import PENALTIES, Penalty
from tutelage.risk import Risk, Solution, minimise

N, D, K = 60, 4, 3
NAMES = [name for name in solvers.SOLVERS if name != "auto"]
TRAINABLE = [kind() for kind in LOSSES if kind().facts.trainable]
MILD: list[Penalty] = [
    penalties.NoPenalty(),
    penalties.L2(0.1),
    penalties.L1(0.05),
    penalties.ElasticNet(0.03, 0.1),
    penalties.Lq(0.05, 1.5),
    penalties.Lq(0.05, 0.5),
    penalties.Box(-0.2, 0.4),
    penalties.NonNegative(),
    penalties.MCP(0.1),
    penalties.SCAD(0.1),
    penalties.GroupL2(0.05),
    penalties.LInfinity(0.1),
    penalties.L1Ball(0.5),
    penalties.L2Ball(0.2),
    penalties.GaussianPrior(mean=0.3, strength=0.1),
]


def data(loss: Loss, n: int = N, d: int = D, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, and targets that no linear model explains altogether."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    X[:, 1] += 0.5 * X[:, 0]
    z = X[:, 0] - 0.5 * X[:, 1] + 0.3
    kind = loss.facts.targets
    if kind == "label":
        return X, np.where(z + 1.5 * random.normal(size=n) > 0, 1.0, -1.0)
    if kind == "category":
        return X, np.clip(np.round(z + random.normal(size=n) + 1), 0, K - 1)
    if kind == "real":
        return X, z + random.normal(size=n)
    if kind == "nonnegative":
        return X, random.poisson(np.exp(0.5 * z)).astype(float)
    return X, np.exp(0.5 * z) * random.gamma(2.0, 0.5, n) + 1e-3


def legal(loss: Loss, penalty: Penalty) -> list[str]:
    native = loss.native(K if loss.several_scores else 1)
    return [name for name in NAMES if not _core.objection(name, native, penalty.native())]


def has_kinks(loss: Loss) -> bool:
    return not loss.facts.has_curvature


def value_of(risk: Risk, X: Any, y: np.ndarray, solution: Solution, weight: np.ndarray | None = None) -> float:
    """The risk at an answer, by NumPy and the words themselves."""
    z = X @ solution.coef.T + solution.intercept
    rows = risk.loss.value(y, z)
    rows = rows.sum(axis=1) if rows.ndim == 2 else rows
    return float(np.average(rows, weights=weight) + risk.penalty.value(solution.coef))


# ---- one optimum ----


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("layout", [np.asfortranarray, np.ascontiguousarray, sparse.csc_array], ids=["F", "C", "csc"])
def test_columns_with_a_common_factor_need_few_readings(layout: Any, intercept: bool) -> None:
    """Sweeps that each meet small violations add up to a large one: a solver that trusts them reads X without end."""
    random = np.random.default_rng(3)
    X = random.normal(size=(1500, 150)) + 0.8 * random.normal(size=(1500, 1))
    y = np.where(random.random(1500) < 1 / (1 + np.exp(-X @ random.normal(size=150) / 12)), 1.0, -1.0)
    risk = Risk(losses.Logistic(), penalties.L1(1e-3), fit_intercept=intercept)
    proof = minimise(risk, layout(X), y, solver="coordinate_descent", tol=1e-9).certificate
    assert proof.reason is Reason.CONVERGED
    assert proof.passes < 60


def test_the_penalties_here_are_all_there_are() -> None:
    assert {type(penalty) for penalty in MILD} == set(PENALTIES)


@pytest.mark.parametrize("loss", TRAINABLE, ids=repr)
def test_every_solver_reaches_the_optimum(loss: Loss) -> None:
    X, y = data(loss)
    tol = 1e-4 if has_kinks(loss) else 1e-6
    for penalty in MILD:
        if has_kinks(loss) and not penalty.facts.convex:
            continue  # the next law
        risk, found = Risk(loss, penalty), {}
        for name in ["auto", *legal(loss, penalty)]:
            solution = found[name] = minimise(risk, X, y, solver=name, tol=tol, max_rounds=5000, time_limit=20)
            proof = solution.certificate
            what = f"{penalty!r} by {name}: {proof}"
            assert proof.measure <= tol, what
            assert proof.reason is Reason.CONVERGED, what
            assert proof.primal == pytest.approx(value_of(risk, X, y, solution), rel=1e-9, abs=1e-12), what
            has_dual = loss.facts.convex and penalty.facts.convex and penalty.facts.has_conjugate
            assert (proof.kind is Kind.DUALITY_GAP) == has_dual or not loss.facts.has_conjugate, what
        if not penalty.facts.convex:
            continue  # each may have a stationary point of its own
        least = min(solution.value for solution in found.values())
        for name, solution in found.items():
            assert solution.value - least <= 2 * tol * abs(least) + 1e-12, (penalty, name)


@pytest.mark.parametrize("loss", TRAINABLE, ids=repr)
def test_a_hundred_copies_of_the_rows_have_the_same_optimum(loss: Loss) -> None:
    """Many rows are read in several blocks, which copies of a few rows fill without changing the mean."""
    X, y = data(loss)
    many, targets = np.tile(X, (100, 1)), np.tile(y, 100)
    for penalty in (penalties.L1(0.05), penalties.L2(0.1)):
        risk = Risk(loss, penalty)
        few = minimise(risk, X, y, tol=1e-4, time_limit=5)
        solution = minimise(risk, many, targets, tol=1e-4, time_limit=20)
        proof = solution.certificate
        assert proof.reason is Reason.CONVERGED, (penalty, proof)
        assert proof.primal == pytest.approx(value_of(risk, many, targets, solution), rel=1e-9, abs=1e-12)
        assert proof.primal == pytest.approx(few.value, rel=3e-4 if loss.facts.convex else 1e-2)
        if proof.kind is Kind.DUALITY_GAP:
            assert proof.dual <= few.value * (1 + 1e-9)


@pytest.mark.parametrize("loss", [loss for loss in TRAINABLE if has_kinks(loss)], ids=repr)
def test_kinks_and_penalties_that_are_not_convex_never_end_above_their_start(loss: Loss) -> None:
    X, y = data(loss)
    zero = np.zeros(K if loss.several_scores else 1)
    for penalty in (penalties.MCP(0.1), penalties.SCAD(0.1), penalties.Lq(0.05, 0.5)):
        risk = Risk(loss, penalty)
        solution = minimise(risk, X, y, tol=1e-3, time_limit=0.5)
        start = np.mean(loss.value(y, np.zeros((N, K)) if loss.several_scores else zero)) + penalty.value(np.zeros(D))
        assert solution.certificate.kind is Kind.STATIONARITY
        assert np.isfinite(solution.coef).all()
        assert value_of(risk, X, y, solution) <= start + 1e-9


@pytest.mark.parametrize("kind", LOSSES, ids=lambda kind: kind.__name__)
def test_what_a_solver_cannot_do_is_one_sentence_with_the_way_out(kind: type[Loss]) -> None:
    loss = kind()
    X, y = data(loss)
    for penalty, name in itertools.product(MILD, NAMES):
        able = legal(loss, penalty)
        if name in able:
            continue
        with pytest.raises(ValueError, match=f"^The solver '{name}' cannot minimise this risk: .*[^.]\\.$") as caught:
            minimise(Risk(loss, penalty), X, y, solver=name)
        sentence = str(caught.value)
        assert all(repr(other) in sentence for other in able)
        assert able or "choose a loss" in sentence
    with pytest.raises(ValueError, match=r"The 'solver' parameter must be one of auto, .*Got 'magic' instead"):
        minimise(Risk(loss), X, y, solver="magic")


def test_no_solver_for_what_cannot_be_followed() -> None:
    X, y = data(losses.Hinge())
    with pytest.raises(ValueError, match=r"^No solver can minimise .* only be evaluated, .*; choose a loss .*\.$"):
        minimise(Risk(losses.ZeroOne()), X, y)


# ---- weights and layouts ----

SENTENCES: list[tuple[str, Loss, Penalty]] = [
    ("closed_form", losses.Squared(), penalties.L2(0.1)),
    ("newton", losses.Logistic(), penalties.L2(0.1)),
    ("newton", losses.Multinomial(), penalties.L2(0.1)),
    ("truncated_newton", losses.Logistic(), penalties.L2(0.1)),
    ("lbfgs", losses.Huber(), penalties.L2(0.1)),
    ("proximal_gradient", losses.Logistic(), penalties.LInfinity(0.1)),
    ("coordinate_descent", losses.Squared(), penalties.L1(0.05)),
    ("coordinate_descent", losses.Poisson(), penalties.ElasticNet(0.03, 0.1)),
    ("augmented_lagrangian", losses.Hinge(), penalties.L2(0.1)),
]
NAMED = pytest.mark.parametrize(("name", "loss", "penalty"), SENTENCES, ids=str)


@NAMED
def test_weights_count_copies(name: str, loss: Loss, penalty: Penalty) -> None:
    X, y = data(loss)
    copies = np.random.default_rng(1).integers(0, 4, N)
    wild = np.where(copies[:, None] > 0, X, 1e3)  # what a row of weight zero holds does not matter
    risk = Risk(loss, penalty, scores=K if loss.several_scores else None)

    def fit(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Solution:
        return minimise(risk, X, y, weight, solver=name, tol=1e-11, max_rounds=5000)

    repeated = fit(np.repeat(X, copies, axis=0), np.repeat(y, copies), None)
    for weight in (copies.astype(float), 1e-3 * copies, 7e5 * copies):
        weighted = fit(wild, y, weight)
        assert weighted.value == pytest.approx(repeated.value, rel=1e-9)
        assert weighted.coef == pytest.approx(repeated.coef, rel=1e-4, abs=1e-4)


@NAMED
def test_layouts_hold_the_same_numbers(name: str, loss: Loss, penalty: Penalty) -> None:
    X, y = data(loss)
    X = np.where(np.abs(X) < 0.4, 0, X).astype(np.float32)  # the same numbers in either precision
    long = sparse.csr_matrix(X.astype(np.float64))
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    wide = np.asfortranarray(X, dtype=np.float64)
    layouts = [X, np.asfortranarray(X), wide, np.ascontiguousarray(wide), sparse.csr_matrix(X), sparse.csc_matrix(wide)]
    found = [
        minimise(Risk(loss, penalty), layout, y, solver=name, tol=1e-11, max_rounds=5000)
        for layout in [*layouts, long, long.tocsc(), sparse.coo_array(wide)]
    ]
    for solution in found[1:]:
        assert solution.value == pytest.approx(found[0].value, rel=1e-9)
        assert solution.coef == pytest.approx(found[0].coef, rel=1e-4, abs=1e-4)
        assert solution.intercept == pytest.approx(found[0].intercept, rel=1e-4, abs=1e-4)


# ---- threads ----


EVERY_SOLVER: list[tuple[str, Loss, Penalty]] = [*SENTENCES, ("lbfgs", losses.Logistic(), penalties.L2(0.01))]


def layouts_of(X: np.ndarray) -> dict[str, Any]:
    """Each way in which a solver reads X; sparse ones hold half of the numbers."""
    thin = np.where(np.abs(X) < 0.7, 0, X)
    long = sparse.csr_matrix(thin)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    return {
        "C": X,
        "F": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "CSR": sparse.csr_matrix(thin),
        "CSC": sparse.csc_matrix(thin),
        "CSR, 64-bit indices": long,
        "CSC, 64-bit indices": long.tocsc(),
    }


@pytest.mark.parametrize(("name", "loss", "penalty"), EVERY_SOLVER, ids=str)
def test_the_number_of_threads_changes_no_bit(name: str, loss: Loss, penalty: Penalty) -> None:
    # 16,000 rows are several blocks of rows, 4,096 or fewer each, in several parts of 30,000 entries.
    X, y = data(loss, n=16000, d=10)
    for layout, matrix in layouts_of(X).items():
        answers = set()
        for count in (1, 2, 7):
            with threads(count):
                solution = minimise(Risk(loss, penalty), matrix, y, solver=name, tol=1e-6, max_rounds=2)
            proof = solution.certificate
            answers.add((solution.coef.tobytes(), np.asarray(solution.intercept).tobytes(), proof.primal, proof.gap))
        assert len(answers) == 1, layout


@pytest.mark.parametrize("shape", [(60, 20000), (3000, 600)], ids=str)
def test_nor_on_many_columns(shape: tuple[int, int]) -> None:
    X, y = data(losses.Logistic(), *shape)
    for layout, matrix in {key: layouts_of(X)[key] for key in ("C", "F", "CSC")}.items():
        for name, loss, penalty in [
            ("coordinate_descent", losses.Logistic(), penalties.L1(0.05)),
            ("coordinate_descent", losses.Squared(), penalties.L1(0.05)),
            ("truncated_newton", losses.Logistic(), penalties.L2(0.1)),
        ]:
            answers = set()
            for count in (1, 2, 7):
                with threads(count):
                    solution = minimise(Risk(loss, penalty), matrix, y, solver=name, tol=1e-3, max_rounds=3)
                answers.add((solution.coef.tobytes(), solution.certificate.primal, solution.certificate.gap))
            assert len(answers) == 1, (layout, name)


# ---- the intercept ----


@NAMED
def test_an_intercept_is_not_penalised(name: str, loss: Loss, penalty: Penalty) -> None:
    X, y = data(loss)
    weight = np.random.default_rng(2).uniform(0.5, 2, N)
    solution = minimise(Risk(loss, penalty), X, y, weight, solver=name, tol=1e-12, max_rounds=5000)
    if has_kinks(loss):
        return
    slopes = loss.slope(y, X @ solution.coef.T + solution.intercept)
    assert np.abs(np.average(slopes, axis=0, weights=weight)).max() < 1e-6


@pytest.mark.parametrize("name", ["closed_form", "newton", "truncated_newton", "lbfgs", "coordinate_descent"])
def test_targets_shift_the_intercept_alone(name: str) -> None:
    X, y = data(losses.Squared())
    risk = Risk(losses.Squared(), penalties.L2(0.1))
    here = minimise(risk, X, y, solver=name, tol=1e-12)
    there = minimise(risk, X, y + 1000, solver=name, tol=1e-12)
    assert there.coef == pytest.approx(here.coef, abs=1e-6)
    assert there.intercept - here.intercept == pytest.approx(1000, abs=1e-6)
    far = minimise(risk, X + 1e8, y, solver=name, tol=1e-12)
    exact = minimise(risk, (X + 1e8) - 1e8, y, solver=name, tol=1e-12)
    assert far.coef == pytest.approx(exact.coef, abs=1e-6)


# ---- the closed form ----


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(30, 5), (30, 0), (6, 20), (1, 3), (5, 1), (20, 40)], ids=str)
@pytest.mark.parametrize("kind", ["plain", "collinear", "constant", "duplicates"])
def test_least_squares_of_least_norm(kind: str, shape: tuple[int, int], intercept: bool) -> None:
    random = np.random.default_rng(3)
    X, Y = random.normal(size=shape), random.normal(size=(shape[0], 2))
    d = shape[1]
    if kind == "collinear" and d > 2:
        X[:, -1] = 2 * X[:, 0] - X[:, 1]
    if kind == "constant" and d > 1:
        X[:, 1], X[:, 0] = 3.0, 0.0
    if kind == "duplicates" and d > 1:
        X[:, d // 2 :] = X[:, : d - d // 2]
    centred, aims = (X - X.mean(axis=0), Y - Y.mean(axis=0)) if intercept else (X, Y)
    expected = (np.linalg.pinv(centred, rcond=1e-11) @ aims).T
    for layout in (X, sparse.csr_matrix(X)):
        one = minimise(Risk(losses.Squared(), fit_intercept=intercept), layout, Y[:, 0], solver="closed_form")
        both = minimise(Risk(losses.Squared(), fit_intercept=intercept), layout, Y, solver="closed_form")
        assert one.coef == pytest.approx(expected[0], abs=1e-7)
        assert both.coef == pytest.approx(expected, abs=1e-7)
        if intercept:
            assert both.intercept == pytest.approx(Y.mean(axis=0) - X.mean(axis=0) @ expected.T, abs=1e-7)


def test_a_prior_with_a_mean_has_a_closed_form() -> None:
    X, y = data(losses.Squared())
    mean, strength = np.array([0.3, -1.0, 2.0, 0.0]), 0.4
    solution = minimise(Risk(losses.Squared(), penalties.GaussianPrior(mean=mean, strength=strength)), X, y)
    centred, aims = X - X.mean(axis=0), y - y.mean()
    expected = np.linalg.solve(centred.T @ centred / N + strength * np.eye(D), centred.T @ aims / N + strength * mean)
    assert solution.certificate.solver == "closed_form"
    assert solution.coef == pytest.approx(expected, abs=1e-10)

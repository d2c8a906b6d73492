"""celer: working sets with dual extrapolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.against.case import Contestant
from benchmarks.against.contestants import kinds
from benchmarks.against.contestants.scikit_learn import fitted

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.against.problem import Problem

ROUNDS, EPOCHS = 1000, 1_000_000


def elastic_net(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from celer import ElasticNet, Lasso

    words = {"fit_intercept": problem.intercept, "tol": tol, "max_iter": ROUNDS, "max_epochs": EPOCHS}
    if problem.l2 == 0:
        return fitted(Lasso(alpha=problem.l1, **words), X, y)
    return fitted(ElasticNet(alpha=problem.alpha, l1_ratio=problem.l1_ratio, **words), X, y)


def path(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from celer import celer_path

    found = celer_path(
        X, y, "lasso", alphas=problem.alphas, l1_ratio=problem.l1_ratio, tol=tol, max_iter=ROUNDS, max_epochs=EPOCHS
    )
    return found[1].T, 0.0


def logistic(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from celer import LogisticRegression

    C = 1 / (len(y) * problem.l1)
    return fitted(LogisticRegression(C=C, tol=tol, max_iter=ROUNDS, max_epochs=EPOCHS), X, y)


def _lasso_logistic(problem: Problem, X: Any) -> bool:
    return kinds.logistic_l1(problem, X) and problem.l2 == 0 and not problem.intercept


CONTESTANTS = [
    Contestant("celer", "celer", elastic_net, kinds.elastic_net),
    Contestant("celer path", "celer", path, kinds.elastic_net_path),
    Contestant("celer logistic", "celer", logistic, _lasso_logistic),
]

"""skglm: coordinate descent with working sets and Anderson acceleration; proximal Newton for other losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.against.case import Contestant
from benchmarks.against.contestants import kinds
from benchmarks.against.contestants.scikit_learn import fitted

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.against.problem import Problem

ROUNDS = 1000


def elastic_net(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from skglm import ElasticNet, Lasso

    words = {"fit_intercept": problem.intercept, "tol": tol, "max_iter": ROUNDS}
    if problem.l2 == 0:
        return fitted(Lasso(alpha=problem.l1, **words), X, y)
    return fitted(ElasticNet(alpha=problem.alpha, l1_ratio=problem.l1_ratio, **words), X, y)


def path(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from skglm import ElasticNet, Lasso

    words = {"fit_intercept": False, "tol": tol, "max_iter": ROUNDS}
    model = Lasso(**words) if problem.l2 == 0 else ElasticNet(l1_ratio=problem.l1_ratio, **words)
    return model.path(X, y, problem.alphas)[1].T, 0.0


def logistic(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from skglm import SparseLogisticRegression

    words = {"alpha": problem.alpha, "l1_ratio": problem.l1_ratio, "fit_intercept": problem.intercept}
    return fitted(SparseLogisticRegression(tol=tol, max_iter=ROUNDS, max_epochs=100_000, **words), X, y)


CONTESTANTS = [
    Contestant("skglm", "skglm", elastic_net, kinds.elastic_net),
    Contestant("skglm path", "skglm", path, kinds.elastic_net_path),
    Contestant("skglm logistic", "skglm", logistic, kinds.logistic_l1),
]

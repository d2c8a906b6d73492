"""scikit-learn-intelex: its estimators by their own import, so that scikit-learn's stay what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.against.case import Contestant
from benchmarks.against.contestants import kinds
from benchmarks.against.contestants.scikit_learn import fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.against.problem import Problem

_NAME = "scikit-learn-intelex"
ROUNDS = 1_000_000


def _logistic(solver: str) -> Callable[..., tuple[Any, Any]]:
    def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
        from sklearnex.linear_model import LogisticRegression

        C = 1 / (len(y) * problem.alpha) if problem.alpha else np.inf
        return fitted(
            LogisticRegression(solver=solver, C=C, tol=tol, fit_intercept=problem.intercept, max_iter=ROUNDS), X, y
        )

    return fit


def ridge(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from sklearnex.linear_model import Ridge

    return fitted(Ridge(alpha=len(y) * problem.l2, fit_intercept=problem.intercept, tol=tol), X, y)


def least_squares(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:  # noqa: ARG001
    from sklearnex.linear_model import LinearRegression

    return fitted(LinearRegression(fit_intercept=problem.intercept), X, y)


def elastic_net(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from daal4py.sklearn.linear_model import ElasticNet, Lasso

    words = {"fit_intercept": problem.intercept, "tol": tol, "max_iter": ROUNDS}
    if problem.l2 == 0:
        return fitted(Lasso(alpha=problem.l1, **words), X, y)
    return fitted(ElasticNet(alpha=problem.alpha, l1_ratio=problem.l1_ratio, **words), X, y)


def _dense(can: Callable[[Problem, Any], bool]) -> Callable[[Problem, Any], bool]:
    # On sparse matrices these call scikit-learn.
    return lambda problem, X: can(problem, X) and kinds.dense(X)


def _binary(problem: Problem, X: Any) -> bool:
    return problem.loss == "logistic" and kinds.logistic_l2(problem, X)


CONTESTANTS = [
    Contestant("intelex lbfgs", _NAME, _logistic("lbfgs"), _dense(kinds.logistic_l2)),
    Contestant("intelex newton-cg", _NAME, _logistic("newton-cg"), _binary),
    Contestant("intelex Ridge", _NAME, ridge, _dense(kinds.ridge), tolerance=False),
    Contestant("intelex LinearRegression", _NAME, least_squares, _dense(kinds.least_squares), tolerance=False),
    Contestant("intelex coordinate", _NAME, elastic_net, _dense(kinds.elastic_net)),
]

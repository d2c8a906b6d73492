"""glum: iteratively reweighted least squares over tabmat's matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.against.case import Contestant
from benchmarks.against.contestants import kinds
from benchmarks.against.contestants.scikit_learn import fitted

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.against.problem import Problem

_FAMILIES = {"logistic": "binomial", "squared": "normal", "poisson": "poisson"}


def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from glum import GeneralizedLinearRegressor

    target = (y > 0).astype(float) if problem.loss == "logistic" else y
    model = GeneralizedLinearRegressor(
        alpha=problem.alpha,
        l1_ratio=problem.l1_ratio,
        family=_FAMILIES[problem.loss],
        fit_intercept=problem.intercept,
        gradient_tol=tol,
        max_iter=1000,
    )
    return fitted(model, X, target)


def _can(problem: Problem, X: Any) -> bool:
    # Its Hessian is a square matrix of all columns.
    return problem.loss in _FAMILIES and not problem.path and X.shape[1] <= 3000 and not kinds.least_squares(problem, X)


CONTESTANTS = [Contestant("glum", "glum", fit, _can)]

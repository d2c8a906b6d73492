"""Tutelage: the learners as a user calls them, with nothing chosen but the tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.against.case import Contestant

if TYPE_CHECKING:
    from benchmarks.against.problem import Problem

ROUNDS = 10_000


def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    import tutelage

    if problem.path:
        options = {"alphas": problem.alphas, "tol": tol, "max_iter": ROUNDS}
        if problem.l2:
            return tutelage.enet_path(X, y, l1_ratio=problem.l1_ratio, **options)[1].T, 0.0
        return tutelage.lasso_path(X, y, **options)[1].T, 0.0
    model = _model(problem, len(y), tol).fit(X, y)
    return model.coef_, model.intercept_


def _model(problem: Problem, n: int, tol: float) -> Any:
    import tutelage

    words: dict[str, Any] = {"fit_intercept": problem.intercept, "tol": tol, "max_iter": ROUNDS}
    if problem.loss in {"logistic", "multinomial"}:
        C = 1 / (n * problem.alpha) if problem.alpha else np.inf
        # The default, "lbfgs", is a hint that for l1 would be an error, as in scikit-learn.
        return tutelage.LogisticRegression(C=C, l1_ratio=problem.l1_ratio, solver="auto", **words)
    if problem.loss == "poisson":
        return tutelage.PoissonRegressor(alpha=problem.l2, **words)
    if problem.alpha == 0:
        return tutelage.LinearRegression(fit_intercept=problem.intercept)
    if problem.l1 == 0:
        return tutelage.Ridge(alpha=n * problem.l2, **words)
    if problem.l2 == 0:
        return tutelage.Lasso(alpha=problem.l1, **words)
    return tutelage.ElasticNet(alpha=problem.alpha, l1_ratio=problem.l1_ratio, **words)


CONTESTANTS = [Contestant("tutelage", "tutelage", fit, lambda problem, X: True)]  # noqa: ARG005

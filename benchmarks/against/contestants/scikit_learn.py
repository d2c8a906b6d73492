"""scikit-learn, and LIBLINEAR as scikit-learn carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.against.case import Contestant
from benchmarks.against.contestants import kinds

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.against.problem import Problem

ROUNDS = 1_000_000


def fitted(model: Any, X: Any, y: np.ndarray) -> tuple[Any, Any]:
    model.fit(X, y)
    return model.coef_, model.intercept_


def _logistic(solver: str) -> Callable[..., tuple[Any, Any]]:
    def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
        from sklearn.linear_model import LogisticRegression

        C = 1 / (len(y) * problem.alpha) if problem.alpha else np.inf
        words = {"C": C, "l1_ratio": problem.l1_ratio, "fit_intercept": problem.intercept}
        return fitted(LogisticRegression(solver=solver, tol=tol, max_iter=ROUNDS, random_state=0, **words), X, y)

    return fit


def _ridge(solver: str) -> Callable[..., tuple[Any, Any]]:
    def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
        from sklearn.linear_model import Ridge

        words = {"alpha": len(y) * problem.l2, "fit_intercept": problem.intercept}
        return fitted(Ridge(solver=solver, tol=tol, max_iter=ROUNDS, random_state=0, **words), X, y)

    return fit


def least_squares(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
    from sklearn.linear_model import LinearRegression

    return fitted(LinearRegression(fit_intercept=problem.intercept, tol=tol), X, y)


def _elastic_net(*, precompute: bool) -> Callable[..., tuple[Any, Any]]:
    def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
        from sklearn.linear_model import ElasticNet, Lasso

        words = {"fit_intercept": problem.intercept, "tol": tol, "max_iter": ROUNDS, "precompute": precompute}
        if problem.l2 == 0:
            return fitted(Lasso(alpha=problem.l1, **words), X, y)
        return fitted(ElasticNet(alpha=problem.alpha, l1_ratio=problem.l1_ratio, **words), X, y)

    return fit


def _path(*, precompute: bool) -> Callable[..., tuple[Any, Any]]:
    def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
        from sklearn.linear_model import enet_path

        words = {"tol": tol, "max_iter": ROUNDS, "precompute": precompute, "check_input": True}
        return enet_path(X, y, l1_ratio=problem.l1_ratio, alphas=problem.alphas, **words)[1].T, 0.0

    return fit


def _poisson(solver: str) -> Callable[..., tuple[Any, Any]]:
    def fit(problem: Problem, X: Any, y: np.ndarray, tol: float) -> tuple[Any, Any]:
        from sklearn.linear_model import PoissonRegressor

        words = {"alpha": problem.l2, "fit_intercept": problem.intercept, "solver": solver}
        return fitted(PoissonRegressor(tol=tol, max_iter=ROUNDS, **words), X, y)

    return fit


def _few_columns(problem: Problem, X: Any) -> bool:
    return kinds.logistic_l2(problem, X) and X.shape[1] <= 1000


def _no_intercept(can: Callable[[Problem, Any], bool]) -> Callable[[Problem, Any], bool]:
    # LIBLINEAR penalises the intercept, which is another objective.
    return lambda problem, X: can(problem, X) and problem.loss == "logistic" and not problem.intercept


def _gram_pays(can: Callable[[Problem, Any], bool]) -> Callable[[Problem, Any], bool]:
    return lambda problem, X: can(problem, X) and kinds.dense(X) and X.shape[0] > X.shape[1]


_NAME = "scikit-learn"
CONTESTANTS = [
    Contestant("scikit-learn lbfgs", _NAME, _logistic("lbfgs"), kinds.logistic_l2),
    Contestant("scikit-learn newton-cg", _NAME, _logistic("newton-cg"), kinds.logistic_l2),
    Contestant("scikit-learn newton-cholesky", _NAME, _logistic("newton-cholesky"), _few_columns),
    Contestant("scikit-learn sag", _NAME, _logistic("sag"), kinds.logistic_l2),
    Contestant("scikit-learn saga", _NAME, _logistic("saga"), kinds.logistic_l1),
    Contestant("LIBLINEAR", _NAME, _logistic("liblinear"), _no_intercept(kinds.logistic_l2)),
    Contestant("LIBLINEAR l1", _NAME, _logistic("liblinear"), _no_intercept(kinds.logistic_l1)),
    Contestant("scikit-learn Ridge auto", _NAME, _ridge("auto"), kinds.ridge),
    Contestant("scikit-learn Ridge sparse_cg", _NAME, _ridge("sparse_cg"), kinds.ridge),
    Contestant("scikit-learn Ridge lsqr", _NAME, _ridge("lsqr"), kinds.ridge),
    Contestant("scikit-learn Ridge sag", _NAME, _ridge("sag"), lambda p, X: kinds.ridge(p, X) and X.shape[0] > 1000),
    Contestant("scikit-learn LinearRegression", _NAME, least_squares, kinds.least_squares),
    Contestant("scikit-learn coordinate", _NAME, _elastic_net(precompute=False), kinds.elastic_net),
    Contestant("scikit-learn Gram", _NAME, _elastic_net(precompute=True), _gram_pays(kinds.elastic_net)),
    Contestant("scikit-learn enet_path", _NAME, _path(precompute=False), kinds.elastic_net_path),
    Contestant("scikit-learn enet_path Gram", _NAME, _path(precompute=True), _gram_pays(kinds.elastic_net_path)),
    Contestant("scikit-learn lbfgs", _NAME, _poisson("lbfgs"), kinds.poisson),
    Contestant("scikit-learn newton-cholesky", _NAME, _poisson("newton-cholesky"), kinds.poisson),
]

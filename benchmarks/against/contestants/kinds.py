"""Words for what a contestant can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import sparse

if TYPE_CHECKING:
    from benchmarks.against.problem import Problem


def smooth(problem: Problem) -> bool:
    return problem.l1 == 0


def is_logistic(problem: Problem) -> bool:
    return problem.loss in {"logistic", "multinomial"}


def ridge(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return problem.loss == "squared" and smooth(problem) and problem.l2 > 0


def least_squares(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return problem.loss == "squared" and problem.alpha == 0


def elastic_net(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return problem.loss == "squared" and problem.l1 > 0 and not problem.path


def elastic_net_path(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return problem.loss == "squared" and problem.l1 > 0 and bool(problem.path)


def poisson(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return problem.loss == "poisson" and smooth(problem)


def logistic_l2(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return is_logistic(problem) and smooth(problem)


def logistic_l1(problem: Problem, X: Any) -> bool:  # noqa: ARG001
    return problem.loss == "logistic" and not smooth(problem)


def dense(X: Any) -> bool:
    return not sparse.issparse(X)

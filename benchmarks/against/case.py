"""What a case is: declared in a few lines in a file of `benchmarks.against.cases`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy import sparse

from benchmarks.against.problem import Problem, strongest

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

# The loosest tolerance first. A solver without a tolerance runs once.
LADDER = tuple(10.0**-k for k in range(1, 15))


@dataclass(frozen=True)
class Case:
    """Data, an objective, the goal of the ratio.

    ``l1`` and ``l2`` are strengths in the objective. ``l1_share`` gives l1 as a share of the smallest strength at which
    all coefficients are zero; ``C`` gives l2 as scikit-learn's logistic regression has it (1 / (C n)), ``alpha`` as its
    ridge regression has it (alpha / n).
    """

    name: str
    family: str
    loss: str
    data: Callable[[], tuple[Any, np.ndarray]]
    goal: float
    l1: float = 0.0
    l2: float = 0.0
    l1_share: float = 0.0
    l2_per_l1: float = 0.0
    C: float = 0.0
    alpha: float = 0.0
    intercept: bool = True
    path: tuple[float, ...] = ()
    # Contestants (their names) that are known to need hours here, with the reason; said in the table.
    without: tuple[str, ...] = ()

    def problem(self, X: Any, y: np.ndarray) -> Problem:
        l1, l2 = self.l1, self.l2
        if self.l1_share:
            l1 = self.l1_share * strongest(X, y, self.loss, intercept=self.intercept)  # type: ignore[arg-type]
        if self.C:
            l2 = 1 / (self.C * len(y))
        if self.alpha:
            l2 = self.alpha / len(y)
        return Problem(self.loss, l1, l2 + self.l2_per_l1 * l1, self.intercept, self.path)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Contestant:
    """A way to minimise: a library, and one of its solvers.

    ``fit(problem, X, y, tol)`` returns the coefficients and the intercept. ``can(problem, X)`` says whether it is
    made for such a problem. Without a ``tolerance`` the ladder has one step.
    """

    name: str
    package: str
    fit: Callable[[Problem, Any, np.ndarray, float], tuple[Any, Any]]
    can: Callable[[Problem, Any], bool]
    tolerance: bool = True

    @property
    def ladder(self) -> tuple[float, ...]:
        return LADDER if self.tolerance else (1e-9,)


def density(X: Any) -> float:
    return X.nnz / (X.shape[0] * X.shape[1]) if sparse.issparse(X) else 1.0

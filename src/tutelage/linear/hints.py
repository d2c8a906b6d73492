"""scikit-learn's words for logistic regression: names of solvers and of penalties, and what each of them refuses.

There a solver is a choice between algorithms of which most reach the same optimum, and each refuses some penalties.
Here such a name is a hint, which the choice by cost replaces; but who names a solver may count on what it refuses and
on what it says when its rounds run out, so both are kept.

>>> check_solver("lbfgs", name_of_penalty(1.0), dual=False)  # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
ValueError: Solver lbfgs supports only 'l2' or None penalties, got l1 penalty (l1_ratio > 0); use solver='auto'.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

from tutelage.certificate import Reason

if TYPE_CHECKING:
    from tutelage.certificate import Certificate

# scikit-learn's names of solvers: hints that our choice by cost replaces.
HINTS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
SolverName = Literal[
    "lbfgs",
    "liblinear",
    "newton-cg",
    "newton-cholesky",
    "sag",
    "saga",
    "auto",
    "newton",
    "truncated_newton",
    "proximal_gradient",
    "coordinate_descent",
]
PenaltyName = Literal["l1", "l2", "elasticnet"]

# What scikit-learn's solver of that name says when the rounds run out; programs look for these words.
_OUT_OF_ROUNDS = {
    "lbfgs": "lbfgs failed to converge after {rounds} iteration(s).",
    "liblinear": "Liblinear failed to converge, increase the number of iterations.",
    "newton-cg": "newton-cg failed to converge. Increase the number of iterations.",
    "newton-cholesky": "Newton solver did not converge after {rounds} iterations.",
    "sag": "The max_iter was reached which means the coef_ did not converge.",
    "saga": "The max_iter was reached which means the coef_ did not converge.",
}


def out_of_rounds(solver: str, certificate: Certificate) -> str:
    """Give the opening of a ConvergenceWarning, for a fit that ended at ``max_iter``."""
    if certificate.reason is not Reason.ROUNDS:
        return ""
    return _OUT_OF_ROUNDS.get(solver, "").format(rounds=certificate.rounds)


def name_of_penalty(l1_ratio: float) -> PenaltyName:
    """Give scikit-learn's name of the penalty with that share of absolute values."""
    return "l2" if l1_ratio == 0 else "l1" if l1_ratio == 1 else "elasticnet"


def warn_of_penalty(ratio: str, strength: str, stacklevel: int) -> None:
    """Warn that ``penalty`` is deprecated."""
    warnings.warn(
        f"'penalty' was deprecated: leave it out and use '{ratio}' (0 for 'l2', 1 for 'l1', between them for "
        f"'elasticnet') and '{strength}' (inf for None).",
        FutureWarning,
        stacklevel=stacklevel,
    )


def check_solver(solver: str, penalty: PenaltyName | None, dual: bool) -> None:
    """Refuse what scikit-learn's solver of that name refuses, and say which names do not."""
    way_out = "; use solver='auto'."
    if solver in ("lbfgs", "newton-cg", "newton-cholesky", "sag") and penalty not in ("l2", None):
        raise ValueError(
            f"Solver {solver} supports only 'l2' or None penalties, got {penalty} penalty (l1_ratio > 0){way_out}"
        )
    if solver != "liblinear" and dual:
        raise ValueError(f"Solver {solver} supports only dual=False, got dual=True; leave dual out.")
    if solver == "liblinear" and penalty == "elasticnet":
        raise ValueError(f"Only 'saga' solver supports elasticnet penalty, got solver={solver}.{way_out[1:]}")
    if solver == "liblinear" and penalty is None:
        raise ValueError(
            f"C=np.inf as well as penalty=None is not supported for the liblinear solver, got solver={solver}{way_out}"
        )

"""Small problems are solved to the last digits, because it costs nothing.

``tol`` is a relative duality gap g, and a gap of g leaves coefficients with a relative error of about sqrt(g): Newton's
method, whose last round squares the error, has then earned them one round earlier than a user would like. Where a pass
over the rows takes microseconds, the rounds that settle the remaining digits cost less than the call itself, so a
problem of few numbers goes on to a gap at rounding level. Which problems are small depends on their shape alone.

``max_rounds`` and ``time_limit`` still hold; a fit that reaches ``tol`` but not the last digits has converged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tutelage.base import is_sparse
from tutelage.certificate import Reason
from tutelage.risk import Risk, Solution, minimise

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix
    from tutelage.labels import Weights

# Entries of X times scores: a pass over so many takes some 50 microseconds.
SMALL = 100_000
# The gaps to go on to, where the penalty is smooth and where it has corners (and rounds gain digits one by one).
LAST_DIGITS, ENOUGH_DIGITS = 1e-15, 1e-9


def minimise_well(
    risk: Risk, X: Matrix, y: Floats, weight: Weights | None, *, tol: float, smooth: bool = True, **words: Any
) -> Solution:
    """Minimise to a relative gap of `tol`, or to the last digits where X is small.

    Parameters
    ----------
    risk : Risk
        The sentence.
    X, y, weight : arrays
        The rows, their targets and their weights.
    tol : float
        The relative gap that counts as converged.
    smooth : bool, default=True
        Whether the penalty is.
    **words : Any
        As `tutelage.risk.minimise` takes them.
    """
    entries = X.nnz if is_sparse(X) else X.size
    aim = LAST_DIGITS if smooth else ENOUGH_DIGITS
    if entries * (risk.scores or 1) > SMALL or tol <= aim:
        return minimise(risk, X, y, weight, tol=tol, **words)
    solution = minimise(risk, X, y, weight, tol=aim, **words)
    certificate = solution.certificate
    if certificate.reason in (Reason.ROUNDS, Reason.TIME) and certificate.measure <= tol:
        return replace(solution, certificate=replace(certificate, reason=Reason.CONVERGED))
    return solution

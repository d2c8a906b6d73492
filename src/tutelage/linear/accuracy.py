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
    from tutelage.certificate import Certificate
    from tutelage.labels import Weights

# Entries of X times scores: a pass over so many takes some 50 microseconds.
SMALL = 100_000
# The gaps to go on to: where Newton's method, or exact solutions of working sets, gain many digits a round, and where
# each round gains one; the second is for the many fits of a path.
LAST_DIGITS, PATH_DIGITS, ENOUGH_DIGITS = 1e-15, 1e-14, 1e-9
# More rounds than this are not spent on last digits: where they come slowly, columns are nearly collinear.
MOST_ROUNDS = 30


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
        Whether loss and penalty are, or the loss is squared: then the last digits are within reach.
    **words : Any
        As `tutelage.risk.minimise` takes them.
    """
    aim = LAST_DIGITS if smooth else ENOUGH_DIGITS
    if tol <= aim or not is_small(X, risk.scores or 1):
        return minimise(risk, X, y, weight, tol=tol, **words)
    most = words.pop("max_rounds", 1000)
    solution = minimise(risk, X, y, weight, tol=aim, max_rounds=min(most, MOST_ROUNDS), **words)
    if most > MOST_ROUNDS and solution.reason is Reason.ROUNDS and solution.certificate.measure > tol:
        return minimise(risk, X, y, weight, tol=tol, max_rounds=most, **words)
    certificate = arrived(solution.certificate, tol)
    return solution if certificate is solution.certificate else replace(solution, certificate=certificate)


def is_small(X: Matrix, scores: int = 1) -> bool:
    """Tell whether the last digits cost nothing, by the shape of X."""
    return bool((X.nnz if is_sparse(X) else X.size) * scores <= SMALL)


def arrived(certificate: Certificate, tol: float) -> Certificate:
    """Give the certificate of a fit that aimed further than `tol`: if it came as far as that, it has converged."""
    if certificate.measure <= tol and certificate.reason in (Reason.ROUNDS, Reason.TIME, Reason.ROUNDING):
        return replace(certificate, reason=Reason.CONVERGED)
    return certificate

"""Factor analysis: a covariance L L' + P with few columns in L and a diagonal P.

    x = m + L u + e,     u ~ N(0, I) of few numbers,     e ~ N(0, P)

d columns then share d (f + 1) numbers instead of d (d + 1) / 2, which fewer rows than columns can estimate.

Expectation-maximisation, on the covariance S of the rows alone (the rows enter nowhere else). With B = L' (L L' +
P)^-1,

    L <- S B' (I - B L + B S B')^-1,      P <- diag(S - L B S)

A round costs d^2 f and never lowers the likelihood -1/2 (log det(L L' + P) + trace((L L' + P)^-1 S)). It starts from
the principal axes. It fails slowly where a variance in P goes to zero (a column that is a factor itself); these are
held at a millionth of the column's variance.

>>> import numpy as np
>>> one = np.array([[2.0], [1.0], [1.0]])
>>> S = one @ one.T + np.diag([1.0, 2.0, 3.0])
>>> np.allclose(factor_analysis(S, 1, max_iter=10000, tol=1e-15)[0], S, atol=1e-5)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tutelage.base import Floats

SMALLEST_SHARE = 1e-6


def factor_analysis(covariance: Floats, factors: int, *, max_iter: int, tol: float) -> tuple[Floats, int]:
    """Fit L L' + P to a covariance matrix by maximum likelihood.

    Parameters
    ----------
    covariance : array of shape (d, d)
        Positive definite.
    factors : int
        Columns of L; at d - 1 and more the matrix itself is the answer.
    max_iter : int
        The most rounds.
    tol : float
        The gain of log likelihood a row at which to stop.

    Returns
    -------
    covariance : array of shape (d, d)
        The fitted covariance.
    rounds : int
        How many rounds it took.
    """
    side = len(covariance)
    if factors >= side:
        return covariance, 1
    variances = np.diag(covariance)
    scale = np.sqrt(variances)
    S = covariance / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(S)
    noise = max(float(values[: side - factors].mean()), SMALLEST_SHARE)
    L = vectors[:, -factors:] * np.sqrt(np.maximum(values[-factors:] - noise, SMALLEST_SHARE))
    P = np.maximum(1.0 - (L**2).sum(axis=1), SMALLEST_SHARE)
    last = -np.inf
    rounds = 0
    for rounds in range(1, max_iter + 1):  # noqa: B007 - told to the caller
        # (L L' + P)^-1 by Woodbury's identity: only f x f matrices are inverted.
        inner = np.eye(factors) + (L.T / P) @ L
        B = np.linalg.solve(inner, L.T / P)
        BS = B @ S
        trace = float((np.diag(S) / P).sum() - np.einsum("fj,jf->", BS, L / P[:, None]))
        now = -0.5 * (float(np.log(P).sum()) + float(np.linalg.slogdet(inner)[1]) + trace)
        if now - last <= tol:
            break
        last = now
        L = np.linalg.solve(np.eye(factors) - B @ L + BS @ B.T, BS).T
        P = np.maximum(np.diag(S) - np.einsum("jf,fj->j", L, BS), SMALLEST_SHARE)
    made: Floats = (L @ L.T + np.diag(P)) * np.outer(scale, scale)
    return made, rounds

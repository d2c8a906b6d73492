"""Covariance matrices from moments: as they are, shrunk by a share, or by the share of Ledoit and Wolf.

With fewer rows than columns, or not many more, the empirical covariance S = sum (x_i - m)(x_i - m)' / n is singular or
nearly so. Shrinking mixes it with a multiple of the identity of the same mean variance u = trace(S) / d:

    (1 - a) S + a u I

Ledoit and Wolf (2004) estimate the a that makes the expected squared error least, from S and the fourth powers of the
lengths of rows alone:

    a = min(1, b / e),   e = |S|^2 - d u^2,   b = (sum |x_i - m|^4 / n - |S|^2) / n.

Columns of different units are divided by their deviations first. Cost: one reading of X more than S itself.

>>> import numpy as np
>>> shrink(np.array([[4.0, 2.0], [2.0, 2.0]]), 0.5)
array([[3.5, 1. ],
       [1. , 2.5]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg
from sklearn.base import clone

from tutelage import _core, counts, matrices

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix
    from tutelage.counts import Scatter
    from tutelage.labels import Codes, Weights

_EPS = float(np.finfo(np.float64).eps)


def shrink(covariance: Floats, share: float) -> Floats:
    """Mix a covariance matrix with a multiple of the identity.

    Parameters
    ----------
    covariance : array of shape (d, d)
        It is not changed.
    share : float
        Of the identity, 0 to 1.

    Returns
    -------
    array of shape (d, d)
        Of the same trace.
    """
    side = len(covariance)
    made: Floats = (1 - share) * covariance
    made.flat[:: side + 1] += share * np.trace(covariance) / side
    return made


def ledoit_wolf(
    measured: Scatter, X: Matrix, codes: Codes, weight: Weights | None = None, *, least: bool = False
) -> tuple[Floats, Floats]:
    """Shrink the covariance of each class by the share of Ledoit and Wolf, its columns standardised.

    Parameters
    ----------
    measured : Scatter
        Of the rows, with a matrix for each class.
    X, codes, weight : arrays
        The rows, their classes and weights.
    least : bool, default=False
        Whether the share is at least 1 / (1 + n), so that the result is invertible: with two rows the formula gives 0.

    Returns
    -------
    covariances : array of shape (k, d, d)
        Zero for a class without rows.
    shares : array of shape (k,)
        How much each was shrunk.
    """
    covariances = measured.covariance()
    variances = np.einsum("cjj->cj", covariances)
    constant = variances <= (64 * _EPS * np.abs(measured.mean)) ** 2
    scales = np.sqrt(np.where(constant, 1.0, variances))
    lengths = np.asarray(_core.class_distances(matrices.rows(X), codes, measured.mean, 1 / scales**2))
    fourth = np.bincount(codes, weights=lengths**2 if weight is None else weight * lengths**2, minlength=len(scales))
    shares = np.zeros(len(scales))
    made = np.zeros_like(covariances)
    for c, (total, scale) in enumerate(zip(measured.total, scales, strict=True)):
        if total <= 0:
            continue
        correlations = covariances[c] / np.outer(scale, scale)
        shares[c] = _share(correlations, float(fourth[c]), float(total))
        if least:
            shares[c] = max(shares[c], 1 / (1 + total))
        made[c] = shrink(correlations, float(shares[c])) * np.outer(scale, scale)
    return made, shares


def _share(covariance: Floats, fourth: float, total: float) -> float:
    side = len(covariance)
    if side == 1:
        return 0.0
    squared = float((covariance**2).sum())
    mean = float(np.trace(covariance)) / side
    noise = (fourth / total - squared) / total
    excess = squared - side * mean**2
    noise = min(noise, excess)
    return 0.0 if noise <= 0 else noise / excess


def class_covariances(
    X: Matrix, codes: Codes, classes: int, shrinkage: float | str | None, estimator: Any, *, measured: Scatter
) -> Floats:
    """Estimate the covariance of each class as ``shrinkage`` or a covariance estimator says.

    Parameters
    ----------
    X, codes : arrays
        The rows and their classes.
    classes : int
        How many classes there are.
    shrinkage : float, "auto" or None
        A share, that of Ledoit and Wolf, or none.
    estimator : object or None
        With ``fit`` and, afterwards, ``covariance_``.
    measured : Scatter
        Of the rows, with a matrix for each class.

    Returns
    -------
    array of shape (classes, d, d)
        The covariances.
    """
    if estimator is not None:
        if shrinkage is not None and shrinkage != 0:
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
            )
        return np.stack([_estimated(estimator, X[codes == c]) for c in range(classes)])
    if shrinkage == "auto":
        return ledoit_wolf(measured, X, codes)[0]
    covariances = measured.covariance()
    if shrinkage is None:
        return covariances
    return np.stack([shrink(one, float(shrinkage)) for one in covariances])


def _estimated(estimator: Any, X: Matrix) -> Floats:
    fresh = clone(estimator, safe=False)
    fresh.fit(X)
    found = getattr(fresh, "covariance_", None)
    if found is None:
        raise ValueError(
            f"{type(estimator).__name__} does not have a covariance_ attribute after its fit; give a "
            "covariance_estimator that has, such as LedoitWolf()."
        )
    return np.atleast_2d(np.asarray(found, dtype=np.float64))


def total_covariance(X: Matrix, shrinkage: float | str | None, estimator: Any) -> Floats:
    """Estimate the covariance of all rows, as if they were of one class."""
    codes = np.zeros(len(X), dtype=np.intp)
    measured = counts.scatter(X, codes, None, 1, own=True)
    made: Floats = class_covariances(X, codes, 1, shrinkage, estimator, measured=measured)[0]
    return made


def whiten(covariance: Floats, floor: float) -> Floats | None:
    """Give W with W' S W = I, where all eigenvalues of S can be proved to be above a floor; else None.

    Parameters
    ----------
    covariance : array of shape (d, d)
        S, symmetric.
    floor : float
        What the least eigenvalue must exceed. The proof: 1 / least <= the largest column sum of |S^-1|.

    Returns
    -------
    array of shape (d, d) or None
        The transposed inverse of the Cholesky factor: a tenth of the work of the eigenvectors.
    """
    try:
        factor = linalg.cholesky(covariance, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    half = linalg.solve_triangular(factor, np.eye(len(factor)), lower=True, check_finite=False)
    inverse = half.T @ half
    largest = float(np.abs(inverse).sum(axis=0).max())
    made: Floats = half.T
    return made if np.isfinite(largest) and largest * floor < 1 else None


def invertible(covariance: Floats) -> Floats | None:
    """Give the Cholesky factor of a covariance matrix, or None where it is singular up to rounding."""
    variances = np.diag(covariance)
    if not len(variances) or variances.min() <= 0:
        return None
    scale = np.sqrt(variances)
    try:
        factor: Floats = np.linalg.cholesky(covariance / np.outer(scale, scale))
    except np.linalg.LinAlgError:
        return None
    if float(np.diag(factor).min()) ** 2 <= 16 * len(scale) * _EPS:
        return None
    return scale[:, None] * factor

"""Systems of equations of Newton's method: positive definite but for rounding, or flat in some directions.

A Newton step solves H step = -gradient, with H = X' D X + alpha I. Three things happen to H: its columns have different
scales (so it is scaled to ones on its diagonal first), some are collinear (so the least of many answers is wanted),
and alpha is so small that it is lost beside X' D X though it alone settles a direction (so that H is never made, and a
QR factorisation of D^1/2 X over alpha^1/2 I stands for it).

Cost: d^3 / 3 for d columns where H is positive, some 25 d^3 where it is not, 2 n d^2 by rows.

>>> import numpy as np
>>> solve_positive(np.array([[2.0, 2.0], [2.0, 2.0]]), np.array([[4.0], [4.0]])).round(6)
array([[1.],
       [1.]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from tutelage.base import Floats


def solve_by_rows(rows: Floats, weight: Floats, alpha: float, right: Floats) -> Floats | None:
    """Solve X' diag(weight) X + alpha I without making the products, in which a small alpha would be lost."""
    if alpha <= 0 or not np.isfinite(right).all():
        return None
    stacked = np.vstack([np.sqrt(weight)[:, None] * rows, np.sqrt(alpha) * np.eye(rows.shape[1])])
    triangle = linalg.qr(stacked, mode="r", check_finite=False)[0][: rows.shape[1]]
    if not np.diag(triangle).all():
        return None
    half = linalg.solve_triangular(triangle, right, trans=1, check_finite=False)
    answer: Floats = linalg.solve_triangular(triangle, half, check_finite=False)
    return answer


def solve_positive(matrix: Floats, right: Floats) -> Floats:
    """Solve a system that is positive, or nearly: then with the least answer."""
    size = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    size[size == 0] = 1.0
    scaled = matrix / np.outer(size, size)
    right = right / size[:, None]
    try:
        factor = linalg.cho_factor(scaled, lower=True, check_finite=False)
        if np.diag(factor[0]).min() > 1e-7:
            answer: Floats = linalg.cho_solve(factor, right, check_finite=False)
            return answer / size[:, None]
    except linalg.LinAlgError:
        pass
    if not np.isfinite(scaled).all():
        return np.full_like(right, np.nan)
    values, vectors = linalg.eigh(scaled)
    kept = values > 1e-13 * len(values) * max(values[-1], 0.0)
    answer = (vectors[:, kept] / values[kept]) @ (vectors[:, kept].T @ right)
    return answer / size[:, None]

"""The lasso of several targets that share their zeros: a column serves all of them or none.

    minimise over W, b:   (1 / 2S) sum_i s_i |y_i - W x_i - b|^2  +  alpha (r sum_j |W_j| + (1 - r) / 2 |W|^2)

W_j is the column of W that belongs to feature j, one coefficient for each target, and |W_j| its Euclidean norm: the
corner at zero holds the whole column there. Where targets depend on the same few features, they find them together
from less data than each alone.

The solver moves one column of W at a time to its own minimum (block coordinate descent over a working set), until the
duality gap is within ``tol`` of the value, relatively.

Cost: k times that of a lasso. It fails where the targets have little in common: then fit each on its own (`Lasso` takes
y with several columns).

>>> import numpy as np
>>> X = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 0.0]])
>>> Y = np.outer([1.0, 1.0, -1.0, -1.0], [3.0, 4.0])
>>> MultiTaskLasso(alpha=1.0, tol=1e-8).fit(X, Y).coef_.round(6)
array([[2.4, 0. ],
       [3.2, 0. ]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tutelage import losses, penalties
from tutelage.linear.lasso import NOT_CONVERGED, ElasticNet
from tutelage.risk import Risk, Solution, minimise

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix


class MultiTaskElasticNet(ElasticNet):
    """Least squares of several targets with a penalty on the norm of each feature's coefficients.

    Examples
    --------
    >>> from tutelage import MultiTaskElasticNet
    >>> MultiTaskElasticNet(alpha=0.1, tol=1e-8).fit([[0.0], [1.0], [2.0]], [[0, 0], [1, 1], [2, 2]]).coef_.round(4)
    array([[0.8809],
           [0.8809]])
    """

    precompute: ClassVar[bool] = False  # type: ignore[misc]
    positive: ClassVar[bool] = False  # type: ignore[misc]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n, targets)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        if y.ndim == 1:
            raise ValueError(
                f"For mono-task outputs, use {type(self).__name__.removeprefix('MultiTask')}: y has one dimension, and "
                "several targets are its columns."
            )
        known = getattr(self, "coef_", None) if self.warm_start else None
        start = None
        if known is not None and known.shape == (y.shape[1], X.shape[1]):
            start = known.astype(np.float64).ravel()
            if self.fit_intercept:
                start = np.append(start, np.broadcast_to(self.intercept_, y.shape[1]))
        solution = fit_tasks(
            X, y, weight, alpha=self.alpha, l1_ratio=self.l1_ratio, fit_intercept=self.fit_intercept, tol=self.tol,
            max_iter=self.max_iter or 1000, time_limit=self.time_limit, start=start,
        )  # fmt: skip
        self.n_iter_, self.dual_gap_ = solution.certificate.rounds, float(solution.certificate.gap)
        self.keep(
            np.atleast_2d(solution.coef), np.atleast_1d(solution.intercept), solution.certificate, X,
            opening=NOT_CONVERGED,
        )  # fmt: skip
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags


class MultiTaskLasso(MultiTaskElasticNet):
    """Least squares of several targets that chooses the same features for all of them.

    Examples
    --------
    >>> from tutelage import MultiTaskLasso
    >>> MultiTaskLasso(alpha=0.1, tol=1e-8).fit([[0, 1], [1, 1], [2, 1]], [[0, 0], [1, 1], [2, 2]]).coef_.round(4)
    array([[0.8939, 0.    ],
           [0.8939, 0.    ]])
    """

    l1_ratio: ClassVar[float] = 1.0  # type: ignore[misc]


def fit_tasks(
    X: Matrix,
    Y: Floats,
    weight: Floats | None = None,
    *,
    alpha: float,
    l1_ratio: float = 1.0,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    time_limit: float | None = None,
    start: Floats | None = None,
) -> Solution:
    """Fit several targets with one alpha; the parameters are those of `MultiTaskElasticNet`."""
    l1, l2 = float(alpha * l1_ratio), float(alpha * (1 - l1_ratio))
    penalty: Any = penalties.GroupL2(strength=l1, l2=l2) if l1 > 0 else penalties.L2(strength=l2)
    risk = Risk(losses.Squared(), penalty, fit_intercept)
    targets = np.ascontiguousarray(Y if Y.shape[1] > 1 else Y[:, 0])
    return minimise(risk, X, targets, weight, tol=tol, max_rounds=max_iter, time_limit=time_limit, start=start)


def follow_tasks(
    X: Matrix, Y: Floats, weight: Floats | None = None, *, alphas: Floats, fit_intercept: bool = True, **options: Any
) -> list[Solution]:
    """Fit several targets along falling alphas, each fit begun where the last ended."""
    found: list[Solution] = []
    start = None
    for alpha in alphas:
        solution = fit_tasks(X, Y, weight, alpha=float(alpha), fit_intercept=fit_intercept, start=start, **options)
        start = np.ravel(solution.coef)
        if fit_intercept:
            start = np.append(start, solution.intercept)
        found.append(solution)
    return found

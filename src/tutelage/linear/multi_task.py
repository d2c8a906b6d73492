"""The lasso of several targets that share their zeros: a column serves all of them or none.

    minimise over W, b:   (1 / 2S) sum_i s_i |y_i - W x_i - b|^2  +  alpha (r sum_j |W_j| + (1 - r) / 2 |W|^2)

W_j is the column of W that belongs to feature j, one coefficient for each target, and |W_j| its Euclidean norm: the
corner at zero holds the whole column there. Where targets depend on the same few features, they find them together
from less data than each alone.

The solver moves one column of W at a time to its own minimum (block coordinate descent), until the duality gap is
within ``tol`` of the value, relatively. It needs X only for its products X_c' s X_c and X_c' s Y_c, which are made
once, for a whole path if need be. Where there are too many columns for their matrix (beyond some thousands), it works
on the few that matter (`tutelage.linear.task_working_sets`), or, where those are many too, accelerated proximal
gradient steps take its place.

Cost: n d^2 / 2 multiplications for the products, then d k for each column that moves. It fails where
the targets have little in common: then fit each on its own (`Lasso` takes y with several columns).

>>> import numpy as np
>>> X = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 0.0]])
>>> Y = np.outer([1.0, 1.0, -1.0, -1.0], [3.0, 4.0])
>>> MultiTaskLasso(alpha=1.0, tol=1e-8).fit(X, Y).coef_.round(6)
array([[2.4, 0. ],
       [3.2, 0. ]])
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tutelage import _core, losses, matrices, penalties
from tutelage.base import is_sparse
from tutelage.linear.accuracy import LAST_DIGITS, arrived, is_small
from tutelage.linear.lasso import NOT_CONVERGED, ElasticNet
from tutelage.losses import native_loss
from tutelage.penalties import native_penalty
from tutelage.risk import Risk, Solution, certificate_from, minimise

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
    limits: dict[str, Any] = {"tol": tol, "max_iter": max_iter, "time_limit": time_limit}
    sums = TaskSums.of(X, Y, weight, fit_intercept) if l1_ratio > 0 else None
    if sums is not None:
        return sums.fit(X, alpha, l1_ratio, start=start, **limits)
    if l1_ratio > 0 and alpha > 0 and X.shape[1] > X.shape[0]:
        from tutelage.linear.task_working_sets import fit_by_working_sets

        solution = fit_by_working_sets(X, Y, weight, alpha, l1_ratio, fit_intercept=fit_intercept, **limits)
        if solution is not None:
            return solution
    l1, l2 = float(alpha * l1_ratio), float(alpha * (1 - l1_ratio))
    penalty: Any = penalties.GroupL2(strength=l1, l2=l2) if l1 > 0 else penalties.L2(strength=l2)
    risk = Risk(losses.Squared(), penalty, fit_intercept)
    targets = np.ascontiguousarray(Y if Y.shape[1] > 1 else Y[:, 0])
    return minimise(risk, X, targets, weight, tol=tol, max_rounds=max_iter, time_limit=time_limit, start=start)


@dataclass(frozen=True)
class TaskSums:
    """All that the squared loss of several targets needs of X, Y and the weights.

    Attributes
    ----------
    gram : array of shape (d, d)
        X_c' s X_c / S.
    slopes : array of shape (d, k)
        The gradient at zero, -X_c' s Y_c / S.
    square : float
        The mean of |Y_c|^2.
    means : array of shape (d,)
        Of the columns; zeros without an intercept.
    targets : array of shape (k,)
        Means of the targets; zeros without an intercept.
    fit_intercept : bool
        Whether there are intercepts.
    """

    gram: Floats
    slopes: Floats
    square: float
    means: Floats
    targets: Floats
    fit_intercept: bool

    @classmethod
    def of(cls, X: Matrix, Y: Floats, weight: Floats | None, fit_intercept: bool) -> TaskSums | None:
        """Make the sums; None where the Gram matrix would be large, beside X and in itself."""
        columns, outputs = X.shape[1], Y.shape[1]
        stored = X.nnz if is_sparse(X) else X.size
        if columns**2 > max(4e6, stored / 2):
            return None
        handle = matrices.rows(X)
        targets = np.average(Y, axis=0, weights=weight) if fit_intercept else np.zeros(outputs)
        centred = Y - targets
        share = np.full(len(Y), 1.0 / len(Y)) if weight is None else weight / weight.sum()
        lower, shift = _core.curvature(
            handle, np.ascontiguousarray(Y[:, 0]), weight, native_loss(losses.Squared(), 1),
            native_penalty(penalties.NoPenalty()), fit_intercept, np.zeros(columns + int(fit_intercept)),
        )  # fmt: skip
        gram = np.tril(lower) + np.tril(lower, -1).T
        if not np.isfinite(gram).all():
            raise ValueError("Entries of X are so large that their squares overflow. Scale X down.")
        means = np.zeros(columns)
        if fit_intercept:
            # What is left of the means after the shift stands in the intercept's row.
            rest = gram[:-1, -1] / gram[-1, -1]
            gram = gram[:-1, :-1] - np.outer(rest, rest) * gram[-1, -1]
            means = shift + rest
            constant = np.diag(gram) <= 1e-14 * means**2  # what rounding leaves of it is no direction
            gram[constant] = gram[:, constant] = 0.0
        else:
            gram = gram + np.outer(shift, shift)
        weighted = np.ascontiguousarray(share[:, None] * centred)
        slopes = handle.transpose_times(weighted).T - np.outer(means, weighted.sum(axis=0))
        square = float((weighted * centred).sum())
        return cls(np.ascontiguousarray(gram), np.ascontiguousarray(-slopes), square, means, targets, fit_intercept)

    def fit(
        self,
        X: Matrix,
        alpha: float,
        l1_ratio: float,
        *,
        tol: float,
        max_iter: int,
        time_limit: float | None,
        start: Floats | None = None,
    ) -> Solution:
        """Fit at one strength, from the coefficients (in rows of one a target) that `start` begins with."""
        columns, outputs = self.slopes.shape
        begin = np.zeros((columns, outputs))
        if start is not None:
            begin = np.ascontiguousarray(start[: columns * outputs].reshape(outputs, columns).T)
        aim = min(tol, LAST_DIGITS) if is_small(X, outputs) else tol
        coef, facts = _core.group_descent(
            self.gram, self.slopes, self.square, float(alpha * l1_ratio), float(alpha * (1 - l1_ratio)), begin,
            aim, max_iter, math.inf if time_limit is None else time_limit,
        )  # fmt: skip
        coef = np.ascontiguousarray(coef.T)
        intercept = self.targets - coef @ self.means if self.fit_intercept else np.zeros(outputs)
        return Solution(coef, intercept, arrived(certificate_from(facts), tol))


def follow_tasks(
    X: Matrix, Y: Floats, weight: Floats | None = None, *, alphas: Floats, fit_intercept: bool = True, **options: Any
) -> list[Solution]:
    """Fit several targets along falling alphas, each fit begun where the last ended."""
    found: list[Solution] = []
    start = None
    l1_ratio = options.pop("l1_ratio", 1.0)
    limits = {"tol": 1e-4, "max_iter": 1000, "time_limit": None, **options}
    sums = TaskSums.of(X, Y, weight, fit_intercept) if l1_ratio > 0 else None
    for alpha in alphas:
        if sums is not None:
            solution = sums.fit(X, float(alpha), l1_ratio, start=start, **limits)
        else:
            solution = fit_tasks(
                X, Y, weight, alpha=float(alpha), l1_ratio=l1_ratio, fit_intercept=fit_intercept, start=start, **limits
            )
        start = np.ravel(solution.coef)
        if fit_intercept:
            start = np.append(start, solution.intercept)
        found.append(solution)
    return found

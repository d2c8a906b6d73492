"""The lasso and the elastic net: least squares that sets most coefficients to exactly zero.

    minimise over w, b:   (1 / 2S) sum_i s_i (y_i - x_i . w - b)^2  +  alpha (r sum_j |w_j| + (1 - r) / 2 sum_j w_j^2)

with r the ``l1_ratio``; the lasso is r = 1. The corner of |w| at zero holds a coefficient there as long as the slope of
the loss in it, g_j = x_j . residual / S, is at most alpha r in size: so the fit chooses columns. The squared part makes
the minimum unique and lets correlated columns enter together.

Coordinate descent (`Risk` and `minimise` with the penalty ``L1`` or ``ElasticNet``) moves one coefficient at a time to
its own minimum,

    w_j <- soft_threshold(g_j + q_j w_j, alpha r) / (q_j + alpha (1 - r)),      q_j = |x_j|^2 / S,

over a working set of the columns that matter, and checks the others by the duality gap: with the residual scaled by t
until every |g_j| <= alpha r it is a point of the dual problem, whose value bounds the minimum from below. The fit ends
when the bound is within ``tol`` of the value, relatively; ``dual_gap_`` is what is left.

Without the l1 part (r = 0, or alpha = 0) the risk is quadratic and is solved in closed form, like ridge regression.

Cost: a few readings of X, and the products between the columns in use. It fails where columns are correlated and the
truth is dense: the lasso keeps one of several like columns, an arbitrary one, and shrinks the large coefficients too.

>>> import numpy as np
>>> X = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 0.0]])
>>> model = Lasso(alpha=0.5).fit(X, [2.0, 2.0, -2.0, -2.0])
>>> model.coef_
array([1.5, 0. ])
>>> model.dual_gap_ <= 1e-4 * model.certificate_.primal
True
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metadata_routing import UNUSED

from tutelage import losses
from tutelage.base import Accepts, Floats, Matrix
from tutelage.linear.accuracy import minimise_well
from tutelage.linear.base import LinearRegressor
from tutelage.linear.least_squares import as_columns, total
from tutelage.linear.paths import check_gram, elastic_net, enet_path
from tutelage.parameters import Arrays, Count, NonNegative, Positive, RandomState, Range, Share, fitted, parameter
from tutelage.risk import Risk, Solution, minimise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.certificate import Certificate
    from tutelage.fold_paths import FoldPath, Rows

# scikit-learn's words, which code may look for.
NOT_CONVERGED = "Objective did not converge. You might want to increase the number of iterations."


class ElasticNet(LinearRegressor):
    """Least squares with an l1 and a squared penalty.

    Examples
    --------
    >>> from tutelage import ElasticNet
    >>> model = ElasticNet(alpha=0.1, l1_ratio=0.5).fit([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(4)
    array([0.8605, 0.    ])
    """

    __metadata_request__fit: ClassVar[dict[str, str]] = {"check_input": UNUSED}
    accepts: ClassVar[Accepts] = Accepts(sparse=True, many_outputs=True)
    path = staticmethod(enet_path)

    alpha: Annotated[NonNegative, "Strength of the penalty.", Range(1e-5, 1e2, logarithmic=True)] = parameter(
        default=1.0, kw_only=False
    )
    l1_ratio: Annotated[Share, "The share of the l1 part: 1 is the lasso, 0 is ridge.", Range(0.01, 1)] = 0.5
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    precompute: Annotated[
        bool | Arrays, "A hint: products of columns are made when they are needed. A Gram matrix is checked against X."
    ] = False
    max_iter: Annotated[Count | None, "The most rounds: working sets that are solved."] = 1000
    copy_X: Annotated[bool, "Not needed: X is never written to."] = True
    tol: Annotated[NonNegative, "The relative duality gap at which the solver stops."] = 1e-4
    warm_start: Annotated[bool, "Whether a second fit begins where the first ended."] = False
    positive: Annotated[bool, "Whether coefficients must not be negative."] = False
    random_state: Annotated[RandomState, "Not needed: nothing is drawn."] = None
    selection: Annotated[Literal["cyclic", "random"], "A hint: coefficients are visited in order."] = "cyclic"
    time_limit: Annotated[Positive | None, "The most seconds that the fit may take."] = None

    dual_gap_: Any = fitted("How far from the minimum the risk can be; one for each target where y has columns.")
    n_iter_: Any = fitted("Rounds of the solver; one for each target where y has columns.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:  # noqa: ARG002
        """Fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,) or (n, targets)
            The targets; each column is fitted on its own.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.
        check_input : bool, default=True
            Not needed: the checks are always made.

        Returns
        -------
        self
            The fitted model.
        """
        if self.alpha == 0:
            warnings.warn(
                "With alpha=0, this algorithm does not converge well. You are advised to use the LinearRegression "
                "estimator, which is what this fit amounts to.",
                stacklevel=2,
            )
        X, y, weight = self.validate(X, y, sample_weight)
        check_gram(self.precompute, X, weight, self.fit_intercept)
        found = [self._fit_column(X, column, weight, c) for c, column in enumerate(as_columns(y).T)]
        coef = np.stack([solution.coef for solution in found])
        intercept = np.array([solution.intercept for solution in found])
        certificates = [solution.certificate for solution in found]
        self.n_iter_ = [one.rounds for one in certificates] if len(found) > 1 else certificates[0].rounds
        self.dual_gap_ = np.array([gap_of(one) for one in certificates]) if len(found) > 1 else gap_of(certificates[0])
        self.keep(
            coef if len(found) > 1 else coef[0],
            intercept[0] if y.ndim == 1 else intercept,
            total(certificates),
            X,
            opening=NOT_CONVERGED,
        )
        return self

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, by one path for each fold.

        Parameters
        ----------
        X, y : arrays
            All rows and their targets.
        folds : list of (train, test)
            Row numbers.
        grid : list of dict
            The candidates.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        iterator of FoldPath or None
            See `tutelage.fold_paths`.
        """
        from tutelage.linear.lasso_folds import lasso_fold_paths

        return lasso_fold_paths(self, X, y, folds, grid, sample_weight)

    def _fit_column(self, X: Matrix, y: Floats, weight: Floats | None, target: int) -> Solution:
        start = None
        known = getattr(self, "coef_", None) if self.warm_start else None
        if known is not None and np.atleast_2d(known).shape[1] == X.shape[1] and target < len(np.atleast_2d(known)):
            begin = np.atleast_1d(getattr(self, "intercept_", 0.0))
            coef = np.atleast_2d(known)[target].astype(np.float64)
            start = np.append(coef, begin[min(target, len(begin) - 1)]) if self.fit_intercept else coef
        risk = Risk(losses.Squared(), elastic_net(self.alpha, self.l1_ratio, self.positive), self.fit_intercept)
        # Who starts where a fit ended wants to be there at once, within `tol`; where its rounds ran out, to go on.
        most = self.max_iter or 1000
        last = getattr(self, "certificate_", None)
        ran_out = last is not None and last.rounds >= most
        solve = minimise_well if start is None or ran_out else minimise
        return solve(
            risk, X, np.ascontiguousarray(y), weight, tol=self.tol, max_rounds=most, start=start,
            time_limit=self.time_limit,
        )  # fmt: skip

    @property
    def sparse_coef_(self) -> Any:
        """``coef_`` as a CSR matrix."""
        return sparse.csr_array(np.atleast_2d(self.coef_))


class Lasso(ElasticNet):
    """Least squares with an l1 penalty: most coefficients are exactly zero.

    Examples
    --------
    >>> from tutelage import Lasso
    >>> Lasso(alpha=0.1).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0]).coef_
    array([0.85, 0.  ])
    """

    path = staticmethod(enet_path)
    l1_ratio: ClassVar[float] = 1.0  # type: ignore[misc]


def gap_of(certificate: Certificate) -> float:
    """Give the duality gap as ``dual_gap_`` states it."""
    return float(certificate.gap)

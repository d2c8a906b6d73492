"""Least squares: the coefficients whose predictions are nearest to the targets.

    minimise over w, b:   (1 / 2S) sum_i s_i (y_i - x_i . w - b)^2,     S = sum_i s_i

The minimum has a formula. With X_c the rows less their mean, the gradient vanishes where

    X_c' s X_c w = X_c' s y,     b = mean(y) - mean(x) . w,

so one reading of X makes all there is to know, for one target or for many. The equations are solved by Cholesky's
method on the short side of X: d x d where there are more rows than columns, n x n where there are fewer. Where a pivot
is at rounding level (columns that repeat each other, more columns than rows, constant columns) infinitely many w are
best; then X itself is reduced by QR and solved by its singular values, which squares nothing, and the answer is the
best w of least norm.

With ``positive=True`` no coefficient may be negative. That has no formula; coordinate descent minimises it to a duality
gap of ``tol``.

Cost: n d^2 / 2 multiplications and one reading of X. It fails where there is much noise and about as many columns as
rows: the variance of the predictions is noise d / n, and a penalty (`tutelage.linear.ridge`) is worth its bias.

>>> import numpy as np
>>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
>>> model = LinearRegression().fit(X, X @ [2.0, -1.0] + 3.0)
>>> model.coef_.round(6), model.intercept_.round(6)
(array([ 2., -1.]), np.float64(3.0))
>>> model.certificate_.solver
'closed_form'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from tutelage import _core, losses, matrices, penalties
from tutelage.base import Accepts, Floats, Matrix
from tutelage.certificate import Certificate, Reason
from tutelage.linear.accuracy import minimise_well
from tutelage.linear.base import LinearRegressor
from tutelage.linear.inference import Information, WithInference
from tutelage.parameters import NonNegative, Positive, fitted
from tutelage.risk import Risk, certificate_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows

WORST = {Reason.ROUNDS: 1, Reason.TIME: 2, Reason.INTERRUPTED: 3}


class LinearRegression(WithInference, LinearRegressor):
    """Least squares regression, without a penalty.

    Of several coefficients that are equally good, the fit is the one of least norm.

    Notes
    -----
    ``rank_`` and ``singular_`` describe X less its column means (if there is an intercept), each row times the root of
    its weight. They are computed when they are first asked for, from the moments that the fit made of X anyway, and so
    are the standard errors of ``model.inference()``, whose noise has a variance of its own for each target.

    Examples
    --------
    >>> from tutelage import LinearRegression
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0]], [[1.0, 5.0], [2.0, 3.0], [3.0, 1.0]])
    >>> model.coef_.round(6)
    array([[ 1.],
           [-2.]])
    >>> model.rank_
    1
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, many_outputs=True)

    fit_intercept: Annotated[bool, "Whether there is an intercept."] = True
    copy_X: Annotated[bool, "Not needed: X is never written to."] = True
    tol: Annotated[
        NonNegative,
        "With positive, the relative duality gap at which the solver stops; also the size, relative to the largest, "
        "below which a singular value does not count in rank_.",
    ] = 1e-6
    n_jobs: Annotated[int | None, "Not needed: set_threads says how many threads a fit uses."] = None
    positive: Annotated[bool, "Whether coefficients must not be negative."] = False
    time_limit: Annotated[Positive | None, "The most seconds that a fit with positive may take."] = None

    coef_: Floats = fitted("The coefficients; a row for each target where y has columns.")
    intercept_: Any = fitted("The intercept, or one for each target; 0.0 where none was asked for.")
    certificate_: Certificate = fitted("How far from the optimum the coefficients can be, and what they cost.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,) or (n, targets)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        for name in ("_spectrum", "_sums", "_spread"):
            self.__dict__.pop(name, None)
        if self.positive:
            penalty = [penalties.NonNegative()] * (1 if y.ndim == 1 else y.shape[1])
            coef, intercept, certificate = fit_each(
                penalty, X, as_columns(y), weight, self.fit_intercept, tol=self.tol, time_limit=self.time_limit
            )
        else:
            point, facts, self._spectrum = _core.least_squares(
                matrices.rows(X), as_columns(y), weight, self.fit_intercept
            )
            coef, intercept = split_point(point, X.shape[1], self.fit_intercept)
            certificate = certificate_from(facts)
            total_weight = float(len(y)) if weight is None else float(weight.sum())
            self._spread = total_weight, _mean_squares(as_columns(y), weight, self.fit_intercept)
        if y.ndim == 1:
            coef, intercept = coef[0], intercept[0]
        self.keep(coef, intercept, certificate, X)
        return self

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, from sums over the folds that add up.

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
        from tutelage.linear.least_squares_folds import squared_fold_paths

        return squared_fold_paths(self, X, y, folds, grid, sample_weight)

    @property
    def singular_(self) -> Floats:
        """The singular values of the centred and weighted X, largest first; not where ``positive=True``."""
        spectrum = self.__dict__.get("_spectrum")
        if spectrum is None:
            raise AttributeError(
                f"{type(self).__name__} has no singular_ "
                + ("with positive=True, which needs none." if "coef_" in self.__dict__ else "before it is fitted.")
            )
        if not isinstance(spectrum, np.ndarray):
            self._moments()
            spectrum = self._spectrum = spectrum.values()
        values: Floats = spectrum
        return values

    @property
    def rank_(self) -> int:
        """The number of singular values above ``tol`` times the largest."""
        singular = self.singular_
        return int(np.sum(singular > self.tol * singular.max(initial=0.0)))

    def _usable_information(self) -> Information:
        """Give the information at the fit, from the moments that it kept; see `tutelage.linear.inference`."""
        who = type(self).__name__
        if "_spread" not in self.__dict__:
            raise ValueError(
                f"Standard errors need a fit without constraints, and this {who} has positive=True; set positive=False."
            )
        gram, means = self._moments()
        columns, intercept = self.coef_.shape[-1], bool(self.fit_intercept)
        total_weight, squares = self._spread
        freedom = total_weight - columns - int(intercept)
        if freedom <= 0 or len(means) != columns:
            raise ValueError(
                f"Standard errors need more rows than coefficients and columns that are not collinear, found "
                f"{total_weight:g} rows for {columns + int(intercept)} coefficients of which not all are settled. "
                "Drop some columns, or fit a MAP model, whose prior settles them."
            )
        coef = np.atleast_2d(self.coef_).astype(np.float64)
        if len(coef) == 1:
            left = np.array([2.0 * self.certificate_.primal])
        else:
            left = np.maximum(squares - np.einsum("cj,jk,ck->c", coef, gram, coef), 0.0)
        side = columns + int(intercept)
        matrix = np.zeros((side, side))
        matrix[:columns, :columns] = total_weight * gram
        if intercept:
            matrix[-1, -1] = total_weight
        return Information(
            matrix,
            means,
            len(coef),
            intercept,
            dispersion=left * (total_weight / freedom),
            freedom=freedom,
            shared=True,
        )

    def _moments(self) -> tuple[Floats, Floats]:
        """The Gram matrix of the centred X over the sum of the weights, and the means."""
        if "_sums" not in self.__dict__:
            lower, means = self._spectrum.moments()
            self._sums = np.tril(lower) + np.tril(lower, -1).T, means
        sums: tuple[Floats, Floats] = self._sums
        return sums

    def __getstate__(self) -> dict[str, Any]:
        if "_spectrum" in self.__dict__:  # what is stored are numbers, not what they can be made from
            self._moments()
            _ = self.singular_
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state


def _mean_squares(Y: Floats, weight: Floats | None, centred: bool) -> Floats:
    """The mean square of each target, less its mean if there is an intercept."""
    squares: Floats = np.average((Y - np.average(Y, axis=0, weights=weight)) ** 2 if centred else Y**2, axis=0,
                                 weights=weight)  # fmt: skip
    return squares


def as_columns(y: Floats) -> Floats:
    """Give targets as a matrix, a row for each row of X."""
    return np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)


def split_point(point: Floats, columns: int, fit_intercept: bool) -> tuple[Floats, Floats]:
    """Take a point of the core apart: coefficients, a row for each output, and intercepts."""
    outputs = len(point) // (columns + fit_intercept) if columns + fit_intercept else 0
    coef = point[: outputs * columns].reshape(outputs, columns)
    return coef, point[outputs * columns :] if fit_intercept else np.zeros(outputs)


def fit_each(
    penalty: list[Any], X: Matrix, Y: Floats, weight: Floats | None, fit_intercept: bool, **options: Any
) -> tuple[Floats, Floats, Certificate]:
    """Fit a squared loss to each column of Y, with a penalty of its own.

    Returns
    -------
    coef : array of shape (k, d)
        The coefficients.
    intercept : array of shape (k,)
        The intercepts.
    certificate : Certificate
        That of the sum of the risks.
    """
    found = [
        minimise_well(Risk(losses.Squared(), one, fit_intercept), X, column, weight, **options)
        for one, column in zip(penalty, Y.T, strict=True)
    ]
    coef = np.stack([solution.coef for solution in found])
    intercept = np.array([solution.intercept for solution in found])
    return coef, intercept, total([solution.certificate for solution in found])


def total(certificates: list[Certificate]) -> Certificate:
    """Add the certificates of fits that are minimised one after the other: their risks are one sum."""
    if len(certificates) == 1:
        return certificates[0]
    worst = max((c.reason for c in certificates), key=lambda reason: WORST.get(reason, 0))
    return Certificate(
        primal=sum(c.primal for c in certificates),
        dual=sum(c.dual for c in certificates),
        gap=sum(c.gap for c in certificates),
        rounds=max(c.rounds for c in certificates),
        passes=sum(c.passes for c in certificates),
        seconds=sum(c.seconds for c in certificates),
        solver=certificates[0].solver,
        reason=worst,
        kind=certificates[0].kind,
        residual=max(c.residual for c in certificates),
    )

"""Ridge regression: least squares with a price on large coefficients.

    minimise over w, b:   sum_i s_i (y_i - x_i . w - b)^2 + alpha |w|^2

The price makes the equations regular, whatever the columns of X:

    (X_c' s X_c + alpha) w = X_c' s y_c        (d x d),  or with w = X_c' a,
    (X_c X_c' + alpha / s) a = y_c             (n x n),

and shrinks what the data hardly determine: along an eigenvector of X_c' s X_c with eigenvalue e the fit is e / (e +
alpha) times the one of least squares. Seen from Bayes it is the most probable w when noise has the variance sigma^2 and
the coefficients have the prior N(0, sigma^2 / alpha). The intercept has no price.

`Ridge` solves the smaller of the two systems by Cholesky's method: exact, in one reading of X. A matrix that is sparse
and large in both directions has neither; truncated Newton steps (which for this risk are conjugate gradients) minimise
it to a relative duality gap of ``tol``. Several targets share one factor, also when each has an alpha of its own: then
the eigenvectors of the system serve every alpha. `RidgeClassifier` fits targets of -1 and +1, one column a class.

Cost: n d min(n, d) / 2 multiplications. It fails where the columns have different units: scale them first, since the
price of a coefficient depends on its unit.

>>> import numpy as np
>>> X = np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, -1.0]])
>>> Ridge(alpha=1.0, fit_intercept=False).fit(X, [3.0, 3.0, -3.0]).coef_.round(4)
array([1.2857, 1.2857])
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np

from tutelage import _core, losses, matrices, penalties
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.labels import encode
from tutelage.linear.base import LinearClassifier, LinearModel, LinearRegressor
from tutelage.linear.least_squares import as_columns, fit_each, split_point
from tutelage.parameters import Arrays, Count, NonNegative, Positive, RandomState, Range, fitted, invalid, parameter
from tutelage.risk import Risk, certificate_from, minimise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.certificate import Certificate
    from tutelage.fold_paths import FoldPath, Rows

Alpha = Annotated[
    NonNegative | Arrays, "Strength of the penalty, or one for each target.", Range(1e-6, 1e6, logarithmic=True)
]
Hint = Annotated[
    Literal["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"],
    "A hint from scikit-learn's vocabulary: the exact solution is computed whatever it says.",
]


class _RidgeModel(LinearModel):
    """The parameters and the fit that `Ridge` and `RidgeClassifier` share."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, many_outputs=True)

    alpha: Alpha = parameter(default=1.0, kw_only=False)
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    copy_X: Annotated[bool, "Not needed: X is never written to."] = True
    max_iter: Annotated[Count | None, "The most rounds of an iterative solver."] = None
    tol: Annotated[NonNegative, "The relative duality gap at which an iterative solver stops."] = 1e-4
    solver: Hint = "auto"
    positive: Annotated[bool, "Whether coefficients must not be negative."] = False
    random_state: Annotated[RandomState, "Not needed: nothing is drawn."] = None
    time_limit: Annotated[Positive | None, "The most seconds that an iterative solver may take."] = None

    n_iter_: Any = fitted("Rounds of the solver for each target; None where the hint names an exact one.")
    solver_: str = fitted("The hint, or what was chosen without one; certificate_ says what ran.")

    def _fit_columns(self, X: Matrix, Y: Floats, weight: Floats | None) -> tuple[Floats, Floats, Certificate]:
        """Fit each column of Y: coefficients in rows, intercepts, and the certificate."""
        self._check_hint(X)
        outputs = Y.shape[1]
        alpha = self._alphas(outputs)
        scale = float(len(Y)) if weight is None else float(weight.sum())
        options: dict[str, Any] = {"tol": self.tol, "max_rounds": self.max_iter or 1000, "time_limit": self.time_limit}
        if self.positive:
            each = [penalties.NonNegative(l2=one / scale) for one in alpha]
            coef, intercept, certificate = fit_each(each, X, Y, weight, self.fit_intercept, **options)
        elif np.all(alpha == alpha[0]):
            risk = Risk(losses.Squared(), penalties.L2(alpha[0] / scale), self.fit_intercept)
            solution = minimise(risk, X, Y if outputs > 1 else Y[:, 0], weight, **options)
            coef, intercept = np.atleast_2d(solution.coef), np.atleast_1d(solution.intercept)
            certificate = solution.certificate
        else:
            samples, columns = X.shape
            path = _core.RidgePath(matrices.rows(X), Y, weight, self.fit_intercept, samples <= columns)
            point, facts = path.solve(alpha.tolist())
            coef, intercept = split_point(point, columns, self.fit_intercept)
            certificate = certificate_from(facts)
        exact = self.solver in {"svd", "cholesky", "sparse_cg"}  # which count no rounds in scikit-learn
        self.n_iter_ = None if exact else np.full(outputs, max(certificate.rounds, 1), dtype=np.int32)
        self.solver_ = certificate.solver if self.solver == "auto" else self.solver
        return coef, intercept, certificate

    def _alphas(self, outputs: int) -> Floats:
        alpha = np.asarray(self.alpha, dtype=np.float64).ravel()
        if len(alpha) not in {1, outputs}:
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {len(alpha)} != {outputs}. Give one "
                "alpha, or one for each column of y."
            )
        if not np.all(alpha >= 0):
            raise invalid(self, "alpha", "at least 0 for each target")
        return np.broadcast_to(alpha, (outputs,)) if len(alpha) == 1 else alpha

    def _check_hint(self, X: Matrix) -> None:
        """Refuse what the solver that the hint names could not do: who names one may count on it."""
        name = self.solver
        if self.positive and name not in {"auto", "lbfgs"}:
            raise ValueError(
                f"solver={name!r} does not support positive fitting. Set solver='auto', or positive=False."
            )
        if name == "lbfgs" and not self.positive:
            raise ValueError(
                "The solver 'lbfgs' can be used only with positive=True. Set solver='auto', or positive=True."
            )
        if not is_sparse(X):
            return
        if name == "svd" or (self.fit_intercept and name in {"cholesky", "saga"}):
            raise ValueError(
                f"solver={name!r} does not support {'fitting the intercept on ' if name != 'svd' else ''}sparse data. "
                "Set solver='auto', or give X as an array."
            )
        if name == "sag" and self.fit_intercept and self.max_iter is None and self.tol > 1e-4:
            warnings.warn(
                '"sag" solver requires many iterations to fit an intercept with sparse inputs, so its tol should be at '
                "most 1e-4; this fit does not depend on it.",
                stacklevel=4,
            )


class Ridge(_RidgeModel, LinearRegressor):
    """Least squares with a squared-norm penalty; the exact solution, for one target or many.

    Examples
    --------
    >>> from tutelage import Ridge
    >>> model = Ridge(alpha=2.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([0.5]), np.float64(0.5))
    >>> model.certificate_.relative_gap < 1e-12
    True
    """

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
        coef, intercept, certificate = self._fit_columns(X, as_columns(y), weight)
        if y.ndim == 1 or y.shape[1] == 1:
            coef = coef[0]
        if y.ndim == 1:
            intercept = intercept[0]
        self.keep(coef, intercept, certificate, X, opening=self._opening())
        return self

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, all strengths of a fold from one factor.

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

    def _opening(self) -> str:
        # scikit-learn's words, which code may look for.
        return "The lbfgs solver did not converge." if self.positive else ""


class RidgeClassifier(_RidgeModel, LinearClassifier):
    """Least squares with a squared-norm penalty against targets of -1 and +1, one column a class.

    Examples
    --------
    >>> from tutelage import RidgeClassifier
    >>> model = RidgeClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["few", "few", "many", "many"])
    >>> model.predict([[0.4], [2.6]])
    array(['few', 'many'], dtype='<U4')
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, one_class=True)

    class_weight: Annotated[
        dict[Any, float] | Literal["balanced"] | None, "Weight of each class, or equal weight for all; else 1."
    ] = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,), or (n, labels) of zeros and ones
            The classes; in columns, the labels that each row has.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, targets, weight = self._validate_classes(X, y, sample_weight)
        coef, intercept, certificate = self._fit_columns(X, targets, weight)
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
        """Fit every candidate on every fold, all strengths of a fold from one factor.

        Parameters
        ----------
        X, y : arrays
            All rows and their classes.
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

    def _validate_classes(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Floats, Floats | None]:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
        self._many_labels = len(shape) == 2 and shape[1] > 1
        if not self._many_labels:
            X, codes, weight = self.validate(X, y, sample_weight)
            return X, signs(codes, len(self.classes_)), weight
        X, labels, weight = self.validate_labels(X, y, sample_weight)
        return X, np.where(labels > 0, 1.0, -1.0), weight

    def validate_labels(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Floats, Floats | None]:
        """Check rows that have several labels each: y in columns of zeros and ones."""
        self.check_parameters()
        X, y = self._check_arrays(X, y, multi_output=True)
        dense = y.toarray() if is_sparse(y) else np.asarray(y)
        if len(encode(dense.ravel())[0]) > 2:
            raise ValueError(
                "y has several columns, which must each hold two values, found more: several labels a row are given as "
                "zeros and ones, one class a row as one column."
            )
        self.classes_ = np.arange(dense.shape[1])
        weight = self._validate_weight(sample_weight, X)
        if self.class_weight is not None:
            from sklearn.utils.class_weight import compute_sample_weight

            factor = compute_sample_weight(self.class_weight, dense)
            weight = factor if weight is None else weight * factor
        return self._tidy(X), dense.astype(np.float64), weight

    def predict(self, X: Any) -> Any:
        """Predict the classes of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,), or (n, labels) of zeros and ones
            The classes.
        """
        if getattr(self, "_many_labels", False):
            return (self.decision_function(X) > 0).astype(np.intp)
        return super().predict(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def signs(codes: Any, classes: int) -> Floats:
    """Give the targets of classes: a column for each, +1 in its rows and -1 elsewhere; one for up to two.

    Examples
    --------
    >>> signs(np.array([0, 1]), 2)
    array([[-1.],
           [ 1.]])
    """
    if classes <= 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    targets: Floats = np.full((len(codes), classes), -1.0)
    targets[np.arange(len(codes)), codes] = 1.0
    return targets

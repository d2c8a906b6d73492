"""Linear discriminant analysis: classes are Gaussians of different means and one covariance.

    log P(x, c) = log P(c) - 1/2 (x - m_c)' S^-1 (x - m_c) + const

The quadratic term x' S^-1 x is common to all classes and drops out of the comparison, so the scores are linear:

    z_c = x . S^-1 m_c - 1/2 m_c' S^-1 m_c + log P(c)

In coordinates where S is the identity a row belongs to the nearest mean (up to the priors), and the k means span at
most k - 1 dimensions: `transform` gives these, ordered by how far apart they hold the means. Fisher (1936) found the
same directions by maximising the spread between classes against that within.

Algorithm: one sandwich of X centred by class (n d^2 / 2 multiplications), then d x d algebra. The solver "svd" takes
the correlations within classes, whose eigenvalues are the squares of the singular values of the rows, and leaves out
directions with a singular value below ``tol``; where there surely is none (the inverse says so) Cholesky's factor does
instead of eigenvectors. Squares of values below 1e-6 would be lost in rounding, so for a smaller ``tol``, and where
there are fewer rows than columns, the rows themselves are decomposed. "eigen" solves S_b v = e S_w v, "lsqr" solves S
w = m; both can shrink S.

It fails where classes differ in shape (`QuadraticDiscriminantAnalysis`) and where there are about as many columns as
rows (shrink). Against logistic regression: where its assumptions hold it needs fewer rows; where they do not, logistic
regression wins in the end.

>>> import numpy as np
>>> X = np.array([[-2.0, 1.0], [0.0, -1.0], [3.0, 1.0], [5.0, -1.0]])
>>> model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5).fit(X, ["a", "a", "b", "b"])
>>> model.predict([[1.0, 0.0], [2.0, 0.0]])
array(['a', 'b'], dtype='<U1')
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import linalg
from scipy.special import log_expit, log_softmax
from sklearn.utils.validation import check_is_fitted

from tutelage import counts
from tutelage.base import Accepts, Classifier, Floats, Matrix
from tutelage.discriminant.covariance import class_covariances, shrink, total_covariance, whiten
from tutelage.linear.base import probabilities
from tutelage.parameters import Arrays, Count, Has, NonNegative, Range, Share, fitted, parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes

    class _NamesMixin:
        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

    class _TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
else:
    from sklearn.base import ClassNamePrefixFeaturesOutMixin as _NamesMixin
    from sklearn.base import TransformerMixin as _TransformerMixin

_EPS = float(np.finfo(np.float64).eps)
# Below it, the square of a singular value is no longer told from rounding.
SMALLEST_SQUARED = 1e-6


def _needs_no_rows(model: LinearDiscriminantAnalysis) -> bool:
    """Whether a fit is a function of the scatter within classes."""
    if model.solver == "svd":
        return model.tol >= SMALLEST_SQUARED and not model.store_covariance
    plain = model.priors is None and model.covariance_estimator is None
    return model.solver == "lsqr" and plain and not isinstance(model.shrinkage, str)


class LinearDiscriminantAnalysis(_NamesMixin, _TransformerMixin, Classifier):
    """Classes as Gaussians of one covariance: linear scores, and the directions that hold classes apart.

    Examples
    --------
    >>> from tutelage import LinearDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    >>> model.transform(X).shape
    (6, 1)
    """

    accepts: ClassVar[Accepts] = Accepts(one_class=True)

    solver: Annotated[
        Literal["svd", "lsqr", "eigen"],
        "'svd' leaves out directions without variance; 'lsqr' and 'eigen' can shrink, 'lsqr' cannot transform.",
    ] = parameter(default="svd", kw_only=False)
    shrinkage: Annotated[
        Share | Literal["auto"] | None,
        "Share of the identity in the covariance; 'auto' is that of Ledoit and Wolf.",
        Range(0.0, 1.0),
    ] = parameter(default=None, kw_only=False)
    priors: Annotated[Arrays | None, "Probabilities of the classes; None is their shares of the rows."] = parameter(
        default=None, kw_only=False
    )
    n_components: Annotated[Count | None, "How many directions transform gives; None is all."] = parameter(
        default=None, kw_only=False
    )
    store_covariance: Annotated[bool, "Whether covariance_ is set with solver='svd' too."] = parameter(
        default=False, kw_only=False
    )
    tol: Annotated[NonNegative, "With solver='svd', the singular value below which a direction is left out."] = (
        parameter(default=1e-4, kw_only=False)
    )
    covariance_estimator: (
        Annotated[Any, Has("fit"), "What estimates covariances, with covariance_ after its fit."] | None
    ) = parameter(default=None, kw_only=False)

    _handed: counts.Scatter | None = None  # what was measured elsewhere, while a fit is made of it

    coef_: Floats = fitted("The coefficients: a row for each class, one row for two classes.")
    intercept_: Floats = fitted("The intercepts.")
    covariance_: Floats = fitted("The covariance within classes, weighted by priors_.")
    explained_variance_ratio_: Floats = fitted("Shares of the spread between classes, a direction each.")
    means_: Floats = fitted("The mean of each class.")
    priors_: Floats = fitted("The probability of each class.")
    scalings_: Floats = fitted("The directions, in columns.")
    xbar_: Floats = fitted("With solver='svd', the mean of the means, weighted by priors_.")

    def _check_arrays(self, *arrays: Any, **options: Any) -> Any:
        return super()._check_arrays(*arrays, **options, **({"ensure_min_samples": 2} if len(arrays) == 2 else {}))

    def fit(self, X: Any, y: Any) -> Self:
        """Fit means and the common covariance.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The classes.

        Returns
        -------
        self
            The fitted model.
        """
        X, codes, _ = self.validate(X, y)
        self._learn(X, codes, None)
        return self

    def _learn(self, X: Matrix, codes: Codes, measured: counts.Scatter | None) -> None:
        """Fit to checked rows, or to what was measured of them."""
        self._handed = measured
        for name in ("covariance_", "explained_variance_ratio_", "scalings_", "xbar_"):
            self.__dict__.pop(name, None)  # of another solver, by a fit before
        classes = len(self.classes_)
        if len(codes) == classes:
            raise ValueError(
                f"The number of samples must be more than the number of classes. Found {classes} of both; a covariance "
                "within classes needs a class of two rows."
            )
        self._check_words(X)
        self.priors_ = self._find_priors(codes)
        coef, intercept = getattr(self, f"_solve_{self.solver}")(X, codes)
        if classes == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept
        for name in ("coef_", "intercept_", "means_", "priors_", "scalings_", "xbar_", "explained_variance_ratio_"):
            if name in self.__dict__:
                setattr(self, name, self.__dict__[name].astype(X.dtype, copy=False))
        self._n_features_out = self._max_components
        self._handed = None

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, from the scatter of the other folds.

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
        from tutelage.discriminant.fold_paths import scattered_fold_paths

        return scattered_fold_paths(self, X, y, folds, grid, sample_weight, own=False, can=_needs_no_rows)

    def _check_words(self, X: Matrix) -> None:
        most = min(len(self.classes_) - 1, X.shape[1])
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1). It is {self.n_components}, and at "
                f"most {most} directions tell {len(self.classes_)} classes apart."
            )
        self._max_components = most if self.n_components is None else self.n_components
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver. Use solver='lsqr' or 'eigen'.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance estimator is not supported with svd solver. Try another solver")

    def _find_priors(self, codes: Codes) -> Floats:
        if self.priors is None:
            return np.bincount(codes) / len(codes)
        priors = np.array(self.priors, dtype=np.float64)
        if len(priors) != len(self.classes_):
            raise ValueError(f"priors must be one for each of {len(self.classes_)} classes, found {len(priors)}.")
        if np.any(priors < 0):
            raise ValueError(f"priors must be non-negative, found {priors.min():g}.")
        if abs(priors.sum() - 1.0) > 1e-5:
            warnings.warn("The priors do not sum to 1. Renormalizing", UserWarning, stacklevel=3)
            priors = priors / priors.sum()
        return priors

    def _covariance(self, X: Matrix, codes: Codes) -> Floats:
        """Set ``means_`` and give the covariance within classes, weighted by the priors."""
        classes = len(self.classes_)
        own = self.shrinkage == "auto"
        if own or self.covariance_estimator is not None:
            measured = counts.scatter(X, codes, None, classes, own=own)
            each = class_covariances(X, codes, classes, self.shrinkage, self.covariance_estimator, measured=measured)
            self.means_ = measured.mean
            made: Floats = np.einsum("c,cij->ij", self.priors_, each)
            return made
        weight = None if self.priors is None else (self.priors_ / np.bincount(codes))[codes]
        measured = counts.scatter(X, codes, weight, classes) if self._handed is None else self._handed
        self.means_ = measured.mean if weight is None else counts.moments(X, codes, None, classes).mean
        scatter = measured.scatter if weight is not None else measured.covariance()
        return scatter if self.shrinkage is None else shrink(scatter, float(self.shrinkage))

    def _solve_lsqr(self, X: Matrix, codes: Codes) -> tuple[Floats, Floats]:
        self.covariance_ = self._covariance(X, codes)
        # Where the covariance is surely of full rank, least squares is a solution by Cholesky's method.
        whitening = whiten(self.covariance_, 1e-12 * float(np.trace(self.covariance_)))
        if whitening is None:
            coef = linalg.lstsq(self.covariance_, self.means_.T)[0].T
        else:
            coef = (self.means_ @ whitening) @ whitening.T
        return coef, -0.5 * (self.means_ * coef).sum(axis=1) + _log(self.priors_)

    def _solve_eigen(self, X: Matrix, codes: Codes) -> tuple[Floats, Floats]:
        within = self.covariance_ = self._covariance(X, codes)
        between = total_covariance(X, self.shrinkage, self.covariance_estimator) - within
        try:
            values, vectors = linalg.eigh(between, within)
        except linalg.LinAlgError:
            raise linalg.LinAlgError(
                "The covariance within classes is singular, and solver='eigen' must invert it; set shrinkage='auto', "
                "or use solver='svd'."
            ) from None
        values, vectors = values[::-1], vectors[:, ::-1]
        self.explained_variance_ratio_ = np.sort(values / values.sum())[::-1][: self._max_components]
        self.scalings_ = vectors
        coef = (self.means_ @ vectors) @ vectors.T
        return coef, -0.5 * (self.means_ * coef).sum(axis=1) + _log(self.priors_)

    def _solve_svd(self, X: Matrix, codes: Codes) -> tuple[Floats, Floats]:
        rows, classes = len(codes), len(self.classes_)
        if rows <= X.shape[1] or self.tol < SMALLEST_SQUARED:
            whitening = self._decompose_rows(X, codes)
        else:
            whitening = self._decompose_scatter(X, codes)
        if self.store_covariance:
            own = counts.scatter(X, codes, None, classes, own=True).covariance()
            self.covariance_ = np.einsum("c,cij->ij", self.priors_, own)
        self.xbar_ = self.priors_ @ self.means_
        if whitening.shape[1] == 0:
            raise ValueError(
                "X has no variance within its classes: every column is constant in each class, so one column tells the "
                "classes apart and no covariance can be estimated; use a decision tree, or add rows."
            )
        spread = np.sqrt(rows * self.priors_ / max(1, classes - 1))[:, None] * (self.means_ - self.xbar_)
        _, apart, axes = linalg.svd(spread @ whitening, full_matrices=False)
        if self._max_components == 0:
            self.explained_variance_ratio_ = np.empty(0)
        else:
            self.explained_variance_ratio_ = (apart**2 / (apart**2).sum())[: self._max_components]
        rank = int((apart > self.tol * apart[0]).sum())
        self.scalings_ = whitening @ axes.T[:, :rank]
        coef = (self.means_ - self.xbar_) @ self.scalings_
        intercept = -0.5 * (coef**2).sum(axis=1) + _log(self.priors_)
        coef = coef @ self.scalings_.T
        return coef, intercept - self.xbar_ @ coef.T

    def _decompose_scatter(self, X: Matrix, codes: Codes) -> Floats:
        """Find coordinates in which the covariance within classes is the identity, from that covariance."""
        measured = counts.scatter(X, codes, None, len(self.classes_)) if self._handed is None else self._handed
        self.means_ = measured.mean
        covariance = measured.covariance()
        deviation = self._deviation(np.sqrt(np.diag(covariance)))
        correlations = covariance / np.outer(deviation, deviation)
        # With no direction to leave out, any such coordinates will do: the singular values decide between them.
        whitening = whiten(correlations, self.tol**2)
        if whitening is not None:
            return whitening / deviation[:, None]
        values, vectors = linalg.eigh(correlations)
        return self._scaled(deviation, np.sqrt(np.maximum(values[::-1], 0.0)), vectors[:, ::-1])

    def _scaled(self, deviation: Floats, singular: Floats, directions: Floats) -> Floats:
        kept = singular > self.tol
        made: Floats = directions[:, kept] / deviation[:, None] / singular[kept]
        return made

    def _decompose_rows(self, X: Matrix, codes: Codes) -> Floats:
        """Find the same from the rows themselves."""
        measured = counts.moments(X, codes, None, len(self.classes_))
        self.means_ = measured.mean
        centred = X - self.means_[codes]
        deviation = self._deviation(np.sqrt(measured.square.sum(axis=0) / len(X)))
        _, singular, axes = linalg.svd(centred / deviation / np.sqrt(len(X)), full_matrices=False)
        return self._scaled(deviation, singular, axes.T)

    def _deviation(self, deviation: Floats) -> Floats:
        """Let a column that is constant within classes, up to rounding, stay as it is."""
        return np.where(deviation > 64 * _EPS * np.abs(self.means_).max(axis=0), deviation, 1.0)

    def transform(self, X: Any) -> Floats:
        """Give rows in the directions that hold the classes apart, the best first.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, components)
            Within classes the covariance is about the identity.
        """
        if self.solver == "lsqr":
            raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
        X = self.validate_rows(X)
        moved = X - self.xbar_ if self.solver == "svd" else X
        made: Floats = moved @ self.scalings_[:, : self._max_components]
        return made

    def decision_function(self, X: Any) -> Floats:
        """Give the scores of rows.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) for two classes, (n, k) for more
            Scores up to what classes share; for two classes, the log odds of the second.
        """
        X = self.validate_rows(X)
        scores: Floats = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Give the most probable class of each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return self.classes_[np.zeros(len(scores), dtype=np.intp)]
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Give P(c | x).

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            Rows sum to one.
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.ones((len(scores), 1), dtype=scores.dtype)
        return probabilities(scores, multinomial=True)

    def predict_log_proba(self, X: Any) -> Floats:
        """Give log P(c | x), also where P(c | x) is too small for a number.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class.
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1), dtype=scores.dtype)
        if scores.ndim == 1:
            return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
        made: Floats = log_softmax(scores, axis=1)
        return made

    def plot(self, X: Any, y: Any, ax: Any = None) -> Any:
        """Draw rows in the first two directions of `transform` (a histogram of the first, if there is but one).

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their classes.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        matplotlib Axes
            The picture.
        """
        from tutelage.discriminant.picture import plot_directions

        return plot_directions(self, X, y, ax)


def _log(priors: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        made: Floats = np.log(priors)
    return made

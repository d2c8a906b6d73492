"""Gaussian discriminant analysis: a normal density for each class, its covariance as rich as the rows can bear.

    P(c) = phi_c,     P(x | c) = N(x; mu_c, Sigma_c),     P(c | x) = P(c) P(x | c) / sum over b of P(b) P(x | b)

The maximum likelihood estimates are averages: phi_c the share of class c, mu_c its mean, Sigma the mean of
(x - mu_c)(x - mu_c)'. How many numbers Sigma takes is the choice:

============  ===================================================================  ======================
covariance    Sigma_c                                                              numbers
============  ===================================================================  ======================
"spherical"   v_c I                                                                k
"diagonal"    variances of the columns (Gaussian naive Bayes)                      k d
"shared"      one matrix for all classes: the boundary is linear                   d (d + 1) / 2
"shrunk"      the same, mixed with its diagonal's mean by Ledoit and Wolf's share  d (d + 1) / 2
"factor"      L_c L_c' + diagonal, with few columns in L_c (factor analysis)       k d (factors + 1)
"own"         a matrix for each class: the boundary is quadratic                   k d (d + 1) / 2
============  ===================================================================  ======================

With one matrix for all, log P(1 | x) / P(0 | x) is linear in x: every such model is a logistic regression, whose
coefficients `as_logistic` gives. The reverse is false: logistic regression also holds when classes are Poisson, say. So
the discriminant assumes more; where its assumptions are true it needs fewer rows, where they are false it stays wrong
however many there are.

A covariance that cannot be inverted (fewer rows than columns, columns that repeat each other, a class of one row) is
mixed with the identity by the share of Ledoit and Wolf, and a warning says so. `score_samples` is log P(x), summed over
classes: rows of low density are novelties.

Cost: a sandwich of X (n d^2 / 2), a Cholesky factor for each matrix; "factor" iterates on d x d matrices alone.

>>> import numpy as np
>>> X = np.array([[0.0], [2.0], [10.0], [12.0]])
>>> model = GaussianDiscriminant().fit(X, [0, 0, 1, 1])
>>> model.phi_, model.mu_.ravel(), model.sigma_
(array([0.5, 0.5]), array([ 1., 11.]), array([[1.]]))
>>> theta, intercept = model.as_logistic()
>>> theta, intercept
(array([[10.]]), array([-60.]))
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import linalg
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from tutelage import _core, counts, matrices
from tutelage.base import Accepts, Classifier, Floats, Matrix
from tutelage.counts import Scatter
from tutelage.discriminant.covariance import invertible, ledoit_wolf
from tutelage.discriminant.factors import factor_analysis
from tutelage.discriminant.joint import JointScores
from tutelage.parameters import Among, Arrays, Count, Positive, fitted, parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes, Weights

_LOG_2_PI = float(np.log(2 * np.pi))
_ONE_MATRIX = ("shared", "shrunk")


class GaussianDiscriminant(JointScores, Classifier):
    """A normal density for each class; see the module for the choice of covariances.

    Examples
    --------
    >>> from tutelage import GaussianDiscriminant
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = GaussianDiscriminant(covariance="diagonal").fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    >>> model.score_samples([[0.0, 0.0], [50.0, 0.0]]).round()
    array([   -8., -1734.])
    """

    accepts: ClassVar[Accepts] = Accepts(one_class=True)

    covariance: Annotated[
        Literal["shared", "own", "diagonal", "spherical", "shrunk", "factor"],
        "What covariances may be.",
        Among("shared", "own", "diagonal", "spherical", "shrunk"),
    ] = parameter(default="shared", kw_only=False)
    priors: Annotated[Arrays | None, "Probabilities of the classes; None is their shares of the rows."] = None
    factors: Annotated[Count, "With covariance='factor', the number of columns of L."] = 1
    max_iter: Annotated[Count, "With covariance='factor', the most rounds of expectation-maximisation."] = 1000
    tol: Annotated[
        Positive, "With covariance='factor', the gain of log likelihood a row at which expectation-maximisation stops."
    ] = 1e-8

    phi_: Floats = fitted("The probability of each class.")
    mu_: Floats = fitted("The mean of each class.")
    sigma_: Floats = fitted("The covariance: (d, d) if one for all, (k, d, d), (k, d) if diagonal, (k,) if spherical.")
    shrinkage_: Floats = fitted("How much each matrix was mixed with the identity; zero where it was not.")
    n_iter_: int = fitted("Rounds of expectation-maximisation; 1 where a formula gives the answer.")
    moments_: Any = fitted("Totals of the rows of each class, that add and subtract.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a normal density to each class.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The classes.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, codes, weight = self.validate(X, y, sample_weight)
        self._learn(X, codes, None, weight)
        return self

    def _learn(self, X: Matrix, codes: Codes, measured: Scatter | None, weight: Weights | None = None) -> None:
        """Fit to checked rows, or to the scatter of each class that was measured of them."""
        classes = len(self.classes_)
        totals = np.bincount(codes, weights=weight, minlength=classes).astype(float)
        self.phi_ = self._priors(totals)
        self.n_iter_ = 1
        self.shrinkage_ = np.zeros(1 if self.covariance in _ONE_MATRIX else classes)
        if self.covariance in {"diagonal", "spherical"}:
            self.moments_ = counts.moments(X, codes, weight, classes) if measured is None else measured.moments()
            self.sigma_ = self._variances(self.moments_.variance(), self.covariance == "spherical")
        else:
            own = self.covariance not in _ONE_MATRIX
            self.moments_ = counts.scatter(X, codes, weight, classes, own=own) if measured is None else measured
            if measured is not None and not own:
                self.moments_ = Scatter(measured.total, measured.mean, measured.pooled())
            self.sigma_ = self._matrices(None if measured is not None else X, codes, weight, self.moments_)
        self.mu_ = self.moments_.mean
        self._prepare()

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

        return scattered_fold_paths(
            self, X, y, folds, grid, sample_weight, own=True, can=lambda one: one.covariance != "shrunk"
        )

    def _priors(self, totals: Floats) -> Floats:
        if self.priors is None:
            shares: Floats = totals / totals.sum()
            return shares
        priors = np.array(self.priors, dtype=np.float64)
        if priors.shape != totals.shape or priors.min() < 0 or not np.isclose(priors.sum(), 1.0):
            raise ValueError(
                f"priors must be {len(totals)} probabilities that add up to 1, one for each class, found "
                f"{priors.tolist()}."
            )
        return priors

    def _variances(self, variances: Floats, spherical: bool) -> Floats:
        """Let no variance be zero: a column constant in a class gets a billionth of the largest variance."""
        if spherical:
            variances = variances.mean(axis=1, keepdims=True)
        pooled = self.moments_.pooled().variance()
        floor = 1e-9 * float(pooled.max()) or 1.0
        if (variances < floor).any():
            _announce(
                f"{int((variances < floor).sum())} variances are zero or nearly so; they were raised to {floor:.1e}, a "
                "billionth of the largest variance of a column."
            )
        variances = np.maximum(variances, floor)
        return variances[:, 0] if spherical else variances

    def _matrices(self, X: Matrix, codes: Codes, weight: Weights | None, measured: Scatter) -> Floats:
        if self.covariance == "factor":
            made = [
                factor_analysis(one, self.factors, max_iter=self.max_iter, tol=self.tol)
                for one in self._invertible(X, codes, weight, measured, measured.covariance())
            ]
            self.n_iter_ = max(rounds for _, rounds in made)
            return np.stack([covariance for covariance, _ in made])
        if self.covariance == "shrunk":
            centred = X - measured.mean[codes]
            alone = np.zeros(len(codes), dtype=np.intp)
            one = Scatter(measured.total.sum(keepdims=True), np.zeros((1, X.shape[1])), measured.scatter[None])
            shrunk, self.shrinkage_ = ledoit_wolf(one, centred, alone, weight)
            found = self._invertible(X, codes, weight, measured, shrunk)
        elif self.covariance == "shared":
            found = self._invertible(X, codes, weight, measured, measured.covariance()[None])
        else:
            return self._invertible(X, codes, weight, measured, measured.covariance())
        alone_of_all: Floats = found[0]
        return alone_of_all

    def _invertible(
        self, X: Matrix, codes: Codes, weight: Weights | None, measured: Scatter, covariances: Floats
    ) -> Floats:
        """Shrink the matrices that cannot be inverted, and say so."""
        singular = [c for c, one in enumerate(covariances) if invertible(one) is None]
        if not singular:
            return covariances
        if X is None:
            raise NotImplementedError("a singular covariance is mended by a look at the rows")
        made = covariances.copy()
        if len(covariances) == 1:  # one matrix for all: rows around the means of their classes
            X, codes = X - measured.mean[codes], np.zeros(len(codes), dtype=np.intp)
        own = counts.scatter(X, codes, weight, len(covariances), own=True)
        shrunk, shares = ledoit_wolf(own, X, codes, weight, least=True)
        pooled = own.pooled() / max(own.total.sum(), 1.0)
        for c in singular:
            made[c], self.shrinkage_[c] = shrunk[c], shares[c]
            if invertible(made[c]) is None:  # constant columns, or a class of one row: nothing of its own to go by
                made[c] = made[c] + shares[c] * _spread(pooled) * np.eye(X.shape[1])
        what = "the covariance" if len(covariances) == 1 else f"the covariance of {len(singular)} classes"
        _announce(
            f"GaussianDiscriminant found {what} singular and mixed it with the identity by Ledoit and Wolf's share, "
            f"{self.shrinkage_[singular].max():.3g}; give more rows than columns, or a poorer covariance than "
            f"{self.covariance!r}."
        )
        return made

    def _prepare(self) -> None:
        """Set what densities are computed from: a factor for each matrix."""
        with np.errstate(divide="ignore"):
            self._log_phi = np.log(self.phi_)
        self._factors = None
        if self.sigma_.ndim == 3:
            self._factors = np.stack([np.linalg.cholesky(one) for one in self.sigma_])
        elif self.sigma_.ndim == 2 and self.covariance in _ONE_MATRIX:
            self._factors = np.linalg.cholesky(self.sigma_)[None]

    def log_densities(self, X: Any) -> Floats:
        """Give log P(x | c).

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class.
        """
        X = self.validate_rows(X)
        classes, columns = self.mu_.shape
        if self._factors is None:
            variances = np.broadcast_to(self.sigma_.reshape(classes, -1), (classes, columns))
            base = -0.5 * (columns * _LOG_2_PI + np.log(variances).sum(axis=1))
            scores = _core.gaussian_scores(matrices.rows(X), base, self.mu_, 1 / variances)
            return np.asarray(scores)
        made = np.empty((len(X), classes))
        for c, factor in enumerate(self._factors):
            mine = slice(None) if len(self._factors) == 1 else slice(c, c + 1)
            centre = self.mu_.mean(axis=0) if len(self._factors) == 1 else self.mu_[c]
            # In these coordinates the covariance is the identity.
            rows = linalg.solve_triangular(factor, (X - centre).T, lower=True, check_finite=False).T
            means = linalg.solve_triangular(factor, (self.mu_[mine] - centre).T, lower=True).T
            base = np.full(len(means), -0.5 * columns * _LOG_2_PI - np.log(np.diag(factor)).sum())
            means = np.ascontiguousarray(means)
            made[:, mine] = _core.gaussian_scores(matrices.rows(rows), base, means, np.ones_like(means))
        return made

    def as_logistic(self) -> tuple[Floats, Floats]:
        """Give the coefficients of the logistic regression that has the same posterior.

        Returns
        -------
        coef : array of shape (1, d) for two classes, (k, d) for more
            P(c | x) is the logistic function, or the softmax, of x coef' + intercept.
        intercept : array of shape (1,) or (k,)
            The intercepts.
        """
        check_is_fitted(self)
        if self.covariance not in _ONE_MATRIX:
            raise ValueError(
                f"as_logistic needs one covariance for all classes, found covariance={self.covariance!r}; fit with "
                "covariance='shared' or 'shrunk', whose posterior is linear."
            )
        assert self._factors is not None
        coef = linalg.cho_solve((self._factors[0], True), self.mu_.T).T
        intercept = self._log_phi - 0.5 * (self.mu_ * coef).sum(axis=1)
        if len(coef) == 2:
            return coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        return coef, intercept

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        made: Floats = self.log_densities(X) + self._log_phi
        return made

    def score_samples(self, X: Any) -> Floats:
        """Give log P(x), the density of rows whatever their class: low for novelties.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Log densities.
        """
        made: Floats = logsumexp(self._scores(X), axis=1)
        return made

    def decision_function(self, X: Any) -> Floats:
        """Give log P(x, c); for two classes, the log odds of the second.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) for two classes, (n, k) for more
            The scores.
        """
        joint = self._scores(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint


def _spread(covariance: Floats) -> float:
    """Give the mean variance of columns; 1 where there is none at all."""
    return float(np.trace(covariance)) / len(covariance) or 1.0


def _announce(sentence: str) -> None:
    warnings.warn(sentence, UserWarning, stacklevel=5)

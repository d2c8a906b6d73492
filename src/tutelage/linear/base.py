"""What all linear models share: scores, predictions, and a fit that comes with its proof.

A linear model is a vector of coefficients w for each score and an intercept b; a row x has the score x . w + b. What a
model does with the score is all that tells regressors and classifiers apart:

    regression        the score is the prediction
    two classes       the second class where the score is positive
    k classes         k scores, the class of the largest

Shapes are scikit-learn's: a regressor's ``coef_`` is (d,) for one target and (k, d) for k; a classifier's is (1, d) for
two classes and (k, d) for more. ``coef_`` and ``intercept_`` have the type of X, float32 or float64; sums are made in
float64 inside the core.

`LinearModel.keep` stores a `Solution` that way, together with its certificate, and warns where the certificate says
that the solver did not arrive. Cost: a prediction is one product with X.

>>> import numpy as np
>>> class Fixed(LinearRegressor):
...     def fit(self, X, y):
...         X, y, _ = self.validate(X, y)
...         self.coef_, self.intercept_ = np.ones(X.shape[1]), 1.0
...         return self
>>> Fixed().fit([[0.0, 1.0]], [0.0]).predict([[2.0, 3.0]])
array([6.])
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Classifier, Estimator, Floats, Matrix, Regressor, is_sparse
from tutelage.certificate import Certificate, warn_unless_trustworthy
from tutelage.parameters import fitted

if TYPE_CHECKING:
    from tutelage.risk import Solution


class LinearModel(Estimator):
    """Base of `LinearRegressor` and `LinearClassifier`."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    coef_: Floats = fitted("The coefficients: one a feature, in rows of one a score where there are several scores.")
    intercept_: Any = fitted("The intercept, or one a score; 0.0 where none was asked for.")
    certificate_: Certificate = fitted("How far from the optimum the coefficients can be, and what they cost.")

    def scores(self, X: Any) -> Floats:
        """Give the scores of rows: X coef' + intercept.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,), or (n, k) where ``coef_`` has rows
            The scores.
        """
        X = self.validate_rows(X)
        coef: Any = self.coef_
        products: Any = X @ (coef.T if coef.ndim == 2 else coef)
        if is_sparse(products):
            products = products.toarray()
        products += self.intercept_
        scores: Floats = products
        return scores

    def keep(
        self, coef: Any, intercept: Any, certificate: Certificate, X: Matrix, *, opening: str = "", stacklevel: int = 4
    ) -> None:
        """Set ``coef_``, ``intercept_`` and ``certificate_``; warn if the certificate gives reason to.

        Parameters
        ----------
        coef : array
            Already of the shape of ``coef_``.
        intercept : float or array
            Already of the shape of ``intercept_``; 0.0 without an intercept.
        certificate : Certificate
            The proof.
        X : matrix
            What was fitted: its type is that of the coefficients.
        opening : str, optional
            See `tutelage.certificate.warn_unless_trustworthy`.
        stacklevel : int, default=4
            Which caller a warning points at; 4 is the caller of the ``fit`` that calls this method.
        """
        if not (math.isfinite(certificate.primal) and np.isfinite(intercept).all() and np.isfinite(coef).all()):
            raise ValueError(
                f"The fit of {type(self).__name__} found no finite coefficients (the value of its risk is "
                f"{certificate.primal:g}): entries of X or y are so large that their squares overflow. Scale them down."
            )
        kind = X.dtype.type
        self.coef_ = np.asarray(coef).astype(kind, copy=False)
        # One number stays a NumPy scalar, so that sums with it keep the type of X.
        self.intercept_ = intercept.astype(kind, copy=False) if isinstance(intercept, np.ndarray) else kind(intercept)
        if not getattr(self, "fit_intercept", True):
            self.intercept_ = 0.0
        self.certificate_ = certificate
        warn_unless_trustworthy(certificate, opening=opening, stacklevel=stacklevel)

    def keep_solution(self, solution: Solution, X: Matrix, **words: Any) -> None:
        """Set the fitted attributes to those of a solution; a classifier's coefficients become rows."""
        coef, intercept = solution.coef, solution.intercept
        if isinstance(self, Classifier):
            coef, intercept = np.atleast_2d(coef), np.atleast_1d(intercept)
        self.keep(coef, intercept, solution.certificate, X, **{"stacklevel": 5, **words})


class LinearRegressor(LinearModel, Regressor):
    """A regressor whose prediction is its score."""

    def predict(self, X: Any) -> Floats:
        """Predict the targets of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,), or (n, k) for k targets
            The predictions.
        """
        return self.scores(X)


class LinearClassifier(LinearModel, Classifier):
    """A classifier whose prediction is the class of the largest score."""

    def decision_function(self, X: Any) -> Floats:
        """Give the scores of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) for two classes, (n, k) for more
            The scores; for two classes, those of the second.
        """
        scores = self.scores(X)
        return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Any:
        """Predict the classes of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            The labels.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


def probabilities(scores: Floats, *, multinomial: bool) -> Floats:
    """Turn scores into probabilities: softmax, or the logistic function of each score, made to sum to one.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        What ``decision_function`` gives.
    multinomial : bool
        Whether k scores belong to one model of all classes, rather than to a model for each class against the rest. One
        score a row is the logistic model of two classes either way.

    Returns
    -------
    array of shape (n, k)
        Rows sum to one.

    Examples
    --------
    >>> probabilities(np.array([0.0]), multinomial=True)
    array([[0.5, 0.5]])
    """
    if scores.ndim == 1:
        answer: Floats = np.empty((len(scores), 2), dtype=scores.dtype)
        expit(scores, out=answer[:, 1])
        expit(-scores, out=answer[:, 0])  # not 1 - p, which would round small probabilities to zero
        return answer
    if multinomial:
        joint: Floats = softmax(scores, axis=1)
        return joint
    each: Floats = expit(scores)
    totals = each.sum(axis=1, keepdims=True)
    each[totals[:, 0] == 0] = 1.0  # no class will have it: all alike
    totals[totals == 0] = scores.shape[1]
    each /= totals
    return each


class SparseCoefficients:
    """Mixin for models whose coefficients are mostly zero."""

    coef_: Any

    def sparsify(self) -> Self:
        """Store ``coef_`` as a CSR array, which saves memory where most of it is zero.

        Returns
        -------
        self
            The model.
        """
        check_is_fitted(self)
        if not is_sparse(self.coef_):
            self.coef_ = sparse.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Store ``coef_`` as an array again.

        Returns
        -------
        self
            The model.
        """
        check_is_fitted(self)
        if is_sparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

"""Least squares classification: regression on the labels, written as numbers.

Write the class of each row as a row of a matrix Y, and fit it by least squares:

    minimise over W, b:   (1 / 2S) sum_i s_i |Y_i - W phi(x_i) - b|^2  +  alpha / 2S |W|^2

Two classes are -1 and +1, and the prediction is the sign of the score. k classes are the unit vectors of k columns, and
the prediction is the class of the largest score. Or Y holds a code of your own, a row for each class, and the
prediction is the class whose row lies nearest to the scores. One factor of X' X serves every column: W = X^+ Y.

phi may be basis functions, chosen beforehand: polynomials, buckets, conjunctions (`tutelage.features`), or any function
of the rows; the model stays linear in W, and the boundary between classes need not be.

Cost: that of one least squares fit, n m^2 / 2 for m basis functions. It fails where it must not care and does: a row
far on the right side of the boundary has a large residual and pulls the boundary towards itself; and with three classes
in a line the middle one is never the largest (a quadratic basis mends it). The logistic loss does neither.

>>> import numpy as np
>>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
>>> y = ["out", "in", "in", "in", "out"]
>>> LeastSquaresClassifier().fit(X, y).score(X, y)
0.6
>>> LeastSquaresClassifier(basis=lambda X: np.hstack([X, X**2])).fit(X, y).score(X, y)
1.0
"""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - parameters' hints are read at run time
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from tutelage import losses, penalties
from tutelage.base import Accepts, Floats, Matrix
from tutelage.linear.base import LinearClassifier
from tutelage.parameters import Arrays, Has, NonNegative, Range, fitted, invalid, parameter
from tutelage.risk import Risk, minimise


class LeastSquaresClassifier(LinearClassifier):
    """Least squares against the classes written as numbers, in features of your choice.

    Examples
    --------
    >>> from tutelage import LeastSquaresClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "c"]
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> model.targets_
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    >>> model.predict([[0.1, 0.9]])
    array(['b'], dtype='<U1')
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    alpha: Annotated[NonNegative, "Strength of a squared penalty, as in Ridge.", Range(1e-6, 1e3, logarithmic=True)] = (
        parameter(default=0.0, kw_only=False)
    )
    targets: Annotated[
        Arrays | None, "A row of numbers for each class, in sorted order; None is signs, or unit vectors."
    ] = None
    basis: (
        Annotated[Any, Has("fit", "transform"), "Basis functions: a transformer, or a function of the rows."]
        | Callable[..., Any]
        | None
    ) = None
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    class_weight: Annotated[dict[Any, float] | str | None, "Weight of each class, 'balanced', or 1 for all."] = None

    targets_: Floats = fitted("The row of numbers of each class; one column for two classes.")
    basis_: Any = fitted("The fitted basis functions.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
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
        self.targets_ = self._targets(len(self.classes_))
        self.basis_ = clone(self.basis).fit(X) if hasattr(self.basis, "transform") else self.basis
        X = self._expand(X)
        Y = self.targets_[codes]
        scale = float(len(Y)) if weight is None else float(weight.sum())
        penalty = penalties.L2(self.alpha / scale) if self.alpha > 0 else penalties.NoPenalty()
        risk = Risk(losses.Squared(), penalty, self.fit_intercept)
        self.keep_solution(minimise(risk, X, Y if Y.shape[1] > 1 else Y[:, 0], weight), X)
        return self

    def _targets(self, classes: int) -> Floats:
        if self.targets is None:
            return np.array([[-1.0], [1.0]]) if classes == 2 else np.eye(classes)
        targets = np.asarray(self.targets, dtype=np.float64)
        targets = targets[:, None] if targets.ndim == 1 else targets
        if targets.ndim != 2 or len(targets) != classes or len(np.unique(targets, axis=0)) < classes:
            raise invalid(self, "targets", f"{classes} different rows of numbers, one for each class")
        return targets

    def _expand(self, X: Matrix) -> Matrix:
        """Apply the basis functions."""
        if self.basis_ is None:
            return X
        made = self.basis_.transform(X) if hasattr(self.basis_, "transform") else self.basis_(X)
        return made if hasattr(made, "tocsr") else np.asarray(made, dtype=X.dtype)

    def scores(self, X: Any) -> Floats:
        """Give W phi(x) + b for each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, columns of targets_)
            The scores.
        """
        check_is_fitted(self)
        made: Floats = self._expand(self.validate_rows(X)) @ self.coef_.T + self.intercept_
        return made

    def decision_function(self, X: Any) -> Floats:
        """Say how near the scores of rows are to each class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) for two classes, (n, k) for more
            Half the difference of the squared distances to the rows of ``targets_``; for k classes, t . z - |t|^2 / 2
            for each row t, which is largest for the nearest. With the default targets these are the scores (less 1/2).
        """
        near: Floats = self.scores(X) @ self.targets_.T - (self.targets_**2).sum(axis=1) / 2
        return (near[:, 1] - near[:, 0]) / 2 if len(self.classes_) == 2 else near

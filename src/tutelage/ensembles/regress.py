"""Forests that predict numbers: the mean of the trees' predictions.

>>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 1.0]
>>> ExtraTreesRegressor(20, random_state=0).fit(X, y).predict([[0.0], [3.0]])
array([0., 1.])
"""

from __future__ import annotations

import warnings
from typing import Annotated, Any, ClassVar, Literal, Self

from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Matrix, Regressor, is_sparse
from tutelage.ensembles.base import Forestlike, warn_of_a_column
from tutelage.parameters import fitted
from tutelage.trees.base import Answers
from tutelage.trees.regress import DecisionTreeRegressor, ExtraTreeRegressor, check_counts


class _RegressingForest(Forestlike, Regressor):
    """What both forests of regressors share."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, missing=True, many_outputs=True)

    criterion: Annotated[
        Literal["squared_error", "absolute_error", "friedman_mse", "poisson"],
        "What a question is to decrease: squared error around means (Friedman's makes the same choices), absolute "
        "error around medians, or half the Poisson deviance.",
    ] = "squared_error"
    max_features = 1.0

    oob_prediction_: Any = fitted("Mean prediction by the trees that have not drawn the row.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; NaN is a missing value.
        y : array of shape (n,) or (n, outputs)
            The targets.
        sample_weight : array of shape (n,), optional
            How likely each row is drawn; without `bootstrap`, how much it counts.
        """
        if is_sparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported; use y.toarray().")
        if self.criterion == "poisson":
            check_counts(y, "strictly positive")
        X, y, weight = self.validate(X, y, sample_weight)
        if self.criterion == "friedman_mse":
            warnings.warn(
                "criterion='friedman_mse' chooses the splits of 'squared_error', and scikit-learn deprecates the name; "
                "write 'squared_error'.",
                FutureWarning,
                stacklevel=2,
            )
        warn_of_a_column(y)
        y = y if y.ndim == 2 else y[:, None]
        self._grow(X, y, Answers(None, y, []), weight, self.criterion)
        return self

    def _score_out_of_bag(self, X: Matrix, y: Any) -> None:
        found = self._out_of_bag(X)[:, :, 0]
        self.oob_prediction_ = found[:, 0] if self.n_outputs_ == 1 else found
        self.oob_score_ = self._scorer(r2_score)(y[:, 0] if self.n_outputs_ == 1 else y, self.oob_prediction_)

    def predict(self, X: Any) -> Any:
        """Predict the mean of the trees' predictions.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        """
        check_is_fitted(self)
        found = self._sums(self.validate_rows(X))[0][:, :, 0] / len(self.estimators_)
        return found[:, 0] if self.n_outputs_ == 1 else found


class RandomForestRegressor(_RegressingForest):
    """Predict a number by the mean of trees that draw their rows.

    See Also
    --------
    ExtraTreesRegressor : Cuts are drawn too.
    DecisionTreeRegressor : One tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RandomForestRegressor(oob_score=True, random_state=0).fit(X, y).oob_score_ > 0.35
    True
    """

    _member = DecisionTreeRegressor


class ExtraTreesRegressor(_RegressingForest):
    """Predict a number by the mean of trees that draw one cut for each feature, and take the best of them.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ExtraTreesRegressor(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.3
    True
    """

    splitter = "random"
    bootstrap = False

    _member = ExtraTreeRegressor

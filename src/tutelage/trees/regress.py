"""Regression trees.

>>> model = DecisionTreeRegressor(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 1.0, 4.0, 6.0])
>>> model.predict([[1.2], [1.8]])
array([1., 5.])
"""

from __future__ import annotations

import warnings
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Regressor, is_sparse
from tutelage.trees.base import Answers, Treelike


class DecisionTreeRegressor(Treelike, Regressor):
    """Predict a number by questions about single features, each chosen to leave the most alike targets.

    See Also
    --------
    ExtraTreeRegressor : Questions drawn at random.
    tutelage.trees.export_text : The tree in words.

    Examples
    --------
    >>> model = DecisionTreeRegressor(criterion="absolute_error", max_depth=1)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 2.0, 3.0, 100.0]).predict([[3.0]])
    array([1.5])
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, missing=True, many_outputs=True)

    criterion: Annotated[
        Literal["squared_error", "friedman_mse", "absolute_error", "poisson"],
        "What a question is to decrease: squared error around means (Friedman's makes the same choices), absolute "
        "error around medians, or half the Poisson deviance.",
    ] = "squared_error"

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,  # noqa: ARG002 - examples are always checked
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; NaN is a missing value.
        y : array of shape (n,) or (n, outputs)
            The targets.
        sample_weight : array of shape (n,), optional
            How much each row counts; rows of weight 0 are left out.
        check_input : bool
            Not needed: examples are always checked.
        """
        if is_sparse(y):
            raise TypeError("The targets y must be dense, found a sparse matrix; use y.toarray().")
        if self.criterion == "poisson":
            check_counts(y)
        X, y, weight = self.validate(X, y, sample_weight)
        if self.criterion == "friedman_mse":
            warnings.warn(
                "criterion='friedman_mse' chooses the splits of 'squared_error', and scikit-learn deprecates the name; "
                "write 'squared_error'.",
                FutureWarning,
                stacklevel=2,
            )
        self._grow(X, Answers(None, y if y.ndim == 2 else y[:, None], []), weight, self.criterion)
        return self

    def predict(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002 - rows are always checked
        """Predict the mean target of each row's leaf; the median by absolute error.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        check_input : bool
            Not needed: rows are always checked.
        """
        check_is_fitted(self)
        found = self.tree_.predict(self.validate_rows(X))
        return found[:, 0] if self.n_outputs_ == 1 else found[:, :, 0]


def check_counts(y: Any, positive: str = "positive") -> None:
    """Refuse targets of which no Poisson distribution is the source; what are no numbers at all is left to others."""
    y = np.asarray(y)
    if y.dtype.kind not in "biuf":
        return
    if np.any(y < 0):
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson regression: the smallest is "
            f"{y.min()!s}; use criterion='squared_error'."
        )
    if np.sum(y) <= 0:
        raise ValueError(
            f"Sum of y is not {positive} which is necessary for Poisson regression; use criterion='squared_error'."
        )


class ExtraTreeRegressor(DecisionTreeRegressor):
    """Predict a number by questions drawn at random: of each feature one cut, and of these the best.

    Made for forests, whose trees should differ.

    Examples
    --------
    >>> ExtraTreeRegressor(random_state=0).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 2.0]).predict([[0.0]])
    array([1.])
    """

    splitter = "random"
    max_features = 1.0

"""The smallest learners there are, declared as any other, to test what all learners share."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from tutelage.base import Accepts, Classifier, Floats, Regressor, Transformer
from tutelage.labels import ClassWeight
from tutelage.parameters import Count, NonNegative, RandomState, Range, Share, Verbosity, fitted, parameter


class NearestMean(Classifier):
    """Give every row the class whose mean is nearest, with a handicap for rare classes."""

    accepts = Accepts(sparse=True)

    shrinkage: Annotated[Share, "How far the means move to their centre.", Range(0, 1)] = parameter(
        default=0.0, kw_only=False
    )
    metric: Annotated[Literal["euclidean", "manhattan"], "What near means."] = "euclidean"
    class_weight: Annotated[dict[Any, float] | Literal["balanced"] | None, "Weights of the classes."] = None
    random_state: Annotated[RandomState, "Not used."] = None
    verbose: Annotated[Verbosity, "Not used."] = 0

    means_: Floats = fitted("The mean of each class.")
    prior_: Floats = fitted("The share of each class.")
    spread_: float = fitted("The mean square distance of a row from the mean of its class.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y, weight = self.validate(X, y, sample_weight)
        share = np.zeros((len(self.classes_), X.shape[0]))
        share[y, np.arange(len(y))] = 1.0 if weight is None else weight
        totals = share.sum(axis=1, keepdims=True)
        self.prior_ = totals[:, 0] / totals.sum()
        means = safe_sparse_dot(share, X) / np.where(totals > 0, totals, 1)
        self.means_ = (1 - self.shrinkage) * means + self.shrinkage * means.mean(axis=0)
        distances = ((_dense(X) - self.means_[y]) ** 2).sum(axis=1)
        self.spread_ = max(float(np.average(distances, weights=weight)), 1e-12)
        return self

    def predict(self, X: Any) -> Any:
        difference = _dense(self.validate_rows(X))[:, None, :] - self.means_
        near = np.abs(difference).sum(axis=2) if self.metric == "manhattan" else (difference**2).sum(axis=2)
        with np.errstate(divide="ignore"):  # nothing is near a class of no weight
            return self.classes_[(near / self.spread_ - 2 * np.log(self.prior_)).argmin(axis=1)]


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


class MeanAndSlope(Regressor):
    """Least squares with a little penalty, by the normal equations."""

    accepts = Accepts(many_outputs=True)

    alpha: Annotated[NonNegative, "Strength of the penalty.", Range(1e-6, 1e3, logarithmic=True)] = parameter(
        default=1e-6, kw_only=False
    )

    coef_: Floats = fitted("The coefficients.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y, weight = self.validate(X, y, sample_weight)
        weight = np.ones(len(y)) if weight is None else weight
        self.centre_ = np.average(X, axis=0, weights=weight)
        self.mean_ = np.average(y, axis=0, weights=weight)
        Z = X - self.centre_
        gram = (Z.T * weight) @ Z + self.alpha * np.eye(Z.shape[1])
        self.coef_ = np.linalg.solve(gram, (Z.T * weight) @ (y - self.mean_))
        return self

    def predict(self, X: Any) -> Any:
        return (self.validate_rows(X) - self.centre_) @ self.coef_ + self.mean_


class Scale(Transformer):
    """Multiply by a number."""

    accepts = Accepts(sparse=True, missing=True)

    times: Annotated[Count, "The number."] = 2

    def fit(self, X: Any, y: Any = None) -> Self:
        self.validate(X)
        return self

    def transform(self, X: Any) -> Any:
        return self.validate_rows(X) * np.float32(self.times)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        from sklearn.utils.validation import _check_feature_names_in

        return _check_feature_names_in(self, input_features)

"""A classifier around another one, whose probabilities are calibrated.

The calibrator must learn from scores of rows that the classifier has not seen. k models are fitted, each without one
fold, and asked about it; one calibrator learns from all these scores; the classifier itself is fitted to all rows.
(Scores of the final classifier are those of a slightly better model than the k, which is seldom noticed.) With a fitted
classifier wrapped in scikit-learn's FrozenEstimator nothing is refitted, and X, y are rows to calibrate by.

With more than two classes temperature scaling treats all at once; the others calibrate each class against the rest and
divide by the sum.

Cost: k + 1 fits. It fails where folds lack a class; the error says so.

>>> import numpy as np
>>> from tutelage import GaussianNB
>>> random = np.random.default_rng(0)
>>> y = random.integers(0, 2, 600)
>>> X = np.repeat(random.normal(size=(600, 1)) + y[:, None], 6, axis=1)  # the same column six times: far too sure
>>> sure, calm = GaussianNB().fit(X, y), CalibratedClassifier(GaussianNB()).fit(X, y)
>>> from tutelage.evaluation import metric
>>> log_loss = metric("log_loss")
>>> log_loss(y, calm.predict_proba(X)) < 0.7 * log_loss(y, sure.predict_proba(X))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import clone

from tutelage.evaluation.calibrators import BetaCalibration, IsotonicCalibration, PlattScaling, TemperatureScaling
from tutelage.evaluation.meta import Response, WrappingClassifier, check_fitted, out_of_fold, responses
from tutelage.parameters import Splits, fitted

if TYPE_CHECKING:
    from tutelage.evaluation.metrics import Floats

CALIBRATORS: dict[str, Any] = {
    "platt": PlattScaling,
    "isotonic": IsotonicCalibration,
    "beta": BetaCalibration,
    "temperature": TemperatureScaling,
}


class CalibratedClassifier(WrappingClassifier):
    """A classifier with calibrated probabilities."""

    method: Annotated[Literal["platt", "isotonic", "beta", "temperature"], "How scores become probabilities."] = "platt"
    cv: Annotated[Splits, "Folds whose scores the calibrator learns from."] = 5

    calibrators_: list[Any] = fitted("The calibrator, or one for each class against the rest.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier and its calibrator.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows; rows to calibrate by, for a FrozenEstimator.
        y : array of shape (n,)
            Their labels.
        """
        X, codes = self._learn(X, y)
        labels = self.classes_[codes]
        scores = out_of_fold(self.estimator, X, labels, self.cv, response=self._response)
        if self.method == "temperature":
            self.calibrators_ = [TemperatureScaling().fit(scores, codes)]
        else:
            columns = [1] if len(self.classes_) == 2 else range(len(self.classes_))
            self.calibrators_ = [
                CALIBRATORS[self.method]().fit(self._column(scores, column), codes == column) for column in columns
            ]
        self._adopt(clone(self.estimator).fit(X, labels))
        return self

    @property
    def _response(self) -> Response:
        return "probability" if self.method == "beta" else "score"

    def _column(self, scores: Floats, column: int) -> Floats:
        """Give what a calibrator of one class looks at."""
        if self.method == "beta":
            return scores[:, column]
        if len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores[:, column]

    def predict_proba(self, X: Any) -> Floats:
        """Give calibrated probabilities.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class.
        """
        scores = responses(check_fitted(self), X, self._response)
        if self.method == "temperature":
            return np.asarray(self.calibrators_[0].predict(scores))
        if len(self.classes_) == 2:
            positive = self.calibrators_[0].predict(self._column(scores, 1))
            return np.column_stack([1 - positive, positive])
        P = np.column_stack([one.predict(self._column(scores, c)) for c, one in enumerate(self.calibrators_)])
        total = P.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, P / np.where(total > 0, total, 1.0), 1 / P.shape[1]))

    def predict(self, X: Any) -> Any:
        """Give the most probable class of each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

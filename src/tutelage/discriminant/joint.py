"""Predictions from log P(x, c): what all generative classifiers do once they have it.

    class         the c with the largest log P(x, c)
    log P(c | x)  log P(x, c) - log sum_b P(x, b)

A constant of the row, the same for every class, may be left out of the scores. Cost: a few operations for each row and
class. It fails where a row is impossible in every class, unless the scores say what to think of it.

>>> import numpy as np
>>> class Fixed(JointScores):
...     classes_ = np.array(["a", "b"])
...     def _scores(self, X):
...         return np.log(X)
>>> Fixed().predict_proba(np.array([[0.1, 0.3]])).round(6)
array([[0.25, 0.75]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax

if TYPE_CHECKING:
    from tutelage.base import Floats


class JointScores:
    """Mixin for classifiers that know log P(x, c) of rows, up to a constant of the row."""

    classes_: Any

    def _scores(self, X: Any) -> Floats:
        """Give log P(x, c), a column for each class; raises an error before the fit."""
        raise NotImplementedError

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
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Give log P(c | x).

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class.
        """
        made: Floats = log_softmax(self._scores(X), axis=1)
        return made

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
        made: Floats = np.exp(self.predict_log_proba(X))
        return made

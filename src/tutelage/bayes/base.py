"""What all naive Bayes learners share: a joint log density for each class, and counts that can be added and taken away.

By Bayes' rule the probability of class c, given the row x, is

    P(c | x) = P(x, c) / sum over b of P(x, b),     log P(x, c) = log P(c) + sum_j log P(x_j | c),

where the sum over columns is the naive assumption: inside a class, columns are independent. Products of hundreds of
probabilities underflow; sums of logarithms do not, and the division becomes a log-sum-exp.

A learner is four words: what it counts (`_count`), what it makes of the counts (`_estimate`), the joint log density
(`_joint`), and its parameters. `fit`, `partial_fit` and `forget` follow: they set, add and subtract ``counts_``.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Classifier, Floats, Matrix
from tutelage.parameters import fitted

if TYPE_CHECKING:
    from tutelage.labels import Codes, Weights


class CountingClassifier(Classifier):
    """Base of classifiers whose fit is a function of totals over the rows of each class."""

    accepts: ClassVar[Accepts] = Accepts(one_class=True)

    counts_: Any = fitted(
        "The totals over the rows of each class: an object of `tutelage.counts`, to add and subtract."
    )

    @abstractmethod
    def _count(self, X: Matrix, codes: Codes, weight: Weights | None) -> Any:
        """Count the rows of each class: an object that adds and subtracts."""

    @abstractmethod
    def _estimate(self) -> None:
        """Set the other fitted attributes from ``counts_``."""

    @abstractmethod
    def _joint(self, X: Matrix) -> Floats:
        """Give log P(x, c) of checked rows, a column for each class."""

    def _begin(self, X: Matrix, codes: Codes, weight: Weights | None) -> None:
        """Do what only the first rows decide."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows, and from nothing before.

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
        data = self.validate(X, y, sample_weight)
        self._begin(*data)
        self.counts_ = self._count(*data)
        self._estimate()
        return self

    def _measure_rows(self, X: Matrix, codes: Codes, weight: Weights | None) -> tuple[Any, ...]:
        """Count rows into objects that add up, and change nothing."""
        return (self._count(X, codes, weight),)

    def _unheard_of(self, X: Matrix) -> bool:  # noqa: ARG002
        """Whether rows hold something that `_joint` refuses because the fit did not meet it."""
        return False

    def _accept_counts(self, counted: Any) -> None:
        """Become the model of what was counted."""
        self.counts_ = counted
        self._estimate()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The classes.
        classes : array of shape (k,), optional
            All classes there are; must be given in the first call.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The model, which knows the rows of all calls.
        """
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if not first and classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}; "
                "leave it out, or start a new model."
            )
        data = self.validate(X, y, sample_weight, classes=classes if first else None, reset=first)
        if first:
            self._begin(*data)
        counts = self._count(*data)
        self.counts_ = counts if first else self.counts_ + counts
        self._estimate()
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take back what was learned from rows: the inverse of `partial_fit`.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Rows given before.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,) or number, optional
            The weights they were given with.

        Returns
        -------
        self
            The model, as if it had never met these rows.
        """
        check_is_fitted(self)
        data = self.validate(X, y, sample_weight, reset=False)
        self.counts_ = self.counts_ - self._count(*data)
        self._estimate()
        return self

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Give log P(x, c), the logarithm of the density of row and class together.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class, in the order of ``classes_``.
        """
        return self._joint(self.validate_rows(X))

    def predict(self, X: Any) -> Any:
        """Give the most probable class of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Labels; of classes equally probable, the first.
        """
        joint = self.predict_joint_log_proba(X)
        return self.classes_[joint.argmax(axis=1)]

    def predict_log_proba(self, X: Any) -> Floats:
        """Give log P(c | x).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class.
        """
        joint = self.predict_joint_log_proba(X)
        made: Floats = joint - logsumexp(joint, axis=1, keepdims=True).astype(joint.dtype, copy=False)
        return made

    def predict_proba(self, X: Any) -> Floats:
        """Give P(c | x).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            Rows sum to one.
        """
        made: Floats = np.exp(self.predict_log_proba(X))
        return made


def logarithm(x: Any) -> Any:
    """Take the logarithm; that of zero is -infinity, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(x)

"""Naive Bayes on counts: what a class says is how often a thing occurs in it.

Two models of a text with the words 1 ... d, where x_j is how often word j occurs:

    multivariate Bernoulli   each word is there or not: P(x | c) = prod_j p_cj^[x_j > 0] (1 - p_cj)^[x_j = 0],
                             p_cj = (texts of c with word j + a) / (texts of c + 2 a)
    multinomial              each place of the text draws a word: P(x | c) = const * prod_j p_cj^x_j,
                             p_cj = (occurrences of j in c + a) / (all occurrences in c + a d)

The first counts absence as evidence, the second counts repetition. The a is Laplace's (a = 1) or Lidstone's smoothing.
Without it a word that never occurred in any class gives P(x) = 0 and the posterior 0/0: a team that lost its last four
games would never win again. With a = 1 it wins the next with probability (0 + 1) / (4 + 2) = 1/6.

The complement model estimates p_cj from all classes but c, which helps where classes differ much in size. The
categorical model has in each column one of several categories, each with a probability of its own.

Cost: one reading of the stored entries of X to fit; a prediction is one product with X. It fails as all naive Bayes
does: words come in groups, so probabilities are far too sure, though their order is often right.

>>> import numpy as np
>>> lost = BernoulliNB().fit(np.zeros((4, 1)), ["season"] * 4)
>>> print(f"{np.exp(lost.feature_log_prob_[0, 0]):.6f}")
0.166667
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from tutelage import _core, matrices
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.bayes.base import CountingClassifier, logarithm
from tutelage.counts import Sums, sums
from tutelage.parameters import Arrays, NonNegative, Range, fitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes, Weights

SMALLEST_ALPHA = 1e-10


class DiscreteNB(CountingClassifier):
    """Base of naive Bayes on counts: smoothing and class probabilities."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, one_class=True)

    alpha: Annotated[
        NonNegative | Arrays,
        "Smoothing: how often everything is taken to have occurred beforehand; one number, or one a column.",
        Range(1e-3, 10.0, logarithmic=True),
    ] = 1.0
    force_alpha: Annotated[bool, "Whether an alpha below 1e-10 is taken as it is, rather than as 1e-10."] = True
    fit_prior: Annotated[bool, "Whether classes have the probabilities of their shares, or all the same."] = True
    class_prior: Annotated[Arrays | None, "Probabilities of the classes, whatever their shares are."] = None

    counts_: Any = fitted("What was counted: totals that add and subtract.")
    class_count_: Floats = fitted("The weight of the rows of each class.")
    class_log_prior_: Floats = fitted("The logarithm of the probability of each class.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _estimate(self) -> None:
        self.class_count_ = self.counts_.total
        self._estimate_features(self._check_alpha())
        classes = len(self.classes_)
        if self.class_prior is not None:
            prior = np.asarray(self.class_prior, dtype=np.float64)
            if len(prior) != classes:
                raise ValueError(
                    f"Number of priors must match number of classes: class_prior has {len(prior)} for {classes}."
                )
            self.class_log_prior_ = logarithm(prior)
        elif self.fit_prior:
            self.class_log_prior_ = logarithm(self.class_count_) - np.log(self.class_count_.sum())
        else:
            self.class_log_prior_ = np.full(classes, -np.log(classes))

    def _estimate_features(self, alpha: Any) -> None:
        """Set the attributes of columns."""
        raise NotImplementedError

    def _check_alpha(self) -> Any:
        """Give the smoothing: a number, or one for each column."""
        alpha: Any = self.alpha if isinstance(self.alpha, Real) else np.asarray(self.alpha, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            columns: int = vars(self)["n_features_in_"]
            if alpha.shape != (columns,):
                raise ValueError(
                    "When alpha is an array, it should contains `n_features`. Got "
                    f"{alpha.shape[0]} elements instead of {columns}."
                )
            if alpha.min() < 0:
                raise ValueError(f"All values in alpha must be greater than 0. Found {alpha.min():g}.")
        if np.min(alpha) < SMALLEST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {SMALLEST_ALPHA:.1e}. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                UserWarning,
                stacklevel=4,
            )
            return np.maximum(alpha, SMALLEST_ALPHA)
        return alpha

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, from counts that add up.

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
        from tutelage.bayes.fold_paths import counted_fold_paths

        return counted_fold_paths(self, X, y, folds, grid, sample_weight)


class _FeatureCountingNB(DiscreteNB):
    """Base of those that count a number for each column."""

    counts_: Sums = fitted("Weights of classes and sums of columns: they add and subtract.")
    feature_count_: Floats = fitted("The sum of each column in each class.")
    feature_log_prob_: Floats = fitted("The logarithm of the probability of each column in each class.")

    def _count(self, X: Matrix, codes: Codes, weight: Weights | None) -> Sums:
        return sums(X, codes, weight, len(self.classes_))

    def _product(self, X: Matrix, table: Floats) -> Floats:
        """Multiply rows with a table of classes: X table'."""
        finite, rows = np.isfinite(table), matrices.rows(X)
        if finite.all():
            return np.asarray(_core.class_products(rows, np.ascontiguousarray(table)))
        # Without smoothing: zero times -infinity is zero, since what cannot occur did not.
        made: Floats = np.asarray(_core.class_products(rows, np.where(finite, table, 0.0)))
        made[np.asarray(_core.class_products(rows, (~finite).astype(np.float64))) > 0] = -np.inf
        return made


class MultinomialNB(_FeatureCountingNB):
    """Naive Bayes in which a row is how often each of d things occurs, as words in a text.

    Examples
    --------
    >>> from tutelage import MultinomialNB
    >>> model = MultinomialNB().fit([[3, 0], [2, 1], [0, 4]], ["ham", "ham", "spam"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['ham', 'spam'], dtype='<U4')
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, one_class=True, non_negative=True)

    def _estimate_features(self, alpha: Any) -> None:
        self.feature_count_ = self.counts_.sums
        smoothed = self.feature_count_ + alpha
        whole = logarithm(smoothed.sum(axis=1, keepdims=True))
        with np.errstate(divide="ignore"):
            self.feature_log_prob_ = np.log(smoothed, out=smoothed)  # in place: tables of words are large
        self.feature_log_prob_ -= whole

    def _joint(self, X: Matrix) -> Floats:
        return self._product(X, self.feature_log_prob_) + self.class_log_prior_


class ComplementNB(_FeatureCountingNB):
    """Multinomial naive Bayes whose probabilities come from the rows of all other classes.

    Examples
    --------
    >>> from tutelage import ComplementNB
    >>> model = ComplementNB().fit([[3, 0], [2, 1], [0, 4]], ["ham", "ham", "spam"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['ham', 'spam'], dtype='<U4')
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, one_class=True, non_negative=True)

    norm: Annotated[bool, "Whether the weights of each class are divided by their sum."] = False

    feature_all_: Floats = fitted("The sum of each column over all classes.")
    feature_log_prob_: Floats = fitted("The weight of each column in each class: what it says for the class.")

    def _estimate_features(self, alpha: Any) -> None:
        self.feature_count_ = self.counts_.sums
        self.feature_all_ = self.feature_count_.sum(axis=0)
        others = self.feature_all_ + alpha - self.feature_count_
        logged = logarithm(others / others.sum(axis=1, keepdims=True))
        self.feature_log_prob_ = logged / logged.sum(axis=1, keepdims=True) if self.norm else -logged

    def _joint(self, X: Matrix) -> Floats:
        joint = self._product(X, self.feature_log_prob_)
        return joint + self.class_log_prior_ if len(self.classes_) == 1 else joint


class BernoulliNB(_FeatureCountingNB):
    """Naive Bayes in which each column is there or not.

    Examples
    --------
    >>> from tutelage import BernoulliNB
    >>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['ham', 'spam'], dtype='<U4')
    """

    # Stands after force_alpha in scikit-learn's signature; all are keywords.
    binarize: Annotated[
        NonNegative | None, "A column is there where it is above this; None: X holds zeros and ones already."
    ] = 0.0

    def _count(self, X: Matrix, codes: Codes, weight: Weights | None) -> Sums:
        return sums(X, codes, weight, len(self.classes_), self.binarize)

    def _estimate_features(self, alpha: Any) -> None:
        self.feature_count_ = self.counts_.sums
        smoothed = self.feature_count_ + alpha
        whole = np.reshape(self.class_count_, (-1, 1)) + 2 * np.asarray(alpha)
        self.feature_log_prob_ = logarithm(smoothed) - logarithm(whole)
        self._smoothing = alpha

    def _log_absent(self) -> Floats:
        """Give log(1 - p); not from log p, which has no digit where p is near one."""
        whole = np.reshape(self.class_count_, (-1, 1)) + 2 * np.asarray(self._smoothing)
        absent = np.maximum(whole - self.feature_count_ - self._smoothing, 0.0)
        made: Floats = logarithm(absent) - logarithm(whole)
        return made

    def _joint(self, X: Matrix) -> Floats:
        if self.binarize is not None:
            X = _above(X, self.binarize)
        there, absent = self.feature_log_prob_, self._log_absent()
        if np.isfinite(there).all() and np.isfinite(absent).all():
            joint: Floats = self._product(X, there - absent) + absent.sum(axis=1)
        else:
            joint = self._product(X, there) + self._sum_absent(X, absent)
        joint += self.class_log_prior_
        return joint

    def _sum_absent(self, X: Matrix, absent: Floats) -> Floats:
        """Add up the log probabilities of what is not there, some of them -infinity."""
        finite = np.isfinite(absent)
        known = np.where(finite, absent, 0.0)
        made: Floats = known.sum(axis=1) - self._product(X, known)
        never = (~finite).astype(np.float64)  # always there in the class
        made[never.sum(axis=1) - self._product(X, never) > 0.5] = -np.inf
        return made


def _above(X: Matrix, threshold: float) -> Matrix:
    """Give 1 where entries are above a threshold, in a copy."""
    if not is_sparse(X):
        dense: Floats = (np.asarray(X) > threshold).astype(X.dtype)
        return dense
    made: Matrix = X.copy()
    made.data = (X.data > threshold).astype(X.dtype)
    return made

"""Gaussian naive Bayes: in each class every column is a normal distribution of its own.

    log P(x, c) = log P(c) - 1/2 sum_j [ log(2 pi v_cj) + (x_j - m_cj)^2 / v_cj ]

with the mean m_cj and the variance v_cj of column j among the rows of class c (divided by their number: the maximum
likelihood estimate). To every variance is added a share of the largest variance of all columns, so that a column that
is constant in a class does not divide by zero.

Cost: one reading of X for means and squares together; a prediction costs k d. It fails where columns are not
bell-shaped (take logarithms, or `tutelage.NaiveBayes` with buckets) and where they repeat each other: each repetition
is counted as new evidence, and probabilities go to 0 and 1.

>>> import numpy as np
>>> X = np.array([[-1.0], [-3.0], [1.0], [3.0]])
>>> model = GaussianNB().fit(X, ["left", "left", "right", "right"])
>>> model.theta_.ravel(), model.var_.ravel().round(6)
(array([-2.,  2.]), array([1., 1.]))
>>> bool(np.isclose(model.predict_proba([[0.5]])[0, 1], 1 / (1 + np.exp(-2 * 2 * 0.5))))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tutelage import _core, matrices
from tutelage.base import Accepts, Floats, Matrix
from tutelage.bayes.base import CountingClassifier, logarithm
from tutelage.counts import Moments, moments
from tutelage.parameters import Arrays, NonNegative, Range, fitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes, Weights


class GaussianNB(CountingClassifier):
    """Naive Bayes with a normal distribution for each column in each class.

    Examples
    --------
    >>> from tutelage import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> model.predict([[3.0], [7.0]])
    array([0, 1])
    >>> model.forget([[9.0]], [1]).theta_.ravel()
    array([1.5, 8. ])
    """

    accepts: ClassVar[Accepts] = Accepts(one_class=True)

    priors: Annotated[Arrays | None, "Probabilities of the classes; None is their shares of the rows."] = None
    var_smoothing: Annotated[
        NonNegative,
        "Share of the largest variance of all columns that is added to every variance.",
        Range(1e-12, 1.0, logarithmic=True),
    ] = 1e-9

    counts_: Moments = fitted("Weights, means and squared deviations, in float64: they add and subtract.")
    class_count_: Floats = fitted("The weight of the rows of each class.")
    class_prior_: Floats = fitted("The probability of each class.")
    epsilon_: float = fitted("What is added to each variance.")
    theta_: Floats = fitted("The mean of each column in each class.")
    var_: Floats = fitted("The variance of each column in each class, with epsilon_ in it.")

    def _begin(self, X: Matrix, codes: Codes, weight: Weights | None) -> None:  # noqa: ARG002
        self._kind = X.dtype.type
        self._spread = Moments(*np.zeros((3, 1, X.shape[1])))
        if self.priors is not None:
            self._check_priors(np.asarray(self.priors, dtype=np.float64))

    def _check_priors(self, priors: Floats) -> None:
        if len(priors) != len(self.classes_):
            raise ValueError(
                f"Number of priors must match number of classes: found {len(priors)} for {len(self.classes_)} classes."
            )
        if not np.isclose(priors.sum(), 1.0):
            raise ValueError(f"The sum of the priors should be 1, found {priors.sum():g}; divide them by it.")
        if np.any(priors < 0):
            raise ValueError(f"Priors must be non-negative, found {priors.min():g}.")

    def _measure(self, X: Matrix, codes: Codes, weight: Weights | None) -> tuple[Moments, Moments]:
        """Measure rows by class, and all of them as they are: the smoothing is a share of their spread unweighted."""
        counted = moments(X, codes, weight, len(self.classes_))
        return counted, counted.pooled() if weight is None else moments(X, np.zeros(len(codes), np.intp), None, 1)

    def _count(self, X: Matrix, codes: Codes, weight: Weights | None) -> Moments:
        counted, batch = self._measure(X, codes, weight)
        self._spread = self._spread + batch
        self.epsilon_ = self.var_smoothing * float(batch.variance().max())
        return counted

    def _measure_rows(self, X: Matrix, codes: Codes, weight: Weights | None) -> tuple[Any, ...]:
        return self._measure(X, codes, weight)

    def _accept_counts(self, counted: Moments, spread: Moments) -> None:  # type: ignore[override]
        if self.priors is not None:
            self._check_priors(np.asarray(self.priors, dtype=np.float64))
        self.counts_, self._spread = counted, spread
        self.epsilon_ = self.var_smoothing * float(spread.variance().max())
        self._estimate()

    def _estimate(self) -> None:
        kind = self._kind
        weights = self.counts_.total[:, 0]
        self.class_count_ = weights.astype(kind)
        prior = weights / weights.sum() if self.priors is None else np.array(self.priors, dtype=np.float64)
        self.class_prior_ = prior.astype(kind)
        self.theta_ = self.counts_.mean.astype(kind)
        self.var_ = (self.counts_.variance() + self.epsilon_).astype(kind)

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

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take back what was learned from rows: the inverse of `partial_fit`.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            Rows given before.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,) or number, optional
            The weights they were given with.

        Returns
        -------
        self
            The model, as if it had been fitted to the other rows alone.
        """
        check_is_fitted(self)
        data = self.validate(X, y, sample_weight, reset=False)
        counted, batch = self._measure(*data)
        self.counts_, self._spread = self.counts_ - counted, self._spread - batch
        self.epsilon_ = self.var_smoothing * float(self._spread.variance().max())
        self._estimate()
        return self

    def _joint(self, X: Matrix) -> Floats:
        # A variance of zero (columns all constant, no smoothing) is a point: any other value is impossible there.
        variance = np.maximum(self.var_.astype(np.float64), np.finfo(np.float64).tiny)
        base = logarithm(self.class_prior_.astype(np.float64)) - np.log(2 * np.pi * variance).sum(axis=1) / 2
        scores = _core.gaussian_scores(matrices.rows(X), base, self.theta_.astype(np.float64), 1 / variance)
        made: Floats = np.asarray(scores).astype(X.dtype, copy=False)
        return made

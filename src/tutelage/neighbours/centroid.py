"""The nearest centroid: every class is its mean (its median, under Manhattan's metric), and the nearest one wins.

With equal priors this is the rule argmin_c |x - mu_c|; otherwise that of Gaussian classes with one diagonal covariance,

    score_c(x) = - sum_j ((x_j - mu_cj) / s_j)^2 + 2 log prior_c,      s_j: the standard deviation within classes

Shrinking moves each mean towards the mean of all (Tibshirani, Hastie, Narasimhan and Chu 2002): with m_c =
sqrt(1/n_c - 1/n) and s_0 the median of s, the deviation

    d_cj = (mu_cj - mu_j) / (m_c (s_j + s_0))

loses the threshold from its magnitude; a column whose deviations are all zero no longer counts. Cost: one reading of X.

>>> NearestCentroid().fit([[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1]).predict([[0.5]])
array([1])
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit, log_softmax, softmax

from tutelage.base import Accepts, Classifier, is_sparse
from tutelage.neighbours.base import only_if
from tutelage.neighbours.index import Index
from tutelage.parameters import Arrays, Interval, fitted, parameter

if TYPE_CHECKING:
    from tutelage.base import Floats


def _is_euclidean(model: Any) -> bool:
    return bool(model.metric == "euclidean")


class NearestCentroid(Classifier):
    """Classify by the nearest mean or median of a class, shrunken or not.

    Examples
    --------
    >>> model = NearestCentroid().fit([[-1.0, -1.0], [-2.0, -1.5], [1.0, 1.0], [2.0, 1.5]], [1, 1, 2, 2])
    >>> model.predict([[-0.8, -1.0]])
    array([1])
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    metric: Annotated[Literal["euclidean", "manhattan"], "Means and squares, or medians and magnitudes."] = parameter(
        default="euclidean", kw_only=False
    )
    shrink_threshold: Annotated[float | None, Interval(0, closed="neither"), "How far the means are shrunken."] = None
    priors: Annotated[Literal["empirical", "uniform"] | Arrays, "The probabilities of the classes."] = "uniform"

    centroids_: Any = fitted("The centre of each class, in rows.")
    deviations_: Any = fitted("How far each centre is from that of all, in standard errors, shrunken.")
    within_class_std_dev_: Any = fitted("The standard deviation of each column within classes.")
    class_prior_: Any = fitted("The probability of each class.")

    def fit(self, X: Any, y: Any) -> Self:
        """Find the centres.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The rows.
        y : array of shape (n,)
            The labels.
        """
        X, codes, _ = self.validate(X, y)
        n, k = len(codes), len(self.classes_)
        self.class_prior_ = self._priors(codes)
        rows = X.tocsr().astype(np.float64) if is_sparse(X) else X.astype(np.float64)
        spread = np.ptp(rows, axis=0) if not is_sparse(X) else (rows.max(axis=0) - rows.min(axis=0)).toarray().ravel()
        if np.all(spread == 0):
            raise ValueError("All features have zero variance. Division by zero. Give X a column that is not constant.")
        member = sparse.csr_array((np.ones(n), (codes, np.arange(n))), shape=(k, n))
        counts = np.bincount(codes, minlength=k).astype(float)
        means = _dense(member @ rows) / counts[:, None]
        centres = means if self.metric == "euclidean" else _medians(rows, codes, k)
        # sum (x - c)^2 over a class is what its own mean leaves, and the squared step from the mean to c.
        overall = _dense(rows.mean(axis=0)).ravel()
        if is_sparse(X):
            left = _dense(member @ rows.multiply(rows)) - counts[:, None] * means**2
        else:
            left = member @ (rows - means[codes]) ** 2
        squares = np.maximum(left, 0) + counts[:, None] * (means - centres) ** 2
        self.within_class_std_dev_ = np.sqrt(squares.sum(axis=0) / (n - k)) if n > k else np.zeros(X.shape[1])
        if np.any(self.within_class_std_dev_ == 0):
            warnings.warn(
                "self.within_class_std_dev_ has at least 1 zero standard deviation. Inputs within the same classes "
                "for at "
                "least 1 feature are identical.",
                UserWarning,
                stacklevel=2,
            )
        self._shrink(centres, overall, np.sqrt(1 / counts - 1 / n))
        return self

    def _shrink(self, centres: Floats, overall: Floats, m: Floats) -> None:
        unit = m[:, None] * (self.within_class_std_dev_ + np.median(self.within_class_std_dev_))
        with np.errstate(divide="ignore", invalid="ignore"):
            deviations = (centres - overall) / unit
        self.centroids_ = centres
        if self.shrink_threshold:
            deviations = np.sign(deviations) * np.maximum(np.abs(deviations) - self.shrink_threshold, 0)
            self.centroids_ = overall + unit * deviations
        self.deviations_ = deviations

    def _priors(self, codes: Any) -> Floats:
        k = len(self.classes_)
        if isinstance(self.priors, str):
            share = np.full(k, 1 / k) if self.priors == "uniform" else np.bincount(codes, minlength=k) / len(codes)
            return np.asarray(share, dtype=float)
        given = np.asarray(self.priors, dtype=float)
        if given.shape != (k,):
            raise ValueError(f"priors must have one number for each of the {k} classes, found shape {given.shape}.")
        if np.any(given < 0):
            raise ValueError(f"priors must be non-negative, found {given.min()!s}.")
        if not np.isclose(given.sum(), 1.0):
            warnings.warn(
                "The priors do not sum to 1. Normalizing such that it sums to one.", UserWarning, stacklevel=3
            )
            given = given / given.sum()
        return given

    def predict(self, X: Any) -> Any:
        """Predict the class of the nearest centre, or of the largest score where priors differ.

        Parameters
        ----------
        X : array or sparse matrix of shape (queries, d)
            The queries.
        """
        X = self.validate_rows(X)
        if np.allclose(self.class_prior_, 1 / len(self.classes_)):
            rows = X.toarray() if is_sparse(X) else X
            return self.classes_[Index(self.centroids_, self.metric, {}, "brute").nearest(rows, 1)[1][:, 0]]
        return self.classes_[self._scores(X).argmax(axis=1)]

    def _scores(self, X: Any) -> Floats:
        scale = np.where(self.within_class_std_dev_ == 0, 1.0, self.within_class_std_dev_)
        rows = (X.toarray() if is_sparse(X) else np.asarray(X, dtype=np.float64)) / scale
        centres = self.centroids_ / scale
        distances, order = Index(centres, self.metric, {}, "brute").nearest(rows, len(centres))
        found = np.empty_like(distances)
        np.put_along_axis(found, order, distances, axis=1)
        with np.errstate(divide="ignore"):
            return np.asarray(2 * np.log(self.class_prior_) - found**2)

    @only_if(_is_euclidean)
    def decision_function(self, X: Any) -> Floats:
        """Give the scores of the classes; for two, the difference of the second and the first.

        Parameters
        ----------
        X : array or sparse matrix of shape (queries, d)
            The queries.
        """
        scores = self._scores(self.validate_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @only_if(_is_euclidean)
    def predict_proba(self, X: Any) -> Floats:
        """Give the probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (queries, d)
            The queries.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([expit(-scores), expit(scores)], axis=1)
        return np.asarray(softmax(scores, axis=1))

    @only_if(_is_euclidean)
    def predict_log_proba(self, X: Any) -> Floats:
        """Give the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (queries, d)
            The queries.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
        return np.asarray(log_softmax(scores, axis=1))


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=float)


def _medians(rows: Any, codes: Any, classes: int) -> Floats:
    """Medians of the columns of each class; one class of sparse rows at a time is spread out."""
    return np.stack([np.median(_dense(rows[np.flatnonzero(codes == c)]), axis=0) for c in range(classes)])

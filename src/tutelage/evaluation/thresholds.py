"""Where to cut: thresholds for any metric, weights of many classes, and decisions by what mistakes cost.

Probabilities are one thing, decisions another. If calling a row j that is i costs C[i, j], the cheapest decision is

    argmin over j of  sum_i P(i | x) C[i, j]

and needs no tuning, only calibrated probabilities (`CostClassifier`). A metric of all rows together, such as F1, has no
cost for each row; its cut is found on scores of held-out rows (`ThresholdClassifier`):

    two classes    sort by score; every place to cut is a confusion matrix, one row away from the last: all of them in
                   O(n log n)
    k classes      decide for argmax of  score_j + offset_j;  going round the classes, one offset at a time is set to
                   its best value, found as above among the n places at which a row would change sides, until none gains

Cost: k fits for the held-out scores, then sorting. It fails where rows of a class are few: the best cut on forty rows
is mostly luck, and its metric there is no estimate of the metric on new rows.

>>> import numpy as np
>>> cut = best_threshold(np.array([0, 0, 1, 0, 1, 1]), np.array([0.1, 0.2, 0.3, 0.4, 0.7, 0.8]), "f1")
>>> round(cut.threshold, 2), round(cut.value, 3)
(0.25, 0.857)
>>> cheapest(np.array([[0.8, 0.2]]), [[0, 1], [10, 0]])
array([1])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from tutelage.evaluation.meta import Response, WrappingClassifier, check_fitted, log_of, out_of_fold, responses
from tutelage.evaluation.metrics import METRICS, Metric, metric
from tutelage.labels import encode
from tutelage.parameters import Arrays, Splits, fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.evaluation.metrics import Floats

MOST_CUTS = 2000  # tried for an offset of many classes; more are thinned out evenly
ROUNDS = 20


class Threshold(NamedTuple):
    """A place to cut.

    Attributes
    ----------
    threshold : float
        Rows with at least this score are called positive.
    value : float
        The metric there, on the rows it was chosen on: too favourable for new ones.
    """

    threshold: float
    value: float


def _judge(chosen: str | Metric | None, costs: Any, k: int) -> Callable[[Floats], Floats]:
    """Give a function of confusion matrices that is larger for better ones."""
    if costs is not None:
        table = check_costs(costs, k)
        return lambda tables: -(tables * table).sum((-2, -1)) / tables.sum((-2, -1))
    picked = metric("balanced_accuracy" if chosen is None else chosen)
    labels = np.arange(k)
    sample: Any = picked.on(labels, labels, classes=labels) if picked.needs == "labels" else None
    if not hasattr(sample, "table"):
        names = [name for name, one in METRICS.items() if one.needs == "labels"]
        raise ValueError(
            f"metric must be one of a confusion matrix ({', '.join(names)}) to choose a threshold by, found "
            f"{picked.name!r}."
        )
    combine, sign = sample.combine, 1.0 if picked.greater_is_better else -1.0

    def judge(tables: Floats) -> Floats:
        values = sign * combine(tables)
        return np.where(np.isnan(values), -np.inf, values)

    return judge


def check_costs(costs: Any, k: int) -> Floats:
    """Check a matrix of costs: the truth down, the decision across."""
    table = np.asarray(costs, dtype=float)
    if table.shape != (k, k) or not np.all(np.isfinite(table)):
        raise ValueError(
            f"costs must be a finite matrix of shape ({k}, {k}), the truth down and the decision across, found the "
            f"shape "
            f"{table.shape}."
        )
    return table


def best_threshold(y: Any, scores: Any, chosen: str | Metric | None = None, *, costs: Any = None) -> Threshold:
    """Find the threshold of a score that makes a metric best, or costs least.

    Parameters
    ----------
    y : array of shape (n,)
        Labels of two classes; the larger is the positive one.
    scores : array of shape (n,)
        Scores of rows that the classifier has not seen.
    chosen : str or Metric, optional
        A metric of labels; balanced accuracy if not given.
    costs : array of shape (2, 2), optional
        What mistakes cost, the truth down; then there is no metric.

    Returns
    -------
    Threshold
        In the middle between two scores; of several best, the highest.
    """
    labels, code = encode(np.asarray(y))
    s = np.asarray(scores, dtype=float)
    if len(labels) != 2 or s.shape != code.shape or not np.all(np.isfinite(s)):
        raise ValueError(
            f"y must have two classes and scores be a finite number for each row, found {labels.tolist()}."
        )
    judge = _judge(chosen, costs, 2)
    distinct, place = np.unique(-s, return_inverse=True)
    positive = np.bincount(place, weights=code == 1, minlength=len(distinct))
    everyone = np.bincount(place, minlength=len(distinct)).astype(float)
    hits, called = np.r_[0.0, np.cumsum(positive)], np.r_[0.0, np.cumsum(everyone)]
    P, n = hits[-1], called[-1]
    tables = np.stack([n - P - (called - hits), called - hits, P - hits, hits], axis=1).reshape(-1, 2, 2)
    values = judge(tables)
    best = int(values.argmax())
    edges = -distinct
    if best == 0:
        cut = float(np.nextafter(edges[0], np.inf))
    elif best == len(edges):
        cut = float(edges[-1])
    else:
        cut = float((edges[best - 1] + edges[best]) / 2)
        cut = cut if edges[best] < cut <= edges[best - 1] else float(edges[best - 1])
    value = float(values[best])
    lower = costs is not None or not metric("balanced_accuracy" if chosen is None else chosen).greater_is_better
    return Threshold(cut, -value if lower else value)


def best_offsets(code: Any, scores: Any, chosen: str | Metric | None = None, *, costs: Any = None) -> Floats:
    """Find offsets of the classes' scores that make a metric of argmax(scores + offsets) good.

    Parameters
    ----------
    code : array of shape (n,)
        Codes 0 ... k - 1 of the labels.
    scores : array of shape (n, k)
        Scores of rows that the classifier has not seen, logarithms of probabilities for instance.
    chosen, costs
        As in `best_threshold`.

    Returns
    -------
    array of shape (k,)
        The offsets; the first is 0. No single one of them can be changed for the better, up to thinning.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> code = random.choice(3, p=[0.9, 0.05, 0.05], size=2000)
    >>> scores = np.eye(3)[code] + random.normal(size=(2000, 3)) + [2.0, 0.0, 0.0]
    >>> bool(np.all(best_offsets(code, scores, "balanced_accuracy")[1:] > 1))
    True
    """
    S, truth = np.asarray(scores, dtype=float), np.asarray(code)
    n, k = S.shape
    judge = _judge(chosen, costs, k)
    offsets = np.zeros(k)
    best = float(judge(_confusion(truth, (S + offsets).argmax(axis=1), k)[None])[0])
    for _ in range(ROUNDS):
        before = best
        for c in range(k):
            others = S + offsets
            others[:, c] = -np.inf
            rival = others.argmax(axis=1)
            change = others[np.arange(n), rival] - S[:, c]  # above this offset the row goes to c
            edges = np.unique(change[np.isfinite(change)])
            if len(edges) > MOST_CUTS:
                edges = edges[np.linspace(0, len(edges) - 1, MOST_CUTS).astype(int)]
            if len(edges) == 0:
                continue
            cuts = np.r_[edges[0] - 1.0, (edges[1:] + edges[:-1]) / 2, edges[-1] + 1.0]
            when = np.searchsorted(cuts, change, side="right")  # the first cut that takes the row
            moved = np.zeros((len(cuts) + 1, k * k))
            np.add.at(moved, (when, truth * k + c), 1.0)
            np.add.at(moved, (when, truth * k + rival), -1.0)
            start = _confusion(truth, rival, k).ravel()
            tables = (start + np.cumsum(moved[:-1], axis=0)).reshape(-1, k, k)
            values = judge(tables)
            place = int(values.argmax())
            if values[place] > best + 1e-12:
                best, offsets[c] = float(values[place]), cuts[place]
        if best <= before + 1e-12:
            break
    return np.asarray(offsets - offsets[0])


def _confusion(truth: Any, told: Any, k: int) -> Floats:
    return np.bincount(truth * k + told, minlength=k * k).reshape(k, k).astype(float)


def cheapest(probabilities: Any, costs: Any) -> Any:
    """Give the decision that is expected to cost least.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        A column for each class.
    costs : array of shape (k, k)
        What a decision costs, the truth down and the decision across.

    Returns
    -------
    array of shape (n,)
        Codes of classes.
    """
    P = np.asarray(probabilities, dtype=float)
    return (P @ check_costs(costs, P.shape[1])).argmin(axis=1)


class ThresholdClassifier(WrappingClassifier):
    """A classifier whose cut is tuned for a metric, or for costs, on held-out rows."""

    metric: Annotated[str, "The metric of labels that is made best."] = "balanced_accuracy"
    costs: Annotated[Arrays | None, "What mistakes cost, the truth down; then there is no metric."] = None
    cv: Annotated[Splits, "Folds whose scores the cut is chosen by."] = 5

    threshold_: float = fitted("Of two classes: rows with at least this response are called the larger label.")
    offsets_: Any = fitted("What is added to the scores of each class; (0, -threshold) for two classes.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier and choose the cut.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows; rows to choose by, for a FrozenEstimator.
        y : array of shape (n,)
            Their labels.
        """
        X, codes = self._learn(X, y)
        labels = self.classes_[codes]
        _judge(self.metric, self.costs, len(self.classes_))  # says early what cannot be had
        self._adopt(clone(self.estimator).fit(X, labels))
        scores = out_of_fold(self.estimator, X, labels, self.cv, response=self._response)
        if len(self.classes_) == 2:
            self.threshold_ = best_threshold(codes, self._single(scores), self.metric, costs=self.costs).threshold
            self.offsets_ = np.array([0.0, -self.threshold_])
        else:
            self.offsets_ = best_offsets(codes, self._many(scores), self.metric, costs=self.costs)
        return self

    @property
    def _response(self) -> Response:
        return "probability" if hasattr(self.estimator_, "predict_proba") else "score"

    def _single(self, scores: Floats) -> Floats:
        return scores[:, 1] if self._response == "probability" else scores[:, 1] - scores[:, 0]

    def _many(self, scores: Floats) -> Floats:
        return log_of(scores) if self._response == "probability" else scores

    def predict(self, X: Any) -> Any:
        """Give the class of each row, by the cut.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        """
        model = check_fitted(self)
        scores = responses(model, X, self._response)
        if len(self.classes_) == 2:
            return self.classes_[(self._single(scores) >= self.threshold_).astype(int)]
        return self.classes_[(self._many(scores) + self.offsets_).argmax(axis=1)]


class CostClassifier(WrappingClassifier):
    """A classifier that decides by the expected cost."""

    costs: Annotated[Arrays | None, "What a decision costs, the truth down; every mistake 1 if not given."] = None

    costs_: Any = fitted("The matrix of costs.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their labels.
        """
        X, codes = self._learn(X, y)
        k = len(self.classes_)
        self.costs_ = 1.0 - np.eye(k) if self.costs is None else check_costs(self.costs, k)
        self._adopt(clone(self.estimator).fit(X, self.classes_[codes]))
        return self

    def predict(self, X: Any) -> Any:
        """Give the cheapest decision for each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        """
        P = responses(check_fitted(self), X, "probability")
        return self.classes_[cheapest(P, self.costs_)]

"""Conformal prediction: sets and intervals that hold the truth as often as they say, whatever the model.

A model gives answers; conformal prediction tells how far the truth may be, from rows that the model has not seen, and
promises

    P(truth of a new row is in its set) >= level        over the draw of all rows, the new one included

for any model, any distribution and any n, if rows are exchangeable (Vovk, Gammerman and Shafer 2005). Each held-out row
gets a score of how strange its truth looks to the model; a new row's set holds every answer that is no stranger than
the ceil((n + 1) level)-th smallest of these.

    "margin"      classes: 1 - P(c | x)                              small sets on average
    "cumulative"  classes: the total probability of c and all classes more probable than it (Romano, Sesia and Candes
                  2020): sets grow where the model is unsure
    "residual"    numbers: |y - prediction|                          one width for all rows
    "quantile"    numbers: how far y is outside predicted quantiles (Romano, Patterson and Candes 2019): widths that
                  vary

    "split"       a share of the rows is held out once; the promise above, exactly
    "cross"       k folds are held out in turn, and every model votes with its own rows (CV+, Barber, Candes, Ramdas and
                  Tibshirani 2021): all rows serve both ends; 1 - 2 (1 - level) is what is proved, level is what is seen

Cost: one fit, or k + 1. It fails where tomorrow's rows are not exchangeable with these; and the promise is over all
rows, not for each kind of them (``by_class`` makes it for each class).

>>> import numpy as np
>>> from tutelage import LinearRegression
>>> random = np.random.default_rng(0)
>>> X = random.normal(size=(1000, 2))
>>> y = X[:, 0] + random.normal(size=1000)
>>> model = ConformalRegressor(LinearRegression(), level=0.9).fit(X[:500], y[:500])
>>> low, high = model.predict_interval(X[500:]).T
>>> 0.86 < np.mean((low <= y[500:]) & (y[500:] <= high)) < 0.94
np.True_
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.validation import check_consistent_length

from tutelage.base import Regressor, draw_seed
from tutelage.evaluation.meta import Wrapper, WrappingClassifier, check_fitted, folds_of, responses
from tutelage.evaluation.refits import pick
from tutelage.labels import encode_with
from tutelage.parameters import Declared, Interval, RandomState, Splits, fitted

if TYPE_CHECKING:
    from tutelage.evaluation.metrics import Floats

Level = Annotated[float, Interval(0, 1, closed="neither")]
CHUNK = 1 << 21  # numbers held at a time where every new row meets every old one


def ceiling(scores: Floats, level: float) -> float:
    """Give the ceil((n + 1) level)-th smallest score; infinity if there are not so many.

    Parameters
    ----------
    scores : array of shape (n,)
        How strange the held-out rows look.
    level : float
        The share of truths to hold.

    Examples
    --------
    >>> ceiling(np.arange(1.0, 10.0), 0.9), ceiling(np.arange(1.0, 9.0), 0.9)
    (9.0, inf)
    """
    place = math.ceil((len(scores) + 1) * level - 1e-9)
    return math.inf if place > len(scores) else float(np.partition(scores, place - 1)[place - 1])


class HoldsOut(Declared):
    """Mixin: rows are held out once, or in folds."""

    level: Annotated[Level, "The share of rows whose set or interval holds the truth."] = 0.9
    method: Annotated[Literal["split", "cross"], "Whether rows are held out once, or in folds."] = "split"
    share: Annotated[float, Interval(0, 1, closed="neither"), "Of the rows held out by 'split'."] = 0.25
    cv: Annotated[Splits, "Folds of 'cross'."] = 5
    random_state: Annotated[RandomState, "The seed that chooses the rows held out by 'split'."] = 0

    def _parts(self, X: Any, y: Any, *, classifier: bool) -> list[tuple[Any, Any]]:
        """Give (rows to learn from, rows held out)."""
        if self.method == "cross":
            return folds_of(X, y, self.cv, classifier=classifier)
        rows = len(y)
        count = round(self.share * rows)
        if not 0 < count < rows:
            raise ValueError(
                f"share must leave rows on both sides, found {count} rows held out of n_samples={rows} with "
                f"share={self.share!r}."
            )
        held = np.sort(np.random.default_rng(draw_seed(self.random_state)).permutation(rows)[:count])
        return [(np.setdiff1d(np.arange(rows), held, assume_unique=True), held)]

    def _level(self, level: float | None) -> float:
        wanted = self.level if level is None else level
        if not 0 < wanted < 1:
            raise ValueError(f"level must lie between 0 and 1, found {wanted!r}; 0.9 is usual.")
        return wanted


class ConformalClassifier(HoldsOut, WrappingClassifier):
    """A classifier that also gives sets of classes which hold the truth at a level."""

    conformity: Annotated[Literal["margin", "cumulative"], "How strange a class looks to the model."] = "margin"
    by_class: Annotated[bool, "Whether the level is promised for each class of truths."] = False

    scores_: Any = fitted("How strange the truth of each held-out row looked.")
    models_: list[Any] = fitted("The models of the folds; the model itself for 'split'.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model, or the models, and score rows that they have not seen.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their labels.
        """
        X, codes = self._learn(X, y)
        labels = self.classes_[codes]
        parts = self._parts(X, labels, classifier=True)
        self.models_ = [clone(self.estimator).fit(pick(X, train), labels[train]) for train, _ in parts]
        tests = [test for _, test in parts]
        self._held = np.concatenate(tests)
        self._fold = np.repeat(np.arange(len(parts)), [len(test) for test in tests])
        self._code = codes[self._held]
        strange = [self._strangeness(model, pick(X, test)) for model, test in zip(self.models_, tests, strict=True)]
        self.scores_ = np.take_along_axis(np.concatenate(strange), self._code[:, None], 1)[:, 0]
        self._adopt(self.models_[0] if self.method == "split" else clone(self.estimator).fit(X, labels))
        return self

    def _strangeness(self, model: Any, X: Any) -> Floats:
        known = encode_with(self.classes_, np.asarray(model.classes_))
        found = responses(model, X, "probability")
        P = np.zeros((len(found), len(self.classes_)))
        P[:, known] = found
        if self.conformity == "margin":
            return 1 - P
        order = np.argsort(-P, axis=1, kind="stable")
        made = np.empty_like(P)
        np.put_along_axis(made, order, np.cumsum(np.take_along_axis(P, order, 1), axis=1), 1)
        return made

    def predict(self, X: Any) -> Any:
        """Give the most probable class of each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        """
        best = responses(check_fitted(self), X, "probability").argmax(axis=1)
        return self.classes_[best]

    def predict_set(self, X: Any, level: float | None = None) -> Any:
        """Tell which classes are in the set of each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        level : float, optional
            Another level than that of the model.

        Returns
        -------
        array of bool, shape (n, k)
            In the order of ``classes_``.
        """
        check_fitted(self)
        wanted = self._level(level)
        k = len(self.classes_)
        groups = [self._code == c for c in range(k)] if self.by_class else [np.ones(len(self._code), dtype=bool)] * k
        if self.method == "split":
            # Sums of the same probabilities may differ in the last digit; a set errs on the side of holding.
            return self._strangeness(self.models_[0], X) <= 1e-12 + np.array(
                [ceiling(self.scores_[group], wanted) for group in groups]
            )
        # A class stays unless more than `level` of the held-out rows look less strange to the model that has not seen
        # them.
        inside = np.empty((len(np.asarray(self.estimator_.predict(X))), k), dtype=bool)
        strange = [self._strangeness(model, X) for model in self.models_]
        for c, group in enumerate(groups):
            less = np.zeros(len(inside))
            for fold, of_model in enumerate(strange):
                sorted_scores = np.sort(self.scores_[group & (self._fold == fold)])
                less += np.searchsorted(sorted_scores, of_model[:, c] - 1e-12, side="left")
            inside[:, c] = less < wanted * (np.count_nonzero(group) + 1) - 1e-9
        return inside


class ConformalRegressor(HoldsOut, Wrapper, Regressor):
    """A regressor that also gives intervals which hold the truth at a level."""

    conformity: Annotated[
        Literal["residual", "quantile"], "The distance to a prediction, or to two quantiles (estimator(quantile=...))."
    ] = "residual"

    scores_: Any = fitted("How far the truth of each held-out row was from its prediction.")
    models_: list[Any] = fitted("The models of the folds, or the one of 'split'; pairs of them for quantiles.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model, or the models, and score rows that they have not seen.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their targets.
        """
        self.check_parameters()
        truth = np.asarray(column_or_1d(y, warn=True))
        check_consistent_length(X, truth)
        (X,) = indexable(X)
        if self.conformity == "quantile" and "quantile" not in self.estimator.get_params():
            raise ValueError(
                f"conformity='quantile' is for an estimator with the parameter 'quantile', which "
                f"{type(self.estimator).__name__} lacks; "
                "wrap a QuantileRegressor, or use conformity='residual'."
            )
        parts = self._parts(X, truth, classifier=False)
        self.models_ = [self._fit_ends(pick(X, train), truth[train]) for train, _ in parts]
        scores = []
        for ends, (_, test) in zip(self.models_, parts, strict=True):
            low, high = self._ends(ends, pick(X, test))
            scores.append(np.maximum(low - truth[test], truth[test] - high))
        self.scores_ = np.concatenate(scores)
        self._fold = np.repeat(np.arange(len(parts)), [len(test) for _, test in parts])
        if self.conformity == "residual" and self.method == "split":
            self._adopt(self.models_[0])
        else:
            centre = clone(self.estimator)
            self._adopt((centre.set_params(quantile=0.5) if self.conformity == "quantile" else centre).fit(X, truth))
        return self

    def _fit_ends(self, X: Any, y: Any) -> Any:
        if self.conformity == "residual":
            return clone(self.estimator).fit(X, y)
        tail = (1 - self.level) / 2
        return [clone(self.estimator).set_params(quantile=q).fit(X, y) for q in (tail, 1 - tail)]

    def _ends(self, ends: Any, X: Any) -> tuple[Floats, Floats]:
        if self.conformity == "residual":
            centre = np.asarray(ends.predict(X), dtype=float).reshape(-1)
            return centre, centre
        first, second = (np.asarray(one.predict(X), dtype=float) for one in ends)
        return np.minimum(first, second), np.maximum(first, second)

    def predict(self, X: Any) -> Any:
        """Give the prediction for each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        """
        return check_fitted(self).predict(X)

    def predict_interval(self, X: Any, level: float | None = None) -> Floats:
        """Give an interval for each row.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        level : float, optional
            Another level than that of the model.

        Returns
        -------
        array of shape (n, 2)
            The low and the high end; infinite where the held-out rows are too few for the level.
        """
        check_fitted(self)
        wanted = self._level(level)
        if self.method == "split":
            low, high = self._ends(self.models_[0], X)
            reach = ceiling(self.scores_, wanted)
            # A negative reach may turn the ends of narrow quantiles around; the interval is then a point between them.
            ends = np.column_stack([low - reach, high + reach])
            crossed = ends[:, 0] > ends[:, 1]
            ends[crossed] = ends[crossed].mean(axis=1, keepdims=True)
            return ends
        return self._vote([self._ends(model, X) for model in self.models_], wanted)

    def _vote(self, ends: list[tuple[Floats, Floats]], level: float) -> Floats:
        """Give CV+'s interval: each held-out row votes with its own model's answer, moved by its own score."""
        low, high = np.stack([one for one, _ in ends], axis=1), np.stack([one for _, one in ends], axis=1)
        n, place = len(self.scores_), math.ceil((len(self.scores_) + 1) * level - 1e-9)
        made = np.empty((len(low), 2))
        if place > n:
            made[:] = -math.inf, math.inf
            return made
        step = max(1, CHUNK // n)
        for start in range(0, len(low), step):
            rows = slice(start, start + step)
            downs, ups = low[rows][:, self._fold] - self.scores_, high[rows][:, self._fold] + self.scores_
            made[rows, 0] = np.partition(downs, n - place, axis=1)[:, n - place]
            made[rows, 1] = np.partition(ups, place - 1, axis=1)[:, place - 1]
        return made

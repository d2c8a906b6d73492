"""Sets and intervals hold the truth as often as they say, for any model and any n."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.model_selection import LeaveOneOut

from tutelage import ConformalClassifier, ConformalRegressor, GaussianNB, LinearRegression, QuantileRegressor
from tutelage.evaluation.conformal import ceiling


class Slope(RegressorMixin, BaseEstimator):
    """A line through zero: wrong on purpose, and fast."""

    def fit(self, X: Any, y: Any) -> Any:
        self.w_ = float(X[:, 0] @ y / (X[:, 0] @ X[:, 0]))
        return self

    def predict(self, X: Any) -> Any:
        return self.w_ * X[:, 0]


class Shares(ClassifierMixin, BaseEstimator):
    """Shares of the classes left and right of zero."""

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        side = (X[:, 0] > 0).astype(int)
        counts = np.array([[np.sum((side == s) & (y == c)) + 0.5 for c in self.classes_] for s in (0, 1)])
        self.P_ = counts / counts.sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.P_[(X[:, 0] > 0).astype(int)]

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def curve(seed: int, n: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 1))
    return X, X[:, 0] ** 2 + (0.2 + np.abs(X[:, 0])) * random.normal(size=n)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_split_intervals_cover_between_the_level_and_one_rank_more(level: float) -> None:
    covered, held, fresh = [], 30, 40
    for seed in range(1000):
        X, y = curve(seed, 40 + fresh)
        model = ConformalRegressor(Slope(), level=level, share=held / 40, random_state=seed).fit(X[:40], y[:40])
        low, high = model.predict_interval(X[40:]).T
        covered.append(np.mean((low <= y[40:]) & (y[40:] <= high)))
    error = np.std(covered) / math.sqrt(1000)
    assert level - 4 * error < np.mean(covered) < level + 1 / (held + 1) + 4 * error


@pytest.mark.parametrize("cv", [5, LeaveOneOut()])
def test_cross_intervals_cover(cv: Any) -> None:
    covered = []
    for seed in range(200):
        X, y = curve(seed, 30 + 40)
        model = ConformalRegressor(Slope(), level=0.8, method="cross", cv=cv).fit(X[:30], y[:30])
        low, high = model.predict_interval(X[30:]).T
        covered.append(np.mean((low <= y[30:]) & (y[30:] <= high)))
    # Proved: 1 - 2 (1 - 0.8) = 0.6. Seen, here as in the literature: close to 0.8.
    assert 0.76 < np.mean(covered) < 0.88


@pytest.mark.parametrize("conformity", ["margin", "cumulative"])
@pytest.mark.parametrize("method", ["split", "cross"])
def test_sets_cover(conformity: Any, method: Any) -> None:
    covered = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        y = random.integers(0, 4, 160)
        X = (y + random.normal(size=160) * 1.5 - 1.5)[:, None]
        model = ConformalClassifier(
            Shares(), level=0.8, method=method, conformity=conformity, share=0.4, random_state=seed
        ).fit(X[:100], y[:100])
        inside = model.predict_set(X[100:])
        covered.append(inside[np.arange(60), y[100:]].mean())
    assert np.mean(covered) > 0.8 - 4 * np.std(covered) / math.sqrt(200)


def test_a_level_for_each_class_is_kept_for_each_class() -> None:
    covered: dict[int, list[float]] = {0: [], 1: []}
    whole: list[float] = []
    for seed in range(200):
        random = np.random.default_rng(seed)
        y = (random.random(600) < 0.15).astype(int)
        X = random.normal(size=(600, 1)) + 1.0 * y[:, None]
        for by_class in (True, False):
            model = ConformalClassifier(GaussianNB(), level=0.8, by_class=by_class, share=0.5, random_state=seed)
            inside = model.fit(X[:300], y[:300]).predict_set(X[300:])
            if by_class:
                for c in (0, 1):
                    covered[c].append(inside[y[300:] == c, c].mean())
            else:
                whole.append(inside[y[300:] == 1, 1].mean())
    assert min(np.mean(covered[0]), np.mean(covered[1])) > 0.79
    assert np.mean(whole) < 0.7  # which the promise over all rows does not exclude


def test_quantiles_make_intervals_whose_width_varies() -> None:
    X, y = curve(0, 1500)
    X = np.column_stack([X, np.abs(X)])
    wide = ConformalRegressor(LinearRegression(), share=0.5).fit(X[:1000], y[:1000])
    varied = ConformalRegressor(QuantileRegressor(alpha=0.0), conformity="quantile", share=0.5).fit(X[:1000], y[:1000])
    for model in (wide, varied):
        low, high = model.predict_interval(X[1000:]).T
        assert 0.85 < np.mean((low <= y[1000:]) & (y[1000:] <= high)) < 0.95
    assert np.std(np.diff(wide.predict_interval(X[1000:]))) < 1e-9
    assert np.std(np.diff(varied.predict_interval(X[1000:]))) > 0.1


def test_the_rank_is_the_promise() -> None:
    """Of n + 1 exchangeable scores the last is at most the ceil((n + 1) level)-th of the others that often."""
    for n, level in ((9, 0.9), (19, 0.9), (7, 0.5)):
        random = np.random.default_rng(n)
        hits = sum(random.random() <= ceiling(random.random(n), level) for _ in range(4000))
        exact = math.ceil((n + 1) * level - 1e-9) / (n + 1)
        assert stats.binomtest(hits, 4000, exact).pvalue > 1e-4


def test_cross_intervals_are_the_definition() -> None:
    X, y = curve(1, 23)
    model = ConformalRegressor(Slope(), level=0.8, method="cross", cv=4).fit(X[:20], y[:20])
    downs, ups = [], []
    for fold, part in enumerate(np.array_split(np.arange(20), 4)):
        centre = model.models_[fold].predict(X[20:])
        for row in part:
            reach = abs(y[row] - model.models_[fold].predict(X[[row]])[0])
            downs.append(centre - reach)
            ups.append(centre + reach)
    place = math.ceil(21 * 0.8)
    expected = np.column_stack([-np.sort(-np.array(downs), axis=0)[place - 1], np.sort(ups, axis=0)[place - 1]])
    np.testing.assert_allclose(model.predict_interval(X[20:]), expected)


def test_too_few_rows_promise_nothing() -> None:
    X, y = curve(0, 20)
    for method in ("split", "cross"):
        model = ConformalRegressor(Slope(), level=0.99, method=method).fit(X, y)  # type: ignore[arg-type]
        assert np.all(np.isinf(model.predict_interval(X)))
    assert ConformalClassifier(GaussianNB(), level=0.999).fit(X, np.arange(20) % 2).predict_set(X).all()


def test_a_higher_level_holds_more() -> None:
    X, y = curve(0, 200)
    model = ConformalRegressor(Slope()).fit(X, y)
    assert np.all(np.diff(model.predict_interval(X, 0.95)) > np.diff(model.predict_interval(X, 0.5)))
    labels = (y > 0).astype(int)
    sets = ConformalClassifier(GaussianNB()).fit(X, labels)
    assert np.all(sets.predict_set(X, 0.95) >= sets.predict_set(X, 0.5))
    assert sets.predict(X).shape == (200,)


def test_bad_input_is_told_in_a_sentence() -> None:
    X, y = curve(0, 30)
    with pytest.raises(ValueError, match="with the parameter 'quantile', which Slope lacks"):
        ConformalRegressor(Slope(), conformity="quantile").fit(X, y)
    with pytest.raises(ValueError, match="level must lie between"):
        ConformalRegressor(Slope()).fit(X, y).predict_interval(X, 90)
    with pytest.raises(ValueError, match="'level' parameter"):
        ConformalRegressor(Slope(), level=90).fit(X, y)
    with pytest.raises(ValueError, match="share must leave rows"):
        ConformalRegressor(Slope(), share=0.001).fit(X, y)
    with pytest.raises(ValueError, match="hold out every row once"):
        ConformalRegressor(Slope(), method="cross", cv=[(np.arange(20), np.arange(20, 29))]).fit(X, y)

"""Is one model better than another, or was it these rows?

Two scores of the same rows rise and fall together, so intervals that overlap prove nothing; what is tested is the
difference.

    mcnemar        two fitted classifiers, rows that neither has seen. Only rows on which one is right and the other
                   wrong speak: with b and c of them, b is binomial(b + c, 1/2) if the models are equally good.
    delong         two fitted models, the area under the ROC curve (`tutelage.evaluation.ranking`).
    bootstrap      two fitted models, any metric: both are scored on the same resampled tables.
    corrected_t    two ways of learning, refitted on the same folds: Student's t with the variance of Nadeau and Bengio.
    5x2cv          two ways of learning, five times two halves: Alpaydin's F (1999),
                   f = sum of the ten squared differences / (2 * sum of the five variances)  ~  F(10, 5).

A test on one table of fitted models speaks of these two fits; one that refits speaks of the two ways of learning.

Cost: nothing beyond predictions for the first three; 2 k fits for k folds; 20 fits for 5x2cv. It fails where one looks
at many pairs and reports the best p-value: for several models see `friedman`.

>>> made = mcnemar([1] * 20, [1] * 18 + [0] * 2, [1] * 8 + [0] * 12)
>>> made.first_only, made.second_only, round(made.p_value, 4)
(10, 0, 0.002)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tutelage.evaluation.cross_validation import corrected_interval, fold_scores
from tutelage.evaluation.intervals import Interval, bca_of, check_level, newcombe
from tutelage.evaluation.metrics import Metric, metric, value_of
from tutelage.evaluation.ranking import compare_areas
from tutelage.evaluation.refits import check_table, default_metric, random_folds
from tutelage.evaluation.samples import all_but_a_block, draws
from tutelage.evaluation.scores import predicted

Method = Literal["auto", "mcnemar", "delong", "bootstrap", "corrected_t", "5x2cv"]
REFITS = {"corrected_t", "5x2cv"}


class McNemar(NamedTuple):
    """McNemar's test.

    Attributes
    ----------
    first_only, second_only : int
        Rows on which only the first, only the second was right.
    p_value : float
        The chance of a division at least as uneven, were both equally good.
    interval : Interval
        Of the difference of the accuracies.
    """

    first_only: int
    second_only: int
    p_value: float
    interval: Interval


class PairedTest(NamedTuple):
    """A test of paired differences.

    Attributes
    ----------
    difference : float
        The mean difference, first minus second.
    statistic : float
        Of the test.
    p_value : float
        The chance of a statistic at least as extreme without a difference.
    interval : Interval
        Of the difference.
    """

    difference: float
    statistic: float
    p_value: float
    interval: Interval


def mcnemar(
    y: Any, first: Any, second: Any, *, kind: Literal["exact", "mid-p", "chi2"] = "exact", level: float = 0.95
) -> McNemar:
    """Compare two classifiers by their predictions for the same rows.

    Parameters
    ----------
    y : array of shape (n,)
        The truth.
    first, second : arrays of shape (n,)
        The labels predicted.
    kind : {"exact", "mid-p", "chi2"}, default="exact"
        The exact binomial test; the same with half the chance of what was seen, less cautious; or the chi-squared
        approximation with the correction for continuity.
    level : float, default=0.95
        The confidence of the interval.

    Returns
    -------
    McNemar
        The counts, the p-value and the interval of the difference (Newcombe's).
    """
    truth = np.asarray(y)
    right_a, right_b = np.asarray(first) == truth, np.asarray(second) == truth
    if not (right_a.shape == right_b.shape == truth.shape) or truth.ndim != 1:
        raise ValueError("y, first and second must be vectors of the same length.")
    b, c = int(np.sum(right_a & ~right_b)), int(np.sum(~right_a & right_b))
    both = int(np.sum(right_a & right_b))
    n = b + c
    if kind not in {"exact", "mid-p", "chi2"}:
        raise ValueError(f"kind must be 'exact', 'mid-p' or 'chi2', found {kind!r}.")
    if n == 0:
        p = 1.0
    elif kind == "chi2":
        p = float(stats.chi2.sf(max(abs(b - c) - 1, 0) ** 2 / n, 1))
    else:
        tail = float(stats.binom.cdf(min(b, c), n, 0.5))
        if kind == "mid-p":
            tail -= 0.5 * float(stats.binom.pmf(min(b, c), n, 0.5))
        p = min(1.0, 2 * tail)
    return McNemar(b, c, p, newcombe(both, b, c, len(truth) - both - n, check_level(level)))


def corrected_t(differences: Any, *, train_rows: float, test_rows: float, level: float = 0.95) -> PairedTest:
    """Test differences of cross-validated scores by the corrected t of Nadeau and Bengio.

    Parameters
    ----------
    differences : array of shape (J,)
        First score minus second, for each fold or random split.
    train_rows, test_rows : number
        Rows to learn from and to score on, in a split.
    level : float, default=0.95
        The confidence of the interval.

    Returns
    -------
    PairedTest
        The mean difference and what to think of it.

    Examples
    --------
    >>> made = corrected_t([0.02, 0.03, 0.01, 0.04, 0.02], train_rows=80, test_rows=20)
    >>> round(made.statistic, 3), round(made.p_value, 3)
    (3.138, 0.035)
    """
    values = np.asarray(differences, dtype=float).ravel()
    interval = corrected_interval(values, train_rows=train_rows, test_rows=test_rows, level=level)
    mean = float(values.mean())
    error = math.sqrt((1 / len(values) + test_rows / train_rows) * float(values.var(ddof=1)))
    if error == 0:
        return PairedTest(mean, math.copysign(math.inf, mean) if mean else 0.0, 0.0 if mean else 1.0, interval)
    statistic = mean / error
    return PairedTest(mean, statistic, 2 * float(stats.t.sf(abs(statistic), len(values) - 1)), interval)


def five_by_two(differences: Any, *, level: float = 0.95) -> PairedTest:
    """Test differences of five repetitions of two folds by Alpaydin's F (1999).

    Parameters
    ----------
    differences : array of shape (5, 2)
        First score minus second.
    level : float, default=0.95
        The confidence of the interval, which is that of the differences d with f(differences - d) not refused.

    Returns
    -------
    PairedTest
        The mean difference, f and its p-value.

    Examples
    --------
    >>> made = five_by_two([[0.1, 0.2], [0.1, 0.1], [0.2, 0.1], [0.1, 0.2], [0.2, 0.2]])
    >>> round(made.statistic, 2)
    8.33
    """
    d = np.asarray(differences, dtype=float)
    if d.shape != (5, 2):
        raise ValueError(f"differences must have the shape (5, 2), found {d.shape}.")
    spread = 2 * float(((d - d.mean(axis=1, keepdims=True)) ** 2).sum())
    mean, squares = float(d.mean()), float((d**2).sum())
    if spread == 0:
        return PairedTest(mean, math.inf if squares else 0.0, 0.0 if squares else 1.0, Interval(mean, mean))
    statistic = squares / spread
    # sum (d_ij - c)^2 <= F spread is a quadratic in c: sum (d_ij - mean)^2 + 10 (c - mean)^2.
    room = float(stats.f.ppf(check_level(level), 10, 5)) * spread - (squares - 10 * mean**2)
    reach = math.sqrt(max(room, 0.0) / 10)
    return PairedTest(mean, statistic, float(stats.f.sf(statistic, 10, 5)), Interval(mean - reach, mean + reach))


@dataclass(frozen=True)
class Comparison:
    """Two models compared; prints as a sentence.

    Attributes
    ----------
    names : (str, str)
        What the models are called.
    metric : str
        What was compared.
    values : (float, float)
        The score of each.
    difference : float
        The first minus the second.
    interval : Interval
        Of the difference.
    p_value : float
        The chance of a difference at least as large between equals.
    level : float
        The confidence; below 1 - level, a p-value counts as evidence.
    method : str
        The test, in words.
    better : str or None
        Which model is better, if the data say so.
    """

    names: tuple[str, str]
    metric: str
    values: tuple[float, float]
    difference: float
    interval: Interval
    p_value: float
    level: float
    method: str
    better: str | None

    def __str__(self) -> str:
        first, second = self.names
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        seen = (
            f"{self.metric} {self.values[0]:.4g} against {self.values[1]:.4g}, {100 * self.level:g} % interval of the "
            f"difference {self.interval}, {p}, {self.method}"
        )
        if self.better is None:
            return f"The data do not tell {first} from {second} ({seen})."
        worse = second if self.better == first else first
        return f"{self.better} is better than {worse} ({seen})."


def compare(
    first: Any,
    second: Any,
    X: Any,
    y: Any,
    metric_name: str | Metric | None = None,
    *,
    method: Method = "auto",
    folds: int = 10,
    repeats: int = 3,
    level: float = 0.95,
    tables: int = 2000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Say in a sentence which of two models is better, or that the data do not tell.

    Parameters
    ----------
    first, second : estimators
        Both fitted, then X and y must be rows that neither has seen; or neither, then both are refitted on the same
        folds.
    X, y : arrays or frames
        The rows.
    metric_name : str or Metric, optional
        Accuracy for classifiers and the squared error for regressors if not given.
    method : {"auto", "mcnemar", "delong", "bootstrap", "corrected_t", "5x2cv"}, default="auto"
        The test. For fitted models McNemar's where accuracy is compared, DeLong's for the area under the ROC curve of
        two classes, the bootstrap otherwise; for others the corrected t. A test that refits may be asked for with
        fitted models.
    folds, repeats : int, default=10 and 3
        Of the corrected t.
    level : float, default=0.95
        The confidence.
    tables : int, default=2000
        How many tables a bootstrap draws.
    random_state : int, default=0
        The seed.
    n_jobs : int, optional
        Processes for refitting.

    Returns
    -------
    Comparison
        Prints as the sentence.

    Examples
    --------
    >>> from tutelage import GaussianNB, LogisticRegression
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(400, 2))
    >>> y = (X[:, 0] * X[:, 1] + 0.1 * random.normal(size=400) > 0).astype(int)
    >>> from tutelage import KNeighborsClassifier
    >>> made = compare(KNeighborsClassifier(), LogisticRegression(), X, y)
    >>> made.better
    'KNeighborsClassifier'
    """
    truth = check_table(X, y)
    check_level(level)
    chosen = default_metric(first, metric_name)
    if is_classifier(first) != is_classifier(second):
        raise ValueError("first and second must both be classifiers or both be regressors.")
    fitted = (_is_fitted(first), _is_fitted(second))
    if method == "auto":
        if fitted[0] != fitted[1]:
            raise ValueError(
                "first and second must both be fitted, to be compared on rows they have not seen, or neither, to be "
                f"refitted on folds; only {'first' if fitted[0] else 'second'} is. Fit the other, or name a method "
                "that refits: method='corrected_t'."
            )
        method = "corrected_t" if not fitted[0] else _method_for_fitted(chosen, truth)
    if method not in {*REFITS, "mcnemar", "delong", "bootstrap"}:
        raise ValueError(
            f"method must be one of auto, mcnemar, delong, bootstrap, corrected_t, 5x2cv, found {method!r}."
        )
    if method in REFITS:
        values, test, words = _by_refitting(
            [first, second], X, truth, chosen, method, folds, repeats, level, random_state, n_jobs
        )
    else:
        if not all(fitted):
            raise ValueError(f"method={method!r} is for fitted models; fit both, or use method='corrected_t'.")
        values, test, words = _by_rows(first, second, X, truth, chosen, method, level, tables, random_state)
    names = _names(first, second)
    better = None
    if test.p_value < 1 - level and test.difference != 0:
        better = names[0] if (test.difference > 0) == chosen.greater_is_better else names[1]
    return Comparison(names, chosen.name, values, test.difference, test.interval, test.p_value, level, words, better)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _method_for_fitted(chosen: Metric, y: Any) -> Literal["mcnemar", "delong", "bootstrap"]:
    if chosen.name == "accuracy":
        return "mcnemar"
    return "delong" if chosen.name == "auc" and len(np.unique(y)) == 2 else "bootstrap"


def _by_refitting(
    models: list[Any],
    X: Any,
    y: Any,
    chosen: Metric,
    method: str,
    folds: int,
    repeats: int,
    level: float,
    seed: int,
    n_jobs: int | None,
) -> tuple[tuple[float, float], PairedTest, str]:
    if method == "5x2cv":
        random_folds(y, 2, seed, stratified=is_classifier(models[0]))  # says early what is wrong with the table
        scores = fold_scores(models, X, y, chosen, folds=2, repeats=5, seed=seed, n_jobs=n_jobs)
        test = five_by_two((scores[0] - scores[1]).reshape(5, 2), level=level)
        words = "the F test of five times two folds"
    else:
        scores = fold_scores(models, X, y, chosen, folds=folds, repeats=repeats, seed=seed, n_jobs=n_jobs)
        rows = len(y)
        test = corrected_t(scores[0] - scores[1], train_rows=rows - rows / folds, test_rows=rows / folds, level=level)
        words = (
            f"corrected t test over {folds} folds drawn {repeats} times"
            if repeats > 1
            else (f"corrected t test over {folds} folds")
        )
    return (float(scores[0].mean()), float(scores[1].mean())), test, words


def _by_rows(
    first: Any, second: Any, X: Any, y: Any, chosen: Metric, method: str, level: float, tables: int, seed: int
) -> tuple[tuple[float, float], PairedTest, str]:
    if method == "mcnemar" and chosen.name != "accuracy":
        raise ValueError(f"method='mcnemar' compares accuracies, not {chosen.name!r}; use 'bootstrap'.")
    if method == "delong" and chosen.name != "auc":
        raise ValueError(f"method='delong' compares areas under the ROC curve, not {chosen.name!r}; use 'bootstrap'.")
    (a, classes_a), (b, classes_b) = predicted(first, X, chosen.needs), predicted(second, X, chosen.needs)
    values = chosen(y, a, classes=classes_a), chosen(y, b, classes=classes_b)
    difference, rows = values[0] - values[1], f"on {len(y):,} rows"
    if method == "mcnemar":
        made = mcnemar(y, a, b, level=level)
        statistic = float(made.first_only - made.second_only)
        return values, PairedTest(difference, statistic, made.p_value, made.interval), f"McNemar's test {rows}"
    if method == "delong":
        areas = compare_areas(y, a[:, 1] if a.ndim == 2 else a, b[:, 1] if b.ndim == 2 else b)
        statistic = difference / math.sqrt(areas.variance) if areas.variance > 0 else 0.0
        return values, PairedTest(difference, statistic, areas.p_value, areas.interval(level)), f"DeLong's test {rows}"
    test = paired_bootstrap(
        y, a, b, chosen, classes=(classes_a, classes_b), level=level, tables=tables, random_state=seed
    )
    return values, test, f"paired bootstrap {rows}"


def paired_bootstrap(
    y: Any,
    first: Any,
    second: Any,
    metric_name: str | Metric,
    *,
    classes: tuple[Any, Any] = (None, None),
    level: float = 0.95,
    tables: int = 2000,
    random_state: int = 0,
) -> PairedTest:
    """Compare two predictions of the same rows by any metric: both are scored on the same resampled tables.

    Parameters
    ----------
    y : array of shape (n,)
        The truth.
    first, second : arrays
        The predictions.
    metric_name : str or Metric
        What is compared.
    classes : (array, array), optional
        The labels of the columns of each.
    level : float, default=0.95
        The confidence of the interval (BCa).
    tables : int, default=2000
        How many tables are drawn.
    random_state : int, default=0
        The seed.

    Returns
    -------
    PairedTest
        Its statistic is the difference over the standard deviation of the resampled differences.
    """
    chosen, rows = metric(metric_name), len(np.asarray(y))
    a, b = chosen.on(y, first, classes=classes[0]), chosen.on(y, second, classes=classes[1])
    seen = value_of(a, rows) - value_of(b, rows)
    random = np.random.default_rng(random_state)
    made = np.concatenate([a.weighted(counts) - b.weighted(counts) for counts in draws(random, rows, tables)])
    made = made[np.isfinite(made)]
    left_out = np.concatenate([a.weighted(kept) - b.weighted(kept) for kept in all_but_a_block(rows)])
    interval = bca_of(seen, made, left_out, np.ones(len(left_out)), level)
    spread = float(made.std()) if len(made) else 0.0
    if spread == 0:
        return PairedTest(seen, 0.0, 1.0 if seen == 0 else 1 / (len(made) + 1), interval)
    below = (np.count_nonzero(made <= 0) + 1) / (len(made) + 1)
    above = (np.count_nonzero(made >= 0) + 1) / (len(made) + 1)
    return PairedTest(seen, seen / spread, float(min(1.0, 2 * min(below, above))), interval)


def _names(first: Any, second: Any) -> tuple[str, str]:
    a, b = type(first).__name__, type(second).__name__
    return (a, b) if a != b else (f"the first {a}", f"the second {b}")

"""Intervals for cross-validated scores, which the spread of the folds alone does not give.

The scores of k folds share most of their training rows, so they are not k independent measurements: their standard
deviation over sqrt(k) is too small, and the usual interval covers 80 % instead of 95. Two remedies:

    corrected    Nadeau and Bengio (2003): the variance 1/J of the mean of J scores becomes 1/J + test rows / training
                 rows, with Student's t of J - 1 degrees. It costs nothing beyond the scores.
    nested       Bates, Hastie and Tibshirani (2024): inside every fold that is held out, cross-validate the others, and
                 see how far that estimate is from the score of the held-out fold. From

                     MSE = mean (inner estimate - held-out score)^2 - mean (variance of the held-out score)

                 follows the interval  estimate +- z sqrt((k - 1) / k MSE), after a correction for models that were
                 fitted to fewer rows. It costs k (k + 1) / 2 fits for each repetition, since the model that leaves out
                 two folds serves both of them.

What is estimated: the error of this way of learning at this many rows. `corrected` holds at the training size of a
fold, (k - 1) / k of the rows; `nested` is for all of them.

They fail where rows are not exchangeable: groups, repeated rows, time.

>>> low, high = corrected_interval([0.81, 0.79, 0.84, 0.80, 0.76], train_rows=80, test_rows=20)
>>> round(low, 4), round(high, 4)
(0.7457, 0.8543)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats
from sklearn.base import is_classifier
from sklearn.utils.parallel import Parallel, delayed

from tutelage.evaluation.intervals import Interval, check_level
from tutelage.evaluation.metrics import Metric, row_values
from tutelage.evaluation.refits import check_table, default_metric, random_folds, refit_and_predict
from tutelage.evaluation.scores import Score

if TYPE_CHECKING:
    from collections.abc import Sequence


def corrected_interval(
    scores: Sequence[float] | Any, *, train_rows: float, test_rows: float, level: float = 0.95
) -> Interval:
    """Give the interval of Nadeau and Bengio for the mean of cross-validated scores.

    Parameters
    ----------
    scores : array of shape (J,)
        A score for each fold, or for each random split; those of repetitions behind each other.
    train_rows, test_rows : number
        Rows to learn from and to score on, in a split.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Interval
        Of the mean score.

    Examples
    --------
    >>> print(corrected_interval([1.0, 1.0, 1.0], train_rows=20, test_rows=10))
    1 to 1
    """
    values = np.asarray(scores, dtype=float).ravel()
    centre, reach = _corrected(values, train_rows, test_rows)
    quantile = float(stats.t.ppf(0.5 + check_level(level) / 2, len(values) - 1))
    return Interval(centre - quantile * reach, centre + quantile * reach)


def _corrected(values: Any, train_rows: float, test_rows: float) -> tuple[float, float]:
    """Give the mean and its corrected standard error."""
    if len(values) < 2:
        raise ValueError(f"scores must be at least 2, found {len(values)}.")
    if not np.all(np.isfinite(values)):
        raise ValueError("scores must be finite; a fold without a score (of one class, perhaps) must be left out.")
    if not (train_rows > 0 and test_rows > 0):
        raise ValueError(f"train_rows and test_rows must be positive, found {train_rows!r} and {test_rows!r}.")
    spread = (1 / len(values) + test_rows / train_rows) * float(values.var(ddof=1))
    return float(values.mean()), math.sqrt(spread)


def nested_interval(
    model: Any,
    X: Any,
    y: Any,
    metric_name: str | Metric | None = None,
    *,
    folds: int = 10,
    repeats: int = 20,
    level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Score:
    """Estimate a score and its interval by nested cross-validation (Bates, Hastie and Tibshirani 2024).

    Parameters
    ----------
    model : estimator
        Refitted on parts of the table; any with scikit-learn's interface.
    X, y : arrays or frames
        The table.
    metric_name : str or Metric, optional
        A mean over rows: accuracy, error, log_loss, brier, squared_error or absolute_error. Accuracy for classifiers
        and the squared error for regressors if not given.
    folds, repeats : int, default=10 and 20
        Folds, and how often they are drawn anew; k (k + 1) / 2 fits each time. The authors advise 200 repetitions.
    level : float, default=0.95
        The confidence.
    random_state : int, default=0
        The seed of the folds.
    n_jobs : int, optional
        Processes for the repetitions.

    Returns
    -------
    Score
        The estimate for a model that learns from all rows, and its interval.

    Examples
    --------
    >>> from tutelage import LinearRegression
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(60, 2))
    >>> score = nested_interval(LinearRegression(), X, X[:, 0] + random.normal(size=60), folds=5, repeats=4)
    >>> score.interval.low < 1 < score.interval.high
    True
    """
    check_level(level)
    truth = check_table(X, y)
    chosen = default_metric(model, metric_name)
    if folds < 3:
        raise ValueError(f"folds must be at least 3, since two of them are left out at a time, found {folds!r}.")
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, found {repeats!r}.")
    made = Parallel(n_jobs=n_jobs)(
        delayed(_nested_once)(model, X, truth, chosen, folds, random_state + turn) for turn in range(repeats)
    )
    outer = np.stack([one[0] for one in made])  # (repeats, n): each row's value when its fold was held out
    inner = np.stack([one[1] for one in made])  # (repeats, folds): cross-validated without that fold
    held = np.stack([one[2] for one in made])  # (repeats, folds, 2): the mean of the fold, and its variance
    centre, interval = nested_summary(outer, inner, held, level)
    return Score(
        chosen.name,
        centre,
        interval,
        level,
        f"nested {folds}-fold cross-validation, {repeats} times",
        len(truth),
        chosen.greater_is_better,
    )


def nested_summary(outer: Any, inner: Any, held: Any, level: float = 0.95) -> tuple[float, Interval]:
    """Give the nested estimate and its interval from what the repetitions found.

    Parameters
    ----------
    outer : array of shape (repeats, n)
        Each row's value when its fold was held out.
    inner : array of shape (repeats, folds)
        The cross-validated estimate from all folds but one.
    held : array of shape (repeats, folds, 2)
        The mean over the rows of that one, and the variance of this mean.
    level : float, default=0.95
        The confidence.
    """
    quantile, folds = float(stats.norm.ppf(0.5 + check_level(level) / 2)), inner.shape[1]
    error_squared = float(np.mean((inner - held[..., 0]) ** 2 - held[..., 1]))
    naive = float(np.mean(outer.std(axis=1, ddof=1))) / math.sqrt(outer.shape[1])
    # The truth lies between independent rows and folds that are wholly dependent; a few repetitions may miss both.
    error = math.sqrt(max(error_squared, 0.0) * (folds - 1) / folds)
    error = min(max(error, naive), naive * math.sqrt(folds))
    estimate = float(inner.mean())
    centre = estimate - (1 + (folds - 2) / folds) * (estimate - float(outer.mean()))
    return centre, Interval(centre - quantile * error, centre + quantile * error)


def _nested_once(model: Any, X: Any, y: Any, chosen: Metric, folds: int, seed: int) -> tuple[Any, Any, Any]:
    parts = random_folds(y, folds, seed, stratified=is_classifier(model))
    everyone = np.arange(len(y))

    def values(left_out: tuple[int, ...]) -> list[Any]:
        asked = [parts[fold] for fold in left_out]
        train = np.setdiff1d(everyone, np.concatenate(asked), assume_unique=True)
        told = refit_and_predict(model, X, y, train, asked, chosen.needs)
        return [
            row_values(chosen, y[rows], prediction, classes=classes)
            for rows, (prediction, classes) in zip(asked, told, strict=True)
        ]

    outer = np.empty(len(y))
    totals, rows = np.zeros(folds), np.zeros(folds)
    held = np.empty((folds, 2))
    for fold in range(folds):
        (value,) = values((fold,))
        outer[parts[fold]] = value
        held[fold] = value.mean(), (value.var(ddof=1) / len(value) if len(value) > 1 else 0.0)
        for other in range(fold):
            of_fold, of_other = values((fold, other))
            totals[[other, fold]] += of_fold.sum(), of_other.sum()
            rows[[other, fold]] += len(of_fold), len(of_other)
    return outer, totals / rows, held


def cross_evaluate(
    model: Any,
    X: Any,
    y: Any,
    metric_name: str | Metric | None = None,
    *,
    method: Literal["corrected", "nested"] = "corrected",
    folds: int = 10,
    repeats: int | None = None,
    level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Score:
    """Cross-validate a model; give its score with an interval that holds.

    Parameters
    ----------
    model : estimator
        Refitted on parts of the table; any with scikit-learn's interface.
    X, y : arrays or frames
        The table.
    metric_name : str or Metric, optional
        Accuracy for classifiers and the squared error for regressors if not given.
    method : {"corrected", "nested"}, default="corrected"
        How the interval is made.
    folds : int, default=10
        How many folds.
    repeats : int, optional
        How often folds are drawn anew; once for "corrected" and 20 times for "nested" if not given.
    level : float, default=0.95
        The confidence.
    random_state : int, default=0
        The seed of the folds.
    n_jobs : int, optional
        Processes.

    Returns
    -------
    Score
        The mean over folds, or the nested estimate.

    Examples
    --------
    >>> from tutelage import GaussianNB
    >>> random = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> score = cross_evaluate(GaussianNB(), random.normal(size=(200, 2)) + y[:, None], y)
    >>> score.method
    'corrected t over 10 folds'
    """
    if method == "nested":
        return nested_interval(
            model,
            X,
            y,
            metric_name,
            folds=folds,
            repeats=20 if repeats is None else repeats,
            level=level,
            random_state=random_state,
            n_jobs=n_jobs,
        )
    if method != "corrected":
        raise ValueError(f"method must be 'corrected' or 'nested', found {method!r}.")
    truth = check_table(X, y)
    chosen = default_metric(model, metric_name)
    turns = 1 if repeats is None else repeats
    scores = fold_scores([model], X, truth, chosen, folds=folds, repeats=turns, seed=random_state, n_jobs=n_jobs)[0]
    rows = len(truth)
    interval = corrected_interval(scores, train_rows=rows - rows / folds, test_rows=rows / folds, level=level)
    return Score(
        chosen.name,
        float(scores.mean()),
        interval,
        level,
        f"corrected t over {folds} folds" + ("" if turns == 1 else f", {turns} times"),
        rows,
        chosen.greater_is_better,
    )


def fold_scores(
    models: Sequence[Any],
    X: Any,
    y: Any,
    chosen: Metric,
    *,
    folds: int,
    repeats: int,
    seed: int,
    n_jobs: int | None = None,
) -> Any:
    """Give the scores of models on the same folds, an array of shape (models, repeats * folds).

    Parameters
    ----------
    models : sequence of estimators
        Refitted for each fold.
    X, y : arrays or frames
        The table.
    chosen : Metric
        What is scored.
    folds, repeats : int
        Folds, and how often they are drawn.
    seed : int
        Of the first drawing; the later ones count on from it.
    n_jobs : int, optional
        Processes.
    """
    stratified = is_classifier(models[0])
    everyone = np.arange(len(y))

    def one(test: Any) -> list[float]:
        train = np.setdiff1d(everyone, test, assume_unique=True)
        made = []
        for model in models:
            ((prediction, classes),) = refit_and_predict(model, X, y, train, [test], chosen.needs)
            made.append(chosen(y[test], prediction, classes=classes))
        return made

    tests = [test for turn in range(repeats) for test in random_folds(y, folds, seed + turn, stratified=stratified)]
    return np.array(Parallel(n_jobs=n_jobs)(delayed(one)(test) for test in tests)).T

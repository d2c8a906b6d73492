"""Scores along a parameter, and along the number of rows.

`validation_curve` scores an estimator for each value of one parameter, on the rows of the fit and on others: where the
two part, the model learns the noise; where both are low, it is too stiff. `learning_curve` scores it for growing
numbers of rows: where the curve of the held-out rows still rises, more rows are worth their price (`tutelage.selection.
LearningCurve` says how much).

Both are scikit-learn's functions of these names. Along a parameter for which the learner has an algebra
(`tutelage.fold_paths`), a curve costs little more than a fit.

>>> import numpy as np
>>> from tutelage import Ridge
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y = X @ [1.0, -2.0, 0.5]
>>> train, test = validation_curve(Ridge(), X, y, param_name="alpha", param_range=[1e-6, 1e6], cv=3)
>>> test.shape, bool((test[0] > test[1]).all())
((2, 3), True)
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from tutelage.selection.engine import Workers, evaluate
from tutelage.selection.fitting import Scoring, check_error_score, scored, tell_of_failures
from tutelage.selection.routing import check_groups, routed
from tutelage.selection.validation import check_call, check_scoring_for

TRAIN_SIZES = (0.1, 0.325, 0.55, 0.775, 1.0)


def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    param_name: str,
    param_range: Any,
    groups: Any = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    error_score: Any = np.nan,
    params: dict[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Score an estimator for each value of a parameter.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, pre_dispatch, verbose, error_score, params
        As in `tutelage.selection.cross_validate`.
    param_name : str
        The parameter.
    param_range : array
        Its values.
    scoring : str or callable, optional
        What to score by; None is the estimator's own ``score``.

    Returns
    -------
    train_scores, test_scores : arrays of shape (values, folds)
        On the rows of the fit and on those held out.
    """
    check_call("validation_curve", estimator=estimator, param_name=param_name, n_jobs=n_jobs)
    check_error_score(error_score)
    check_groups(groups)
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    scorer = check_scoring_for(estimator, scoring)
    parts = routed(
        "validation_curve", {"estimator": estimator, "splitter": splitter, "scorer": scorer}, params, groups=groups
    )
    folds = list(splitter.split(X, y, **parts.splitter.split))
    words = Scoring(scorer, parts.estimator.fit, parts.scorer.score, True, error_score, verbose=verbose)
    grid = [{param_name: value} for value in param_range]
    table = evaluate(estimator, X, y, folds, grid, words, workers=Workers(n_jobs, pre_dispatch, verbose))
    tell_of_failures([outcome for row in table for outcome in row], error_score)
    train, test = (np.array([[getattr(one, part) for one in row] for row in table]) for part in ("train", "test"))
    return train, test


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    train_sizes: Any = TRAIN_SIZES,
    cv: Any = None,
    scoring: Any = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Score an estimator for growing numbers of rows.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, pre_dispatch, verbose, error_score, params
        As in `tutelage.selection.cross_validate`.
    train_sizes : array, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Numbers of rows, or shares of those of the first fold.
    scoring : str or callable, optional
        What to score by; None is the estimator's own ``score``.
    exploit_incremental_learning : bool, default=False
        Whether each size adds its rows to the last by ``partial_fit``.
    shuffle : bool, default=False
        Whether the rows of each fold are shuffled first.
    random_state : int, RandomState or None, default=None
        The seed of the shuffle.
    return_times : bool, default=False
        Whether times are given too.

    Returns
    -------
    train_sizes_abs : array of shape (sizes,)
        The numbers of rows.
    train_scores, test_scores : arrays of shape (sizes, folds)
        On the rows of the fit and on those held out.
    fit_times, score_times : arrays of shape (sizes, folds)
        If they were asked for.
    """
    if exploit_incremental_learning and not hasattr(estimator, "partial_fit"):
        raise ValueError("An estimator must support the partial_fit interface to exploit incremental learning")
    check_call("learning_curve", estimator=estimator, n_jobs=n_jobs)
    check_error_score(error_score)
    check_groups(groups)
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    scorer = check_scoring_for(estimator, scoring)
    named = {"estimator": estimator, "splitter": splitter, "scorer": scorer}
    parts = routed("learning_curve", named, params, groups=groups, partial=True)
    folds = list(splitter.split(X, y, **parts.splitter.split))
    sizes = absolute_sizes(train_sizes, len(folds[0][0]))
    if verbose > 0:
        print(f"[learning_curve] Training set sizes: {sizes}")
    if shuffle:
        random = check_random_state(random_state)
        folds = [(random.permutation(train), test) for train, test in folds]
    words = Scoring(scorer, {}, parts.scorer.score, True, error_score, verbose=verbose)
    if exploit_incremental_learning:
        classes = np.unique(y) if is_classifier(estimator) else None
        runs = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, verbose=verbose)(
            delayed(_grow)(clone(estimator), X, y, classes, fold, sizes, words, parts.estimator.partial_fit)
            for fold in folds
        )
        found = np.asarray(runs).transpose(2, 1, 0)
        return (sizes, *found) if return_times else (sizes, *found[:2])
    prefixes = [(train[:size], test) for train, test in folds for size in sizes]
    words = Scoring(scorer, parts.estimator.fit, parts.scorer.score, True, error_score, verbose=verbose)
    workers = Workers(n_jobs, pre_dispatch, verbose)
    outcomes = evaluate(estimator, X, y, prefixes, [None], words, workers=workers)[0]
    tell_of_failures(outcomes, error_score)
    wanted = ("train", "test", "fit_time", "score_time") if return_times else ("train", "test")
    tables = [np.array([getattr(one, part) for one in outcomes]).reshape(len(folds), len(sizes)).T for part in wanted]
    return (sizes, *tables)


def absolute_sizes(train_sizes: Any, most: int) -> Any:
    """Turn shares of the rows, or numbers of them, into increasing numbers.

    Parameters
    ----------
    train_sizes : array
        Floats are shares.
    most : int
        The most rows there are.

    Returns
    -------
    array of int
        Without repetitions.

    Examples
    --------
    >>> absolute_sizes([0.5, 1.0], 10), absolute_sizes([5, 10], 10)
    (array([ 5, 10]), array([ 5, 10]))
    """
    given = np.asarray(train_sizes)
    low, high = given.min(), given.max()
    if np.issubdtype(given.dtype, np.floating):
        if low <= 0.0 or high > 1.0:
            raise ValueError(
                "train_sizes has been interpreted as fractions of the maximum number of training samples and must be "
                f"within (0, 1], but is within [{low:f}, {high:f}]."
            )
        sizes = np.clip((given * most).astype(int), 1, most)
    else:
        if low <= 0 or high > most:
            raise ValueError(
                "train_sizes has been interpreted as absolute numbers of training samples and must be within "
                f"(0, {most}], but is within [{low}, {high}]."
            )
        sizes = given
    unique = np.unique(sizes)
    if len(unique) < len(given):
        warnings.warn(
            "Removed duplicate entries from 'train_sizes'. Number of ticks will be less than the size of "
            f"'train_sizes': {len(unique)} instead of {len(given)}.",
            RuntimeWarning,
            stacklevel=3,
        )
    return unique


def _grow(
    estimator: Any, X: Any, y: Any, classes: Any, fold: Any, sizes: Any, words: Scoring, fit_params: dict[str, Any]
) -> Any:
    """Fit ever more rows of a fold and score after each step: sizes x (train, test, seconds of fit, of score)."""
    train, test = fold
    learn = estimator.partial_fit if classes is None else partial(estimator.partial_fit, classes=classes)
    rows = []
    for size, new in zip(sizes, np.split(train, sizes)[:-1], strict=True):
        X_so_far, y_so_far = _safe_split(estimator, X, y, train[:size])
        X_new, y_new = _safe_split(estimator, X, y, new)
        X_test, y_test = _safe_split(estimator, X, y, test, train[:size])
        start = time.perf_counter()
        learn(X_new, *(() if y_new is None else (y_new,)), **_check_method_params(X, params=fit_params, indices=new))
        middle = time.perf_counter()
        at_test = _check_method_params(X, params=words.score_params, indices=test)
        at_train = _check_method_params(X, params=words.score_params, indices=train[:size])
        held_out = scored(estimator, X_test, y_test, words, at_test)
        own = scored(estimator, X_so_far, y_so_far, words, at_train)
        rows.append((own, held_out, middle - start, time.perf_counter() - middle))
    return np.array(rows)

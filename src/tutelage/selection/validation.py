"""Cross-validation: the scores of an estimator on rows that it was not fitted to.

    score_f = score of the model fitted to the rows outside fold f, on the rows of fold f

The mean over folds estimates what the model of n (1 - 1/k) rows will score; its spread over folds tells less than it
seems, since the training sets overlap (`tutelage.evaluation` has intervals that know).

`cross_validate` and `cross_val_score` are scikit-learn's functions of these names, for any estimator. For a learner
that knows its folds (`tutelage.fold_paths`) no fold is refitted: ridge and least squares solve the folds from moments
that add up, logistic regression starts every fold at the fit of all rows, naive Bayes and discriminants add counts. The
numbers are the same.

It fails where rows of one group lie in several folds (pass ``groups``, or `tutelage.selection.BlockedTimeSplit` for
time), and where the features were chosen beforehand on all rows (put the choice into the estimator).

>>> import numpy as np
>>> from tutelage import Ridge
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y = X @ [1.0, -2.0, 0.5]
>>> cross_val_score(Ridge(alpha=1e-6), X, y, cv=3).round(6)
array([1., 1., 1.])
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from tutelage.selection.engine import Workers, evaluate
from tutelage.selection.fitting import Scoring, by_name, check_error_score, insert_error_scores, tell_of_failures
from tutelage.selection.routing import check_groups, routed
from tutelage.selection.scorers import check_can_be_scored


def check_scoring_for(estimator: Any, scoring: Any, *, raise_exc: bool = True) -> Any:
    """Find the scorer that ``scoring`` means, as scikit-learn does."""
    check_can_be_scored(estimator, scoring)
    return check_scoring(estimator, scoring=scoring, raise_exc=raise_exc)


def check_call(owner: str, **parameters: Any) -> None:
    """Raise an error for parameters of a function that are of the wrong kind.

    Parameters
    ----------
    owner : str
        The function.
    **parameters
        Those to check, by their names.
    """
    from sklearn.utils._param_validation import InvalidParameterError

    wanted: dict[str, tuple[Any, str]] = {
        "estimator": (lambda value: hasattr(value, "fit"), "an object implementing 'fit'"),
        "n_jobs": (lambda value: value is None or isinstance(value, Integral), "an instance of 'int' or None"),
        "error_score": (lambda value: isinstance(value, Real) or value == "raise", "a str among {'raise'} or a float"),
        "n_permutations": (
            lambda value: isinstance(value, int | np.integer) and value >= 1,
            "an int in the range [1, inf)",
        ),
        "param_name": (lambda value: isinstance(value, str), "an instance of 'str'"),
        "method": (lambda value: isinstance(value, str), "an instance of 'str'"),
    }
    for name, value in parameters.items():
        right, words = wanted[name]
        if not right(value):
            raise InvalidParameterError(f"The {name!r} parameter of {owner} must be {words}. Got {value!r} instead.")


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Score an estimator by cross-validation.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    X : indexable of n rows
        The rows.
    y : indexable of n targets, optional
        The targets.
    groups : array of shape (n,), optional
        For the splitter: which rows belong together.
    scoring : str, callable, list, tuple or dict, optional
        What to score by; None is the estimator's own ``score``.
    cv : int, splitter or iterable, optional
        How to split; None is 5 folds.
    n_jobs : int, optional
        How many fits run at once, where refitting is needed.
    verbose : int, default=0
        Above 1 every fit is told of, and every one is refitted.
    params : dict, optional
        What else the fit, the splitter and the scorer are given.
    pre_dispatch : int or str, default="2*n_jobs"
        How many fits are prepared beforehand.
    return_train_score, return_estimator, return_indices : bool, default=False
        Whether scores of the training rows, the fitted estimators, and the folds are given too.
    error_score : float or "raise", default=nan
        The score of what failed.

    Returns
    -------
    dict of arrays
        ``test_score`` (or ``test_NAME``), ``fit_time``, ``score_time`` and what was asked for.

    Examples
    --------
    >>> from tutelage import Ridge
    >>> X = [[float(i)] for i in range(12)]
    >>> found = cross_validate(Ridge(alpha=0.0), X, list(range(12)), scoring="neg_max_error", cv=3)
    >>> found["test_score"].round(6) + 0.0
    array([0., 0., 0.])
    """
    check_call("cross_validate", estimator=estimator, n_jobs=n_jobs)
    check_error_score(error_score)
    check_groups(groups)
    X, y = indexable(X, y)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    scorer = check_scoring_for(estimator, scoring, raise_exc=error_score == "raise")
    parts = routed(
        "cross_validate", {"splitter": splitter, "estimator": estimator, "scorer": scorer}, params, groups=groups
    )
    folds = list(splitter.split(X, y, **parts.splitter.split))
    words = Scoring(
        scorer, parts.estimator.fit, parts.scorer.score, return_train_score, error_score, return_estimator, verbose
    )
    table = evaluate(
        estimator, X, y, folds, [None], words, workers=Workers(n_jobs, pre_dispatch, verbose)
    )  # fmt: skip
    outcomes = table[0]
    tell_of_failures(outcomes, error_score)
    if callable(scoring):
        insert_error_scores(outcomes, error_score)
    answer: dict[str, Any] = {
        "fit_time": np.array([one.fit_time for one in outcomes]),
        "score_time": np.array([one.score_time for one in outcomes]),
    }
    if return_estimator:
        answer["estimator"] = [one.estimator for one in outcomes]
    if return_indices:
        train, test = zip(*folds, strict=True)
        answer["indices"] = {"train": train, "test": test}
    for name, values in by_name([one.test for one in outcomes]).items():
        answer[f"test_{name}"] = values
    if return_train_score:
        for name, values in by_name([one.train for one in outcomes]).items():
            answer[f"train_{name}"] = values
    return answer


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
) -> Any:
    """Score an estimator by cross-validation: one score for each fold.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, error_score
        As in `cross_validate`.
    scoring : str or callable, optional
        What to score by; None is the estimator's own ``score``.

    Returns
    -------
    array of shape (folds,)
        The scores.

    Examples
    --------
    >>> from tutelage import GaussianNB
    >>> cross_val_score(GaussianNB(), [[0.0], [0.2], [0.4], [5.0], [5.2], [5.4]], [0, 0, 0, 1, 1, 1], cv=3)
    array([1., 1., 1.])
    """
    check_call("cross_val_score", estimator=estimator)
    scorer = check_scoring_for(estimator, scoring)
    found = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring={"score": scorer},
        cv=cv,
        n_jobs=n_jobs,
        verbose=verbose,
        params=params,
        pre_dispatch=pre_dispatch,
        error_score=error_score,
    )
    return found["test_score"]

"""One fit and its scores: what cross-validation does for every candidate on every fold.

A candidate that fails, in its fit or in its score, does not end a search: its score is ``error_score`` and its reason
is kept. `refit_and_score` is the plain way, for any estimator of scikit-learn's interface, and its words and warnings
are scikit-learn's, which code may look for.

>>> import numpy as np
>>> from sklearn.metrics import check_scoring
>>> from tutelage import Ridge
>>> X, y = np.arange(6.0)[:, None], np.arange(6.0)
>>> job = Job(np.arange(4), np.arange(4, 6), {"alpha": 0.0})
>>> outcome = refit_and_score(Ridge(), X, y, job, Scoring(check_scoring(Ridge())))
>>> round(outcome.test, 6), outcome.error
(1.0, None)
"""

from __future__ import annotations

import numbers
import time
import warnings
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from traceback import format_exc
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Job:
    """One fit: where, with which parameters, and which it is of how many."""

    train: Any
    test: Any
    parameters: dict[str, Any] | None = None
    fold: tuple[int, int] | None = None
    candidate: tuple[int, int] | None = None


@dataclass(frozen=True)
class Scoring:
    """How to score a fit, and what to tell of it.

    Attributes
    ----------
    scorer : callable
        One scorer, or several in one of scikit-learn's.
    fit_params, score_params : dict
        What fit and the scorer are given beside X and y, for all rows.
    train_score : bool
        Whether the rows of the fit are scored too.
    error_score : float or "raise"
        The score of what failed.
    keep : bool
        Whether the fitted estimator is kept.
    verbose : int
        How much is printed.
    """

    scorer: Any
    fit_params: dict[str, Any] = field(default_factory=dict)
    score_params: dict[str, Any] = field(default_factory=dict)
    train_score: bool = False
    error_score: Any = np.nan
    keep: bool = False
    verbose: int = 0

    def names(self) -> list[str] | None:
        """The names of several scorers; None for one."""
        return list(self.scorer._scorers) if isinstance(self.scorer, _MultimetricScorer) else None  # noqa: SLF001

    def failed(self) -> Any:
        """Give the scores of a fit that failed."""
        names = self.names()
        return self.error_score if names is None else dict.fromkeys(names, self.error_score)


@dataclass
class Outcome:
    """What came of one fit."""

    test: Any
    train: Any = None
    fit_time: float = 0.0
    score_time: float = 0.0
    error: str | None = None
    estimator: Any = None


def check_error_score(error_score: Any) -> None:
    """Raise an error unless ``error_score`` is a number or 'raise'."""
    if not isinstance(error_score, numbers.Number) and error_score != "raise":
        raise ValueError(
            "error_score must be the string 'raise' or a numeric value. (Hint: if using 'raise', please make sure that "
            f"it has been spelled correctly.) Got {error_score!r} instead."
        )


def refit_and_score(
    estimator: Any, X: Any, y: Any, job: Job, scoring: Scoring, *, context: Any = None, caller: Any = None
) -> Outcome:
    """Fit on the training rows and score on the others.

    Parameters
    ----------
    estimator : estimator
        It is fitted itself: give a clone.
    X, y : indexable
        All rows and their targets; y may be None.
    job : Job
        Which rows, which parameters.
    scoring : Scoring
        How to score.
    context, caller : optional
        scikit-learn's context of a callback, and the search that owns it.

    Returns
    -------
    Outcome
        Scores, times, and the reason of a failure.
    """
    check_error_score(scoring.error_score)
    fit_params = _check_method_params(X, params=scoring.fit_params, indices=job.train)
    at_train = _check_method_params(X, params=scoring.score_params, indices=job.train)
    at_test = _check_method_params(X, params=scoring.score_params, indices=job.test)
    if job.parameters is not None:
        estimator = estimator.set_params(**clone(job.parameters, safe=False))
    _tell_start(job, scoring.verbose)
    start = time.perf_counter()
    X_train, y_train = _safe_split(estimator, X, y, job.train)
    X_test, y_test = _safe_split(estimator, X, y, job.test, job.train)
    weight = fit_params.get("sample_weight")
    told = {"estimator": caller, "X": X_train, "y": y_train}
    told["metadata"] = None if weight is None else {"sample_weight": weight}
    outcome = Outcome(test=None)
    try:
        with nullcontext() if context is None else context.propagate_callback_context(estimator):
            if context is not None:
                context.call_on_fit_task_begin(**told)
            estimator.fit(X_train, *(() if y_train is None else (y_train,)), **fit_params)
    except Exception:
        if scoring.error_score == "raise":
            raise
        outcome.fit_time = time.perf_counter() - start
        outcome.error = format_exc()
        outcome.test = scoring.failed()
        outcome.train = scoring.failed() if scoring.train_score else None
    else:
        outcome.fit_time = time.perf_counter() - start
        outcome.test = scored(estimator, X_test, y_test, scoring, at_test)
        outcome.score_time = time.perf_counter() - start - outcome.fit_time
        if scoring.train_score:
            outcome.train = scored(estimator, X_train, y_train, scoring, at_train)
    finally:
        if context is not None:
            context.call_on_fit_task_end(**told)
    if scoring.keep:
        outcome.estimator = estimator
    _tell_end(job, outcome, scoring)
    return outcome


def scored(estimator: Any, X: Any, y: Any, scoring: Scoring, score_params: dict[str, Any]) -> Any:
    """Score a fitted estimator: a number, or a dictionary of them."""
    several = scoring.names() is not None
    try:
        scores = scoring.scorer(estimator, X, *(() if y is None else (y,)), **score_params)
    except Exception:
        if several or scoring.error_score == "raise":
            raise
        scores = scoring.error_score
        _warn_of_score(scoring.error_score, format_exc())
    if several:
        for name, text in [(name, text) for name, text in scores.items() if isinstance(text, str)]:
            scores[name] = scoring.error_score
            _warn_of_score(scoring.error_score, text)
    if isinstance(scores, dict):
        return {name: _number(score, name) for name, score in scores.items()}
    return _number(scores, scoring.scorer)


def _warn_of_score(error_score: Any, details: str) -> None:
    warnings.warn(
        "Scoring failed. The score on this train-test partition for these parameters will be set to "
        f"{error_score}. Details: \n{details}",
        UserWarning,
        stacklevel=4,
    )


def _number(score: Any, scorer: Any) -> Any:
    if hasattr(score, "item") and np.size(score) == 1:
        score = score.item()
    if not isinstance(score, numbers.Number):
        raise ValueError(f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})")  # noqa: TRY004 - as scikit-learn
    return score


def tell_of_failures(outcomes: Sequence[Outcome], error_score: Any) -> None:
    """Raise an error if every fit failed, warn if some did."""
    reasons = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not reasons:
        return
    listed = "\n".join(
        f"{'-' * 80}\n{count} fits failed with the following error:\n{reason}"
        for reason, count in Counter(reasons).items()
    )
    details = f"Below are more details about the failures:\n{listed}"
    if len(reasons) == len(outcomes):
        raise ValueError(
            f"\nAll the {len(outcomes)} fits failed.\nIt is very likely that your model is misconfigured.\nYou can "
            f"try to debug the error by setting error_score='raise'.\n\n{details}"
        )
    warnings.warn(
        f"\n{len(reasons)} fits failed out of a total of {len(outcomes)}.\nThe score on these train-test partitions "
        f"for these parameters will be set to {error_score}.\nIf these failures are not expected, you can try to debug "
        f"them by setting error_score='raise'.\n\n{details}",
        FitFailedWarning,
        stacklevel=4,
    )


def insert_error_scores(outcomes: Sequence[Outcome], error_score: Any) -> None:
    """Give failed fits a score under every name, where only the scorer of the others told the names."""
    told = next((outcome.test for outcome in outcomes if outcome.error is None), None)
    if not isinstance(told, dict):
        return
    for outcome in outcomes:
        if outcome.error is not None:
            outcome.test = dict.fromkeys(told, error_score)
            if outcome.train is not None:
                outcome.train = dict.fromkeys(told, error_score)


def by_name(scores: Sequence[Any]) -> dict[str, Any]:
    """Collect scores by name; one without a name is called score."""
    if isinstance(scores[0], dict):
        return {name: np.asarray([one[name] for one in scores]) for name in scores[0]}
    return {"score": np.asarray(scores)}


# ---- what is printed, in scikit-learn's form ----


def _place(job: Job, verbose: int) -> str:
    if verbose <= 2 or job.fold is None:
        return ""
    text = f" {job.fold[0] + 1}/{job.fold[1]}"
    return text if verbose <= 9 or job.candidate is None else f"{text}; {job.candidate[0] + 1}/{job.candidate[1]}"


def _words(job: Job) -> str:
    return ", ".join(f"{name}={job.parameters[name]}" for name in sorted(job.parameters)) if job.parameters else ""


def _tell_start(job: Job, verbose: int) -> None:
    if verbose > 9:
        text = f"[CV{_place(job, verbose)}] START {_words(job)}"
        print(text + "." * (80 - len(text)))


def _tell_end(job: Job, outcome: Outcome, scoring: Scoring) -> None:
    verbose = scoring.verbose
    if verbose <= 1:
        return
    words = _words(job)
    result = words + (";" if words else "")
    if verbose > 2:
        if isinstance(outcome.test, dict):
            for name in sorted(outcome.test):
                train = f"train={outcome.train[name]:.3f}, " if scoring.train_score else ""
                result += f" {name}: ({train}test={outcome.test[name]:.3f})"
        elif scoring.train_score:
            result += f", score=(train={outcome.train:.3f}, test={outcome.test:.3f})"
        else:
            result += f", score={outcome.test:.3f}"
    seconds = outcome.fit_time + outcome.score_time
    result += f" total time={f'{seconds / 60:5.1f}min' if seconds > 60 else f'{seconds:5.1f}s'}"
    opening = f"[CV{_place(job, verbose)}] END "
    print(opening + "." * (80 - len(opening) - len(result)) + result)


def rows_in(X: Any) -> int:
    """Count the rows of anything that can be indexed."""
    return int(_num_samples(X))

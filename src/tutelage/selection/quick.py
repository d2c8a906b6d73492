"""Scores of many candidates at once, where the scorer is one whose formula is short.

A scorer of scikit-learn checks its input anew for every fit, which costs more than the score: 0.3 ms for an accuracy
that takes 2 microseconds. The predictions of a `tutelage.fold_paths.FoldPath` are checked already, and come for all
candidates together:

    accuracy                mean of [prediction = y]
    r2                      1 - sum (y - prediction)^2 / sum (y - mean y)^2, the mean over outputs
    neg_mean_squared_error, neg_root_mean_squared_error, neg_mean_absolute_error    what their names say

Any other scorer is asked about each fitted model. The numbers are those of scikit-learn's functions up to the order of
a sum.

>>> import numpy as np
>>> from sklearn.metrics import get_scorer
>>> score = quick_score(get_scorer("accuracy"), None)
>>> score(np.array([0, 1, 1]), np.array([[0, 1, 0], [0, 1, 1]]))
array([0.66666667, 1.        ])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics._scorer import _PassthroughScorer, _Scorer
from sklearn.pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.base import Floats
    from tutelage.selection.fitting import Scoring

    Quick = Callable[[Any, Any], Floats | None]


def quick_score(scorer: Any, estimator: Any) -> Quick | None:
    """Give a function of (y, predictions of all candidates) that scores as a scorer does, or None.

    Parameters
    ----------
    scorer : callable
        One of scikit-learn's.
    estimator : estimator or None
        Whose own ``score`` a scorer may stand for.

    Returns
    -------
    callable or None
        It gives a score for each candidate, or None where the rows are out of the ordinary.
    """
    if isinstance(scorer, _PassthroughScorer):
        last = estimator.steps[-1][1] if type(estimator) is Pipeline else estimator  # which scores for the whole
        own = getattr(type(last), "score", None)
        if own is ClassifierMixin.score:
            return _accuracy
        return _r2 if own is RegressorMixin.score else None
    if not isinstance(scorer, _Scorer) or scorer._kwargs or scorer._response_method != "predict":  # noqa: SLF001
        return None
    return _KNOWN.get((scorer._score_func, scorer._sign))  # noqa: SLF001


def quick_scores(scoring: Scoring, estimator: Any) -> Callable[[Any, Any], list[Any] | None] | None:
    """Give a function that scores by one scorer or by several, a number or a dictionary for each candidate, or None.

    Parameters
    ----------
    scoring : Scoring
        Its scorer.
    estimator : estimator
        What is scored.

    Returns
    -------
    callable or None
        As from `quick_score`.
    """
    names = scoring.names()
    if names is None:
        one = quick_score(scoring.scorer, estimator)
        if one is None:
            return None

        def single(y: Any, predictions: Any) -> list[Any] | None:
            found = one(y, predictions)
            return None if found is None else found.tolist()

        return single
    each = {name: quick_score(scorer, estimator) for name, scorer in scoring.scorer._scorers.items()}  # noqa: SLF001
    if any(one is None for one in each.values()):
        return None

    def several(y: Any, predictions: Any) -> list[Any] | None:
        columns = {name: one(y, predictions) for name, one in each.items() if one is not None}
        if any(column is None for column in columns.values()):
            return None
        return [
            dict(zip(columns, row, strict=True))
            for row in zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True)
        ]

    return several


def _accuracy(y: Any, predictions: Any) -> Floats | None:
    if np.ndim(y) != 1 or predictions.ndim != 2 or not len(y):
        return None
    return np.asarray((predictions == np.asarray(y)).mean(axis=1), dtype=np.float64)


def _columns(y: Any, predictions: Any) -> tuple[Any, Any] | None:
    """Targets as rows x outputs and predictions as candidates x rows x outputs, or None."""
    y = np.asarray(y)
    if y.dtype.kind not in "fiub" or len(y) < 2 or y.shape != predictions.shape[1:]:
        return None
    if not np.isfinite(predictions).all():
        return None
    return y.reshape(len(y), -1).astype(np.float64), predictions.reshape(len(predictions), len(y), -1)


def _r2(y: Any, predictions: Any) -> Floats | None:
    found = _columns(y, predictions)
    if found is None:
        return None
    targets, guesses = found
    left = ((targets - guesses) ** 2).sum(axis=1)
    whole = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
    if (whole == 0).any():
        return None
    made: Floats = (1 - left / whole).mean(axis=1)
    return made


def _mean_squared(y: Any, predictions: Any) -> Floats | None:
    found = _columns(y, predictions)
    return None if found is None else -((found[0] - found[1]) ** 2).mean(axis=(1, 2))


def _root_mean_squared(y: Any, predictions: Any) -> Floats | None:
    found = _columns(y, predictions)
    return None if found is None else -np.sqrt(((found[0] - found[1]) ** 2).mean(axis=1)).mean(axis=1)


def _mean_absolute(y: Any, predictions: Any) -> Floats | None:
    found = _columns(y, predictions)
    return None if found is None else -np.abs(found[0] - found[1]).mean(axis=(1, 2))


_KNOWN: dict[tuple[Any, int], Quick] = {
    (metrics.accuracy_score, 1): _accuracy,
    (metrics.r2_score, 1): _r2,
    (metrics.mean_squared_error, -1): _mean_squared,
    (metrics.root_mean_squared_error, -1): _root_mean_squared,
    (metrics.mean_absolute_error, -1): _mean_absolute,
}

"""The .632+ bootstrap: a score for small samples, between what the model says of its own rows and of others.

A model fitted to n rows drawn with repetition has seen 0.632 n different ones. Its score on the others, out, is that of
a smaller sample and too low; the score of the model of all rows on these rows, own, is too high. Efron and Tibshirani
(1997) mix them by how much the model overfits, against the score that it would have if features said nothing of the
targets, none (the targets shuffled):

    R = (own - out) / (own - none)   in [0, 1],     w = 0.632 / (1 - 0.368 R),     score = (1 - w) own + w out.

A model that does not overfit (R = 0) gives the .632 rule; one that knows every row by heart (R = 1) its score out of
the bag alone. Cost: a fit for each sample. It varies less than cross-validation and fails where own says nothing at all
of a model that is not quite a nearest neighbour: then it is still a little too high.

>>> import numpy as np
>>> from tutelage import KNeighborsClassifier
>>> random = np.random.default_rng(0)
>>> X, y = random.normal(size=(60, 2)), random.integers(0, 2, 60)
>>> found = bootstrap_score(KNeighborsClassifier(1), X, y, n_splits=20, random_state=0)
>>> found.own, abs(found.score - 0.5) < 0.15
(1.0, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.utils import _safe_indexing, check_random_state, indexable

from tutelage.selection.engine import Workers, evaluate
from tutelage.selection.fitting import Scoring, rows_in
from tutelage.selection.splits import BootstrapSplit

if TYPE_CHECKING:
    from tutelage.base import Floats

SEEN = 1 - np.exp(-1)


@dataclass(frozen=True)
class BootstrapScore:
    """The .632+ score, and what it is made of.

    Attributes
    ----------
    score : float
        The .632+ score.
    own : float
        Of the model of all rows, on these rows.
    out : float
        The mean over the samples, on the rows that were not drawn.
    none : float
        Of the model of all rows, on these rows with their targets shuffled.
    overfitting : float
        R, from 0 to 1.
    scores : array
        The score out of the bag of each sample.
    """

    score: float
    own: float
    out: float
    none: float
    overfitting: float
    scores: Floats

    def __str__(self) -> str:
        return (
            f"{self.score:.4g} by the .632+ bootstrap of {len(self.scores)} samples: {self.own:.4g} on the rows of the "
            f"fit, {self.out:.4g} on others, overfitting {self.overfitting:.2f}."
        )


def bootstrap_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_splits: int = 100,
    shuffles: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BootstrapScore:
    """Score an estimator by the .632+ bootstrap.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    X, y : indexable
        The rows and their targets.
    scoring : str or callable, optional
        What to score by, the larger the better; None is the estimator's own ``score``.
    n_splits : int, default=100
        How many samples are drawn.
    shuffles : int, default=20
        How many shuffles tell the score without information.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int, optional
        How many fits run at once.

    Returns
    -------
    BootstrapScore
        The score and its parts.
    """
    X, y = indexable(X, y)
    scorer = check_scoring(estimator, scoring)
    random = check_random_state(random_state)
    folds = list(BootstrapSplit(n_splits, random_state=random).split(X))
    words = Scoring(scorer, error_score="raise")
    outcomes = evaluate(estimator, X, y, folds, [None], words, workers=Workers(n_jobs))[0]
    scores = np.array([outcome.test for outcome in outcomes])
    model = clone(estimator).fit(X, y)
    own, out = float(scorer(model, X, y)), float(scores.mean())
    mixed = [scorer(model, X, _safe_indexing(y, random.permutation(rows_in(X)))) for _ in range(shuffles)]
    none = float(np.mean(mixed))
    bounded = max(out, none)  # worse than no information is no information
    rate = (own - bounded) / (own - none) if own > none else 0.0
    rate = float(np.clip(rate, 0.0, 1.0))
    weight = SEEN / (1 - (1 - SEEN) * rate)
    return BootstrapScore(float((1 - weight) * own + weight * bounded), own, out, none, rate, scores)

"""Is there anything in it? The score against the scores of the same estimator on shuffled targets.

If features and targets are independent, a shuffle of the targets changes nothing, so the true score is one of
n_permutations + 1 that are equally likely to be the largest:

    p = (1 + number of shuffles that score at least as much) / (1 + n_permutations)

is at most a by chance with probability at most a (Ojala and Garriga 2010, test 1). Cost: so many cross-validations,
each for the price of a fit where the learner knows its folds. It fails where rows depend on each other: pass
``groups``, within which targets are shuffled.

>>> import numpy as np
>>> from tutelage import Ridge
>>> X = np.random.default_rng(0).normal(size=(50, 2))
>>> score, shuffled, p = permutation_test_score(Ridge(), X, X @ [1.0, 1.0], n_permutations=19)
>>> p
0.05
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from tutelage.selection.engine import evaluate
from tutelage.selection.fitting import Scoring
from tutelage.selection.routing import check_groups, routed
from tutelage.selection.validation import check_call, check_scoring_for

if TYPE_CHECKING:
    from collections.abc import Sequence


def permutation_test_score(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: Any = None,
    n_permutations: int = 100,
    n_jobs: int | None = None,
    random_state: Any = 0,
    verbose: int = 0,
    scoring: Any = None,
    params: dict[str, Any] | None = None,
) -> tuple[float, Any, float]:
    """Test whether a cross-validated score could be chance.

    Parameters
    ----------
    estimator, X, y, cv, n_jobs, verbose, params
        As in `tutelage.selection.cross_validate`.
    groups : array of shape (n,), optional
        Targets are shuffled within groups, and the splitter gets them.
    n_permutations : int, default=100
        How many shuffles.
    random_state : int, RandomState or None, default=0
        The seed of the shuffles.
    scoring : str or callable, optional
        What to score by; None is the estimator's own ``score``.

    Returns
    -------
    score : float
        The mean score of the targets as they are.
    permutation_scores : array of shape (n_permutations,)
        Those of the shuffled ones.
    pvalue : float
        The share that score at least as much.
    """
    check_call("permutation_test_score", estimator=estimator, n_permutations=n_permutations, n_jobs=n_jobs)
    check_groups(groups)
    X, y, groups = indexable(X, y, groups)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    scorer = check_scoring_for(estimator, scoring)
    random = check_random_state(random_state)
    parts = routed(
        "permutation_test_score",
        {"estimator": estimator, "splitter": splitter, "scorer": scorer},
        params,
        groups=groups,
    )
    words = Scoring(scorer, parts.estimator.fit, parts.scorer.score, error_score="raise")
    split = parts.splitter.split
    score = _mean_score(estimator, X, y, splitter, split, words)
    scores = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_mean_score)(estimator, X, _shuffled(y, groups, random), splitter, split, words)
        for _ in range(n_permutations)
    )
    found = np.array(scores)
    return score, found, float((np.sum(found >= score) + 1.0) / (n_permutations + 1))


def _mean_score(estimator: Any, X: Any, y: Any, splitter: Any, split: dict[str, Any], words: Scoring) -> float:
    folds: Sequence[Any] = list(splitter.split(X, y, **split))
    return float(np.mean([outcome.test for outcome in evaluate(estimator, X, y, folds, [None], words)[0]]))


def _shuffled(y: Any, groups: Any, random: Any) -> Any:
    if groups is None:
        return _safe_indexing(y, random.permutation(len(y)))
    order = np.arange(len(groups))
    for group in np.unique(groups):
        own = np.asarray(groups) == group
        order[own] = random.permutation(order[own])
    return _safe_indexing(y, order)

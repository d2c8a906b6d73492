"""Nested cross-validation: the score of the choosing, not of the chosen.

The best of many cross-validated scores is too good, since the folds that judged also chose. Nested, every outer fold is
held out from all of it: the search runs on the other rows, and what it chose is scored on the fold. The mean is an
honest score of "search, then fit" on a little less than n rows; the choices of the folds tell how settled the choice
is.

Cost: a search for each outer fold, and where the learner knows its folds (`tutelage.fold_paths`) that is little more
than a fit for each. It fails to judge the one candidate that the search on all rows chose: it judges the procedure.

>>> import numpy as np
>>> from tutelage import GridSearchCV, Ridge
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y = X @ [1.0, -2.0, 0.5] + 0.1 * np.random.default_rng(1).normal(size=60)
>>> found = nested_score(GridSearchCV(Ridge(), {"alpha": [0.1, 1000.0]}), X, y, cv=3)
>>> found.mean > 0.98, [choice["alpha"] for choice in found.choices]
(True, [0.1, 0.1, 0.1])
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.selection.validation import cross_validate

if TYPE_CHECKING:
    from tutelage.base import Floats


@dataclass(frozen=True)
class NestedScore:
    """The scores of a search on rows that it has not seen.

    Attributes
    ----------
    scores : array of shape (folds,)
        Of what each search chose, on its fold.
    choices : list of dict
        What each search chose.
    inner : array of shape (folds,)
        The best score inside each search, too good by the difference.
    """

    scores: Floats
    choices: list[dict[str, Any]]
    inner: Floats

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def optimism(self) -> float:
        """How much the best score inside a search exceeded the score outside, on the mean."""
        return float(self.inner.mean()) - self.mean

    def __str__(self) -> str:
        (most, times), *_ = Counter(_words(choice) for choice in self.choices).most_common()
        return (
            f"{self.mean:.4g} on rows outside the search ({self.optimism:.2g} below the best inside); "
            f"{times} of {len(self.choices)} folds chose {most}."
        )


def _words(choice: dict[str, Any]) -> str:
    numbers = (float, np.floating)
    return ", ".join(f"{name}={f'{one:.4g}' if isinstance(one, numbers) else one}" for name, one in choice.items())


def nested_score(
    search: Any, X: Any, y: Any, *, cv: Any = None, scoring: Any = None, groups: Any = None, n_jobs: int | None = None
) -> NestedScore:
    """Score a search by cross-validation around it.

    Parameters
    ----------
    search : search
        `GridSearchCV` or another, with ``best_params_`` and ``best_score_`` after its fit.
    X, y : indexable
        The rows and their targets.
    cv : int, splitter or iterable, optional
        The outer folds; None is 5.
    scoring : str or callable, optional
        What to score by; None is the search's own.
    groups : array, optional
        For the outer splitter.
    n_jobs : int, optional
        How many searches run at once.

    Returns
    -------
    NestedScore
        The scores and the choices.
    """
    if not hasattr(search, "refit") or not search.refit:
        raise ValueError(f"search must be a search with refit=True, found {search!r}.")
    found = cross_validate(
        search, X, y, cv=cv, scoring=scoring, groups=groups, n_jobs=n_jobs, return_estimator=True, error_score="raise"
    )
    fitted = found["estimator"]
    inner = np.array([getattr(one, "best_score_", np.nan) for one in fitted])
    return NestedScore(found["test_score"], [dict(one.best_params_) for one in fitted], inner)

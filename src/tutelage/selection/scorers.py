"""The scorers of a search: one, or several by name.

>>> from tutelage import GridSearchCV, Ridge
>>> find_scorers(GridSearchCV(Ridge(), {}, scoring="r2"))[1]
'score'
"""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _check_multimetric_scoring, _MultimetricScorer


def find_scorers(search: Any) -> tuple[Any, Any]:
    """Give the scorer of a search, and the name of the score that decides.

    Parameters
    ----------
    search : BaseSearch
        Its ``scoring`` and ``refit``.

    Returns
    -------
    scorer, name
        Several scorers are one of scikit-learn's, and the name is ``refit``.
    """
    from tutelage.selection.search import check_refit

    if callable(search.scoring):
        return search.scoring, "score"
    if search.scoring is None or isinstance(search.scoring, str):
        return check_scoring(search.estimator, search.scoring), "score"
    scorers = _check_multimetric_scoring(search.estimator, search.scoring)
    check_refit(search.refit, scorers)
    return _MultimetricScorer(scorers=scorers, raise_exc=search.error_score == "raise"), search.refit


def scorers_take_weights(search: Any) -> bool:
    """Tell whether the scorers of a search take sample weights, and warn of those that do not."""
    scorers, _ = find_scorers(search)
    consequence = (
        "does not support sample_weight, which may lead to statistically incorrect results when fitting "
        f"{search} with sample_weight. "
    )
    if isinstance(scorers, _MultimetricScorer):
        for name, scorer in scorers._scorers.items():  # noqa: SLF001 - it has no public name for its parts
            if not scorer._accept_sample_weight():  # noqa: SLF001
                warnings.warn(f"The scoring {name}={scorer} {consequence}", UserWarning, stacklevel=4)
        return bool(scorers._accept_sample_weight())  # noqa: SLF001
    asked = getattr(scorers, "_accept_sample_weight", None)
    takes = bool(asked()) if asked is not None else "sample_weight" in signature(scorers).parameters
    if not takes:
        warnings.warn(f"The scoring {scorers} {consequence}", UserWarning, stacklevel=4)
    return takes

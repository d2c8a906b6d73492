"""The scorers of a search: one, or several by name.

>>> from tutelage import GridSearchCV, Ridge
>>> find_scorers(GridSearchCV(Ridge(), {}, scoring="r2"))[1]
'score'
"""

from __future__ import annotations

import warnings
from inspect import signature
from typing import Any

from sklearn.metrics import check_scoring, get_scorer
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
        check_can_be_scored(search.estimator, search.scoring)
        return check_scoring(search.estimator, search.scoring), "score"
    scorers = _check_multimetric_scoring(search.estimator, search.scoring)
    check_refit(search.refit, scorers)
    return _MultimetricScorer(scorers=scorers, raise_exc=search.error_score == "raise"), search.refit


def check_can_be_scored(estimator: Any, scoring: Any) -> None:
    """Raise an error for a score, given by its name, that needs a method which the estimator surely lacks.

    Examples
    --------
    >>> from tutelage import RidgeClassifier
    >>> check_can_be_scored(RidgeClassifier(), "neg_log_loss")
    Traceback (most recent call last):
    ...
    ValueError: scoring='neg_log_loss' needs predict_proba, which RidgeClassifier does not have; choose another score,
    or an estimator that has it.
    """
    if not isinstance(scoring, str):
        return
    wanted = getattr(get_scorer(scoring), "_response_method", "predict")
    methods = [wanted] if isinstance(wanted, str) else list(wanted)
    if hasattr(estimator, "predict") and not any(hasattr(estimator, method) for method in methods):
        raise ValueError(
            f"scoring={scoring!r} needs {' or '.join(methods)}, which {type(estimator).__name__} does not have; choose "
            "another score, or an estimator that has it."
        )


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

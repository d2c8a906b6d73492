"""Scores inside cross-validation: what a ``scoring`` parameter may be, and whether a scorer takes weights.

A scorer is a function of a fitted model, rows and targets whose value is the better the larger, as scikit-learn makes
them from their names:

>>> from sklearn.metrics import get_scorer
>>> accepts_weights(get_scorer("r2")), accepts_weights(get_scorer("neg_max_error"))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeAlias

Scoring: TypeAlias = str | Callable[..., Any] | None


def accepts_weights(scorer: Any) -> bool:
    """Whether a scorer takes ``sample_weight``."""
    asked = getattr(scorer, "_accept_sample_weight", None)
    if asked is not None:
        return bool(asked())
    return "sample_weight" in signature(scorer).parameters

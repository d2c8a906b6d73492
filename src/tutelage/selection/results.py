"""The table of a search: a row for each candidate, in scikit-learn's ``cv_results_``.

>>> from tutelage.selection.fitting import Outcome
>>> rows = [[Outcome(test=0.5), Outcome(test=1.0)], [Outcome(test=1.0), Outcome(test=1.0)]]
>>> table = as_table([{"C": 1}, {"C": 2}], rows)
>>> table["mean_test_score"], table["rank_test_score"], table["param_C"].data
(array([0.75, 1.  ]), array([2, 1], dtype=int32), array([1, 2]))
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata

from tutelage.selection.fitting import by_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.selection.fitting import Outcome


def as_table(
    candidates: Sequence[dict[str, Any]],
    outcomes: Sequence[Sequence[Outcome]],
    more: dict[str, list[Any]] | None = None,
    *,
    train_score: bool = False,
) -> dict[str, Any]:
    """Put what came of a search into columns.

    Parameters
    ----------
    candidates : list of dict
        The parameters of each row.
    outcomes : lists of Outcome
        For each row, of each fold.
    more : dict, optional
        Other columns.
    train_score : bool, default=False
        Whether the training rows were scored too.

    Returns
    -------
    dict of arrays
        As scikit-learn's searches have it.
    """
    table: dict[str, Any] = {name: np.asarray(values) for name, values in (more or {}).items()}
    shape = (len(candidates), len(outcomes[0]))
    flat = [outcome for row in outcomes for outcome in row]
    for name in ("fit_time", "score_time"):
        _describe(table, name, np.array([getattr(one, name) for one in flat], dtype=np.float64).reshape(shape))
    table.update(parameter_columns(candidates))
    table["params"] = list(candidates)
    train = by_name([one.train for one in flat]) if train_score else {}
    for name, values in by_name([one.test for one in flat]).items():
        scores = np.asarray(values, dtype=np.float64).reshape(shape)
        _describe(table, f"test_{name}", scores, splits=True)
        table[f"rank_test_{name}"] = ranks(table[f"mean_test_{name}"])
        if train_score:
            _describe(table, f"train_{name}", np.asarray(train[name], dtype=np.float64).reshape(shape), splits=True)
    return table


def _describe(table: dict[str, Any], name: str, values: Any, *, splits: bool = False) -> None:
    if splits:
        table.update({f"split{fold}_{name}": column for fold, column in enumerate(values.T)})
    table[f"mean_{name}"] = values.mean(axis=1)
    if splits and not np.isfinite(table[f"mean_{name}"]).all():
        warnings.warn(
            f"One or more of the {name.partition('_')[0]} scores are non-finite: {table[f'mean_{name}']}",
            UserWarning,
            stacklevel=5,
        )
    with np.errstate(invalid="ignore"):
        table[f"std_{name}"] = values.std(axis=1)


def ranks(means: Any) -> Any:
    """Rank scores, 1 for the largest; those that are no number share the last place.

    Examples
    --------
    >>> ranks(np.array([0.5, np.nan, 0.9]))
    array([2, 3, 1], dtype=int32)
    """
    if np.isnan(means).all():
        return np.ones_like(means, dtype=np.int32)
    known = np.where(np.isnan(means), np.nanmin(means) - 1, means)
    return rankdata(-known, method="min").astype(np.int32, copy=False)


def parameter_columns(candidates: Sequence[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Give a masked column for each parameter: a candidate may lack it."""
    found: dict[str, dict[int, Any]] = {}
    for row, candidate in enumerate(candidates):
        for name, value in candidate.items():
            found.setdefault(f"param_{name}", {})[row] = value
    for name, values in found.items():
        try:
            kind: Any = np.array(list(values.values()))
            kind = kind.dtype if kind.dtype.kind != "U" and kind.ndim == 1 else np.dtype(object)
        except ValueError:  # lists of different lengths
            kind = np.dtype(object)
        column: Any = MaskedArray(np.empty(len(candidates), dtype=kind), mask=True)
        for row, value in values.items():
            column[row] = value
        yield name, column

"""Refitting on parts of a table: what cross-validated intervals and comparisons share.

A model is cloned, fitted on some rows and asked about others; any estimator with scikit-learn's interface will do, and
X may be an array, a sparse matrix or a frame. Folds are drawn by a seed, with the classes in their shares for
classifiers.

>>> import numpy as np
>>> folds = random_folds(np.repeat([0, 1], [4, 8]), 4, 0, stratified=True)
>>> sorted(np.concatenate(folds).tolist()) == list(range(12))
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from tutelage.evaluation.metrics import Metric, metric
from tutelage.evaluation.scores import predicted

if TYPE_CHECKING:
    from collections.abc import Sequence


def pick(table: Any, rows: Any) -> Any:
    """Give some rows of an array, a sparse matrix or a frame."""
    return _safe_indexing(table, rows)


def default_metric(model: Any, name: str | Metric | None) -> Metric:
    """Give the metric asked for: accuracy for classifiers and the squared error for regressors if none was."""
    return metric(name if name is not None else "accuracy" if is_classifier(model) else "squared_error")


def random_folds(y: Any, folds: int, seed: int, *, stratified: bool) -> list[Any]:
    """Divide rows into folds at random.

    Parameters
    ----------
    y : array of shape (n,)
        Truth; only its classes matter, and only if stratified.
    folds : int
        How many.
    seed : int
        Which division.
    stratified : bool
        Whether each fold has the classes in the shares that the table has.

    Returns
    -------
    list of arrays
        The rows of each fold, sorted.
    """
    rows = len(y)
    if not 2 <= folds <= rows:
        raise ValueError(f"folds must lie between 2 and the number of rows, {rows}, found {folds!r}.")
    if stratified:
        labels, counts = np.unique(y, return_counts=True)
        if counts.min() < folds:
            raise ValueError(
                f"y must have {folds} rows of every class for {folds} folds, found {counts.min()} of the class "
                f"{labels.tolist()[counts.argmin()]!r}; take fewer folds, or drop the class."
            )
    maker = (StratifiedKFold if stratified else KFold)(folds, shuffle=True, random_state=seed)
    return [test for _, test in maker.split(np.zeros((rows, 1)), y if stratified else None)]


def check_table(X: Any, y: Any) -> Any:
    """Give y as a vector, after asking that X has as many rows."""
    truth = np.asarray(y)
    if truth.ndim != 1:
        raise ValueError(f"y must be a vector, found the shape {truth.shape}.")
    if _num_samples(X) != len(truth):
        raise ValueError(f"X must have a row for each of the {len(truth)} rows of y, found {_num_samples(X)}.")
    return truth


def refit_and_predict(model: Any, X: Any, y: Any, train: Any, asked: Sequence[Any], needs: str) -> list[Any]:
    """Fit a clone on some rows; give what it predicts for others, with the labels of the columns.

    Parameters
    ----------
    model : estimator
        Left as it is.
    X, y : arrays or frames
        The table.
    train : array
        The rows to learn from.
    asked : sequence of arrays
        The rows to predict, in parts.
    needs : {"labels", "probabilities", "scores", "numbers"}
        What to predict.

    Returns
    -------
    list of (prediction, classes)
        For each part.
    """
    fitted = clone(model).fit(pick(X, train), y[train])
    return [predicted(fitted, pick(X, rows), needs) for rows in asked]

"""k for the price of one search, and training sets of fewer rows.

The k nearest rows are the first k of the K nearest. So one search for K neighbours serves every k up to K: votes and
means are running sums along the list, and leave-one-out is the same search in which no row is its own neighbour. The
scores are those of refitting for every k, or n times for every k, to the last bit of each vote.

`condensed` keeps the rows that the others need to be classified by their nearest one (Hart 1968): starting from one
row, it adds each row that those kept so far get wrong, until none is. `edited` drops the rows that their k neighbours
outvote (Wilson 1972), which smooths the border; condensing after editing keeps what carries it.

>>> import numpy as np
>>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
>>> y = np.array([0, 0, 0, 1, 1, 1])
>>> scores_for_every_k(KNeighborsClassifier(), X, y, largest=5)
array([1. , 1. , 1. , 0.5, 0. ])
>>> condensed(X, y)
array([0, 3])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import check_cv

from tutelage.base import Classifier
from tutelage.neighbours.base import KNearest, neighbour_weights
from tutelage.neighbours.classify import KNeighborsClassifier
from tutelage.neighbours.index import Index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tutelage.base import Floats


def predictions_for_every_k(model: Any, X: Any, largest: int) -> Any:
    """Predict with each number of neighbours from 1 to `largest`, by one search.

    Parameters
    ----------
    model : fitted KNeighborsClassifier or KNeighborsRegressor of one output
        Its `n_neighbors` does not matter.
    X : array or sparse matrix of shape (queries, d), or None
        None: the rows of the fit, each without itself.
    largest : int
        The most neighbours.

    Returns
    -------
    array of shape (largest, queries)
        Row k - 1 is what `predict` gives with n_neighbors = k.
    """
    asked = model._queries(X)  # noqa: SLF001 - of the same chapter
    model._check_enough(largest, asked is None, model.n_samples_fit_)  # noqa: SLF001
    distances, rows = model._nearest(asked, largest, exclude=asked is None)  # noqa: SLF001
    targets = model._y[rows]  # noqa: SLF001
    if targets.ndim != 2:
        raise ValueError("model must have one output for every k to be compared; fit one model for each output.")
    weights = [neighbour_weights(model.weights, distances[:, :k]) for k in range(1, largest + 1)]
    if isinstance(model, Classifier):
        return np.stack([_winners(model.classes_, targets[:, : k + 1], weights[k]) for k in range(largest)])
    if weights[0] is None:
        # As predict does it: the mean of each list, so that rounding is the same.
        return np.stack([targets[:, :k].mean(axis=1) for k in range(1, largest + 1)])
    return np.stack([(targets[:, : k + 1] * weights[k]).sum(axis=1) / weights[k].sum(axis=1) for k in range(largest)])


def _winners(classes: Any, codes: Any, weight: Any) -> Any:
    queries = len(codes)
    flat = (np.arange(queries)[:, None] * len(classes) + codes).ravel()
    found = np.bincount(flat, None if weight is None else weight.ravel(), minlength=queries * len(classes))
    return classes[found.reshape(queries, len(classes)).argmax(axis=1)]


def scores_for_every_k(model: Any, X: Any, y: Any, *, largest: int = 30, cv: Any = None) -> Floats:
    """Score each number of neighbours from 1 to `largest`.

    Parameters
    ----------
    model : KNeighborsClassifier or KNeighborsRegressor
        Not fitted, or fitted: it is cloned.
    X : array or sparse matrix of shape (n, d)
        The rows.
    y : array of shape (n,)
        Labels or targets.
    largest : int, default=30
        The most neighbours.
    cv : int, splitter, iterable or None, default=None
        How to split; None leaves one row out at a time.

    Returns
    -------
    array of shape (largest,)
        Accuracy, or the negative of the mean squared error: over all rows for leave-one-out, the mean over splits
        otherwise.
    """
    if not isinstance(model, KNearest):
        raise TypeError(f"model must be a learner of k neighbours, found {type(model).__name__}.")
    y = np.asarray(y)
    if cv is None:
        return _scores(predictions_for_every_k(clone(model).fit(X, y), None, largest), y, model)
    splitter = check_cv(cv, y, classifier=isinstance(model, Classifier))
    found = [
        _scores(predictions_for_every_k(clone(model).fit(X[train], y[train]), X[test], largest), y[test], model)
        for train, test in splitter.split(X, y)
    ]
    return np.asarray(np.mean(found, axis=0))


def _scores(predicted: Any, y: Any, model: Any) -> Floats:
    if isinstance(model, Classifier):
        return np.asarray((predicted == y).mean(axis=1), dtype=float)
    return np.asarray(-((predicted - y) ** 2).mean(axis=1), dtype=float)


def best_k(model: Any, X: Any, y: Any, *, largest: int = 30, cv: Any = None) -> int:
    """Give the number of neighbours of the best score; of several, the largest, which is the smoothest.

    Parameters
    ----------
    model, X, y, largest, cv
        As for `scores_for_every_k`.
    """
    scores = scores_for_every_k(model, X, y, largest=largest, cv=cv)
    return int(np.flatnonzero(scores == scores.max())[-1]) + 1


def condensed(X: Any, y: Any, *, metric: str = "euclidean") -> NDArray[np.intp]:
    """Give rows that classify all the others by their nearest one (Hart's condensed set), in increasing order.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows. No set can tell equal rows of different classes apart; they are not added for that.
    y : array of shape (n,)
        Their labels.
    metric : str, default="euclidean"
        How to measure.
    """
    X, y = np.asarray(X), np.asarray(y)
    kept = [0]
    nearest, owner = _distances(X, X[[0]], metric), np.zeros(len(y), dtype=np.intp)
    while True:
        wrong = np.flatnonzero((y[owner] != y) & (nearest > 0))
        if len(wrong) == 0:
            return np.sort(np.asarray(kept, dtype=np.intp))
        new = int(wrong[0])
        kept.append(new)
        distances = _distances(X, X[[new]], metric)
        closer = (distances < nearest) | ((distances == nearest) & (new < owner))
        nearest[closer], owner[closer] = distances[closer], new


def _distances(X: Any, row: Any, metric: str) -> Floats:
    return Index(row, metric, {}, "brute").nearest(X, 1)[0][:, 0].copy()


def edited(X: Any, y: Any, *, n_neighbors: int = 3, metric: str = "euclidean") -> NDArray[np.intp]:
    """Give the rows that the vote of their neighbours confirms (Wilson's edited set), in increasing order.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows.
    y : array of shape (n,)
        Their labels.
    n_neighbors : int, default=3
        How many neighbours vote.
    metric : str, default="euclidean"
        How to measure.
    """
    model = KNeighborsClassifier(n_neighbors, metric=metric).fit(X, y)
    return np.flatnonzero(model.predict(None) == np.asarray(y))

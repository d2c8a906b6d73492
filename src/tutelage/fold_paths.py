"""The protocol by which a learner announces that it can fit many candidates, on many folds, for the price of a few
fits.

Cross-validation asks for the fits of every candidate (a setting of parameters) on the training rows of every fold. Most
learners know how these fits hang together: the folds share rows, so moments and counts can be added up anew; the
candidates share a factor, a path, or a search. A learner that knows has the method

    fold_paths(X, y, folds, grid, sample_weight=None) -> iterable of FoldPath, one for each fold, in order

and `tutelage.selection` scores what it yields. One law holds: **the numbers are those of refitting**, up to the
tolerance of the fits. Where a learner has no way that keeps the law (another parameter than it knows varies, a fold
lacks a class) it says so, and the engine refits: `NoFoldPath` for all of it, None for a fold, None from
`FoldPath.model` for one candidate.

>>> import numpy as np
>>> from tutelage import Ridge
>>> X, y = np.arange(8.0)[:, None], np.array([0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0])
>>> folds = [(np.arange(4, 8), np.arange(4)), (np.arange(4), np.arange(4, 8))]
>>> paths = list(Ridge().fold_paths(X, y, folds, [{"alpha": 0.1}, {"alpha": 10.0}]))
>>> paths[0].model(1).coef_.round(6), Ridge(alpha=10.0).fit(X[4:], y[4:]).coef_.round(6)
(array([0.2]), array([0.2]))
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from sklearn.base import clone

from tutelage.machine import get_threads, serial_blas, threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    Rows = npt.NDArray[np.intp]

S = TypeVar("S")
T = TypeVar("T")


class NoFoldPath(Exception):  # noqa: N818 - no error: an answer
    """The learner has no faster way than refitting for this grid and these folds."""


class FoldPath:
    """Every candidate, fitted on the training rows of one fold."""

    def model(self, candidate: int) -> Any:
        """Give one fit.

        Parameters
        ----------
        candidate : int
            Its place in the grid.

        Returns
        -------
        estimator or None
            Fitted as refitting would have; None where the candidate must be refitted.
        """
        raise NotImplementedError

    def predictions(self) -> Any:
        """Predict the rows held out with every candidate at once, if that is cheaper than asking each model.

        Returns
        -------
        array of shape (candidates, rows) or (candidates, rows, outputs), or None
            What `predict` of each model gives; None: ask the models.
        """
        return None


@dataclass(frozen=True)
class Group:
    """Candidates that differ in one parameter only.

    Attributes
    ----------
    model : estimator
        A clone with the parameters that they share.
    candidates : list of int
        Their places in the grid.
    values : list
        The value of the one parameter for each.
    """

    model: Any
    candidates: list[int]
    values: list[Any]


def grouped(model: Any, grid: Sequence[dict[str, Any]], *names: str) -> list[Group]:
    """Take a grid apart into groups that differ in the named parameters only.

    Parameters
    ----------
    model : estimator
        Not changed.
    grid : list of dict
        The candidates.
    *names : str
        The parameters along which there is a fast way. Of several, a value is a tuple.

    Returns
    -------
    list of Group
        In the order in which their first candidates come.

    Examples
    --------
    >>> from tutelage import Ridge
    >>> groups = grouped(Ridge(), [{"alpha": 1.0}, {"alpha": 2.0}, {"alpha": 1.0, "fit_intercept": False}], "alpha")
    >>> [(group.candidates, group.values) for group in groups]
    [([0, 1], [1.0, 2.0]), ([2], [1.0])]
    """
    found: list[tuple[dict[str, Any], list[int], list[Any]]] = []
    for place, candidate in enumerate(grid):
        shared = {name: value for name, value in candidate.items() if name not in names}
        own = tuple(candidate.get(name, getattr(model, name)) for name in names)
        home = next((one for one in found if _same(one[0], shared)), None)
        if home is None:
            home = (shared, [], [])
            found.append(home)
        home[1].append(place)
        home[2].append(own[0] if len(names) == 1 else own)
    return [
        Group(clone(model).set_params(**clone(shared, safe=False)), places, values) for shared, places, values in found
    ]


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two settings are surely equal."""
    if one.keys() != other.keys():
        return False
    for name, value in one.items():
        theirs = other[name]
        if value is theirs:
            continue
        if not isinstance(value, str | int | float | bool) or type(value) is not type(theirs) or value != theirs:
            return False
    return True


def sibling(model: Any, **attributes: Any) -> Any:
    """Give a shallow copy of a model with other parameters or fitted attributes; for many of them, where `clone` is
    dear.

    Examples
    --------
    >>> from tutelage import Ridge
    >>> sibling(Ridge(alpha=2.0), alpha=3.0).alpha
    3.0
    """
    made = object.__new__(type(model))
    made.__dict__.update(model.__dict__)
    made.__dict__.update(attributes)
    return made


def as_rows(indices: Any, samples: int) -> Rows:
    """Give row numbers, from row numbers or a mask."""
    array = np.asarray(indices)
    return np.flatnonzero(array) if array.dtype == bool else np.arange(samples)[array]


def fold_codes(folds: Sequence[tuple[Rows, Rows]], samples: int) -> Rows | None:
    """Number the rows by the fold that holds them out, or answer None.

    Parameters
    ----------
    folds : list of (train, test)
        Row numbers.
    samples : int
        How many rows there are.

    Returns
    -------
    array of shape (samples,) or None
        The number of the fold; that of a row that is never held out is ``len(folds)``. None if a row is held out twice,
        or if some fold trains on anything else than all rows that it does not hold out.
    """
    if any(len(train) + len(test) != samples for train, test in folds):
        return None
    codes = np.full(samples, len(folds), dtype=np.intp)
    held = 0
    for place, (_, test) in enumerate(folds):
        codes[test] = place
        held += len(test)
    if held != int((codes < len(folds)).sum()):
        return None
    for place, (train, _) in enumerate(folds):
        seen = np.zeros(samples, dtype=bool)
        seen[train] = True
        if int(seen.sum()) != len(train) or bool((seen & (codes == place)).any()):
            return None
    return codes


def without_each(parts: Sequence[T], add: Callable[[T, T], T]) -> list[T]:
    """Add up all parts but one, for each; by additions alone, which lose no digits.

    Examples
    --------
    >>> without_each([1, 10, 100], lambda a, b: a + b)
    [110, 101, 11]
    """
    forward, backward = [parts[0]], [parts[-1]]
    for one, other in zip(parts[1:-1], parts[-2:0:-1], strict=True):
        forward.append(add(forward[-1], one))
        backward.append(add(other, backward[-1]))
    if len(parts) == 2:
        return [parts[1], parts[0]]
    backward.reverse()
    inner = [add(forward[place - 1], backward[place]) for place in range(1, len(parts) - 1)]
    return [backward[0], *inner, forward[-1]]


def side_by_side(work: Callable[[S], T], jobs: Iterable[S]) -> list[T]:
    """Do independent pieces of work on as many threads as there are, each of them on one thread.

    Parameters
    ----------
    work : callable
        What to do with each job. Most of it must be native code, which lets others run.
    jobs : iterable
        The jobs.

    Returns
    -------
    list
        The answers in order; they do not depend on the number of threads.
    """
    listed = list(jobs)

    def alone(job: S) -> T:
        with threads(1):
            return work(job)

    most = min(get_threads(), len(listed))
    with serial_blas():
        if most <= 1:
            return [alone(job) for job in listed]
        with ThreadPoolExecutor(most) as pool:
            return list(pool.map(alone, listed))

"""Folds that hold every label in its share, where rows have several labels.

A row with several labels belongs to several strata at once, so no fold can have exactly its share of each. Iterative
stratification (Sechidis, Tsoumakas and Vlahavas 2011) serves the rarest label first, while there is still a choice: of
the labels that are left it takes the one with the fewest rows, and gives each of its rows to the fold that still wants
most rows of this label; of equals, to the one that wants most rows at all. A row takes its other labels along, and what
its fold wants of them falls.

Within a label the choice depends on the row by nothing but its number, so it need not be made row by row: the m rows go
where the m largest of the numbers

    wanted_j, wanted_j - 1, wanted_j - 2, ...        over the folds j

are, which a level of water tells at once. So the rows are dealt label by label, not one by one: with the same freedom
(which of equal rows goes where is drawn) and the same result.

Cost: the labels of all rows are read once, and q k for q labels and k folds: some 10 ns for each label of each row. It
fails to balance pairs of labels, which nobody looks at.

>>> import numpy as np
>>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]])
>>> fold = deal(Y, [0.5, 0.5], 0)
>>> [Y[fold == j].sum(axis=0).tolist() for j in range(2)]
[[2, 2], [2, 2]]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt


def deal(Y: Any, shares: Any, random_state: Any = None) -> npt.NDArray[np.intp]:
    """Deal rows with several labels to folds of given shares.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n, labels)
        Zeros and ones.
    shares : array of shape (folds,)
        Which share of the rows, and of each label, each fold gets; they sum to one.
    random_state : int, RandomState or None, default=None
        The seed of what is left open.

    Returns
    -------
    array of shape (n,)
        The fold of each row.
    """
    share = np.asarray(shares, dtype=np.float64)
    if share.ndim != 1 or len(share) < 2 or not np.all(share > 0) or not np.isclose(share.sum(), 1.0):
        raise ValueError(f"shares must be at least two positive numbers that sum to 1, found {shares!r}.")
    random = check_random_state(random_state)
    samples, labels = Y.shape
    names, starts = _labels_of_rows(Y)
    lengths = np.diff(starts)
    owners = np.repeat(np.arange(samples), lengths)
    by_label = owners[np.argsort(names.astype(np.min_scalar_type(max(labels - 1, 1))), kind="stable")]
    left = np.bincount(names, minlength=labels)
    ends = np.cumsum(left)
    firsts = ends - left
    wanted, whole = np.outer(share, left), share * samples
    fold = np.full(samples, -1, dtype=np.intp)
    for _ in range(labels):
        # Labels of which nothing is left come last.
        label = int(np.argmin(np.where(left > 0, left, samples + 1)))
        if left[label] <= 0:
            break
        own = by_label[firsts[label] : ends[label]]
        own = random.permutation(own[fold[own] < 0])
        counts = _pour(wanted[:, label], whole, len(own), random)
        given = np.repeat(np.arange(len(share)), counts)
        fold[own] = given
        whole = whole - counts
        # What the other labels of these rows make of the wishes: places of all their labels, one row after the other.
        many = lengths[own]
        places = np.arange(int(many.sum())) + np.repeat(starts[own] - np.cumsum(many) + many, many)
        flat = np.bincount(np.repeat(given, many) * labels + names[places], minlength=len(share) * labels)
        taken = flat.reshape(len(share), labels)
        wanted -= taken
        left -= taken.sum(axis=0)
    bare = random.permutation(np.flatnonzero(fold < 0))
    fold[bare] = np.repeat(np.arange(len(share)), _pour(whole, whole, len(bare), random))
    return fold


def _labels_of_rows(Y: Any) -> tuple[Any, Any]:
    """Give the labels of all rows, one row after the other, and where each row begins."""
    if sparse.issparse(Y):
        rows: Any = sparse.csr_array(Y)  # type: ignore[call-overload]
        rows.eliminate_zeros()
        values, names, starts = rows.data, rows.indices, rows.indptr.astype(np.intp)
    else:
        dense = np.asarray(Y)
        values = dense
        owners, names = np.nonzero(dense)
        starts = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(dense)))])
    if not ((values == 0) | (values == 1)).all():
        raise ValueError("y must hold zeros and ones, a column for each label; found other numbers.")
    return names, starts


def _pour(wanted: Any, whole: Any, count: int, random: Any) -> Any:
    """Give each fold as many of so many rows as it has among the largest of wanted, wanted - 1, wanted - 2, ..."""
    falling = np.sort(wanted)[::-1]
    levels = (np.cumsum(falling) - count) / np.arange(1, len(wanted) + 1)
    reached = np.flatnonzero(falling > levels)
    level = levels[reached[-1]] if len(reached) else falling[0]
    sure = np.maximum(np.floor(wanted - level + 1e-9), 0).astype(np.intp)
    rest = count - int(sure.sum())
    while rest > 0:  # at most one more for each fold that reaches the level
        order = np.lexsort((random.random_sample(len(wanted)), sure - whole, np.round(sure - wanted, 9)))
        more = order[: min(rest, len(order))]
        sure[more] += 1
        rest -= len(more)
    return sure


class MultilabelStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """Folds that hold every label in its share.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds.
    random_state : int, RandomState or None, default=None
        The seed of what is left open.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import MultilabelStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [0, 1]])
    >>> [Y[test].sum(axis=0).tolist() for _, test in MultilabelStratifiedKFold(2, random_state=0).split(Y, Y)]
    [[2, 2], [2, 2]]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Give the number of folds.

        Parameters
        ----------
        X, y, groups
            Not needed.
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:  # noqa: ARG002
        """Give the row numbers of each fold.

        Parameters
        ----------
        X : indexable of n rows
            Only their number matters.
        y : array or sparse matrix of shape (n, labels)
            Zeros and ones.
        groups : None
            Not used.

        Yields
        ------
        train, test : arrays
            Row numbers, increasing.
        """
        samples = _num_samples(X)
        if not 2 <= self.n_splits <= samples:
            raise ValueError(
                f"n_splits={self.n_splits!r} must be an int of at least 2 and at most the {samples} rows there are."
            )
        if y is None or np.ndim(y) != 2:
            raise ValueError("y must have a column for each label; for one label a row use StratifiedKFold.")
        fold = deal(y, np.full(self.n_splits, 1 / self.n_splits), self.random_state)
        for place in range(self.n_splits):
            yield np.flatnonzero(fold != place), np.flatnonzero(fold == place)

"""Ways to hold rows out, beside scikit-learn's.

What the rows are decides how they may be split: at random (`KFold`, `hold_out`), in the shares of their classes
(`StratifiedKFold`, ``stratify``), whole groups at a time (`GroupKFold`, ``groups``), or in blocks of time:

    hold_out             one set kept aside
    train_dev_test       three: to fit, to choose by, to judge by
    BlockedTimeSplit     blocks of consecutive rows, with a gap around each that nothing sees
    BootstrapSplit       n rows drawn with repetition; those never drawn are held out (about 0.368 n of them)

Rows that follow each other in time resemble each other, and a random fold has the neighbours of its rows in the
training set. A block has only two ends, and a gap of h rows at each (Chu and Marron 1991; Burman, Chow and Nolan 1994:
h-block) leaves nothing to remember. ``future=False`` trains on what came before only, as a forecast must.

>>> import numpy as np
>>> for train, test in BlockedTimeSplit(3, gap=1).split(np.zeros(9)):
...     print(train, test)
[4 5 6 7 8] [0 1 2]
[0 1 7 8] [3 4 5]
[0 1 2 3 4] [6 7 8]
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from tutelage.selection.multilabel import deal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    Rows = npt.NDArray[np.intp]


class TrainDevTest(NamedTuple):
    """Row numbers to fit on, to choose by, and to judge by, each increasing."""

    train: Rows
    dev: Rows
    test: Rows


def hold_out(
    X: Any, *, share: float = 0.2, stratify: Any = None, groups: Any = None, random_state: Any = None
) -> tuple[Rows, Rows]:
    """Split rows into two parts.

    Parameters
    ----------
    X : indexable of n rows, or int
        The rows, or their number.
    share : float, default=0.2
        Of the rows, or of the groups, that is held out.
    stratify : array of shape (n,) or (n, labels), optional
        Classes, or several labels a row, that both parts have in their shares.
    groups : array of shape (n,), optional
        Rows of one group stay together.
    random_state : int, RandomState or None, default=None
        The seed.

    Returns
    -------
    train, test : arrays
        Row numbers, increasing.

    Examples
    --------
    >>> train, test = hold_out(10, share=0.3, random_state=0)
    >>> len(train), len(test)
    (7, 3)
    """
    parts = _parts(X, [1 - share, share], stratify, groups, random_state)
    return parts[0], parts[1]


def train_dev_test(
    X: Any,
    *,
    shares: tuple[float, float, float] = (0.6, 0.2, 0.2),
    stratify: Any = None,
    groups: Any = None,
    random_state: Any = None,
) -> TrainDevTest:
    """Split rows into three parts: to fit on, to choose by, to judge by.

    Parameters
    ----------
    X : indexable of n rows, or int
        The rows, or their number.
    shares : three floats, default=(0.6, 0.2, 0.2)
        Of the rows, or of the groups, for each part.
    stratify, groups, random_state
        As in `hold_out`.

    Returns
    -------
    TrainDevTest
        Row numbers.

    Examples
    --------
    >>> [len(part) for part in train_dev_test(10, random_state=0)]
    [6, 2, 2]
    """
    return TrainDevTest(*_parts(X, list(shares), stratify, groups, random_state))


def _parts(X: Any, shares: Sequence[float], stratify: Any, groups: Any, random_state: Any) -> list[Rows]:
    samples = int(X) if isinstance(X, int | np.integer) else _num_samples(X)
    given = np.asarray(shares, dtype=np.float64)
    if not (np.all(given > 0) and np.isclose(given.sum(), 1.0)):
        raise ValueError(f"The shares must lie between 0 and 1 and sum to 1, found {[float(one) for one in given]}.")
    random = check_random_state(random_state)
    if groups is not None and stratify is not None:
        raise ValueError("groups and stratify cannot be given together; use StratifiedGroupKFold for several folds.")
    if groups is not None:
        names, members = np.unique(np.asarray(groups), return_inverse=True)
        _check_length("groups", len(members), samples)
        if len(names) < len(given):
            raise ValueError(f"groups has {len(names)} of them, which cannot be split into {len(given)} parts.")
        order = random.permutation(len(names))
        of_group = np.empty(len(names), dtype=np.intp)
        of_group[order] = np.repeat(np.arange(len(given)), _sizes(len(names), given))
        return [np.flatnonzero(of_group[members] == part) for part in range(len(given))]
    if samples < len(given):
        raise ValueError(f"{samples} rows cannot be split into {len(given)} parts.")
    if stratify is None:
        part_of = np.empty(samples, dtype=np.intp)
        part_of[random.permutation(samples)] = np.repeat(np.arange(len(given)), _sizes(samples, given))
    else:
        labels = stratify if np.ndim(stratify) == 2 or hasattr(stratify, "tocsr") else _one_label(stratify, len(given))
        _check_length("stratify", labels.shape[0], samples)
        part_of = deal(labels, given, random)
    return [np.flatnonzero(part_of == part) for part in range(len(given))]


def _one_label(stratify: Any, parts: int) -> Any:
    names, codes = np.unique(np.asarray(stratify), return_inverse=True)
    sizes = np.bincount(codes)
    rare = int(sizes.argmin())
    if sizes[rare] < parts:
        raise ValueError(
            f"stratify has a class of {sizes[rare]} rows, {names[rare].item()!r}, which cannot be in each of "
            f"{parts} parts; join it with another class."
        )
    return np.eye(len(names))[codes]


def _check_length(name: str, found: int, samples: int) -> None:
    if found != samples:
        raise ValueError(f"{name} has {found} entries for {samples} rows; give one for each.")


def _sizes(count: int, shares: Any) -> Any:
    """Round shares of a number to whole numbers that sum to it, each at least one."""
    sizes = np.maximum(np.floor(shares * count + 1e-9).astype(np.intp), 1)
    while sizes.sum() > count:
        sizes[sizes.argmax()] -= 1
    order = np.argsort(-(shares * count - sizes), kind="stable")
    for place in range(count - int(sizes.sum())):
        sizes[order[place % len(order)]] += 1
    return sizes


class BlockedTimeSplit(BaseCrossValidator):  # type: ignore[misc]
    """Blocks of consecutive rows are held out, with a gap around each that is not trained on.

    Parameters
    ----------
    n_splits : int, default=5
        How many blocks.
    gap : int, default=0
        How many rows before and behind a block nothing sees.
    future : bool, default=True
        Whether rows behind a block are trained on. If not, the first rows form a block that is never held out.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import BlockedTimeSplit
    >>> for train, test in BlockedTimeSplit(2, future=False).split(np.zeros(6)):
    ...     print(train, test)
    [0 1] [2 3]
    [0 1 2 3] [4 5]
    """

    def __init__(self, n_splits: int = 5, *, gap: int = 0, future: bool = True) -> None:
        self.n_splits = n_splits
        self.gap = gap
        self.future = future

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Give the number of blocks.

        Parameters
        ----------
        X, y, groups
            Not needed.
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:  # noqa: ARG002
        """Give the row numbers of each block.

        Parameters
        ----------
        X : indexable of n rows
            In the order of time.
        y, groups
            Not used.

        Yields
        ------
        train, test : arrays
            Row numbers, increasing.
        """
        samples = _num_samples(X)
        if self.n_splits < 2 - (not self.future):
            raise ValueError(f"n_splits must be an int of at least {2 - (not self.future)}, found {self.n_splits!r}.")
        if self.gap < 0:
            raise ValueError(f"gap must be an int of at least 0, found {self.gap!r}.")
        blocks = self.n_splits + (not self.future)
        if blocks > samples:
            raise ValueError(f"{samples} rows cannot make {blocks} blocks; ask for fewer by n_splits.")
        ends = np.linspace(0, samples, blocks + 1).round().astype(np.intp)
        rows = np.arange(samples)
        for first, last in list(pairwise(ends))[int(not self.future) :]:
            seen = rows < first - self.gap
            if self.future:
                seen |= rows >= last + self.gap
            if not seen.any():
                raise ValueError(
                    f"gap={self.gap} leaves no rows to train on beside the block of rows {first} to {last - 1}; take a "
                    "smaller gap or more blocks."
                )
            yield rows[seen], rows[first:last]


class BootstrapSplit(BaseCrossValidator):  # type: ignore[misc]
    """As many rows as there are, drawn with repetition; those never drawn are held out.

    Parameters
    ----------
    n_splits : int, default=100
        How many samples are drawn.
    random_state : int, RandomState or None, default=None
        The seed.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import BootstrapSplit
    >>> train, test = next(BootstrapSplit(1, random_state=0).split(np.zeros(1000)))
    >>> len(train), len(np.intersect1d(train, test))
    (1000, 0)
    """

    def __init__(self, n_splits: int = 100, *, random_state: Any = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Give the number of samples.

        Parameters
        ----------
        X, y, groups
            Not needed.
        """
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:  # noqa: ARG002
        """Give the row numbers of each sample.

        Parameters
        ----------
        X : indexable of n rows
            Only their number matters.
        y, groups
            Not used.

        Yields
        ------
        train, test : arrays
            Row numbers; those of train repeat.
        """
        samples = _num_samples(X)
        if samples < 2:
            raise ValueError(f"A bootstrap needs at least 2 rows, found {samples}.")
        random = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            while True:
                train = np.sort(random.randint(samples, size=samples))
                test = np.setdiff1d(np.arange(samples), train, assume_unique=False)
                if len(test):
                    break
            yield train, test

"""Metrics taken apart, so that thousands of resampled tables cost little; `tutelage.evaluation.metrics` has the names.

A resampled table of n rows is a vector of n counts that sum to n. Row by row statistics need one product of these
counts with a matrix; a confusion matrix needs none, since its k^2 counts have a multinomial distribution themselves;
sorted rows need cumulative sums. Tables are made in blocks whose size depends on n alone, and the products run on one
thread, so the same seed gives the same bits everywhere.

>>> import numpy as np
>>> errors = Rows(np.array([[1.0], [3.0]]))
>>> errors.weighted(np.array([[1.0, 1.0], [2.0, 0.0]]))
array([2., 1.])
>>> errors.left_out()[0]
array([3., 1.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tutelage.machine import serial_blas

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Floats: TypeAlias = npt.NDArray[np.float64]

BLOCK = 1 << 16  # counts held at a time: they stay in the cache
MOST_BLOCKS = 200  # of rows left out together, where leaving out each costs a whole evaluation


def draws(random: np.random.Generator, rows: int, tables: int) -> Iterator[Floats]:
    """Yield blocks of counts: how often each row occurs in tables of n rows drawn with replacement."""
    step = max(1, BLOCK // rows)
    for start in range(0, tables, step):
        count = min(step, tables - start)
        drawn = random.integers(0, rows, size=(count, rows))
        drawn += np.arange(0, count * rows, rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=count * rows).reshape(count, rows).astype(float)


def all_but_a_block(rows: int) -> Iterator[Floats]:
    """Yield counts, a few rows of them at a time, in each of which one of at most 200 blocks of rows is left out."""
    blocks = np.array_split(np.arange(rows), min(rows, MOST_BLOCKS))
    step = max(1, BLOCK // rows)
    for start in range(0, len(blocks), step):
        some = blocks[start : start + step]
        kept = np.ones((len(some), rows))
        for place, block in enumerate(some):
            kept[place, block] = 0.0
        yield kept


class _Weighted:
    """What follows from `weighted`."""

    rows: int

    def weighted(self, weights: Floats) -> Floats:
        raise NotImplementedError

    def resampled(self, random: np.random.Generator, tables: int) -> Floats:
        """Give the values on tables drawn with replacement."""
        return np.concatenate([self.weighted(counts) for counts in draws(random, self.rows, tables)])

    def left_out(self) -> tuple[Floats, Floats]:
        """Give the values with one of at most 200 blocks of rows left out."""
        values = np.concatenate([self.weighted(kept) for kept in all_but_a_block(self.rows)])
        return values, np.ones(len(values))


class Rows(_Weighted):
    """Statistics of rows, of which the weighted means say everything.

    Parameters
    ----------
    statistics : array of shape (n, m)
        The statistics.
    combine : callable, optional
        From means of shape (..., m) to values; the first mean itself if not given.
    """

    def __init__(self, statistics: Floats, combine: Callable[[Floats], Floats] | None = None) -> None:
        self.statistics = np.ascontiguousarray(statistics, dtype=np.float64)
        self.rows = len(statistics)
        self.combine = combine if combine is not None else lambda means: means[..., 0]
        self.is_mean = combine is None

    def weighted(self, weights: Floats) -> Floats:
        """Give the values under weights of shape (tables, n)."""
        with serial_blas():
            means = weights @ self.statistics
        return self.combine(means / weights.sum(axis=1, keepdims=True))

    def left_out(self) -> tuple[Floats, Floats]:
        """Give the values with each row left out."""
        if self.rows == 1:
            return np.full(1, np.nan), np.ones(1)
        rest = (self.statistics.sum(axis=0) - self.statistics) / (self.rows - 1)
        return self.combine(rest), np.ones(self.rows)


class Cells(_Weighted):
    """Rows that fall into the cells of a confusion matrix.

    Parameters
    ----------
    cell : array of intp, shape (n,)
        truth * k + prediction.
    k : int
        How many classes.
    combine : callable
        From matrices of shape (..., k, k), the truth down, to values.
    """

    def __init__(self, cell: Any, k: int, combine: Callable[[Floats], Floats]) -> None:
        self.cell, self.k, self.combine = cell, k, combine
        self.rows = len(cell)

    def table(self) -> Floats:
        """Give the confusion matrix, the truth down."""
        return np.bincount(self.cell, minlength=self.k**2).reshape(self.k, self.k).astype(float)

    def weighted(self, weights: Floats) -> Floats:
        """Give the values under weights of shape (tables, n)."""
        width = self.k**2
        place = self.cell + width * np.arange(len(weights))[:, None]
        counts = np.bincount(place.ravel(), weights=weights.ravel(), minlength=width * len(weights))
        return self.combine(counts.reshape(-1, self.k, self.k).astype(float))

    def resampled(self, random: np.random.Generator, tables: int) -> Floats:
        """Draw the matrices themselves: their counts are multinomial."""
        seen = self.table().ravel()
        filled = np.flatnonzero(seen)
        counts = np.zeros((tables, self.k**2))
        counts[:, filled] = random.multinomial(self.rows, seen[filled] / self.rows, size=tables)
        return self.combine(counts.reshape(-1, self.k, self.k).astype(float))

    def left_out(self) -> tuple[Floats, Floats]:
        """Give the values with a row of each cell left out, and how many rows the cell has."""
        seen = self.table().ravel()
        filled = np.flatnonzero(seen)
        rest = np.repeat(seen[None], len(filled), axis=0)
        rest[np.arange(len(filled)), filled] -= 1
        return self.combine(rest.reshape(-1, self.k, self.k)), seen[filled]


class Ranked(_Weighted):
    """Rows sorted by a score, for the area under the ROC curve or average precision; the mean of several such tasks.

    Parameters
    ----------
    truths, scores : lists of arrays of shape (n,)
        For each task, 1.0 where the row is positive, and the score.
    kind : {"auc", "average_precision"}
        Which.
    """

    def __init__(self, truths: list[Floats], scores: list[Floats], kind: Literal["auc", "average_precision"]) -> None:
        self.truths, self.scores, self.kind = truths, scores, kind
        self.rows = len(truths[0])
        self._sorted = [self._sort(truth, score) for truth, score in zip(truths, scores, strict=True)]

    def _sort(self, truth: Floats, score: Floats) -> tuple[Any, Floats, Any]:
        order = np.argsort(score, kind="stable") if self.kind == "auc" else np.argsort(-score, kind="stable")
        ordered = score[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        return order, truth[order], None if len(starts) == self.rows else starts

    def weighted(self, weights: Floats) -> Floats:
        """Give the values under weights of shape (tables, n)."""
        values: Floats = np.mean([self._task(weights, *one) for one in self._sorted], axis=0)
        return values

    def resampled(self, random: np.random.Generator, tables: int) -> Floats:
        """Give the values on tables drawn with replacement."""
        if len(self._sorted) > 1:
            return super().resampled(random, tables)
        # All rows are drawn alike, so the counts may be taken for those of the sorted rows: nothing need be put in
        # order.
        _, truth, starts = self._sorted[0]
        parts = [self._task(counts, slice(None), truth, starts) for counts in draws(random, self.rows, tables)]
        return np.concatenate(parts)

    def _task(self, weights: Floats, order: Any, truth: Floats, starts: Any) -> Floats:
        here = weights[:, order]
        positive = here * truth
        if starts is not None:
            positive = np.add.reduceat(positive, starts, axis=1)
            here = np.add.reduceat(here, starts, axis=1)
        total = positive.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.kind == "auc":
                negative = here - positive
                below = np.cumsum(negative, axis=1) - negative / 2
                made = np.einsum("tg,tg->t", positive, below) / (total * negative.sum(axis=1))
            else:
                ahead = np.cumsum(here, axis=1)
                precision = np.where(ahead > 0, np.cumsum(positive, axis=1) / np.where(ahead > 0, ahead, 1.0), 0.0)
                made = np.einsum("tg,tg->t", positive, precision) / total
        return np.asarray(made)

    def left_out(self) -> tuple[Floats, Floats]:
        """Give the values with each row left out (area), or a block of rows (average precision)."""
        if self.kind != "auc":
            return super().left_out()
        values = []
        for (order, truth, starts), _ in zip(self._sorted, self.truths, strict=True):
            negative, positive = 1 - truth, truth
            below, above = np.cumsum(negative) - negative, positive.sum() - np.cumsum(positive)
            if starts is not None:
                group = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, self.rows]))
                n_tie, p_tie = np.add.reduceat(negative, starts), np.add.reduceat(positive, starts)
                below = (np.cumsum(n_tie) - n_tie / 2)[group]
                above = (positive.sum() - np.cumsum(p_tie) + p_tie / 2)[group]
            whole = float(below @ positive)
            P, N = positive.sum(), negative.sum()
            with np.errstate(invalid="ignore", divide="ignore"):
                without = np.where(positive > 0, (whole - below) / ((P - 1) * N), (whole - above) / (P * (N - 1)))
            value = np.empty(self.rows)
            value[order] = without
            values.append(value)
        return np.mean(values, axis=0), np.ones(self.rows)


class Whole(_Weighted):
    """Any function of truth and prediction, called anew for each table.

    Parameters
    ----------
    truth, prediction : arrays of n rows
        The table.
    function : callable
        (truth, prediction) -> number.
    """

    def __init__(self, truth: Any, prediction: Any, function: Callable[[Any, Any], float]) -> None:
        self.truth, self.prediction, self.function = truth, prediction, function
        self.rows = len(truth)

    def weighted(self, weights: Floats) -> Floats:
        """Give the values under whole-numbered weights of shape (tables, n)."""
        numbers = np.arange(self.rows)
        values = np.empty(len(weights))
        for place, counts in enumerate(weights):
            rows = np.repeat(numbers, counts.astype(np.intp))
            values[place] = self._value(rows)
        return values

    def _value(self, rows: Any) -> float:
        return float(self.function(self.truth[rows], self.prediction[rows]))

    def resampled(self, random: np.random.Generator, tables: int) -> Floats:
        """Give the values on tables drawn with replacement; a table on which the function fails counts as unknown."""
        values = np.full(tables, np.nan)
        for place in range(tables):
            rows = random.integers(0, self.rows, size=self.rows)
            try:
                values[place] = self._value(rows)
            except ValueError:  # one class only, most often: the metric is not defined there
                continue
        return values

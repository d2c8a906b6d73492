"""Subsets of columns under squared loss: every candidate of a step from products that are made once.

For each fold keep G = X'X and c = X'y of its training rows (centred) and the same of its held-out rows, T, t and q =
y'y, about the training means. The fit to the columns S solves G_SS w = c_S, and its squared error on the held-out rows
is

    q - 2 w't_S + w'T_SS w.

Adding column j: with A = G_SS^-1 G_Sj the bordered system has w_j = (c_j - A'c_S) / (G_jj - A'G_Sj), and w_S moves by
-A w_j. Taking j away: with K = G_SS^-1, w moves by -K_j w_j / K_jj. So all candidates of a step cost s^2 d for each
fold, and no row is read again.

Cost: one pass for the products (n d^2). It fails where a column is a combination of others: that candidate is refitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import matrices
from tutelage.counts import mirrored
from tutelage.fold_paths import side_by_side
from tutelage.machine import serial_blas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutelage.base import Floats

# What is left of a column's square, once the others have explained what they can, below which it counts as theirs.
COLLINEAR = 1e-10


class SquaredSubsets:
    """Products of every fold, from which subsets of columns are scored.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows.
    y : array of shape (n,)
        The targets.
    folds : list of (train, test)
        Row numbers.
    strength : float
        Of the squared penalty, against the sum of squares.
    fit_intercept : bool
        Whether there is an intercept.
    metric : {"r2", "neg_mean_squared_error", "neg_root_mean_squared_error"}
        The score.
    """

    def __init__(
        self, X: Floats, y: Floats, folds: Sequence[tuple[Any, Any]], strength: float, fit_intercept: bool, metric: str
    ) -> None:
        self.strength, self.metric = strength, metric
        shift = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
        table = np.column_stack([X - shift, y - y.mean() if fit_intercept else y])
        total = table.sum(axis=0)
        whole = mirrored(np.asarray(matrices.rows(table).sandwich(np.ones(len(table)))))

        def measure(fold: tuple[Any, Any]) -> tuple[Any, ...]:
            train, test = fold
            held = table[test]
            inner = held.T @ held
            partition = len(train) + len(test) == len(table) and _apart(train, test, len(table))
            if partition:
                outer, mean = whole - inner, (total - held.sum(axis=0)) / len(train)
            else:
                own = table[train]
                outer, mean = own.T @ own, own.mean(axis=0)
            if fit_intercept:
                outer = outer - len(train) * np.outer(mean, mean)
                sums = held.sum(axis=0)
                inner = inner - np.outer(mean, sums) - np.outer(sums, mean) + len(test) * np.outer(mean, mean)
            spread = float(((y[test] - y[test].mean()) ** 2).sum())
            return outer, inner, spread, len(test)

        self.parts = side_by_side(measure, folds)
        for outer, _, _, _ in self.parts:
            outer[np.arange(X.shape[1]), np.arange(X.shape[1])] += strength
        self.usual = all(spread > 0 and rows > 1 for _, _, spread, rows in self.parts)

    def forward(self, chosen: Any, candidates: Any) -> Floats:
        """Score the chosen columns with each candidate added: the mean over folds; NaN where it must be refitted."""
        with serial_blas():
            made: Floats = np.mean([self._add(part, chosen, candidates) for part in self.parts], axis=0)
        return made

    def backward(self, chosen: Any) -> Floats:
        """Score the chosen columns with each of them taken away: the mean over folds."""
        with serial_blas():
            made: Floats = np.mean([self._take(part, chosen) for part in self.parts], axis=0)
        return made

    def statistics(self, chosen: Any, candidates: Any) -> Floats:
        """Give what each candidate would take off the squared error of the training rows, summed over folds."""
        found = np.zeros(len(candidates))
        for outer, _, _, _ in self.parts:
            _, _, own, left = _border(outer, chosen, candidates)
            with np.errstate(divide="ignore", invalid="ignore"):
                found += np.where(own > 0, left**2 / own, 0.0)
        return found

    def _add(self, part: tuple[Any, ...], chosen: Any, candidates: Any) -> Floats:
        outer, inner, spread, rows = part
        base, moves, own, left = _border(outer, chosen, candidates)
        sound = own > COLLINEAR * np.diag(outer)[candidates]
        with np.errstate(divide="ignore", invalid="ignore"):
            new = np.where(sound, left / own, np.nan)
        old = base[:, None] - moves * new
        target, last = inner[:-1, -1], inner[-1, -1]
        square = last - 2 * (target[chosen] @ old + target[candidates] * new)
        among = inner[np.ix_(chosen, chosen)]
        square += np.einsum("sj,st,tj->j", old, among, old, optimize=True)
        square += 2 * new * np.einsum("sj,sj->j", old, inner[np.ix_(chosen, candidates)])
        square += new**2 * np.diag(inner)[candidates]
        return self._scores(square, spread, rows)

    def _take(self, part: tuple[Any, ...], chosen: Any) -> Floats:
        outer, inner, spread, rows = part
        try:
            inverse = np.linalg.inv(outer[np.ix_(chosen, chosen)])
        except np.linalg.LinAlgError:
            return np.full(len(chosen), np.nan)
        diagonal = np.diag(inverse)
        # The diagonal of the inverse is one over what is left of each column.
        sound = diagonal * np.diag(outer)[chosen] < 1 / COLLINEAR
        point = inverse @ outer[chosen, -1]
        points = point[:, None] - inverse * (point / diagonal)
        points[np.arange(len(chosen)), np.arange(len(chosen))] = 0.0
        square = inner[-1, -1] - 2 * inner[chosen, -1] @ points
        square += np.einsum("sj,st,tj->j", points, inner[np.ix_(chosen, chosen)], points, optimize=True)
        return np.where(sound.all(), self._scores(square, spread, rows), np.nan)

    def _scores(self, square: Floats, spread: float, rows: int) -> Floats:
        if self.metric == "r2":
            return 1 - square / spread
        mean = np.maximum(square, 0.0) / rows
        return -mean if self.metric == "neg_mean_squared_error" else -np.sqrt(mean)


def _apart(train: Any, test: Any, samples: int) -> bool:
    """Whether no row is in both, nor twice in either."""
    seen = np.zeros(samples, dtype=np.intp)
    np.add.at(seen, train, 1)
    np.add.at(seen, test, 1)
    return bool((seen == 1).all())


def _border(outer: Floats, chosen: Any, candidates: Any) -> tuple[Floats, Floats, Floats, Floats]:
    """Give w of the chosen, how it moves with each candidate, and each candidate's own square and product."""
    own, left = np.diag(outer)[candidates].copy(), outer[candidates, -1].copy()
    if len(chosen) == 0:
        return np.zeros(0), np.zeros((0, len(candidates))), own, left
    across = outer[np.ix_(chosen, candidates)]
    both = np.linalg.lstsq(outer[np.ix_(chosen, chosen)], np.column_stack([across, outer[chosen, -1]]), rcond=None)[0]
    moves, base = both[:, :-1], both[:, -1]
    return base, moves, own - np.einsum("sj,sj->j", across, moves), left - moves.T @ outer[chosen, -1]

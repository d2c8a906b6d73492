"""Multiway trees as the lecture grows them: ID3's gain, C4.5's gain ratio and fractions, node by node.

A row whose value is missing goes down every branch, with the share of the weight that each branch has among the rows
whose value is known; a gain counts only the known rows, and is scaled by their share:

    gain = w(known) / w * [ H(known) - sum_v w_v / w(known) H(v) ],      ratio = gain / H(w_v / w, w(missing) / w).

>>> import numpy as np
>>> codes, weight = np.array([0, 0, 1, 1]), np.ones(4)
>>> categories = Question(np.array([0.0, 0.0, 1.0, 2.0]), codes, weight, 2, values=3)
>>> categories.gain, round(categories.ratio, 4), categories.threshold is None
(1.0, 0.6667, True)
>>> Question(np.array([1.0, 2.0, 8.0, 9.0]), codes, weight, 2, values=None).threshold
5.0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tutelage.base import Floats

ALMOST = 1e-12  # gains that differ by less are equal


def entropy(counts: Any) -> Any:
    """Entropy in bits of the last axis, for weights that need not add up to 1.

    Examples
    --------
    >>> entropy(np.array([[6.0, 6.0], [4.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts, dtype=float), where=total > 0)
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.abs((share * logs).sum(axis=-1))


def gini(counts: Any) -> Any:
    """Gini's impurity of the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts, dtype=float), where=total > 0)
    return np.where(total[..., 0] > 0, 1 - (share**2).sum(axis=-1), 0.0)


class Question:
    """What a column can do for some rows: its gain and its ratio, and for numbers the best threshold."""

    def __init__(
        self, column: Floats, codes: Any, weight: Floats, classes: int, values: int | None, impurity: Any = entropy
    ) -> None:
        known = ~np.isnan(column)
        self.known = float(weight[known].sum())
        self.gain, self.ratio = -np.inf, -np.inf
        self.threshold: float | None = None
        self.shares = np.zeros(values or 2)
        if self.known <= 0:
            return
        column, codes, weight, whole = column[known], codes[known], weight[known], float(weight.sum())
        if values is None:
            tables, cuts = _cuts(column, codes, weight, classes)
            if not len(cuts):
                return
        else:
            seen = np.minimum(column.astype(np.intp), values)  # a value the fit has not seen comes last
            flat = np.bincount(seen * classes + codes, weights=weight, minlength=(values + 1) * classes)
            tables = flat.reshape(1, values + 1, classes)[:, :values]
            if np.count_nonzero(tables[0].sum(axis=1)) < 2:
                return
        weights = tables.sum(axis=2)
        before = impurity(tables.sum(axis=1))
        gains = self.known / whole * (before - (weights * impurity(tables)).sum(axis=1) / self.known)
        best = int(np.argmax(gains > gains.max() - ALMOST))
        self.gain = float(max(0.0, gains[best]))
        self.shares = weights[best] / self.known
        split_information = float(entropy(np.append(weights[best], whole - self.known)))
        self.ratio = self.gain / split_information if split_information > 0 else 0.0
        if values is None:
            self.threshold = float(cuts[best])


def _cuts(column: Floats, codes: Any, weight: Floats, classes: int) -> tuple[Any, Floats]:
    """Every cut between two values, and the classes on its two sides: cuts x 2 x classes."""
    order = np.argsort(column, kind="stable")
    column, codes, weight = column[order], codes[order], weight[order]
    table = np.zeros((len(column), classes))
    table[np.arange(len(column)), codes] = weight
    passed = np.cumsum(table, axis=0)
    ends = np.flatnonzero(column[1:] > column[:-1])
    left = passed[ends]
    return np.stack([left, passed[-1] - left], axis=1), column[ends] / 2 + column[ends + 1] / 2


@dataclass
class Node:
    """A node: what came here, and unless it is a leaf, the column asked about and a branch for each answer."""

    counts: Floats  # weight of each class
    answer: Floats  # shares of the classes that a row ending here gets
    column: int | None = None
    threshold: float | None = None  # of a number: at most it, or above; None: a branch for each category
    gain: float = 0.0
    shares: Floats = field(default_factory=lambda: np.empty(0))  # of the branches, for rows whose value is missing
    branches: list[Node] = field(default_factory=list)

    def cut(self) -> None:
        """Make it a leaf."""
        self.column, self.threshold, self.branches, self.shares = None, None, [], np.empty(0)

    def walk(self) -> list[Node]:
        """All nodes from here down, each before its branches."""
        return [self, *(node for branch in self.branches for node in branch.walk())]

    def parts(self, column: Floats, weight: Floats) -> list[tuple[Any, Floats]]:
        """For each branch the rows that go there and their weights there; the last pair goes nowhere."""
        missing = np.isnan(column)
        if self.threshold is not None:
            branch = (column > self.threshold).astype(np.intp)
        else:
            branch = np.minimum(np.where(missing, 0, column).astype(np.intp), len(self.branches))
        found = []
        for number in range(len(self.branches) + 1):
            share = self.shares[number] if number < len(self.branches) else 0.0
            there = np.where(missing, weight * share, np.where(branch == number, weight, 0.0))
            rows = np.flatnonzero(there > 0)
            found.append((rows, there[rows]))
        return found

    def distribution(self, X: Floats, weight: Floats, made: Floats, rows: Any) -> None:
        """Add the answers for these rows, with these weights, into `made`."""
        if self.column is None:
            made[rows] += weight[:, None] * self.answer
            return
        *inside, (nowhere, lost) = self.parts(X[rows, self.column], weight)
        for branch, (some, there) in zip(self.branches, inside, strict=True):
            if len(some):
                branch.distribution(X, there, made, rows[some])
        made[rows[nowhere]] += lost[:, None] * self.answer


@dataclass(frozen=True)
class Limits:
    """When growing ends, and what is asked for."""

    criterion: str
    max_depth: int
    min_samples_split: float
    min_gain: float
    values: list[int | None]  # of each column: how many categories, or None for a number


def grow(X: Floats, codes: Any, weight: Floats, classes: int, limits: Limits, depth: int = 0) -> Node:
    """Grow a tree on rows with weights; branches without rows get the answer of their parent."""
    counts = np.bincount(codes, weights=weight, minlength=classes).astype(np.float64)
    node = Node(counts, counts / counts.sum())
    if depth >= limits.max_depth or np.count_nonzero(counts) < 2 or counts.sum() < limits.min_samples_split:
        return node
    impurity = gini if limits.criterion == "gini" else entropy
    questions = [
        Question(column, codes, weight, classes, values, impurity)
        for column, values in zip(X.T, limits.values, strict=True)
    ]
    best = choose(questions, limits.criterion)
    if best is None or questions[best].gain < limits.min_gain:
        return node
    asked = questions[best]
    node.column, node.threshold, node.gain, node.shares = best, asked.threshold, asked.gain, asked.shares
    node.branches = [node] * len(asked.shares)  # as many as there will be
    parts = node.parts(X[:, best], weight)[:-1]
    node.branches = [
        grow(X[rows], codes[rows], there, classes, limits, depth + 1)
        if len(rows)
        else Node(np.zeros(classes), node.answer)
        for rows, there in parts
    ]
    return node


def choose(questions: list[Question], criterion: str) -> int | None:
    """Take the question of the largest gain, the first of equal ones; None if no column tells any rows apart.

    By gain ratio only questions of at least the average gain count: a ratio is large too where nothing is split.
    """
    gains = np.array([question.gain for question in questions])
    possible = np.isfinite(gains)
    if not possible.any():
        return None
    worth = gains
    if criterion == "gain_ratio":
        possible &= gains >= gains[possible].mean() - ALMOST
        worth = np.array([question.ratio for question in questions])
    most = worth[possible].max()
    return int(np.flatnonzero(possible & (worth > most - ALMOST))[0])

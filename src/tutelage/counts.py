"""Counts and moments of classes: objects that add and subtract.

A learner that counts needs to know of the rows only some totals, a row of them for each class c:

    Sums         n_c = sum s_i,  sum s_i x_i
    Moments      n_c, mean_c and sum s_i (x_ij - mean_cj)^2, a column at a time
    Scatter      n_c, mean_c and sum s_i (x_i - mean_c)(x_i - mean_c)', of each class or of all together
    Categories   n_c and, for each column, how often each category occurs

over the rows i of class c with weights s. Totals of two sets of rows add up to those of their union, and totals of a
part subtracted from those of the whole are those of the rest. So a model learns more rows (`partial_fit`), forgets
some (`forget`), or is cross-validated for one count of everything and a subtraction for each fold.

Means and squares merge without cancellation (Chan, Golub and LeVeque 1983). With d = mean_b - mean_a and n = n_a + n_b,

    mean = mean_a + d n_b / n,      square = square_a + square_b + d^2 n_a n_b / n,

and subtraction solves this for a. Counts of unweighted rows are integers and subtract exactly; means and squares do
within the rounding of the larger set, so what is left of a subtraction of nearly everything has few digits.

Cost: one reading of X, in parallel; a sum or a difference costs what the totals are large.

>>> import numpy as np
>>> X = np.array([[1.0], [3.0], [10.0], [14.0]])
>>> codes = np.array([0, 0, 1, 1])
>>> whole, part = moments(X, codes, None, 2), moments(X[3:], codes[3:], None, 2)
>>> rest = whole - part
>>> rest.total.ravel(), rest.mean.ravel(), rest.square.ravel()
(array([2., 1.]), array([ 2., 10.]), array([2., 0.]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tutelage import _core, matrices

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.intp]

__all__ = ["Categories", "Moments", "Scatter", "Sums", "categories", "moments", "scatter", "sums"]

# What is left of a total after a subtraction, relative to what there was, is rounding below this.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Sums:
    """Weights of classes and weighted sums of their rows.

    Attributes
    ----------
    total : array of shape (k,)
        The weight of each class.
    sums : array of shape (k, d)
        The weighted sum of the rows of each class.
    """

    total: Floats
    sums: Floats

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.sums + other.sums)

    def __sub__(self, other: Self) -> Self:
        if min(self.sums.min(initial=0.0), other.sums.min(initial=0.0)) >= 0:
            return type(self)(_less(self.total, other.total), _less(self.sums, other.sums))
        return type(self)(_less(self.total, other.total), self.sums - other.sums)


@dataclass(frozen=True, eq=False)
class Moments:
    """Weights, means and sums of squared deviations of each column in each class.

    Attributes
    ----------
    total, mean, square : arrays of shape (k, d)
        A total has the same value for all columns where no entry is missing.
    """

    total: Floats
    mean: Floats
    square: Floats

    def __add__(self, other: Self) -> Self:
        total = self.total + other.total
        share = _ratio(other.total, total)
        step = other.mean - self.mean
        return type(self)(total, self.mean + step * share, self.square + other.square + step**2 * self.total * share)

    def __sub__(self, other: Self) -> Self:
        total = _less(self.total, other.total)
        mean = _mean_of_rest(self, other, total)
        step = other.mean - mean
        square = _less(self.square, other.square + step**2 * total * _ratio(other.total, self.total), strict=False)
        return type(self)(total, mean, np.where(total > 0, square, 0.0))

    def pooled(self) -> Moments:
        """Give the moments of all classes together, as if they were one.

        Returns
        -------
        Moments
            Of one class.
        """
        total = self.total.sum(axis=0, keepdims=True)
        mean = _ratio((self.total * self.mean).sum(axis=0, keepdims=True), total)
        square = (self.square + self.total * (self.mean - mean) ** 2).sum(axis=0, keepdims=True)
        return type(self)(total, mean, square)

    def variance(self) -> Floats:
        """Give the variance of each column in each class, zero for a class without rows.

        Returns
        -------
        array of shape (k, d)
            Squares over totals: the maximum likelihood estimate.
        """
        return _ratio(self.square, self.total)


@dataclass(frozen=True, eq=False)
class Scatter:
    """Weights and means of classes, and the scatter of their rows around them.

    Attributes
    ----------
    total : array of shape (k,)
        The weight of each class.
    mean : array of shape (k, d)
        The mean of each class.
    scatter : array of shape (k, d, d), or (d, d) for all classes together
        Symmetric.
    """

    total: Floats
    mean: Floats
    scatter: Floats

    def __add__(self, other: Self) -> Self:
        total = self.total + other.total
        share = _ratio(other.total, total)
        step = other.mean - self.mean
        mean = self.mean + step * share[:, None]
        return type(self)(total, mean, self.scatter + other.scatter + self._outer(step, self.total * share))

    def __sub__(self, other: Self) -> Self:
        total = _less(self.total, other.total)
        mean = _mean_of_rest(self, other, total)
        factor = total * _ratio(other.total, self.total)
        made = self.scatter - other.scatter - self._outer(other.mean - mean, factor)
        if made.ndim == 3:
            made[total == 0] = 0.0
        return type(self)(total, mean, made)

    def _outer(self, step: Floats, factor: Floats) -> Floats:
        subscripts = "ci,cj->ij" if self.scatter.ndim == 2 else "ci,cj->cij"
        made: Floats = np.einsum(subscripts, step * factor[:, None], step)
        return made

    def pooled(self) -> Floats:
        """Give the scatter of all classes around their own means.

        Returns
        -------
        array of shape (d, d)
            The sum over classes.
        """
        made: Floats = self.scatter if self.scatter.ndim == 2 else self.scatter.sum(axis=0)
        return made

    def moments(self) -> Moments:
        """Give the moments of each column alone, where each class has a scatter of its own.

        Returns
        -------
        Moments
            Of every class.
        """
        squares = np.ascontiguousarray(np.diagonal(self.scatter, axis1=1, axis2=2))
        return Moments(np.repeat(self.total[:, None], self.mean.shape[1], axis=1), self.mean, squares)

    def covariance(self) -> Floats:
        """Divide the scatter by the weights: the maximum likelihood estimate.

        Returns
        -------
        array of the shape of ``scatter``
            Zero where there is no row.
        """
        if self.scatter.ndim == 2:
            together: Floats = self.scatter / max(self.total.sum(), np.finfo(float).tiny)
            return together
        return _ratio(self.scatter, self.total[:, None, None])


@dataclass(frozen=True, eq=False)
class Categories:
    """Weights of classes and, for each column, of categories in each class.

    Attributes
    ----------
    total : array of shape (k,)
        The weight of each class.
    tables : tuple of arrays of shape (k, categories of the column)
        Tables of two objects that are added may differ in width: categories not seen in one are counted zero there.
    """

    total: Floats
    tables: tuple[Floats, ...]

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.tables, other.tables, strict=True)
        return type(self)(self.total + other.total, tuple(a + b for a, b in (_same_width(*pair) for pair in pairs)))

    def __sub__(self, other: Self) -> Self:
        pairs = zip(self.tables, other.tables, strict=True)
        tables = tuple(_less(a, b) for a, b in (_same_width(*pair) for pair in pairs))
        return type(self)(_less(self.total, other.total), tables)


def sums(X: Any, codes: Codes, weight: Floats | None, classes: int, threshold: float | None = None) -> Sums:
    """Add up the rows of each class.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows, checked before.
    codes : array of intp, shape (n,)
        The class of each row, 0 ... `classes` - 1.
    weight : array of shape (n,) or None
        How much each row counts.
    classes : int
        How many classes there are.
    threshold : float, optional
        Add up 1 for each entry above it, rather than the entry. At least 0 for a sparse matrix.

    Returns
    -------
    Sums
        The totals.
    """
    return Sums(*map(np.asarray, _core.class_sums(matrices.rows(X), codes, weight, classes, threshold)))


def moments(X: Any, codes: Codes, weight: Floats | None, classes: int, *, missing: bool = False) -> Moments:
    """Measure means and squared deviations of each column in each class.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows, checked before.
    codes, weight, classes
        As in `sums`.
    missing : bool, default=False
        Whether NaN is an entry to be left out.

    Returns
    -------
    Moments
        The totals.
    """
    return Moments(*map(np.asarray, _core.class_moments(matrices.rows(X), codes, weight, classes, missing)))


def scatter(X: Any, codes: Codes, weight: Floats | None, classes: int, *, own: bool = False) -> Scatter:
    """Measure the scatter of rows around the means of their classes.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows, checked before.
    codes, weight, classes
        As in `sums`.
    own : bool, default=False
        Whether each class gets a matrix of its own.

    Returns
    -------
    Scatter
        The totals.
    """
    rows = matrices.rows(X)
    total, means, _ = map(np.asarray, _core.class_moments(rows, codes, weight, classes))
    weights = total[:, 0] if X.shape[1] else np.bincount(codes, weights=weight, minlength=classes).astype(float)
    lower = np.asarray(_core.class_scatter(rows, codes, weight, means, own))
    return Scatter(np.ascontiguousarray(weights), means, mirrored(lower))


def mirrored(lower: Floats) -> Floats:
    """Fill the upper triangle of symmetric matrices whose lower triangle is given, zeros above it.

    Parameters
    ----------
    lower : array of shape (..., d, d)
        It is not changed.

    Returns
    -------
    array of shape (..., d, d)
        Symmetric to the last bit.
    """
    made: Floats = lower + np.swapaxes(np.tril(lower, -1), -1, -2)
    return made


def categories(
    X: Any, codes: Codes, weight: Floats | None, classes: int, widths: npt.ArrayLike, *, missing: bool = False
) -> Categories:
    """Count the categories of each column in each class.

    Parameters
    ----------
    X : array of integers of shape (n, d)
        Categories, 0 ... width - 1 of their column.
    codes, weight, classes
        As in `sums`.
    widths : array of d integers
        How many categories each column has.
    missing : bool, default=False
        Whether a negative number means that an entry is not there.

    Returns
    -------
    Categories
        The totals.
    """
    total = np.bincount(codes, weights=weight, minlength=classes).astype(float)
    tables = []
    for column, wide in zip(np.asarray(X).T, np.asarray(widths).tolist(), strict=True):
        cells, heavy = codes * wide + column, weight
        if missing and (absent := column < 0).any():
            cells, heavy = cells[~absent], None if weight is None else weight[~absent]
        counted = np.bincount(cells, weights=heavy, minlength=classes * wide).astype(float)
        tables.append(counted.reshape(classes, wide))
    return Categories(total, tuple(tables))


def _less(all_of_it: Floats, part: Floats, *, strict: bool = True) -> Floats:
    """Subtract totals, none of which can be negative but by rounding."""
    left = np.asarray(all_of_it - part)
    bound = ROUNDING * np.abs(all_of_it)
    if strict and np.any(left < -bound):
        raise ValueError(
            f"The rows to be forgotten must be among those that were learned; a total of {np.max(all_of_it):g} would "
            f"fall to {left.min():g}, so give rows, labels and weights as they were given to fit."
        )
    left[np.abs(left) <= bound] = 0.0
    return np.maximum(left, 0.0)


def _mean_of_rest(whole: Any, part: Any, total: Floats) -> Floats:
    ratio = _ratio(part.total, total)
    made: Floats = whole.mean + (whole.mean - part.mean) * (ratio if ratio.ndim == 2 else ratio[:, None])
    made[total == 0] = 0.0
    return made


def _ratio(above: Floats, below: Floats) -> Floats:
    """Divide; zero where there is nothing to divide by."""
    made: Floats = np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below > 0)
    return made


def _same_width(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    wide = max(a.shape[1], b.shape[1])
    one, other = (np.pad(table, ((0, 0), (0, wide - table.shape[1]))) for table in (a, b))
    return one, other

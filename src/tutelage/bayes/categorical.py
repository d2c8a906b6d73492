"""Categorical naive Bayes: in each class every column is a table of the probabilities of its categories.

    P(x_j = v | c) = (how often v occurs in column j among the rows of c + a) / (rows of c + a * categories of j)

Categories are numbers 0, 1, 2 ...; code anything else first (``OrdinalEncoder``). A category that occurs only after the
fit is an error, unless ``min_categories`` leaves it room: then smoothing gives it its share.

Cost: one count for each entry. It fails on columns with very many categories, whose tables smoothing fills.

>>> model = CategoricalNB().fit([[0], [0], [1], [1]], ["a", "a", "a", "b"])
>>> import numpy as np
>>> np.exp(model.feature_log_prob_[0])
array([[0.6       , 0.4       ],
       [0.33333333, 0.66666667]])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from tutelage.base import Accepts, Floats, Matrix
from tutelage.bayes.base import logarithm
from tutelage.bayes.discrete import DiscreteNB
from tutelage.counts import Categories, categories
from tutelage.parameters import Arrays, Count, NonNegative, Range, fitted

if TYPE_CHECKING:
    from tutelage.labels import Codes, Weights


class CategoricalNB(DiscreteNB):
    """Naive Bayes in which each column is one of some categories, coded 0, 1, 2 ...

    Examples
    --------
    >>> from tutelage import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 2], [1, 2], [0, 0]], ["yes", "yes", "no"])
    >>> model.n_categories_
    array([2, 3])
    >>> model.predict([[1, 2]])
    array(['yes'], dtype='<U3')
    """

    accepts: ClassVar[Accepts] = Accepts(one_class=True, non_negative=True)

    alpha: Annotated[
        NonNegative,
        "Smoothing: how often every category is taken to have occurred beforehand.",
        Range(1e-3, 10.0, logarithmic=True),
    ] = 1.0
    min_categories: Annotated[
        Count | Arrays | None, "How many categories there are at least, in all columns or in each."
    ] = None

    counts_: Categories = fitted("Weights of classes and categories: they add and subtract.")
    category_count_: Any = fitted("For each column, the weight of each category in each class.")
    feature_log_prob_: Any = fitted("For each column, the logarithm of the probability of each category in each class.")
    n_categories_: Any = fitted("The number of categories of each column.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags

    def _check_arrays(self, *arrays: Any, **options: Any) -> Any:
        checked = super()._check_arrays(*arrays, **options)
        if len(arrays) == 1:
            return checked.astype(np.intp)
        X, y = checked
        return X.astype(np.intp), y

    def _begin(self, X: Matrix, codes: Codes, weight: Weights | None) -> None:  # noqa: ARG002
        self.n_categories_ = self._least(X.shape[1])

    def _least(self, columns: int) -> Any:
        """Give the number of categories that each column has at least."""
        if self.min_categories is None:
            return np.zeros(columns, dtype=np.intp)
        least = np.asarray(self.min_categories)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.ndim > 0 and least.shape != (columns,):
            raise ValueError(
                f"'min_categories' should have shape ({columns},) when an array-like is provided. Got {least.shape} "
                "instead."
            )
        return np.broadcast_to(least, columns).astype(np.intp)

    def _count(self, X: Matrix, codes: Codes, weight: Weights | None) -> Categories:
        self.n_categories_ = np.maximum(self.n_categories_, X.max(axis=0) + 1)
        return categories(X, codes, weight, len(self.classes_), self.n_categories_)

    def _accept_counts(self, counted: Categories) -> None:
        # The categories that these rows know, as a fit to them would count them.
        known = [1 + int(np.flatnonzero(table.any(axis=0)).max(initial=-1)) for table in counted.tables]
        self.n_categories_ = np.maximum(self._least(len(known)), known)
        widths = zip(counted.tables, self.n_categories_, strict=True)
        tables = tuple(np.pad(table[:, :n], ((0, 0), (0, max(0, n - table.shape[1])))) for table, n in widths)
        super()._accept_counts(Categories(counted.total, tables))

    def _estimate_features(self, alpha: Any) -> None:
        self.category_count_ = list(self.counts_.tables)
        smoothed = [table + alpha for table in self.category_count_]
        self.feature_log_prob_ = [logarithm(table) - logarithm(table.sum(axis=1, keepdims=True)) for table in smoothed]

    def _unheard_of(self, X: Matrix) -> bool:
        return bool((X.max(axis=0) >= self.n_categories_).any())

    def _joint(self, X: Matrix) -> Floats:
        beyond = X.max(axis=0) >= self.n_categories_
        if beyond.any():
            j = int(np.flatnonzero(beyond)[0])
            raise IndexError(
                f"Column {j} of X has the category {X[:, j].max()}, but only {self.n_categories_[j]} were there in the "
                "fit; give min_categories to leave room for more."
            )
        joint: Floats = np.tile(self.class_log_prior_, (len(X), 1))
        for column, table in zip(X.T, self.feature_log_prob_, strict=True):
            joint += table.T[column]
        return joint

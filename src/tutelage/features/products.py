"""Products of features: `Polynomial` for numbers, `Conjunctions` for truths.

A linear model of products is a polynomial of the features; of truth values, 0 and 1, a product is the conjunction
"and". Both maps list their products in the same order: by size, then lexicographically.

`Polynomial` is scikit-learn's PolynomialFeatures, which is compiled for sparse rows and whole-column NumPy for dense
ones; written Fortran-ordered, as here, it is three to ten times as fast as by default, and measurements of blocked
variants showed nothing faster in NumPy. `Conjunctions` has no counterpart there: it lists only what occurs.

Cost: as many multiplications as there are outputs. It fails when the outputs do not fit into memory: 1000 features have
half a million products of two.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn import config_context
from sklearn.preprocessing import PolynomialFeatures

from tutelage.base import Matrix, is_sparse
from tutelage.features.maps import FeatureMap, Names, as_names
from tutelage.parameters import Among, Count, NonNegativeCount, fitted, invalid, parameter

_MOST_OUTPUTS = 2**62
_MOST_CANDIDATES = 10**8


class Polynomial(FeatureMap):
    """All products of up to `degree` features: 1, a, b, a^2, a b, b^2, ...

    It is the feature map of the polynomial kernel, made explicit. The columns are those of scikit-learn's
    PolynomialFeatures, which computes them; without the constant by default, because learners have an intercept, and
    column by column in memory, which is fast to write and which the learners here read as it is.

    See Also
    --------
    Conjunctions : Products of truth values, only those that occur.

    Examples
    --------
    >>> import numpy as np
    >>> Polynomial(degree=2).fit_transform(np.array([[2.0, 3.0]]))
    array([[2., 3., 4., 6., 9.]])
    >>> Polynomial(degree=2).fit(np.array([[2.0, 3.0]])).get_feature_names_out(["a", "b"]).tolist()
    ['a', 'b', 'a^2', 'a b', 'b^2']
    """

    degree: Annotated[Count, "The largest number of factors.", Among(2, 3)] = parameter(default=2, kw_only=False)
    interactions_only: Annotated[bool, "Whether the factors of a product must be different features."] = False
    constant: Annotated[bool, "Whether the first column is the constant 1."] = False

    n_output_features_: int = fitted("The number of products.")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the number of features.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The rows.
        y : object
            Not used.
        """
        X = self.validate(X)
        features = X.shape[1]
        outputs = sum(
            math.comb(features if self.interactions_only else features + size - 1, size)
            for size in range(1, self.degree + 1)
        )
        if outputs > _MOST_OUTPUTS:
            raise invalid(self, "degree", f"smaller, because {features} features have more than 2^62 products")
        self._products = PolynomialFeatures(
            self.degree, interaction_only=self.interactions_only, include_bias=self.constant, order="F"
        )
        self._products.fit(np.zeros((1, features)))
        self.n_output_features_ = outputs + self.constant
        return self

    def transform(self, X: Any) -> Matrix:
        """Compute the products of each row; sparse rows give sparse products."""
        X = self.validate_rows(X)
        with config_context(assume_finite=True):  # it was just checked
            # Theirs is compiled for CSR, and a loop over output columns for CSC.
            return self._products.transform(X.tocsr() if is_sparse(X) else X)

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the products: ``a^2 b``."""
        names: Names = self._products.get_feature_names_out(self.input_names(input_features))
        return names


class Conjunctions(FeatureMap):
    """All conjunctions of up to `size` features that hold in the training rows: a, b, a & b, a & not c, ...

    A feature holds where it exceeds `threshold`. With conjunctions a linear learner (perceptron, Winnow, logistic
    regression) learns formulas in disjunctive normal form. Only conjunctions that hold in at least `min_count`
    training rows are kept: they are found size by size, since a conjunction cannot hold more often than its parts
    (the Apriori rule). One matrix product counts all extensions of all conjunctions of a size.

    See Also
    --------
    Polynomial : Products of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> pairs = Conjunctions(size=2).fit(X)
    >>> pairs.get_feature_names_out(["red", "round", "sweet"]).tolist()
    ['red', 'round', 'sweet', 'red & round']
    >>> pairs.transform(X)
    array([[1., 1., 0., 1.],
           [1., 0., 0., 0.],
           [0., 0., 1., 0.]])
    """

    size: Annotated[Count, "The largest number of features in a conjunction.", Among(2, 3)] = parameter(
        default=2, kw_only=False
    )
    negations: Annotated[bool, "Whether features may also occur negated; dense rows only."] = False
    min_count: Annotated[NonNegativeCount, "The least number of training rows where a conjunction must hold."] = 1
    threshold: Annotated[float, "A feature holds where its value exceeds this; at least 0 for sparse rows."] = 0.0

    levels_: Any = fitted(
        "For each size from two on, a pair of arrays: the number of the conjunction extended, in the size before, "
        "and the "
        "literal added to it."
    )
    literals_: Any = fitted("The literals kept: features, and from ``n_features_in_`` on their negations.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.negations and self.threshold >= 0
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the conjunctions that hold often enough.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The training rows.
        y : object
            Not used.
        """
        X = self.validate(X)
        truths = self._literals(X)
        holds = np.asarray(truths.sum(axis=0, dtype=np.float64)).ravel()
        self.literals_ = np.flatnonzero(holds >= self.min_count)
        if len(self.literals_) == 0:
            most = f"at most {int(holds.max())}, the count of the most frequent feature"
            raise invalid(self, "min_count", most, f"X has n_samples={X.shape[0]}.")
        truths = _choose(truths, self.literals_)
        self.levels_ = []
        current, last = truths, np.arange(truths.shape[1])
        for size in range(2, self.size + 1):
            parents, added = self._extend(current, last, truths)
            self.levels_.append((parents, added))
            if size < self.size:
                current, last = _conjoin(current, parents, truths, added), added
        return self

    def _extend(self, current: Any, last: npt.NDArray[Any], truths: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Find the (conjunction, later literal) pairs that hold together often enough."""
        features = self.literals_ % self.n_features_in_
        if self.min_count == 0 and current.shape[1] * truths.shape[1] > _MOST_CANDIDATES:
            raise invalid(
                self, "min_count", f"at least 1 for conjunctions of {self.size} among {len(features)} features"
            )
        together = current.T @ truths
        if is_sparse(together) and self.min_count > 0:
            together = together.tocoo()
            often = together.data >= self.min_count
            parents, added = together.coords[0][often], together.coords[1][often]
        else:
            counts = together.toarray() if is_sparse(together) else together
            parents, added = np.nonzero(counts >= self.min_count)
        later = added > last[parents]
        if self.negations:
            later &= ~_contains_negation(self.levels_, features, parents, added)
        parents, added = parents[later], added[later]
        order = np.lexsort((added, parents))
        return parents[order].astype(np.intp), added[order].astype(np.intp)

    def _literals(self, X: Matrix) -> Any:
        """Give the truth of each literal in each row as 0 and 1, of a floating type so that BLAS counts exactly."""
        kind = np.float32 if X.shape[0] <= 2**24 else np.float64
        if is_sparse(X):
            truths = sparse.csc_array(X, copy=True)
            truths.data = (truths.data > self.threshold).astype(kind)
            truths.eliminate_zeros()
            return truths
        holds = np.asfortranarray(np.greater(X, self.threshold))
        return np.hstack([holds, ~holds] if self.negations else [holds]).astype(kind, order="F")

    def transform(self, X: Any) -> Matrix:
        """Say which conjunctions hold, as 0 and 1; sparse rows give a sparse answer."""
        X = self.validate_rows(X)
        truths = _choose(self._literals(X), self.literals_)
        if is_sparse(X):
            parts, current = [truths], truths
            for parents, added in self.levels_:
                current = _conjoin(current, parents, truths, added)
                parts.append(current)
            return type(X)(sparse.hstack(parts, format=X.format, dtype=X.dtype))
        width = truths.shape[1]
        result = np.empty((len(X), width + sum(len(added) for _, added in self.levels_)), dtype=X.dtype, order="F")
        result[:, :width] = truths
        begin, end = 0, width  # the columns of the size before
        for parents, added in self.levels_:
            _fill(result[:, end : end + len(added)], result[:, begin:end], parents, result[:, :width], added)
            begin, end = end, end + len(added)
        return result

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the conjunctions: ``red & not round``."""
        names = list(self.input_names(input_features))
        words = [*names, *(f"not {name}" for name in names)]
        literals = [words[literal] for literal in self.literals_]
        result, current = list(literals), literals
        for parents, added in self.levels_:
            current = [f"{current[parent]} & {literals[one]}" for parent, one in zip(parents, added, strict=True)]
            result += current
        return as_names(result)


def _choose(truths: Any, columns: npt.NDArray[Any]) -> Any:
    """Take columns, and keep the layout by columns, which a plain index would lose."""
    return truths[:, columns] if is_sparse(truths) else truths.T[columns].T


def _conjoin(current: Any, parents: npt.NDArray[Any], truths: Any, added: npt.NDArray[Any]) -> Any:
    """Extend conjunctions, each by one literal."""
    if is_sparse(current):
        return current[:, parents].multiply(truths[:, added]).tocsc()
    result = np.empty((len(current), len(parents)), dtype=current.dtype, order="F")
    _fill(result, current, parents, truths, added)
    return result


def _fill(result: Any, current: Any, parents: npt.NDArray[Any], truths: Any, added: npt.NDArray[Any]) -> None:
    """Write conjunctions column by column: whole columns are fast, and no temporary matrix is needed."""
    for column, (parent, literal) in enumerate(zip(parents.tolist(), added.tolist(), strict=True)):
        np.multiply(current[:, parent], truths[:, literal], out=result[:, column])


def _contains_negation(
    levels: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]],
    features: npt.NDArray[Any],
    parents: npt.NDArray[Any],
    added: npt.NDArray[Any],
) -> npt.NDArray[np.bool_]:
    """Tell which conjunctions already speak of the feature that a literal would add: "a & not a" is never true."""
    found = np.zeros(len(parents), dtype=bool)
    for level_parents, level_added in reversed(levels):
        found |= features[level_added[parents]] == features[added]
        parents = level_parents[parents]
    found |= features[parents] == features[added]
    return found

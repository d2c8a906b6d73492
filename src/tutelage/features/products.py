"""Products of features: `Polynomial` for numbers, `Conjunctions` for truths.

A linear model of products is a polynomial of the features; of truth values, 0 and 1, a product is the conjunction
"and". Both maps list their products in the same order: by size, then lexicographically.

Algorithm. Dense: the products of size m that begin with feature j are x_j times the products of size m - 1 that begin
with j or later, and these stand in one contiguous run of columns; so a size costs d vector products, done on blocks
of rows that stay in the cache. Sparse: every product of a row extends a product of smaller size by a later non-zero
entry of the row; one ``repeat`` enumerates all extensions, and the number of a product is a sum of binomial
coefficients.

Cost: as many multiplications as there are outputs (dense: n times C(d + m, m); sparse: by the non-zeros of each row).
It fails when the outputs do not fit into memory: d = 1000 features have half a million products of two.
"""

from __future__ import annotations

import math
from itertools import combinations, combinations_with_replacement
from typing import Annotated, Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tutelage.base import Matrix, is_sparse
from tutelage.features.maps import BLOCK, FeatureMap, Names, as_names
from tutelage.parameters import Among, Count, NonNegativeCount, fitted, invalid, parameter

_MOST_OUTPUTS = 2**62
_MOST_CANDIDATES = 10**8


class Polynomial(FeatureMap):
    """All products of up to `degree` features: 1, a, b, a^2, a b, b^2, ...

    It is the feature map of the polynomial kernel, made explicit. scikit-learn's PolynomialFeatures gives the same
    columns (with its ``include_bias`` as `constant`); this one writes Fortran-ordered blocks, several times as fast,
    because the learners here read either order.

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
    constant: Annotated[
        bool, "Whether the first column is the constant 1; most learners have an intercept instead."
    ] = False

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
        features = self.validate(X).shape[1]
        outputs = self.constant + sum(_count(features, m, self.interactions_only) for m in range(1, self.degree + 1))
        if outputs > _MOST_OUTPUTS:
            raise invalid(self, "degree", f"smaller, for {features} features have more than 2^62 products")
        if outputs == 0:
            raise invalid(self, "degree", "such that there is a product")
        self.n_output_features_ = outputs
        return self

    def transform(self, X: Any) -> Matrix:
        """Compute the products of each row; sparse rows give sparse products."""
        X = self.validate_rows(X)
        return self._transform_sparse(X.tocsr()) if is_sparse(X) else self._transform_dense(X)

    def _transform_dense(self, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
        result = np.empty((X.shape[0], self.n_output_features_), dtype=X.dtype, order="F")
        plan = _plan_dense(X.shape[1], self.degree, self.interactions_only, first=int(self.constant))
        for start in range(0, X.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            block, source = result[rows], np.asfortranarray(X[rows])
            if self.constant:
                block[:, 0] = 1
            block[:, self.constant : self.constant + X.shape[1]] = source
            for feature, begin, end, to in plan:
                np.multiply(block[:, begin:end], source[:, feature, None], out=block[:, to : to + end - begin])
        return result

    def _transform_sparse(self, X: Any) -> Any:
        parts = list(_sparse_products(X, self.degree, self.interactions_only))
        if self.constant:
            parts.insert(0, sparse.csr_array(np.ones((X.shape[0], 1), dtype=X.dtype)))
        return type(X)(sparse.hstack(parts, format="csr"))

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the products: ``a^2 b``."""
        names = self.input_names(input_features)
        choose = combinations if self.interactions_only else combinations_with_replacement
        products = ["1"] if self.constant else []
        for size in range(1, self.degree + 1):
            products += [_product_name(names, chosen) for chosen in choose(range(len(names)), size)]
        return as_names(products)


def _count(features: int, size: int, different: bool) -> int:
    """Count the products of a size."""
    return math.comb(features if different else features + size - 1, size)


def _product_name(names: Names, chosen: tuple[int, ...]) -> str:
    powers = {feature: chosen.count(feature) for feature in chosen}
    return " ".join(names[feature] if power == 1 else f"{names[feature]}^{power}" for feature, power in powers.items())


def _plan_dense(features: int, degree: int, different: bool, first: int) -> list[tuple[int, int, int, int]]:
    """List the vector products: (feature, columns begin ... end of the smaller products, column of the result)."""
    plan = []
    begins = list(range(first, first + features))  # where the products of the last size that begin with j begin
    end = first + features
    for _ in range(2, degree + 1):
        next_begins, to = [], end
        for feature in range(features):
            next_begins.append(to)
            later = feature + different
            begin = begins[later] if later < features else end
            if begin < end:
                plan.append((feature, begin, end, to))
                to += end - begin
        begins, end = next_begins, to
    return plan


def _sparse_products(X: Any, degree: int, different: bool) -> Any:
    """Yield the products of each size as a CSR matrix."""
    features = X.shape[1]
    lengths = np.diff(X.indptr)
    row_ends = np.repeat(X.indptr[1:], lengths).astype(np.int64)
    columns = X.indices.astype(np.int64)
    last = np.arange(X.nnz)  # the entry that a product ends with
    values = X.data
    chosen = [columns]  # the first, second, ... feature of each product
    yield X
    for size in range(2, degree + 1):
        choices = row_ends[last] - last - different
        term = np.repeat(np.arange(len(last)), choices)
        within = np.arange(len(term)) - np.repeat(np.cumsum(choices) - choices, choices)
        last = last[term] + different + within
        values = values[term] * X.data[last]
        chosen = [one[term] for one in chosen] + [columns[last]]
        outputs = _count(features, size, different)
        counts = _count_in_rows(lengths, size, different)
        starts = np.concatenate([[0], np.cumsum(counts)])
        index = np.int64 if max(outputs, starts[-1]) > np.iinfo(np.int32).max else np.int32
        numbers = _number(chosen, features, different)
        yield sparse.csr_array(
            (values, numbers.astype(index), starts.astype(index)), shape=(X.shape[0], outputs), copy=False
        )


def _count_in_rows(lengths: npt.NDArray[Any], size: int, different: bool) -> npt.NDArray[np.int64]:
    distinct, which = np.unique(lengths, return_inverse=True)
    return np.array([_count(int(length), size, different) for length in distinct], dtype=np.int64)[which]


def _number(chosen: list[npt.NDArray[np.int64]], features: int, different: bool) -> npt.NDArray[np.int64]:
    """Number products lexicographically.

    Before a product (c_1, ..., c_m) come, for each position t, those that agree with it up to t and have a smaller
    feature there: the choices of m - t + 1 features from the least allowed on, less those from c_t on.
    """
    size = len(chosen)
    numbers = np.zeros(len(chosen[0]), dtype=np.int64)
    least: npt.NDArray[np.int64] | int = 0
    for position, feature in enumerate(chosen):
        remaining = size - position
        counts = [_count(features - low, remaining, different) for low in range(features + 1)]
        from_feature_on = np.array(counts, dtype=np.int64)
        numbers += from_feature_on[least] - from_feature_on[feature]
        least = feature + different
    return numbers


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
        truths = self._literals(self.validate(X))
        holds = np.asarray(truths.sum(axis=0, dtype=np.float64)).ravel()
        self.literals_ = np.flatnonzero(holds >= self.min_count)
        if len(self.literals_) == 0:
            raise invalid(self, "min_count", f"at most {int(holds.max())}, the count of the most frequent feature")
        truths = truths[:, self.literals_]
        self.levels_ = []
        current, last = truths, np.arange(truths.shape[1])
        for _ in range(2, self.size + 1):
            parents, added = self._extend(current, last, truths)
            self.levels_.append((parents, added))
            current, last = _conjoin(current[:, parents], truths[:, added]), added
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
        truths = self._literals(X)[:, self.literals_]
        parts, current = [truths], truths
        for parents, added in self.levels_:
            current = _conjoin(current[:, parents], truths[:, added])
            parts.append(current)
        if is_sparse(X):
            return type(X)(sparse.hstack(parts, format=X.format, dtype=X.dtype))
        return np.hstack(parts, dtype=X.dtype)

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


def _conjoin(first: Any, second: Any) -> Any:
    return first.multiply(second) if is_sparse(first) else first * second


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

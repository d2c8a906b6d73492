"""The decision tree of the lecture: a branch for each category, gain or gain ratio, pruning, rules, a picture.

>>> from tutelage.datasets import restaurant
>>> X, y = restaurant(return_X_y=True)
>>> model = DecisionTree().fit(X.drop("Example"), y)
>>> print(model.text())
Pat?
  Full: Hun?
    F: F
    T: Type?
      Burger: T
      French: F (no example; 2 of 4 say so)
      Italian: F
      Thai: Fri?
        F: F
        T: T
  None: F
  Some: T
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy.stats import beta

from tutelage.base import Accepts, Classifier, is_sparse
from tutelage.parameters import Count, Interval, NonNegative, fitted
from tutelage.tables import Vocabulary, as_codes
from tutelage.trees.branches import Limits, Node, grow
from tutelage.trees.drawing import svg
from tutelage.trees.rules import Rule, rules_of

if TYPE_CHECKING:
    from tutelage.base import Floats


class DecisionTree(Classifier):
    """Learn a tree as ID3 and C4.5 do: a branch for each category, a threshold for numbers.

    X is a frame or an array; columns of labels are categories and may hold any number of them, columns of numbers are
    numbers. Missing values (None, NaN) go down every branch with its share of the weight. Branches without examples
    answer like their parent. Grown to the end, the tree is consistent with any data free of contradictions.

    See Also
    --------
    tutelage.DecisionTreeClassifier : Two branches, numbers only, and fast on large data.

    Examples
    --------
    >>> X = np.array([["sun", 20], ["rain", 21], ["sun", 9], ["rain", 8]], dtype=object)
    >>> model = DecisionTree().fit(X, ["out", "in", "in", "in"])
    >>> print(model.text())
    x0?
      rain: in
      sun: x1 <= 14.5?
        yes: in
        no: out
    >>> model.predict(np.array([["sun", 30], [None, 30]], dtype=object)).tolist()
    ['out', 'in']
    """

    accepts: ClassVar[Accepts] = Accepts(missing=True, one_class=True, dtypes=(np.float64,))

    criterion: Annotated[
        Literal["gain", "gain_ratio", "gini"],
        "What chooses the question: information gain (ID3), gain ratio (C4.5), or the decrease of Gini's impurity.",
    ] = "gain"
    max_depth: Annotated[Count | None, "The most questions on the way to a leaf; None: as many as it takes."] = None
    min_samples_split: Annotated[NonNegative, "The least weight of a node that is split."] = 2
    min_gain: Annotated[NonNegative, "A node is split if the gain is at least so much."] = 0.0
    pruning: Annotated[
        Literal["pessimistic"] | None,
        "C4.5's: a branch becomes a leaf where an upper bound of its error rate says so; None: no pruning.",
    ] = None
    confidence: Annotated[
        float, Interval(0, 0.5, closed="right"), "How unlikely the bound of pruning may be; smaller prunes more."
    ] = 0.25

    root_: Node = fitted("The root of the tree.")
    _vocabulary: Vocabulary
    categories_: dict[int, list[Any]] = fitted("The categories of each column that has them, by their codes.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _check_arrays(self, *arrays: Any, **options: Any) -> Any:
        if is_sparse(arrays[0]):
            return super()._check_arrays(*arrays, **options)
        known = None if options.get("reset", True) else self._vocabulary
        coded, self._vocabulary = as_codes(arrays[0], known)
        return super()._check_arrays(coded, *arrays[1:], **options)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            Columns of labels or of numbers.
        y : array of shape (n,)
            The classes.
        sample_weight : array of shape (n,), optional
            How much each row counts.
        """
        X, codes, weight = self.validate(X, y, sample_weight)
        weight = np.ones(len(codes)) if weight is None else weight
        rows = np.flatnonzero(weight)
        values = [len(self._vocabulary[j]) if j in self._vocabulary else None for j in range(X.shape[1])]
        self.categories_ = {j: sorted(known, key=known.__getitem__) for j, known in self._vocabulary.items()}
        depth = 2**31 if self.max_depth is None else self.max_depth
        limits = Limits(self.criterion, depth, self.min_samples_split, self.min_gain, values)
        self.root_ = grow(np.asarray(X)[rows], codes[rows], weight[rows], len(self.classes_), limits)
        if self.pruning == "pessimistic":
            prune_by_bound(self.root_, self.confidence)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Give the shares of the classes where each row ends, in all leaves that it reaches.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            The rows; a category that the fit has not seen is answered by the node that asks.
        """
        X = self.validate_rows(X)
        made = np.zeros((X.shape[0], len(self.classes_)))
        self.root_.distribution(np.asarray(X), np.ones(X.shape[0]), made, np.arange(X.shape[0]))
        return made

    def predict(self, X: Any) -> Any:
        """Predict the class of the largest share; the first of equal ones.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            The rows.
        """
        shares = self.predict_proba(X)
        return self.classes_[np.argmax(shares > shares.max(axis=1, keepdims=True) - 1e-12, axis=1)]

    def prune(self, X: Any, y: Any) -> Self:
        """Prune by reduced error: a branch becomes a leaf where that costs no error on these other rows.

        Parameters
        ----------
        X, y : arrays
            Rows that the tree was not grown on, and their classes.
        """
        X = self.validate_rows(X)
        codes = np.searchsorted(self.classes_, np.asarray(y))
        prune_by_rows(self.root_, np.asarray(X), codes, np.ones(len(codes)))
        return self

    def names(self) -> list[str]:
        """Name the columns: as the frame of the fit did, or x0, x1, ..."""
        named = getattr(self, "feature_names_in_", None)
        return [f"x{j}" for j in range(self.n_features_in_)] if named is None else list(named)

    def branch_names(self, node: Node) -> list[str]:
        """Name the branches of a node by the answers that lead there."""
        if node.threshold is not None or node.column is None:
            return ["yes", "no"]
        return [str(label) for label in self.categories_[node.column]]

    def question(self, node: Node) -> str:
        """Write the question that a node asks."""
        name = self.names()[node.column or 0]
        return f"{name}?" if node.threshold is None else f"{name} <= {node.threshold:.6g}?"

    def text(self) -> str:
        """Write the tree in words, a line for each branch."""
        lines: list[str] = []

        def write(node: Node, indent: str, before: str) -> None:
            if node.column is None:
                lines.append(f"{indent}{before}{self._said(node)}")
                return
            lines.append(f"{indent}{before}{self.question(node)}")
            for name, branch in zip(self.branch_names(node), node.branches, strict=True):
                if branch.column is None and not branch.counts.any():
                    total = node.counts.sum()
                    note = f" (no example; {node.counts.max():g} of {total:g} say so)"
                    lines.append(f"{indent}  {name}: {self._said(branch)}{note}")
                else:
                    write(branch, indent + "  ", f"{name}: ")

        write(self.root_, "", "")
        return "\n".join(lines)

    def _said(self, node: Node) -> str:
        return str(self.classes_[int(np.argmax(node.answer))])

    def rules(self, *, simplify: bool = False) -> list[Rule]:
        """Give a rule for each leaf that has examples, the most frequent first.

        Parameters
        ----------
        simplify : bool, default=False
            Whether to keep of several thresholds of one number only the tightest.
        """
        return rules_of(self, simplify=simplify)

    def svg(self, row: Any = None) -> str:
        """Draw the tree, each node with the shares of its classes.

        Parameters
        ----------
        row : array or frame of one row, optional
            A row whose way is highlighted.
        """
        return svg(self, None if row is None else np.asarray(self.validate_rows(row)))

    def _repr_html_(self) -> Any:
        return self.svg() if hasattr(self, "root_") else super()._repr_html_()  # type: ignore[misc]


def error_bound(errors: float, weight: float, confidence: float) -> float:
    """Give the error rate below which so few errors among so many would be less likely than the confidence.

    Examples
    --------
    >>> round(error_bound(0, 6, 0.25), 3), round(error_bound(0, 1, 0.25), 3)
    (0.206, 0.75)
    """
    if weight <= 0 or errors >= weight:
        return 1.0
    return float(beta.ppf(1 - confidence, errors + 1, weight - errors))


def prune_by_bound(node: Node, confidence: float) -> float:
    """Prune from the leaves up; answers the errors that the bound allows below this node."""
    weight = float(node.counts.sum())
    as_leaf = weight * error_bound(weight - float(node.counts.max()), weight, confidence)
    if node.column is None:
        return as_leaf if weight else 0.0
    below = sum(prune_by_bound(branch, confidence) for branch in node.branches)
    if as_leaf <= below + 1e-9:
        node.cut()
        return as_leaf
    return below


def prune_by_rows(node: Node, X: Floats, codes: Any, weight: Floats) -> float:
    """Prune from the leaves up by the errors on these rows; answers how many are left."""
    as_leaf = float(weight[codes != int(np.argmax(node.answer))].sum())
    if node.column is None:
        return as_leaf
    *parts, (nowhere, lost) = node.parts(X[:, node.column], weight)
    below = float(lost[codes[nowhere] != int(np.argmax(node.answer))].sum())
    for branch, (rows, there) in zip(node.branches, parts, strict=True):
        below += prune_by_rows(branch, X[rows], codes[rows], there)
    if as_leaf <= below:
        node.cut()
        return as_leaf
    return below

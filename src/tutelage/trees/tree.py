"""A fitted tree: arrays of nodes, and what can be read off them.

>>> from tutelage.trees import DecisionTreeClassifier
>>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"]).tree_
>>> tree.children_left.tolist(), tree.children_right.tolist()
([1, -1, -1], [2, -1, -1])
>>> tree.feature[0].item(), tree.threshold[0].item()
(0, 0.5)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from tutelage import _core
from tutelage.base import is_sparse

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix

LEAF = -1
UNDEFINED = -2
_ARRAYS = (
    *("children_left", "children_right", "feature", "threshold", "impurity", "n_node_samples"),
    *("weighted_n_node_samples", "missing_go_to_left"),
)


class Tree:
    """The nodes of a tree in arrays, parents before children; node 0 is the root.

    Attributes
    ----------
    children_left, children_right : arrays of int
        Where a row goes that answers yes or no; -1 in a leaf.
    feature, threshold : arrays
        The question: whether this feature is at most this threshold; -2 in a leaf.
    missing_go_to_left : array of uint8
        Whether a row whose value is missing goes left.
    impurity, n_node_samples, weighted_n_node_samples : arrays
        The criterion in a node, its rows, and their weight.
    value : array of shape (nodes, outputs, classes)
        Shares of the classes, or the one predicted number.
    """

    def __init__(self, arrays: dict[str, Any], n_features: int, n_classes: Any, n_outputs: int) -> None:
        for name in _ARRAYS:
            setattr(self, name, arrays[name])
        self.n_features = n_features
        self.n_classes = np.asarray(n_classes, dtype=np.intp)
        self.n_outputs = n_outputs
        self.max_n_classes = int(self.n_classes.max())
        self.value = arrays["value"].reshape(len(self.feature), n_outputs, self.max_n_classes)
        self._steps: Any = None

    if TYPE_CHECKING:
        children_left: Any
        children_right: Any
        feature: Any
        threshold: Any
        impurity: Any
        n_node_samples: Any
        weighted_n_node_samples: Any
        missing_go_to_left: Any

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_steps"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._steps = None

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.feature)

    @property
    def capacity(self) -> int:
        """The number of nodes there is room for: as many as there are."""
        return self.node_count

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(np.count_nonzero(self.children_left == LEAF))

    @property
    def max_depth(self) -> int:
        """The questions on the longest way from the root to a leaf."""
        return int(self.compute_node_depths().max()) - 1

    def compute_node_depths(self) -> Any:
        """Count the nodes on the way from the root to each node, both included."""
        depths = np.ones(self.node_count, dtype=np.int64)
        level = np.zeros(1, dtype=np.int64)
        while len(level):
            level = level[self.children_left[level] != LEAF]
            for child in (self.children_left[level], self.children_right[level]):
                depths[child] = depths[level] + 1
            level = np.concatenate([self.children_left[level], self.children_right[level]])
        return depths

    def apply(self, X: Matrix) -> Any:
        """Find the leaf of each row."""
        if self._steps is None:
            self._steps = _core.tree_steps(
                self.children_left, self.children_right, self.feature, self.threshold, self.missing_go_to_left
            )
        return self._steps.apply_sparse(*sparse_rows(X)) if is_sparse(X) else self._steps.apply(X)

    def predict(self, X: Matrix) -> Floats:
        """Give the value of each row's leaf: rows x classes, or rows x outputs x classes for several outputs."""
        found = self.value.take(self.apply(X), axis=0)
        return np.asarray(found[:, 0, :] if self.n_outputs == 1 else found)

    def parents(self) -> Any:
        """Give the parent of each node; -1 for the root."""
        found = np.full(self.node_count, LEAF, dtype=np.int64)
        inner = np.flatnonzero(self.children_left != LEAF)
        found[self.children_left[inner]] = inner
        found[self.children_right[inner]] = inner
        return found

    def decision_path(self, X: Matrix) -> Any:
        """Give a sparse matrix of rows x nodes with ones on each row's way."""
        leaves = self.apply(X)
        lengths = self.compute_node_depths()
        indptr = np.concatenate([[0], np.cumsum(lengths[leaves])])
        indices = np.empty(indptr[-1], dtype=np.int64)
        parents, at, place = self.parents(), leaves, indptr[1:] - 1
        while len(at):
            indices[place] = at
            inside = at != 0
            at, place = parents[at[inside]], place[inside] - 1
        made = sparse.csr_matrix(
            (np.ones(len(indices), dtype=np.int64), indices, indptr), (len(leaves), self.node_count)
        )
        made.sort_indices()
        return made

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """Add up, for each feature, by how much its questions decrease the criterion.

        Parameters
        ----------
        normalize : bool, default=True
            Whether the importances add up to 1.
        """
        inner = np.flatnonzero(self.children_left != LEAF)
        cost = self.weighted_n_node_samples * self.impurity
        decrease = cost[inner] - cost[self.children_left[inner]] - cost[self.children_right[inner]]
        found = np.bincount(self.feature[inner], weights=decrease, minlength=self.n_features).astype(np.float64)
        found /= self.weighted_n_node_samples[0]
        total = found.sum()
        return found / total if normalize and total > 0 else found

    def pruned(self, alpha: float) -> tuple[Tree, Any, Any]:
        """Prune by cost and complexity up to the price `alpha` a leaf.

        Returns
        -------
        tree : Tree
            What is left.
        alphas, impurities : arrays
            The prices at which branches went, and the impurity of all leaves after each.
        """
        cost = self.impurity * self.weighted_n_node_samples / self.weighted_n_node_samples[0]
        alphas, impurities, leaf = _core.prune_tree(self.children_left, self.children_right, cost, alpha)
        return self.with_leaves(leaf.astype(bool)), alphas, impurities

    def with_leaves(self, leaf: Any) -> Tree:
        """Give the tree in which these nodes are leaves, and nothing is below them."""
        kept = np.zeros(self.node_count, dtype=bool)
        level = np.zeros(1, dtype=np.int64)
        while len(level):
            kept[level] = True
            level = level[~leaf[level]]
            level = np.concatenate([self.children_left[level], self.children_right[level]])
        number = np.cumsum(kept) - 1
        arrays = {name: getattr(self, name)[kept] for name in (*_ARRAYS, "value")}
        end = np.asarray(leaf)[kept]
        for name in ("children_left", "children_right"):
            arrays[name] = np.where(end, LEAF, number[arrays[name]])
        arrays["feature"] = np.where(end, UNDEFINED, arrays["feature"])
        arrays["threshold"] = np.where(end, float(UNDEFINED), arrays["threshold"])
        arrays["missing_go_to_left"] = np.where(end, 0, arrays["missing_go_to_left"]).astype(np.uint8)
        return Tree(arrays, self.n_features, self.n_classes, self.n_outputs)


def sparse_rows(X: Matrix) -> tuple[Any, Any, Any, int]:
    """Give a sparse matrix by rows, as the core reads it: values, columns, where each row begins, number of columns."""
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    indices, indptr = (array.astype(np.int64, copy=False) for array in (X.indices, X.indptr))
    return X.data.astype(np.float64, copy=False), indices, indptr, X.shape[1]

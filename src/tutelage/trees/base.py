"""What all trees share: their parameters, how they grow, and what can be asked of them."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, metadata_routing
from sklearn.utils.validation import check_is_fitted

from tutelage import _core
from tutelage.base import Accepts, Estimator, draw_seed, is_sparse
from tutelage.parameters import Arrays, Count, Interval, NonNegative, RandomState, fitted
from tutelage.trees.tree import Tree

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix

MOST_CLASSES = 65_535
SAME_CHOICES = {"log_loss": "entropy", "friedman_mse": "squared_error"}

Splitter = Annotated[
    Literal["best", "random", "histogram"],
    "Where a question may cut: 'best' at every value, 'random' at one drawn for each feature, 'histogram' between bins "
    "of about equal count, which is fastest on large data.",
]


class Answers(NamedTuple):
    """What a tree is to learn: labels or numbers, output by output, and the classes of each output (none: numbers)."""

    labels: Any
    numbers: Any
    classes: list[int]


class Growing(Estimator):
    """Base of all that grows: the parameters of a tree, and what the core makes of them."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, missing=True, many_outputs=True)

    splitter: Splitter = "best"
    max_depth: Annotated[Count | None, "The most questions on the way to a leaf; None: as many as it takes."] = None
    min_samples_split: Annotated[
        Annotated[int, Interval(2)] | Annotated[float, Interval(0, 1, closed="right")],
        "The fewest rows of a node that is split: a number, or a share of all rows.",
    ] = 2
    min_samples_leaf: Annotated[
        Count | Annotated[float, Interval(0, 1, closed="neither")],
        "The fewest rows of a leaf: a number, or a share of all rows.",
    ] = 1
    min_weight_fraction_leaf: Annotated[
        float, Interval(0, 0.5, closed="both"), "The least weight of a leaf, as a share of all weight."
    ] = 0.0
    max_features: Annotated[
        Count | Annotated[float, Interval(0, 1, closed="right")] | Literal["sqrt", "log2"] | None,
        "How many features a node looks at: a number, a share, or a function of their number; None: all.",
    ] = None
    random_state: Annotated[RandomState, "Seed of what is drawn: features, and cuts of the random splitter."] = None
    max_leaf_nodes: Annotated[
        Annotated[int, Interval(2)] | None, "The most leaves; the tree then grows where it gains most. None: no limit."
    ] = None
    min_impurity_decrease: Annotated[
        NonNegative, "A node is split if that decreases the weighted impurity by at least so much."
    ] = 0.0
    ccp_alpha: Annotated[NonNegative, "The price of a leaf in cost-complexity pruning; 0: no pruning."] = 0.0
    monotonic_cst: Annotated[
        Arrays | None, "For each feature 1 (predictions rise with it), -1 (they fall) or 0 (no constraint)."
    ] = None
    bins: Annotated[
        int, Interval(2, 255, closed="both"), "How many bins the histogram splitter makes of a feature, at most."
    ] = 255

    n_outputs_: int = fitted("The number of columns of y.")

    if TYPE_CHECKING:
        max_features_: int

    def _arguments(self, X: Matrix, answers: Answers, weight: Any, criterion: str) -> dict[str, Any]:
        """Say in the words of the core what is to be grown."""
        rows, columns = X.shape
        targets = answers.labels if answers.numbers is None else answers.numbers
        self.n_outputs_ = targets.shape[1]
        if answers.classes and max(answers.classes) > MOST_CLASSES:
            raise ValueError(
                f"The labels y must have at most {MOST_CLASSES} classes for a tree, found {max(answers.classes)}; "
                "group rare classes, or use a regressor if y is a quantity."
            )
        self.max_features_ = how_many_features(self.max_features, columns)
        return {
            "rules": self._rules(rows, columns, weight),
            "columns": code_columns(X, self._use(columns), self.bins),
            "criterion": SAME_CHOICES.get(criterion, criterion),
            "labels": None if answers.labels is None else np.ascontiguousarray(answers.labels, dtype=np.uint16),
            "numbers": None if answers.numbers is None else np.ascontiguousarray(answers.numbers, dtype=np.float64),
            "classes": answers.classes,
            "weights": weight,
            "monotone": self._signs(columns, answers.classes),
        }

    def _use(self, columns: int) -> str:
        if self.splitter == "histogram":
            return "histogram"
        return "every" if self.splitter == "best" and self.max_features_ >= columns else "some"

    def _rules(self, rows: int, columns: int, weight: Any) -> dict[str, Any]:
        leaf, split = self.min_samples_leaf, self.min_samples_split
        fewest = math.ceil(leaf * rows) if leaf < 1 else int(leaf)
        splittable = max(2, math.ceil(split * rows)) if split <= 1 else int(split)
        total = rows if weight is None else float(np.sum(weight))
        return {
            "max_depth": 2**31 if self.max_depth is None else int(self.max_depth),
            "min_split": max(splittable, 2 * fewest),
            "min_leaf": fewest,
            "min_weight": float(self.min_weight_fraction_leaf) * total,
            "min_decrease": float(self.min_impurity_decrease),
            "max_leaves": 0 if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            "features": min(self.max_features_, columns),
            "random": self.splitter == "random",
            "seed": draw_seed(self.random_state),
        }

    def _signs(self, columns: int, classes: list[int]) -> Any:
        """Check the monotonic constraints; those of classes are about the second one, but the core counts the first."""
        if self.monotonic_cst is None:
            return None
        signs = np.asarray(self.monotonic_cst)
        if self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs; fit one tree for each.")
        if signs.shape != (columns,):
            shape = signs.shape[0] if signs.ndim == 1 else signs.shape
            raise ValueError(f"monotonic_cst has shape {shape} but the input data X has {columns} features.")
        if not np.isin(signs, (-1, 0, 1)).all():
            raise ValueError(
                f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {np.unique(signs)}; 1 says that "
                "predictions rise with the feature."
            )
        if classes and classes[0] > 2:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass classification; use two classes."
            )
        if not signs.any():
            return None
        return np.ascontiguousarray(-signs if classes else signs, dtype=np.int8)


class Treelike(Growing):
    """Base of single trees."""

    tree_: Tree = fitted("The tree, as arrays of nodes.")
    max_features_: int = fitted("How many features a node looks at.")

    # What fit and predict take for the sake of old code is no metadata.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"check_input": metadata_routing.UNUSED}
    __metadata_request__predict: ClassVar[dict[str, Any]] = {"check_input": metadata_routing.UNUSED}
    __metadata_request__predict_proba: ClassVar[dict[str, Any]] = {"check_input": metadata_routing.UNUSED}

    def _grow(self, X: Matrix, answers: Answers, weight: Any, criterion: str) -> None:
        """Grow and prune the tree from validated rows."""
        grown = _core.grow_tree(**self._arguments(X, answers, weight, criterion))
        self.tree_ = Tree(grown, X.shape[1], answers.classes or [1] * self.n_outputs_, self.n_outputs_)
        if self.ccp_alpha > 0:
            self.tree_ = self.tree_.pruned(float(self.ccp_alpha))[0]

    def get_depth(self) -> int:
        """Count the questions on the longest way to a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Count the leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def apply(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002 - rows are always checked
        """Find the leaf of each row, as a number of a node.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        check_input : bool
            Not needed: rows are always checked.
        """
        X = self.validate_rows(X)
        return self.tree_.apply(X)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002 - rows are always checked
        """Give a sparse matrix of rows x nodes, with ones in the nodes that each row passes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        check_input : bool
            Not needed: rows are always checked.
        """
        X = self.validate_rows(X)
        return self.tree_.decision_path(X)

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Find the prices of a leaf at which pruning takes branches away.

        Parameters
        ----------
        X, y, sample_weight : arrays
            As for ``fit``.

        Returns
        -------
        Bunch
            ``ccp_alphas``, the prices, and ``impurities``, that of all leaves after each.
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        _, alphas, impurities = whole.tree_.pruned(np.inf)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    @property
    def feature_importances_(self) -> Floats:
        """By how much the questions about each feature decrease the criterion, as shares of the whole."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()


def how_many_features(wanted: Any, columns: int) -> int:
    """Read `max_features`: a number, a share, or a function of the number of features."""
    if wanted is None:
        return columns
    if wanted == "sqrt":
        return max(1, math.isqrt(columns))
    if wanted == "log2":
        return max(1, int(math.log2(columns)))
    return int(wanted) if isinstance(wanted, numbers.Integral) else max(1, int(wanted * columns))


def code_columns(X: Matrix, use: str, bins: int) -> Any:
    """Hand the columns of X over to be coded."""
    if is_sparse(X):
        X = X.tocsc()
        X.sort_indices()
        data = X.data.astype(np.float64, copy=False)
        indices, indptr = (array.astype(np.int64, copy=False) for array in (X.indices, X.indptr))
        return _core.code_sparse_columns(data, indices, indptr, X.shape[0], use, bins)
    return _core.code_columns(X, use, bins)

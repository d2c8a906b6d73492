"""What forests share: the seeds of their trees, drawing rows, adding up answers, and the score out of bag."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tutelage import _core
from tutelage.base import draw_seed, is_sparse
from tutelage.parameters import Count, Interval, RandomState, Verbosity, fitted, parameter
from tutelage.trees.base import Answers, Growing
from tutelage.trees.tree import Tree, sparse_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tutelage.base import Floats, Matrix
    from tutelage.trees.base import Treelike

MOST_SEEDS = 2**31 - 1


class Forestlike(Growing):
    """Base of forests."""

    n_estimators: Annotated[Count, "The number of trees."] = parameter(default=100, kw_only=False)
    bootstrap: Annotated[bool, "Whether each tree draws its rows with replacement."] = True
    oob_score: Annotated[
        Any,
        "Whether to score each row by the trees that have not drawn it; a function of y and predictions scores them.",
    ] = False
    n_jobs: Annotated[int | None, "Not needed: `tutelage.set_threads` says how many threads there are."] = None
    random_state: Annotated[RandomState, "Seed of the trees' seeds."] = None
    verbose: Annotated[Verbosity, "Not needed."] = 0
    warm_start: Annotated[bool, "Whether another fit keeps the trees there are and adds the missing ones."] = False
    max_samples: Annotated[
        Count | Annotated[float, Interval(0, closed="neither")] | None,
        "How many rows each tree draws: a number, or a share of all weight (with a share, weights mean "
        "copies); None: as many as there are.",
    ] = None

    estimators_: list[Any] = fitted("The trees.")
    estimator_: Any = fitted("The kind of tree there is.")
    oob_score_: float = fitted("The score of the rows by the trees that have not drawn them, if asked for.")

    _member: ClassVar[type[Any]]
    _voters: Any

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_voters"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[misc]
        if "estimators_" in state:
            self._voters = self._ready()

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: int) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _grow(self, X: Matrix, y: Any, answers: Answers, weight: Any, criterion: str) -> None:
        """Grow the trees that are missing, and score the rows if asked to."""
        if not self.bootstrap and self.max_samples is not None:
            raise ValueError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to `bootstrap=True` or set "
                "`max_sample=None`."
            )
        if not self.bootstrap and self.oob_score:
            raise ValueError("Out of bag estimation only available if bootstrap=True; set it, or oob_score=False.")
        self._n_samples = X.shape[0]
        self._n_samples_bootstrap = self._draws(weight) if self.bootstrap else None
        self._order: Any = None
        self._cumulated: Any = None
        if not self.warm_start or not hasattr(self, "estimators_"):
            self.estimators_ = []
        more = self.n_estimators - len(self.estimators_)
        if more < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to len(estimators_)={len(self.estimators_)} "
                "when warm_start==True"
            )
        seeds = check_random_state(self.random_state).randint(MOST_SEEDS, size=self.n_estimators)[-more:]
        arguments = self._arguments(X, answers, weight, criterion)
        if self.bootstrap:
            answered = {name: arguments[name] for name in ("columns", "labels", "numbers", "classes")}
            self._order = _core.order_by_content(**answered)
            self._cumulated = None if weight is None else np.cumsum(weight[self._order])
        if more == 0:
            warnings.warn("Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=3)
        else:
            self._add_trees(X.shape[1], answers, arguments, seeds)
        self._voters = self._ready()
        if self.oob_score and (more > 0 or not hasattr(self, "oob_score_")):
            self._score_out_of_bag(X, y)

    def _add_trees(self, columns: int, answers: Answers, arguments: dict[str, Any], seeds: Any) -> None:
        grown = _core.grow_trees(
            **arguments,
            draws=self._n_samples_bootstrap or 0,
            balanced=isinstance(getattr(self, "class_weight", None), str) and self._balances_samples(),
            order=self._order,
            cumulated=self._cumulated,
            seeds=np.array([draw_seed(int(seed)) for seed in seeds], dtype=np.int64),
        )
        shared = {name: getattr(self, name) for name in self._member.declared_parameters() if hasattr(self, name)}
        shared.pop("class_weight", None)
        self.estimator_ = self._member()
        for arrays, seed in zip(grown, seeds, strict=True):
            member = self._member(**shared | {"random_state": int(seed)})
            tree = Tree(arrays, columns, answers.classes or [1] * self.n_outputs_, self.n_outputs_)
            member.tree_ = tree.pruned(float(self.ccp_alpha))[0] if self.ccp_alpha > 0 else tree
            member.n_features_in_, member.max_features_ = columns, self.max_features_
            member.n_outputs_ = self.n_outputs_
            self._finish(member, answers)
            self.estimators_.append(member)

    def _finish(self, member: Treelike, answers: Answers) -> None:
        """Tell a tree its classes, if there are any: their codes, as the forest knows what they mean."""

    def _balances_samples(self) -> bool:
        return False

    def _draws(self, weight: Any) -> int:
        wanted, rows = self.max_samples, int(self._n_samples)
        if wanted is None:
            return rows
        if isinstance(wanted, int | np.integer):
            return int(wanted)
        total = rows if weight is None else float(np.sum(weight))
        made = max(int(wanted * total), 1)
        if made < max(10, rows ** (1 / 3)):
            warnings.warn(
                f"Using the fractional value max_samples={wanted!s} when the total weight of the samples is {total:g} "
                f"results in a low number ({made}) of bootstrap samples. We recommend passing `max_samples` as an "
                "integer instead.",
                stacklevel=4,
            )
        return made

    @property
    def estimator(self) -> Any:
        """The kind of tree there is."""
        return self._member()

    @property
    def estimators_samples_(self) -> list[Any]:
        """The rows that each tree has drawn, as often as it has drawn them."""
        check_is_fitted(self)
        rows: Any = np.arange(self._n_samples, dtype=np.int32)
        draws = self._n_samples_bootstrap
        if draws is None:
            return [rows for _ in self.estimators_]
        times: list[Any] = [
            _core.times_drawn(draw_seed(member.random_state), self._n_samples, draws, self._order, self._cumulated)
            for member in self.estimators_
        ]
        return [np.repeat(rows, often) for often in times]

    def _ready(self) -> Any:
        """Make the trees ready to answer together."""
        first: Tree = self.estimators_[0].tree_
        voters = _core.Forest(first.n_outputs * first.max_n_classes)
        for member in self.estimators_:
            tree: Tree = member.tree_
            voters.add(
                tree.children_left,
                tree.children_right,
                tree.feature,
                tree.threshold,
                tree.missing_go_to_left,
                tree.value,
                draw_seed(member.random_state),
            )
        return voters

    def _sums(self, X: Matrix, draws: int = 0) -> tuple[Floats, Floats]:
        """Add up the values of all trees; for draws > 0 of those that have not seen the row, and their number."""
        first: Tree = self.estimators_[0].tree_
        drawing = (draws, self._order, self._cumulated) if draws else (0, None, None)
        if is_sparse(X):
            sums, voted = self._voters.sums_sparse(*sparse_rows(X), *drawing)
        else:
            sums, voted = self._voters.sums(X, *drawing)
        return sums.reshape(len(sums), first.n_outputs, first.max_n_classes), voted

    def _out_of_bag(self, X: Matrix) -> Floats:
        """Give the mean value of each row over the trees that have not drawn it: rows x outputs x classes."""
        sums, voted = self._sums(X, self._n_samples_bootstrap or 0)
        if np.any(voted == 0):
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used to compute any "
                "reliable OOB estimates.",
                UserWarning,
                stacklevel=5,
            )
        return np.asarray(sums / np.maximum(voted, 1)[:, None, None])

    def _score_out_of_bag(self, X: Matrix, y: Any) -> None:
        raise NotImplementedError

    def _scorer(self, usual: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return self.oob_score if callable(self.oob_score) else usual

    def apply(self, X: Any) -> Any:
        """Find the leaf of each row in each tree: rows x trees.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        """
        X = self.validate_rows(X)
        return np.stack([member.tree_.apply(X) for member in self.estimators_], axis=1)

    def decision_path(self, X: Any) -> tuple[Any, Any]:
        """Give a sparse matrix of rows x nodes of all trees, and where the nodes of each tree begin.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        """
        X = self.validate_rows(X)
        paths = [member.tree_.decision_path(X) for member in self.estimators_]
        return sparse.hstack(paths).tocsr(), np.cumsum([0, *(path.shape[1] for path in paths)])

    @property
    def feature_importances_(self) -> Floats:
        """By how much the questions about each feature decrease the criterion, averaged over trees, as shares."""
        check_is_fitted(self)
        found = [m.tree_.compute_feature_importances() for m in self.estimators_ if m.tree_.node_count > 1]
        if not found:
            return np.zeros(self.n_features_in_)
        mean = np.mean(found, axis=0)
        return np.asarray(mean / mean.sum())


def warn_of_a_column(y: Any) -> None:
    """Warn of a y of shape (n, 1), as learners of one output do."""
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )

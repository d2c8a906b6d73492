"""Successive halving: many candidates on few rows, the best of them on more, until one is left.

Round r scores the candidates that are left with a resource (rows, or a parameter such as a number of rounds) of

    smallest * factor^r

and keeps the best 1 / factor of them. With as many rounds as it takes to come from all candidates to less than factor,
every round costs about the same, so the search costs log_factor(candidates) fits on all rows instead of candidates
(Jamieson and Talwalkar 2016). It fails where the order of candidates changes with the number of rows: what learns
slowly is thrown out early.

`HalvingGridSearchCV` and `HalvingRandomSearchCV` are scikit-learn's classes of these names.

>>> import numpy as np
>>> from tutelage import KNeighborsClassifier
>>> X = np.random.default_rng(0).normal(size=(200, 2))
>>> y = (X[:, 0] > 0).astype(int)
>>> search = HalvingGridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, random_state=0).fit(X, y)
>>> search.n_candidates_, search.n_resources_
([4, 2], [66, 198])
"""

from __future__ import annotations

import math
from collections.abc import Callable  # noqa: TC003 - parameters' hints are read at run time
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.model_selection._split import _yields_constant_splits
from sklearn.utils import resample
from sklearn.utils.multiclass import check_classification_targets

from tutelage.parameters import Count, Positive, RandomState, Splits, fitted, parameter
from tutelage.selection.fitting import rows_in
from tutelage.selection.search import BaseSearch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class _Thinned:
    """A splitter whose folds are samples of those of another."""

    def __init__(self, splitter: Any, share: float, random_state: Any) -> None:
        self.splitter, self.share, self.random_state = splitter, share, random_state

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[tuple[Any, Any]]:
        for train, test in self.splitter.split(X, y, **params):
            yield self._sample(train), self._sample(test)

    def _sample(self, rows: Any) -> Any:
        count = int(self.share * len(rows))
        return resample(rows, replace=False, random_state=self.random_state, n_samples=count)


class BaseHalving(BaseSearch):
    """What the two searches by halving share."""

    scoring: Annotated[str | Callable[..., Any] | None, "What to choose by; None is the estimator's own score."] = None
    refit: Annotated[bool | Callable[..., Any], "Whether to fit the best on all rows."] = True
    cv: Annotated[Splits, "The folds: how many, a splitter, or pairs of indices."] = 5
    return_train_score: Annotated[bool, "Whether the rows of each fit are scored too."] = True
    pre_dispatch: ClassVar[str] = "2*n_jobs"  # type: ignore[misc]
    time_limit: ClassVar[float | None] = None  # type: ignore[misc]
    checkpoint: ClassVar[str | Path | None] = None  # type: ignore[misc]

    factor: Annotated[Positive, "One of so many candidates is kept, and the resource grows by so much."] = 3
    resource: Annotated[str, "What grows: 'n_samples', or a parameter of the estimator that is a number."] = "n_samples"
    max_resources: Annotated[Literal["auto"] | Count, "The most of it; 'auto' is all rows."] = "auto"
    min_resources: Annotated[
        Literal["exhaust", "smallest"] | Count,
        "The least of it; 'smallest' is two rows for each class and fold, 'exhaust' as much as lets the last round "
        "have the most.",
    ] = "exhaust"
    aggressive_elimination: Annotated[
        bool, "Whether, where the resource is too short for all rounds, the first rounds are repeated with the least."
    ] = False
    random_state: Annotated[RandomState, "The seed of the samples of rows, and of candidates."] = None

    n_resources_: list[int] = fitted("How much of the resource each round had.")
    n_candidates_: list[int] = fitted("How many candidates each round had.")
    n_remaining_candidates_: int = fitted("How many were left at the end.")
    min_resources_: Any = fitted("How much the first round had.")
    max_resources_: Any = fitted("The most that a round may have.")
    n_iterations_: int = fitted("The rounds that were run.")
    n_possible_iterations_: int = fitted("The rounds that the resource allows.")
    n_required_iterations_: int = fitted("The rounds after which fewer candidates than factor are left.")

    def _check_search(self, X: Any, y: Any, split_params: dict[str, Any]) -> None:
        if not _yields_constant_splits(self._splitter):
            raise ValueError(
                "The cv parameter must yield consistent folds across calls to split(). Set its random_state to an int, "
                "or set shuffle=False."
            )
        if self.resource != "n_samples" and self.resource not in self.estimator.get_params():
            raise ValueError(
                f"Cannot use resource={self.resource} which is not supported by estimator "
                f"{type(self.estimator).__name__}"
            )
        self._rows = rows_in(X)
        self.min_resources_ = self.min_resources
        if isinstance(self.min_resources, str):
            self.min_resources_ = 1
            if self.resource == "n_samples":
                self.min_resources_ = 2 * self._splitter.get_n_splits(X, y, **split_params)
                if is_classifier(self.estimator):
                    check_classification_targets(y)
                    self.min_resources_ *= len(np.unique(y))
        self.max_resources_ = self.max_resources
        if isinstance(self.max_resources, str):
            if self.resource != "n_samples":
                raise ValueError(
                    "resource can only be 'n_samples' when max_resources='auto'; say how much of "
                    f"{self.resource!r} there is at most."
                )
            self.max_resources_ = self._rows
        if self.min_resources_ > self.max_resources_:
            raise ValueError(
                f"min_resources_={self.min_resources_} is greater than max_resources_={self.max_resources_}. "
                f"X has n_samples={self._rows}; give more rows, or smaller min_resources."
            )
        if self.min_resources_ == 0:
            raise ValueError(f"min_resources_={self.min_resources_}: you might have passed an empty dataset X.")

    def _best_row(self, metric: str) -> Any:  # noqa: ARG002 - halving has one score
        table = self.cv_results_
        last = np.flatnonzero(table["iter"] == table["iter"].max())
        scores = table["mean_test_score"][last]
        return last[0 if np.isnan(scores).all() else np.nanargmax(scores)]

    def _search(self, run: Any) -> None:
        left = list(self._candidates())
        if self.resource != "n_samples" and any(self.resource in candidate for candidate in left):
            raise ValueError(
                f"Cannot use parameter {self.resource} as the resource since it is part of the searched parameters."
            )
        needed = 1 + math.floor(math.log(len(left), self.factor))
        if self.min_resources == "exhaust":
            self.min_resources_ = max(self.min_resources_, self.max_resources_ // self.factor ** (needed - 1))
        possible = 1 + math.floor(math.log(self.max_resources_ // self.min_resources_, self.factor))
        rounds = needed if self.aggressive_elimination else min(possible, needed)
        self.n_required_iterations_, self.n_possible_iterations_, self.n_iterations_ = needed, possible, rounds
        self._tell(needed, possible, rounds)
        self.n_resources_, self.n_candidates_ = [], []
        context = run.__self__.context
        level = None
        if context is not None:
            level = context.subcontext(task_name="search", max_subtasks=rounds).call_on_fit_task_begin(estimator=self)
        for number in range(rounds):
            power = max(0, number - needed + possible) if self.aggressive_elimination else number
            resource = min(int(self.factor**power * self.min_resources_), self.max_resources_)
            left = self._round(run, number, left, resource, level)
            if run.__self__.interrupted:
                break
        if level is not None:
            level.call_on_fit_task_end(estimator=self)
        self.n_remaining_candidates_ = len(left)

    def _round(
        self, run: Any, number: int, candidates: list[dict[str, Any]], resource: int, level: Any
    ) -> list[dict[str, Any]]:
        """Score the candidates that are left with so much, and give the best."""
        count = len(candidates)
        self.n_resources_.append(resource)
        self.n_candidates_.append(count)
        if self.verbose:
            print(f"{'-' * 10}\niter: {number}\nn_candidates: {count}\nn_resources: {resource}")
        splitter = self._splitter
        if self.resource == "n_samples":
            splitter = _Thinned(self._splitter, resource / self._rows, self.random_state)
        else:
            candidates = [{**candidate, self.resource: resource} for candidate in candidates]
        inner = None
        if level is not None:
            inner = level.subcontext(
                task_name="halving-iteration", max_subtasks=count * self.n_splits_, sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=self)
        more = {"iter": [number] * count, "n_resources": [resource] * count}
        table = run(candidates, splitter, more, inner)
        if inner is not None:
            inner.call_on_fit_task_end(estimator=self)
        rows = np.flatnonzero(np.asarray(table["iter"]) == number)
        scores = np.asarray(table["mean_test_score"])[rows]
        # Those without a score come first, and so go first.
        order = np.roll(np.argsort(scores), np.count_nonzero(np.isnan(scores)))
        kept = order[-math.ceil(count / self.factor) :]
        return [table["params"][row] for row in rows[kept]]

    def _tell(self, needed: int, possible: int, rounds: int) -> None:
        if self.verbose:
            print(
                f"n_iterations: {rounds}\nn_required_iterations: {needed}\nn_possible_iterations: {possible}\n"
                f"min_resources_: {self.min_resources_}\nmax_resources_: {self.max_resources_}\n"
                f"aggressive_elimination: {self.aggressive_elimination}\nfactor: {self.factor}"
            )


class HalvingGridSearchCV(BaseHalving):
    """Search a grid by successive halving.

    Examples
    --------
    >>> from tutelage import HalvingGridSearchCV, Ridge
    >>> X = [[float(i), float(i % 5)] for i in range(90)]
    >>> search = HalvingGridSearchCV(Ridge(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, random_state=0)
    >>> search.fit(X, [2.0 * i for i in range(90)]).best_params_
    {'alpha': 0.1}
    """

    param_grid: Annotated[
        dict[Any, Any] | list[Any], "The values of each parameter, or several grids."
    ] = parameter(kw_only=False)  # fmt: skip

    def _candidates(self) -> Any:
        return ParameterGrid(self.param_grid)


class HalvingRandomSearchCV(BaseHalving):
    """Search candidates drawn at random by successive halving.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from tutelage import HalvingRandomSearchCV, Ridge
    >>> X = [[float(i), float(i % 5)] for i in range(90)]
    >>> search = HalvingRandomSearchCV(Ridge(), {"alpha": loguniform(0.1, 100)}, random_state=0)
    >>> search.fit(X, [2.0 * i for i in range(90)]).n_resources_[-1] > search.n_resources_[0]
    True
    """

    param_distributions: Annotated[
        dict[Any, Any] | list[Any], "What to draw each parameter from: a list, or a distribution with rvs."
    ] = parameter(kw_only=False)
    n_candidates: Annotated[
        Literal["exhaust"] | Count, "How many are drawn; 'exhaust': so many that the last round has the most."
    ] = "exhaust"
    min_resources: Annotated[
        Literal["exhaust", "smallest"] | Count, "The least of the resource, as in `HalvingGridSearchCV`."
    ] = "smallest"

    def _check_search(self, X: Any, y: Any, split_params: dict[str, Any]) -> None:
        if self.n_candidates == "exhaust" and self.min_resources == "exhaust":
            raise ValueError("n_candidates and min_resources cannot be both set to 'exhaust'.")
        super()._check_search(X, y, split_params)

    def _candidates(self) -> Any:
        wanted: Any = self.n_candidates
        if isinstance(wanted, str):
            wanted = self.max_resources_ // self.min_resources_
        return ParameterSampler(self.param_distributions, wanted, random_state=self.random_state)

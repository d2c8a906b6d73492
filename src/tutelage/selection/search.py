"""Search: every candidate of a grid, or some drawn at random, scored by cross-validation; the best is fitted on all
rows.

    best = argmax over candidates of   mean over folds of   score of the candidate on the rows held out

`GridSearchCV` and `RandomizedSearchCV` are scikit-learn's classes of these names, for any estimator. Where the learner
knows its folds (`tutelage.fold_paths`: every learner of this library that has an algebra for its parameters), a grid
costs little more than a fit, with the numbers of refitting.

Beyond scikit-learn's: ``time_limit`` ends the search between two candidates, ``checkpoint`` names a file from which an
interrupted search goes on, ``progress`` tells the time left (on a terminal by itself), a failing candidate keeps its
reason in ``failures``, and after Ctrl-C ``cv_results_``, ``best_params_`` and the checkpoint hold what was done.

Cost: candidates * folds fits where the learner has no algebra. It fails as all choosing does: ``best_score_`` is the
best of many noisy numbers and so too high; score the choice itself by `nested_score`.

>>> import numpy as np
>>> from tutelage import Ridge
>>> X = np.random.default_rng(0).normal(size=(60, 3))
>>> y = X @ [1.0, -2.0, 0.5] + 0.1 * np.random.default_rng(1).normal(size=60)
>>> search = GridSearchCV(Ridge(), {"alpha": np.geomspace(1e-3, 1e3, 7)}).fit(X, y)
>>> bool(search.best_params_["alpha"] < 1)
True
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.utils import Bunch, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import _check_method_params, check_is_fitted

from tutelage.base import Estimator
from tutelage.linear.callbacks import CallbackSupport, with_callbacks
from tutelage.parameters import Count, Has, Positive, RandomState, Splits, Verbosity, fitted, parameter
from tutelage.selection.checkpoint import Checkpoint, fingerprint
from tutelage.selection.engine import Watch, Workers, evaluate
from tutelage.selection.fitted_search import FittedSearch
from tutelage.selection.fitting import Outcome, Scoring, check_error_score, insert_error_scores, tell_of_failures
from tutelage.selection.progress import Progress
from tutelage.selection.results import as_table
from tutelage.selection.scorers import find_scorers, scorers_take_weights
from tutelage.selection.standard_error import OneStandardError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Failure:
    """A fit of a search that failed.

    Attributes
    ----------
    params : dict
        The candidate.
    fold : int
        The fold.
    reason : str
        The error, with its traceback.
    """

    params: dict[str, Any]
    fold: int
    reason: str

    def __str__(self) -> str:
        return f"{self.params} failed in fold {self.fold}: {self.reason.strip().splitlines()[-1]}"


class BaseSearch(FittedSearch, CallbackSupport, MetaEstimatorMixin, Estimator):  # type: ignore[misc, override]
    """What all searches share: they score candidates by cross-validation and fit the best on all rows."""

    estimator: Annotated[Any, Has("fit"), "What is searched; it is cloned."] = parameter(kw_only=False)
    scoring: (
        Annotated[str | Callable[..., Any], "What to choose by; None is the estimator's own score."]
        | list[Any] | tuple[Any, ...] | dict[str, Any] | None
    ) = None  # fmt: skip
    n_jobs: Annotated[int | None, "How many fits run at once, where refitting is needed."] = None
    refit: Annotated[
        bool | str | Callable[..., Any],
        "Whether to fit the best on all rows; by which score; or a function of cv_results_ that gives its row.",
    ] = True
    cv: Annotated[Splits, "The folds: how many, a splitter, or pairs of indices; None for five."] = None
    verbose: Annotated[Verbosity, "How much is printed; above 1 every fit is told of, and every one is refitted."] = 0
    pre_dispatch: Annotated[int | str, "How many fits are prepared beforehand."] = "2*n_jobs"
    error_score: Annotated[Any, "The score of a candidate that fails, or 'raise' to raise its error."] = np.nan
    return_train_score: Annotated[bool, "Whether the rows of each fit are scored too."] = False
    time_limit: Annotated[Positive | None, "Seconds after which no candidate is begun, beyond the first."] = None
    checkpoint: Annotated[
        str | Path | None, "A file that holds what is done, and from which the same search goes on."
    ] = None
    progress: Annotated[bool | None, "Whether to tell the time left; None: on a terminal."] = None

    cv_results_: dict[str, Any] = fitted("A column for each fact of the candidates.")
    best_index_: Any = fitted("The row of the best candidate.")
    best_params_: Any = fitted("Its parameters.")
    best_score_: float = fitted("Its mean score; not where refit is a function of one's own.")
    best_estimator_: Any = fitted("It, fitted to all rows; where refit is not False.")
    refit_time_: float = fitted("The seconds of that fit.")
    n_splits_: int = fitted("The number of folds.")
    scorer_: Any = fitted("The scorer, or a dictionary of them.")
    multimetric_: bool = fitted("Whether there are several scores.")

    @property
    def failures(self) -> list[Failure]:
        """The fits of the search that failed, each with its reason."""
        check_is_fitted(self)
        return list(self._failures)

    # ---- what subclasses say ----

    def _candidates(self) -> Any:
        """Give the candidates, of a length and an order."""
        raise NotImplementedError

    def _search(self, run: Any) -> None:
        """Score candidates by calling ``run(candidates)``, once or in rounds."""
        run(self._candidates())

    def _check_search(self, X: Any, y: Any, split_params: dict[str, Any]) -> None:
        """Check parameters against the rows."""

    # ---- the fit ----

    @with_callbacks
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and fit the best candidate on all rows.

        Parameters
        ----------
        X : indexable of n rows
            The rows.
        y : indexable of n targets, optional
            The targets.
        **params
            What else the fit, the scorer (``sample_weight``) and the splitter (``groups``) are given.

        Returns
        -------
        self
            The fitted search.
        """
        self.check_parameters()
        check_error_score(self.error_score)
        scorers, metric = find_scorers(self)
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        parts = self._routed(params)
        weight = params.get("sample_weight")
        context = self._begin(X, y, weight)
        self._splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        split = parts.splitter.split
        self._check_search(X, y, split)
        self.n_splits_ = self._splitter.get_n_splits(X, y, **split)
        words = Scoring(scorers, parts.estimator.fit, parts.scorer.score, self.return_train_score, self.error_score,
                        verbose=int(self.verbose))  # fmt: skip
        for name in ("best_estimator_", "best_score_", "best_index_", "best_params_", "refit_time_"):
            self.__dict__.pop(name, None)
        rounds = Rounds(self, X, y, split, words, context)
        try:
            self._search(rounds.run)
        finally:
            rounds.close()
        self.multimetric_ = isinstance(rounds.rows[0][0].test, dict)
        if callable(self.scoring) and self.multimetric_:
            check_refit(self.refit, rounds.rows[0][0].test)
            metric = self.refit
        self.cv_results_ = rounds.table
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers  # noqa: SLF001
        if self.refit or not self.multimetric_:
            self._choose(metric)
        if rounds.interrupted:
            raise KeyboardInterrupt
        if self.refit:
            self._refit(X, y, parts.estimator.fit, context, weight)
        self._end(context, X, y, weight)
        return self

    def _choose(self, metric: Any) -> None:
        results = self.cv_results_
        if callable(self.refit):
            self.best_index_ = self.refit(results)
            if not isinstance(self.best_index_, int | np.integer):
                raise TypeError(f"best_index_ returned is not an integer, found {self.best_index_!r} from refit.")
            if not 0 <= self.best_index_ < len(results["params"]):
                raise IndexError(
                    f"best_index_ index out of range: refit gave {self.best_index_}, and there are "
                    f"{len(results['params'])} candidates."
                )
            if isinstance(self.refit, OneStandardError):
                self.best_score_ = results[f"mean_test_{self.refit.score}"][self.best_index_]
        else:
            self.best_index_ = self._best_row(metric)
            self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _best_row(self, metric: str) -> Any:
        return self.cv_results_[f"rank_test_{metric}"].argmin()

    def _refit(self, X: Any, y: Any, fit_params: dict[str, Any], context: Any, weight: Any) -> None:
        model = clone(clone(self.estimator).set_params(**clone(self.best_params_, safe=False)))
        start = time.perf_counter()
        data = (X,) if y is None else (X, y)
        if context is None:
            model.fit(*data, **fit_params)
        else:
            inner = context.subcontext(task_name="refit-with-best-params")
            told = {"estimator": self, "X": X, "y": y, "metadata": _metadata(weight)}
            with inner.propagate_callback_context(model):
                inner.call_on_fit_task_begin(**told)
                model.fit(*data, **fit_params)
            inner.call_on_fit_task_end(**told)
        self.refit_time_ = time.perf_counter() - start
        self.best_estimator_ = model
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_

    # ---- scikit-learn's callbacks ----

    def _begin(self, X: Any, y: Any, weight: Any) -> Any:
        if not getattr(self, "_skl_callbacks", None):
            return None
        context = self._init_callback_context(max_subtasks=1 + (self.refit is not False))
        return context.call_on_fit_task_begin(estimator=self, X=X, y=y, metadata=_metadata(weight))

    def _end(self, context: Any, X: Any, y: Any, weight: Any) -> None:
        if context is not None:
            context.call_on_fit_task_end(estimator=self, X=X, y=y, metadata=_metadata(weight))

    # ---- routing ----

    def _routed(self, params: dict[str, Any]) -> Any:
        if _routing_enabled():
            return process_routing(self, "fit", **params)
        own = dict(params)
        groups = own.pop("groups", None)
        weigh = own.get("sample_weight") is not None and scorers_take_weights(self)
        return Bunch(
            estimator=Bunch(fit=own),
            splitter=Bunch(split={"groups": groups}),
            scorer=Bunch(score={"sample_weight": own["sample_weight"]} if weigh else {}),
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata goes where, for scikit-learn's metadata routing.

        Returns
        -------
        MetadataRouter
            The estimator's, the scorer's and the splitter's.
        """
        scorer, _ = find_scorers(self)
        to_scorer = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        return (
            MetadataRouter(owner=self)
            .add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
            .add(scorer=scorer, method_mapping=to_scorer)
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score the best estimator on other rows, by the score it was chosen by.

        Parameters
        ----------
        X : indexable
            The rows.
        y : indexable, optional
            Their targets.
        **params
            What the scorer asks for, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        float
            The score.
        """
        self._check_refitted("score")
        check_is_fitted(self)
        _raise_for_params(params, self, "score")
        given = process_routing(self, "score", **params).scorer["score"] if _routing_enabled() else {}
        if self.scorer_ is None:
            raise ValueError(
                f"No score function explicitly defined, and the estimator doesn't provide one {self.best_estimator_}"
            )
        scorer = self.scorer_[self.refit] if isinstance(self.scorer_, dict) and self.multimetric_ else self.scorer_
        value: Any = scorer(self.best_estimator_, X, y, **given)
        return value[self.refit] if self.multimetric_ and not isinstance(self.scorer_, dict) else value  # type: ignore[no-any-return]


class Rounds:
    """The rounds of a search so far: its rows, and how the next are made."""

    def __init__(self, search: BaseSearch, X: Any, y: Any, split: dict[str, Any], words: Scoring, context: Any) -> None:
        self.search, self.X, self.y, self.split, self.words, self.context = search, X, y, split, words, context
        self.candidates: list[dict[str, Any]] = []
        self.rows: list[list[Outcome]] = []
        self.more: dict[str, list[Any]] = {}
        self.table: dict[str, Any] = {}
        self.interrupted = False
        self.deadline = np.inf if search.time_limit is None else time.monotonic() + search.time_limit
        self.file: Checkpoint | None = None
        self.progress: Progress | None = None

    def close(self) -> None:
        """End the line of progress and write the file, whatever happened."""
        if self.progress is not None:
            self.progress.close()
        if self.file is not None:
            self.file.write()

    def run(
        self, candidates: Any, splitter: Any = None, more: dict[str, list[Any]] | None = None, level: Any = None
    ) -> dict[str, Any]:
        """Score candidates; give the table of all so far.

        Parameters
        ----------
        candidates : iterable of dict
            The candidates of this round.
        splitter : splitter, optional
            Instead of the search's own.
        more : dict of lists, optional
            Other columns of their rows.
        level : optional
            scikit-learn's context of a callback for this round.

        Returns
        -------
        dict
            ``cv_results_`` so far.
        """
        search, new = self.search, list(candidates)
        splitter = search._splitter if splitter is None else splitter  # noqa: SLF001 - of the same chapter
        folds = list(splitter.split(self.X, self.y, **self.split))
        if len(folds) != search.n_splits_:
            raise ValueError(
                f"cv.split and cv.get_n_splits return inconsistent results. Expected {search.n_splits_} splits, got "
                f"{len(folds)}"
            )
        if search.verbose > 0:
            print(
                f"Fitting {search.n_splits_} folds for each of {len(new)} candidates, totalling "
                f"{search.n_splits_ * len(new)} fits"
            )
        if not new or not folds:
            raise ValueError("No fits were performed. Was the CV iterator empty? Were there no candidates?")
        own = level is None and self.context is not None and not self.rows  # later rounds bring their own
        if own:
            level = self.context.subcontext(
                task_name="search", max_subtasks=len(new) * len(folds), sequential_subtasks=False
            ).call_on_fit_task_begin(estimator=search)
        contexts = None if level is None else [
            level.subcontext(task_name="candidate-split-evaluation", task_id=place)
            for place in range(len(new) * len(folds))
        ]  # fmt: skip
        watch = self._watch(new, folds)
        workers = Workers(search.n_jobs, search.pre_dispatch, int(search.verbose))
        found = evaluate(
            clone(search.estimator), self.X, self.y, folds, new, self.words, workers=workers, watch=watch,
            contexts=contexts, caller=search,
        )  # fmt: skip
        if own:
            level.call_on_fit_task_end(estimator=search)
        self.interrupted = watch.interrupted
        self._store(new, found, more or {})
        return self.table

    def _watch(self, new: Sequence[dict[str, Any]], folds: Sequence[Any]) -> Watch:
        search = self.search
        if self.progress is None:
            self.progress = Progress(search.progress)
        watch = Watch(self.deadline, self.progress if self.progress.active else None, patient=True)
        if search.checkpoint is not None:
            mark = fingerprint(
                repr(clone(search.estimator)), search.estimator.get_params(), _named(search.scoring),
                search.return_train_score, [np.asarray(part) for fold in folds for part in fold], self.X, self.y,
                self.words.fit_params,
            )  # fmt: skip
            file = Checkpoint(search.checkpoint, mark)
            self.file = file
            known = {place: file.find(candidate) for place, candidate in enumerate(new)}
            watch.known = {place: outcomes for place, outcomes in known.items() if outcomes is not None}
            watch.keep = lambda place, outcomes: file.keep(new[place], outcomes)
        return watch

    def _store(self, new: list[dict[str, Any]], found: list[list[Outcome]], more: dict[str, list[Any]]) -> None:
        search, flat = self.search, [outcome for row in found for outcome in row]
        if len(found) < len(new) and not self.interrupted:
            warnings.warn(
                f"time_limit={search.time_limit} ended the search after {len(found)} of {len(new)} candidates; the "
                "best is the best of these.",
                UserWarning,
                stacklevel=4,
            )
        tell_of_failures(flat, search.error_score)
        if callable(search.scoring):
            insert_error_scores(flat, search.error_score)
        self.candidates.extend(new[: len(found)])
        self.rows.extend(found)
        for name, values in more.items():
            self.more.setdefault(name, []).extend(values[: len(found)])
        search._failures = [  # noqa: SLF001 - of the same chapter
            Failure(candidate, fold, outcome.error)
            for candidate, row in zip(self.candidates, self.rows, strict=True)
            for fold, outcome in enumerate(row)
            if outcome.error is not None
        ]
        self.table = as_table(self.candidates, self.rows, self.more, train_score=search.return_train_score)


def check_refit(refit: Any, scores: Any) -> None:
    """Raise an error unless ``refit`` says which of several scores decides."""
    if refit is not False and not (isinstance(refit, str) and refit in scores) and not callable(refit):
        raise ValueError(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit an "
            "estimator with the best parameter setting on the whole data and make the best_* attributes available for "
            f"that metric. If this is not needed, refit should be set to False explicitly. {refit!r} was passed."
        )


def _named(scoring: Any) -> Any:
    """Name a scoring in words that are the same in another process."""
    if isinstance(scoring, dict):
        return {name: _named(one) for name, one in scoring.items()}
    return getattr(scoring, "__qualname__", None) or repr(scoring)


def _metadata(weight: Any) -> dict[str, Any] | None:
    return None if weight is None else {"sample_weight": weight}


class GridSearchCV(BaseSearch):
    """Score every candidate of a grid by cross-validation and fit the best on all rows.

    Examples
    --------
    >>> from tutelage import GridSearchCV, KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [10.0], [11.0], [12.0], [13.0]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=2).fit(X, y)
    >>> search.best_params_, search.cv_results_["mean_test_score"]
    ({'n_neighbors': 1}, array([1., 1.]))
    """

    param_grid: Annotated[
        dict[Any, Any] | list[Any], "The values of each parameter, or several grids."
    ] = parameter(kw_only=False)  # fmt: skip

    def _candidates(self) -> Any:
        return ParameterGrid(self.param_grid)


class RandomizedSearchCV(BaseSearch):
    """Score candidates drawn at random by cross-validation and fit the best on all rows.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from tutelage import RandomizedSearchCV, Ridge
    >>> X = [[float(i)] for i in range(12)]
    >>> search = RandomizedSearchCV(Ridge(), {"alpha": loguniform(1e-3, 1e3)}, n_iter=5, random_state=0)
    >>> len(search.fit(X, list(range(12))).cv_results_["params"])
    5
    """

    param_distributions: Annotated[
        dict[Any, Any] | list[Any], "What to draw each parameter from: a list, or a distribution with rvs."
    ] = parameter(kw_only=False)
    n_iter: Annotated[Count, "How many candidates are drawn."] = 10
    random_state: Annotated[RandomState, "The seed of the draws."] = None

    def _candidates(self) -> Any:
        return ParameterSampler(self.param_distributions, self.n_iter, random_state=self.random_state)

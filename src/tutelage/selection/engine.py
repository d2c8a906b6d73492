"""Every candidate on every fold: by the learner's algebra where it has one, by refitting in parallel where not.

`evaluate` asks the estimator for its `tutelage.fold_paths`, scores what it yields, and refits what it leaves out. What
is refitted runs in parallel (joblib, under scikit-learn's configuration), a candidate at a time, so that a search that
is stopped by time or by Ctrl-C keeps the candidates that it has finished.

A class that inherits `fold_paths` but overrides how it fits or predicts is refitted: the algebra is its parent's.

Cost: that of the fits. It fails where all fits fail, and says why.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_consistent_length

from tutelage.fold_paths import NoFoldPath, as_rows
from tutelage.selection.fitting import Job, Outcome, Scoring, refit_and_score, rows_in, scored
from tutelage.selection.quick import quick_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tutelage.fold_paths import FoldPath

# What a class must not override below the one that knows the folds.
ANSWERS = (
    *("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "validate"),
    *("predict_joint_log_proba", "validate_rows"),
)


@dataclass
class Watch:
    """What goes on around a search: its end, its progress, what it has done already.

    Attributes
    ----------
    deadline : float
        The `time.monotonic` after which no candidate is begun.
    tick : callable or None
        Told after each candidate how many are done, and of how many.
    known : dict
        Outcomes of candidates, by their place in the grid, that need not be computed.
    keep : callable or None
        Told the place of each finished candidate and its outcomes.
    patient : bool
        Whether Ctrl-C ends the search but leaves what is finished; otherwise it is raised at once.
    interrupted : bool
        Whether it came.
    """

    deadline: float = np.inf
    tick: Any = None
    known: dict[int, list[Outcome]] = field(default_factory=dict)
    keep: Any = None
    patient: bool = False
    interrupted: bool = False


@dataclass(frozen=True)
class Workers:
    """How the fits that cannot be avoided are run."""

    n_jobs: int | None = None
    pre_dispatch: Any = "2*n_jobs"
    verbose: int = 0


def evaluate(
    estimator: Any,
    X: Any,
    y: Any,
    folds: Sequence[tuple[Any, Any]],
    grid: Sequence[dict[str, Any] | None],
    scoring: Scoring,
    *,
    workers: Workers | None = None,
    watch: Watch | None = None,
    contexts: Sequence[Any] | None = None,
    caller: Any = None,
) -> list[list[Outcome]]:
    """Fit and score every candidate on every fold.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    X, y : indexable
        All rows and their targets; y may be None.
    folds : list of (train, test)
        Where to fit and where to score.
    grid : list of dict or None
        The candidates: parameters to set; None for the estimator as it is.
    scoring : Scoring
        How to score.
    workers : Workers, optional
        How many fits run at once.
    watch : Watch, optional
        Time, progress, and what is known already.
    contexts : list, optional
        scikit-learn's contexts of callbacks, one for each candidate and fold, in this order.
    caller : estimator, optional
        The search whose callbacks these are.

    Returns
    -------
    list of lists of Outcome
        For each candidate, of each fold. Shorter than the grid where time ran out or Ctrl-C came.
    """
    watch = watch or Watch()
    done: dict[int, list[Outcome]] = dict(watch.known)
    wanted = [place for place in range(len(grid)) if place not in done]
    told = _Teller(watch, len(grid), done)
    try:
        if contexts is None and scoring.verbose <= 1 and wanted:
            settings = [grid[place] or {} for place in wanted]
            paths = announced(estimator, X, y, folds, settings, scoring.fit_params)
            if paths is not None:
                table = _along_paths(paths, estimator, X, y, folds, settings, scoring)
                for place, outcomes in zip(wanted, table, strict=True):
                    told.finished(place, outcomes)
                wanted = []
        _refit(estimator, X, y, folds, grid, wanted, scoring, workers or Workers(), watch, contexts, caller, told)
    except KeyboardInterrupt:
        if not (watch.patient and done):
            raise
        watch.interrupted = True
    return [done[place] for place in sorted(done)]


class _Teller:
    """Stores what is finished and tells whoever watches."""

    def __init__(self, watch: Watch, total: int, done: dict[int, list[Outcome]]) -> None:
        self.watch, self.total, self.done = watch, total, done

    def finished(self, place: int, outcomes: list[Outcome]) -> None:
        self.done[place] = outcomes
        if self.watch.keep is not None:
            self.watch.keep(place, outcomes)
        if self.watch.tick is not None:
            self.watch.tick(len(self.done), self.total)


# ---- by the learner's algebra ----


def knows_folds(estimator: Any) -> bool:
    """Tell whether an estimator has `fold_paths`, and they are those of its own ways to fit and predict.

    Examples
    --------
    >>> from tutelage import Ridge
    >>> class Mine(Ridge):
    ...     def predict(self, X):
    ...         return super().predict(X) + 1
    >>> knows_folds(Ridge()), knows_folds(Mine())
    (True, False)
    """
    family = type(estimator).__mro__
    home = next((level for level, cls in enumerate(family) if "fold_paths" in vars(cls)), None)
    if home is None:
        return False
    return not any(name in vars(cls) for cls in family[:home] for name in ANSWERS)


def announced(
    estimator: Any,
    X: Any,
    y: Any,
    folds: Sequence[tuple[Any, Any]],
    grid: Sequence[dict[str, Any]],
    fit_params: dict[str, Any],
) -> Iterator[FoldPath | None] | None:
    """Ask an estimator for its paths; None where it has none for this grid and these rows.

    Parameters
    ----------
    estimator, X, y, folds, grid
        As in `evaluate`.
    fit_params : dict
        What else ``fit`` is given; only weights have an algebra.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    given = {name: value for name, value in fit_params.items() if value is not None}
    if y is None or set(given) - {"sample_weight"}:
        return None
    if isinstance(estimator, Pipeline):
        if given:
            return None
        from tutelage.selection.pipelines import pipeline_paths
    elif not knows_folds(estimator):
        return None
    samples = rows_in(X)
    listed = [(as_rows(train, samples), as_rows(test, samples)) for train, test in folds]
    weight = given.get("sample_weight")
    try:
        if weight is not None:
            check_consistent_length(X, weight)
        if isinstance(estimator, Pipeline):
            return iter(pipeline_paths(estimator, X, y, listed, grid))
        paths: Iterator[FoldPath | None] = iter(clone(estimator).fold_paths(X, y, listed, grid, sample_weight=weight))
    except NoFoldPath:
        return None
    except (ValueError, TypeError):
        # Whatever is wrong with the rows or the parameters is said by the fit that meets it, for its fold.
        return None
    return paths


def _along_paths(
    paths: Iterator[FoldPath | None],
    estimator: Any,
    X: Any,
    y: Any,
    folds: Sequence[tuple[Any, Any]],
    grid: Sequence[dict[str, Any]],
    scoring: Scoring,
) -> list[list[Outcome]]:
    """Score the fits of each path: candidates x folds."""
    quick = None if scoring.score_params or scoring.train_score or scoring.keep else quick_scores(
        scoring, estimator
    )  # fmt: skip
    columns = []
    for train, test in folds:
        start = time.perf_counter()
        try:
            path = next(paths, None)
        except (ValueError, TypeError, ArithmeticError):
            path = None  # refitting meets the same, and says for which candidate
        found: list[Outcome] | None = None
        if path is not None and quick is not None:
            found = _quickly(path, quick, y[test] if isinstance(y, np.ndarray) else _safe_indexing(y, test))
        if found is None:
            found = _one_by_one(path, estimator, X, y, (train, test), grid, scoring)
        share = (time.perf_counter() - start) / max(len(grid), 1)
        for outcome in found:
            outcome.fit_time = outcome.fit_time or max(share - outcome.score_time, 0.0)
        columns.append(found)
    return [list(row) for row in zip(*columns, strict=True)]


def _quickly(path: FoldPath, quick: Any, y: Any) -> list[Outcome] | None:
    start = time.perf_counter()
    predictions = path.predictions()
    if predictions is None:
        return None
    middle = time.perf_counter()
    scores = quick(y, predictions)
    if scores is None:
        return None
    seconds = (time.perf_counter() - middle) / len(scores)
    fitted = (middle - start) / len(scores)
    return [Outcome(test=score, score_time=seconds, fit_time=fitted) for score in scores]


def _one_by_one(
    path: FoldPath | None,
    estimator: Any,
    X: Any,
    y: Any,
    fold: tuple[Any, Any],
    grid: Sequence[dict[str, Any]],
    scoring: Scoring,
) -> list[Outcome]:
    train, test = fold
    made = []
    held: tuple[Any, Any, dict[str, Any]] | None = None
    for place, parameters in enumerate(grid):
        start = time.perf_counter()
        model = None if path is None else path.model(place)
        if model is None:
            made.append(refit_and_score(clone(estimator), X, y, Job(train, test, parameters), scoring))
            continue
        if held is None:
            at_test = _check_method_params(X, params=scoring.score_params, indices=test)
            held = _safe_indexing(X, test), _safe_indexing(y, test), at_test
        middle = time.perf_counter()
        outcome = Outcome(test=scored(model, held[0], held[1], scoring, held[2]), fit_time=middle - start)
        outcome.score_time = time.perf_counter() - middle
        if scoring.train_score:
            at_train = _check_method_params(X, params=scoring.score_params, indices=train)
            outcome.train = scored(model, _safe_indexing(X, train), _safe_indexing(y, train), scoring, at_train)
        if scoring.keep:
            outcome.estimator = model
        made.append(outcome)
    return made


# ---- by refitting ----


def _refit(
    estimator: Any,
    X: Any,
    y: Any,
    folds: Sequence[tuple[Any, Any]],
    grid: Sequence[dict[str, Any] | None],
    wanted: Sequence[int],
    scoring: Scoring,
    workers: Workers,
    watch: Watch,
    contexts: Sequence[Any] | None,
    caller: Any,
    told: _Teller,
) -> None:
    """Refit the wanted candidates, one after the other, the folds of several at once."""
    if not wanted:
        return

    def jobs() -> Iterator[tuple[Job, Any]]:
        for place in wanted:
            for number, (train, test) in enumerate(folds):
                context = None if contexts is None else contexts[place * len(folds) + number]
                fold, candidate = (number, len(folds)), (place, len(grid))
                yield Job(train, test, grid[place], fold, candidate), context

    outcomes = _run(estimator, X, y, jobs(), scoring, workers, caller)
    try:
        for place in wanted:
            if time.monotonic() > watch.deadline and told.done:
                break
            found = list(islice(outcomes, len(folds)))
            told.finished(place, found)
    finally:
        close = getattr(outcomes, "close", None)
        if close is not None:
            close()


def _run(
    estimator: Any, X: Any, y: Any, jobs: Iterable[tuple[Job, Any]], scoring: Scoring, workers: Workers, caller: Any
) -> Iterator[Outcome]:
    if effective_n_jobs(workers.n_jobs) == 1:
        return (
            refit_and_score(clone(estimator), X, y, job, scoring, context=context, caller=caller)
            for job, context in jobs
        )
    parallel = Parallel(
        n_jobs=workers.n_jobs, pre_dispatch=workers.pre_dispatch, verbose=workers.verbose, return_as="generator"
    )
    outcomes: Iterator[Outcome] = parallel(
        delayed(refit_and_score)(clone(estimator), X, y, job, scoring, context=context, caller=caller)
        for job, context in jobs
    )
    return outcomes

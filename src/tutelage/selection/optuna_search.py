"""Search that learns from its own trials, by Optuna (an optional extra: pip install 'tutelage[optuna]').

Each candidate is proposed in the light of those before it (by default by a tree-structured Parzen estimator: draw where
good candidates are dense and bad ones thin), scored by cross-validation as in the other searches, and told back. It
needs fewer candidates than a random search where each is dear, and nothing where a grid costs no more than a fit.

A parameter's place is one of Optuna's distributions, a list of choices, or a `tutelage.parameters` range, such as those
that the learners of this library declare (``Ridge.search_space()``); without any, these are searched.

It fails where scores are noisier than their differences: then any search draws at random.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from tutelage.parameters import Count, RandomState, parameter
from tutelage.selection.search import BaseSearch


def distribution(place: Any) -> Any:
    """Give Optuna's distribution for a list of choices, a range of ours, or one of its own.

    Parameters
    ----------
    place : object
        What a user wrote.

    Returns
    -------
    optuna distribution
        What a trial can be asked for.
    """
    optuna = _optuna()
    theirs = optuna.distributions
    if isinstance(place, theirs.BaseDistribution):
        return place
    if hasattr(place, "low") and hasattr(place, "high"):
        low, high = place.low, place.high
        logarithmic = bool(getattr(place, "logarithmic", False))
        if getattr(place, "integer", False):
            return theirs.IntDistribution(int(low), int(high), log=logarithmic)
        return theirs.FloatDistribution(float(low), float(high), log=logarithmic)
    choices = getattr(place, "values", place)
    if isinstance(choices, str) or not hasattr(choices, "__len__"):
        raise ValueError(
            f"A parameter's place must be a list of choices, a range, or a distribution of Optuna's; found {place!r}."
        )
    return theirs.CategoricalDistribution(list(choices))


def _optuna() -> Any:
    try:
        import optuna  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ImportError(
            "OptunaSearch needs Optuna, which is not installed; run pip install 'tutelage[optuna]', or use "
            "RandomizedSearchCV."
        ) from None
    return optuna


class OptunaSearch(BaseSearch):
    """Search candidates that Optuna proposes, each in the light of those before it."""

    param_distributions: Annotated[
        dict[Any, Any] | None, "Where each parameter may lie; None: where the estimator declares it."
    ] = parameter(default=None, kw_only=False)
    n_iter: Annotated[Count, "How many candidates are tried."] = 20
    sampler: Annotated[Any, "One of Optuna's samplers; None is its default."] = None
    random_state: Annotated[RandomState, "The seed of the default sampler."] = None

    def _search(self, run: Any) -> None:
        optuna = _optuna()
        places = self.param_distributions
        if places is None:
            places = getattr(self.estimator, "search_space", dict)()
        if not places:
            raise ValueError(
                f"The 'param_distributions' parameter of OptunaSearch must name parameters, since "
                f"{type(self.estimator).__name__} declares no ranges; found {self.param_distributions!r}."
            )
        space = {name: distribution(place) for name, place in places.items()}
        seed = self.random_state if isinstance(self.random_state, int | np.integer) or self.random_state is None else (
            int(self.random_state.randint(2**31 - 1))
        )  # fmt: skip
        sampler = self.sampler if self.sampler is not None else optuna.samplers.TPESampler(seed=seed)
        verbosity = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        try:
            self._trials(optuna, run, sampler, space)
        finally:
            optuna.logging.set_verbosity(verbosity)

    def _trials(self, optuna: Any, run: Any, sampler: Any, space: dict[str, Any]) -> None:
        import time

        study = optuna.create_study(direction="maximize", sampler=sampler)
        rounds = run.__self__
        level = None
        if rounds.context is not None:
            level = rounds.context.subcontext(task_name="search", max_subtasks=self.n_iter)
            level.call_on_fit_task_begin(estimator=self)
        metric = self.refit if isinstance(self.refit, str) else "score"
        for number in range(self.n_iter):
            if number and time.monotonic() > rounds.deadline:
                break
            trial = study.ask(space)
            inner = None
            if level is not None:
                inner = level.subcontext(task_name="trial", max_subtasks=self.n_splits_)
                inner.call_on_fit_task_begin(estimator=self)
            table = run([dict(trial.params)], level=inner)
            if inner is not None:
                inner.call_on_fit_task_end(estimator=self)
            if rounds.interrupted:
                break
            score = float(table[f"mean_test_{metric}"][-1])
            if np.isnan(score):
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, score)
        if level is not None:
            level.call_on_fit_task_end(estimator=self)

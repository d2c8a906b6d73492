"""Logistic and generalised linear models on every fold and at every strength.

Two classes with a squared norm, and the models of `tutelage.linear.glm`, go the way of `tutelage.linear.smooth_folds`:
a path of fits of all rows, from the strongest penalty to the weakest, and from each of them the fits of all folds at
once. Everything else (several classes, absolute values in the penalty, sparse rows, folds that are no partition) is
fitted fold by fold, each fit started at that of all rows with the same parameters; folds run side by side.

Cost: see `tutelage.linear.smooth_folds`; else one fit for each fold and strength, of a few rounds. It fails where the
fits of all rows tell nothing of those of the folds, and costs a refit then.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import matrices
from tutelage.base import is_sparse
from tutelage.certificate import Certificate, Kind, Reason
from tutelage.fold_paths import FoldPath, NoFoldPath, fold_codes, grouped, sibling, side_by_side
from tutelage.linear.accuracy import is_small
from tutelage.linear.logistic import LogisticProblem
from tutelage.linear.smooth_folds import SmoothFolds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tutelage.base import Floats
    from tutelage.fold_paths import Group, Rows
    from tutelage.linear.smooth_folds import FoldFits

# Rounds below which a fit might not arrive, so that refitting would not either.
FEWEST_ROUNDS = 20
# The gap of the fits of all rows that those of two classes start from: near is enough, since slopes are made anew.
NEAR = 1e-5
# The gap to go on to where both loss and penalty are smooth: near the optimum a round more doubles the digits.
SMOOTH = 1e-9
# Folds from which on each row is multiplied with the coefficients of its own fold, rather than a fold at a time.
SINGLY = 64
# Columns from which on Hessians are dear.
WIDEST = 400


class _Fits(FoldPath):
    """What one fold's candidates came to: a model or None for each, and their predictions."""

    def __init__(self, models: Sequence[Callable[..., Any] | None], predict: Callable[[], Any] | None) -> None:
        self.models, self.predict = models, predict

    def model(self, candidate: int) -> Any:
        make = self.models[candidate]
        return None if make is None else make()

    def predictions(self) -> Any:
        return None if self.predict is None else self.predict()


def logistic_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any
) -> Iterator[FoldPath | None]:
    """Give the paths of `LogisticRegression`.

    Parameters
    ----------
    model : LogisticRegression
        Not changed.
    X, y, weight : arrays
        All rows, their classes, their weights or None.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        The candidates.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    groups = grouped(model, grid, "C", "l1_ratio")
    if any(group.model.warm_start or group.model.n_jobs is not None or group.model.verbose for group in groups):
        raise NoFoldPath
    table = [_group_of_logistic(group, X, y, folds, weight) for group in groups]
    return _merged(groups, table, len(grid), len(folds))


def _merged(
    groups: Sequence[Group], table: Sequence[Sequence[_Fits | None]], count: int, folds: int
) -> Iterator[FoldPath | None]:
    """Put the groups of each fold together."""
    for fold in range(folds):
        models: list[Any] = [None] * count
        tellers = []
        for group, fits in zip(groups, table, strict=True):
            one = fits[fold]
            if one is not None:
                for place, make in zip(group.candidates, one.models, strict=True):
                    models[place] = make
            tellers.append(None if one is None else one.predict)
        predict = None
        if all(teller is not None for teller in tellers):
            predict = _teller(groups, tellers, count)
        yield _Fits(models, predict)


def _teller(groups: Sequence[Group], tellers: Sequence[Any], count: int) -> Callable[[], Any]:
    def predict() -> Any:
        rows: list[Any] = [None] * count
        for group, teller in zip(groups, tellers, strict=True):
            found = teller()
            if found is None:
                return None
            for place, one in zip(group.candidates, found, strict=True):
                rows[place] = one
        return np.stack(rows)

    return predict


def _group_of_logistic(
    group: Group, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], weight: Any
) -> list[_Fits | None]:
    model = group.model
    settings = []
    for C, ratio in group.values:
        one = sibling(model, C=C, l1_ratio=ratio)
        one.check_parameters()
        settings.append(one._strength_and_ratio())  # noqa: SLF001 - of the same chapter
    rows, codes, weights = model.validate(X, y, weight)
    model._check_liblinear(rows)  # noqa: SLF001
    present = [bool(np.bincount(codes[train], minlength=len(model.classes_)).all()) for train, _ in folds]
    held = None if is_sparse(rows) else fold_codes(folds, len(codes))
    two = len(model.classes_) == 2 and all(ratio == 0 and math.isfinite(C) for C, ratio in settings)
    small = not is_sparse(rows) and rows.shape[1] <= WIDEST and model.max_iter >= FEWEST_ROUNDS
    fixed = not isinstance(model.class_weight, str) and all(present)
    known = {"liblinear"}.isdisjoint({model.solver})
    if held is not None and two and small and fixed and known and weights_everywhere(weights, folds):
        single = all(len(test) == 1 for _, test in folds)
        if SmoothFolds.fits(rows, len(folds), single):
            return _two_classes(group, rows, codes, weights, settings, folds, held)
    return _fold_by_fold(group, rows, codes, weights, settings, (X, y, weight), folds, present)


def weights_everywhere(weight: Floats | None, folds: Sequence[tuple[Rows, Rows]]) -> bool:
    """Tell whether no row has the weight zero, so that no fold loses a class to weights."""
    return weight is None or (bool((weight > 0).all()) and len(folds) > 0)


def _order(settings: Sequence[tuple[float, float]]) -> list[int]:
    """From the strongest penalty to the weakest, one share of absolute values after the other."""
    return sorted(range(len(settings)), key=lambda place: (settings[place][1], settings[place][0]))


def _certificate(value: float, left: float, rounds: int) -> Certificate:
    return Certificate(
        primal=value, kind=Kind.STATIONARITY, residual=left, rounds=rounds, passes=2.0 * rounds, seconds=0.0,
        solver="newton", reason=Reason.CONVERGED,
    )  # fmt: skip


def _two_classes(
    group: Group, X: Any, codes: Any, weight: Any, settings: Any, folds: Sequence[tuple[Rows, Rows]], held: Rows
) -> list[_Fits | None]:
    model = group.model
    problem = LogisticProblem(X, codes, weight, 2, fit_intercept=model.fit_intercept)
    smooth = SmoothFolds(X, problem.y, weight, problem.loss, held, len(folds), problem.own_intercept, model.tol)
    found: list[FoldFits | None] = [None] * len(settings)
    start: tuple[Floats, float] | None = None
    for place in _order(settings):
        C = settings[place][0]
        centre = None if start is None else smooth.move(1.0 / C, *start, NEAR)
        if centre is None:
            whole = problem.minimise(C, 0.0, tol=NEAR, max_rounds=model.max_iter)
            centre = whole.coef[0], float(whole.intercept[0])
        start = centre
        found[place] = smooth.fit(np.full(len(folds), 1.0 / C), *centre)

    def fitted(place: int, fold: int) -> Any:
        fits = found[place]
        assert fits is not None
        C, ratio = group.values[place]
        one = sibling(model, C=C, l1_ratio=ratio)
        value = smooth.value(fold, 1.0 / C, fits.coef[fold], float(fits.intercept[fold]))
        certificate = _certificate(value, float(fits.left[fold]), fits.rounds)
        one.n_iter_ = np.array([fits.rounds], dtype=np.int32)
        one.coef_ = fits.coef[fold][None].astype(X.dtype)
        one.intercept_ = np.array([fits.intercept[fold]]).astype(X.dtype) if model.fit_intercept else np.zeros(1)
        one.certificate_, one._information = certificate, None  # noqa: SLF001
        return one

    told: list[Floats] = []

    def of_fold(fold: int) -> _Fits:
        sound = [fits is not None and bool(fits.arrived[fold]) for fits in found]
        models = [(lambda place=place: fitted(place, fold)) if good else None for place, good in enumerate(sound)]
        if not all(sound):
            return _Fits(models, None)

        def predict() -> Any:
            if not told:  # of all folds, when the first asks
                told.append(_held_scores(X, held, found))
            return model.classes_[(told[0][:, folds[fold][1]] > 0).astype(np.intp)]

        return _Fits(models, predict)

    return [of_fold(fold) for fold in range(len(folds))]


def _held_scores(X: Any, held: Rows, found: Sequence[FoldFits | None]) -> Floats:
    """Give each row's score under the fit of the fold that holds it out: strengths x rows; zero where none does."""
    made = np.zeros((len(found), len(held)))
    known = [(place, fits) for place, fits in enumerate(found) if fits is not None]
    folds = len(known[0][1].coef)
    if folds > SINGLY:
        inside = held < folds
        own = held[inside]
        for place, fits in known:
            made[place, inside] = np.einsum("ij,ij->i", X[inside], fits.coef[own]) + fits.intercept[own]
        return made
    places = np.array([place for place, _ in known])
    for fold in range(folds):
        rows = np.flatnonzero(held == fold)
        coef = np.stack([fits.coef[fold] for _, fits in known])
        base = np.array([fits.intercept[fold] for _, fits in known])
        made[np.ix_(places, rows)] = np.asarray(matrices.rows(X[rows]).times(coef)).T + base[:, None]
    return made


def _fold_by_fold(
    group: Group, X: Any, codes: Any, weight: Any, settings: Any, raw: Any, folds: Sequence[tuple[Rows, Rows]],
    present: Sequence[bool],
) -> list[_Fits | None]:  # fmt: skip
    model, order = group.model, _order(settings)
    rows = X.tocsr() if is_sparse(X) else X
    balanced = isinstance(model.class_weight, str)
    scaling = model.intercept_scaling if model.solver == "liblinear" else None
    words = {"fit_intercept": model.fit_intercept, "intercept_scaling": scaling}
    limits = {"solver": model.solver, "tol": model.tol, "max_rounds": model.max_iter}
    starts: list[Any] = [None] * len(settings)
    last = None
    problem = LogisticProblem(rows, codes, weight, len(model.classes_), **words)
    needed = not is_small(rows, len(model.classes_))
    for place in order if needed else ():
        whole = problem.minimise(*settings[place], start=last, **limits)
        last = starts[place] = (whole.coef, whole.intercept)

    def goal(ratio: float) -> float:
        return min(model.tol, SMOOTH) if ratio == 0 else float(model.tol)

    def of_fold(job: tuple[int, tuple[Rows, Rows]]) -> _Fits | None:
        fold, (train, test) = job
        if not present[fold]:
            return None
        own = None if weight is None else weight[train]
        if balanced:
            given = None if raw[2] is None else np.asarray(raw[2])[train]
            own = sibling(model)._weigh_classes(codes[train], given)  # noqa: SLF001
        if own is not None and len(np.unique(codes[train][own > 0])) < len(model.classes_):
            return None
        mine = rows[train]
        inner = LogisticProblem(mine, codes[train], own, len(model.classes_), **words)
        # A small fit starts from nothing, so that its last digits depend on nothing else.
        begin = [None] * len(settings) if is_small(mine, len(model.classes_)) else starts
        solutions = [
            inner.minimise(*settings[place], start=begin[place], **{**limits, "tol": goal(settings[place][1])})
            for place in range(len(settings))
        ]

        def fitted(place: int) -> Any:
            C, ratio = group.values[place]
            one = sibling(model, C=C, l1_ratio=ratio)
            solution = solutions[place]
            one._keep_fit(solution, solution.coef if scaling is not None else rows)  # noqa: SLF001
            one._information = None  # noqa: SLF001
            return one

        def predict() -> Any:
            made = []
            for solution in solutions:
                scores = np.asarray(rows[test] @ solution.coef.T) + solution.intercept
                places = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
                made.append(model.classes_[places])
            return np.stack(made)

        free = [math.isinf(C) for C, _ in settings]  # whose standard errors need a fit of their own
        models = [None if none else (lambda place=place: fitted(place)) for place, none in enumerate(free)]
        trusted = all(solution.certificate.reason.trustworthy for solution in solutions)
        return _Fits(models, predict if trusted else None)

    return side_by_side(of_fold, enumerate(folds))


def deviance_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any
) -> Iterator[FoldPath | None]:
    """Give the paths of the regressors of `tutelage.linear.glm` with the log link.

    Parameters
    ----------
    model : estimator
        Not changed.
    X, y, weight : arrays
        All rows, their targets, their weights or None.
    folds : list of (train, test)
        Row numbers.
    grid : list of dict
        The candidates.

    Returns
    -------
    iterator of FoldPath or None
        One for each fold.
    """
    groups = grouped(model, grid, "alpha")
    table = [_group_of_deviance(group, X, y, folds, weight) for group in groups]
    return _merged(groups, table, len(grid), len(folds))


def _group_of_deviance(
    group: Group, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], weight: Any
) -> list[_Fits | None]:
    model, alphas = group.model, group.values
    convex = model._link() == "log" and 1 <= model._power() <= 2  # noqa: SLF001 - of the same chapter
    if not convex or model.warm_start or model.verbose or model.max_iter < FEWEST_ROUNDS or not min(alphas) > 0:
        raise NoFoldPath
    rows, targets, weights = model.validate(X, y, weight)
    model._check_targets(targets)  # noqa: SLF001
    held = None if is_sparse(rows) else fold_codes(folds, len(targets))
    single = all(len(test) == 1 for _, test in folds)
    if held is None or rows.shape[1] > WIDEST or not SmoothFolds.fits(rows, len(folds), single):
        raise NoFoldPath
    smooth = SmoothFolds(rows, targets, weights, model._loss(), held, len(folds), model.fit_intercept, model.tol)  # noqa: SLF001
    totals = np.array([len(train) if weights is None else weights[train].sum() for train, _ in folds], dtype=float)
    found: list[Any] = [None] * len(alphas)
    whole = sibling(model, tol=NEAR, warm_start=True)
    for place in np.argsort(-np.asarray(alphas, dtype=float), kind="stable"):
        whole.alpha = alphas[place]
        whole.fit(rows, targets, weights)
        found[place] = smooth.fit(float(alphas[place]) * totals, whole.coef_.astype(float), float(whole.intercept_))

    def of_fold(fold: int) -> _Fits:
        def fitted(place: int) -> Any:
            one = sibling(model, alpha=alphas[place])
            fits = found[place]
            one.coef_ = fits.coef[fold].astype(rows.dtype)
            one.intercept_ = rows.dtype.type(fits.intercept[fold]) if model.fit_intercept else 0.0
            one.n_iter_ = fits.rounds
            strength = float(alphas[place]) * float(totals[fold])
            value = smooth.value(fold, strength, fits.coef[fold], float(fits.intercept[fold]))
            one.certificate_ = _certificate(value, float(fits.left[fold]), fits.rounds)
            one._information = None  # noqa: SLF001
            return one

        sound = [bool(fits.arrived[fold]) for fits in found]
        models = [(lambda place=place: fitted(place)) if good else None for place, good in enumerate(sound)]

        def predict() -> Any:
            coef = np.stack([fits.coef[fold] for fits in found])
            base = np.array([fits.intercept[fold] for fits in found])
            return np.exp(np.asarray(rows[folds[fold][1]] @ coef.T).T + base[:, None])

        return _Fits(models, predict if all(sound) else None)

    return [of_fold(fold) for fold in range(len(folds))]

"""Subsets of columns under the logistic loss: all candidates of a step at once, started at the fit without them.

The fit to the columns S is known for every fold. Each candidate S + j starts there, with the coefficient zero for j,
and takes Newton steps; the rows are the same for all candidates, so their scores, slopes and Hessians are a few
products:

    scores      X_S W_S + X_j w_j                     n x candidates
    slopes      X_S' L,  sum_i x_ij l_ij              with L = loss' at the scores
    Hessians    (products of pairs of S)' C, ...      with C = loss'' at the scores

Three or four rounds reach the last digits. A score test (Rao 1948) says beforehand what the first round will bring,
U_j^2 / (I_jj - I_jS I_SS^-1 I_Sj): with ``screen`` only the candidates of the largest are fitted.

Taking columns away starts at the fit with them, whose inverse Hessian K without j is K - K_j K_j' / K_jj.

Cost: n candidates (s^2 / 2 + 4 s) for each round and fold. It fails where the classes can be separated and the penalty
is weak: a candidate that does not arrive is refitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import losses, matrices
from tutelage.fold_paths import side_by_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutelage.base import Floats

ROUNDS = 12
# The gain left, relative to the risk, at which a candidate has arrived; rounds of a matrix that stays may be more.
ENOUGH = 1e-10
STAYING = 30


class _Fold:
    """One fold: its rows, and the fit to the columns chosen so far."""

    def __init__(self, X: Floats, y: Floats, train: Any, test: Any, fit_intercept: bool) -> None:
        self.X, self.y = np.ascontiguousarray(X[train]), np.ascontiguousarray(y[train])
        self.held, self.told = np.ascontiguousarray(X[test]), y[test]
        self.intercept = fit_intercept
        self.point = np.zeros(int(fit_intercept))  # intercept first, then the chosen columns in order
        self.found: dict[int, Floats] = {}

    def design(self, chosen: Any, *, held: bool = False) -> Floats:
        rows = self.held if held else self.X
        return np.column_stack([np.ones(len(rows)), rows[:, chosen]]) if self.intercept else rows[:, chosen]


class LogisticSubsets:
    """Folds of a logistic regression of two classes, from which subsets of columns are scored.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows.
    y : array of shape (n,)
        The classes as -1 and +1.
    folds : list of (train, test)
        Row numbers; each training set has both classes.
    strength : float
        Of the squared penalty, against the sum of the losses: 1 / C.
    fit_intercept : bool
        Whether there is an intercept.
    metric : {"accuracy", "neg_log_loss"}
        The score.
    """

    def __init__(
        self, X: Floats, y: Floats, folds: Sequence[tuple[Any, Any]], strength: float, fit_intercept: bool, metric: str
    ) -> None:
        self.folds = [_Fold(X, y, train, test, fit_intercept) for train, test in folds]
        self.whole = _Fold(X, y, slice(None), slice(0, 0), fit_intercept)
        self.strength, self.metric, self.intercept = strength, metric, int(fit_intercept)
        self.native = losses.Logistic().native()
        self.usual = all(len(fold.told) > 0 for fold in self.folds)

    # ---- adding ----

    def forward(self, chosen: Any, candidates: Any) -> Floats:
        """Score the chosen columns with each candidate added: the mean over folds; NaN where it must be refitted."""
        made: Floats = np.mean(side_by_side(lambda fold: self._add(fold, chosen, candidates), self.folds), axis=0)
        return made

    def keep(self, column: int) -> bool:
        """Start the next step at the fits with this column; False where some fold has none."""
        if any(column not in fold.found for fold in self.folds):
            return False
        for fold in self.folds:
            fold.point = fold.found[column]
            fold.found = {}
        return True

    def statistics(self, chosen: Any, candidates: Any) -> Floats:
        """Give the score test of each candidate, on all rows."""
        fold = self.whole
        design = fold.design(chosen)
        point = np.zeros(design.shape[1])
        for _ in range(ROUNDS):
            slope, hessian = self._slope_and_hessian(design, fold.y, point)
            step = np.linalg.lstsq(hessian, slope, rcond=None)[0]
            point = point - step
            if float(slope @ step) <= 1e-8:
                break
        scores = design @ point
        slopes = np.asarray(self.native.slope(fold.y, scores)).ravel()
        curvature = np.asarray(self.native.curvature(fold.y, scores)).ravel()
        _, hessian = self._slope_and_hessian(design, fold.y, point)
        own = (fold.X[:, candidates] ** 2).T @ curvature + self.strength
        across = (design * curvature[:, None]).T @ fold.X[:, candidates]
        if design.shape[1]:
            own = own - np.einsum("sj,sj->j", across, np.linalg.lstsq(hessian, across, rcond=None)[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            made: Floats = np.where(own > 0, (fold.X[:, candidates].T @ slopes) ** 2 / own, 0.0)
        return made

    def _slope_and_hessian(self, design: Floats, y: Floats, point: Floats) -> tuple[Floats, Floats]:
        scores = design @ point
        slopes = np.asarray(self.native.slope(y, scores)).ravel()
        curvature = np.asarray(self.native.curvature(y, scores)).ravel()
        penalty = self._penalty(len(point))
        return design.T @ slopes + penalty * point, (design * curvature[:, None]).T @ design + np.diag(penalty)

    def _penalty(self, side: int) -> Floats:
        made = np.full(side, self.strength)
        made[: self.intercept] = 0.0
        return made

    def _add(self, fold: _Fold, chosen: Any, candidates: Any) -> Floats:
        design, new = fold.design(chosen), np.ascontiguousarray(fold.X[:, candidates])
        side, count, rows = design.shape[1], len(candidates), len(fold.y)
        if len(fold.point) != side:
            fold.point = self._settle(fold, design)
        upper = np.triu_indices(side)
        pairs = matrices.rows(np.ascontiguousarray(design[:, upper[0]] * design[:, upper[1]])) if side else None
        handle = matrices.rows(np.ascontiguousarray(design)) if side else None
        old, own = np.repeat(fold.point[None], count, axis=0), np.zeros(count)
        y = np.repeat(fold.y[:, None], count, axis=1)
        base, penalty = (design @ fold.point)[:, None], self._penalty(side)
        scores = np.ascontiguousarray(np.broadcast_to(base, (rows, count)))
        goal = ENOUGH * max(float(np.logaddexp(0, -fold.y * base[:, 0]).sum()), 1e-300)
        arrived = np.zeros(count, dtype=bool)
        hessian = np.empty((count, side + 1, side + 1))
        slope = np.empty((count, side + 1))
        for _ in range(ROUNDS):
            slopes = np.asarray(self.native.slope(y, scores)).reshape(rows, count)
            heavy = np.asarray(self.native.curvature(y, scores)).reshape(rows, count)
            weighed = heavy * new
            if side and pairs is not None and handle is not None:
                slope[:, :side] = np.asarray(handle.transpose_times(np.ascontiguousarray(slopes))) + penalty * old
                flat = np.asarray(pairs.transpose_times(np.ascontiguousarray(heavy)))
                hessian[:, upper[0], upper[1]] = flat
                hessian[:, upper[1], upper[0]] = flat
                hessian[:, :side, side] = hessian[:, side, :side] = np.asarray(handle.transpose_times(weighed))
                hessian[:, np.arange(side), np.arange(side)] += penalty
            slope[:, side] = np.einsum("ij,ij->j", slopes, new) + self.strength * own
            hessian[:, side, side] = np.einsum("ij,ij->j", weighed, new) + self.strength
            try:
                step = np.linalg.solve(hessian, slope[:, :, None])[:, :, 0]
            except np.linalg.LinAlgError:
                return np.full(count, np.nan)
            left = np.einsum("js,js->j", slope, step) / 2
            if not np.isfinite(left).all():
                return np.full(count, np.nan)
            old, own = old - step[:, :side], own - step[:, side]
            arrived = left <= goal
            if arrived.all():
                break
            scores = new * own
            if handle is not None:
                scores += np.asarray(handle.times(np.ascontiguousarray(old)))
        held = fold.held[:, candidates] * own
        if side:
            held = held + fold.design(chosen, held=True) @ old.T
        for place, column in enumerate(candidates):
            if arrived[place]:
                fold.found[int(column)] = np.append(old[place], own[place])
        return np.where(arrived, self._score(fold, held), np.nan)

    def _settle(self, fold: _Fold, design: Floats) -> Floats:
        """Fit the chosen columns from the intercept on, where no step led here."""
        point = np.zeros(design.shape[1])
        for _ in range(ROUNDS):
            slope, hessian = self._slope_and_hessian(design, fold.y, point)
            step = np.linalg.lstsq(hessian, slope, rcond=None)[0]
            point = point - step
            if float(slope @ step) <= 1e-12:
                break
        return point

    # ---- taking away ----

    def backward(self, chosen: Any) -> Floats:
        """Score the chosen columns with each of them taken away: the mean over folds."""
        made: Floats = np.mean(side_by_side(lambda fold: self._take(fold, chosen), self.folds), axis=0)
        return made

    def _take(self, fold: _Fold, chosen: Any) -> Floats:
        design = np.ascontiguousarray(fold.design(chosen))
        point = self._settle(fold, design)
        _, hessian = self._slope_and_hessian(design, fold.y, point)
        try:
            inverse = np.linalg.inv(hessian)
        except np.linalg.LinAlgError:
            return np.full(len(chosen), np.nan)
        count, first = len(chosen), self.intercept
        gone = np.arange(count) + first
        share = inverse[:, gone] / np.diag(inverse)[gone]
        points = (point[:, None] - share * point[gone]).T.copy()
        points[np.arange(count), gone] = 0.0
        handle, penalty = matrices.rows(design), self._penalty(design.shape[1])
        y = np.repeat(fold.y[:, None], count, axis=1)
        goal = ENOUGH * max(float(np.logaddexp(0, -fold.y * (design @ point)).sum()), 1e-300)
        left = np.full(count, np.inf)
        for _ in range(STAYING):
            scores = np.asarray(handle.times(np.ascontiguousarray(points)))
            slopes = np.asarray(self.native.slope(y, scores)).reshape(scores.shape)
            slope = np.asarray(handle.transpose_times(np.ascontiguousarray(slopes))) + penalty * points
            step = slope @ inverse
            step -= share.T * step[np.arange(count), gone][:, None]
            step[np.arange(count), gone] = 0.0
            slope[np.arange(count), gone] = 0.0
            left = np.abs(np.einsum("js,js->j", slope, step)) / 2
            points -= step
            if (left <= goal).all() or not np.isfinite(left).all():
                break
        held = fold.design(chosen, held=True) @ points.T
        return np.where(left <= goal, self._score(fold, held), np.nan)

    def _score(self, fold: _Fold, scores: Floats) -> Floats:
        if self.metric == "accuracy":
            made: Floats = ((scores > 0) == (fold.told[:, None] > 0)).mean(axis=0)
            return made
        # The logarithm of the probability, which scikit-learn cuts off at the rounding of one.
        least = np.log(np.finfo(np.float64).eps)
        told = np.maximum(-np.logaddexp(0, -fold.told[:, None] * scores), least)
        mean: Floats = told.mean(axis=0)
        return mean

"""Smooth risks on every fold: started at the fit of all rows, with Hessians that are subtracted, polished to tolerance.

    minimise over w, b:   sum over rows outside fold f of  s_i loss(y_i, x_i . w + b)  +  strength_f |w|^2 / 2

The fits of the folds lie near that of all rows. At the latter the Hessian is a sum over rows, so that of the rows
outside a fold is the whole less the fold's own part:

    H_f = H - sum over rows of fold f of s_i loss''_i x_i x_i'  +  strength_f,       one reading of X for all folds.

From there every fold takes Newton steps with its H_f (chord steps: the matrix stays, the slope is new), all folds at
once: the scores of n rows under k folds are one product, their slopes one more. A round gains one or two digits for
large folds and three or more for folds of single rows, whose H_f is the whole with one row taken out (Sherman and
Morrison). What a fold's step would still gain is half of slope' H_f^-1 slope; below the tolerance, relative to the
risk, it has arrived.

Cost: for each strength one Hessian (n d^2), d^3 for each fold, and 4 n d k for each round, of which there are 2 to 8.
It fails where a fold's fit is far from that of all rows (few rows, weak penalties, classes that separate): a fold that
does not arrive is refitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import _core, matrices
from tutelage.counts import mirrored

if TYPE_CHECKING:
    from tutelage.base import Floats
    from tutelage.fold_paths import Rows

# Folds that take their steps together, rounds until a fold is given up, and entries of all their Hessians.
BLOCK, ROUNDS, MOST_HESSIANS = 256, 25, 40_000_000
# The share of the curvature that may have changed since the Hessian that is used.
SAME = 0.02
# A round that gains less than this gets a new Hessian next time.
SLOW = 0.05
# The gain left, relative to the risk, at which a fold has arrived: for small problems, where the last digits cost
# nothing (with single rows left out a round gains three or more), and for the others.
LAST, LAST_SINGLE, ENOUGH = 1e-20, 1e-12, 1e-9


@dataclass(frozen=True)
class FoldFits:
    """The fits of all folds at one strength.

    Attributes
    ----------
    coef : array of shape (folds, d)
        The coefficients.
    intercept : array of shape (folds,)
        The intercepts.
    arrived : array of bool, shape (folds,)
        Whether a fold is fitted; those that are not must be refitted.
    left : array of shape (folds,)
        What a step would still gain, relative to the risk.
    rounds : int
        Rounds that were made.
    """

    coef: Floats
    intercept: Floats
    arrived: Any
    left: Floats
    rounds: int


class SmoothFolds:
    """Rows, targets and folds of a risk with a smooth loss of one score.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows.
    y : array of shape (n,)
        The targets of the loss.
    weight : array of shape (n,) or None
        How much each row counts.
    loss : loss
        Of `tutelage.losses`, with value, slope and curvature.
    codes : array of shape (n,)
        Which fold holds a row out; the number of folds for none.
    folds : int
        How many folds there are.
    fit_intercept : bool
        Whether there is an intercept.
    tol : float
        The relative gap that refitting would end at; large problems go on to a thousandth of it.
    """

    def __init__(
        self,
        X: Any,
        y: Floats,
        weight: Floats | None,
        loss: Any,
        codes: Rows,
        folds: int,
        fit_intercept: bool,
        tol: float,
    ) -> None:
        self.intercept = fit_intercept
        dense = np.array(X, dtype=np.float64, order="C")
        self.mean = dense.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
        self.X = dense - self.mean if fit_intercept else dense
        if fit_intercept:
            self.X = np.hstack([self.X, np.ones((len(dense), 1))])
        self.rows = matrices.rows(self.X)
        self.y, self.weight, self.loss = np.ascontiguousarray(y, dtype=np.float64), weight, loss
        self.native, self._repeated = loss.native(), np.empty((0, 0))
        self._known: tuple[Any, ...] | None = None  # curvatures, their Hessian, and its parts
        self._size = 0.0
        self.codes, self.folds = codes, folds
        self.single = bool((np.bincount(codes, minlength=folds)[:folds] == 1).all())
        self.enough = max(ENOUGH, 1e-3 * min(tol, 1e-4))
        self.small = self.X.size <= 100_000

    @staticmethod
    def fits(X: Any, folds: int, single: bool) -> bool:
        """Tell whether the matrices of all folds have room."""
        return bool(single or (folds + 1) * (X.shape[1] + 1) ** 2 <= MOST_HESSIANS)

    def fit(self, strength: Floats, coef: Floats, intercept: float) -> FoldFits:
        """Fit every fold at one strength.

        Parameters
        ----------
        strength : array of shape (folds,)
            Of the penalty, against the sum of the losses of the fold.
        coef, intercept : array of shape (d,), float
            The fit of all rows at this strength.

        Returns
        -------
        FoldFits
            The fits.
        """
        start = self._inside(coef, intercept)
        scores = np.asarray(self.rows.times(np.ascontiguousarray(start[None])))[:, 0]
        if self.small or not self._size:  # elsewhere the first risk, which is the largest, is measure enough
            value = float(np.sum(self._weighed(np.asarray(self.loss.value(self.y, scores)))))
            self._size = abs(value + float(np.mean(strength)) * float(coef @ coef) / 2)
        size = max(self._size, np.finfo(float).tiny)
        slopes = self._slopes_of_folds(scores)
        least = LAST_SINGLE if self.single else LAST
        goal = (least if self.small else self.enough) * size
        second = self._second_order(scores)
        answers = []
        for first in range(0, self.folds, BLOCK):
            block = np.arange(first, min(first + BLOCK, self.folds))
            answers.append(self._block(block, strength[block], start, slopes, second, goal, size))
        points, arrived, left, rounds = zip(*answers, strict=True)
        point = np.concatenate(points)
        found = point[:, :-1] if self.intercept else point
        base = point[:, -1] - found @ self.mean if self.intercept else np.zeros(len(point))
        return FoldFits(found, base, np.concatenate(arrived), np.concatenate(left) / size, max(rounds))

    def move(self, strength: float, coef: Floats, intercept: float, near: float) -> tuple[Floats, float] | None:
        """Move a fit of all rows to another strength, by the same steps.

        Parameters
        ----------
        strength : float
            Of the penalty, against the sum of the losses.
        coef, intercept : array of shape (d,), float
            The fit at a strength nearby.
        near : float
            The gain left, relative to the risk, at which it is near enough.

        Returns
        -------
        (coef, intercept) or None
            None where the steps do not lead there, or no fold was fitted yet.
        """
        if self._known is None or not self._size:
            return None
        point, penalty = self._inside(coef, intercept), self._penalty(np.array([strength]))[0]
        before, fresh = np.inf, False
        for _ in range(ROUNDS):
            scores = np.asarray(self.rows.times(np.ascontiguousarray(point[None])))[:, 0]
            slopes = self._weighed(np.asarray(self.loss.slope(self.y, scores)))
            slope = np.asarray(self.rows.transpose_times(np.ascontiguousarray(slopes[:, None])))[0] + penalty * point
            try:
                step = np.linalg.solve(self._known[1] + np.diag(penalty), slope)
            except np.linalg.LinAlgError:
                return None
            left = abs(float(slope @ step)) / 2
            if not np.isfinite(left):
                return None
            if left > SLOW * before and not fresh and left > near * self._size:
                self._look(scores)  # the matrix of another point has done its part
                before, fresh = np.inf, True
                continue
            if left > before:
                return None
            point, before, fresh = point - step, left, False
            if left <= near * self._size:
                found = point[:-1] if self.intercept else point
                return found, float(point[-1] - found @ self.mean) if self.intercept else 0.0
        return None

    def _inside(self, coef: Floats, intercept: float) -> Floats:
        """Give coefficients and intercept for centred columns."""
        if not self.intercept:
            return np.asarray(coef, dtype=np.float64)
        return np.append(coef, intercept + self.mean @ coef)

    def _second_order(self, scores: Floats) -> tuple[Any, ...]:
        """Give curvatures, the Hessian and its parts at scores, or those of scores nearby."""
        curvature = self._weighed(np.asarray(self.loss.curvature(self.y, scores)))
        if self._known is not None and not self.single:
            moved = float(np.abs(curvature - self._known[0]).sum())
            if moved <= SAME * float(curvature.sum()):
                return self._known
        return self._look(scores)

    def _look(self, scores: Floats) -> tuple[Any, ...]:
        """Make curvatures, the Hessian and its parts anew. The whole is the sum of the parts, one reading for both."""
        curvature = self._weighed(np.asarray(self.loss.curvature(self.y, scores)))
        parts = None if self.single or self.folds > BLOCK else self._hessians_of_folds(curvature)
        whole = self._hessian(curvature) if parts is None else parts.sum(axis=0)
        self._known = curvature, whole, parts
        return self._known

    def value(self, fold: int, strength: float, coef: Floats, intercept: float) -> float:
        """Give the mean risk of a fold's fit on the rows outside the fold."""
        point = np.append(coef, intercept + self.mean @ coef) if self.intercept else coef
        inside = self.codes != fold
        weight = np.ones(int(inside.sum())) if self.weight is None else self.weight[inside]
        lost = weight @ np.asarray(self.loss.value(self.y[inside], self.X[inside] @ point))
        return float((lost + strength * (coef @ coef) / 2) / weight.sum())

    def _weighed(self, values: Floats) -> Floats:
        if self.weight is None:
            return values
        made: Floats = values * (self.weight if values.ndim == 1 else self.weight[:, None])
        return made

    def _slopes_of_folds(self, scores: Floats) -> Floats:
        """The part of the slope that the held-out rows of each fold make; in the last row, that of all rows."""
        heavy = self._weighed(np.asarray(self.loss.slope(self.y, scores)))
        parts = self.folds + bool((self.codes == self.folds).any())
        sums = np.asarray(_core.class_sums(self.rows, self.codes, heavy, parts, None)[1])
        return np.vstack([sums, sums.sum(axis=0)])

    def _hessian(self, curvature: Floats) -> Floats:
        lower = np.asarray(self.rows.sandwich(np.ascontiguousarray(curvature)))
        made: Floats = np.tril(lower) + np.tril(lower, -1).T
        return made

    def _penalty(self, strength: Floats) -> Floats:
        """The diagonal of the penalty, a row for each fold; the intercept has none."""
        made: Floats = np.repeat(strength[:, None], self.X.shape[1], axis=1)
        if self.intercept:
            made[:, -1] = 0.0
        return made

    def _block(
        self,
        block: Rows,
        strength: Floats,
        start: Floats,
        first: Floats,
        second: tuple[Any, ...],
        goal: float,
        size: float,
    ) -> tuple[Floats, Any, Floats, int]:
        """Fit some folds at once: points, whether they arrived, what is left, rounds."""
        penalty = self._penalty(strength)
        point = np.repeat(start[None], len(block), axis=0)
        left, before = np.full(len(block), np.inf), np.full(len(block), np.inf)
        alive = np.ones(len(block), dtype=bool)
        try:
            solve = self._inverse(block, penalty, *second)
        except np.linalg.LinAlgError:
            return point, np.zeros(len(block), dtype=bool), left, 0
        rounds = 0
        held = [np.flatnonzero(self.codes == fold) for fold in block] if not self.single else None
        own_rows = self._single_rows(block) if self.single else None
        with np.errstate(over="ignore", invalid="ignore"):
            for rounds in range(1, ROUNDS + 1):
                if rounds == 1:  # all stand at the same point, where the slopes of the rows are known
                    slope = first[-1] - first[block] + penalty * point
                else:
                    slope = self._slope(point, penalty, held, own_rows)
                step = solve(slope)
                left = np.abs((slope * step).sum(axis=1)) / 2
                alive &= np.isfinite(left) & ~(left > 100 * before)
                if not alive.any():
                    break
                if (left[alive] <= goal).all():
                    point[alive] -= step[alive]  # the step is known, and gains the digits of one more round
                    break
                if rounds > 3 and (left[alive] <= max(goal, LAST_SINGLE * size)).all() and (left > before / 4).any():
                    goal = max(goal, LAST_SINGLE * size)  # rounding has the rest
                    break
                slow = alive & (left > SLOW * before) & (left > goal)
                if slow.any():
                    if self.single or rounds > ROUNDS // 2:
                        alive &= ~slow
                        continue
                    fresh = self._fresh(point[slow], penalty[slow], block[slow])
                    if fresh is None:
                        alive &= ~slow
                    else:
                        solve = _patched(solve, slow, fresh)
                        step[slow] = np.einsum("kij,kj->ki", fresh, slope[slow])
                point[alive] -= step[alive]
                before = left.copy()
        return point, alive & (left <= goal), left, rounds

    def _single_rows(self, block: Rows) -> Rows:
        order = np.argsort(self.codes, kind="stable")
        found: Rows = order[np.searchsorted(self.codes[order], block)]
        return found

    def _slope(self, point: Floats, penalty: Floats, held: Any, own_rows: Any) -> Floats:
        """The gradient of each fold's risk at its point."""
        scores = np.asarray(self.rows.times(np.ascontiguousarray(point)))
        if self._repeated.shape != scores.shape:
            self._repeated = np.repeat(self.y[:, None], scores.shape[1], axis=1)
        slopes = self._weighed(np.asarray(self.native.slope(self._repeated, scores)).reshape(scores.shape))
        if own_rows is not None:
            slopes[own_rows, np.arange(len(own_rows))] = 0.0
        else:
            for place, rows in enumerate(held):
                slopes[rows, place] = 0.0
        return np.asarray(self.rows.transpose_times(np.ascontiguousarray(slopes))) + penalty * point

    def _inverse(self, block: Rows, penalty: Floats, curvature: Floats, whole: Floats, parts: Floats | None) -> Any:
        """Give the function that multiplies slopes by the inverse Hessians at the fit of all rows."""
        if self.single and bool((penalty == penalty[0]).all()):
            rows = self._single_rows(block)
            inverse = np.linalg.inv(whole + np.diag(penalty[0]))
            moved = self.X[rows] @ inverse
            share = curvature[rows] / (1 - curvature[rows] * np.einsum("ij,ij->i", moved, self.X[rows]))

            def without_a_row(slope: Floats) -> Floats:
                step = slope @ inverse
                step += moved * (share * np.einsum("ij,ij->i", step, self.X[rows]))[:, None]
                made: Floats = step
                return made

            return without_a_row
        own = self._own_hessians(block, curvature) if parts is None else parts[: self.folds]
        inverses = np.linalg.inv(whole - own + penalty[:, :, None] * np.eye(self.X.shape[1]))
        return lambda slope: np.einsum("kij,kj->ki", inverses, slope)

    def _own_hessians(self, block: Rows, curvature: Floats) -> Floats:
        """The part of the Hessian that the held-out rows of each fold make, a fold at a time."""
        side = self.X.shape[1]
        made = np.empty((len(block), side, side))
        for place, fold in enumerate(block):
            rows = self.codes == fold
            made[place] = (self.X[rows] * curvature[rows][:, None]).T @ self.X[rows]
        return made

    def _hessians_of_folds(self, curvature: Floats) -> Floats:
        """The part of the Hessian that the held-out rows of each fold make, and that of rows never held out."""
        parts, side = self.folds + bool((self.codes == self.folds).any()), self.X.shape[1]
        return mirrored(
            np.asarray(_core.class_scatter(self.rows, self.codes, curvature, np.zeros((parts, side)), True))
        )

    def _fresh(self, point: Floats, penalty: Floats, folds: Rows) -> Floats | None:
        """Invert the Hessians of some folds where they are now."""
        made = np.empty((len(folds), self.X.shape[1], self.X.shape[1]))
        for place, fold in enumerate(folds):
            scores = np.asarray(self.rows.times(np.ascontiguousarray(point[place : place + 1])))[:, 0]
            curvature = self._weighed(np.asarray(self.loss.curvature(self.y, scores)))
            curvature[self.codes == fold] = 0.0
            try:
                made[place] = np.linalg.inv(self._hessian(curvature) + np.diag(penalty[place]))
            except np.linalg.LinAlgError:
                return None
        return made


def _patched(solve: Any, which: Any, fresh: Floats) -> Any:
    """Use new inverses for some folds."""

    def patched(slope: Floats) -> Floats:
        made: Floats = solve(slope)
        made[which] = np.einsum("kij,kj->ki", fresh, slope[which])
        return made

    return patched

"""Ridge and least squares on every fold, at every strength, from sums that add up.

What a fit needs to know of its rows are their number, means, and the products of the centred columns with each other
and with the targets. The rows outside fold f are the union of the other folds, so their sums are additions
(`without_each`):

    G_f = sum over other folds of their products,   G_f = V e V',   w_f(alpha) = V (e + alpha)^-1 V' c_f

One reading of X makes the sums of all folds; each fold is factored once, for all strengths; its held-out rows are
multiplied with V once, for all strengths. Leaving out one row at a time needs no factor but that of all rows
(`tutelage.linear.ridge_cv`).

Cost: one pass (n d^2), and d^3 for each fold, instead of folds * strengths passes. Where the folds do not add up (train
is not the rest), or X is sparse or wide, each fold is factored by itself, still once for all strengths.

It fails where the products have lost what the rows know: columns that are collinear to eight digits without a penalty.
Those candidates are refitted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg

from tutelage import counts, matrices
from tutelage.base import is_sparse
from tutelage.certificate import Certificate, Reason
from tutelage.fold_paths import FoldPath, NoFoldPath, fold_codes, grouped, sibling, side_by_side, without_each
from tutelage.linear.least_squares import as_columns, split_point
from tutelage.linear.ridge_cv import ridge_path
from tutelage.risk import certificate_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tutelage.base import Floats, Matrix
    from tutelage.fold_paths import Group, Rows

# The condition number from which on products of columns are not trusted.
ILL = 1e8
# Entries of the sums of all folds together, and the entries of X from which on a sparse X is left to its own solver.
MOST_SUMS, MOST_SPARSE = 40_000_000, 2_000


class _Targets:
    """The rows of a group of candidates, and how scores become predictions."""

    def __init__(self, model: Any, X: Matrix, Y: Floats, weight: Floats | None, flat: bool, codes: Any) -> None:
        self.model, self.X, self.Y, self.weight, self.flat = model, X, Y, weight, flat
        self.codes = codes  # of classes; None for targets
        self.intercept = bool(model.fit_intercept)
        self.shift: Any = 0.0  # about which the columns are summed

    def predicted(self, scores: Floats) -> Any:
        """Turn scores (candidates x rows x outputs) into what `predict` gives."""
        if self.codes is None:
            return scores[:, :, 0] if self.flat else scores
        places = (scores[:, :, 0] > 0).astype(np.intp) if scores.shape[2] == 1 else scores.argmax(axis=2)
        return self.model.classes_[places]

    def fitted(self, alpha: Any, coef: Floats, intercept: Floats, certificate: Certificate) -> Any:
        """Give the model with these coefficients, as its own fit would leave it."""
        one = len(coef) == 1
        made = sibling(self.model)
        if hasattr(self.model, "alpha"):
            made.alpha = alpha
            exact = self.model.solver in {"svd", "cholesky", "sparse_cg"}
            made.n_iter_ = None if exact else np.ones(len(coef), dtype=np.int32)
            made.solver_ = certificate.solver if self.model.solver == "auto" else self.model.solver
        if self.codes is None:
            shaped = coef[0] if self.flat or (one and hasattr(self.model, "alpha")) else coef
            made.keep(shaped, intercept[0] if self.flat else intercept, certificate, self.X)
        else:
            made.keep(coef, intercept, certificate, self.X)
        return made


class _Share:
    """The candidates of one group in one fold: scores of the held-out rows, and models."""

    def scores(self) -> Floats | None:
        """Candidates x rows x outputs; None where some candidate must be refitted."""
        raise NotImplementedError

    def model(self, place: int) -> Any:
        raise NotImplementedError


class _Moments(_Share):
    """By the sums of the other folds."""

    def __init__(self, targets: _Targets, alphas: Floats, sums: tuple[Floats, ...], held: Callable[[], Floats]) -> None:
        self.targets, self.alphas, self.held = targets, alphas, held
        self.total, self.mean, self.y_mean, self.gram, self.cross, self.square = sums
        with np.errstate(invalid="ignore"):
            self.values, self.vectors = linalg.eigh(self.gram, check_finite=False)
        self.values = np.maximum(self.values, 0.0)
        self.along = self.vectors.T @ self.cross
        top = float(self.values[-1]) if len(self.values) else 0.0
        least = float(self.values[0]) if len(self.values) else 0.0
        self.ill = (top + alphas) > ILL * (least + alphas)

    def scores(self) -> Floats | None:
        if self.ill.any():
            return None
        shares = self.along[None] / (self.values[:, None] + self.alphas[:, None, None])  # candidates x d x outputs
        count, columns, outputs = shares.shape
        coef = np.swapaxes(self.vectors @ shares, 1, 2).reshape(count * outputs, columns)
        base = -coef @ (self.mean + self.targets.shift) if self.targets.intercept else 0.0
        scores = np.asarray(matrices.rows(self.held()).times(np.ascontiguousarray(coef))) + base
        made: Floats = np.moveaxis(scores.reshape(-1, count, outputs), 0, 1) + self.y_mean
        return made

    def model(self, place: int) -> Any:
        if self.ill[place]:
            return None
        alpha = float(self.alphas[place])
        coef = (self.vectors @ (self.along / (self.values + alpha)[:, None])).T
        shift = self.targets.shift
        intercept = self.y_mean - coef @ (self.mean + shift) if self.targets.intercept else np.zeros(len(coef))
        made = self.targets.fitted(self.alphas[place], coef, intercept, self._certificate(coef, alpha))
        if not hasattr(made, "alpha"):  # what least squares keeps for rank_, singular_ and inference()
            made._spectrum = np.sqrt(self.values[::-1])  # noqa: SLF001 - of the same chapter
            made._sums = self.gram / self.total, self.mean + shift  # noqa: SLF001
            made._spread = float(self.total), self.square / self.total  # noqa: SLF001
        return made

    def _certificate(self, coef: Floats, alpha: float) -> Certificate:
        """Bound how far the coefficients can be from the optimum: by the slope left, over the least curvature."""
        products = coef @ self.gram
        left = products + alpha * coef - self.cross.T
        least = max(float(self.values[0]) if len(self.values) else 0.0, 0.0) + alpha
        gap = float((left**2).sum()) / (2 * least) if least > 0 else 0.0
        errors = float(self.square.sum() - 2 * (coef * self.cross.T).sum() + (coef * products).sum())
        primal = (max(errors, 0.0) + alpha * float((coef**2).sum())) / (2 * float(self.total))
        gap = min(gap / float(self.total), primal)
        return Certificate(primal=primal, dual=primal - gap, gap=gap, rounds=1, passes=1, seconds=0.0,
                           solver="closed_form", reason=Reason.CONVERGED)  # fmt: skip


class _Factor(_Share):
    """By a factor of the fold's own rows."""

    def __init__(self, targets: _Targets, alphas: Floats, train: Rows, test: Rows) -> None:
        self.targets, self.alphas, self.test = targets, alphas, test
        weight = None if targets.weight is None else targets.weight[train]
        self.path = ridge_path(targets.X[train], targets.Y[train], weight, targets.intercept)

    def _point(self, alpha: float) -> tuple[Floats, Floats]:
        outputs = self.targets.Y.shape[1]
        point = self.path.coefficients([alpha] * outputs)
        return split_point(point, self.targets.X.shape[1], self.targets.intercept)

    def scores(self) -> Floats | None:
        held = self.targets.X[self.test]
        points = [self._point(float(alpha)) for alpha in self.alphas]
        return np.stack([np.asarray(held @ coef.T) + intercept for coef, intercept in points])

    def model(self, place: int) -> Any:
        outputs = self.targets.Y.shape[1]
        point, facts = self.path.solve([float(self.alphas[place])] * outputs)
        coef, intercept = split_point(point, self.targets.X.shape[1], self.targets.intercept)
        return self.targets.fitted(self.alphas[place], coef, intercept, certificate_from(facts))


class _LeftOut(_Factor):
    """One row left out: its prediction from the fit of all rows; models, where they are asked for, from a factor."""

    def __init__(self, targets: _Targets, alphas: Floats, train: Rows, test: Rows, residuals: Floats) -> None:
        self.targets, self.alphas, self.test, self.train = targets, alphas, test, train
        self.residuals = residuals

    def scores(self) -> Floats | None:
        if not np.isfinite(self.residuals[self.test]).all():
            return None
        left: Floats = self.targets.Y[self.test][None] - np.moveaxis(self.residuals[self.test], 2, 0)
        return left

    def model(self, place: int) -> Any:
        if not hasattr(self, "path"):
            _Factor.__init__(self, self.targets, self.alphas, self.train, self.test)
        return super().model(place)


class _SquaredPath(FoldPath):
    """The groups of one fold."""

    def __init__(
        self, groups: Sequence[Group], shares: Sequence[_Share], targets: Sequence[_Targets], count: int
    ) -> None:
        self.groups, self.shares, self.targets, self.count = groups, shares, targets, count

    def model(self, candidate: int) -> Any:
        for group, share in zip(self.groups, self.shares, strict=True):
            if candidate in group.candidates:
                place = group.candidates.index(candidate)
                made = share.model(place)
                if made is not None and hasattr(made, "alpha"):
                    made.alpha = group.values[place]  # as it was given, not as it was computed with
                return made
        return None

    def predictions(self) -> Any:
        rows: list[Any] = [None] * self.count
        for group, share, targets in zip(self.groups, self.shares, self.targets, strict=True):
            scores = share.scores()
            if scores is None:
                return None
            for place, one in zip(group.candidates, targets.predicted(scores), strict=True):
                rows[place] = one
        return np.stack(rows)


def squared_fold_paths(
    model: Any, X: Any, y: Any, folds: Sequence[tuple[Rows, Rows]], grid: Sequence[dict[str, Any]], weight: Any
) -> Iterator[FoldPath | None]:
    """Give the paths of `Ridge`, `RidgeClassifier` or `LinearRegression`.

    Parameters
    ----------
    model : estimator
        Of one of these classes.
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
    strengths = ("alpha",) if hasattr(model, "alpha") else ()
    groups = grouped(model, grid, *strengths) if strengths else grouped(model, grid, "copy_X")
    targets, alphas = [], []
    for group in groups:
        values = np.array(group.values, dtype=np.float64) if strengths else np.zeros(len(group.values))
        if group.model.positive or values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all():
            raise NoFoldPath
        targets.append(_validated(group.model, X, y, weight))
        alphas.append(values)
    plans = [_plan(one, values, folds) for one, values in zip(targets, alphas, strict=True)]
    present = [_all_present(one, folds) for one in targets]
    count = len(grid)

    def walk() -> Iterator[FoldPath | None]:
        for place in range(len(folds)):
            if not all(known[place] for known in present):
                yield None
                continue
            yield _SquaredPath(groups, [plan(place) for plan in plans], targets, count)

    return walk()


def _validated(model: Any, X: Any, y: Any, weight: Any) -> _Targets:
    if hasattr(model, "class_weight"):
        if np.ndim(y) != 1 or isinstance(model.class_weight, str):
            raise NoFoldPath  # balanced weights differ by fold
        rows, targets, weights = model._validate_classes(X, y, weight)  # noqa: SLF001 - of the same chapter
        codes = np.searchsorted(model.classes_, np.asarray(y))
        made = _Targets(model, rows, targets, weights, False, codes)
    else:
        rows, targets, weights = model.validate(X, y, weight)
        made = _Targets(model, rows, as_columns(targets), weights, targets.ndim == 1, None)
    if hasattr(model, "alpha"):
        model._check_hint(rows)  # noqa: SLF001
    if is_sparse(rows):
        if min(rows.shape) > MOST_SPARSE:
            raise NoFoldPath
        made.X = rows.tocsr()
    return made


def _all_present(targets: _Targets, folds: Sequence[tuple[Rows, Rows]]) -> list[bool]:
    """Whether each fold can be fitted as all rows are: with each class, and some weight."""
    answers = []
    for train, _ in folds:
        weighed = targets.weight is None or bool(targets.weight[train].any())
        if targets.codes is None:
            answers.append(len(train) > 0 and weighed)
            continue
        classes = len(targets.model.classes_)
        seen = np.bincount(targets.codes[train], minlength=classes)
        if targets.weight is not None:
            seen = np.bincount(targets.codes[train], weights=targets.weight[train] != 0, minlength=classes)
        answers.append(bool((seen > 0).all()) and weighed)
    return answers


def _plan(targets: _Targets, alphas: Floats, folds: Sequence[tuple[Rows, Rows]]) -> Callable[[int], _Share]:
    """Choose how the folds of a group are fitted."""
    samples, columns = targets.X.shape
    codes = None if is_sparse(targets.X) else fold_codes(folds, samples)
    if codes is not None and len(folds) > 2 and all(len(test) == 1 for _, test in folds) and (alphas > 0).all():
        path = ridge_path(targets.X, targets.Y, targets.weight, targets.intercept)
        residuals = path.leave_one_out(alphas.tolist(), True)[1]
        return lambda place: _LeftOut(targets, alphas, *folds[place], residuals)
    smallest = min((len(train) for train, _ in folds), default=0)
    if codes is not None and smallest > columns and (len(folds) + 1) * (columns + 1) ** 2 <= MOST_SUMS:
        return _by_moments(targets, alphas, folds, codes)
    if (alphas == 0).any():
        raise NoFoldPath  # the least of all solutions is a matter for the rows themselves
    return lambda place: _Factor(targets, alphas, *folds[place])


def _by_moments(
    targets: _Targets, alphas: Floats, folds: Sequence[tuple[Rows, Rows]], codes: Rows
) -> Callable[[int], _Share]:
    X, Y, weight = targets.X, targets.Y, targets.weight
    parts = len(folds) + bool((codes == len(folds)).any())
    measured = counts.scatter(X, codes, weight, parts, own=True)
    total = measured.total.sum()
    shift = (measured.total @ measured.mean) / total if targets.intercept else np.zeros(X.shape[1])
    targets.shift = shift
    y_shift = np.average(Y, axis=0, weights=weight) if targets.intercept else np.zeros(Y.shape[1])
    outputs = Y - y_shift
    rows_of = [np.flatnonzero(codes == part) for part in range(parts)]

    def held(part: int) -> Floats:
        made = np.asarray(X[rows_of[part]], dtype=np.float64)
        return made - shift if targets.intercept else made

    def sums(part: int) -> tuple[Any, ...]:
        """Number, sums and products of one fold, about the shifts."""
        own = outputs[rows_of[part]]
        heavy = own if weight is None else own * weight[rows_of[part]][:, None]
        mean = measured.mean[part] - shift
        share = measured.total[part]
        gram = measured.scatter[part] + share * np.outer(mean, mean)
        return share, share * mean, heavy.sum(axis=0), gram, held(part).T @ heavy, (heavy * own).sum(axis=0)

    def add(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(a + b for a, b in zip(one, other, strict=True))

    rest = without_each(side_by_side(sums, range(parts)), add)

    def share(place: int) -> _Share:
        weight_in, first, y_first, gram, cross, square = rest[place]
        mean, y_mean = first / weight_in, y_first / weight_in
        if targets.intercept:
            gram = gram - weight_in * np.outer(mean, mean)
            cross = cross - weight_in * np.outer(mean, y_mean)
            square = square - weight_in * y_mean**2
        else:
            mean, y_mean = np.zeros_like(mean), np.zeros_like(y_mean)
        return _Moments(
            targets, alphas, (weight_in, mean, y_mean + y_shift, gram, cross, square), lambda: X[rows_of[place]]
        )

    made = side_by_side(share, range(len(folds)))
    return lambda place: made[place]

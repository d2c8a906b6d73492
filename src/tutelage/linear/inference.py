"""How sure a linear model is of its coefficients.

Problem. A coefficient estimated from a sample has an error. Near its minimum a negative log-likelihood L(w, b) is a
parabola, and the curvature says how sharp: with I = L'' at the fit (Fisher's information),

    covariance of (w, b)  =  dispersion * I^-1        (Wald; the likelihood of many independent rows)
    covariance of (w, b)  =  (I + prior'')^-1         (Laplace; the posterior under a Gaussian prior)

    standard error = sqrt(diagonal),   z = w / error,   p = P(|N(0, 1)| > |z|),   interval = w -+ quantile * error

Least squares estimates its variance from n - d - 1 degrees of freedom, so there z is a t with as many. Gamma and
Tweedie regression estimate their dispersion by Pearson's statistic, sum s (y - m)^2 / m^power / (n - d - 1). A row of
weight two counts as two rows.

The scores of a multinomial model are settled only up to a common shift; their covariance is that of coefficients that
sum to zero over the classes, and ``against=`` turns the table into contrasts with one class, which is how other
packages report them.

Cost. One reading of X and k^2 d^2 numbers, kept at the fit of a model that nothing penalises; the rows are not kept.
(k d)^3 operations when the table is asked for.

It fails, with the reason, for penalised fits (a penalty is a bias that no standard error knows; ask a MAP model), for
collinear columns (their coefficients are not settled by the data), and where the optimum lies at infinity.

>>> import numpy as np
>>> from tutelage.linear import PoissonRegressor
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0, 14.0])
>>> print(PoissonRegressor(alpha=0, tol=1e-10).fit(X, y).inference())
           coefficient  standard error       z         p  [0.025  0.975]
x0              0.9110          0.2521   3.613  0.000303  0.4168   1.405
intercept     -0.08526          0.6484  -0.131     0.895  -1.356   1.186
Wald intervals of level 0.95; dispersion 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, special
from sklearn.utils.validation import check_is_fitted

from tutelage import _core, matrices, penalties
from tutelage.certificate import Certificate, Reason
from tutelage.linear.base import LinearModel
from tutelage.linear.coefficient_table import Inference
from tutelage.losses import native_loss
from tutelage.parameters import fitted
from tutelage.penalties import native_penalty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutelage.base import Floats, Matrix
    from tutelage.labels import Weights
    from tutelage.risk import Solution

# An information matrix of more coefficients than this is not kept at the fit: 2000 take 32 MB.
LARGEST_KEPT = 2000


@dataclass(frozen=True)
class Information:
    """The curvature of a negative log-likelihood at its fit, all that standard errors need.

    Parameters
    ----------
    matrix : array of shape (p, p)
        Second derivatives, p = scores * columns coefficients, then the intercepts, of rows from which `shift` has been
        subtracted; or, where `shared`, those of one score, which serve each.
    shift : array of shape (columns,)
        See above; it keeps the digits of columns with large means.
    scores : int
        Scores a row.
    intercept : bool
        Whether there are intercepts.
    prior : array of shape (p, p), optional
        Second derivatives of a negative log-prior, to be added.
    dispersion : array of shape (scores,) or (1,)
        Factor of the covariance.
    freedom : float, default=inf
        Degrees of freedom of an estimated dispersion, for t in place of z.
    common : bool, default=False
        Whether a number added to all scores changes nothing.
    shared : bool, default=False
        Whether the matrix is that of each score alone.
    """

    matrix: Floats
    shift: Floats
    scores: int
    intercept: bool
    prior: Floats | None = None
    dispersion: Floats = field(default_factory=lambda: np.ones(1))
    freedom: float = math.inf
    common: bool = False
    shared: bool = False

    @property
    def columns(self) -> int:
        """The number of columns of X."""
        return len(self.shift)

    def covariance(self) -> Floats:
        """Invert: the covariance of coefficients and intercepts of the model itself, dispersion included.

        Returns
        -------
        array of shape (p, p)
            In the order of ``coef_.ravel()``, then the intercepts.
        """
        scores = 1 if self.shared else self.scores
        matrix = self.matrix if self.prior is None else self.matrix + self.prior
        inverse: Floats = _inverse(matrix, scores, self.columns, self.common)
        if self.intercept:
            inverse = _unshifted(inverse, self.shift, scores)
        if self.shared:
            return _block_diagonal(inverse, self.dispersion, self.columns, self.intercept)
        return inverse * float(self.dispersion[0])


def _inverse(matrix: Floats, scores: int, columns: int, common: bool) -> Floats:
    diagonal = np.diag(matrix).copy()
    width = scores * columns
    if scores > 1:  # one scale a column, so that a common shift of the scores stays one
        diagonal[:width] = np.tile(diagonal[:width].reshape(scores, columns).mean(axis=0), scores)
        diagonal[width:] = diagonal[width:].mean() if len(diagonal) > width else 1.0
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrix / np.outer(scale, scale)
    flat = np.zeros_like(matrix)
    if common:
        alike = np.full((scores, scores), 1.0 / scores)
        flat[:width, :width] = np.kron(alike, np.eye(columns))
        flat[width:, width:] = alike if len(diagonal) > width else 0.0
    values, vectors = linalg.eigh(scaled + flat)
    if not values[0] > 1e-13 * len(values) * values[-1]:
        rank = int((values > 1e-13 * len(values) * values[-1]).sum())
        raise ValueError(
            f"Standard errors need an information matrix of full rank, found rank {rank} of {len(values)}: columns of "
            "X are collinear or constant, so that the data do not settle their coefficients. Drop some of them, or fit "
            "a MAP model, whose prior settles them."
        )
    inverse: Floats = (vectors / values) @ vectors.T - flat
    inverse /= np.outer(scale, scale)
    return inverse


def _unshifted(covariance: Floats, shift: Floats, scores: int) -> Floats:
    """Move from intercepts of shifted rows, b + shift . w, to those of the model."""
    columns = len(shift)
    transform = np.eye(len(covariance))
    for score in range(scores):
        transform[scores * columns + score, score * columns : (score + 1) * columns] = -shift
    moved: Floats = transform @ covariance @ transform.T
    return moved


def _block_diagonal(covariance: Floats, dispersion: Floats, columns: int, intercept: bool) -> Floats:
    scores = len(dispersion)
    side = columns + int(intercept)
    whole = np.zeros((scores * side, scores * side))
    for score, factor in enumerate(dispersion):
        places = [*range(score * columns, (score + 1) * columns)] + [scores * columns + score] * int(intercept)
        whole[np.ix_(places, places)] = factor * covariance
    return whole


def information_at(
    loss: Any,
    X: Matrix,
    y: Floats,
    weight: Weights | None,
    solution: Solution,
    *,
    fit_intercept: bool,
    total: float,
    prior: Floats | None = None,
    **facts: Any,
) -> Information | None:
    """Compute Fisher's information of a fit by one more reading of X; None where the matrix would be too large to keep.

    Parameters
    ----------
    loss : loss
        The negative log-likelihood of a row.
    X, y, weight : arrays
        The rows, their targets and their weights.
    solution : Solution
        The fit.
    fit_intercept : bool
        Whether it has intercepts.
    total : float
        The sum of the weights.
    prior : array, optional
        See `Information`.
    **facts : Any
        Dispersion and degrees of freedom.
    """
    coef = np.atleast_2d(solution.coef)
    scores, columns = coef.shape
    if scores * (columns + int(fit_intercept)) > LARGEST_KEPT:
        return None
    point = coef.ravel()
    if fit_intercept:
        point = np.concatenate([point, np.atleast_1d(solution.intercept)])
    lower, shift = _core.curvature(
        matrices.rows(X),
        y,
        weight,
        native_loss(loss, scores),
        native_penalty(penalties.NoPenalty()),
        fit_intercept,
        np.ascontiguousarray(point, dtype=np.float64),
    )
    matrix = total * (np.tril(lower) + np.tril(lower, -1).T)
    return Information(matrix, shift, scores, fit_intercept, prior, common=scores > 1 and prior is None, **facts)


class WithInference(LinearModel):
    """Mixin of the linear models that can say how sure they are of their coefficients."""

    _information: Information | None = fitted()

    def inference(self, level: float = 0.95, *, against: Any = None) -> Inference:
        """Give a table of coefficients, standard errors, z (or t), p and confidence intervals.

        Wald's, for fits without a penalty; from Laplace's approximation of the posterior, for MAP models.

        Parameters
        ----------
        level : float, default=0.95
            Level of the intervals, between 0 and 1.
        against : label, optional
            For models of three classes or more: give the contrasts of the other classes with this one.

        Returns
        -------
        Inference
            Prints as a table; ``to_frame()`` makes a data frame of it.
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValueError(f"The level of the intervals must lie between 0 and 1, found {level!r}.")
        information = self._usable_information()
        coef = np.atleast_2d(np.asarray(self.coef_, dtype=np.float64))
        point = coef.ravel()
        if information.intercept:
            point = np.concatenate([point, np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64))])
        covariance = information.covariance()
        names, classes = self._names_of_coefficients(len(coef), information.intercept)
        if against is not None:
            point, covariance, names, classes = _contrasts(point, covariance, names, classes, against)
        order = _by_score(len(point), information.columns, information.intercept)
        return _table(
            [names[i] for i in order],
            None if classes is None else [classes[i] for i in order],
            point[order],
            covariance[np.ix_(order, order)],
            level,
            information,
        )

    def _usable_information(self) -> Information:
        who = type(self).__name__
        certificate: Certificate = self.certificate_
        if certificate.reason in (Reason.SEPARABLE, Reason.UNBOUNDED, Reason.DIVERGED):
            raise ValueError(
                f"This {who} has no standard errors, because its optimum lies at infinity: {certificate.reason} "
                "Penalise, or fit a MAP model."
            )
        information: Information | None = getattr(self, "_information", None)
        if information is None:
            kept = self.coef_.size + np.size(self.intercept_)
            if kept > LARGEST_KEPT and self._is_without_penalty():
                raise ValueError(
                    f"The information matrix of {kept} coefficients was not kept (the limit is {LARGEST_KEPT}); fit "
                    "on fewer columns."
                )
            raise ValueError(
                f"Standard errors are those of fits without a penalty, and this {who} was penalised: "
                f"{self._way_out_of_penalty()}, or use a MAP model, whose posterior takes the penalty as a prior."
            )
        return information

    def _is_without_penalty(self) -> bool:
        """Whether the fit was one that inference would allow."""
        return False

    def _way_out_of_penalty(self) -> str:
        """How to fit this model without a penalty: half a sentence."""
        return "fit without one"

    def _names_of_coefficients(self, scores: int, intercept: bool) -> tuple[list[str], list[Any] | None]:
        features = getattr(self, "feature_names_in_", None)
        columns = self.coef_.shape[-1]
        own: Sequence[str] = [f"x{j}" for j in range(columns)] if features is None else [str(name) for name in features]
        names = [*own] * scores + ["intercept"] * (scores if intercept else 0)
        if scores == 1:
            return names, None
        labels = getattr(self, "classes_", None)
        labels = [f"y{c}" for c in range(scores)] if labels is None else list(labels)
        classes = [label for label in labels for _ in range(columns)] + (labels if intercept else [])
        return names, classes


def _by_score(size: int, columns: int, intercept: bool) -> list[int]:
    """Order of rows in the table: score after score, each with its intercept at its end."""
    scores = size // (columns + int(intercept))
    return [
        place
        for score in range(scores)
        for place in [*range(score * columns, (score + 1) * columns)] + [scores * columns + score] * int(intercept)
    ]


def _contrasts(
    point: Floats, covariance: Floats, names: list[str], classes: list[Any] | None, against: Any
) -> tuple[Floats, Floats, list[str], list[Any] | None]:
    if classes is None:
        raise ValueError(
            f"Contrasts against a class need three classes or more, found against={against!r} for a model of one score."
        )
    labels = list(dict.fromkeys(classes))
    if against not in labels:
        raise ValueError(f"The class to contrast with must be one of {labels}, found against={against!r}.")
    columns = classes.count(against)  # coefficients of one class, its intercept included
    width = len(point) // len(labels)
    assert columns == width
    reference = {name: place for place, name in enumerate(names) if classes[place] == against}
    kept = [place for place, label in enumerate(classes) if label != against]
    transform = np.zeros((len(kept), len(point)))
    for row, place in enumerate(kept):
        transform[row, place] = 1.0
        transform[row, reference[names[place]]] -= 1.0
    return (
        transform @ point,
        transform @ covariance @ transform.T,
        [names[place] for place in kept],
        [classes[place] for place in kept],
    )


def _table(
    names: list[str],
    classes: list[Any] | None,
    coefficient: Floats,
    covariance: Floats,
    level: float,
    information: Information,
) -> Inference:
    error = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = coefficient / error
    freedom = information.freedom
    if math.isinf(freedom):
        p: Floats = special.erfc(np.abs(statistic) / math.sqrt(2.0))
        reach = float(special.ndtri(0.5 + level / 2))
    else:
        p = 2.0 * np.asarray(special.stdtr(freedom, -np.abs(statistic)), dtype=np.float64)
        reach = float(special.stdtrit(freedom, 0.5 + level / 2))
    if information.prior is not None:
        note = f"Laplace's posterior, intervals of level {level:g}."
    else:
        spread = ", ".join(f"{value:.4g}" for value in information.dispersion)
        of_t = "" if math.isinf(freedom) else f" on {freedom:g} degrees of freedom"
        note = f"Wald intervals of level {level:g}{of_t}; dispersion {spread}."
    return Inference(
        names,
        classes,
        coefficient,
        error,
        statistic,
        p,
        coefficient - reach * error,
        coefficient + reach * error,
        covariance,
        level,
        freedom,
        note,
    )

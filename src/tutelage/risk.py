"""Regularised empirical risk minimisation: the general sentence, and the one function that says it to the core.

    minimise over w, b:   (1 / sum s) * sum_i s_i * loss(y_i, x_i . w + b)  +  penalty(w)

A `Risk` names the words: a loss, a penalty, whether there is an intercept (never penalised). `minimise` finds the
minimum with one of the solvers of `tutelage.solvers` and returns a `Solution`: the coefficients, and the certificate
that says how far from the optimum they can be. Every linear learner of this library is such a sentence with a name.

``tol`` is the relative duality gap at which the solver stops, in every solver: (primal - dual) / |primal|. Where no
dual exists the certificate says which other measure stands in its place.

Cost: depends on the solver; each reads X some 5 to 50 times, closed forms once. It fails, and says so in
``Solution.reason``, where no minimum exists (separable classes without a penalty).

Examples
--------
>>> import numpy as np
>>> from tutelage import losses, penalties
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> solution = minimise(Risk(losses.Squared(), penalties.L2(0.0)), X, np.array([1.0, 3.0, 5.0, 7.0]))
>>> solution.coef.round(6), round(solution.intercept, 6)
(array([2.]), 1.0)
>>> solution.certificate.solver
'closed_form'
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tutelage import _core, matrices, penalties, solvers
from tutelage.certificate import Certificate, Kind, Reason
from tutelage.losses import native_loss
from tutelage.penalties import native_penalty

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Risk:
    """A loss, a penalty and an intercept: what is to be minimised.

    Parameters
    ----------
    loss : loss
        One of `tutelage.losses`, or any object with NumPy-vectorised ``value(y, z)`` and ``slope(y, z)``.
    penalty : penalty
        One of `tutelage.penalties`, or any object with ``value(w)`` and ``prox(w, step)``.
    fit_intercept : bool, default=True
        Whether there is an intercept; it is never penalised.
    scores : int, optional
        How many scores a row has, where the targets do not tell: more classes than there are among these rows.
    """

    loss: Any
    penalty: Any = field(default_factory=penalties.NoPenalty)
    fit_intercept: bool = True
    scores: int | None = None


@dataclass(frozen=True)
class Solution:
    """The minimum of a risk.

    Attributes
    ----------
    coef : array of shape (d,), or (k, d) with k scores a row
        The coefficients.
    intercept : float, or array of shape (k,)
        The intercept; zero without one.
    certificate : Certificate
        How good the coefficients are, and what it took.
    """

    coef: Floats
    intercept: Any
    certificate: Certificate

    @property
    def value(self) -> float:
        """The value of the risk."""
        return self.certificate.primal

    @property
    def rounds(self) -> int:
        """Outer iterations of the solver."""
        return self.certificate.rounds

    @property
    def seconds(self) -> float:
        """How long the solver took."""
        return self.certificate.seconds

    @property
    def reason(self) -> Reason:
        """Why the solver stopped."""
        return self.certificate.reason


_REASONS = {
    "converged": Reason.CONVERGED,
    "rounding": Reason.ROUNDING,
    "rounds": Reason.ROUNDS,
    "time": Reason.TIME,
    "separable": Reason.SEPARABLE,
    "unbounded": Reason.UNBOUNDED,
    "interrupted": Reason.INTERRUPTED,
}


def minimise(
    risk: Risk,
    X: Any,
    y: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None = None,
    *,
    solver: str = "auto",
    tol: float = 1e-6,
    max_rounds: int = 1000,
    time_limit: float | None = None,
    start: npt.ArrayLike | None = None,
) -> Solution:
    """Minimise a risk.

    Parameters
    ----------
    risk : Risk
        The sentence.
    X : array or sparse matrix of shape (n, d)
        The rows, float32 or float64; read as it is.
    y : array of shape (n,), or (n, k) for losses of several targets
        The targets: -1 and +1 for margin losses, 0 to k - 1 for losses of score vectors, numbers for the others.
    sample_weight : array of shape (n,), optional
        How much each row counts.
    solver : str, default="auto"
        One of `tutelage.solvers.SOLVERS`.
    tol : float, default=1e-6
        The relative duality gap to reach.
    max_rounds : int, default=1000
        The most rounds of the solver.
    time_limit : float, optional
        The most seconds.
    start : array, optional
        Where to begin: coefficients, then intercepts, in one vector.

    Returns
    -------
    Solution
        Coefficients, intercept and certificate.
    """
    targets = np.ascontiguousarray(y, dtype=np.float64)
    _check_numbers("y", targets, X)
    loss = native_loss(risk.loss, scores_of(risk, targets), targets)
    penalty = native_penalty(risk.penalty)
    weight = None if sample_weight is None else np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weight is not None:
        _check_numbers("sample_weight", weight, X)
        _check_weights(weight)
    begin = None if start is None else np.ascontiguousarray(start, dtype=np.float64).ravel()
    solvers.check(solver, loss, penalty)
    limits = (tol, max_rounds, math.inf if time_limit is None else time_limit)
    if solvers.reads_columns(solver, loss, penalty):
        coefficients = None if begin is None else begin[: X.shape[1]]
        b = 0.0 if begin is None or not risk.fit_intercept else float(begin[-1])
        handle = matrices.columns(X, copy=False)
        coef, b, facts = _core.coordinate_descent(
            handle, targets.ravel(), weight, loss, penalty, risk.fit_intercept, coefficients, b, *limits
        )
        _check_answer(coef, facts, X)
        return Solution(coef, b, certificate_from(facts))
    point, facts = _core.minimise(
        matrices.rows(X), targets.ravel(), weight, loss, penalty, risk.fit_intercept, begin, solver, *limits
    )
    _check_answer(point, facts, X)
    columns, scores = X.shape[1], loss.scores
    coef = point[: scores * columns].reshape(scores, columns)
    intercept = point[scores * columns :] if risk.fit_intercept else np.zeros(scores)
    if scores == 1:
        return Solution(coef[0], float(intercept[0]), certificate_from(facts))
    return Solution(coef, intercept, certificate_from(facts))


def _check_numbers(name: str, values: Floats, X: Any) -> None:
    """Raise an error unless there is a finite number for each row of X."""
    if values.ndim == 0 or values.shape[0] != X.shape[0]:
        found = "is a single number" if values.ndim == 0 else f"has {values.shape[0]} rows"
        raise ValueError(f"{name} {found} where X has {X.shape[0]}; give one for each row of X.")
    if not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"{name} has {values.flat[at]} at place {at}; remove the rows that are not known.")


def _check_weights(weight: Floats) -> None:
    """Raise an error where a weight is negative or none is positive."""
    if (weight < 0).any():
        raise ValueError(f"sample_weight has {weight.min()}; weights must not be negative.")
    if not (weight > 0).any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")


def _check_answer(coef: Floats, facts: dict[str, Any], X: Any) -> None:
    """Raise an error where the answer is not a number, or the fit came to nothing, because X is not a number.

    No fit that goes well pays for looking at X.
    """
    finite = not np.isnan(facts["primal"]) and bool(np.isfinite(coef).all())
    if finite and facts["reason"] == "converged":
        return
    values = X.data if hasattr(X, "indptr") or hasattr(X, "tocsr") else np.asarray(X)
    with np.errstate(all="ignore"):  # a sum may overflow; then every value is looked at
        clean = np.isfinite(values.sum()) or np.isfinite(values).all()
    if not clean:
        raise ValueError("X has NaN or infinity in it; impute those values or remove their rows.")
    if not finite:
        raise ValueError("X has numbers too large for their products; divide its columns by their size.")


def scores_of(risk: Risk, targets: Floats) -> int:
    """Tell how many scores a row has: as the risk says, else one a class, or one a column of the targets."""
    if risk.scores is not None:
        return risk.scores
    if getattr(risk.loss, "several_scores", False):
        return int(targets.max(initial=0.0)) + 1
    return targets.shape[1] if targets.ndim == 2 else 1


def certificate_from(facts: dict[str, Any]) -> Certificate:
    """Make a certificate of what the core says of a fit."""
    stationary = facts.pop("measure") == "stationarity"
    facts["reason"] = _REASONS[facts["reason"]]
    if stationary:
        facts["kind"], facts["residual"] = Kind.STATIONARITY, facts["gap"]
        facts["gap"] = facts["dual"] = math.nan
    return Certificate(**facts)

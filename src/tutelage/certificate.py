"""The certificate: the proof beside a fit that its answer is as good as it says.

A convex problem, minimise P(w), has a dual, maximise D(a), with D(a) <= P(w) for every pair of points. So any pair
bounds the distance from the optimum without knowing it:

    P(w) - min P  <=  P(w) - D(a)  =  the duality gap.

A solver that reports both values proves its answer; nobody has to trust its stopping rule. The relative gap divides
by |P(w)|, and ``tol`` means that number in every solver of this library. Where no dual exists (a non-convex penalty,
a user loss without a conjugate) the certificate says so by its `Kind`: then `residual` holds the norm of the gradient
relative to its norm at the start, or the violation of the stationarity conditions.

The certificate also says why the solver stopped, as a `Reason`, whose members are sentences; one function,
`warn_unless_trustworthy`, turns a reason for doubt into scikit-learn's ConvergenceWarning.

>>> certificate = Certificate(primal=0.5, dual=0.4999, rounds=12, solver="newton")
>>> round(certificate.relative_gap, 6)
0.0002
>>> print(certificate)
Within a relative 2.0e-04 of the optimum (primal value 0.5, dual value 0.4999), found by newton in 12 rounds.
"""

from __future__ import annotations

import html
import math
import warnings
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any


class Kind(Enum):
    """What the certificate's `measure`, the number that ``tol`` bounds, is."""

    DUALITY_GAP = "duality gap"
    GRADIENT_NORM = "relative gradient norm"
    STATIONARITY = "stationarity"


class Reason(Enum):
    """Why a solver stopped; the value is the sentence.

    `trustworthy` says whether the result may be used as the answer to the problem as it was posed.

    Examples
    --------
    >>> Reason.ROUNDS.trustworthy
    False
    >>> print(Reason.CONVERGED)
    The tolerance was reached.
    """

    CONVERGED = "The tolerance was reached."
    EXACT = "The solution was computed directly, up to rounding."
    ROUNDING = "No further progress is possible in floating-point arithmetic."
    STATIONARY = "A stationary point was reached; the problem is not convex, so another start may find a lower one."
    ROUNDS = "The limit on the number of rounds was reached before the tolerance."
    TIME = "The time limit was reached before the tolerance."
    INTERRUPTED = "The fit was interrupted before the tolerance was reached."
    SEPARABLE = "The classes can be separated perfectly, and no penalty that counts keeps the optimum from infinity."
    UNBOUNDED = "The objective has no lower bound."
    DIVERGED = "The iterates left the range of floating-point numbers."

    @property
    def trustworthy(self) -> bool:
        """Whether the result answers the problem as it was posed."""
        return self in _TRUSTWORTHY

    @property
    def advice(self) -> str:
        """What to do about it: a sentence, empty where there is nothing to do."""
        return _ADVICE.get(self, "")

    def __str__(self) -> str:
        return str(self.value)


_TRUSTWORTHY = {Reason.CONVERGED, Reason.EXACT, Reason.ROUNDING, Reason.STATIONARY}

_ADVICE = {
    Reason.ROUNDS: "Increase max_iter, increase tol, or standardise the features.",
    Reason.TIME: "Increase time_limit or tol.",
    Reason.INTERRUPTED: "Fit again to finish.",
    Reason.SEPARABLE: "Add a penalty, or a stronger one.",
    Reason.UNBOUNDED: "Add a penalty, or check the loss.",
    Reason.DIVERGED: "Standardise the features, or decrease the step size.",
}


@dataclass(frozen=True)
class Certificate:
    """Proof of the quality of a fit.

    Parameters
    ----------
    primal : float
        The value of the objective at the answer.
    dual : float, default=nan
        A lower bound of the objective; NaN where there is no dual.
    gap : float, optional
        The duality gap. Solvers that can sum it without cancellation give it; otherwise it is ``primal - dual``, and
        never negative.
    rounds : int, default=0
        Outer iterations.
    passes : float, default=0.0
        Readings of the data, all solvers alike.
    seconds : float, default=0.0
        Wall-clock time of the solver.
    solver : str, default=""
        The algorithm that ran.
    reason : Reason, default=Reason.CONVERGED
        Why it stopped.
    kind : Kind, default=Kind.DUALITY_GAP
        What `measure` is.
    residual : float, default=nan
        The relative gradient norm, or the violation of stationarity, where there is no gap.
    """

    primal: float
    dual: float = math.nan
    gap: float = math.nan
    rounds: int = 0
    passes: float = 0.0
    seconds: float = 0.0
    solver: str = ""
    reason: Reason = Reason.CONVERGED
    kind: Kind = Kind.DUALITY_GAP
    residual: float = math.nan

    def __post_init__(self) -> None:
        if math.isnan(self.gap):
            # The maximum keeps a NaN, its first argument: no dual, no gap.
            object.__setattr__(self, "gap", max(self.primal - self.dual, 0.0))

    @property
    def relative_gap(self) -> float:
        """The gap relative to the primal value; NaN where there is no dual."""
        if self.gap == 0:
            return 0.0
        return self.gap / abs(self.primal) if self.primal != 0 else self.gap * math.inf

    @property
    def measure(self) -> float:
        """The number that ``tol`` bounds: the relative gap, or the residual where there is no dual."""
        return self.relative_gap if self.kind is Kind.DUALITY_GAP else self.residual

    def as_dict(self) -> dict[str, Any]:
        """Give all numbers and words as plain Python values, for reports and files."""
        values = asdict(self) | {"relative_gap": self.relative_gap, "measure": self.measure}
        return values | {"reason": self.reason.name, "kind": self.kind.value}

    def _work(self) -> str:
        parts = [f"found by {self.solver}" if self.solver else "found"]
        if self.rounds:
            parts.append(f"in {self.rounds} {'round' if self.rounds == 1 else 'rounds'}")
        if self.passes:
            parts.append(f"and {self.passes:g} {'pass' if self.passes == 1 else 'passes'} over the data")
        if self.seconds:
            parts.append(f"in {_duration(self.seconds)}")
        return " ".join(parts)

    def __str__(self) -> str:
        if self.kind is Kind.DUALITY_GAP:
            what = (
                f"Within a relative {self.relative_gap:.1e} of the optimum (primal value {self.primal:.6g}, "
                f"dual value {self.dual:.6g})"
            )
        else:
            name = "relative gradient norm" if self.kind is Kind.GRADIENT_NORM else "violation of stationarity"
            what = f"With a {name} of {self.residual:.1e} at the value {self.primal:.6g}"
        stop = "" if self.reason is Reason.CONVERGED else f" {self.reason}"
        advice = "" if self.reason.trustworthy else f" {self.reason.advice}"
        return f"{what}, {self._work()}.{stop}{advice}"

    def _repr_html_(self) -> str:
        mark = "&#10003;" if self.reason.trustworthy else "&#9888;"
        rows: list[tuple[str, str]] = [("primal value", f"{self.primal:.10g}")]
        if self.kind is Kind.DUALITY_GAP:
            rows += [("dual value", f"{self.dual:.10g}"), ("relative duality gap", f"{self.relative_gap:.2e}")]
        else:
            rows += [(self.kind.value, f"{self.residual:.2e}")]
        rows += [("solver", self.solver), ("rounds", str(self.rounds)), ("passes over the data", f"{self.passes:g}")]
        rows += [("time", _duration(self.seconds)), ("stopped because", f"{self.reason} {self.reason.advice}".strip())]
        body = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
        return f"<table><caption>{mark} Certificate</caption>{body}</table>"


def _duration(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.3g} s"


def warn_unless_trustworthy(certificate: Certificate, *, opening: str = "", stacklevel: int = 3) -> None:
    """Issue scikit-learn's ConvergenceWarning if the solver stopped for a reason that casts doubt on its answer.

    Parameters
    ----------
    certificate : Certificate
        What the solver said.
    opening : str, optional
        A sentence to begin with, where scikit-learn's estimator of the same name has one that code may look for.
    stacklevel : int, default=3
        Which caller the warning points at; 3 is the caller of the ``fit`` that calls this function.
    """
    reason = certificate.reason
    if reason.trustworthy:
        return
    from sklearn.exceptions import ConvergenceWarning

    measure = certificate.measure
    reached = "" if math.isnan(measure) else f"The {_measure_name(certificate.kind)} is {measure:.1e}."
    words = [opening, str(reason), reached, reason.advice]
    warnings.warn(" ".join(word for word in words if word), ConvergenceWarning, stacklevel=stacklevel)


def _measure_name(kind: Kind) -> str:
    return "relative duality gap" if kind is Kind.DUALITY_GAP else kind.value

"""Penalties: what coefficients cost by themselves, before any data is seen.

Risk is ``(1 / S) sum_i s_i loss(y_i, z_i) + penalty(w)``. The penalty keeps w small, sparse, inside bounds or near a
prior guess; the intercept is never penalised. Strengths are those of the mean loss: they do not grow with the number
of rows.

- ``value(w)``, what w costs; infinite where it is not allowed;
- ``prox(w, step)``, the u with the least ``|u - w|^2 / 2 + step value(u)``: soft thresholding for the lasso, a
  projection for a constraint. It is what solvers use where there is no gradient;
- ``slope(w)`` and ``curvature(w)``, gradient and diagonal of the Hessian of the smooth ones;
- ``conjugate(v)``, the largest v.w - value(w), and ``dual_scale(v)``, how far v must shrink for it to be finite: from
  these come the dual problem and the duality gap;
- ``stationarity(w, gradient)``, how far w is from satisfying the condition of optimality, 0 in gradient + subgradients.

w is a vector of d coefficients, or a (k, d) block for k scores. Where a penalty is not convex its facts say so: then a
solver finds a stationary point, and no certificate claims more.

>>> L1(strength=0.5).value([1.0, -2.0]), MCP().facts.convex
(1.5, False)

Moreau's identity ties prox and conjugate: for a convex penalty w - prox(w) is the proximal point of the conjugate, so
value and conjugate meet there.

>>> import numpy as np
>>> penalty, w = ElasticNet(l1=0.5, l2=2.0), np.array([3.0, -0.2])
>>> u = penalty.prox(w, step=1.0)
>>> bool(np.isclose(penalty.value(u) + penalty.conjugate(w - u), u @ (w - u)))
True

A penalty of one's own is any object with ``value`` and ``prox`` or ``slope`` in NumPy.
"""

from __future__ import annotations

from tutelage.penalties.base import Penalty, PenaltyFacts
from tutelage.penalties.joint import GaussianPrior, GroupL2, L1Ball, L2Ball, LInfinity
from tutelage.penalties.separable import L1, L2, MCP, SCAD, Box, ElasticNet, Lq, NonNegative, NoPenalty
from tutelage.penalties.user import UserPenalty, check_penalty, native_penalty

PENALTIES: tuple[type[Penalty], ...] = (
    *(NoPenalty, L2, L1, ElasticNet, Lq, Box, NonNegative, MCP, SCAD),
    *(GroupL2, LInfinity, L1Ball, L2Ball, GaussianPrior),
)
"""Every penalty of the vocabulary."""


def named(name: str, **parameters: object) -> Penalty:
    """Return the penalty of that name.

    Examples
    --------
    >>> named("l2", strength=0.1)
    L2(strength=0.1)
    """
    found = [penalty for penalty in PENALTIES if penalty.name == name]
    if not found:
        known = ", ".join(penalty.name for penalty in PENALTIES)
        raise ValueError(f"name is {name!r}, which is no penalty; the penalties are {known}.")
    return found[0](**parameters)


def table() -> str:
    """Return the vocabulary as a Markdown table, one line for each penalty.

    Examples
    --------
    >>> print(table().splitlines()[0])
    | penalty | formula | convex | separable | quadratic | smooth | conjugate | prox |
    """
    heads = ["penalty", "formula", "convex", "separable", "quadratic", "smooth", "conjugate", "prox"]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for penalty in (kind() for kind in PENALTIES):
        facts = penalty.facts
        truths = (facts.convex, facts.separable, facts.quadratic, facts.smooth, facts.has_conjugate, facts.has_prox)
        formula = facts.formula.replace("|", "\\|")
        cells = [repr(penalty), formula, *("yes" if truth else "no" for truth in truths)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


__all__ = [
    "L1",
    "L2",
    "MCP",
    "PENALTIES",
    "SCAD",
    "Box",
    "ElasticNet",
    "GaussianPrior",
    "GroupL2",
    "L1Ball",
    "L2Ball",
    "LInfinity",
    "Lq",
    "NoPenalty",
    "NonNegative",
    "Penalty",
    "PenaltyFacts",
    "UserPenalty",
    "check_penalty",
    "named",
    "native_penalty",
    "table",
]

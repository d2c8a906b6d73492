"""The solvers of batch risks, by name.

``solver="auto"`` chooses by a count of the work (docs/notes/solvers.md); the certificate says what ran. A solver never
turns into another one: what it cannot minimise is an error that says why and what can.

>>> sorted(SOLVERS)[:2]
['augmented_lagrangian', 'auto']
"""

from __future__ import annotations

from typing import Any

from tutelage import _core

SOLVERS: dict[str, str] = {
    "auto": "Whichever of the others should be the fastest.",
    "closed_form": "The normal equations, or singular values where they are ill-conditioned; squared loss only.",
    "newton": "Newton's method, its Hessian from a sample of the rows first where there are many.",
    "truncated_newton": "Newton's equations solved by conjugate gradients; for many columns.",
    "lbfgs": "Limited-memory quasi-Newton steps.",
    "proximal_gradient": "Accelerated proximal gradient steps; any penalty with a proximal operator.",
    "coordinate_descent": "One coefficient at a time, over working sets; separable penalties.",
    "augmented_lagrangian": "Smooth problems in sequence, for losses with kinks.",
}


def check(solver: str, loss: Any, penalty: Any) -> None:
    """Raise an error if the solver is unknown, or cannot minimise this loss with this penalty."""
    if solver not in SOLVERS:
        raise ValueError(f"The 'solver' parameter must be one of {', '.join(SOLVERS)}. Got {solver!r} instead.")
    reason = _core.objection(solver, loss, penalty)
    if not reason:
        return
    able = [name for name in SOLVERS if name != "auto" and not _core.objection(name, loss, penalty)]
    if able:
        way_out = f"use solver={' or '.join(map(repr, able))}"
    elif not loss.facts["trainable"]:
        way_out = "choose a loss that learners can follow, such as hinge or logistic"
    elif not penalty.facts["has_prox"]:
        way_out = "give the penalty a method prox(w, step)"
    else:
        way_out = "choose a penalty that is convex, or a loss that is smooth"
    who = "No solver can" if solver == "auto" else f"The solver {solver!r} cannot"
    raise ValueError(f"{who} minimise this risk: {reason}; {way_out}.")


def reads_columns(solver: str, loss: Any, penalty: Any) -> bool:
    """Tell whether the solver that will run reads X by columns rather than by rows."""
    if solver != "auto":
        return solver == "coordinate_descent"
    by_coordinates = not _core.objection("coordinate_descent", loss, penalty)
    return loss.scores == 1 and not penalty.facts["quadratic"] and by_coordinates

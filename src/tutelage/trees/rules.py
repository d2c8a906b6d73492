"""Rules of a tree: the conditions on the way to a leaf, and what the leaf says.

>>> from tutelage.datasets import restaurant
>>> from tutelage.trees import DecisionTree
>>> X, y = restaurant(return_X_y=True)
>>> for rule in DecisionTree().fit(X.drop("Example"), y).rules(simplify=True)[:3]:
...     print(rule)
if Pat = Some then T (4 of 4)
if Pat = Full and Hun = F then F (2 of 2)
if Pat = None then F (2 of 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tutelage.trees.branches import Node
    from tutelage.trees.lecture import DecisionTree


@dataclass(frozen=True)
class Condition:
    """One answer: of a number at most or above a threshold, of a category that it is this one."""

    name: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.value}"


@dataclass(frozen=True)
class Rule:
    """Conditions, all of which must hold; what follows; of how much weight it speaks, and how much of it is right."""

    conditions: tuple[Condition, ...]
    label: Any
    weight: float
    right: float

    def __str__(self) -> str:
        conditions = " and ".join(map(str, self.conditions)) or "always"
        return f"{'if ' if self.conditions else ''}{conditions} then {self.label} ({self.right:g} of {self.weight:g})"


def rules_of(model: DecisionTree, *, simplify: bool) -> list[Rule]:
    """Give a rule for each leaf with examples, the heaviest first."""
    found: list[Rule] = []

    def descend(node: Node, conditions: tuple[Condition, ...]) -> None:
        if node.column is None:
            if node.counts.any():
                best = int(np.argmax(node.counts))
                weight, right = float(node.counts.sum()), float(node.counts[best])
                found.append(Rule(conditions, model.classes_[best], weight, right))
            return
        name = model.names()[node.column]
        for answer, branch in zip(model.branch_names(node), node.branches, strict=True):
            if node.threshold is None:
                condition = Condition(name, "=", answer)
            else:
                condition = Condition(name, "<=" if answer == "yes" else ">", f"{node.threshold:.6g}")
            descend(branch, (*conditions, condition))

    descend(model.root_, ())
    made = [Rule(_shortest(rule.conditions), rule.label, rule.weight, rule.right) for rule in found]
    return sorted(made if simplify else found, key=lambda rule: -rule.weight)


def _shortest(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Of several thresholds of one number on the same side, only the tightest says anything."""
    kept: dict[tuple[str, str], Condition] = {}
    for condition in conditions:  # a later threshold is always inside the earlier ones
        kept[condition.name, condition.sign] = condition
    return tuple(kept.values())

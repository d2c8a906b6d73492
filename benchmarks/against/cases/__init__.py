"""The cases: a file for each family, a few lines for each case."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.against.case import Case

_FAMILIES = ("logistic", "multinomial", "sparse_logistic", "l1_logistic", "ridge", "lasso", "poisson", "small")


def everything() -> list[Case]:
    """Give all cases in the order of the table."""
    return [case for name in _FAMILIES for case in import_module(f"benchmarks.against.cases.{name}").CASES]

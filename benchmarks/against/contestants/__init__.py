"""Who competes: one file for each library, one entry for each of its solvers."""

from __future__ import annotations

from importlib import import_module, metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.against.case import Contestant

_FILES = ("ours", "scikit_learn", "intelex", "celers", "skglms", "glums")


def everyone() -> list[Contestant]:
    """Give all contestants whose library is installed; ours is the first."""
    found: list[Contestant] = []
    for file in _FILES:
        module = import_module(f"benchmarks.against.contestants.{file}")
        found += [one for one in module.CONTESTANTS if file == "ours" or _installed(one.package)]
    return found


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True

"""Every example in a docstring and in the guides runs and prints what it says.

The modules are found in the tutelage that is imported, so this holds for an installed package and a source tree alike.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import tutelage

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [
    "tutelage",
    *(
        found.name
        for found in pkgutil.walk_packages(tutelage.__path__, "tutelage.")
        if not found.name.split(".")[1].startswith(("_core", "_processor", "__main__"))
    ),
]
ROOT = Path(__file__).resolve().parent.parent
BY_BLOCKS = {"add-a-learner.md"}  # test_guides.py runs its blocks, and the examples inside them
PAGES = sorted(
    page
    for page in [*ROOT.glob("README.md"), *ROOT.glob("docs/**/*.md")]
    if page.name not in BY_BLOCKS and ">>> " in page.read_text("utf-8")
)


def test_the_walk_finds_the_chapters() -> None:
    assert {f"tutelage.{chapter}" for chapter in tutelage.CHAPTERS} <= set(MODULES)


@pytest.mark.parametrize("place", [*MODULES, *PAGES], ids=lambda p: p if isinstance(p, str) else p.name)
def test_examples(place: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if isinstance(place, Path):
        result = doctest.testfile(str(place), module_relative=False, optionflags=OPTIONS)
    else:
        result = doctest.testmod(importlib.import_module(place), optionflags=OPTIONS)
    assert result.failed == 0

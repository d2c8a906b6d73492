"""The tables of the notes are those of the code, and links in the documents lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def tables(repository: Path) -> Any:
    specification = importlib.util.spec_from_file_location("tables", repository / "docs" / "tables.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_tables_are_those_of_the_code(repository: Path, tables: Any) -> None:
    seen = set()
    for path in sorted((repository / "docs" / "notes").glob("*.md")):
        text = path.read_text("utf-8")
        seen |= {found["name"] for found in tables.MARKED.finditer(text)}
        assert text == tables.filled(text), f"{path.name} has drifted from the code: run `python docs/tables.py`"
    assert seen == set(tables.TABLES)


def test_a_drifted_table_is_noticed(tables: Any) -> None:
    page = "<!-- table: kinds -->\n| kind |\n<!-- end -->\n"
    assert tables.filled(page) != page
    assert tables.filled(tables.filled(page)) == tables.filled(page)


def documents(repository: Path) -> list[Path]:
    return [*repository.glob("*.md"), *repository.glob("docs/**/*.md")]


def test_links_lead_to_files(repository: Path) -> None:
    broken = [
        f"{page.relative_to(repository)}: {target}"
        for page in documents(repository)
        for target in re.findall(r"\]\(([^)#\s]+)\)|src=\"([^\"]+)\"", page.read_text("utf-8"))
        for target in target
        if target and "://" not in target and not (page.parent / target).exists()
    ]
    assert not broken


def test_files_named_in_the_documents_exist(repository: Path) -> None:
    """`src/...` and its kin in backquotes are real, in the documents that describe the house as it is."""
    pages = [repository / "CONTRIBUTING.md", repository / "README.md", *repository.glob("docs/**/*.md")]
    missing = [
        f"{page.relative_to(repository)}: {name}"
        for page in pages
        for name in re.findall(
            r"`((?:src|tests|docs|examples|benchmarks)/[\w./-]+\.(?:py|hpp|cpp|md|toml))`", page.read_text("utf-8")
        )
        if not (repository / name).exists() and name not in NOT_YET
    ]
    assert not missing


NOT_YET = {"src/tutelage/linear/expectile.py", "src/bind/noun.cpp"}  # what a reader is told to write

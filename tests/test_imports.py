"""The laws of the house: what may import what, what stands where, and how fast the package comes up."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import tutelage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# From the ground up: a module may import its own layer and those below it, never one above.
LAYERS: tuple[tuple[str, ...], ...] = (
    (
        "_native",
        "_core",
        "_processor",
        "machine",
        "vocabulary",
        "parameters",
        "certificate",
        "labels",
        "matrices",
        "tables",
        "drawing",
    ),
    ("datasets",),
    ("base",),
    ("losses", "penalties", "kernels", "links", "features", "solvers", "counts", "fold_paths"),
    ("risk",),
    (
        *("linear", "perceptron", "svm", "neighbours", "bayes", "discriminant", "trees", "ensembles", "networks"),
        *("novelty", "multiclass", "multilabel", "structured", "inference", "paths"),
    ),
    ("selection",),
    ("evaluation",),
    ("study", "reports", "files", "cluster"),
    ("cli", "serving", "__main__"),
)
LAYER_OF = {name: level for level, names in enumerate(LAYERS) for name in names}


def chapter_of(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py").removesuffix(".pyi")


def imported_chapters(source: str, known: set[str]) -> Iterator[str]:
    """The chapters of tutelage that a module imports, inside functions too, but not for type checking alone."""
    tree = ast.parse(source)
    for_types = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for statement in node.body
        for child in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] != "tutelage" or len(parts) == 1:
                continue
            if parts[1] in known:
                yield parts[1]
            else:  # a public name taken from the package itself belongs to the chapter that the table names
                yield from (chapter for chapter, held in tutelage.CHAPTERS.items() if parts[1] in held)


def test_every_module_has_a_layer(repository: Path) -> None:
    package = repository / "src" / "tutelage"
    chapters = {chapter_of(path, package) for path in package.rglob("*.py")} - {"__init__"}
    assert chapters <= set(LAYER_OF), "name the layer of a new chapter in LAYERS"


def test_imports_form_a_dag(repository: Path) -> None:
    package = repository / "src" / "tutelage"
    upward = [
        f"{path.relative_to(package)} imports {imported}, which stands above it"
        for path in sorted(package.rglob("*.py"))
        if (chapter := chapter_of(path, package)) != "__init__"
        for imported in imported_chapters(path.read_text("utf-8"), set(LAYER_OF))
        if LAYER_OF[imported] > LAYER_OF[chapter]
    ]
    assert not upward


def test_the_import_reader_sees_what_it_must() -> None:
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from tutelage.cli import app
import tutelage.risk
def f():
    from tutelage import losses, show_versions
"""
    assert list(imported_chapters(source, set(LAYER_OF))) == ["risk", "losses", "machine"]


def cpp_files(repository: Path) -> list[Path]:
    return sorted([*repository.glob("src/core/**/*.[ch]pp"), *repository.glob("src/bind/**/*.[ch]pp")])


@pytest.mark.parametrize(
    ("forbidden", "home"),
    [
        (r"std::j?thread\b|std::async\b|#\s*pragma\s+omp\s+(?!simd)|<omp\.h>", "src/core/machine/"),
        (r"immintrin\.h|\b_mm\d*_\w+\(|arm_neon\.h", "src/core/machine/"),
        (r"Python\.h|nanobind", "src/bind/"),
        (r"-ffast-math|#\s*pragma\s+GCC\s+optimize", "nowhere"),
    ],
)
def test_machinery_stands_in_one_place(repository: Path, forbidden: str, home: str) -> None:
    elsewhere = [
        f"{path.relative_to(repository)}:{number}: {line.strip()}"
        for path in cpp_files(repository)
        if not path.relative_to(repository).as_posix().startswith(home)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(forbidden, line.split("//")[0])
    ]
    assert not elsewhere


def test_no_file_is_longer_than_500_lines(repository: Path) -> None:
    generated = {"_core.pyi"}
    sources = [*cpp_files(repository), *repository.glob("src/tutelage/**/*.py*"), *repository.glob("tests/**/*.[cph]*")]
    long = {
        str(path.relative_to(repository)): count
        for path in sources
        if path.suffix in {".py", ".pyi", ".cpp", ".hpp"} and path.name not in generated
        if (count := path.read_text("utf-8").count("\n")) > 500
    }
    assert not long, "a file over 500 lines becomes a folder"


def run_python(code: str) -> str:
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_importing_the_package_loads_neither_scipy_nor_sklearn_nor_numpy() -> None:
    code = "import sys, tutelage; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = set(run_python(code).split())
    assert not loaded & {"scipy", "sklearn", "numpy", "polars", "narwhals", "matplotlib", "pandas"}


def test_importing_the_package_takes_less_than_a_tenth_of_a_second() -> None:
    code = "import time; t = time.perf_counter(); import tutelage; print(time.perf_counter() - t)"
    assert min(float(run_python(code)) for _ in range(3)) < 0.1


def test_every_name_in_the_table_exists_and_is_listed() -> None:
    for chapter, names in tutelage.CHAPTERS.items():
        module = getattr(tutelage, chapter)
        for name in names:
            assert getattr(tutelage, name) is getattr(module, name)
            assert name in dir(tutelage)
    promised = {name for names in tutelage.CHAPTERS.values() for name in names}
    assert set(tutelage.__all__) == promised | {"__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_the_kind'"):
        _ = tutelage.nothing_of_the_kind

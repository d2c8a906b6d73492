"""The guides do what they say: their Python runs, and their C++, put where they say, passes the laws.

A guide gives its native lines as sentences that a reader and this test follow alike:

    In `file`, after `text`, write `words`.                  the words go right behind the text
    In `file`, after `text`, write:    and a block           the block goes below the line that holds the text
    In `file`, before `text`, write:   and a block           above it
    In `file`, at the end, write:      and a block
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from tutelage._native import choose_variant

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
INSTRUCTION = re.compile(
    r"In `(?P<file>[^`]+)`, (?:at the end|(?P<side>after|before) `(?P<anchor>[^`]+)`), write"
    r"(?: `(?P<words>[^`]+)`\.|:\n\n```\w+\n(?P<block>.*?)```)",
    re.DOTALL,
)


class Instruction(NamedTuple):
    file: str
    side: str | None
    anchor: str | None
    words: str | None
    block: str | None

    def follow(self, tree: Path) -> None:
        path = tree / self.file
        text = path.read_text("utf-8")
        if self.anchor is None:
            path.write_text(f"{text}\n\n{self.block}", "utf-8")
            return
        assert text.count(self.anchor) == 1, f"{self.anchor!r} must stand once in {self.file}"
        start = text.index(self.anchor)
        if self.words is not None:
            at, new = start + len(self.anchor), self.words
        else:
            at, new = (
                text.rfind("\n", 0, start) + 1 if self.side == "before" else text.index("\n", start) + 1,
                self.block,
            )
        path.write_text(text[:at] + (new or "") + text[at:], "utf-8")


def page(repository: Path, name: str) -> str:
    return (repository / "docs" / "guide" / name).read_text("utf-8")


def instructions(guide: str) -> list[Instruction]:
    return [Instruction(**found.groupdict()) for found in INSTRUCTION.finditer(guide)]


def code_blocks(guide: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)


# ---- Python ----


@pytest.mark.parametrize("name", ["add-a-loss.md", "add-a-penalty.md"])
def test_the_examples_of_a_guide_run(repository: Path, name: str) -> None:
    result = doctest.testfile(str(repository / "docs" / "guide" / name), module_relative=False, optionflags=OPTIONS)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_learner_of_the_guide_passes_scikit_learns_checks(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)  # some checks pickle the learner
    space: dict[str, Any] = module.__dict__
    blocks = code_blocks(page(repository, "add-a-learner.md"))
    assert len(blocks) == 4
    for block in blocks:
        exec(compile(block, "docs/guide/add-a-learner.md", "exec", dont_inherit=True), space)
    learner = space["ExpectileRegressor"]
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    tests = doctest.DocTestFinder().find(learner, "ExpectileRegressor", globs=space, module=False)
    assert sum(runner.run(one).attempted for one in tests) == 2
    assert runner.summarize().failed == 0
    ran = 0
    for estimator, check in estimator_checks_generator(learner()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # checks provoke warnings of all sorts
            with contextlib.suppress(SkipTest):
                check(estimator)
        ran += 1
    assert ran > 30


def test_a_loss_takes_fewer_than_ten_lines_in_either_language(repository: Path) -> None:
    guide = page(repository, "add-a-loss.md")
    (native,) = [one for one in instructions(guide) if one.block and "struct" in one.block]
    assert len([line for line in (native.block or "").splitlines() if line.strip()]) < 10
    written = code_blocks(guide)[0]
    assert len([line for line in written.splitlines() if line.strip(" >.")]) < 10


# ---- C++ ----

NEEDED = ("losses", "penalties", "machine", "matrices", "risk")  # of the bindings: what the laws and one fit call

MODULE = """
#include "bind/bind.hpp"
NB_MODULE(TUTELAGE_MODULE, m) {
  m.attr("__name__") = "tutelage._core";
  bind_machine(m); bind_matrices(m); bind_losses(m); bind_penalties(m); bind_risk(m);
}
"""

FIT = """
import numpy as np
from tutelage import Risk, losses, minimise, penalties
random = np.random.default_rng(0)
X = random.normal(size=(300, 3))
y = X @ [0.3, -2.0, 0.55] + 0.1 * random.normal(size=300)
for loss, penalty in [(losses.PseudoHuber(), penalties.L2(0.01)), (losses.Huber(), penalties.DeadZone(0.1))]:
    solver = "newton" if penalty.facts.quadratic else "proximal_gradient"
    certificate = minimise(Risk(loss, penalty), X, y, solver=solver, tol=1e-8).certificate
    assert certificate.kind.value == "duality gap", certificate
    assert certificate.relative_gap <= 1e-8, certificate
"""


def run(command: list[str], **options: Any) -> str:
    answer = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert answer.returncode == 0, " ".join(command) + "\n" + answer.stdout + answer.stderr
    return answer.stdout


def compile_core(tree: Path, compiler: str, nanobind: Path) -> None:
    """Build the named bindings alone, without optimisation: an eighth of the work of the whole core."""
    variant = choose_variant()
    includes = [f"-I{tree / 'src'}", f"-I{nanobind / 'include'}", f"-I{nanobind / 'ext' / 'robin_map' / 'include'}"]
    flags = ["-std=c++20", "-O0", "-fPIC", "-fvisibility=hidden", "-fopenmp-simd", *includes]
    flags += [f"-I{sysconfig.get_paths()['include']}", f"-DTUTELAGE_MODULE=_core_{variant}"]
    flags += [f'-DTUTELAGE_VARIANT="{variant}"']
    (tree / "module.cpp").write_text(MODULE, "utf-8")
    sources = [*(tree / "src" / "bind" / f"{name}.cpp" for name in NEEDED), tree / "module.cpp"]
    sources.append(nanobind / "src" / "nb_combined.cpp")

    def compiled(source: Path) -> str:
        made = str(tree / f"{source.stem}.o")
        run([compiler, *flags, "-c", str(source), "-o", made])
        return made

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sources))
    shared = ["-bundle", "-undefined", "dynamic_lookup"] if sys.platform == "darwin" else ["-shared"]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    run([compiler, *shared, *objects, "-lpthread", "-o", str(tree / "src" / "tutelage" / f"_core_{variant}{suffix}")])


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform == "win32", reason="the reduced build is written for Unix compilers")
def test_the_native_lines_of_the_guides_pass_the_laws(repository: Path, tmp_path: Path) -> None:
    nanobind = pytest.importorskip("nanobind", reason="building needs nanobind")
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        pytest.skip("there is no C++ compiler")
    for folder in ("src", "tests"):
        ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
        shutil.copytree(repository / folder, tmp_path / folder, ignore=ignored)
    followed = 0
    for name in ("add-a-loss.md", "add-a-penalty.md"):
        for instruction in instructions(page(repository, name)):
            instruction.follow(tmp_path)
            followed += 1
    assert followed == 16
    processor = Path(run([sys.executable, "-c", "import tutelage._processor as p; print(p.__file__)"]).strip())
    shutil.copy(processor, tmp_path / "src" / "tutelage")
    compile_core(tmp_path, compiler.split()[0], Path(nanobind.__file__).parent)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    run([sys.executable, "-W", "error", "-c", FIT], env=environment, cwd=tmp_path)
    laws = [f"tests/{kind}/test_{words}.py" for kind in ("laws", "reference") for words in ("losses", "penalties")]
    chosen = "PseudoHuber or DeadZone or pseudo_huber or vocabulary or table or has_a_reference"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n0", "-q", "-o", "addopts=", "-k", chosen]
    report = run([*command, "-W", "error", "--import-mode=importlib", *laws], env=environment, cwd=tmp_path)
    assert int(re.findall(r"(\d+) passed", report)[-1]) > 40

"""scikit-learn's own tests of each class whose name we share, run against ours.

They ship in its wheel. ``tests/namesakes.toml`` names the modules, and the tests that may fail with the reason why. A
failure that is not listed fails here, and so does a listed test that passes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import sklearn

HERE = Path(__file__).resolve().parent
LIST: dict[str, Any] = tomllib.loads((HERE.parent / "namesakes.toml").read_text("utf-8"))
MODULES: dict[str, dict[str, Any]] = {module["name"]: module for module in LIST["module"]}

# No other reason excuses a failure; above all, a different result does not.
KINDS = {"private", "engine", "promise"}
MOST_EXCUSED = 0.03

same_version = pytest.mark.skipif(
    not sklearn.__version__.startswith(LIST["scikit-learn"]),
    reason=f"the list is for scikit-learn {LIST['scikit-learn']}, this is {sklearn.__version__}",
)


def run(module: str, folder: Path) -> dict[str, dict[str, Any]]:
    report = folder / "report.json"
    empty = folder / "pytest.ini"
    empty.write_text("[pytest]\n", "utf-8")
    search_path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "namesake_plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    command += ["-c", str(empty), "--rootdir", str(folder), "--namesake-report", str(report)]
    # fnmatch reads a bracket as a set of characters
    command += [f"--namesake-left-out={each.replace('[', '[[]')}" for each in MODULES[module].get("left_out", [])]
    command += ["--pyargs", module]
    answer = subprocess.run(
        command, cwd=folder, env=os.environ | {"PYTHONPATH": search_path}, capture_output=True, text=True, check=False
    )
    assert report.exists(), answer.stdout[-4000:] + answer.stderr[-4000:]
    told: dict[str, dict[str, Any]] = json.loads(report.read_text("utf-8"))["outcomes"]
    # An error while a module is collected leaves no outcome at all.
    assert told, answer.stdout[-4000:]
    return told


def matching(pattern: str, names: list[str]) -> list[str]:
    """The tests that an entry means: a name, of one test or of all its parameters, in which a star is anything."""
    whole = re.compile(re.escape(pattern).replace(r"\*", ".*") + ("" if "[" in pattern else r"(\[.*\])?"), re.DOTALL)
    return [name for name in names if whole.fullmatch(name)]


def excused(module: str) -> list[tuple[str, str]]:
    return [(test, entry["reason"]) for entry in MODULES[module].get("excused", []) for test in entry["tests"]]


@same_version
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("module", MODULES)
def test_scikit_learns_own_tests(module: str, tmp_path: Path) -> None:
    outcomes = run(module, tmp_path)
    ours = {name: entry for name, entry in outcomes.items() if entry["touched"]}
    assert ours, f"{module} has no test of a class of ours"
    failed = {name for name, entry in outcomes.items() if entry["outcome"] == "failed"}
    listed: set[str] = set()
    stale = []
    for pattern, _ in excused(module):
        found = [name for name in matching(pattern, list(outcomes)) if outcomes[name]["outcome"] != "skipped"]
        if not found or not failed.issuperset(found):
            stale.append(pattern)
        listed.update(found)
    unexpected = sorted(failed - listed)
    shown = "\n".join(f"--- {name}\n{outcomes[name]['text']}" for name in unexpected[:5])
    assert not unexpected, f"{len(unexpected)} of {len(ours)} tests fail:\n" + "\n".join(unexpected) + f"\n{shown}"
    assert not stale, f"these are listed as failing but pass: {stale}"
    run_of_ours = [name for name, entry in ours.items() if entry["outcome"] != "skipped"]
    assert len(run_of_ours) >= MODULES[module]["ours"]
    assert len(failed) <= MODULES[module]["failing"]


def test_few_are_excused() -> None:
    failing, ours = (sum(module[name] for module in MODULES.values()) for name in ("failing", "ours"))
    assert failing <= MOST_EXCUSED * ours


def test_every_excuse_is_one_of_those_allowed() -> None:
    for module in MODULES.values():
        for entry in module.get("excused", []):
            assert entry["kind"] in KINDS
            assert len(entry["reason"].split()) >= 5
            assert entry["tests"]


def test_an_entry_means_a_test_and_its_parameters() -> None:
    names = ["test_a", "test_a[x-1]", "test_a[y-1]", "test_ab"]
    assert matching("test_a", names) == ["test_a", "test_a[x-1]", "test_a[y-1]"]
    assert matching("test_a[x*]", names) == ["test_a[x-1]"]

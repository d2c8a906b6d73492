"""A pytest plugin that lets scikit-learn's own tests meet our classes.

Loaded by ``pytest -p namesake_plugin --pyargs sklearn.linear_model.tests.test_ridge``, it puts every public name of
ours that scikit-learn has too in the place of theirs, before the test modules are imported. ``--namesake-report`` names
the file that gets the outcome of every test, and whether it made or fitted one of our learners;
``--namesake-left-out`` tests not to run.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import tutelage
from tutelage.base import Estimator

PUBLIC = (
    *("linear_model", "svm", "neighbors", "naive_bayes", "discriminant_analysis", "tree", "ensemble", "neural_network"),
    *("multiclass", "multioutput", "kernel_ridge", "model_selection", "feature_selection", "preprocessing", "metrics"),
    *("calibration", "dummy", "inspection", "pipeline", "compose"),
)

outcomes: dict[str, dict[str, Any]] = {}
touched = False


def touch() -> None:
    global touched  # noqa: PLW0603 - a hook of pytest has no other place for it
    touched = True


def our_names() -> list[str]:
    return [name for names in tutelage.CHAPTERS.values() for name in names]


def swap() -> list[str]:
    """Replace theirs by ours, in the public module and in the one that defines it."""
    swapped = []
    with contextlib.suppress(ImportError):  # what puts the searches by halving beside the others
        importlib.import_module("sklearn.experimental.enable_halving_search_cv")
    for chapter in PUBLIC:
        public = importlib.import_module(f"sklearn.{chapter}")
        for name in sorted(set(getattr(public, "__all__", ())) & set(our_names())):
            theirs, ours = getattr(public, name), getattr(tutelage, name)
            if not isinstance(ours, type):
                ours = counted(ours)
            for module in (public, sys.modules[theirs.__module__]):
                if getattr(module, name, None) is theirs:
                    setattr(module, name, ours)
            swapped.append(name)
    return swapped


def counted(function: Any) -> Any:
    from functools import wraps

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        touch()
        return function(*arguments, **keywords)

    return call


def count_learners() -> None:
    """Note each test that makes or fits one of our learners."""
    check = Estimator.check_parameters

    def make(cls: type, *_: Any, **__: Any) -> Any:
        touch()
        return object.__new__(cls)

    def check_and_touch(self: Any) -> None:
        touch()
        check(self)

    Estimator.__new__ = make  # type: ignore[method-assign, assignment]
    Estimator.check_parameters = check_and_touch  # type: ignore[method-assign]


SWAPPED = swap()
count_learners()


def pytest_report_header() -> str:
    return "namesakes: " + ", ".join(SWAPPED)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--namesake-report", default="")
    parser.addoption("--namesake-left-out", action="append", default=[])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of code that is not ours, which would only take time."""
    patterns = config.getoption("--namesake-left-out")
    items[:] = [item for item in items if not any(fnmatchcase(_name(item.nodeid), each) for each in patterns)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    global touched  # noqa: PLW0603
    touched = False


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    name = _name(report.nodeid)
    entry = outcomes.setdefault(name, {"outcome": "passed", "touched": False, "text": ""})
    entry["touched"] = entry["touched"] or touched
    if report.skipped and entry["outcome"] == "passed":
        entry["outcome"] = "xfailed" if hasattr(report, "wasxfail") else "skipped"
    elif report.failed:
        entry["outcome"], entry["text"] = "failed", str(report.longreprtext)[-1500:]


def _name(nodeid: str) -> str:
    head, bracket, parameters = nodeid.partition("[")
    return head.rpartition("::")[2] + bracket + parameters


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--namesake-report")
    if path:
        Path(path).write_text(json.dumps({"swapped": SWAPPED, "outcomes": outcomes}), "utf-8")

"""A case from its data to its row in the table."""

from __future__ import annotations

import datetime as dt
import gc
import os
import platform
import subprocess
import tempfile
import time
import warnings
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.against.case import Case, Contestant, density
from benchmarks.against.contestants import everyone
from benchmarks.against.trial import FailedError, Trial, load, store, warm_up

if TYPE_CHECKING:
    from benchmarks.against.problem import Problem

EXCESS = 1e-6
TIGHT = 1e-12


def run(case: Case, *, quick: bool = False, tell: Any = print) -> dict[str, Any]:
    """Run all contestants on a case and give its row: plain values, to be stored as JSON."""
    X, y = case.data()
    problem = case.problem(X, y)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store(folder, X, y)
        X, y = load(folder)
        contestants = [one for one in everyone() if one.can(problem, X) and one.name not in case.without]
        best = _reference(contestants[0], problem, X, y)
        entries = []
        for one in contestants:
            entry, best = _climb(one, problem, X, y, folder, best, limit=10.0 if quick else 40.0)
            tell(f"  {one.name:32s} {_brief(entry)}")
            entries.append(entry)
    for entry in entries:  # a later contestant may have found a lower value
        if entry["values"] is not None:
            entry["excess"] = _excess(np.array(entry.pop("values")), best)
        else:
            entry.pop("values")
    _time(contestants, entries, problem, X, y, quick=quick)
    return {
        "case": case.name,
        "family": case.family,
        "goal": case.goal,
        "loss": problem.loss,
        "l1": problem.l1,
        "l2": problem.l2,
        "intercept": problem.intercept,
        "points": len(problem.path),
        "layout": getattr(X, "format", None) or ("F" if X.flags.f_contiguous else "C"),
        "rows": int(X.shape[0]),
        "columns": int(X.shape[1]),
        "density": float(density(X)),
        "contestants": entries,
        "machine": machine(),
        "versions": {one.package: _version(one.package) for one in contestants},
        "date": dt.datetime.now(dt.UTC).strftime("%Y-%m-%d"),
        "quick": quick,
    }


def _reference(ours: Contestant, problem: Problem, X: Any, y: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem.values(X, y, *ours.fit(problem, X, y, TIGHT))


def _excess(values: np.ndarray, best: np.ndarray) -> float:
    return float(np.max((values - best) / np.abs(best)))


def _climb(
    one: Contestant, problem: Problem, X: Any, y: np.ndarray, folder: Path, best: np.ndarray, *, limit: float
) -> tuple[dict[str, Any], np.ndarray]:
    """Tighten the tolerance until the objective is good enough."""
    entry: dict[str, Any] = {"name": one.name, "package": one.package, "tol": None, "values": None, "reached": False}
    try:
        with Trial(one, problem, folder) as trial:
            end = time.monotonic() + limit
            for tol in one.ladder:
                answer = trial.fit(tol, end - time.monotonic())
                values = problem.values(X, y, answer.coef, answer.intercept)
                if not np.all(np.isfinite(values)):
                    continue
                best = np.minimum(best, values)
                entry |= {"tol": tol, "values": values.tolist(), "objective": float(values[-1])}
                entry |= {"seconds": answer.seconds, "megabytes": answer.megabytes}
                if _excess(values, best) <= EXCESS:
                    entry["reached"] = True
                    return entry, best
        entry["why"] = "not at any tolerance"
    except FailedError as failed:
        why = str(failed)
        entry["why"] = f"not within {limit:.0f} s" if why == "time" else why
    return entry, best


def _time(
    contestants: list[Contestant],
    entries: list[dict[str, Any]],
    problem: Problem,
    X: Any,
    y: np.ndarray,
    *,
    quick: bool,
) -> None:
    """Time those who got there in turns; who was ten times slower than the fastest keeps its first time."""
    there = [(one, entry) for one, entry in zip(contestants, entries, strict=True) if entry["reached"]]
    if not there:
        return
    fastest = min(entry["seconds"] for _, entry in there)
    racing = [(one, entry) for one, entry in there if entry["seconds"] <= 10 * max(fastest, 2e-3)]
    total = sum(entry["seconds"] for _, entry in racing)
    rounds = int(np.clip((5.0 if quick else 25.0) / max(total, 1e-9), 2 if quick else 4, 20 if quick else 100))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for one, entry in racing:
            warm_up(one, problem, X, y)
            entry["seconds"] = np.inf
        for _ in range(rounds):
            for one, entry in racing:
                gc.collect()
                start = time.perf_counter()
                one.fit(problem, X, y, entry["tol"])
                entry["seconds"] = min(entry["seconds"], time.perf_counter() - start)


def _brief(entry: dict[str, Any]) -> str:
    if not entry["reached"]:
        return entry.get("why", "")
    return f"tol {entry['tol']:.0e}  {entry['seconds']:.4f} s  {entry['megabytes']:.0f} MB"


def _version(package: str) -> str:
    if package != "tutelage":
        return metadata.version(package)
    import tutelage

    found = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return f"{tutelage.__version__} ({found.stdout.strip()})" if found.returncode == 0 else tutelage.__version__


def machine() -> str:
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
        words = {name.strip(): value.strip() for name, value in lines.items()}
        model = f"{words.get('model name', model)} (family {words.get('cpu family')}, model {words.get('model')})"
    return f"{model}, {os.cpu_count()} processors, {os.environ['OMP_NUM_THREADS']} threads"

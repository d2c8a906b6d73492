"""One contestant in a process of its own: what each tolerance gives, how long it takes and how much memory.

The parent sends tolerances and judges the answers; this process only fits, so that nothing else touches its memory. A
solver that hangs is ended with its process.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from benchmarks.against.contestants import everyone

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from benchmarks.against.case import Contestant
    from benchmarks.against.problem import Problem

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Answer:
    coef: Any
    intercept: Any
    seconds: float
    megabytes: float


class FailedError(Exception):
    """Why a contestant gave no answer."""


class Trial:
    """A contestant at work in a fresh process.

    Parameters
    ----------
    contestant : Contestant
        Who.
    problem : Problem
        What is minimised.
    folder : Path
        Where `store` has put X and y.
    """

    def __init__(self, contestant: Contestant, problem: Problem, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, contestant.name, problem, folder), daemon=True)
        self._process.start()
        theirs.close()
        self._receive(120.0)

    def fit(self, tol: float, limit: float) -> Answer:
        self._connection.send(tol)
        return self._receive(limit)

    def _receive(self, limit: float) -> Any:
        try:
            if not self._connection.poll(max(limit, 0.0)):
                raise FailedError("time")
            answer = self._connection.recv()
        except EOFError:
            raise FailedError("it died") from None
        if isinstance(answer, str):
            raise FailedError(answer)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()


def _work(connection: Connection, name: str, problem: Problem, folder: Path) -> None:
    warnings.simplefilter("ignore")
    try:
        X, y = load(folder)
        contestant = next(one for one in everyone() if one.name == name and one.can(problem, X))
        warm_up(contestant, problem, X, y)
        before = _resident()
        connection.send(Answer(None, None, 0.0, 0.0))
        while True:
            tol = connection.recv()
            _forget_peak()
            start = time.perf_counter()
            coef, intercept = contestant.fit(problem, X, y, tol)
            seconds = time.perf_counter() - start
            connection.send(Answer(coef, intercept, seconds, max(_peak() - before, 0.0)))
    except EOFError:
        return
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its result
        connection.send(f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}")


def warm_up(contestant: Contestant, problem: Problem, X: Any, y: np.ndarray) -> None:
    """Fit a few rows, so that imports and compilation are not counted."""
    several = problem.loss in {"logistic", "multinomial"}
    few = first_of_each(y) if several else np.linspace(0, len(y) - 1, min(len(y), 50)).astype(int)
    if sparse.issparse(X):
        small = X.tocsr()[few].asformat(X.format)
    else:
        small = np.asfortranarray(X[few]) if _is_fortran(X) else np.ascontiguousarray(X[few])
    for tol in (1e-1, 1e-2, 1e-4) if contestant.package == "skglm" else (1e-2,):  # skglm compiles as it needs
        contestant.fit(problem, small, np.ascontiguousarray(y[few]), tol)


def first_of_each(y: np.ndarray) -> np.ndarray:
    return np.sort(np.concatenate([np.flatnonzero(y == label)[:5] for label in np.unique(y)]))


def _is_fortran(X: Any) -> bool:
    return not sparse.issparse(X) and bool(X.flags.f_contiguous) and not X.flags.c_contiguous


# Data between processes ------------------------------------------------------------------------------------------


def store(folder: Path, X: Any, y: np.ndarray) -> None:
    np.save(folder / "y.npy", y)
    if not sparse.issparse(X):
        np.save(folder / "X.npy", X)
        return
    for part in ("data", "indices", "indptr"):
        np.save(folder / f"{X.format}.{part}.npy", getattr(X, part))
    np.save(folder / "shape.npy", np.array(X.shape))


def load(folder: Path) -> tuple[Any, np.ndarray]:
    y = np.load(folder / "y.npy")
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy"), y
    layout = "csr" if (folder / "csr.data.npy").exists() else "csc"
    parts = [np.load(folder / f"{layout}.{part}.npy") for part in ("data", "indices", "indptr")]
    # scipy.sparse matrices rather than arrays: some peers take no other.
    make = sparse.csr_matrix if layout == "csr" else sparse.csc_matrix
    return make(tuple(parts), shape=tuple(np.load(folder / "shape.npy"))), y


# Memory ----------------------------------------------------------------------------------------------------------

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _status(field: str) -> float:
    found = re.search(rf"^{field}:\s+(\d+) kB", _STATUS.read_text(), re.MULTILINE)
    assert found
    return int(found[1]) * 1024 / MEGABYTE


def _resident() -> float:
    return _status("VmRSS") if _STATUS.exists() else _peak()


def _peak() -> float:
    if _STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE


def _forget_peak() -> None:
    """Let the highest resident set begin anew (Linux)."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")

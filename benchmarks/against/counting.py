"""Naive Bayes and discriminants against their peers: ``python -m benchmarks.against.counting``.

These fits have one answer and no tolerance, so there is no race to an objective: each case checks that the answers
agree, takes turns, and tells the least time of each. The work of a case is the bytes that must be read once, or the
multiplications and additions of one product of X with itself; the last column is its share of what this machine can
read, or multiply, as measured in the same run.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import tutelage
from tutelage.machine import get_threads

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Case:
    """A class of one name in two libraries, data, the goal of the ratio, and what to compare."""

    name: str
    cls: str
    module: str
    data: Callable[[], tuple[Any, np.ndarray]]
    goal: float
    answer: str
    arithmetic: bool = False


def numbers(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    y = random.integers(0, k, n)
    return random.normal(size=(n, d)) + 0.3 * random.normal(size=(k, d))[y], y


def words(n: int = 20000, d: int = 100000, k: int = 20, length: int = 120) -> tuple[Any, np.ndarray]:
    """Texts whose words are as unevenly frequent as those of a language."""
    random = np.random.default_rng(0)
    columns = (d * random.random((n, length)) ** 4).astype(np.int32)
    starts = np.arange(0, n * length + 1, length, dtype=np.int32)
    X = sparse.csr_matrix((np.ones(n * length), columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    return X, random.integers(0, k, n)


CASES = (
    Case("GaussianNB, 500,000 x 50", "GaussianNB", "naive_bayes", lambda: numbers(500000, 50, 5), 4, "theta_"),
    Case("GaussianNB, 60,000 x 784", "GaussianNB", "naive_bayes", lambda: numbers(60000, 784, 10), 4, "theta_"),
    Case("MultinomialNB, 20,000 texts", "MultinomialNB", "naive_bayes", words, 3, "feature_log_prob_"),
    Case("BernoulliNB, 20,000 texts", "BernoulliNB", "naive_bayes", words, 3, "feature_log_prob_"),
    Case("QDA, 100,000 x 60", "QuadraticDiscriminantAnalysis", "discriminant_analysis",
         lambda: numbers(100000, 60, 4), 2, "means_", arithmetic=True),
    Case("LDA, 60,000 x 784", "LinearDiscriminantAnalysis", "discriminant_analysis",
         lambda: numbers(60000, 784, 10), 6, "coef_", arithmetic=True),
)  # fmt: skip


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def peers(case: Case) -> dict[str, Any]:
    import importlib

    found = {"scikit-learn": getattr(importlib.import_module(f"sklearn.{case.module}"), case.cls)}
    try:
        theirs = getattr(importlib.import_module(f"sklearnex.{case.module}"), case.cls)
    except (ImportError, AttributeError):
        return found  # not installed, or it has no such class
    return {**found, "scikit-learn-intelex": theirs}


def limits(case: Case, X: Any) -> tuple[float, float, str]:
    """The work of a case, what the machine does of it in a second, and the unit."""
    if case.arithmetic:
        block = np.random.default_rng(0).normal(size=(4000, 784))
        rate = 2.0 * 4000 * 784**2 / min(seconds(lambda: block.T @ block) for _ in range(3))
        return float(X.shape[0]) * X.shape[1] ** 2, rate, "of the rate of a matrix product"
    block = np.ones(32 * 1024 * 1024)
    rate = get_threads() * block.nbytes / min(seconds(block.sum) for _ in range(3))
    size = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    return float(size), rate, f"of {get_threads()} times the reading speed of one thread"


def run(case: Case, repetitions: int) -> None:
    X, y = case.data()
    ours, others = getattr(tutelage, case.cls), peers(case)
    times: dict[str, list[float]] = {name: [] for name in ("tutelage", *others)}
    for turn in range(repetitions):
        for name, cls in {"tutelage": ours, **others}.items():
            if turn > 0 and times[name][0] > 20:
                continue  # long enough to be known by one turn
            times[name].append(seconds(lambda cls=cls: cls().fit(X, y)))  # type: ignore[misc]
    mine = getattr(ours().fit(X[:3000], y[:3000]), case.answer)
    for cls in others.values():
        np.testing.assert_allclose(mine, getattr(cls().fit(X[:3000], y[:3000]), case.answer), rtol=1e-5, atol=1e-8)
    best = {name: min(found) for name, found in times.items()}
    rival = min(others, key=lambda name: best[name])
    work, rate, unit = limits(case, X)
    print(
        f"{case.name:>28}: {best['tutelage']:.3f} s; {rival} {best[rival]:.3f} s; ratio "
        f"{best[rival] / best['tutelage']:.1f} (goal {case.goal:g}); {work / rate / best['tutelage']:.0%} {unit}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against.counting", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    for case in CASES:
        if not given.names or any(name in case.name for name in given.names):
            run(case, given.repetitions)


if __name__ == "__main__":
    main()

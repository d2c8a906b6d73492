"""Selection against scikit-learn's: ``python -m benchmarks.against.selection [NAME ...] [--rounds N] [--jobs N]``.

The same folds, grids and scores, ours and theirs in turn; theirs with n_jobs=2 (or --jobs), and with the learners of
scikit-learn-intelex where they are installed. Each case checks that the scores are equal within its tolerance, and
tells the least time of each, by the clock, and the ratio to the faster of the others. Classes and targets are made from
a seed.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tutelage

if TYPE_CHECKING:
    from collections.abc import Callable

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]


def rows(n: int, d: int) -> Rows:
    """Correlated columns of different sizes, targets and classes."""
    random = np.random.default_rng(0)
    X = (random.normal(size=(n, d)) + 0.5 * random.normal(size=(n, 1))) * np.geomspace(0.5, 2.0, d)
    z = X @ (random.normal(size=d) * (random.random(d) < 0.5)) / np.sqrt(d)
    return X, z + random.normal(size=n), (z + random.logistic(size=n) > 0).astype(int)


def labels(n: int, q: int) -> np.ndarray:
    random = np.random.default_rng(0)
    return (random.random((n, q)) < 0.1 * random.random(q)).astype(int)


@dataclass(frozen=True)
class Case:
    """What both do: `ours`, and `theirs` with the classes of a module and a number of jobs, each giving scores."""

    name: str
    goal: float
    ours: Callable[[], Any]
    theirs: Callable[[Any, int], Any]
    near: float = 1e-3
    learners: str = "linear_model"


def grid_case(name: str, goal: float, data: Callable[[], Any], cls: str, grid: dict[str, Any], module: str) -> Case:
    from sklearn.model_selection import GridSearchCV

    words = {"max_iter": 1000} if cls == "LogisticRegression" else {}

    def ours() -> Any:
        X, y = data()
        return tutelage.GridSearchCV(getattr(tutelage, cls)(), grid, cv=10).fit(X, y).cv_results_["mean_test_score"]

    def theirs(learners: Any, jobs: int) -> Any:
        X, y = data()
        search = GridSearchCV(getattr(learners, cls)(**words), grid, cv=10, n_jobs=jobs).fit(X, y)
        return search.cv_results_["mean_test_score"]

    return Case(name, goal, ours, theirs, learners=module)


def forward_case(name: str, goal: float, data: Callable[[], Any], cls: str) -> Case:
    from sklearn.feature_selection import SequentialFeatureSelector

    def ours() -> Any:
        return (
            tutelage.SequentialFeatureSelector(getattr(tutelage, cls)(), n_features_to_select=8).fit(*data()).support_
        )

    def theirs(learners: Any, jobs: int) -> Any:
        model = getattr(learners, cls)()
        return SequentialFeatureSelector(model, n_features_to_select=8, n_jobs=jobs).fit(*data()).support_

    return Case(name, goal, ours, theirs)


def left_out_case() -> Case:
    from sklearn.model_selection import LeaveOneOut, cross_val_score

    X, _, c = rows(1500, 36)

    def ours() -> Any:
        return tutelage.cross_val_score(tutelage.LogisticRegression(), X, c, cv=LeaveOneOut()).mean()

    def theirs(learners: Any, jobs: int) -> Any:
        model = learners.LogisticRegression(max_iter=1000)
        return cross_val_score(model, X, c, cv=LeaveOneOut(), n_jobs=jobs).mean()

    return Case("leave-one-out logistic, 1,500 x 36", 50, ours, theirs)


def labels_case(n: int, q: int) -> Case:
    """Folds of several labels; the score is how far labels are from their shares, and ours must not be further."""
    Y = labels(n, q)

    def imbalance(folds: list[Any]) -> float:
        counts = np.stack([Y[test].sum(axis=0) for _, test in folds])
        return float(np.abs(counts - Y.sum(axis=0) / 10).mean())

    def ours() -> Any:
        return imbalance(list(tutelage.MultilabelStratifiedKFold(10, random_state=0).split(Y, Y)))

    def theirs(learners: Any, jobs: int) -> Any:  # noqa: ARG001
        return imbalance(list(learners.IterativeStratification(n_splits=10, order=1).split(np.zeros((n, 1)), Y)))

    stratification = "skmultilearn.model_selection.iterative_stratification"
    return Case(f"several labels, {n:,} x {q}, 10 folds", 50, ours, theirs, np.inf, stratification)


def cases() -> list[Case]:
    wide, many, near, few = rows(20_000, 50), rows(100_000, 30), rows(10_000, 10), rows(2_000, 36)
    alphas, Cs = {"alpha": np.geomspace(1e-3, 1e4, 15)}, {"C": np.geomspace(1e-4, 1e3, 15)}
    ks = {"n_neighbors": list(range(1, 31))}
    return [
        grid_case("ridge, 20,000 x 50, 15 x 10", 20, lambda: (wide[0], wide[1]), "Ridge", alphas, "linear_model"),
        grid_case("ridge, 100,000 x 30, 15 x 10", 20, lambda: (many[0], many[1]), "Ridge", alphas, "linear_model"),
        grid_case(
            "logistic, 20,000 x 50, 15 x 10", 20, lambda: (wide[0], wide[2]), "LogisticRegression", Cs, "linear_model"
        ),
        grid_case(
            "logistic, 100,000 x 30, 15 x 10", 20, lambda: (many[0], many[2]), "LogisticRegression", Cs, "linear_model"
        ),
        grid_case(
            "neighbours, 10,000 x 10, 30 x 10", 20, lambda: (near[0], near[2]), "KNeighborsClassifier", ks, "neighbors"
        ),
        left_out_case(),
        forward_case("forward, logistic, 8 of 36, 2,000", 20, lambda: (few[0], few[2]), "LogisticRegression"),
        forward_case("forward, least squares, 8 of 36, 2,000", 200, lambda: (few[0], few[1]), "LinearRegression"),
        labels_case(10_000, 50),
    ]


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = run()
    return time.perf_counter() - start, answer


def peers(case: Case) -> dict[str, Any]:
    found = {}
    for name, package in (("scikit-learn", "sklearn"), ("scikit-learn-intelex", "sklearnex")):
        try:
            found[name] = importlib.import_module(f"{package}.{case.learners}")
        except ImportError:
            continue
    if case.learners.startswith("skmultilearn"):
        try:
            found["scikit-multilearn"] = importlib.import_module(case.learners)
        except ImportError:
            print(f"{case.name}: scikit-multilearn is not installed")
    return found


def run(case: Case, rounds: int, jobs: int) -> None:
    best: dict[str, float] = {}
    scores: dict[str, Any] = {}
    others = peers(case)
    for turn in range(rounds):
        found, scores["tutelage"] = seconds(case.ours)
        best["tutelage"] = min(best.get("tutelage", np.inf), found)
        for name, learners in others.items():
            if turn > 0 and best[name] > 5:
                continue  # long enough to be known by one turn
            found, scores[name] = seconds(lambda learners=learners: case.theirs(learners, jobs))  # type: ignore[misc]
            best[name] = min(best.get(name, np.inf), found)
    if not others:
        return
    apart = max(float(np.abs(np.asarray(scores["tutelage"], dtype=float) - scores[name]).max()) for name in others)
    assert apart <= case.near, f"{case.name}: scores differ by {apart}"
    rival = min(others, key=lambda name: best[name])
    told = ", ".join(f"{name} {best[name]:.3f} s" for name in others)
    ratio = best[rival] / best["tutelage"]
    print(f"{case.name}: {best['tutelage']:.4f} s; {told}; ratio {ratio:.1f} (goal {case.goal:g}); scores within "
          f"{apart:.1e}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against.selection", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for case in cases():
        if not given.names or any(name in case.name for name in given.names):
            run(case, given.rounds, given.jobs)


if __name__ == "__main__":
    main()

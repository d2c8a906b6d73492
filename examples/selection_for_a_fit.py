"""Fifteen strengths, ten folds, 150 models, for about the price of a fit; and an honest score of the choice.

    python examples/selection_for_a_fit.py

The same grid is searched twice: by the algebra of the learner, and by refitting. The scores agree to the last digits
that the fits were asked for. The best of them is too good, being the best; nested cross-validation says by how much.
"""

from __future__ import annotations

import time

import numpy as np

from tutelage import GridSearchCV, LearningCurve, OneStandardError, Ridge, nested_score


class Refitted(Ridge):
    """Ridge whose folds are refitted, since it overrides one of its parent's answers."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        return super().predict(X)


def main() -> None:
    """Search, compare, and judge the choice."""
    random = np.random.default_rng(0)
    X = random.normal(size=(5000, 40)) + random.normal(size=(5000, 1))
    y = X @ random.normal(size=40) + 8 * random.normal(size=5000)
    grid = {"alpha": np.geomspace(1e-2, 1e5, 15)}
    searches = {}
    for name, model in (("by sums over folds", Ridge()), ("refitting", Refitted())):
        start = time.perf_counter()
        searches[name] = GridSearchCV(model, grid, cv=10).fit(X, y)
        print(f"150 models {name}: {time.perf_counter() - start:.3f} s")
    quick, plain = (search.cv_results_["mean_test_score"] for search in searches.values())
    print(f"largest difference of a score: {np.abs(quick - plain).max():.1e}")

    few = slice(None, 300)
    choice = GridSearchCV(Ridge(), grid, cv=10, refit=OneStandardError("alpha")).fit(X[few], y[few])
    print(f"the simplest within one standard error, on 300 rows: alpha = {choice.best_params_['alpha']:.3g}")
    print(nested_score(GridSearchCV(Ridge(), grid, cv=10), X[few], y[few]))
    print(LearningCurve.of(Ridge(), X[few], y[few], sizes=[60, 90, 120, 180, 240], cv=5).gain(240))


if __name__ == "__main__":
    main()

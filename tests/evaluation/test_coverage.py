"""Nominal 95 % covers 93.5 to 96.5 % over 2,000 simulated tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin

from tutelage import cross_evaluate
from tutelage.evaluation import bootstrap, clopper_pearson, corrected_interval, delong, newcombe, wilson
from tutelage.evaluation.cross_validation import nested_summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.evaluation import Interval

RUNS = 2000
Random = np.random.Generator


def coverage(draw: Callable[[Random], Interval], truth: float) -> float:
    return float(np.mean([truth in draw(np.random.default_rng(seed)) for seed in range(RUNS)]))


def areas(random: Random, negatives: int, positives: int, shift: float) -> Interval:
    y = np.repeat([0, 1], [negatives, positives])
    return delong(y, y * shift + random.normal(size=len(y))).interval()


def f1(random: Random) -> Interval:
    y = (random.random(300) < 0.3).astype(int)
    return bootstrap(y, np.where(random.random(300) < 0.2, 1 - y, y), "f1", tables=1000)


def skewed_mean(random: Random) -> Interval:
    return bootstrap(np.zeros(200), random.exponential(size=200), "absolute_error", tables=1000)


def root(random: Random) -> Interval:
    return bootstrap(np.zeros(200), random.normal(size=200), "root_squared_error", tables=1000)


def r2(random: Random) -> Interval:
    x = random.normal(size=200)
    return bootstrap(x + random.normal(size=200), x, "r2", tables=1000)


def difference(random: Random) -> Interval:
    return newcombe(*random.multinomial(200, [0.6, 0.2, 0.1, 0.1]))


CASES: dict[str, tuple[Callable[[Random], Any], float]] = {
    "Wilson, 200 rows": (lambda random: wilson(random.binomial(200, 0.8), 200), 0.8),
    "Wilson, near one": (lambda random: wilson(random.binomial(300, 0.95), 300), 0.95),
    "Clopper-Pearson": (lambda random: clopper_pearson(random.binomial(2000, 0.7), 2000), 0.7),
    "DeLong, 0.80": (lambda random: areas(random, 120, 80, 1.2), float(norm.cdf(1.2 / 2**0.5))),
    "DeLong, 0.97": (lambda random: areas(random, 150, 50, 2.6), float(norm.cdf(2.6 / 2**0.5))),
    "BCa, F1": (f1, 2 * 0.24 / (0.3 + 0.24 + 0.14)),
    "BCa, a skewed mean": (skewed_mean, 1.0),
    "BCa, root of a mean square": (root, 1.0),
    "BCa, R2": (r2, 0.5),
    "Newcombe": (difference, 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_95_in_100_tables_hold_the_truth(name: str) -> None:
    assert 0.935 <= coverage(*CASES[name]) <= 0.965


def test_clopper_pearson_never_covers_less_for_any_share() -> None:
    """Exactly, by summing over all tables of 30 rows."""
    seen = np.array([clopper_pearson(right, 30) for right in range(31)])
    for share in np.linspace(0.01, 0.99, 99):
        held = (seen[:, 0] <= share) & (share <= seen[:, 1])
        chances = np.exp([_log_binomial(right, 30, share) for right in range(31)])
        assert chances[held].sum() >= 0.95 - 1e-12


def test_wilson_covers_95_in_100_over_all_shares() -> None:
    """Exactly for each share, and averaged over them: single shares of so few rows miss by more."""
    seen = np.array([wilson(right, 100) for right in range(101)])
    covered = []
    for share in np.linspace(0.05, 0.95, 181):
        held = (seen[:, 0] <= share) & (share <= seen[:, 1])
        chances = np.exp([_log_binomial(right, 100, share) for right in range(101)])
        covered.append(chances[held].sum())
    assert 0.945 < np.mean(covered) < 0.958
    assert min(covered) > 0.9


def _log_binomial(right: int, total: int, share: float) -> float:
    from scipy.stats import binom

    return float(binom.logpmf(right, total, share))


# --- cross-validation
# ----------------------------------------------------------------------------------------------------

ROWS, COLUMNS, FOLDS, REPEATS = 100, 3, 10, 10


def all_folds(random: Random) -> tuple[Any, Any, Any, Any]:
    """Ten times ten folds of least squares at once: sums of products of the folds are taken out of those of all rows.

    Gives the score of each fold, and what nested cross-validation finds: the values of rows held out, the inner
    estimates, and the mean and its variance of each fold held out.
    """
    A = np.column_stack([np.ones(ROWS), random.normal(size=(ROWS, COLUMNS))])
    y = A[:, 1] + random.uniform(-(3**0.5), 3**0.5, size=ROWS)
    order = np.array([random.permutation(ROWS) for _ in range(REPEATS)]).reshape(REPEATS, FOLDS, -1)
    parts, targets = A[order], y[order]  # (repeats, folds, rows of a fold, columns)
    S, t = np.einsum("rkic,rkid->rkcd", parts, parts), np.einsum("rkic,rki->rkc", parts, targets)
    rest, right = (A.T @ A) - S, (A.T @ y) - t
    w = np.linalg.solve(rest, right[..., None])[..., 0]
    outer = (targets - np.einsum("rkic,rkc->rki", parts, w)) ** 2
    # Without folds j and k; a fold is not left out twice, so the diagonal gets a matrix that can be solved and is
    # ignored.
    pairs = rest[:, :, None] - S[:, None] * (1 - np.eye(FOLDS))[:, :, None, None]
    pair_right = right[:, :, None] - t[:, None] * (1 - np.eye(FOLDS))[:, :, None]
    w = np.linalg.solve(pairs, pair_right[..., None])[..., 0]
    errors = ((targets[:, None] - np.einsum("rkic,rjkc->rjki", parts, w)) ** 2).mean(axis=-1)
    inner = (errors.sum(axis=2) - np.einsum("rkk->rk", errors)) / (FOLDS - 1)
    held = np.stack([outer.mean(axis=-1), outer.var(axis=-1, ddof=1) / outer.shape[-1]], axis=-1)
    return outer.mean(axis=-1).ravel(), outer.reshape(REPEATS, -1), inner, held


def expected_error(rows: int) -> float:
    """The expected squared error of least squares on so many rows."""
    return (1 + 1 / rows) * (1 + COLUMNS / (rows - COLUMNS - 2))


@pytest.fixture(scope="module")
def cross_validated() -> list[tuple[Any, Any, Any, Any]]:
    return [all_folds(np.random.default_rng(seed)) for seed in range(RUNS)]


@pytest.mark.slow
def test_the_corrected_interval_covers_and_that_of_the_folds_alone_does_not(cross_validated: Any) -> None:
    truth = expected_error(90)
    corrected = plain = 0
    for scores, *_ in cross_validated:
        corrected += truth in corrected_interval(scores, train_rows=90, test_rows=10)
        plain += truth in corrected_interval(scores, train_rows=1e12, test_rows=1)
    assert 0.935 <= corrected / RUNS <= 0.965
    assert plain / RUNS < 0.6


@pytest.mark.slow
def test_the_nested_interval_covers(cross_validated: Any) -> None:
    truth, estimates, held = expected_error(100), [], 0
    for _, outer, inner, of_folds in cross_validated:
        estimate, interval = nested_summary(outer, inner, of_folds)
        held += truth in interval
        estimates.append(estimate)
    # Its error is estimated and kept above that of independent rows, so it errs on the safe side: 97 in 100 here.
    assert 0.935 <= held / RUNS <= 0.98
    assert abs(np.mean(estimates) - truth) < 4 * np.std(estimates) / RUNS**0.5


class Line(RegressorMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Any:
        A = np.column_stack([np.ones(len(X)), X])
        self.w_ = np.linalg.solve(A.T @ A, A.T @ y)
        return self

    def predict(self, X: Any) -> Any:
        return self.w_[0] + X @ self.w_[1:]


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_few_repetitions_are_on_the_safe_side(repeats: int) -> None:
    held, runs = 0, 500
    for seed in range(runs):
        random = np.random.default_rng(seed)
        X = random.normal(size=(ROWS, COLUMNS))
        y = X[:, 0] + random.uniform(-(3**0.5), 3**0.5, size=ROWS)
        made = cross_evaluate(Line(), X, y, folds=10, repeats=repeats, random_state=1000 * seed)
        held += expected_error(90) in made.interval
    assert 0.95 <= held / runs <= 0.997

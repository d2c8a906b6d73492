"""DeLong's method against its definition, which compares every positive with every negative."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from tutelage.evaluation import compare_areas, delong


def by_definition(y: np.ndarray, scores: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The areas and their covariance, from all pairs."""
    below, above = [], []
    for s in scores:
        pairs = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
        below.append(pairs.mean(axis=1))
        above.append(pairs.mean(axis=0))
    covariance = np.cov(below) / len(below[0]) + np.cov(above) / len(above[0])
    return np.mean(below, axis=1), np.atleast_2d(covariance)


@pytest.mark.parametrize("digits", [0, 1, 8])
def test_it_is_the_definition(digits: int) -> None:
    random = np.random.default_rng(digits)
    y = (random.random(90) < 0.3).astype(int)
    a, b = np.round(y + random.normal(size=(2, 90)), digits)
    areas, covariance = by_definition(y, [a, b])
    made = delong(y, a)
    np.testing.assert_allclose([made.area, made.variance], [areas[0], covariance[0, 0]], rtol=1e-10)
    assert made.area == pytest.approx(roc_auc_score(y, a))
    difference = compare_areas(y, a, b)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    np.testing.assert_allclose([difference.difference, difference.variance], [areas[0] - areas[1], variance], rtol=1e-9)
    z = (areas[0] - areas[1]) / np.sqrt(variance)
    assert difference.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_it_costs_a_sort() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400_000)
    start = time.process_time()
    delong(y, y + random.normal(size=len(y)))
    assert time.process_time() - start < 4  # all pairs would be 4e10


def test_extremes_say_nothing_beyond_what_was_seen() -> None:
    y = np.array([0, 0, 1, 1])
    assert delong(y, y.astype(float)).interval() == (0, 1)
    same = compare_areas(y, y.astype(float), y.astype(float))
    assert (same.difference, same.p_value) == (0, 1)


def test_bad_input_is_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="rows of two classes"):
        delong([1, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match="a finite number for each of 2 rows"):
        delong([0, 1], [0.1, np.nan])


def test_equal_scores_are_rarely_told_apart() -> None:
    """The test of equal areas refuses 5 in 100."""
    refused = 0
    for seed in range(600):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 100)
        shared = y + random.normal(size=100)
        refused += compare_areas(y, shared + random.normal(size=100), shared + random.normal(size=100)).p_value < 0.05
    assert stats.binomtest(refused, 600, 0.05).pvalue > 1e-3

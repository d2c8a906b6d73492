"""Approximate neighbours: few are missed, what is found is measured exactly, and nobody gets them unasked."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest

from tutelage.neighbours import KNeighborsClassifier, NearestNeighbors

rng = np.random.default_rng(2)
CENTRES = 4 * rng.normal(size=(20, 12))


def clusters(n: int) -> Any:
    return CENTRES[rng.integers(0, 20, n)] + rng.normal(size=(n, 12))


def test_without_the_library_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"algorithm='approximate' needs .* pip install 'tutelage\[approximate\]'"):
        NearestNeighbors(algorithm="approximate").fit(clusters(50))
    NearestNeighbors(algorithm="auto").fit(clusters(50))


def test_another_metric_is_refused() -> None:
    with pytest.raises(ValueError, match="Metric 'cosine' not valid for algorithm='approximate'"):
        NearestNeighbors(algorithm="approximate", metric="cosine").fit(clusters(50))
    with pytest.raises(ValueError, match="knows the Euclidean metric alone, found the metric 'minkowski' with p=3"):
        NearestNeighbors(algorithm="approximate", p=3).fit(clusters(50))


class TestWithTheLibrary:
    @pytest.fixture(autouse=True)
    def library(self) -> None:
        pytest.importorskip("faiss")

    @pytest.mark.parametrize("offset", [0.0, 1e6])
    def test_few_are_missed_and_distances_are_exact(self, offset: float) -> None:
        X, queries = clusters(8000) + offset, clusters(300) + offset
        model = NearestNeighbors(n_neighbors=8, algorithm="approximate").fit(X)
        distances, rows = model.kneighbors(queries)
        exact = NearestNeighbors(n_neighbors=8, algorithm="brute").fit(X).kneighbors(queries, return_distance=False)
        assert np.mean([np.isin(a, b).mean() for a, b in zip(rows, exact, strict=True)]) > 0.95
        np.testing.assert_allclose(distances, np.linalg.norm(X[rows] - queries[:, None], axis=2), rtol=1e-12)
        assert (np.diff(distances, axis=1) >= 0).all()

    def test_the_same_answer_each_time(self) -> None:
        X = clusters(3000)
        model = NearestNeighbors(n_neighbors=5, algorithm="approximate").fit(X)
        rows = model.kneighbors(X[:200], return_distance=False)
        for other in (
            NearestNeighbors(n_neighbors=5, algorithm="approximate").fit(X),
            pickle.loads(pickle.dumps(model)),
        ):
            np.testing.assert_array_equal(other.kneighbors(X[:200], return_distance=False), rows)

    def test_no_row_is_its_own_neighbour(self) -> None:
        X = clusters(500)
        rows = NearestNeighbors(n_neighbors=4, algorithm="approximate").fit(X).kneighbors(return_distance=False)
        assert not (rows == np.arange(500)[:, None]).any()

    def test_all_rows_can_be_asked_for(self) -> None:
        X = clusters(90)
        rows = NearestNeighbors(n_neighbors=90, algorithm="approximate").fit(X).kneighbors(X, return_distance=False)
        np.testing.assert_array_equal(np.sort(rows, axis=1), np.tile(np.arange(90), (90, 1)))

    def test_radii_are_searched_exactly(self) -> None:
        X = clusters(400)
        found = [NearestNeighbors(radius=3.0, algorithm=name).fit(X).radius_neighbors_graph(X[:30]) for name in
                 ("approximate", "brute")]  # fmt: skip
        np.testing.assert_array_equal(*(one.toarray() for one in found))

    def test_a_classifier_may_use_it(self) -> None:
        X = clusters(2000)
        y = (X[:, 0] > 0).astype(int)
        ours, exact = (KNeighborsClassifier(algorithm=name).fit(X, y).predict(X) for name in ("approximate", "brute"))
        assert (ours == exact).mean() > 0.99

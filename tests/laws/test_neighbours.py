"""Laws of neighbours: what ten lines of NumPy find, whatever the algorithm, the order or the number of threads."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import tutelage
from tutelage import _core
from tutelage.neighbours import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    best_k,
    condensed,
    edited,
    predictions_for_every_k,
    scores_for_every_k,
)
from tutelage.neighbours.index import Index, images
from tutelage.neighbours.metrics import BALLS, BOXES

rng = np.random.default_rng(7)
BOOLEAN = ("jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
REAL = (
    "euclidean",
    "sqeuclidean",
    "manhattan",
    "chebyshev",
    "canberra",
    "braycurtis",
    "cosine",
    "correlation",
    "hamming",
)


def by_hand(distances: Any, k: int) -> tuple[Any, Any]:
    """The reference: sort by distance, then by row number."""
    rows = np.stack([np.lexsort((np.arange(len(line)), line))[:k] for line in distances])
    return np.take_along_axis(distances, rows, axis=1), rows


def whole_numbers(n: int, d: int, high: int = 4) -> Any:
    """Rows full of ties, whose distances are exact in floating point."""
    return rng.integers(0, high, (n, d)).astype(float)


@pytest.mark.parametrize("d", [1, 2, 5, 8, 11, 24])
@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_ties_are_broken_by_row_number(metric: str, algorithm: str, d: int) -> None:
    X, Q = whole_numbers(700, d), whole_numbers(60, d)
    distances, rows = NearestNeighbors(metric=metric, algorithm=algorithm, leaf_size=9).fit(X).kneighbors(Q, 13)
    wanted, order = by_hand(cdist(Q, X, {"manhattan": "cityblock"}.get(metric, metric)), 13)
    np.testing.assert_array_equal(rows, order)
    np.testing.assert_array_equal(distances, wanted)


@pytest.mark.parametrize("basis", [0, 1, 3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_products_find_what_brute_force_finds(kind: type, basis: int) -> None:
    X, Q = whole_numbers(5000, 7).astype(kind), whole_numbers(200, 7)
    directions = np.ascontiguousarray(np.linalg.qr(rng.normal(size=(7, 7)))[0][:basis])
    search = _core.product_search(X, "euclidean", X.mean(axis=0, dtype=float), directions, 0.125)
    panels = _core.panel_search(X.astype(float), "euclidean", 2.0, "brute", 1)
    for found, wanted in zip(search.nearest(Q, False, 40), panels.nearest(Q, False, 40), strict=True):
        np.testing.assert_array_equal(found, wanted)
    for found, wanted in zip(
        search.nearest(X[:50].astype(float), True, 3), panels.nearest(X[:50].astype(float), True, 3), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    radii = np.linspace(0, 3, len(Q))
    for found, wanted in zip(search.within(Q, False, radii, True), panels.within(Q, False, radii, True), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda X: X + 1e7,  # far from zero: float32 sees nothing of the differences without centring
        lambda X: X * 1e30,
        lambda X: X * 1e-30,
        lambda X: X * np.where(np.arange(X.shape[1]) % 2, 1e-6, 1e6),
        lambda X: np.repeat(X[: len(X) // 8], 8, axis=0),
        np.zeros_like,
    ],
)
def test_products_lose_no_neighbour_of_difficult_rows(spoil: Any) -> None:
    X = spoil(rng.normal(size=(6000, 60)) @ np.diag(0.8 ** np.arange(60)))
    Q = X[::97] + 1e-3 * np.std(X) * rng.normal(size=X[::97].shape)
    search = _core.product_search(X, "euclidean", *images(X))
    panels = _core.panel_search(X, "euclidean", 2.0, "brute", 1)
    for found, wanted in zip(search.nearest(Q, False, 10), panels.nearest(Q, False, 10), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_query_that_float32_cannot_hold_is_measured_exactly() -> None:
    X = rng.normal(size=(3000, 20))
    Q = np.concatenate([X[:70], 1e60 * X[70:73]])
    search = _core.product_search(X, "euclidean", *images(X))
    panels = _core.panel_search(X, "euclidean", 2.0, "brute", 1)
    for found, wanted in zip(search.nearest(Q, False, 4), panels.nearest(Q, False, 4), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("factor", [2.0**660, 2.0**-660, 2.0**1000])
def test_squares_that_no_double_can_hold_do_not_matter(factor: float) -> None:
    X, Q = whole_numbers(300, 3, 50), whole_numbers(20, 3, 50)
    wanted, order = NearestNeighbors(n_neighbors=4).fit(X).kneighbors(Q)
    for algorithm in ("brute", "kd_tree"):
        distances, rows = NearestNeighbors(n_neighbors=4, algorithm=algorithm).fit(X * factor).kneighbors(Q * factor)
        np.testing.assert_array_equal(rows, order)
        np.testing.assert_array_equal(distances, wanted * factor)
    distances, rows = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(X).kneighbors(Q * 1e200)
    assert np.all(np.isfinite(distances))


@pytest.mark.parametrize("metric", REAL)
def test_a_metric_is_what_its_name_says(metric: str) -> None:
    X, Q = rng.normal(size=(300, 9)), rng.normal(size=(20, 9))
    X[5, 3] = Q[2, 3]
    distances, rows = NearestNeighbors(metric=metric, algorithm="brute").fit(X).kneighbors(Q, 7)
    wanted, order = by_hand(cdist(Q, X, {"manhattan": "cityblock"}.get(metric, metric)), 7)
    np.testing.assert_allclose(distances, wanted, rtol=1e-12)
    if metric != "hamming":
        np.testing.assert_array_equal(rows, order)


@pytest.mark.parametrize("metric", BOOLEAN)
def test_a_boolean_metric_is_what_its_name_says(metric: str) -> None:
    X, Q = rng.random((200, 12)) < 0.4, rng.random((15, 12)) < 0.4
    distances, _ = (
        NearestNeighbors(metric=metric, algorithm="brute").fit(X.astype(float)).kneighbors(Q.astype(float), 9)
    )
    np.testing.assert_allclose(distances, by_hand(cdist(Q, X, metric), 9)[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("minkowski", {"p": 3.0}),
        ("minkowski", {"p": 3.0, "w": np.arange(1.0, 6.0)}),
        ("minkowski", {"p": 1.0, "w": np.arange(1.0, 6.0)}),
        ("seuclidean", {"V": np.arange(1.0, 6.0)}),
        ("mahalanobis", {"VI": np.diag(np.arange(1.0, 6.0)) + 0.3}),
    ],
)
def test_metrics_with_parameters(metric: str, params: dict[str, Any]) -> None:
    X, Q = rng.normal(size=(200, 5)), rng.normal(size=(20, 5))
    wanted, order = by_hand(cdist(Q, X, metric, **params), 6)
    for algorithm in ("brute", "ball_tree"):
        model = NearestNeighbors(metric=metric, metric_params=params, algorithm=algorithm, p=None).fit(X)
        distances, rows = model.kneighbors(Q, 6)
        np.testing.assert_array_equal(rows, order)
        np.testing.assert_allclose(distances, wanted, rtol=1e-12)


def test_haversine_is_the_angle_between_places() -> None:
    places = np.radians(np.stack([rng.uniform(-90, 90, 200), rng.uniform(-180, 180, 200)], axis=1))
    gap = places[:20, None] - places[None]
    half = (
        np.sin(gap[..., 0] / 2) ** 2
        + np.cos(places[:20, 0])[:, None] * np.cos(places[:, 0]) * np.sin(gap[..., 1] / 2) ** 2
    )
    for algorithm in ("brute", "ball_tree"):
        distances, _ = NearestNeighbors(metric="haversine", algorithm=algorithm).fit(places).kneighbors(places[:20], 8)
        np.testing.assert_allclose(distances, np.sort(2 * np.arcsin(np.sqrt(half)), axis=1)[:, :8], atol=1e-7)


@pytest.mark.parametrize("metric", sorted(BALLS - {"pyfunc", "haversine"}))
def test_a_tree_gives_the_bits_of_brute_force(metric: str) -> None:
    X, Q = rng.random((900, 6)), rng.random((50, 6))
    params = {"VI": np.eye(6), "V": np.ones(6)} if metric in {"mahalanobis", "seuclidean"} else {}
    whole = Index(X, metric, {"p": 2.5} if metric in {"minkowski", "p"} else params, "brute")
    for algorithm in ("kd_tree", "ball_tree") if metric in BOXES else ("ball_tree",):
        tree = Index(X, metric, whole.params, algorithm, 8)
        radii = np.full(50, 0.3)
        for found, wanted in zip(tree.nearest(Q, 11), whole.nearest(Q, 11), strict=True):
            np.testing.assert_array_equal(found, wanted)
        for found, wanted in zip(tree.within(Q, radii), whole.within(Q, radii), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_sparse_rows_give_the_bits_of_dense_ones(metric: str) -> None:
    X, Q = rng.normal(size=(300, 40)), rng.normal(size=(30, 40))
    X[rng.random(X.shape) < 0.8] = 0
    Q[rng.random(Q.shape) < 0.8] = 0
    dense = NearestNeighbors(metric=metric, algorithm="brute").fit(X).kneighbors(Q, 9)
    thin = NearestNeighbors(metric=metric).fit(sparse.csr_matrix(X)).kneighbors(sparse.csc_matrix(Q), 9)
    for found, wanted in zip(thin, dense, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("algorithm", ["brute", "kd_tree", "ball_tree"])
def test_permuting_rows_only_relabels_them(algorithm: str) -> None:
    X, Q = rng.normal(size=(800, 4)), rng.normal(size=(40, 4))
    order = rng.permutation(len(X))
    before = NearestNeighbors(algorithm=algorithm).fit(X).kneighbors(Q)
    after = NearestNeighbors(algorithm=algorithm).fit(X[order]).kneighbors(Q)
    np.testing.assert_array_equal(order[after[1]], before[1])
    np.testing.assert_array_equal(after[0], before[0])


@pytest.mark.parametrize("kind", ["brute", "kd_tree", "products"])
def test_the_number_of_threads_changes_nothing(kind: str, thread_count: int) -> None:
    X, Q = np.random.default_rng(1).normal(size=(5000, 12)), np.random.default_rng(2).normal(size=(300, 12))

    def found() -> Any:
        if kind == "products":
            return _core.product_search(X, "euclidean", *images(X)).nearest(Q, False, 6)
        return NearestNeighbors(algorithm=kind, n_neighbors=6).fit(X).kneighbors(Q)

    with tutelage.threads(1):
        wanted = found()
    with tutelage.threads(thread_count):
        for one, other in zip(found(), wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_radius_itself_belongs_to_the_neighbours() -> None:
    X = whole_numbers(400, 3, 6)
    distances = cdist(X[:30], X)
    model = NearestNeighbors().fit(X)
    for radius in (0.0, 1.0, 3.0, np.inf):
        rows = model.radius_neighbors(X[:30], radius, return_distance=False)
        for found, line in zip(rows, distances, strict=True):
            np.testing.assert_array_equal(found, np.flatnonzero(line <= radius))


@pytest.mark.parametrize("make", [lambda: KNeighborsClassifier(4), lambda: KNeighborsRegressor(4, weights="distance")])
def test_predicting_the_rows_themselves_is_leave_one_out(make: Any) -> None:
    X, y = whole_numbers(60, 2, 3), rng.integers(0, 3, 60)
    wanted = [make().fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0] for i in range(60)]
    np.testing.assert_array_equal(make().fit(X, y).predict(None), wanted)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: 1 / (1 + d)])
@pytest.mark.parametrize("learner", [KNeighborsClassifier, KNeighborsRegressor])
def test_one_search_serves_every_k(learner: Any, weights: Any) -> None:
    X, Q, y = whole_numbers(80, 3), whole_numbers(25, 3), rng.integers(0, 3, 80)
    found = predictions_for_every_k(learner(weights=weights).fit(X, y), Q, 12)
    for k in range(1, 13):
        np.testing.assert_array_equal(found[k - 1], learner(k, weights=weights).fit(X, y).predict(Q))


def test_scores_for_every_k_are_those_of_refitting() -> None:
    from sklearn.model_selection import KFold, cross_val_score

    X, y = whole_numbers(70, 3), rng.integers(0, 2, 70)
    folds = KFold(5)
    found = scores_for_every_k(KNeighborsClassifier(), X, y, largest=9, cv=folds)
    wanted = [cross_val_score(KNeighborsClassifier(k), X, y, cv=folds).mean() for k in range(1, 10)]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    left_out = scores_for_every_k(KNeighborsClassifier(), X, y, largest=9)
    np.testing.assert_allclose(left_out, [KNeighborsClassifier(k).fit(X, y).score(None, y) for k in range(1, 10)])
    assert left_out[best_k(KNeighborsClassifier(), X, y, largest=9) - 1] == left_out.max()


def test_a_condensed_set_classifies_all_the_others() -> None:
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    kept = condensed(X, y)
    assert len(kept) < 150
    np.testing.assert_array_equal(KNeighborsClassifier(1).fit(X[kept], y[kept]).predict(X), y)


def test_an_edited_set_holds_the_rows_that_their_neighbours_confirm() -> None:
    X = np.concatenate([rng.normal(-3, 1, (60, 2)), rng.normal(3, 1, (60, 2))])
    y = np.repeat([0, 1], 60)
    y[7] = 1
    kept = edited(X, y)
    assert 7 not in kept
    assert len(kept) > 110


def test_strings_are_compared_by_edits() -> None:
    def reference(a: str, b: str) -> int:
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            row, above = [i], row
            for j, z in enumerate(b, 1):
                row.append(min(above[j - 1] + (x != z), above[j] + 1, row[j - 1] + 1))
        return row[-1]

    words = ["", "kitten", "sitting", "mitten", "naïve", "naive", "😀a", "a"] + [
        "".join(rng.choice(list("abc"), 5)) for _ in range(40)
    ]
    distances, rows = Index(np.array(words, dtype=object), "edit", {}, "brute").nearest(None, 6)
    wanted = np.array([[reference(a, b) for b in words] for a in words], dtype=float)
    for found, reference_value in zip((distances, rows), by_hand(wanted, 6), strict=True):
        np.testing.assert_array_equal(found, reference_value)
    model = KNeighborsClassifier(1, metric="edit").fit(words[1:4], ["k", "s", "m"])
    np.testing.assert_array_equal(model.predict(["kittens", "sittin"]), ["k", "s"])


def test_gower_leaves_missing_values_out() -> None:
    X = np.array([[0.0, 0.0, 1.0], [10.0, np.nan, 1.0], [5.0, 2.0, 2.0], [np.nan, 4.0, 0.0]])
    query = np.array([[5.0, np.nan, 1.0]])
    model = NearestNeighbors(metric="gower", metric_params={"categorical": [2]}, n_neighbors=4).fit(X)
    distances, rows = model.kneighbors(query)
    np.testing.assert_array_equal(rows, [[0, 1, 2, 3]])
    np.testing.assert_allclose(distances, [[0.25, 0.25, 0.5, 1.0]])


def test_gower_reads_tables_of_numbers_and_categories() -> None:
    import pandas as pd

    table = pd.DataFrame(
        {"age": [20.0, 30.0, None, 40.0], "town": ["Rome", None, "Oslo", "Rome"], "pet": ["cat", "cat", "dog", "dog"]}
    )
    model = KNeighborsClassifier(1, metric="gower").fit(table, ["a", "b", "c", "d"])
    distances, rows = model.kneighbors(pd.DataFrame({"age": [40.0], "town": ["Bonn"], "pet": ["cat"]}), 4)
    np.testing.assert_array_equal(rows, [[1, 0, 3, 2]])
    np.testing.assert_allclose(distances, [[0.25, 2 / 3, 2 / 3, 1.0]])


def test_nan_euclidean_is_scikit_learns() -> None:
    from sklearn.metrics.pairwise import nan_euclidean_distances

    X = rng.normal(size=(50, 6))
    X[rng.random(X.shape) < 0.2] = np.nan
    distances, _ = NearestNeighbors(metric="nan_euclidean").fit(X).kneighbors(X, 4)
    np.testing.assert_allclose(distances, np.sort(nan_euclidean_distances(X), axis=1)[:, :4], atol=1e-7)


def test_a_zero_vector_is_at_the_cosine_distance_one_from_everything() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    distances, rows = NearestNeighbors(metric="cosine", n_neighbors=4).fit(X).kneighbors([[0.0, 0.0], [3.0, 0.0]])
    np.testing.assert_array_equal(distances, [[1, 1, 1, 1], [0, 0, 1, 1]])
    np.testing.assert_array_equal(rows, [[0, 1, 2, 3], [1, 2, 0, 3]])


@pytest.mark.parametrize("exclude", [False, True])
def test_a_function_of_two_rows_is_a_metric(exclude: bool) -> None:
    X = whole_numbers(40, 3)
    called = Index(X, lambda a, b: np.abs(a - b).sum(), {}, "brute")
    named = Index(X, "manhattan", {}, "brute")
    for found, wanted in zip(
        called.nearest(None, 5, exclude=exclude), named.nearest(None, 5, exclude=exclude), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    radii = np.full(40, 2.0)
    for found, wanted in zip(
        called.within(None, radii, exclude=exclude), named.within(None, radii, exclude=exclude), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)


def test_hard_cases_have_answers_or_sentences() -> None:
    X = whole_numbers(6, 2)
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit"):
        KNeighborsClassifier(7).fit(X, [0, 1] * 3).predict(X)
    assert np.all(KNeighborsClassifier(3).fit(X, np.ones(6)).predict(X) == 1)
    with pytest.raises(ValueError, match="No neighbors found"):
        RadiusNeighborsClassifier(0.1).fit(X, [0, 1] * 3).predict([[99.0, 99.0]])
    with pytest.raises(ValueError, match="NaN"):
        KNeighborsClassifier(1).fit(X, [0, 1] * 3).predict([[np.nan, 0.0]])
    with pytest.raises(ValueError, match="feature"):
        KNeighborsClassifier(1).fit(np.zeros((3, 0)), [0, 1, 0])
    constant = NearestNeighbors(n_neighbors=3).fit(np.ones((5, 2)))
    np.testing.assert_array_equal(constant.kneighbors([[1.0, 1.0]], return_distance=False), [[0, 1, 2]])
    locked = X.copy()
    locked.setflags(write=False)
    single = NearestNeighbors(n_neighbors=2).fit(locked.astype(np.float32)).kneighbors(locked)
    for found, wanted in zip(single, NearestNeighbors(n_neighbors=2).fit(locked).kneighbors(locked), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_model_survives_pickling() -> None:
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    for algorithm in ("brute", "kd_tree"):
        model = KNeighborsClassifier(algorithm=algorithm).fit(X, y)
        model.predict(X)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))

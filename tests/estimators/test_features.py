"""Feature maps: every map obeys the conventions, keeps its input, names its columns, and computes what it says."""

from __future__ import annotations

import pickle
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks

from tutelage.features import Basis, Buckets, Conjunctions, OneHot, Polynomial, Squares, Standardise


class Total:
    """A function of a row whose name is the same in every process."""

    def __call__(self, X: Any) -> Any:
        return X.sum(axis=1)

    def __repr__(self) -> str:
        return "Total()"


MAPS = [
    Polynomial(),
    Polynomial(3, interactions_only=True, constant=True),
    Conjunctions(),
    Conjunctions(3, negations=True, min_count=2),
    Basis(),
    Basis(["x", "sin", ("sum", Total())]),
    Squares(),
    Buckets(),
    Buckets(4, missing="bucket", sparse_output=False),
    Buckets(encode="ordinal", strategy="uniform"),
    OneHot(),
    OneHot(unknown="other", missing="ignore", sparse_output=False),
    OneHot(unknown="ignore", missing="error", drop_first=True),
    Standardise(),
    Standardise(centre=False),
]
SPARSE = [Polynomial(), Polynomial(3), Conjunctions(3), Squares(), Standardise(centre=False)]

RNG = np.random.default_rng(0)
ROWS = np.where(RNG.random((40, 5)) < 0.6, np.round(RNG.normal(size=(40, 5)), 1), 0.0)


def dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


# The array API check needs an environment variable at start-up, and skips itself without it.
@pytest.mark.filterwarnings("ignore:Skipping check:sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(MAPS)
def test_scikit_learns_checks_hold(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_parameters_are_validated(feature_map: Any) -> None:
    check_param_validation(type(feature_map).__name__, feature_map)


@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_every_column_has_a_name_of_its_own(feature_map: Any) -> None:
    fitted = clone(feature_map).fit(ROWS)
    names = fitted.get_feature_names_out(["a", "b", "c", "d", "e"])
    assert len(set(names)) == len(names) == fitted.transform(ROWS).shape[1]
    assert names.dtype == object


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_frames_in_give_named_frames_out(feature_map: Any, library: str) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({name: ROWS[:, number] for number, name in enumerate("abcde")})
    fitted = clone(feature_map).set_output(transform=library).fit(frame)
    if sparse.issparse(clone(feature_map).fit_transform(ROWS)):
        with pytest.raises(ValueError, match="sparse"):
            fitted.transform(frame)
        fitted.set_params(sparse_output=False)
    result = fitted.transform(frame)
    assert isinstance(result, frames.DataFrame)
    assert list(result.columns) == list(fitted.get_feature_names_out())
    np.testing.assert_allclose(result.to_numpy(), dense(clone(feature_map).fit_transform(ROWS)), rtol=1e-12)


@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_the_input_is_only_read(feature_map: Any) -> None:
    X = ROWS.copy()
    X.flags.writeable = False
    expected = dense(clone(feature_map).fit_transform(ROWS))
    np.testing.assert_array_equal(dense(clone(feature_map).fit_transform(X)), expected)
    by_columns = dense(clone(feature_map).fit_transform(np.asfortranarray(X)))
    np.testing.assert_allclose(by_columns, expected, rtol=1e-12)  # sums in another order
    assert np.array_equal(X, ROWS)


@pytest.mark.parametrize("feature_map", SPARSE, ids=str)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_sparse_rows_give_the_same_columns_and_stay_sparse(
    feature_map: Any, container: Any, index: type, number: type
) -> None:
    X = container(ROWS.astype(number))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    result = clone(feature_map).fit_transform(X)
    assert sparse.issparse(result)
    assert result.dtype == number
    expected = clone(feature_map).fit_transform(ROWS.astype(number))
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-6 if number is np.float32 else 1e-13)


@pytest.mark.parametrize("feature_map", [one for one in MAPS if not isinstance(one, OneHot)], ids=str)
def test_single_precision_is_kept(feature_map: Any) -> None:
    assert clone(feature_map).fit_transform(ROWS.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("feature_map", MAPS, ids=str)
def test_a_fitted_map_survives_travel(feature_map: Any) -> None:
    fitted = clone(feature_map).fit(ROWS)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(dense(again.transform(ROWS)), dense(fitted.transform(ROWS)))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("different", [False, True])
def test_polynomials_are_products_in_order(degree: int, different: bool) -> None:
    choose = combinations if different else combinations_with_replacement
    chosen = [c for size in range(1, degree + 1) for c in choose(range(5), size)]
    expected = np.column_stack([ROWS[:, c].prod(axis=1) for c in map(list, chosen)])
    fitted = Polynomial(degree, interactions_only=different).fit(ROWS)
    np.testing.assert_allclose(fitted.transform(ROWS), expected, rtol=1e-13)
    assert fitted.n_output_features_ == len(chosen)
    assert fitted.transform(ROWS).flags.f_contiguous


def test_too_many_products_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"'degree' parameter of Polynomial must be smaller, because 500 features"):
        Polynomial(20).fit(np.ones((1, 500)))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("negations", [False, True])
@pytest.mark.parametrize("least", [0, 1, 6])
def test_conjunctions_are_those_that_hold_often_enough(size: int, negations: bool, least: int) -> None:
    holds = ROWS > 0
    truths = np.hstack([holds, ~holds]) if negations else holds
    expected = {
        " & ".join(("not " if literal >= 5 else "") + "abcde"[literal % 5] for literal in c): truths[:, c].all(axis=1)
        for m in range(1, size + 1)
        for c in map(list, combinations(range(truths.shape[1]), m))
        if len({literal % 5 for literal in c}) == m and truths[:, c].all(axis=1).sum() >= least
    }
    fitted = Conjunctions(size, negations=negations, min_count=least).fit(ROWS)
    names = fitted.get_feature_names_out(list("abcde"))
    assert names.tolist() == list(expected)
    np.testing.assert_array_equal(fitted.transform(ROWS), np.column_stack(list(expected.values())))


def test_conjunctions_that_nothing_supports_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'min_count' parameter of Conjunctions must be at most \d+, the count of"):
        Conjunctions(min_count=41).fit(ROWS)
    with pytest.raises(
        ValueError, match="'min_count' parameter of Conjunctions must be at least 1 for conjunctions of 2"
    ):
        Conjunctions(min_count=0).fit(np.ones((1, 20_000), dtype=np.float32))


def test_basis_functions_of_features_and_of_rows() -> None:
    X = np.abs(ROWS) + 1
    functions = [
        "x",
        "x^-1",
        "x^0.5",
        "log",
        np.cbrt,
        ("norm", lambda X: (X**2).sum(axis=1)),
        ("two", lambda X: X[:, :2]),
    ]
    fitted = Basis(functions).fit(X)
    expected = [X, 1 / X, np.sqrt(X), np.log(X), np.cbrt(X), (X**2).sum(axis=1, keepdims=True), X[:, :2]]
    np.testing.assert_allclose(fitted.transform(X), np.hstack(expected))
    names = fitted.get_feature_names_out(list("abcde")).tolist()
    assert names[::5] == ["a", "a^-1", "a^0.5", "log(a)", "cbrt(a)", "norm"]
    assert names[-2:] == ["two_0", "two_1"]


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (["cosine"], r"'functions' parameter of Basis must be .* The function 'cosine' is none of these"),
        (["x^two"], "The function 'x\\^two' is none of these"),
        ([("a", "b")], "is none of these"),
        ([], "must be a list of at least one function"),
        (["log"], r"basis function 'log' is not finite everywhere: it gives (nan|-inf) for the row \d+, \[.*\]"),
        (["x^-1"], r"basis function 'x\^-1' is not finite everywhere: it gives inf"),
        ([("all", lambda X: X.sum())], r"basis function 'all' must return an array of shape .* found \(\)"),
    ],
)
def test_wrong_basis_functions_are_refused(functions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Basis(functions).fit_transform(ROWS)


@given(
    npst.arrays(float, st.tuples(st.integers(1, 30), st.just(2)), elements=st.integers(-5, 5)),
    st.integers(2, 6),
    st.sampled_from(["quantile", "uniform"]),
)
@settings(deadline=None)
def test_every_value_is_in_the_bucket_that_its_name_says(X: Any, count: int, strategy: Any) -> None:
    fitted = Buckets(count, strategy=strategy).fit(X)
    columns = fitted.transform(X).toarray()
    assert columns.sum(axis=1).tolist() == [2.0] * len(X)
    names = fitted.get_feature_names_out(["a", "b"])
    for number, name in enumerate(names):
        feature = "a" if "a" in name.replace("any", "") else "b"
        edges = fitted.edges_["ab".index(feature)]
        position = [other for other in names if feature in other.replace("any", "")].index(name)
        low, high = np.r_[-np.inf, edges, np.inf][position : position + 2]
        values = X[:, "ab".index(feature)]
        np.testing.assert_array_equal(columns[:, number], (low <= values) & (values < high))
        assert columns[:, number].any() or strategy == "uniform"


def test_quantile_buckets_hold_equally_many_rows() -> None:
    X = RNG.normal(size=(1000, 3))
    counts = Buckets(8).fit_transform(X).toarray().sum(axis=0)
    assert counts.min() >= 124
    assert counts.max() <= 126


def test_missing_values_have_their_own_bucket_on_request() -> None:
    X = np.array([[1.0], [2.0], [np.nan], [3.0]])
    fitted = Buckets(edges=[2], missing="bucket", sparse_output=False).fit(X)
    assert fitted.get_feature_names_out(["a"]).tolist() == ["a < 2", "a >= 2", "a missing"]
    assert fitted.transform(X).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    with pytest.raises(ValueError, match="contains NaN"):
        Buckets().fit(X)


@pytest.mark.parametrize("edges", [[1, 1], [2, 1], [[1], [2]], "ab", [[1, np.nan]], [[[1]]], []])
def test_wrong_edges_are_refused(edges: Any) -> None:
    with pytest.raises(ValueError, match=r"'edges' parameter of Buckets must be"):
        Buckets(edges=edges).fit(np.ones((3, 1)))


def test_one_hot_columns_are_indicators_of_the_values_they_name() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "colour": ["red", "blue", None, "red"],
            "size": [1, 2, 2, 3],
            "price": [0.5, np.nan, 0.5, 1.5],
            "big": [True, False, True, True],
            "day": pandas.to_datetime(["2020-01-02", None, "2020-01-01", "2020-01-01"]),
            "kind": pandas.Categorical(["x", "y", "x", None]),
            "count": pandas.array([1, None, 1, 2], dtype="Int64"),
        }
    )
    fitted = OneHot(sparse_output=False).fit(frame)
    names = fitted.get_feature_names_out().tolist()
    assert names[:6] == ["colour=blue", "colour=red", "colour=missing", "size=1", "size=2", "size=3"]
    result = fitted.transform(frame)
    for feature in frame.columns:
        columns = [number for number, name in enumerate(names) if name.startswith(f"{feature}=")]
        expected = pandas.get_dummies(frame[feature], dummy_na=bool(frame[feature].isna().any()))
        np.testing.assert_array_equal(result[:, columns], expected.to_numpy(dtype=float))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_are_read_alike(library: str) -> None:
    frames = pytest.importorskip(library)
    table = {"colour": ["red", "blue", None], "size": [1, 2, 2]}
    frame = frames.table(table) if library == "pyarrow" else frames.DataFrame(table)
    fitted = OneHot(sparse_output=False).fit(frame)
    assert fitted.get_feature_names_out().tolist() == [
        "colour=blue",
        "colour=red",
        "colour=missing",
        "size=1",
        "size=2",
    ]
    assert fitted.transform(frame).tolist() == [[0, 1, 0, 1, 0], [1, 0, 0, 0, 1], [0, 0, 1, 0, 1]]


TRAINING = [["a", 1], ["b", 2], ["b", 1], ["b", 3]]


@pytest.mark.parametrize(
    ("parameters", "row", "expected"),
    [
        ({}, ["b", 3], [0, 1, 0, 0, 1]),
        ({"drop_first": True}, ["a", 3], [0, 0, 1]),
        ({"unknown": "ignore"}, ["c", 1], [0, 0, 1, 0, 0]),
        ({"unknown": "other"}, ["c", 1], [0, 0, 1, 1, 0, 0, 0]),
        ({"unknown": "other"}, [None, 1], [0, 0, 1, 1, 0, 0, 0]),
        ({"unknown": "other", "missing": "ignore"}, [None, 1], [0, 0, 0, 1, 0, 0, 0]),
        ({"min_count": 2}, ["a", 2], [0, 0]),
        ({"min_count": 2, "unknown": "other"}, ["a", 2], [0, 1, 0, 1]),
    ],
)
def test_unknown_missing_and_rare_values_become_what_was_asked_for(
    parameters: dict[str, Any], row: list[Any], expected: list[int]
) -> None:
    fitted = OneHot(sparse_output=False, **parameters).fit(np.array(TRAINING, dtype=object))
    assert fitted.transform(np.array([row], dtype=object)).tolist() == [expected]


@pytest.mark.parametrize(
    ("parameters", "row", "message"),
    [
        ({}, ["c", 1], r"unknown categories \['c'\] in column 0 during transform. Set unknown='ignore'"),
        ({}, ["a", 9], r"unknown categories \[9\] in column 1"),
        ({}, [None, 1], r"unknown categories \[nan\] in column 0 .* no value was missing in training"),
        ({"missing": "error"}, [None, 1], "Input X contains NaN: the feature 0 in row 0"),
        ({"min_count": 2}, ["c", 1], r"unknown categories \['c'\]"),
    ],
)
def test_unknown_values_are_errors_unless_accepted(parameters: dict[str, Any], row: list[Any], message: str) -> None:
    fitted = OneHot(**parameters).fit(np.array(TRAINING, dtype=object))
    with pytest.raises(ValueError, match=message):
        fitted.transform(np.array([row], dtype=object))


WEIGHTS = RNG.integers(0, 4, size=40).astype(float)


@pytest.mark.parametrize("weight", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("rows", [1, 2, 40, 2500])
def test_standardised_columns_have_mean_zero_and_deviation_one(rows: int, weight: Any) -> None:
    X = np.resize(ROWS, (rows, 5)) * [1, 10, 1e-5, 1e5, 1] + [0, 1e6, 0, 1, 3]
    weights = None if weight is None else np.resize(weight + 1, rows)
    fitted = Standardise().fit(X, sample_weight=weights)
    np.testing.assert_allclose(fitted.mean_, np.average(X, axis=0, weights=weights), rtol=1e-13)
    deviation = np.sqrt(np.average((X - np.average(X, axis=0, weights=weights)) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(fitted.scale_, np.where(deviation > 0, deviation, 1), rtol=1e-9)
    np.testing.assert_allclose(fitted.inverse_transform(fitted.transform(X)), X, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_weights_count_as_repetitions_when_standardising(container: Any) -> None:
    weighted = Standardise(centre=False).fit(container(ROWS), sample_weight=WEIGHTS)
    repeated = Standardise(centre=False).fit(container(np.repeat(ROWS, WEIGHTS.astype(int), axis=0)))
    np.testing.assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-12)
    np.testing.assert_allclose(weighted.scale_, repeated.scale_, rtol=1e-12)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_missing_values_are_left_out_of_the_moments_and_stay(container: Any, weight: Any) -> None:
    X = ROWS.copy()
    X[3, 0] = X[7, 0] = X[5, 2] = np.nan
    fitted = Standardise(centre=False).fit(container(X), sample_weight=weight)
    for column in range(5):
        known = ~np.isnan(X[:, column])
        alone = Standardise().fit(X[known][:, [column]], sample_weight=None if weight is None else weight[known])
        np.testing.assert_allclose([fitted.mean_[column], fitted.scale_[column]], [alone.mean_[0], alone.scale_[0]])
    np.testing.assert_array_equal(np.isnan(dense(fitted.transform(container(X)))), np.isnan(X))


@pytest.mark.parametrize("size", [1e300, 1e-300, 1e-310, 1.7e308])
def test_the_ends_of_the_floating_point_range_are_standardised_too(size: float) -> None:
    z = np.array([[-1.0], [1.0], [1.0], [-1.0]])
    np.testing.assert_allclose(Standardise().fit_transform(size * z), z, rtol=1e-9)
    many = np.tile(size * z, (2000, 1))
    np.testing.assert_allclose(Standardise().fit_transform(many), np.tile(z, (2000, 1)), rtol=1e-9)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e300, 1e-310, -7.7])
@pytest.mark.parametrize("rows", [1, 3, 3000])
def test_constant_columns_become_zero(constant: float, rows: int) -> None:
    fitted = Standardise().fit(np.full((rows, 1), constant))
    assert fitted.scale_.tolist() == [1.0]
    np.testing.assert_allclose(fitted.transform(np.full((1, 1), constant)), 0, atol=abs(constant) * 1e-13)


def test_sparse_rows_cannot_be_centred() -> None:
    with pytest.raises(
        TypeError, match="Sparse data was passed for X, but dense data is required: the 'centre' parameter"
    ):
        Standardise().fit(sparse.csr_array(ROWS))


@pytest.mark.parametrize(("centre", "scale"), [(True, False), (False, True), (False, False)])
def test_parts_of_standardising_can_be_left_out(centre: bool, scale: bool) -> None:
    fitted = Standardise(centre=centre, scale=scale).fit(ROWS)
    expected = (ROWS - centre * ROWS.mean(axis=0)) / (ROWS.std(axis=0) if scale else 1)
    np.testing.assert_allclose(fitted.transform(ROWS), expected, atol=1e-14)
    np.testing.assert_allclose(fitted.inverse_transform(expected), ROWS, atol=1e-14)

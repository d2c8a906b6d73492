"""What all learners share, tested on the smallest learners there are."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import _check_feature_names_in, validate_data

from tutelage.base import Accepts, Classifier, Floats, Regressor, Transformer, draw_seed
from tutelage.parameters import Count, NonNegative, RandomState, Range, Share, Verbosity, fitted, parameter

if TYPE_CHECKING:
    from pathlib import Path


class NearestMean(Classifier):
    """Give every row the class whose mean is nearest, with a handicap for rare classes."""

    accepts = Accepts(sparse=True)

    shrinkage: Annotated[Share, "How far the means move to their centre.", Range(0, 1)] = parameter(
        default=0.0, kw_only=False
    )
    metric: Annotated[Literal["euclidean", "manhattan"], "What near means."] = "euclidean"
    class_weight: Annotated[dict[Any, float] | Literal["balanced"] | None, "Weights of the classes."] = None
    random_state: Annotated[RandomState, "Not used."] = None
    verbose: Annotated[Verbosity, "Not used."] = 0

    means_: Floats = fitted("The mean of each class.")
    prior_: Floats = fitted("The share of each class.")
    spread_: float = fitted("The mean square distance of a row from the mean of its class.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y, weight = self.validate(X, y, sample_weight)
        share = np.zeros((len(self.classes_), X.shape[0]))
        share[y, np.arange(len(y))] = 1.0 if weight is None else weight
        totals = share.sum(axis=1, keepdims=True)
        self.prior_ = totals[:, 0] / totals.sum()
        means = safe_sparse_dot(share, X) / np.where(totals > 0, totals, 1)
        self.means_ = (1 - self.shrinkage) * means + self.shrinkage * means.mean(axis=0)
        distances = ((dense(X) - self.means_[y]) ** 2).sum(axis=1)
        self.spread_ = max(float(np.average(distances, weights=weight)), 1e-12)
        return self

    def predict(self, X: Any) -> Any:
        difference = dense(self.validate_rows(X))[:, None, :] - self.means_
        near = np.abs(difference).sum(axis=2) if self.metric == "manhattan" else (difference**2).sum(axis=2)
        with np.errstate(divide="ignore"):  # nothing is near a class of no weight
            return self.classes_[(near / self.spread_ - 2 * np.log(self.prior_)).argmin(axis=1)]


def dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


class LeastSquares(Regressor):
    """Least squares with a little penalty, by the normal equations."""

    accepts = Accepts(many_outputs=True)

    alpha: Annotated[NonNegative, "Strength of the penalty."] = parameter(default=1e-6, kw_only=False)

    coef_: Floats = fitted("The coefficients.")
    centre_: Floats = fitted("The mean of the rows.")
    mean_: Any = fitted("The mean of the targets.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y, weight = self.validate(X, y, sample_weight)
        weight = np.ones(len(y)) if weight is None else weight
        self.centre_ = np.average(X, axis=0, weights=weight)
        self.mean_ = np.average(y, axis=0, weights=weight)
        Z = X - self.centre_
        gram = (Z.T * weight) @ Z + self.alpha * np.eye(Z.shape[1])
        self.coef_ = np.linalg.solve(gram, (Z.T * weight) @ (y - self.mean_))
        return self

    def predict(self, X: Any) -> Any:
        return (self.validate_rows(X) - self.centre_) @ self.coef_ + self.mean_


class Times(Transformer):
    """Multiply by a number."""

    accepts = Accepts(sparse=True, missing=True)

    number: Annotated[Count, "The number."] = 2

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        self.validate(X)
        return self

    def transform(self, X: Any) -> Any:
        return self.validate_rows(X) * np.float32(self.number)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        return _check_feature_names_in(self, input_features)


TOYS = [NearestMean(), LeastSquares(), Times()]
ROWS = np.random.default_rng(0).normal(size=(12, 3))
LABELS = np.arange(12) % 3


# The array API check needs an environment variable at start-up, and skips itself without it.
@pytest.mark.filterwarnings("ignore:Skipping check:sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(TOYS)
def test_scikit_learns_checks_hold(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: type(toy).__name__)
def test_scikit_learns_check_of_parameter_validation_holds(toy: Any) -> None:
    check_param_validation(type(toy).__name__, toy)


def readonly(X: Any) -> Any:
    X.flags.writeable = False
    return X


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        ROWS.astype(np.float32),
        np.asfortranarray(ROWS),
        np.asfortranarray(ROWS.astype(np.float32)),
        readonly(ROWS.copy()),
        ROWS[::2].repeat(2, axis=0)[:, ::-1],
    ],
)
@pytest.mark.parametrize("toy", [NearestMean(), LeastSquares()])
def test_dense_rows_are_not_copied(toy: Any, X: Any) -> None:
    assert np.shares_memory(toy.validate(X, LABELS).X, X)
    assert np.shares_memory(toy.validate_rows(X), X)


def test_memory_mapped_rows_are_not_copied(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", ROWS)
    X = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert np.shares_memory(NearestMean().validate(X, LABELS).X, X)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("number", [np.float32, np.float64])
def test_sparse_rows_are_not_copied(container: Any, index: type, number: type) -> None:
    X = container(np.where(ROWS > 0, ROWS, 0).astype(number))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    checked = NearestMean().validate(X, LABELS).X
    assert checked.format == X.format
    assert checked.indices.dtype == index
    assert np.shares_memory(checked.data, X.data)
    assert np.shares_memory(checked.indices, X.indices)


def test_untidy_sparse_rows_are_tidied_in_a_copy() -> None:
    X = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    checked = Times().validate(X)
    assert checked.has_canonical_format
    assert checked.toarray().tolist() == [[2.0, 5.0]]
    assert X.data.tolist() == [1.0, 2.0, 4.0]


def test_everything_else_becomes_float64() -> None:
    for X in (ROWS.tolist(), ROWS.astype(np.float16), np.rint(ROWS).astype(int), sparse.coo_array(ROWS)):
        assert NearestMean().validate(X, LABELS).X.dtype == np.float64


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_bring_names(library: str) -> None:
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 1]})
    labels = frames.Series(np.array(["x", "y", "z"])[LABELS])
    model = NearestMean().fit(frame, labels)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 2
    assert set(model.predict(frame)) <= {"x", "y", "z"}
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename({"a": "c"}) if library == "polars" else frame.rename(columns={"a": "c"}))


def test_regressors_get_float64_targets() -> None:
    for y in (LABELS, LABELS.astype(np.float32), LABELS.astype(object), LABELS.tolist(), np.c_[LABELS, LABELS]):
        checked = LeastSquares().validate(ROWS, y).y
        assert checked.dtype == np.float64
        np.testing.assert_array_equal(checked, np.asarray(y, dtype=float))


def test_a_column_of_labels_is_taken_with_a_warning() -> None:
    with pytest.warns(DataConversionWarning):
        assert NearestMean().validate(ROWS, LABELS[:, None]).y.shape == (12,)


def test_weights_may_be_absent_a_number_or_a_vector() -> None:
    model = LeastSquares()
    assert model.validate(ROWS, LABELS).weight is None
    assert model.validate(ROWS, LABELS, 3).weight.tolist() == [3.0] * 12
    weight = np.arange(12.0)
    assert np.shares_memory(model.validate(ROWS, LABELS, weight).weight, weight)


def test_class_weights_multiply_sample_weights() -> None:
    weight = np.arange(1.0, 13.0)
    model = NearestMean(class_weight={0: 2.0, 1: 0.0})
    found = model.validate(ROWS, LABELS, weight).weight
    np.testing.assert_array_equal(found, weight * np.array([2.0, 0.0, 1.0])[LABELS])
    assert weight.tolist() == list(range(1, 13))
    balanced = NearestMean(class_weight="balanced").validate(ROWS, [0] * 9 + [1] * 3).weight
    np.testing.assert_allclose(balanced, [6 / 9] * 9 + [2.0] * 3)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([-1.0] + [1.0] * 11, r"Negative values in data passed to `sample_weight`: the smallest is -1.0. Give"),
        ([0.0] * 12, "at least one non-zero number. All 12 are zero"),
        ([1.0] * 11, r"sample_weight.shape == \(11,\), expected \(12,\)!"),
        ([[1.0] * 12], "Sample weights must be 1D array or scalar, got 2D array"),
        ([np.nan] * 12, "Input sample_weight contains NaN"),
        (["a"] * 12, "could not convert string to float"),
    ],
)
def test_wrong_weights_are_refused(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NearestMean().fit(ROWS, LABELS, weight)


@pytest.mark.parametrize(
    ("y", "weight", "message"),
    [
        ([7] * 12, None, "NearestMean needs samples of at least 2 classes .* only one class: np.int64\\(7\\)"),
        (["a"] * 6 + ["b"] * 6, [0] * 6 + [1] * 6, "only the class np.str_\\('b'\\) has samples of non-zero weight"),
        (np.linspace(0, 1, 12), None, "Unknown label type: continuous"),
        ([np.nan] * 12, None, "Input y contains NaN"),
        (LABELS[:5], None, "inconsistent numbers of samples"),
        (np.c_[LABELS, LABELS], None, "y should be a 1d array"),
        (None, None, "requires y to be passed"),
    ],
)
def test_wrong_labels_are_refused(y: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NearestMean().fit(ROWS, y, weight)


def test_words_are_no_targets() -> None:
    with pytest.raises(ValueError, match="targets y must be numbers for a regressor, found <U1 with the value"):
        LeastSquares().fit(ROWS, ["a", "b"] * 6)


def test_facts_of_a_class_become_tags_and_checks() -> None:
    class Choosy(NearestMean):
        accepts = NearestMean.accepts.but(sparse=False, non_negative=True, binary_only=True)

    tags = Choosy().__sklearn_tags__()
    assert not tags.input_tags.sparse
    assert tags.input_tags.positive_only
    assert not tags.classifier_tags.multi_class
    with pytest.raises(ValueError, match="Negative values in data passed to Choosy"):
        Choosy().fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=r"Only binary classification is supported by Choosy.* found 3 classes"):
        Choosy().fit(abs(ROWS), LABELS)
    with pytest.raises(TypeError, match="dense data is required"):
        Choosy().fit(sparse.csr_array(abs(ROWS)), LABELS)


def test_one_class_is_enough_where_a_learner_says_so() -> None:
    class Tolerant(NearestMean):
        accepts = NearestMean.accepts.but(one_class=True)

    assert Tolerant().fit(ROWS, ["a"] * 12).predict(ROWS).tolist() == ["a"] * 12


def test_many_outputs_are_encoded_by_column() -> None:
    class Many(NearestMean):
        accepts = NearestMean.accepts.but(many_outputs=True)

    model = Many()
    labels = np.c_[LABELS + 5, LABELS % 2]
    codes = model.validate(ROWS, labels).y
    np.testing.assert_array_equal(codes, np.c_[LABELS, LABELS % 2])
    assert [classes.tolist() for classes in model.classes_] == [[5, 6, 7], [0, 1]]


def test_later_parts_must_agree_with_the_first() -> None:
    model = NearestMean()
    first = model.validate(ROWS, LABELS + 1, classes=[0, 1, 2, 3])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert first.y.tolist() == (LABELS + 1).tolist()
    assert model.validate(ROWS, LABELS, reset=False).y.tolist() == LABELS.tolist()
    with pytest.raises(ValueError, match=r"target label\(s\) \[4\]"):
        model.validate(ROWS, LABELS + 2, reset=False)
    with pytest.raises(ValueError, match="2 features, but NearestMean is expecting 3"):
        model.validate(ROWS[:, :2], LABELS, reset=False)


def test_nothing_is_predicted_before_the_fit() -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        NearestMean().predict(ROWS)


def test_parameters_are_checked_before_the_data_unless_scikit_learn_is_told_not_to() -> None:
    with pytest.raises(ValueError, match="'metric' parameter of NearestMean"):
        NearestMean(metric="far").fit("no data", None)  # type: ignore[arg-type]
    with config_context(skip_parameter_validation=True):
        NearestMean(metric="far").fit(ROWS, LABELS)  # type: ignore[arg-type]


def test_weights_are_routed() -> None:
    with config_context(enable_metadata_routing=True):
        model = NearestMean().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"shrinkage": [0.0, 1.0]}, cv=2)
        search.fit(ROWS, LABELS % 2, sample_weight=1.0 + LABELS % 2)
        assert search.best_estimator_.prior_.tolist() == [0.5, 0.5]


def test_a_seed_depends_on_the_random_state_alone() -> None:
    assert draw_seed(3) == draw_seed(3) != draw_seed(4)
    state = np.random.RandomState(0)
    assert draw_seed(state) != draw_seed(state)


class ManyParameters(NearestMean):
    """As many parameters as a large learner has."""

    a: NonNegative = 1.0
    b: NonNegative = 1.0
    c: Count | None = None
    d: Share | Count = 1
    e: Literal["x", "y"] = "x"
    f: bool = False
    g: RandomState = None

    constant: ClassVar[int] = 3


@pytest.mark.slow
def test_a_small_fit_pays_little_beyond_scikit_learns_validation() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.ones(len(y))
    model = ManyParameters(0.5, a=2.0, b=3.0, c=4, d=0.5, e="y", f=True, g=0, class_weight="balanced")

    def best(run: Any) -> float:
        times = []
        for _ in range(200):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return min(times)

    ours = best(lambda: model.validate(X, y, weight))
    theirs = best(lambda: validate_data(model, X, y, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32)))
    assert ours - theirs < 1e-3

"""Every linear learner on data that break learners: what cannot be fitted says so, and the rest is fitted right."""

from __future__ import annotations

import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

import tutelage
from tutelage import (
    BridgeRegressor,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    Lasso,
    LassoCV,
    LeastSquaresClassifier,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNet,
    MultiTaskLasso,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    TweedieRegressor,
)

if TYPE_CHECKING:
    from pathlib import Path

CV = {"l1_ratios": (0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
LEARNERS: dict[str, Any] = {
    "LinearRegression": LinearRegression(),
    "LinearRegression-positive": LinearRegression(positive=True),
    "Ridge": Ridge(),
    "Ridge-positive": Ridge(positive=True),
    "RidgeCV": RidgeCV(),
    "Lasso": Lasso(alpha=0.01),
    "ElasticNet": ElasticNet(alpha=0.01),
    "LassoCV": LassoCV(alphas=10, cv=3),
    "ElasticNetCV": ElasticNetCV(alphas=10, cv=3),
    "MultiTaskLasso": MultiTaskLasso(alpha=0.01),
    "MultiTaskElasticNet": MultiTaskElasticNet(alpha=0.01),
    "BridgeRegressor": BridgeRegressor(alpha=0.01, q=1.5),
    "PoissonRegressor": PoissonRegressor(),
    "GammaRegressor": GammaRegressor(),
    "TweedieRegressor": TweedieRegressor(power=1.5),
    "RidgeClassifier": RidgeClassifier(),
    "LeastSquaresClassifier": LeastSquaresClassifier(alpha=1e-3),
    "LogisticRegression": LogisticRegression(),
    "LogisticRegression-l1": LogisticRegression(l1_ratio=1.0, solver="saga"),
    "LogisticRegressionCV": LogisticRegressionCV(Cs=3, cv=3, **CV),
}

every = pytest.mark.parametrize("name", LEARNERS)


def data(name: str, n: int = 30, d: int = 4, seed: int = 0) -> tuple[Any, Any]:
    """Rows and targets that the learner can take: classes, positive amounts, or several targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ np.array([1.0, -0.5, 0.25, 0.0])[:d] + 0.3 * rng.normal(size=n)
    if is_classifier(LEARNERS[name]):
        return X, np.where(score > 0, "yes", "no")
    if name.startswith("MultiTask"):
        return X, np.column_stack([score, -score + 0.1 * rng.normal(size=n)])
    return X, np.exp(score / 2)


def fit(name: str, X: Any, y: Any, weight: Any = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(LEARNERS[name]).fit(X, y, sample_weight=weight)


def fitted_or_none(name: str, X: Any, y: Any, words: str) -> Any:
    """A fit, or None where it was refused in these words; any other error is an error."""
    try:
        return fit(name, X, y)
    except ValueError as error:
        if re.search(words, str(error)):
            return None
        raise


def near(model: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
    np.testing.assert_allclose(np.asarray(model.coef_), np.asarray(other.coef_), rtol=rtol, atol=atol)
    np.testing.assert_allclose(np.asarray(model.intercept_), np.asarray(other.intercept_), rtol=rtol, atol=atol)


def test_every_linear_learner_is_here() -> None:
    here = {type(model).__name__ for model in LEARNERS.values()}
    public = {name for name in tutelage.CHAPTERS["linear"] if isinstance(getattr(tutelage, name), type)}
    ours = {name for name in public if getattr(tutelage, name).__module__ in MODULES}
    assert ours <= here


MODULES = {type(model).__module__ for model in LEARNERS.values()}


# ---- what every fit proves -----------------------------------------------------------------------------------------


@every
def test_a_fit_carries_its_certificate(name: str) -> None:
    model = fit(name, *data(name))
    certificate = model.certificate_
    assert certificate.reason.trustworthy
    assert certificate.measure <= max(getattr(model, "tol", 1e-4), 1e-9)
    assert math.isfinite(certificate.primal)


# ---- the same data in other clothes --------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("dress", ["fortran", "float32", "csr", "csc", "int64", "readonly", "memmap", "strided"])
def test_the_same_rows_give_the_same_model(name: str, dress: str, tmp_path: Path) -> None:
    X, y = data(name)
    X = np.round(X * 64) / 64  # exact in float32
    X[np.abs(X) < 0.5] = 0.0
    expected = fit(name, X, y)
    dressed: Any = X
    if dress == "fortran":
        dressed = np.asfortranarray(X)
    elif dress == "float32":
        dressed = X.astype(np.float32)
    elif dress in ("csr", "csc"):
        dressed = sparse.csr_array(X) if dress == "csr" else sparse.csc_matrix(X)
    elif dress == "int64":
        dressed = sparse.csr_array(X)
        dressed.indices, dressed.indptr = dressed.indices.astype(np.int64), dressed.indptr.astype(np.int64)
    elif dress == "readonly":
        dressed = X.copy()
        dressed.flags.writeable = False
    elif dress == "memmap":
        file = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=X.shape)
        file[:] = X
        file.flush()
        dressed = np.memmap(tmp_path / "X", dtype=np.float64, mode="r", shape=X.shape)
    else:
        dressed = np.repeat(X, 2, axis=1)[:, ::2]
    before = X.copy()
    model = fit(name, dressed, y)
    loose = dress == "float32"
    near(model, expected, rtol=1e-3 if loose else 1e-5, atol=1e-4 if loose else 1e-6)
    assert model.coef_.dtype == (np.float32 if loose and "CV" not in name.replace("RidgeCV", "") else model.coef_.dtype)
    np.testing.assert_array_equal(X, before)


@every
def test_threads_do_not_change_a_bit(name: str) -> None:
    X, y = data(name, n=300)
    models = []
    for count in (1, 2, 7):
        with tutelage.threads(count):
            models.append(fit(name, X, y))
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)


# ---- weights -------------------------------------------------------------------------------------------------------

# Folds are cut by rows, so that a copy is not a weight there; RidgeCV leaves out one row, not its copies.
by_weights = pytest.mark.parametrize("name", [name for name in LEARNERS if "CV" not in name])


@by_weights
def test_a_weight_of_k_is_k_copies(name: str) -> None:
    X, y = data(name)
    times = np.random.default_rng(1).integers(0, 3, size=len(y))
    near(fit(name, X, y, times.astype(float)), fit(name, np.repeat(X, times, axis=0), np.repeat(y, times, axis=0)))


@every
def test_rows_of_weight_zero_are_not_there(name: str) -> None:
    X, y = data(name)
    if "CV" in name:
        pytest.skip("folds are cut by rows")
    weight = np.ones(len(y))
    weight[::3] = 0.0
    spoiled = X.copy()
    spoiled[::3] *= 100.0
    near(fit(name, spoiled, y, weight), fit(name, X[weight > 0], y[weight > 0]))


@every
def test_weights_that_mean_nothing_are_refused(name: str) -> None:
    X, y = data(name)
    for weight, words in (
        (-np.ones(len(y)), r"sample_weight.*smallest is -1"),
        (np.zeros(len(y)), "at least one non-zero"),
        (np.ones(len(y) + 1), "sample_weight"),
        (np.full(len(y), np.nan), "sample_weight"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(name, X, y, weight)


# ---- numbers -------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(name: str, bad: float) -> None:
    X, y = data(name)
    spoiled = X.copy()
    spoiled[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(name, spoiled, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fit(name, sparse.csr_array(spoiled), y)
    if not is_classifier(LEARNERS[name]):
        y = y.copy()
        y[0] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            fit(name, X, y)


@every
@pytest.mark.parametrize("size", [1e300, 1e160, 5e-324, 1e-200])
def test_huge_and_tiny_numbers_end_in_a_finite_fit_or_an_error(name: str, size: float) -> None:
    X, y = data(name)
    X[:, 1] *= size
    if size == 5e-324:
        X[:, 1] = np.where(X[:, 0] > 0, size, 0.0)
    if size > 1:
        model = fitted_or_none(name, X, y, r"so large that.*Scale|too large to square in column 1.*; impute or rescale")
    else:
        model = fit(name, X, y)
    if model is not None:
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_).all()
        assert math.isfinite(model.certificate_.primal)


@every
@pytest.mark.parametrize("kind", ["constant", "duplicated", "empty", "large mean"])
def test_columns_that_say_nothing_new_change_no_prediction(name: str, kind: str) -> None:
    if "positive" in name and kind == "duplicated":
        pytest.skip("two equal columns share one coefficient in many ways")
    X, y = data(name, n=60)
    more = {
        "constant": np.full(len(X), 3.0),
        "duplicated": X[:, 0],
        "empty": np.zeros(len(X)),
        "large mean": 1e6 + X[:, 0],
    }[kind]
    wide = np.column_stack([X, more])
    model = fit(name, wide, y)
    assert np.isfinite(model.coef_).all()
    plain = fit(name, X, y)
    if kind in ("constant", "empty"):
        scores = (m.decision_function if is_classifier(m) else m.predict for m in (model, plain))
        got, expected = (score(rows) for score, rows in zip(scores, (wide, X), strict=True))
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


# ---- shapes --------------------------------------------------------------------------------------------------------


@every
def test_one_row(name: str) -> None:
    X, y = data(name)
    if ("CV" in name and name != "RidgeCV") or (is_classifier(LEARNERS[name]) and name != "RidgeClassifier"):
        with pytest.raises(ValueError, match=r"only one class|Cannot have number of splits|n_splits=3"):
            fit(name, X[:1], y[:1])
        return
    predictions = fit(name, X[:1], y[:1]).predict(X)
    assert set(predictions) == {y[0]} if name == "RidgeClassifier" else np.isfinite(predictions).all()


@every
def test_one_column(name: str) -> None:
    X, y = data(name)
    model = fit(name, X[:, :1], y)
    assert np.shape(model.coef_)[-1] == 1


@every
def test_no_rows_and_no_columns_are_refused(name: str) -> None:
    X, y = data(name)
    with pytest.raises(ValueError, match=r"0 sample|minimum of 1"):
        fit(name, X[:0], y[:0])
    with pytest.raises(ValueError, match="0 feature"):
        fit(name, X[:, :0], y)


@every
def test_wrong_shapes_are_refused(name: str) -> None:
    X, y = data(name)
    with pytest.raises(ValueError, match=r"2D|dim|1D"):
        fit(name, X[:, 0], y)
    with pytest.raises(ValueError, match="inconsistent"):
        fit(name, X, y[:-1])
    model = fit(name, X, y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.predict(X[:, :3])


@every
def test_ten_rows_and_a_million_sparse_columns(name: str) -> None:
    if "CV" in name and name != "RidgeCV":
        pytest.skip("the same core as the learner without CV, many times over")
    rng = np.random.default_rng(0)
    n, d = 10, 1_000_000
    X = sparse.random_array((n, d), density=2e-5, format="csr", rng=rng)
    _, y = data(name, n=n)
    model = fit(name, X, y)
    assert np.shape(model.coef_)[-1] == d
    assert np.isfinite(model.coef_).all()


# ---- classes -------------------------------------------------------------------------------------------------------

classifiers = pytest.mark.parametrize("name", [name for name in LEARNERS if is_classifier(LEARNERS[name])])


@classifiers
def test_two_hundred_classes(name: str) -> None:
    if "CV" in name:
        pytest.skip("the same core as LogisticRegression, many times over")
    if name.endswith("l1"):
        pytest.skip("the same path through the checks")
    rng = np.random.default_rng(0)
    centres = 5.0 * rng.normal(size=(200, 8))
    y = np.repeat(np.arange(200), 3)
    X = centres[y] + 0.1 * rng.normal(size=(600, 8))
    model = fit(name, X, y)
    assert len(model.classes_) == 200
    assert model.predict(X).shape == (600,)
    if name == "LogisticRegression":
        assert model.score(X, y) > 0.9


@classifiers
def test_one_class(name: str) -> None:
    X, _ = data(name)
    y = np.full(len(X), "only")
    if name == "RidgeClassifier":
        assert set(fit(name, X, y).predict(X)) == {"only"}
        return
    with pytest.raises(ValueError, match=r"only one class: .*only"):
        fit(name, X, y)


def test_separable_classes_without_a_penalty_say_so() -> None:
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    for model in (LogisticRegression(C=np.inf), LogisticRegression(C=np.inf, fit_intercept=False)):
        with pytest.warns(ConvergenceWarning, match=r"separated perfectly.*Add a penalty, or a stronger one"):
            model.fit(X, y)
        assert model.score(X, y) == 1.0
        assert np.isfinite(model.coef_).all()
    with pytest.warns(ConvergenceWarning, match="separated perfectly"):
        LogisticRegression(C=np.inf).fit(np.vander([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0], 3), [0, 0, 1, 1, 2, 2])


# ---- parameters ----------------------------------------------------------------------------------------------------


@every
def test_unknown_names_and_values_out_of_range_are_refused(name: str) -> None:
    X, y = data(name)
    model = LEARNERS[name]
    with pytest.raises(ValueError, match="Invalid parameter 'alpa'"):
        clone(model).set_params(alpa=1)
    kind = type(model).__name__
    wrong = {"fit_intercept": "no", "tol": -1.0, "alpha": -1.0, "solver": "bfgs", "max_iter": -3, "C": 0.0, "cv": "x"}
    for parameter, value in wrong.items():
        if parameter in model.get_params():
            with pytest.raises((ValueError, TypeError), match=rf"'{parameter}'.*of {kind} must be .*Got"):
                clone(model).set_params(**{parameter: value}).fit(X, y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LogisticRegression(l1_ratio=1.0), r"lbfgs supports only 'l2' or None penalties.*use solver='auto'"),
        (LogisticRegression(l1_ratio=1.0, solver="newton"), r"'newton' cannot.*l1.*use solver="),
        (LogisticRegression(dual=True), "dual=False.*leave dual out"),
        (LogisticRegression(solver="liblinear", C=np.inf), "use solver='auto'"),
        (Ridge(alpha=[1.0, 2.0]), r"2 != 1\. Give one alpha"),
        (Ridge(solver="svd", positive=True), "solver='svd' does not support positive.*positive=False"),
        (RidgeCV(cv=3, store_cv_results=True), "leave cv out"),
        (BridgeRegressor(start=[1.0]), "one coefficient for each of the 4 columns of X, found 1"),
        (LassoCV(alphas=[-1.0]), r"alphas\[0\] == -1"),
    ],
    ids=repr,
)
def test_impossible_combinations_say_the_way_out(model: Any, words: str) -> None:
    X, y = data("RidgeClassifier" if is_classifier(model) else "Ridge")
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


@pytest.mark.parametrize("model", [PoissonRegressor(), GammaRegressor(), TweedieRegressor(power=3)], ids=repr)
def test_targets_that_no_distribution_has_are_refused(model: Any) -> None:
    X, y = data("Ridge")
    y[2] = -1.0
    with pytest.raises(ValueError, match=r"out of the valid range.*the smallest is -1.*drop these rows"):
        model.fit(X, y)

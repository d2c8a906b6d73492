"""The law of the fold paths: whatever a learner says of its folds are the numbers of refitting."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tutelage as t
from tutelage.fold_paths import FoldPath, NoFoldPath, fold_codes, grouped, without_each
from tutelage.selection.engine import announced, evaluate, knows_folds
from tutelage.selection.fitting import Scoring


class Case(NamedTuple):
    """A learner, candidates, and what kind of rows and targets it is tried on."""

    model: Any
    grid: list[dict[str, Any]]
    rows: str = "numbers"
    target: str = "number"
    weights: bool = False
    methods: tuple[str, ...] = ("predict",)
    near: float = 1e-9


ALPHAS = [{"alpha": alpha} for alpha in (1e-3, 1.0, 100.0)]
CS = [{"C": C} for C in (1e-3, 1.0, 100.0)]
CLASS = ("predict", "predict_proba")
SCORES = ("predict", "decision_function")
COUNTS = [{"alpha": alpha} for alpha in (0.1, 1.0)]

CASES = {
    "ridge": Case(t.Ridge(), ALPHAS),
    "ridge, weights": Case(t.Ridge(), ALPHAS, weights=True),
    "ridge, two targets": Case(t.Ridge(), ALPHAS, target="numbers"),
    "ridge, another parameter": Case(t.Ridge(), [*ALPHAS, {"alpha": 2.0, "fit_intercept": False}]),
    "ridge, float32": Case(t.Ridge(), ALPHAS, rows="float32", near=1e-4),
    "ridge, sparse": Case(t.Ridge(), ALPHAS, rows="sparse"),
    "ridge, wide": Case(t.Ridge(), ALPHAS, rows="wide"),
    "ridge classifier": Case(t.RidgeClassifier(), ALPHAS, target="classes", methods=SCORES),
    "ridge classifier, two": Case(t.RidgeClassifier(), ALPHAS, target="signs", weights=True, methods=SCORES),
    "least squares": Case(t.LinearRegression(), [{}, {"fit_intercept": False}], target="numbers"),
    "least squares, weights": Case(t.LinearRegression(), [{}], weights=True),
    "logistic": Case(t.LogisticRegression(tol=1e-10), CS, target="signs", methods=CLASS, near=1e-6),
    "logistic, weights": Case(
        t.LogisticRegression(tol=1e-10), CS, target="signs", weights=True, methods=CLASS, near=1e-6
    ),
    "logistic, no intercept": Case(
        t.LogisticRegression(tol=1e-10, fit_intercept=False), CS, target="signs", methods=CLASS, near=1e-6
    ),
    "logistic, classes": Case(t.LogisticRegression(tol=1e-10), CS, target="classes", methods=CLASS, near=1e-6),
    "logistic, balanced": Case(
        t.LogisticRegression(tol=1e-10, class_weight="balanced"), CS, target="signs", methods=CLASS, near=1e-6
    ),
    "logistic, absolute values": Case(
        t.LogisticRegression(solver="auto", tol=1e-10), [*CS, {"C": 1.0, "l1_ratio": 1.0}], target="signs",
        methods=CLASS, near=1e-4,
    ),
    "logistic, sparse": Case(t.LogisticRegression(tol=1e-10), CS, rows="sparse", target="signs", methods=CLASS),
    "Poisson": Case(t.PoissonRegressor(tol=1e-10), ALPHAS, target="counts", near=1e-6),
    "gamma": Case(t.GammaRegressor(tol=1e-10), ALPHAS, target="amounts", weights=True, near=1e-6),
    "lasso": Case(t.Lasso(tol=1e-10), [{"alpha": alpha} for alpha in (0.01, 1.0, 0.1)], near=1e-7),
    "elastic net": Case(
        t.ElasticNet(tol=1e-10), [{"alpha": a, "l1_ratio": r} for a in (0.01, 1.0) for r in (0.2, 0.9)],
        weights=True, near=1e-7,
    ),
    "neighbours": Case(
        t.KNeighborsClassifier(), [{"n_neighbors": k, "weights": w} for k in (1, 9) for w in ("uniform", "distance")],
        target="classes", methods=CLASS, near=0,
    ),
    "neighbours, metrics": Case(
        t.KNeighborsClassifier(), [{"n_neighbors": k, "metric": m} for k in (1, 5) for m in ("manhattan", "cosine")],
        target="signs", methods=CLASS, near=0,
    ),
    "neighbours' mean": Case(t.KNeighborsRegressor(), [{"n_neighbors": k} for k in (1, 3, 10)], near=0),
    "Gaussian Bayes": Case(
        t.GaussianNB(), [{"var_smoothing": v} for v in (1e-9, 0.1)], target="classes", methods=CLASS
    ),
    "Gaussian Bayes, weights": Case(
        t.GaussianNB(), [{"priors": None}, {"priors": [0.2, 0.3, 0.5]}], target="classes", weights=True, methods=CLASS
    ),
    "multinomial Bayes": Case(t.MultinomialNB(), COUNTS, rows="counts", target="classes", methods=CLASS),
    "complement Bayes": Case(t.ComplementNB(), COUNTS, rows="counts", target="classes", methods=CLASS),
    "Bernoulli Bayes": Case(
        t.BernoulliNB(), [{"alpha": 1.0, "binarize": b} for b in (0.0, 2.0)], rows="counts", target="classes",
        methods=CLASS,
    ),
    "multinomial Bayes, sparse": Case(
        t.MultinomialNB(), COUNTS, rows="sparse counts", target="signs", weights=True, methods=CLASS
    ),
    "linear discriminant": Case(
        t.LinearDiscriminantAnalysis(), [{"n_components": k} for k in (1, 2)], target="classes", methods=CLASS
    ),
    "linear discriminant, shrunk": Case(
        t.LinearDiscriminantAnalysis(solver="lsqr"), [{"shrinkage": s} for s in (None, 0.2, 0.9)], target="classes",
        methods=CLASS,
    ),
    "categorical Bayes": Case(
        t.CategoricalNB(), [{"min_categories": n, "alpha": a} for n in (40, 60) for a in (1.0, 0.1)], rows="counts",
        target="classes", methods=CLASS,
    ),
    "families, mixed": Case(
        t.NaiveBayes({0: "poisson", 1: "gaussian", 2: "categorical", 3: "bernoulli", 4: "poisson", 5: "categorical"}),
        [{"alpha": 1.0}, {"alpha": 0.1, "priors": [0.2, 0.3, 0.5]}, {"families": "gaussian"}], rows="counts",
        target="classes", weights=True, methods=CLASS,
    ),
    "normal densities": Case(
        t.GaussianDiscriminant(), [{"covariance": c} for c in ("shared", "own", "diagonal", "spherical", "factor")],
        target="classes", methods=CLASS,
    ),
    "quadratic discriminant": Case(
        t.QuadraticDiscriminantAnalysis(), [{"reg_param": s} for s in (0.0, 0.2)], target="classes", methods=CLASS
    ),
}  # fmt: skip

SIZE = 150


def data(case: Case) -> tuple[Any, Any, Any]:
    """Rows, targets and weights (or None) of a case."""
    random = np.random.default_rng(0)
    columns = 200 if case.rows == "wide" else 6
    X: Any = random.normal(size=(SIZE, columns)) * (1 + np.arange(columns) % 3)
    z = X[:, :6] @ [0.5, -0.3, 0.2, 0.4, 0.0, -0.1]
    if case.rows == "numbers":
        X = X + np.arange(columns) * 3.0
    elif case.rows == "float32":
        X = X.astype(np.float32)
    elif case.rows.endswith("counts"):
        X = random.poisson(np.exp(0.3 * X))
    if case.rows.startswith("sparse"):
        X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    noisy = z + random.normal(size=SIZE)
    y: Any = {
        "number": noisy,
        "numbers": np.column_stack([noisy, noisy**2 / 5]),
        "signs": np.where(noisy > 0, "yes", "no"),
        "classes": np.array(list("abc"))[np.digitize(noisy, [-0.7, 0.7])],
        "counts": random.poisson(np.exp(0.5 * z)).astype(float),
        "amounts": random.gamma(2.0, np.exp(0.5 * z)) + 0.01,
    }[case.target]
    return X, y, random.uniform(0.5, 2.0, SIZE) if case.weights else None


FOLDS = [(train, test) for train, test in KFold(4, shuffle=True, random_state=1).split(np.zeros(SIZE))]


def refitted(case: Case, parameters: dict[str, Any], X: Any, y: Any, weight: Any, train: Any) -> Any:
    model = clone(case.model).set_params(**parameters)
    return model.fit(X[train], y[train], **({} if weight is None else {"sample_weight": weight[train]}))


def check_near(found: Any, wanted: Any, near: float) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape
    if wanted.dtype.kind not in "fc" or near == 0:
        assert np.array_equal(found, wanted)
    else:
        assert np.abs(found - wanted).max() <= near * max(np.abs(wanted).max(), 1.0)


@pytest.mark.parametrize("name", CASES)
def test_paths_give_the_numbers_of_refitting(name: str) -> None:
    case = CASES[name]
    X, y, weight = data(case)
    paths = announced(case.model, X, y, FOLDS, case.grid, {} if weight is None else {"sample_weight": weight})
    assert paths is not None, "the learner must know its folds here"
    fast = 0
    for train, test in FOLDS:
        path = next(paths)
        assert path is not None
        predictions = path.predictions()
        for place, parameters in enumerate(case.grid):
            whole = refitted(case, parameters, X, y, weight, train)
            if predictions is not None:
                check_near(predictions[place], whole.predict(X[test]), case.near)
            model = path.model(place)
            if model is None:
                continue
            fast += 1
            assert type(model) is type(whole)
            assert model.get_params().keys() == whole.get_params().keys()
            assert repr(model) == repr(whole)
            assert set(vars(whole)) <= set(vars(model)) | {"_index"}
            for method in case.methods:
                check_near(getattr(model, method)(X[test]), getattr(whole, method)(X[test]), case.near)
    assert fast >= len(FOLDS) * len(case.grid) - 2


@pytest.mark.parametrize("name", ["ridge", "ridge classifier", "logistic", "neighbours", "Poisson"])
def test_leaving_one_out_gives_the_numbers_of_refitting(name: str) -> None:
    case = CASES[name]
    X, y, _ = data(case)
    X, y = X[:60], y[:60]
    folds = list(LeaveOneOut().split(X))
    paths = announced(case.model, X, y, folds, case.grid, {})
    assert paths is not None
    quick = 0
    for (train, test), path in zip(folds, paths, strict=True):
        predictions = None if path is None else path.predictions()
        quick += predictions is not None
        for place, parameters in enumerate(case.grid):
            whole = refitted(case, parameters, X, y, None, train)
            if predictions is not None:
                check_near(predictions[place], whole.predict(X[test]), max(case.near, 1e-6))
            elif path is not None and (model := path.model(place)) is not None:
                check_near(model.predict(X[test]), whole.predict(X[test]), max(case.near, 1e-6))
    assert quick >= len(folds) * 0.8


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "splitter", [ShuffleSplit(2, test_size=0.3, random_state=0), KFold(2)], ids=["overlapping", "halves"]
)
def test_scores_are_those_of_refitting_on_any_folds(name: str, splitter: Any) -> None:
    case = CASES[name]
    X, y, weight = data(case)
    folds = list(splitter.split(X))
    scorer = check_scoring(case.model)
    params = {} if weight is None else {"sample_weight": weight}
    table = evaluate(case.model, X, y, folds, case.grid, Scoring(scorer, params))
    for parameters, row in zip(case.grid, table, strict=True):
        for (train, test), outcome in zip(folds, row, strict=True):
            wanted = scorer(refitted(case, parameters, X, y, weight, train), X[test], y[test])
            check_near(outcome.test, wanted, max(case.near, 1e-9))


def test_a_fold_without_a_class_is_refitted() -> None:
    X, y, _ = data(CASES["logistic"])
    order = np.argsort(y)
    X, y = X[order], y[order]
    folds = [(np.arange(50, SIZE), np.arange(50)), (np.arange(80), np.arange(80, SIZE))]  # the second misses "yes"
    y[:80] = "no"
    for model in (t.LogisticRegression(), t.GaussianNB(), t.RidgeClassifier(), t.QuadraticDiscriminantAnalysis()):
        words = Scoring(check_scoring(model))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes = evaluate(model, X, y, folds, [{}], words)[0]
        assert outcomes[0].error is None
        if isinstance(model, t.GaussianNB | t.RidgeClassifier):  # which take a single class
            wanted = clone(model).fit(X[folds[1][0]], y[folds[1][0]]).score(X[folds[1][1]], y[folds[1][1]])
            assert outcomes[1].test == wanted
        else:
            with pytest.raises(ValueError, match="class") as told:
                clone(model).fit(X[folds[1][0]], y[folds[1][0]])
            assert str(told.value) in str(outcomes[1].error)


def test_collinear_columns_without_a_penalty_are_refitted() -> None:
    X, y, _ = data(CASES["ridge"])
    X = np.column_stack([X, X[:, 0]])
    outcomes = evaluate(t.LinearRegression(), X, y, FOLDS, [{}], Scoring(check_scoring(t.LinearRegression())))[0]
    for (train, test), outcome in zip(FOLDS, outcomes, strict=True):
        assert outcome.test == pytest.approx(t.LinearRegression().fit(X[train], y[train]).score(X[test], y[test]))


def test_a_class_that_overrides_its_parent_is_refitted() -> None:
    class Doubled(t.Ridge):
        def predict(self, X: Any) -> Any:
            return 2 * super().predict(X)

    X, y, _ = data(CASES["ridge"])
    assert knows_folds(t.Ridge())
    assert not knows_folds(Doubled())
    doubled = t.cross_val_score(Doubled(), X, y, cv=FOLDS)
    wanted = [Doubled().fit(X[train], y[train]).score(X[test], y[test]) for train, test in FOLDS]
    assert doubled.tolist() == wanted


def test_a_pipeline_fits_its_maps_once_for_each_fold() -> None:
    fits = 0

    class Counting(StandardScaler):
        def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
            nonlocal fits
            fits += 1
            return super().fit(X, y, sample_weight)

    X, y, _ = data(CASES["logistic"])
    pipeline = make_pipeline(Counting(), t.LogisticRegression(tol=1e-10))
    grid = [{"logisticregression__C": C} for C in (0.01, 1.0, 10.0)]
    scorer = check_scoring(pipeline, "neg_log_loss")
    table = evaluate(pipeline, X, y, FOLDS, grid, Scoring(scorer))
    assert fits == len(FOLDS)
    for parameters, row in zip(grid, table, strict=True):
        for (train, test), outcome in zip(FOLDS, row, strict=True):
            whole = clone(pipeline).set_params(**parameters).fit(X[train], y[train])
            assert outcome.test == pytest.approx(scorer(whole, X[test], y[test]), rel=1e-6)


@pytest.mark.parametrize("name", ["ridge", "logistic", "Poisson", "linear discriminant"])
def test_paths_have_the_same_bits_on_any_number_of_threads(name: str, thread_count: int) -> None:
    case = CASES[name]
    X, y, _ = data(case)

    def scores(threads: int) -> Any:
        with t.threads(threads):
            return [path.predictions() if path else None for path in announced(case.model, X, y, FOLDS, case.grid, {})]

    for one, other in zip(scores(1), scores(thread_count), strict=True):
        assert np.array_equal(one, other) or (one is None and other is None)


def test_a_user_learner_joins_by_the_same_method() -> None:
    from sklearn.base import BaseEstimator, RegressorMixin

    class Constant(RegressorMixin, BaseEstimator):
        asked = 0

        def __init__(self, shift: float = 0.0) -> None:
            self.shift = shift

        def fit(self, X: Any, y: Any) -> Any:  # noqa: ARG002
            self.mean_ = np.mean(y) + self.shift
            return self

        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.mean_)

        def fold_paths(self, X: Any, y: Any, folds: Any, grid: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002
            if sample_weight is not None:
                raise NoFoldPath
            type(self).asked += 1

            class Means(FoldPath):
                def __init__(self, mean: float) -> None:
                    self.mean = mean

                def model(self, candidate: int) -> Any:
                    made = Constant(**grid[candidate])
                    made.mean_ = self.mean + made.shift
                    return made

            return (Means(np.mean(y[train])) for train, _ in folds)

    y = np.arange(SIZE, dtype=float)
    grid = {"shift": [0.0, 5.0]}
    found = t.GridSearchCV(Constant(), grid, cv=FOLDS).fit(y[:, None], y)
    assert Constant.asked == 1
    plain = t.GridSearchCV(Constant(), grid, cv=FOLDS, verbose=2).fit(
        y[:, None], y
    )  # told of each, so each is refitted
    assert Constant.asked == 1
    assert np.allclose(found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


# ---- the parts ----


def test_codes_of_folds() -> None:
    folds = [(np.array([1, 2, 3]), np.array([0])), (np.array([0, 2, 3]), np.array([1]))]
    assert fold_codes(folds, 4) is not None
    assert fold_codes(folds, 4).tolist() == [0, 1, 2, 2]  # type: ignore[union-attr]
    assert fold_codes([(np.array([1, 2]), np.array([0])), folds[1]], 4) is None  # trains on fewer
    assert fold_codes([folds[0], folds[0]], 4) is None  # holds a row out twice
    assert fold_codes([(np.array([1, 2, 2]), np.array([0])), folds[1]], 4) is None  # trains on a row twice


@pytest.mark.parametrize("count", [2, 3, 4, 7])
def test_sums_without_each(count: int) -> None:
    parts = [10**place for place in range(count)]
    assert without_each(parts, lambda a, b: a + b) == [sum(parts) - part for part in parts]


def test_groups_never_join_what_may_differ() -> None:
    grid = [
        {"alpha": 1.0, "random_state": np.random.RandomState(0)},
        {"alpha": 2.0, "random_state": None},
        {"alpha": 3.0},
    ]
    assert [group.candidates for group in grouped(t.Ridge(), grid, "alpha")] == [[0], [1], [2]]


def test_stratified_folds_of_a_grid_are_those_of_scikit_learn() -> None:
    from sklearn.model_selection import GridSearchCV

    X, y, _ = data(CASES["Gaussian Bayes"])
    grid = {"var_smoothing": [1e-9, 1e-2, 1.0]}
    ours = t.GridSearchCV(t.GaussianNB(), grid, cv=StratifiedKFold(5)).fit(X, y)
    theirs = GridSearchCV(t.GaussianNB(), grid, cv=StratifiedKFold(5)).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    assert np.array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])

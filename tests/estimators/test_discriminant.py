"""Discriminants: scikit-learn's answers, references of a few lines of NumPy, laws between models, and hard cases."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import sklearn.discriminant_analysis as theirs
from scipy import stats
from scipy.special import expit, logsumexp, softmax
from sklearn.covariance import LedoitWolf, ledoit_wolf

import tutelage
from tutelage import counts
from tutelage.discriminant.covariance import ledoit_wolf as our_ledoit_wolf
from tutelage.machine import threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

KINDS = ["shared", "own", "diagonal", "spherical", "shrunk", "factor"]
LDA = [{"solver": "svd"}, {"solver": "lsqr"}, {"solver": "eigen"}, {"solver": "lsqr", "shrinkage": "auto"},
       {"solver": "eigen", "shrinkage": "auto"}, {"solver": "lsqr", "shrinkage": 0.3},
       {"solver": "eigen", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5]}, {"solver": "svd", "priors": [0.2, 0.3, 0.5]},
       {"solver": "svd", "n_components": 1, "store_covariance": True}, {"solver": "svd", "tol": 1e-9},
       {"solver": "lsqr", "covariance_estimator": LedoitWolf()},
       {"solver": "eigen", "covariance_estimator": LedoitWolf()}]  # fmt: skip
QDA = [{}, {"reg_param": 0.2, "store_covariance": True}, {"solver": "eigen"}, {"solver": "eigen", "shrinkage": "auto"},
       {"solver": "eigen", "shrinkage": 0.3, "priors": [0.2, 0.3, 0.5], "store_covariance": True},
       {"solver": "eigen", "covariance_estimator": LedoitWolf()}]  # fmt: skip


def rows(n: int = 200, d: int = 5, k: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    mix = rng.normal(size=(k, d, d))
    X = np.einsum("nij,nj->ni", mix[y], rng.normal(size=(n, d))) + 2 * rng.normal(size=(k, d))[y]
    return X * np.logspace(-1, 1, d), y


@pytest.mark.parametrize("words", LDA, ids=str)
def test_linear_fits_are_those_of_the_namesake(words: dict[str, Any]) -> None:
    X, y = rows()
    ours = tutelage.LinearDiscriminantAnalysis(**words).fit(X, y)
    reference = theirs.LinearDiscriminantAnalysis(**words).fit(X, y)
    for name in ("coef_", "intercept_", "means_", "priors_", "covariance_", "explained_variance_ratio_", "xbar_"):
        assert hasattr(ours, name) == hasattr(reference, name)
        if hasattr(reference, name):
            np.testing.assert_allclose(getattr(ours, name), getattr(reference, name), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), reference.predict_proba(X), rtol=1e-7, atol=1e-12)
    if words["solver"] != "lsqr":
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(reference.transform(X)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("words", QDA, ids=str)
def test_quadratic_fits_are_those_of_the_namesake(words: dict[str, Any]) -> None:
    X, y = rows()
    ours = tutelage.QuadraticDiscriminantAnalysis(**words).fit(X, y)
    reference = theirs.QuadraticDiscriminantAnalysis(**words).fit(X, y)
    np.testing.assert_allclose(ours.means_, reference.means_)
    np.testing.assert_allclose(np.array(ours.scalings_), np.array(reference.scalings_), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), reference.predict_log_proba(X), rtol=1e-8, atol=1e-9)
    if words.get("store_covariance"):
        np.testing.assert_allclose(np.array(ours.covariance_), np.array(reference.covariance_), rtol=1e-9, atol=1e-12)


def test_fewer_rows_than_columns_and_constant_columns() -> None:
    X, y = rows(30, 50)
    X[:, 7] = 0.5
    ours, reference = (one.LinearDiscriminantAnalysis().fit(X, y) for one in (tutelage, theirs))
    np.testing.assert_allclose(ours.coef_, reference.coef_, rtol=1e-6, atol=1e-9)
    X, y = rows(90, 4)
    X = np.hstack([X, X[:, :2] @ [[1.0], [2.0]], np.full((90, 1), 0.5)])
    ours, reference = (one.LinearDiscriminantAnalysis().fit(X, y) for one in (tutelage, theirs))
    np.testing.assert_allclose(ours.decision_function(X), reference.decision_function(X), rtol=1e-6, atol=1e-8)


def test_a_column_constant_up_to_rounding_says_nothing() -> None:
    """scikit-learn divides the rounding of the mean of 0.1 by itself, and gives such a column a large coefficient."""
    X, y = rows(90, 4)
    wide = np.hstack([X, np.full((90, 1), 0.1)])
    plain, ours = (tutelage.LinearDiscriminantAnalysis().fit(one, y) for one in (X, wide))
    np.testing.assert_allclose(ours.decision_function(wide), plain.decision_function(X), rtol=1e-9)


def test_ledoit_and_wolf_from_moments_is_that_from_rows() -> None:
    X, y = rows(40, 12)
    measured = counts.scatter(X, y.astype(np.intp), None, 3, own=True)
    made, shares = our_ledoit_wolf(measured, X, y.astype(np.intp))
    for c in range(3):
        scale = X[y == c].std(axis=0)
        expected, share = ledoit_wolf((X[y == c] - X[y == c].mean(axis=0)) / scale)
        np.testing.assert_allclose(made[c], expected * np.outer(scale, scale), rtol=1e-9)
        assert shares[c] == pytest.approx(share, rel=1e-9)


def log_densities(X: Array, y: Array, kind: str) -> Array:
    """The definition, with SciPy's densities."""
    made = []
    centred = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    for c in range(3):
        own = np.cov(X[y == c].T, bias=True)
        sigma = {
            "own": own,
            "shared": centred.T @ centred / len(X),
            "diagonal": np.diag(np.diag(own)),
            "spherical": np.eye(len(own)) * np.trace(own) / len(own),
        }[kind]
        made.append(stats.multivariate_normal(X[y == c].mean(axis=0), sigma).logpdf(X))
    return np.stack(made, axis=1)


@pytest.mark.parametrize("kind", ["own", "shared", "diagonal", "spherical"])
def test_densities_are_those_of_the_definition(kind: str) -> None:
    X, y = rows()
    model = tutelage.GaussianDiscriminant(kind).fit(X, y)
    expected = log_densities(X, y, kind)
    np.testing.assert_allclose(model.log_densities(X), expected, rtol=1e-9)
    phi = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(expected + np.log(phi), axis=1), rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), softmax(expected + np.log(phi), axis=1), rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_two_is_two_rows(kind: str) -> None:
    X, y = rows()
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = tutelage.GaussianDiscriminant(kind).fit(X, y, weight)
    repeated = tutelage.GaussianDiscriminant(kind).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.log_densities(X), repeated.log_densities(X), rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["shared", "shrunk"])
def test_as_logistic_gives_the_same_posterior(kind: str, classes: int) -> None:
    X, y = rows(k=classes)
    model = tutelage.GaussianDiscriminant(kind).fit(X, y)
    coef, intercept = model.as_logistic()
    scores = X @ coef.T + intercept
    posterior = expit(scores[:, 0]) if classes == 2 else softmax(scores, axis=1)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1] if classes == 2 else model.predict_proba(X), posterior, rtol=1e-7, atol=1e-12
    )


def test_the_shared_covariance_is_linear_discriminant_analysis() -> None:
    X, y = rows(k=2)
    ours = tutelage.GaussianDiscriminant().fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), tutelage.LinearDiscriminantAnalysis().fit(X, y).decision_function(X), rtol=1e-8
    )


def test_factor_analysis_has_the_likelihood_of_scikit_learns() -> None:
    from sklearn.decomposition import FactorAnalysis

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(400, 8)) * rng.uniform(0.5, 2, 8)
    model = tutelage.GaussianDiscriminant("factor", factors=2, tol=1e-12, max_iter=5000).fit(X, np.zeros(400))
    reference = FactorAnalysis(2, tol=1e-10, max_iter=5000, svd_method="lapack").fit(X)
    assert model.score_samples(X).mean() == pytest.approx(reference.score(X), rel=1e-6)
    np.testing.assert_allclose(model.sigma_[0], reference.get_covariance(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "case", ["fewer rows than columns", "repeated column", "constant column", "one row of a class", "all constant"]
)
def test_singular_covariances_are_announced_and_never_an_error(kind: str, case: str) -> None:
    X, y = rows(10 if case.startswith("fewer") else 120, 9)
    y = np.sort(y)
    if case == "repeated column":
        X[:, 3] = X[:, 4]
    elif case == "constant column":
        X[:, 3] = 5.0
    elif case == "one row of a class":
        X, y = np.vstack([X, X[:1]]), np.append(y, 3)
    elif case == "all constant":
        X[:] = 1.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = tutelage.GaussianDiscriminant(kind).fit(X, y)
    assert np.isfinite(model.log_densities(X)).all()
    # Whoever inverts the matrix of these rows must have said what was done; shrinking is what "shrunk" is for.
    if kind in {"own", "factor"} or (kind == "shared" and case != "one row of a class"):
        assert any("mixed it with the identity" in str(one.message) for one in said)
        assert model.shrinkage_.max() > 0


@pytest.mark.parametrize("words", [{"solver": "svd"}, {"solver": "lsqr", "shrinkage": "auto"}], ids=str)
def test_bits_do_not_depend_on_threads(words: dict[str, Any], thread_count: int) -> None:
    X, y = rows(6000, 40)
    answers = []
    for count in (1, thread_count):
        with threads(count):
            answers.append(
                [
                    tutelage.LinearDiscriminantAnalysis(**words).fit(X, y).coef_,
                    tutelage.QuadraticDiscriminantAnalysis(tol=0.0).fit(X, y).decision_function(X),
                    tutelage.GaussianDiscriminant("own").fit(X, y).log_densities(X),
                ]
            )
    for a, b in zip(*answers, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda X, y: tutelage.GaussianDiscriminant("own").fit(X, y).as_logistic(), "needs one covariance"),
        (lambda X, y: tutelage.GaussianDiscriminant(priors=[1.0]).fit(X, y), "priors must be 3 probabilities"),
        (lambda X, y: tutelage.LinearDiscriminantAnalysis(n_components=3).fit(X, y), "n_components cannot be larger"),
        (lambda X, y: tutelage.LinearDiscriminantAnalysis().fit(np.ones_like(X), y), "no variance within its classes"),
        (lambda X, y: tutelage.LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y), "priors must be one for each"),
    ],
)
def test_bad_input_gets_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make(*rows())


def test_plots_draw_every_row() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for classes in (2, 3):
        X, y = rows(k=classes)
        axes = tutelage.LinearDiscriminantAnalysis().fit(X, y).plot(X, y)
        if classes == 3:
            assert sum(len(one.get_offsets()) for one in axes.collections) == len(X) + 3
        else:
            assert sum(patch.get_height() for patch in axes.patches) == len(X)
        matplotlib.pyplot.close(axes.figure)


FAMILIES: dict[str, Any] = {
    "gaussian": lambda rng, y: rng.normal(size=(len(y), 2)) + y[:, None],
    "poisson": lambda rng, y: rng.poisson(1 + 2 * y[:, None], (len(y), 2)).astype(float),
    "bernoulli": lambda rng, y: (rng.random((len(y), 2)) < 0.3 + 0.3 * y[:, None]).astype(float),
    "gamma": lambda rng, y: rng.gamma(2.0 + y[:, None], 1.5, (len(y), 2)),
}


def by_scipy(family: str, column: Array, at: Array) -> Array:
    """The log density of the maximum likelihood member, from SciPy."""
    if family == "gaussian":
        return stats.norm(column.mean(), column.std()).logpdf(at)
    if family == "poisson":
        return stats.poisson(column.mean()).logpmf(at)
    if family == "bernoulli":
        return stats.bernoulli(column.mean()).logpmf(at.astype(int))
    shape, _, scale = stats.gamma.fit(column, floc=0)
    return stats.gamma(shape, scale=scale).logpdf(at)


@pytest.mark.parametrize("family", FAMILIES)
def test_densities_of_families_are_scipys(family: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = FAMILIES[family](rng, y)
    model = tutelage.GenerativeClassifier(family).fit(X, y)
    expected = np.stack([sum(by_scipy(family, X[y == c, j], X[:, j]) for j in (0, 1)) for c in (0, 1)], axis=1)
    np.testing.assert_allclose(model.log_densities(X), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        model.score_samples(X), logsumexp(model.log_densities(X) + np.log(model.phi_), axis=1), rtol=1e-10
    )
    drawn, labels = model.sample(40000, random_state=1)
    learned = tutelage.GenerativeClassifier(family).fit(drawn, labels)
    for made, known in zip(learned.densities_, model.densities_, strict=True):
        for a, b in zip(made.parameters, known.parameters, strict=True):
            np.testing.assert_allclose(a, b, rtol=0.1, atol=0.05)


def test_a_mixture_never_loses_likelihood_and_finds_its_members() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(-5, 1, (300, 2)), rng.normal(5, 2, (100, 2))])
    y = np.zeros(400)
    likelihood = [
        tutelage.GenerativeClassifier(components=2, max_iter=rounds, tol=1e-12, random_state=0)
        .fit(X, y)
        .score_samples(X)
        .mean()
        for rounds in range(1, 9)
    ]
    assert np.all(np.diff(likelihood) >= -1e-12)
    found = tutelage.GenerativeClassifier(components=2, random_state=0).fit(X, y).densities_[0]
    order = np.argsort(found.parameters[0][:, 0])
    np.testing.assert_allclose(found.shares[order], [0.75, 0.25], atol=0.02)
    np.testing.assert_allclose(found.parameters[0][order], [[-5, -5], [5, 5]], atol=0.5)


def test_each_class_may_have_a_family_of_its_own() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(3, 1, (500, 1)), rng.gamma(1.0, 3.0, (500, 1))])
    y = np.repeat(["bell", "tail"], 500)
    model = tutelage.GenerativeClassifier({"tail": "gamma"}).fit(X, y)
    assert [one.family for one in model.densities_] == ["gaussian", "gamma"]
    assert np.isneginf(model.log_densities([[-1.0]])[0, 1])
    np.testing.assert_array_equal(model.predict([[-1.0], [30.0]]), ["bell", "tail"])
    with pytest.raises(ValueError, match="must hold positive numbers in the class 'bell'"):
        tutelage.GenerativeClassifier("gamma").fit(X, y)
    with pytest.raises(ValueError, match="'neither' is not"):
        tutelage.GenerativeClassifier({"neither": "gamma"}).fit(X, y)

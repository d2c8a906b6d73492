"""Supervised learning with a proof beside every fit and an honest exam behind every score.

Every public name can be imported from here and from its chapter. Chapters are loaded when they are first touched, so
``import tutelage`` itself is immediate.

>>> import tutelage
>>> tutelage.__version__
'0.1.0'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutelage.bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes
    from tutelage.certificate import Certificate, Reason
    from tutelage.discriminant import (
        GaussianDiscriminant,
        GenerativeClassifier,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from tutelage.features import Basis, Buckets, Conjunctions, OneHot, Polynomial, Squares, Standardise
    from tutelage.linear import (
        BridgeRegressor,
        ElasticNet,
        ElasticNetCV,
        ERMClassifier,
        ERMRegressor,
        GammaRegressor,
        HuberRegressor,
        Lasso,
        LassoCV,
        LeastSquaresClassifier,
        LinearRegression,
        LogisticRegression,
        LogisticRegressionCV,
        MAPClassifier,
        MAPRegressor,
        MultiTaskElasticNet,
        MultiTaskLasso,
        PoissonRegressor,
        QuantileRegressor,
        Ridge,
        RidgeClassifier,
        RidgeCV,
        TweedieRegressor,
        enet_path,
        lasso_path,
        path,
    )
    from tutelage.machine import get_threads, set_threads, show_versions, threads
    from tutelage.neighbours import (
        KNeighborsClassifier,
        KNeighborsRegressor,
        LocalOutlierFactor,
        NearestCentroid,
        NearestNeighbors,
        RadiusNeighborsClassifier,
        RadiusNeighborsRegressor,
        kneighbors_graph,
        radius_neighbors_graph,
    )
    from tutelage.risk import Risk, Solution, minimise
    from tutelage.selection import (
        BlockedTimeSplit,
        BootstrapSplit,
        GridSearchCV,
        HalvingGridSearchCV,
        HalvingRandomSearchCV,
        LearningCurve,
        MultilabelStratifiedKFold,
        OneStandardError,
        OptunaSearch,
        RandomizedSearchCV,
        SequentialFeatureSelector,
        ValidationCurve,
        bias_variance,
        bootstrap_score,
        cross_val_predict,
        cross_val_score,
        cross_validate,
        hold_out,
        learning_curve,
        nested_score,
        permutation_test_score,
        train_dev_test,
        validation_curve,
    )

__version__ = "0.1.0"

# Chapter -> the public names that live in it. A chapter is public too.
CHAPTERS: dict[str, tuple[str, ...]] = {
    "base": (),
    "bayes": ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB", "NaiveBayes"),
    "certificate": ("Certificate", "Reason"),
    "counts": (),
    "datasets": (),
    "discriminant": (
        "GaussianDiscriminant",
        "GenerativeClassifier",
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
    ),
    "features": ("Basis", "Buckets", "Conjunctions", "OneHot", "Polynomial", "Squares", "Standardise"),
    "fold_paths": (),
    "labels": (),
    "linear": (
        "BridgeRegressor",
        "ERMClassifier",
        "ERMRegressor",
        "ElasticNet",
        "ElasticNetCV",
        "GammaRegressor",
        "HuberRegressor",
        "Lasso",
        "LassoCV",
        "LeastSquaresClassifier",
        "LinearRegression",
        "LogisticRegression",
        "LogisticRegressionCV",
        "MAPClassifier",
        "MAPRegressor",
        "MultiTaskElasticNet",
        "MultiTaskLasso",
        "PoissonRegressor",
        "QuantileRegressor",
        "Ridge",
        "RidgeCV",
        "RidgeClassifier",
        "TweedieRegressor",
        "enet_path",
        "lasso_path",
        "path",
    ),
    "losses": (),
    "machine": ("get_threads", "set_threads", "show_versions", "threads"),
    "matrices": (),
    "neighbours": (
        "KNeighborsClassifier",
        "KNeighborsRegressor",
        "LocalOutlierFactor",
        "NearestCentroid",
        "NearestNeighbors",
        "RadiusNeighborsClassifier",
        "RadiusNeighborsRegressor",
        "kneighbors_graph",
        "radius_neighbors_graph",
    ),
    "parameters": (),
    "penalties": (),
    "risk": ("Risk", "Solution", "minimise"),
    "selection": (
        "OptunaSearch",
        "bias_variance",
        "ValidationCurve",
        "LearningCurve",
        "nested_score",
        "bootstrap_score",
        "MultilabelStratifiedKFold",
        "BootstrapSplit",
        "BlockedTimeSplit",
        "train_dev_test",
        "hold_out",
        "SequentialFeatureSelector",
        "GridSearchCV",
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
        "OneStandardError",
        "RandomizedSearchCV",
        "cross_val_predict",
        "cross_val_score",
        "cross_validate",
        "learning_curve",
        "permutation_test_score",
        "validation_curve",
    ),
    "solvers": (),
}

_CHAPTER_OF = {name: chapter for chapter, names in CHAPTERS.items() for name in names}

__all__ = [
    "Basis",
    "BernoulliNB",
    "BlockedTimeSplit",
    "BootstrapSplit",
    "BridgeRegressor",
    "Buckets",
    "CategoricalNB",
    "Certificate",
    "ComplementNB",
    "Conjunctions",
    "ERMClassifier",
    "ERMRegressor",
    "ElasticNet",
    "ElasticNetCV",
    "GammaRegressor",
    "GaussianDiscriminant",
    "GaussianNB",
    "GenerativeClassifier",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "HuberRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Lasso",
    "LassoCV",
    "LearningCurve",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LocalOutlierFactor",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MAPClassifier",
    "MAPRegressor",
    "MultiTaskElasticNet",
    "MultiTaskLasso",
    "MultilabelStratifiedKFold",
    "MultinomialNB",
    "NaiveBayes",
    "NearestCentroid",
    "NearestNeighbors",
    "OneHot",
    "OneStandardError",
    "OptunaSearch",
    "PoissonRegressor",
    "Polynomial",
    "QuadraticDiscriminantAnalysis",
    "QuantileRegressor",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RandomizedSearchCV",
    "Reason",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "Risk",
    "SequentialFeatureSelector",
    "Solution",
    "Squares",
    "Standardise",
    "TweedieRegressor",
    "ValidationCurve",
    "__version__",
    "bias_variance",
    "bootstrap_score",
    "cross_val_predict",
    "cross_val_score",
    "cross_validate",
    "enet_path",
    "get_threads",
    "hold_out",
    "kneighbors_graph",
    "lasso_path",
    "learning_curve",
    "minimise",
    "nested_score",
    "path",
    "permutation_test_score",
    "radius_neighbors_graph",
    "set_threads",
    "show_versions",
    "threads",
    "train_dev_test",
    "validation_curve",
]


def __getattr__(name: str) -> Any:
    if name in CHAPTERS:
        return importlib.import_module(f"tutelage.{name}")
    if name in _CHAPTER_OF:
        value = getattr(importlib.import_module(f"tutelage.{_CHAPTER_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'tutelage' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *CHAPTERS, *_CHAPTER_OF})

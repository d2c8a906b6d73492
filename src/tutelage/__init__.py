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
    from tutelage.ensembles import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
        RandomTreesEmbedding,
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
    from tutelage.trees import (
        DecisionTree,
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
        export_graphviz,
        export_text,
        plot_tree,
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
    "ensembles": (
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "RandomTreesEmbedding",
    ),
    "features": ("Basis", "Buckets", "Conjunctions", "OneHot", "Polynomial", "Squares", "Standardise"),
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
    "solvers": (),
    "trees": (
        "DecisionTree",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "ExtraTreeClassifier",
        "ExtraTreeRegressor",
        "export_graphviz",
        "export_text",
        "plot_tree",
    ),
}

_CHAPTER_OF = {name: chapter for chapter, names in CHAPTERS.items() for name in names}

__all__ = [
    "Basis",
    "BernoulliNB",
    "BridgeRegressor",
    "Buckets",
    "CategoricalNB",
    "Certificate",
    "ComplementNB",
    "Conjunctions",
    "DecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ERMClassifier",
    "ERMRegressor",
    "ElasticNet",
    "ElasticNetCV",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GammaRegressor",
    "GaussianDiscriminant",
    "GaussianNB",
    "GenerativeClassifier",
    "HuberRegressor",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "Lasso",
    "LassoCV",
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
    "MultinomialNB",
    "NaiveBayes",
    "NearestCentroid",
    "NearestNeighbors",
    "OneHot",
    "PoissonRegressor",
    "Polynomial",
    "QuadraticDiscriminantAnalysis",
    "QuantileRegressor",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
    "Reason",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "Risk",
    "Solution",
    "Squares",
    "Standardise",
    "TweedieRegressor",
    "__version__",
    "enet_path",
    "export_graphviz",
    "export_text",
    "get_threads",
    "kneighbors_graph",
    "lasso_path",
    "minimise",
    "path",
    "plot_tree",
    "radius_neighbors_graph",
    "set_threads",
    "show_versions",
    "threads",
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

"""Linear models: a weighted sum of the features, fitted by least squares and its kin.

Each file is a chapter of its own:

- `tutelage.linear.base`: what they share.
- `tutelage.linear.least_squares`: no penalty, or none but signs.
- `tutelage.linear.least_squares_classifier`: classes written as numbers, in features of your choice.
- `tutelage.linear.ridge`: the squared loss with the squared norm; `tutelage.linear.ridge_cv` chooses its strength.
- `tutelage.linear.lasso`: the squared loss with the sum of absolute values, which sets coefficients to zero;
  `tutelage.linear.paths` along all strengths, `tutelage.linear.lasso_cv` at the best one.
- `tutelage.linear.multi_task`: several targets that share their zeros.
- `tutelage.linear.bridge`: any power of the absolute values.
- `tutelage.linear.logistic`: classes by their probabilities; `tutelage.linear.logistic_cv` chooses the strength.
- `tutelage.linear.glm`: counts and positive amounts.
- `tutelage.linear.huber`: outliers kept at bay, with help from `tutelage.linear.huber_interior` and
  `tutelage.linear.positive_systems`; `tutelage.linear.quantile`: medians and other quantiles, by
  `tutelage.linear.interior_point`.
- `tutelage.linear.erm`: any loss, any penalty, any features.
- `tutelage.linear.posterior`: a Gaussian prior and the posterior.
- `tutelage.linear.strength_path`: any of these along the strength of its penalty, and the picture of it.
- `tutelage.linear.inference`: standard errors and intervals of any of these.

>>> from tutelage.linear import LinearRegression
>>> LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).coef_.round(6)
array([2.])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutelage.linear.bridge import BridgeRegressor as BridgeRegressor
    from tutelage.linear.erm import ERMClassifier as ERMClassifier
    from tutelage.linear.erm import ERMRegressor as ERMRegressor
    from tutelage.linear.glm import GammaRegressor as GammaRegressor
    from tutelage.linear.glm import PoissonRegressor as PoissonRegressor
    from tutelage.linear.glm import TweedieRegressor as TweedieRegressor
    from tutelage.linear.huber import HuberRegressor as HuberRegressor
    from tutelage.linear.lasso import ElasticNet as ElasticNet
    from tutelage.linear.lasso import Lasso as Lasso
    from tutelage.linear.lasso_cv import ElasticNetCV as ElasticNetCV
    from tutelage.linear.lasso_cv import LassoCV as LassoCV
    from tutelage.linear.least_squares import LinearRegression as LinearRegression
    from tutelage.linear.least_squares_classifier import LeastSquaresClassifier as LeastSquaresClassifier
    from tutelage.linear.logistic import LogisticRegression as LogisticRegression
    from tutelage.linear.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
    from tutelage.linear.multi_task import MultiTaskElasticNet as MultiTaskElasticNet
    from tutelage.linear.multi_task import MultiTaskLasso as MultiTaskLasso
    from tutelage.linear.paths import enet_path as enet_path
    from tutelage.linear.paths import lasso_path as lasso_path
    from tutelage.linear.posterior import MAPClassifier as MAPClassifier
    from tutelage.linear.posterior import MAPRegressor as MAPRegressor
    from tutelage.linear.quantile import QuantileRegressor as QuantileRegressor
    from tutelage.linear.ridge import Ridge as Ridge
    from tutelage.linear.ridge import RidgeClassifier as RidgeClassifier
    from tutelage.linear.ridge_cv import RidgeCV as RidgeCV
    from tutelage.linear.strength_path import path as path

# File -> the public names in it; loaded when they are first touched.
FILES: dict[str, tuple[str, ...]] = {
    "bridge": ("BridgeRegressor",),
    "erm": (
        "ERMClassifier",
        "ERMRegressor",
    ),
    "glm": (
        "GammaRegressor",
        "PoissonRegressor",
        "TweedieRegressor",
    ),
    "huber": ("HuberRegressor",),
    "lasso": (
        "ElasticNet",
        "Lasso",
    ),
    "lasso_cv": (
        "ElasticNetCV",
        "LassoCV",
    ),
    "least_squares": ("LinearRegression",),
    "least_squares_classifier": ("LeastSquaresClassifier",),
    "logistic": ("LogisticRegression",),
    "logistic_cv": ("LogisticRegressionCV",),
    "multi_task": (
        "MultiTaskElasticNet",
        "MultiTaskLasso",
    ),
    "paths": (
        "enet_path",
        "lasso_path",
    ),
    "posterior": (
        "MAPClassifier",
        "MAPRegressor",
    ),
    "quantile": ("QuantileRegressor",),
    "ridge": (
        "Ridge",
        "RidgeClassifier",
    ),
    "ridge_cv": ("RidgeCV",),
    "strength_path": ("path",),
}

_FILE_OF = {name: file for file, names in FILES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _FILE_OF:
        raise AttributeError(f"module 'tutelage.linear' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"tutelage.linear.{_FILE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_FILE_OF})

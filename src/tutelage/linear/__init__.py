"""Linear models: a weighted sum of the features, fitted by least squares and its kin.

Each file is a chapter of its own:

- `tutelage.linear.base`: what they share.
- `tutelage.linear.least_squares`: no penalty, or none but signs.
- `tutelage.linear.ridge`: the squared loss with the squared norm.
- `tutelage.linear.lasso`: the squared loss with the sum of absolute values, which sets coefficients to zero.

>>> from tutelage.linear import LinearRegression
>>> LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]).coef_.round(6)
array([2.])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutelage.linear.least_squares import LinearRegression as LinearRegression
    from tutelage.linear.ridge import Ridge as Ridge
    from tutelage.linear.ridge import RidgeClassifier as RidgeClassifier
    from tutelage.linear.ridge_cv import RidgeCV as RidgeCV

# File -> the public names in it; loaded when they are first touched.
FILES: dict[str, tuple[str, ...]] = {
    "least_squares": ("LinearRegression",),
    "glm": ("GammaRegressor", "PoissonRegressor", "TweedieRegressor"),
    "logistic": ("LogisticRegression",),
    "logistic_cv": ("LogisticRegressionCV",),
    "ridge": ("Ridge", "RidgeClassifier"),
    "ridge_cv": ("RidgeCV",),
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

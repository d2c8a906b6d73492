"""scikit-learn's check_estimator for every learner of the library, with no expected failure."""

from __future__ import annotations

import inspect
import warnings
from typing import Any
from unittest import SkipTest

import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.estimator_checks import estimator_checks_generator

import tutelage
from tutelage.selection.search import BaseSearch


def estimators() -> list[type]:
    """Every public class that is an estimator, found in the table of chapters."""
    public = [getattr(tutelage, name) for names in tutelage.CHAPTERS.values() for name in names]
    return [one for one in public if inspect.isclass(one) and issubclass(one, BaseEstimator)]


def construct(cls: type) -> Any:
    """A learner with its default parameters; a meta-estimator gets a fast learner to work with."""
    required = [
        name
        for name, one in inspect.signature(cls).parameters.items()
        if one.default is inspect.Parameter.empty and name in {"estimator", "base_estimator"}
    ]
    inner = tutelage.Ridge() if issubclass(cls, RegressorMixin) else tutelage.RidgeClassifier()
    words: dict[str, Any] = dict.fromkeys(required, inner)
    if cls is tutelage.LogisticRegressionCV or (required and "cv" in inspect.signature(cls).parameters):
        words["cv"] = 3  # some checks have three rows a class
    if issubclass(cls, tutelage.RandomForestClassifier | tutelage.RandomForestRegressor):
        words = {"n_estimators": 20, "max_samples": 1.0}  # of all weight: a number of rows knows nothing of copies
    if issubclass(cls, BaseSearch):
        words |= {"cv": 2, "error_score": "raise"}
        taken = inspect.signature(cls).parameters
        grid = {"alpha": [0.1, 1.0]}
        words |= {name: grid for name in ("param_grid", "param_distributions") if name in taken}
        words |= {name: value for name, value in {"random_state": 0, "n_iter": 2}.items() if name in taken}
    return cls(**words)


def test_there_are_estimators() -> None:
    assert estimators()


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_check_estimator(cls: type) -> None:
    if cls is tutelage.OptunaSearch:
        pytest.importorskip("optuna")
    failures = []
    for estimator, check in estimator_checks_generator(construct(cls)):
        with warnings.catch_warnings():
            # Checks provoke warnings of all sorts; what must warn is asserted inside them.
            warnings.simplefilter("ignore")
            try:
                check(estimator)
            except SkipTest:
                continue
            except Exception as error:  # noqa: BLE001 - every failure is told, not only the first
                failures.append(f"{check.func.__name__}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)

"""scikit-learn's check_estimator for every learner of the library, with no expected failure."""

from __future__ import annotations

import inspect
import warnings
from typing import Any
from unittest import SkipTest

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

import tutelage


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
    words: dict[str, Any] = {name: tutelage.RidgeClassifier() for name in required}
    if cls is tutelage.LogisticRegressionCV:
        words["cv"] = 3  # some checks have three rows a class
    if issubclass(cls, tutelage.RandomForestClassifier | tutelage.RandomForestRegressor):
        words = {"n_estimators": 20, "max_samples": 1.0}  # of all weight: a number of rows knows nothing of copies
    return cls(**words)


def test_there_are_estimators() -> None:
    assert estimators()


@pytest.mark.parametrize("cls", estimators(), ids=lambda cls: cls.__name__)
def test_check_estimator(cls: type) -> None:
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

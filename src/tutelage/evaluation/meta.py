"""Classifiers and regressors around another one: what calibration, thresholds and conformal prediction share.

A wrapper passes X through as it is (a frame stays a frame, for pipelines inside), has the features of what it wraps,
and learns from predictions for rows that were held out: k models, each asked about the rows that it has not seen.

>>> import numpy as np
>>> from tutelage import GaussianNB
>>> X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
>>> out_of_fold(GaussianNB(), X, y, 3, response="probability").shape
(12, 2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from tutelage.base import Classifier, Estimator
from tutelage.evaluation.refits import pick
from tutelage.labels import encode, encode_with
from tutelage.parameters import Declared, fitted, parameter
from tutelage.parameters.rules import Has

if TYPE_CHECKING:
    from tutelage.evaluation.metrics import Floats

Response = Literal["probability", "score"]


class Wrapper(Declared):
    """Mixin of estimators around an estimator."""

    estimator: Annotated[
        Any, "What is wrapped; any estimator with scikit-learn's interface.", Has("fit", "predict")
    ] = parameter(kw_only=False)
    estimator_: Any = fitted("The wrapped estimator, fitted.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        tags.input_tags.positive_only, tags.input_tags.string = inner.positive_only, inner.string
        return tags

    def _adopt(self, model: Any) -> None:
        """Keep the wrapped estimator, fitted, and what it knows of the columns."""
        self.estimator_ = model
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(self, name, getattr(model, name))
            elif hasattr(self, name):
                delattr(self, name)


class WrappingClassifier(Wrapper, Classifier):
    """Base of classifiers around a classifier."""

    def _learn(self, X: Any, y: Any) -> Any:
        """Check parameters and labels; set ``classes_``; give rows that can be picked from, and the labels' codes."""
        self.check_parameters()
        labels = column_or_1d(y, warn=True)
        check_consistent_length(X, labels)
        (X,) = indexable(X)
        check_classification_targets(labels)
        self.classes_, codes = encode(labels)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the data contains only "
                f"one "
                f"class: {self.classes_.tolist()[0]!r}."
            )
        return X, codes


def responses(model: Any, X: Any, response: Response) -> Floats:
    """Ask a fitted classifier for a column of numbers for each class.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or frame of shape (n, d)
        The rows.
    response : {"probability", "score"}
        Probabilities, made of scores where there are none (two classes only); or scores, made of probabilities where
        there are none: their logarithms.
    """
    has_scores, has_probabilities = hasattr(model, "decision_function"), hasattr(model, "predict_proba")
    if not (has_scores or has_probabilities):
        raise ValueError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, and labels alone cannot be "
            f"calibrated or "
            "cut at a threshold; use another estimator."
        )
    if response == "probability":
        if has_probabilities:
            return np.asarray(model.predict_proba(X), dtype=float)
        score = np.asarray(model.decision_function(X), dtype=float)
        if score.ndim == 1:
            return np.column_stack([expit(-score), expit(score)])
        apart = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(apart / apart.sum(axis=1, keepdims=True))
    if has_scores:
        score = np.asarray(model.decision_function(X), dtype=float)
        return np.column_stack([np.zeros(len(score)), score]) if score.ndim == 1 else score
    return log_of(np.asarray(model.predict_proba(X), dtype=float))


def log_of(P: Floats) -> Floats:
    """Give logarithms of probabilities, of which none is minus infinity."""
    return np.asarray(np.log(np.clip(P, 1e-300, 1.0)))


def folds_of(X: Any, y: Any, cv: Any, *, classifier: bool) -> list[tuple[Any, Any]]:
    """Give (training rows, held-out rows) that divide the table.

    Parameters
    ----------
    X, y : arrays or frames
        The table.
    cv : int, splitter or iterable
        As scikit-learn has it.
    classifier : bool
        Whether folds have the classes in their shares.
    """
    made = check_cv(cv, y, classifier=classifier)
    if classifier and isinstance(cv, int) and (fewest := int(np.unique(y, return_counts=True)[1].min())) < cv:
        raise ValueError(
            f"cv must be at most the number of rows of the rarest class, {fewest}, found cv={cv!r} for "
            f"n_samples={len(y)}; take "
            "fewer folds, or more rows."
        )
    parts = [(np.asarray(train), np.asarray(test)) for train, test in made.split(X, y)]
    held = np.concatenate([test for _, test in parts])
    if len(held) != len(y) or len(np.unique(held)) != len(y):
        raise ValueError("cv must hold out every row once, as KFold does; random splits cannot serve here.")
    return parts


def out_of_fold(estimator: Any, X: Any, y: Any, cv: Any, *, response: Response) -> Floats:
    """Give a classifier's numbers for each row, by models that have not seen it.

    Parameters
    ----------
    estimator : estimator
        Cloned and fitted for each fold.
    X, y : arrays or frames
        The table.
    cv : int, splitter or iterable
        The folds.
    response : {"probability", "score"}
        Which numbers.
    """
    labels = np.asarray(y)
    classes = np.unique(labels)
    made = np.full((len(labels), len(classes)), 0.0 if response == "probability" else -700.0)
    for train, test in folds_of(X, labels, cv, classifier=True):
        model = clone(estimator).fit(pick(X, train), labels[train])
        known = encode_with(classes, np.asarray(model.classes_))
        made[np.ix_(test, known)] = responses(model, pick(X, test), response)
    return made


def check_fitted(model: Estimator) -> Any:
    """Give the wrapped estimator of a fitted wrapper."""
    check_is_fitted(model, "estimator_")
    return model.estimator_  # type: ignore[attr-defined]

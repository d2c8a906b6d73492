"""Out-of-fold predictions: for every row, what the model says that has not seen it.

    prediction_i = model fitted to the rows outside the fold of i, asked about row i

The folds must be a partition. What comes out is not for a score (metrics of pooled predictions mix the folds) but for a
look at errors, for a second learner on top, or for calibration.

`cross_val_predict` is scikit-learn's function of this name. Learners that know their folds are not refitted.

>>> from tutelage import Ridge
>>> X = [[float(i)] for i in range(6)]
>>> cross_val_predict(Ridge(alpha=0.0), X, list(range(6)), cv=3).round(6) + 0.0
array([0., 1., 2., 3., 4., 5.])
"""

from __future__ import annotations

import warnings
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from tutelage.selection.engine import announced
from tutelage.selection.fitting import rows_in
from tutelage.selection.routing import check_groups, routed
from tutelage.selection.validation import check_call

if TYPE_CHECKING:
    from collections.abc import Sequence

# Methods whose columns are classes, and what stands in the column of a class that a fold did not know.
BY_CLASS = {
    "decision_function": "least",
    "predict_log_proba": "least",
    "predict_proba": "zero",
}
ADVICE = "To fix this, use a cross-validation technique resulting in properly stratified folds"


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
) -> Any:
    """Predict every row by the model of the fold that holds it out.

    Parameters
    ----------
    estimator : estimator
        Not changed.
    X : indexable of n rows
        The rows.
    y : indexable of n targets, optional
        The targets.
    groups, cv, n_jobs, verbose, params, pre_dispatch
        As in `tutelage.selection.cross_validate`.
    method : str, default="predict"
        Which method of the estimator to ask; classes of probabilities are in sorted order.

    Returns
    -------
    array of n rows
        What the method gives.

    Examples
    --------
    >>> from tutelage import GaussianNB
    >>> cross_val_predict(GaussianNB(), [[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"], cv=2)
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """
    check_call("cross_val_predict", estimator=estimator, method=method, n_jobs=n_jobs)
    check_groups(groups)
    X, y = indexable(X, y)
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    parts = routed("cross_val_predict", {"splitter": splitter, "estimator": estimator}, params, groups=groups)
    folds = list(splitter.split(X, y, **parts.splitter.split))
    places = np.concatenate([test for _, test in folds])
    if len(places) != rows_in(X) or not np.array_equal(np.sort(places), np.arange(len(places))):
        raise ValueError(
            "cross_val_predict only works for partitions: each row must be held out once, found "
            f"{len(places)} held out of {rows_in(X)}; use a splitter such as KFold."
        )
    encode = method in BY_CLASS and y is not None
    if encode:
        y = _encoded(np.asarray(y))
    each = _by_paths(estimator, X, y, folds, parts.estimator.fit, method)
    if each is None:
        each = Parallel(n_jobs=n_jobs, verbose=verbose, pre_dispatch=pre_dispatch)(
            delayed(_fit_and_predict)(clone(estimator), X, y, fold, parts.estimator.fit, method) for fold in folds
        )
    back = np.empty(len(places), dtype=np.intp)
    back[places] = np.arange(len(places))
    if sparse.issparse(each[0]):
        return sparse.vstack(each, format="csr")[back]
    if encode and isinstance(each[0], list):  # a list of outputs, each with classes of its own
        return [np.concatenate([fold[output] for fold in each])[back] for output in range(y.shape[1])]
    if isinstance(each[0], list):
        return [one for _, one in sorted(zip(places.tolist(), chain(*each), strict=True), key=lambda pair: pair[0])]
    return np.concatenate(each)[back]


def _encoded(y: Any) -> Any:
    """Number the labels, so that columns of different folds can be put side by side."""
    if y.ndim == 1:
        return LabelEncoder().fit_transform(y)
    return np.stack([LabelEncoder().fit_transform(column) for column in y.T], axis=1).astype(int)


def _by_paths(
    estimator: Any, X: Any, y: Any, folds: Sequence[Any], fit_params: dict[str, Any], method: str
) -> list[Any] | None:
    """Ask the models of a learner that knows its folds; None where one of them must be refitted."""
    paths = announced(estimator, X, y, folds, [{}], fit_params)
    if paths is None:
        return None
    made = []
    for fold in folds:
        path = next(paths, None)
        model = None if path is None else path.model(0)
        if model is None:
            made.append(_fit_and_predict(clone(estimator), X, y, fold, fit_params, method))
        else:
            made.append(_ordered(model, getattr(model, method)(_safe_indexing(X, fold[1])), y, method))
    return made


def _fit_and_predict(estimator: Any, X: Any, y: Any, fold: Any, fit_params: dict[str, Any], method: str) -> Any:
    train, test = fold
    given = _check_method_params(X, params=fit_params, indices=train)
    X_train, y_train = _safe_split(estimator, X, y, train)
    X_test, _ = _safe_split(estimator, X, y, test, train)
    estimator.fit(X_train, *(() if y_train is None else (y_train,)), **given)
    return _ordered(estimator, getattr(estimator, method)(X_test), y, method)


def _ordered(model: Any, predictions: Any, y: Any, method: str) -> Any:
    """Put columns into the places of their classes among all."""
    if method not in BY_CLASS or y is None:
        return predictions
    if isinstance(predictions, list):
        return [
            _spread(model.classes_[output], one, len(np.unique(y[:, output])), method)
            for output, one in enumerate(predictions)
        ]
    return _spread(model.classes_, predictions, len(np.unique(y)) if y.ndim == 1 else y.shape[1], method)


def _spread(known: Any, predictions: Any, classes: int, method: str) -> Any:
    if len(known) == classes:
        return predictions
    warnings.warn(
        f"Number of classes in training fold ({len(known)}) does not match total number of classes ({classes}). "
        f"Results may not be appropriate for your use case. {ADVICE}",
        RuntimeWarning,
        stacklevel=3,
    )
    if method == "decision_function":
        if predictions.ndim == 2 and predictions.shape[1] != len(known):
            raise ValueError(
                f"Output shape {predictions.shape} of {method} does not match number of classes ({len(known)}) in "
                "fold. Irregular decision_function outputs are not currently supported by cross_val_predict"
            )
        if len(known) <= 2:
            raise ValueError(
                f"Only {len(known)} class/es in training fold, but {classes} in overall dataset. This is not supported "
                f"for decision_function with imbalanced folds. {ADVICE}"
            )
    missing = np.finfo(predictions.dtype).min if BY_CLASS[method] == "least" else 0
    whole = np.full((len(predictions), classes), missing, dtype=predictions.dtype)
    whole[:, known] = predictions
    return whole

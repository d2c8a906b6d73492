"""What a fitted search passes on to the estimator that it found.

A method of the best estimator exists on the search if ``refit`` is not False and the estimator has it; before the fit,
if the estimator that will be searched has it.

>>> from tutelage import GridSearchCV, Ridge
>>> search = GridSearchCV(Ridge(), {"alpha": [1.0]})
>>> hasattr(search, "predict"), hasattr(search, "predict_proba")
(True, False)
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from collections.abc import Callable


def _has(name: str) -> Callable[[Any], bool]:
    def check(search: Any) -> bool:
        search._check_refitted(name)  # noqa: SLF001 - of the same chapter
        # The attribute itself is asked for, so that its own error says why it is missing.
        getattr(search.best_estimator_ if hasattr(search, "best_estimator_") else search.estimator, name)
        return True

    return check


class FittedSearch:
    """Mixin: the methods of the best estimator."""

    estimator: Any
    refit: Any
    best_estimator_: Any

    def _check_refitted(self, name: str) -> None:
        if not self.refit:
            raise AttributeError(
                f"This {type(self).__name__} instance was initialized with `refit=False`. {name} is available only "
                "after refitting on the best parameters. You can refit an estimator manually using the `best_params_` "
                "attribute"
            )

    def _ask(self, name: str, X: Any) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_, name)(X)

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Predict by the best estimator.

        Parameters
        ----------
        X : indexable
            The rows.

        Returns
        -------
        array
            Its predictions.
        """
        return self._ask("predict", X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Give the best estimator's probabilities.

        Parameters
        ----------
        X : indexable
            The rows.

        Returns
        -------
        array
            A column for each class.
        """
        return self._ask("predict_proba", X)

    @available_if(_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Give the logarithms of the best estimator's probabilities.

        Parameters
        ----------
        X : indexable
            The rows.

        Returns
        -------
        array
            A column for each class.
        """
        return self._ask("predict_log_proba", X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Give the best estimator's scores.

        Parameters
        ----------
        X : indexable
            The rows.

        Returns
        -------
        array
            Its scores.
        """
        return self._ask("decision_function", X)

    @available_if(_has("score_samples"))  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> Any:
        """Give the best estimator's score of each row.

        Parameters
        ----------
        X : indexable
            The rows.

        Returns
        -------
        array
            Its scores of rows.
        """
        return self._ask("score_samples", X)

    @available_if(_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """Transform rows by the best estimator.

        Parameters
        ----------
        X : indexable
            The rows.

        Returns
        -------
        array
            The rows in its features.
        """
        return self._ask("transform", X)

    @available_if(_has("inverse_transform"))  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any) -> Any:
        """Undo `transform`.

        Parameters
        ----------
        X : indexable
            Rows in the best estimator's features.

        Returns
        -------
        array
            The rows.
        """
        return self._ask("inverse_transform", X)

    @property
    def n_features_in_(self) -> int:
        """The number of features, once the best estimator is fitted."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(f"{type(self).__name__} object has no n_features_in_ attribute.") from error
        return int(self.best_estimator_.n_features_in_)

    @property
    def classes_(self) -> Any:
        """The classes of the best estimator, if it is a classifier."""
        _has("classes_")(self)
        return self.best_estimator_.classes_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        theirs = get_tags(self.estimator)
        tags.estimator_type = theirs.estimator_type
        tags.classifier_tags = deepcopy(theirs.classifier_tags)
        tags.regressor_tags = deepcopy(theirs.regressor_tags)
        tags.input_tags.pairwise = theirs.input_tags.pairwise
        tags.input_tags.sparse = theirs.input_tags.sparse
        if hasattr(theirs, "array_api_support"):
            tags.array_api_support = theirs.array_api_support
        return tags

    def _sk_visual_block_(self) -> Any:
        from sklearn.utils._repr_html.estimator import _VisualBlock

        key = "best_estimator_" if hasattr(self, "best_estimator_") else "estimator"
        shown = getattr(self, key)
        return _VisualBlock("parallel", [shown], names=[f"{key}: {type(shown).__name__}"], name_details=[str(shown)])

"""Forward and backward selection: one column more, or one less, whichever scores best.

    forward     S <- S + argmax over j not in S of   cross-validated score of the columns S + j
    backward    S <- S - argmax over j in S of       cross-validated score of the columns S - j

`SequentialFeatureSelector` is scikit-learn's class of this name, for any estimator: a step of d candidates and k folds
is d k fits. For least squares and ridge no candidate is fitted at all (`tutelage.selection.squared_subsets`), and for
logistic regression of two classes all candidates of a step are fitted at once (`tutelage.selection.logistic_subsets`);
the scores are those of refitting. ``screen`` first takes the candidates of the largest score statistic, and fits only
these.

It fails as greedy choices do: two columns that are worth much together and nothing alone are not found by adding. And
the score of the chosen set is too good; put the selector into a pipeline and cross-validate that.

>>> import numpy as np
>>> from tutelage import LinearRegression
>>> X = np.random.default_rng(0).normal(size=(80, 6))
>>> y = 3 * X[:, 1] - 2 * X[:, 4] + 0.1 * np.random.default_rng(1).normal(size=80)
>>> SequentialFeatureSelector(LinearRegression(), n_features_to_select=2).fit(X, y).get_support(indices=True)
array([1, 4])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from tutelage.base import Estimator, is_sparse
from tutelage.linear import LinearRegression, LogisticRegression, Ridge
from tutelage.parameters import Count, Has, Interval, Splits, fitted, parameter
from tutelage.selection.engine import knows_folds
from tutelage.selection.logistic_subsets import LogisticSubsets
from tutelage.selection.squared_subsets import SquaredSubsets
from tutelage.selection.validation import cross_val_score

if TYPE_CHECKING:
    from tutelage.base import Floats

SQUARED = {"r2", "neg_mean_squared_error", "neg_root_mean_squared_error"}
LOGISTIC = {"accuracy", "neg_log_loss"}


class SequentialFeatureSelector(SelectorMixin, MetaEstimatorMixin, Estimator):  # type: ignore[misc]
    """Choose columns one by one, by cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import KNeighborsClassifier, SequentialFeatureSelector
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> y = (X[:, 2] > 0).astype(int)
    >>> SequentialFeatureSelector(KNeighborsClassifier(), n_features_to_select=1).fit(X, y).support_
    array([False, False,  True])
    """

    estimator: Annotated[Any, Has("fit"), "What is scored; it is cloned."] = parameter(kw_only=False)
    n_features_to_select: (
        Annotated[Literal["auto"] | Count, "How many, or which share; 'auto' is half, or as long as tol is gained."]
        | Annotated[float, Interval(0, 1, closed="right")]
    ) = "auto"
    tol: Annotated[
        float | None, "With 'auto', the least gain of a step; negative ones allow a loss when columns are taken away."
    ] = None
    direction: Annotated[Literal["forward", "backward"], "Whether columns are added or taken away."] = "forward"
    scoring: Annotated[str | Callable[..., Any] | None, "What to score by; None is the estimator's own score."] = None
    cv: Annotated[Splits, "The folds: how many, a splitter, or pairs of indices."] = 5
    n_jobs: Annotated[int | None, "How many fits run at once, where refitting is needed."] = None
    screen: Annotated[
        Count | None,
        "Of each forward step, how many candidates are cross-validated, those of the largest score statistic; None is "
        "all. For least squares, ridge and logistic regression of two classes.",
    ] = None

    support_: Any = fitted("Which columns were chosen.")
    n_features_to_select_: int = fitted("How many were chosen.")

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Choose the columns.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,), optional
            The targets.
        **params
            What else the fit, the splitter and the scorer are given, where metadata routing is enabled.

        Returns
        -------
        self
            The fitted selector.
        """
        self.check_parameters()
        _raise_for_params(params, self, "fit")
        tags = self.__sklearn_tags__()
        X = validate_data(
            self, X, accept_sparse="csc", ensure_min_features=2, ensure_all_finite=not tags.input_tags.allow_nan
        )
        columns = X.shape[1]
        wanted = self._how_many(columns)
        if self.tol is not None and self.tol < 0 and self.direction == "forward":
            raise ValueError(f"tol must be strictly positive when doing forward selection; found {self.tol!r}.")
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        if _routing_enabled():
            process_routing(self, "fit", **params)
        auto = isinstance(self.n_features_to_select, str)
        steps = wanted if auto or self.direction == "forward" else columns - wanted
        quick = None if params else self._quick(X, y, splitter)
        moved = np.zeros(columns, dtype=bool)  # added, or taken away
        last = -np.inf
        for _ in range(steps):
            left = np.flatnonzero(~moved)
            scores = self._score(X, y, splitter, quick, moved, left, params)
            best = int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))
            if self.tol is not None and auto and scores[best] - last < self.tol:
                break
            last = scores[best]
            moved[left[best]] = True
            if isinstance(quick, LogisticSubsets) and self.direction == "forward":
                quick.keep(int(left[best]))
                self._order.append(int(left[best]))
        self.support_ = ~moved if self.direction == "backward" else moved
        self.n_features_to_select_ = int(self.support_.sum())
        return self

    def _how_many(self, columns: int) -> int:
        wanted: Any = self.n_features_to_select
        if isinstance(wanted, str):
            return columns - 1 if self.tol is not None else columns // 2
        if isinstance(wanted, int | np.integer):
            if wanted >= columns:
                raise ValueError(f"n_features_to_select must be < n_features, found {wanted} of {columns}.")
            return int(wanted)
        return int(columns * wanted)

    def _quick(self, X: Any, y: Any, splitter: Any) -> SquaredSubsets | LogisticSubsets | None:
        """Find the way that fits all candidates of a step at once, if there is one for these rows."""
        model = self.estimator
        self._order: list[int] = []
        if is_sparse(X) or y is None or not knows_folds(model) or X.dtype.kind != "f":
            return None
        y = np.asarray(y)
        if y.ndim != 1:
            return None
        try:
            model.check_parameters()
        except ValueError:
            return None
        folds = list(splitter.split(X, y))
        if any(len(train) == 0 or len(test) == 0 for train, test in folds):
            return None
        rows = np.asarray(X, dtype=np.float64)
        made: SquaredSubsets | LogisticSubsets
        if isinstance(model, Ridge | LinearRegression) and (metric := self._metric("r2", SQUARED)):
            targets = np.asarray(y)
            alpha = getattr(model, "alpha", 0.0)
            if model.positive or np.ndim(alpha) or targets.dtype.kind not in "fiub":
                return None
            targets = targets.astype(np.float64)
            made = SquaredSubsets(rows, targets, folds, float(alpha), bool(model.fit_intercept), metric)
            return made if made.usual else None
        if isinstance(model, LogisticRegression) and (metric := self._metric("accuracy", LOGISTIC)):
            C, ratio = model._strength_and_ratio()  # noqa: SLF001 - a learner of ours
            classes, codes = np.unique(y, return_inverse=True)
            plain = model.solver != "liblinear" and model.class_weight is None and model.max_iter >= 20
            if ratio != 0 or not math.isfinite(C) or len(classes) != 2 or not plain:
                return None
            if any(len(np.unique(codes[train])) < 2 for train, _ in folds):
                return None
            signs = np.where(codes == 1, 1.0, -1.0)
            made = LogisticSubsets(rows, signs, folds, 1.0 / C, bool(model.fit_intercept), metric)
            return made if made.usual else None
        return None

    def _metric(self, own: str, known: set[str]) -> str | None:
        if self.scoring is None:
            return own
        if isinstance(self.scoring, str):
            return self.scoring if self.scoring in known else None
        return next((name for name in known if self.scoring is get_scorer(name)), None)

    def _score(
        self, X: Any, y: Any, splitter: Any, quick: Any, moved: Any, left: Any, params: dict[str, Any]
    ) -> Floats:
        """Score each candidate of a step."""
        scores = np.full(len(left), np.nan)
        forward = self.direction == "forward"
        tried = np.arange(len(left))
        if quick is not None:
            if forward:
                chosen = (
                    np.array(self._order, dtype=np.intp)
                    if isinstance(quick, LogisticSubsets)
                    else np.flatnonzero(moved)
                )
                if self.screen is not None and self.screen < len(left):
                    tried = np.sort(np.argsort(-quick.statistics(chosen, left), kind="stable")[: self.screen])
                scores[tried] = quick.forward(chosen, left[tried])
            elif len(left) > 1:
                scores = quick.backward(left)
        for place in tried[np.isnan(scores[tried])]:
            mask = moved.copy()
            mask[left[place]] = True
            scores[place] = cross_val_score(
                clone(self.estimator), X[:, mask if forward else ~mask], y, cv=splitter, scoring=self.scoring,
                n_jobs=self.n_jobs, params=params,
            ).mean()  # fmt: skip
        return scores

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        theirs = get_tags(self.estimator).input_tags
        tags.input_tags.allow_nan, tags.input_tags.sparse = theirs.allow_nan, theirs.sparse
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata goes where, for scikit-learn's metadata routing.

        Returns
        -------
        MetadataRouter
            The estimator's, the splitter's and the scorer's.
        """
        fit = MethodMapping().add(caller="fit", callee="fit")
        split = MethodMapping().add(caller="fit", callee="split")
        score = MethodMapping().add(caller="fit", callee="score")
        splitter = check_cv(self.cv, classifier=is_classifier(self.estimator))
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        return (
            MetadataRouter(owner=self)
            .add(estimator=self.estimator, method_mapping=fit)
            .add(splitter=splitter, method_mapping=split)
            .add(scorer=scorer, method_mapping=score)
        )

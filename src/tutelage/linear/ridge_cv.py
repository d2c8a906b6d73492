"""Ridge regression that chooses its own alpha, by leaving every row out once, for the price of one fit.

Refitting n times is not needed. With h_i the leverage of row i, its own share in its own prediction, the residual of
the fit that has not seen the row is

    y_i - prediction without i  =  residual_i / (1 - h_i),

exactly, weights and intercept included. One eigendecomposition of the shorter side of X_c, X_c' s X_c = V e V', gives
the residuals and leverages of every alpha at once: with q_i = V' x_i,

    h_i(alpha) = s_i (sum_j q_ij^2 / (e_j + alpha) + 1 / sum s),

and the coefficients of the best alpha follow from the same factor. So all alphas and all left-out rows cost two
readings of X. With ``cv=`` the folds are held out instead; each fold is factored once, for all its alphas.

Cost: n d min(n, d) multiplications, and n min(n, d) for each alpha. It fails where rows come in groups (several of one
patient): leaving out one row leaves its like in, and the chosen alpha is too small; then pass ``cv=GroupKFold()``.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(40, 5))
>>> y = X[:, 0] + rng.normal(size=40)
>>> model = RidgeCV(alphas=[0.1, 1.0, 10.0], store_cv_results=True).fit(X, y)
>>> model.alpha_
1.0
>>> from tutelage.linear import Ridge
>>> rest = np.arange(40) != 7
>>> error = y[7] - Ridge(model.alpha_).fit(X[rest], y[rest]).predict(X[7:8])[0]
>>> bool(np.isclose(model.cv_results_[7, 1], error**2))
True
"""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import check_scalar
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from tutelage import _core, matrices
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.linear.base import LinearRegressor
from tutelage.linear.least_squares import as_columns, split_point
from tutelage.linear.scoring import Scoring, accepts_weights
from tutelage.parameters import Arrays, Positive, Range, Splits, fitted, parameter
from tutelage.risk import certificate_from


class RidgeCV(LinearRegressor):
    """Ridge regression with the alpha of the best cross-validated score; leave-one-out by default.

    Examples
    --------
    >>> from tutelage import RidgeCV
    >>> RidgeCV(alphas=[1e-3, 1.0]).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]).alpha_
    0.001
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, many_outputs=True)

    alphas: Annotated[Arrays | Positive, "The strengths to choose from.", Range(1e-6, 1e6, logarithmic=True)] = (
        parameter(default=(0.1, 1.0, 10.0), kw_only=False)
    )
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    scoring: Annotated[
        Scoring, "What to maximise: a scorer or its name; None is minus the squared error, or R^2 with cv."
    ] = None
    cv: Annotated[Splits, "Folds to hold out; None leaves out every row once."] = None
    gcv_mode: Annotated[
        Literal["auto", "svd", "eigen"] | None, "A hint from scikit-learn: the shorter side of X is factored always."
    ] = None
    store_cv_results: Annotated[bool, "Whether to keep cv_results_ of leaving one out."] = False
    alpha_per_target: Annotated[bool, "Whether each column of y has an alpha of its own."] = False

    alpha_: Any = fitted("The chosen alpha, or one for each target.")
    best_score_: Any = fitted("Its score, or one for each target.")
    cv_results_: Floats = fitted(
        "For each left-out row, target and alpha: its weighted squared error, or with scoring its prediction."
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha and fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,) or (n, targets)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts, in fits and scores.
        **params
            For the scorer and the splitter, where metadata routing is enabled.

        Returns
        -------
        self
            The fitted model.
        """
        _raise_for_params(params, self, "fit")
        self.check_parameters()
        alphas = self._check_alphas()
        scorer = self._scorer()
        X, y, weight = self.validate(X, y, sample_weight)
        routed = self._route(sample_weight if weight is None else weight, params, scorer)
        if self.gcv_mode == "svd" and is_sparse(X):
            warnings.warn(
                "The 'svd' mode is not supported for sparse X; gcv_mode is a hint here, and the smaller of the two "
                "systems of equations is factored. Leave gcv_mode out.",
                FutureWarning,
                stacklevel=2,
            )
        self.__dict__.pop("cv_results_", None)
        path = ridge_path(X, as_columns(y), weight, self.fit_intercept)
        if self.cv is None:
            self._leave_one_out(path, X, y, weight, alphas, scorer if self.scoring is not None else None, routed)
        else:
            self._hold_out_folds(X, y, weight, alphas, scorer, routed)
        targets = 1 if y.ndim == 1 else y.shape[1]
        point, facts = path.solve(np.broadcast_to(self.alpha_, (targets,)).tolist())
        coef, intercept = split_point(point, X.shape[1], self.fit_intercept)
        self.keep(
            coef[0] if targets == 1 else coef, intercept[0] if y.ndim == 1 else intercept, certificate_from(facts), X
        )
        return self

    def _check_alphas(self) -> list[float]:
        """Give the alphas as a list; leaving one out needs every one of them to be positive."""
        given: Any = self.alphas
        if np.ndim(given) == 0:
            return [float(given)]
        ends = "neither" if self.cv is None else "left"
        several = len(given) > 1
        return [
            float(
                check_scalar(alpha, f"alphas[{i}]" if several else "alphas", Real, min_val=0.0, include_boundaries=ends)
            )
            for i, alpha in enumerate(given)
        ]

    # ---- leaving one out ----

    def _leave_one_out(
        self, path: Any, X: Matrix, y: Floats, weight: Floats | None, alphas: list[float], scorer: Any, routed: Any
    ) -> None:
        squares, residuals = path.leave_one_out(alphas, scorer is not None or self.store_cv_results)
        Y = as_columns(y)
        if scorer is None:
            scores = -squares / len(Y)  # alphas x targets
        else:
            self._predict_weightless(path, X, Y, weight, alphas, residuals)
            predictions = Y[:, :, None] - residuals
            scores = self._score_predictions(predictions, y, scorer, routed.scorer.score)
        if self.alpha_per_target and Y.shape[1] > 1:
            best = scores.argmax(axis=0)
            self.alpha_, self.best_score_ = np.asarray(alphas)[best], scores[best, np.arange(Y.shape[1])]
        else:
            overall = scores.mean(axis=1)
            chosen = int(overall.argmax())
            self.alpha_, self.best_score_ = alphas[chosen], overall[chosen]
        if self.store_cv_results:
            if scorer is None:
                kept = residuals**2 if weight is None else weight[:, None, None] * residuals**2
                kept[np.isnan(kept)] = 0.0  # rows of weight zero
            else:
                kept = predictions
            self.cv_results_ = (kept[:, 0, :] if y.ndim == 1 else kept).astype(X.dtype, copy=False)

    def _predict_weightless(
        self, path: Any, X: Matrix, Y: Floats, weight: Floats | None, alphas: list[float], residuals: Floats
    ) -> None:
        """Fill in the residuals of rows of weight zero: no fit has seen them, so any fit predicts them."""
        if weight is None or weight.all():
            return
        without = np.flatnonzero(weight == 0)
        for a, alpha in enumerate(alphas):
            coef, intercept = split_point(path.coefficients([alpha] * Y.shape[1]), X.shape[1], self.fit_intercept)
            residuals[without, :, a] = Y[without] - (X[without] @ coef.T + intercept)

    def _score_predictions(self, predictions: Floats, y: Floats, scorer: Any, score_params: dict[str, Any]) -> Floats:
        """Score the left-out predictions: alphas x targets with alpha_per_target, else alphas x 1."""
        reader = _Predictions()
        targets = as_columns(y)
        apart = self.alpha_per_target
        columns = [slice(c, c + 1) for c in range(targets.shape[1])] if apart else [slice(None)]
        flat = y.ndim == 1 or apart
        return np.array(
            [
                [
                    scorer(
                        reader,
                        predictions[:, c, a].ravel() if flat else predictions[:, c, a],
                        targets[:, c].ravel() if flat else y,
                        **score_params,
                    )
                    for c in columns
                ]
                for a in range(predictions.shape[2])
            ]
        )

    # ---- folds ----

    def _hold_out_folds(
        self, X: Matrix, y: Floats, weight: Floats | None, alphas: list[float], scorer: Any, routed: Any
    ) -> None:
        for name in ("store_cv_results", "alpha_per_target"):
            if getattr(self, name):
                raise ValueError(
                    f"cv!=None and {name}=True are incompatible: leave cv out, to leave out one row at a time."
                )
        if is_sparse(X):
            X = X.tocsr()
        scores = []
        for train, test in check_cv(self.cv, y).split(X, y, **routed.splitter.split):
            path = ridge_path(X[train], as_columns(y[train]), None if weight is None else weight[train],
                              self.fit_intercept)  # fmt: skip
            held = {name: np.asarray(value)[test] for name, value in routed.scorer.score.items()}
            scores.append([self._score_fold(path, alpha, X[test], y[test], scorer, held) for alpha in alphas])
        mean = np.mean(scores, axis=0)
        chosen = int(mean.argmax())
        self.alpha_, self.best_score_ = alphas[chosen], mean[chosen]

    def _score_fold(self, path: Any, alpha: float, X: Matrix, y: Floats, scorer: Any, held: dict[str, Any]) -> float:
        model = _Fixed()
        targets = 1 if y.ndim == 1 else y.shape[1]
        coef, intercept = split_point(path.coefficients([alpha] * targets), X.shape[1], self.fit_intercept)
        model.coef_, model.intercept_ = (coef[0], intercept[0]) if y.ndim == 1 else (coef, intercept)
        model.n_features_in_ = X.shape[1]
        return float(scorer(model, X, y, **held))

    # ---- scores and routing ----

    def _scorer(self) -> Any:
        if _routing_enabled() and self.scoring is None:
            # Weights, where there are any, are always for the score as well.
            return get_scorer("r2").set_score_request(sample_weight=True)
        return check_scoring(self, scoring=self.scoring, allow_none=True)

    def _route(self, weight: Any, params: dict[str, Any], scorer: Any) -> Any:
        from sklearn.utils import Bunch

        if weight is not None:
            params = {**params, "sample_weight": weight}
        if _routing_enabled():
            return process_routing(self, "fit", **params)
        weigh = weight is not None and (self.cv is None or accepts_weights(scorer))
        return Bunch(
            scorer=Bunch(score={"sample_weight": weight} if weigh else {}), splitter=Bunch(split={"groups": None})
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata ``fit`` passes on, to the scorer and the splitter.

        Returns
        -------
        MetadataRouter
            scikit-learn's description of it.
        """
        mapping = MethodMapping()
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(scorer=self._scorer(), method_mapping=mapping.add(caller="fit", callee="score"))
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )


def ridge_path(X: Matrix, Y: Floats, weight: Floats | None, fit_intercept: bool) -> Any:
    """Factor the shorter side of X, from which every alpha's fit and left-out errors follow."""
    samples, columns = X.shape
    return _core.RidgePath(matrices.rows(X), Y, weight, fit_intercept, samples <= columns)


class _Predictions(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that reads its predictions off the rows, for scorers."""

    def predict(self, X: Floats) -> Floats:
        return X


class _Fixed(LinearRegressor):
    """A linear model whose coefficients are set from outside, for scorers."""

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002 - what tells scikit-learn that this is a learner
        return self

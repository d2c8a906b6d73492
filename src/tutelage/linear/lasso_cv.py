"""The lasso and the elastic net that choose their own alpha, by one path for each fold.

For each fold the fits of all alphas are one path, each begun where the last ended (`tutelage.linear.paths`), and their
mean squared errors on the rows held out are the curve of that fold. The alpha whose mean curve is lowest is fitted once
more on all rows:

    alpha_ = argmin over alpha of   (1 / folds) sum over folds of  mean squared error(alpha, fold).

The folds are independent, so as many of them run at once as there are threads.

Cost: a path for each fold and each l1_ratio, and one fit. It fails as every selection by cross-validation does: the
chosen model's score on those folds is too good, and the chosen set of columns contains too many.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(100, 8))
>>> y = X @ [3.0, 0, 0, -2.0, 0, 0, 0, 0] + rng.normal(size=100)
>>> model = LassoCV(cv=5, alphas=30).fit(X, y)
>>> model.mse_path_.shape, model.coef_[[0, 3]].round(0)
((30, 5), array([ 3., -2.]))
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import check_scalar
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.validation import column_or_1d

from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.certificate import warn_unless_trustworthy
from tutelage.linear.base import LinearRegressor
from tutelage.linear.lasso import NOT_CONVERGED, ElasticNet
from tutelage.linear.paths import Path, alpha_grid, follow_path
from tutelage.machine import get_threads, threads
from tutelage.parameters import (
    Arrays,
    Count,
    NonNegative,
    Positive,
    RandomState,
    Share,
    Splits,
    Verbosity,
    fitted,
)


class _PathCV(LinearRegressor):
    """What `LassoCV` and `ElasticNetCV` share."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True)
    path = staticmethod(ElasticNet.path)

    eps: Annotated[Positive, "The smallest alpha of a grid, relative to the largest."] = 1e-3
    alphas: Annotated[Count | Arrays, "How many alphas a grid has, or the alphas to choose from."] = 100
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    precompute: Annotated[
        bool | Arrays | Literal["auto"], "A hint: products of columns are made when they are needed."
    ] = "auto"
    max_iter: Annotated[Count, "The most rounds of each fit: working sets that are solved."] = 1000
    tol: Annotated[NonNegative, "The relative duality gap at which the solver stops."] = 1e-4
    copy_X: Annotated[bool, "Not needed: X is never written to."] = True
    cv: Annotated[Splits, "Folds to hold out; None is five."] = None
    verbose: Annotated[Verbosity, "Not needed: nothing is printed."] = False
    n_jobs: Annotated[int | None, "Not needed: set_threads says how many threads a fit uses."] = None
    positive: Annotated[bool, "Whether coefficients must not be negative."] = False
    random_state: Annotated[RandomState, "Not needed: nothing is drawn."] = None
    selection: Annotated[Literal["cyclic", "random"], "A hint: coefficients are visited in order."] = "cyclic"
    time_limit: Annotated[Positive | None, "The most seconds of each path."] = None

    alpha_: float = fitted("The chosen strength of the penalty.")
    alphas_: Floats = fitted("The alphas there were to choose from, falling; in rows of an l1_ratio.")
    mse_path_: Floats = fitted("The mean squared error of each alpha and fold; first by l1_ratio where there are many.")
    dual_gap_: float = fitted("How far from the minimum the risk can be.")
    n_iter_: int = fitted("Rounds of the last fit.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose alpha and fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts, in fits and errors.
        **params
            For the splitter, where metadata routing is enabled.

        Returns
        -------
        self
            The fitted model.
        """
        _raise_for_params(params, self, "fit")
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
        if len(shape) == 2 and shape[1] > 1:
            raise ValueError(
                f"For multi-task outputs, use MultiTask{type(self).__name__}: y has {shape[1]} columns, where one "
                "target is fitted."
            )
        X, y, weight = self.validate(X, y if len(shape) < 2 else column_or_1d(y, warn=True), sample_weight)
        ratios = np.atleast_1d(getattr(self, "l1_ratio", 1.0)).astype(float).tolist()
        grids = self._grids(X, y, weight, ratios)
        routed = process_routing(self, "fit", sample_weight=weight, **params) if _routing_enabled() else None
        folds = list(check_cv(self.cv).split(X, y, **(routed.splitter.split if routed else {})))
        errors = self._errors(X, y, weight, ratios, grids, folds)
        best = np.unravel_index(errors.mean(axis=2).argmin(), errors.shape[:2])
        self.alpha_, ratio = float(grids[best[0]][best[1]]), ratios[best[0]]
        self.alphas_ = np.asarray(grids) if isinstance(self.alphas, Integral) and len(ratios) > 1 else grids[0]
        self.mse_path_ = np.squeeze(errors)
        self._refit(X, y, weight, ratio)
        return self

    def _grids(self, X: Matrix, y: Floats, weight: Floats | None, ratios: list[float]) -> list[Floats]:
        given: Any = self.alphas
        if not isinstance(given, Integral):
            for i, alpha in enumerate(given):
                check_scalar(alpha, f"alphas[{i}]", Real, min_val=0.0, include_boundaries="left")
            return [np.sort(np.asarray(given, dtype=np.float64))[::-1]] * len(ratios)
        return [
            alpha_grid(
                X, y[:, None], weight, l1_ratio=ratio, fit_intercept=self.fit_intercept, eps=self.eps,
                count=int(given), positive=self.positive,
            )
            for ratio in ratios
        ]  # fmt: skip

    def _errors(
        self, X: Matrix, y: Floats, weight: Floats | None, ratios: list[float], grids: list[Floats], folds: list[Any]
    ) -> Floats:
        """Mean squared errors on held-out rows: ratios x alphas x folds. Warns of fits that did not arrive."""
        by_rows = X.tocsr() if is_sparse(X) else X

        def curve(job: tuple[float, Floats, Any]) -> tuple[Floats, Path]:
            ratio, alphas, (train, test) = job
            # A path on one thread each: the folds use the threads there are.
            with threads(1):
                path = follow_path(
                    by_rows[train], y[train], None if weight is None else weight[train], alphas=alphas, l1_ratio=ratio,
                    positive=self.positive, fit_intercept=self.fit_intercept, tol=self.tol, max_iter=self.max_iter,
                    time_limit=self.time_limit,
                )  # fmt: skip
            return held_out_errors(path, by_rows[test], y[test], None if weight is None else weight[test]), path

        jobs = [(ratio, grid, fold) for ratio, grid in zip(ratios, grids, strict=True) for fold in folds]
        with ThreadPoolExecutor(max(1, min(get_threads(), len(jobs)))) as pool:
            answers = list(pool.map(curve, jobs))
        for _, path in answers:
            worst = next((one for one in path.certificates if not one.reason.trustworthy), None)
            if worst is not None:
                warn_unless_trustworthy(worst, opening=NOT_CONVERGED, stacklevel=4)
        table = np.array([errors for errors, _ in answers]).reshape(len(ratios), len(folds), -1)
        return np.ascontiguousarray(np.moveaxis(table, 1, 2))

    def _refit(self, X: Matrix, y: Floats, weight: Floats | None, ratio: float) -> None:
        model = ElasticNet(
            alpha=self.alpha_, l1_ratio=ratio, fit_intercept=self.fit_intercept, positive=self.positive, tol=self.tol,
            max_iter=self.max_iter, time_limit=self.time_limit,
        ).fit(X, y, weight)  # fmt: skip
        self.coef_, self.intercept_, self.certificate_ = model.coef_, model.intercept_, model.certificate_
        self.dual_gap_, self.n_iter_ = model.dual_gap_, model.n_iter_

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata ``fit`` passes on, to the splitter.

        Returns
        -------
        MetadataRouter
            scikit-learn's description of it.
        """
        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add_self_request(self).add(splitter=check_cv(self.cv), method_mapping=mapping)


class LassoCV(_PathCV):
    """The lasso with the alpha of the least cross-validated squared error.

    Examples
    --------
    >>> from tutelage import LassoCV
    >>> X = [[float(i), float(i % 3)] for i in range(30)]
    >>> LassoCV(alphas=[0.01, 10.0]).fit(X, [2.0 * i for i in range(30)]).alpha_
    0.01
    """


class ElasticNetCV(_PathCV):
    """The elastic net with the alpha, and the l1_ratio, of the least cross-validated squared error.

    Examples
    --------
    >>> from tutelage import ElasticNetCV
    >>> X = [[float(i), float(i % 3)] for i in range(30)]
    >>> model = ElasticNetCV(l1_ratio=[0.1, 1.0], alphas=[0.01, 1.0]).fit(X, [2.0 * i for i in range(30)])
    >>> model.alpha_, model.l1_ratio_
    (0.01, 1.0)
    """

    l1_ratio: Annotated[Share | Arrays, "The share of the l1 part, or those to choose from."] = 0.5

    l1_ratio_: float = fitted("The chosen share of the l1 part.")

    def _refit(self, X: Matrix, y: Floats, weight: Floats | None, ratio: float) -> None:
        self.l1_ratio_ = ratio
        super()._refit(X, y, weight, ratio)


def held_out_errors(path: Path, X: Matrix, y: Floats, weight: Floats | None) -> Floats:
    """Give the mean squared error of each fit of a path on rows that it has not seen."""
    used = np.unique(path.coefs.indices)
    predictions = X[:, used] @ path.coefs[used].toarray() + path.intercepts
    errors: Floats = np.average((predictions - y[:, None]) ** 2, axis=0, weights=weight)
    return errors

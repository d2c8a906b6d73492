"""Logistic regression whose strength of penalty is chosen by cross-validation.

Problem. `LogisticRegression` needs C (and l1_ratio): the values whose models predict best where they were not fitted.

Algorithm. For each fold and each l1_ratio the fits go from the strongest penalty to the weakest, each started from the
last (a path): neighbouring optima are close, so most fits need one or two rounds. Each is scored on the rows left out;
scores are summed over the folds, and the best pair is fitted once more on all rows, started from the mean of the folds'
coefficients.

Cost. About folds * (1 + a few rounds for each C) fits of one model; one copy of the rows for each fold, one at a time.

It fails where `LogisticRegression` does. Folds whose training rows lack a class still give it coefficients, by which
it is improbable.

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> model = LogisticRegressionCV(
...     l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False
... ).fit(X, y)
>>> model.scores_.shape  # folds, l1_ratios, Cs
(5, 1, 10)
>>> model.C_ > 1
True
"""

from __future__ import annotations

import inspect
import numbers
import warnings
from collections.abc import Callable  # noqa: TC003 - parameters' hints are read at run time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn import get_config
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import metadata_routing
from sklearn.utils.multiclass import check_classification_targets

from tutelage.base import Accepts, Floats, is_sparse
from tutelage.certificate import Certificate, warn_unless_trustworthy
from tutelage.linear.accuracy import is_small
from tutelage.linear.hints import PenaltyName, check_solver, name_of_penalty, out_of_rounds, warn_of_penalty
from tutelage.linear.logistic import LogisticProblem, LogisticRegression
from tutelage.parameters import Arrays, Count, Hidden, Splits, fitted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tutelage.labels import Codes, Weights
    from tutelage.risk import Solution


@dataclass(frozen=True)
class _Grid:
    """What is tried: every C with every l1_ratio; `ratios` as they were given, of which some may be None."""

    Cs: Floats
    ratios: list[Any]
    numbers: list[float]  # the ratios, in numbers


@dataclass
class _Paths:
    """What came of it: folds x ratios x Cs, and for coefficients x scores x (columns and intercept)."""

    coefficients: Floats
    scores: Floats
    rounds: npt.NDArray[np.int32]


class LogisticRegressionCV(LogisticRegression):
    """Logistic regression that chooses its C and l1_ratio by cross-validation.

    A drop-in for scikit-learn's class of the same name. ``tol`` is the relative duality gap of each fit, and
    ``certificate_`` proves the last, on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tutelage import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(
    ...     Cs=[0.01, 1.0, 100.0], l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False
    ... )
    >>> model.fit(X, y).C_
    100.0
    """

    Cs: Annotated[Count | Arrays, "How many values of C to try, from 1e-4 to 1e4, or the values themselves."] = 10
    l1_ratios: Annotated[Arrays | Literal["warn"] | None, Hidden("warn"), "The values of l1_ratio to try."] = "warn"
    cv: Annotated[Splits, "The folds: how many, a splitter, or pairs of indices; None for five."] = None
    scoring: Annotated[
        str | Callable[..., Any] | None, Hidden("warn"), "What to choose by: a name of scikit-learn's or a function."
    ] = "warn"
    refit: Annotated[bool, "Whether to fit the best values on all rows, rather than average the folds' best fits."] = (
        True
    )
    use_legacy_attributes: Annotated[
        bool | Literal["warn"],
        Hidden("warn"),
        "Whether fitted attributes have the shapes that scikit-learn had before 1.10.",
    ] = "warn"
    penalty: Annotated[
        PenaltyName | Literal["deprecated"],
        Hidden("deprecated"),
        "The penalty by name. Deprecated: say it by ``l1_ratios``.",
    ] = "deprecated"
    C: ClassVar[float]  # type: ignore[misc]
    l1_ratio: ClassVar[float]  # type: ignore[misc]
    warm_start: ClassVar[bool]  # type: ignore[misc]

    accepts: ClassVar[Accepts] = Accepts(sparse=True, dtypes=(np.float64,))
    # Weights go to the scorer, which says whether it wants them.
    __metadata_request__score: ClassVar[dict[str, str]] = {"sample_weight": metadata_routing.UNUSED}

    Cs_: Floats = fitted("The values of C that were tried.")
    l1_ratios_: Any = fitted("The values of l1_ratio that were tried.")
    C_: Any = fitted("The best C; one a class with ``use_legacy_attributes``.")
    l1_ratio_: Any = fitted("The best l1_ratio; one a class with ``use_legacy_attributes``.")
    coefs_paths_: Any = fitted("Coefficients and intercept of each fold, l1_ratio, C and score.")
    scores_: Any = fitted("The score of each fold, l1_ratio and C.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose C and l1_ratio, and fit.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The labels.
        sample_weight : array of shape (n,), optional
            How much each row counts, in fits and scores.
        **params : Any
            What the splitter and the scorer ask for, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        self
            The fitted model.
        """
        self.check_parameters()
        _refuse_metadata(params, self, "fit")
        ratios = self._ratios_to_try()
        scoring = self._scoring_to_use()
        legacy = self._legacy()
        Cs = np.logspace(-4, 4, self.Cs) if isinstance(self.Cs, numbers.Integral) else np.asarray(self.Cs, dtype=float)
        if Cs.ndim != 1 or len(Cs) == 0 or not np.all(Cs > 0):
            raise ValueError(f"The 'Cs' parameter must be a count or a list of positive numbers, found {self.Cs!r}.")
        grid = _Grid(Cs, ratios, [self._number(ratio) for ratio in ratios])

        raw_weight = None if sample_weight is None else np.asarray(sample_weight)
        X, codes, weight = self.validate(X, y, sample_weight)
        self._check_liblinear(X)
        y = self.classes_[codes]
        check_classification_targets(y)  # scorers refuse labels of an unknown type, and so does the splitter
        split_params, score_params = self._routed(raw_weight, params)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y, **split_params))
        rows = X.tocsr() if is_sparse(X) else X  # whose rows can be taken quickly
        score = _Scorer(scoring, self.classes_, score_params, rows, y)
        paths = self._run(grid, rows, codes, weight, folds, score)
        self._choose(grid, paths, rows, codes, weight)
        self._store_paths(grid, paths, legacy, without_ratios=ratios == [None])
        return self

    def _run(
        self,
        grid: _Grid,
        X: Any,
        codes: Codes,
        weight: Weights | None,
        folds: Sequence[tuple[Any, Any]],
        score: _Scorer,
    ) -> _Paths:
        """Fit and score every point of the grid in every fold."""
        shape = (len(folds), len(grid.ratios), len(grid.Cs))
        scores = 1 if len(self.classes_) == 2 else len(self.classes_)
        paths = _Paths(
            np.empty((*shape, scores, X.shape[1] + int(self.fit_intercept))),
            np.empty(shape),
            np.empty(shape, dtype=np.int32),
        )
        doubtful: list[Certificate] = []
        for fold, (train, test) in enumerate(folds):
            problem = self._problem(X[train], codes[train], None if weight is None else weight[train])
            for r, ratio in enumerate(grid.numbers):
                start = None
                for c in np.argsort(grid.Cs, kind="stable"):
                    solution = self._minimise(problem, grid.Cs[c], ratio, start)
                    start = (solution.coef, solution.intercept)
                    if not solution.certificate.reason.trustworthy:
                        doubtful.append(solution.certificate)
                    paths.rounds[fold, r, c] = solution.certificate.rounds
                    paths.coefficients[fold, r, c] = self._with_intercept(solution)
                for c in range(len(grid.Cs)):
                    paths.scores[fold, r, c] = score(self._model(grid.Cs[c], paths.coefficients[fold, r, c]), test)
        if doubtful:
            opening = f"{len(doubtful)} of {paths.scores.size} fits of the paths did not arrive, the first because:"
            first = out_of_rounds(self.solver, doubtful[0])
            warn_unless_trustworthy(doubtful[0], opening=f"{opening} {first}".strip(), stacklevel=4)
        return paths

    def _problem(self, X: Any, codes: Codes, weight: Weights | None) -> LogisticProblem:
        return LogisticProblem(
            X,
            codes,
            weight,
            len(self.classes_),
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling if self.solver == "liblinear" else None,
        )

    def _minimise(self, problem: LogisticProblem, C: float, l1_ratio: float, start: Any) -> Solution:
        return problem.minimise(
            C,
            l1_ratio,
            start=start,
            solver=self.solver,
            tol=self.tol,
            max_rounds=self.max_iter,
        )

    def _with_intercept(self, solution: Solution) -> Floats:
        if not self.fit_intercept:
            coef: Floats = solution.coef
            return coef
        return np.column_stack([solution.coef, solution.intercept])

    def _model(self, C: float, coefficients: Floats) -> LogisticRegression:
        """Give a model with these coefficients, for a scorer."""
        model = LogisticRegression(C=C, solver=self.solver, fit_intercept=self.fit_intercept)
        model.classes_ = self.classes_
        model.n_features_in_ = self.n_features_in_
        if self.fit_intercept:
            model.coef_, model.intercept_ = coefficients[:, :-1], coefficients[:, -1]
        else:
            model.coef_, model.intercept_ = coefficients, np.zeros(len(coefficients))
        return model

    def _choose(self, grid: _Grid, paths: _Paths, X: Any, codes: Codes, weight: Weights | None) -> None:
        """Set the coefficients, C_ and l1_ratio_ from the best points of the grid."""
        folds = len(paths.scores)
        by_C = paths.scores.transpose(0, 2, 1)  # of equal scores the smallest C wins, then the first ratio
        if self.refit:
            total = by_C.sum(axis=0)
            c, r = np.unravel_index(int(total.argmax()), total.shape)
            self.C_, self.l1_ratio_ = grid.Cs[c], grid.ratios[r]
            mean = paths.coefficients[:, r, c].mean(axis=0)
            start = (mean[:, :-1], mean[:, -1]) if self.fit_intercept else (mean, np.zeros(len(mean)))
            # A small fit starts from nothing, so that its last digits depend on nothing else.
            cold = is_small(X, len(self.classes_))
            problem = self._problem(X, codes, weight)
            solution = self._minimise(problem, grid.Cs[c], grid.numbers[r], None if cold else start)
            self._keep_fit(solution, X)
            self._information = None
            return
        best = by_C.reshape(folds, -1).argmax(axis=1)
        cs, rs = np.unravel_index(best, by_C.shape[1:])
        mean = paths.coefficients[np.arange(folds), rs, cs].mean(axis=0)
        self.coef_ = mean[:, : X.shape[1]]
        self.intercept_ = mean[:, -1] if self.fit_intercept else np.zeros(len(mean))
        self.C_ = grid.Cs[cs].mean()
        self.l1_ratio_ = float(np.mean([grid.numbers[r] for r in rs])) if self._is_mixed(grid) else 0.0
        self._information = None

    def _is_mixed(self, grid: _Grid) -> bool:
        return any(0 < ratio < 1 for ratio in grid.numbers) or len(set(grid.numbers)) > 1

    def _store_paths(self, grid: _Grid, paths: _Paths, legacy: bool, *, without_ratios: bool) -> None:
        """Set what scikit-learn has of the paths, in its old shapes or its new ones."""
        self.Cs_ = grid.Cs
        self.l1_ratios_ = np.asarray(grid.ratios)
        if not legacy:
            self.C_ = float(self.C_)
            missing = 1.0 if self.penalty == "l1" else 0.0
            self.l1_ratio_ = missing if without_ratios else float(self.l1_ratio_)
            self.coefs_paths_, self.scores_, self.n_iter_ = paths.coefficients, paths.scores, paths.rounds
            return
        keys = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        coefficients, scores = paths.coefficients.swapaxes(1, 2), paths.scores.swapaxes(1, 2)
        rounds = paths.rounds.swapaxes(1, 2)[None]
        if without_ratios:
            coefficients, scores, rounds = coefficients[:, :, 0], scores[:, :, 0], rounds[..., 0]
        self.coefs_paths_ = {key: coefficients[..., place, :] for place, key in enumerate(keys)}
        self.scores_ = {key: scores.copy() for key in keys}
        self.n_iter_ = rounds
        self.C_, self.l1_ratio_ = np.full(len(keys), self.C_), np.full(len(keys), self.l1_ratio_)

    # ---- parameters ---------------------------------------------------------------------------------------------

    def _ratios_to_try(self) -> list[Any]:
        """Read l1_ratios and penalty, with scikit-learn's warnings; [None] where no ratio was given."""
        given: Any = self.l1_ratios
        if isinstance(given, str):
            warnings.warn(
                "The default value for l1_ratios will change from None to (0.0,) in scikit-learn 1.10; give "
                "l1_ratios=(0,) to have it now.",
                FutureWarning,
                stacklevel=3,
            )
            given = None
        elif given is None and self.penalty == "deprecated":
            warnings.warn(
                "'l1_ratios=None' was deprecated; give a list of numbers from 0 to 1.", FutureWarning, stacklevel=3
            )
        ratios: list[Any] = [None] if given is None else list(given)
        if self.penalty != "deprecated":
            warn_of_penalty("l1_ratios", "Cs", stacklevel=4)
        penalty = self._penalty_of(ratios)
        check_solver(self.solver, penalty, self.dual)
        valid = all(isinstance(ratio, numbers.Real) and 0 <= float(ratio) <= 1 for ratio in ratios)
        if (penalty == "elasticnet" or given is not None) and not (valid and ratios):
            raise ValueError(f"l1_ratios must be an array-like of numbers between 0 and 1; got (l1_ratios={given!r})")
        if self.penalty != "deprecated" and penalty != "elasticnet" and given is not None:
            warnings.warn(
                f"l1_ratios parameter is only used when penalty is 'elasticnet'. Got (penalty={penalty})",
                UserWarning,
                stacklevel=3,
            )
        return ratios

    def _penalty_of(self, ratios: list[Any]) -> PenaltyName:
        if self.penalty != "deprecated":
            return self.penalty
        names = {name_of_penalty(ratio or 0.0) for ratio in ratios}
        return names.pop() if len(names) == 1 else "elasticnet"

    def _number(self, ratio: Any) -> float:
        """Give the l1_ratio that is meant by one of the grid, which a penalty by name overrides."""
        if self.penalty in ("l1", "l2"):
            return 1.0 if self.penalty == "l1" else 0.0
        return float(ratio or 0.0)

    def _scoring_to_use(self) -> Any:
        if not isinstance(self.scoring, str) or self.scoring != "warn":
            return self.scoring
        warnings.warn(
            "The default value of the parameter 'scoring' will change from None, i.e. accuracy, to 'neg_log_loss' in "
            "scikit-learn 1.11; give scoring='neg_log_loss' or scoring='accuracy'.",
            FutureWarning,
            stacklevel=3,
        )
        return None

    def _legacy(self) -> bool:
        if not isinstance(self.use_legacy_attributes, str):
            return bool(self.use_legacy_attributes)
        warnings.warn(
            "The default value of use_legacy_attributes will change from True to False in scikit-learn 1.10, which "
            "gives the fitted attributes simpler shapes; give one of the two.",
            FutureWarning,
            stacklevel=3,
        )
        return True

    def _is_without_penalty(self) -> bool:
        return False

    # ---- scores and metadata ------------------------------------------------------------------------------------

    def score(self, X: Any, y: Any, sample_weight: Any = None, **score_params: Any) -> float:
        """Score the model on other rows by ``scoring``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their labels.
        sample_weight : array of shape (n,), optional
            How much each row counts.
        **score_params : Any
            What the scorer asks for, where scikit-learn's metadata routing is enabled.

        Returns
        -------
        float
            The score; accuracy where ``scoring`` was not given.
        """
        _refuse_metadata(score_params, self, "score")
        if sample_weight is not None:
            score_params["sample_weight"] = sample_weight
        if get_config()["enable_metadata_routing"]:
            score_params = metadata_routing.process_routing(self, "score", **score_params).scorer.score
        value: float = self._get_scorer()(self, X, y, **score_params)
        return value

    def _get_scorer(self) -> Any:
        named = self.scoring if self.scoring is not None else "accuracy"
        return get_scorer("accuracy" if isinstance(named, str) and named == "warn" else named)

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give what the splitter gets and what the scorer gets."""
        if get_config()["enable_metadata_routing"]:
            routed = metadata_routing.process_routing(self, "fit", sample_weight=sample_weight, **params)
            return routed.splitter.split, routed.scorer.score
        return {}, {} if sample_weight is None else {"sample_weight": sample_weight}

    def get_metadata_routing(self) -> Any:
        """Say which metadata goes where, for scikit-learn's metadata routing.

        Returns
        -------
        MetadataRouter
            The splitter's and the scorer's.
        """
        mapping = metadata_routing.MethodMapping
        to_scorer = mapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        return (
            metadata_routing.MetadataRouter(owner=self)
            .add_self_request(self)
            .add(splitter=self.cv, method_mapping=mapping().add(caller="fit", callee="split"))
            .add(scorer=self._get_scorer(), method_mapping=to_scorer)
        )


def _refuse_metadata(params: dict[str, Any], owner: Any, method: str) -> None:
    if params and not get_config()["enable_metadata_routing"]:
        raise ValueError(
            f"Passing extra keyword arguments to {type(owner).__name__}.{method}, found {sorted(params)}, is only "
            "supported if enable_metadata_routing=True, which you can set using `sklearn.set_config`."
        )


class _Scorer:
    """A scoring, told of all classes: a fold may lack some."""

    def __init__(self, scoring: Any, classes: Any, params: dict[str, Any], X: Any, y: Any) -> None:
        self.X, self.y = X, y
        self.params = params
        self.scorer = _told_of_classes(get_scorer(scoring), classes) if scoring is not None else None

    def __call__(self, model: LogisticRegression, test: Any) -> float:
        params = {
            name: np.asarray(value)[test] if np.shape(value)[:1] == (len(self.y),) else value
            for name, value in self.params.items()
        }
        if self.scorer is None:
            return model.score(self.X[test], self.y[test], **params)
        return float(self.scorer(model, self.X[test], self.y[test], **params))


def _told_of_classes(scorer: Any, classes: Any) -> Any:
    function = getattr(scorer, "_score_func", None)
    accepted = inspect.signature(function).parameters if function is not None else {}
    if "labels" not in accepted:
        return scorer
    positive = {"pos_label": classes[-1]} if len(classes) == 2 and "pos_label" in accepted else {}
    return make_scorer(
        function,
        greater_is_better=scorer._sign == 1,  # noqa: SLF001 - a scorer has no public name for what it is made of
        response_method=scorer._response_method,  # noqa: SLF001
        labels=classes,
        **{**positive, **scorer._kwargs},  # noqa: SLF001
    )

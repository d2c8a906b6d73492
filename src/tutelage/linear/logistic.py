"""Logistic regression: probabilities from a linear score.

Problem. For two classes, y = -1 or +1, the probability of the second is 1 / (1 + exp(-z)), z = x . w + b. For k classes
there are k scores and p_c = exp(z_c) / sum_j exp(z_j). The fit maximises the likelihood of the labels, held back by a
penalty:

    minimise over w, b:   sum_i s_i log(1 + exp(-y_i z_i))  +  (1 / C) penalty(w)            (two classes)
                          sum_i s_i (log sum_c exp(z_ic) - z_i,y_i)  +  (1 / C) penalty(w)   (k classes)
    penalty(w) = l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2

Divided by S = sum s it is the sentence of `tutelage.risk` with strength 1 / (C S).

Algorithm. Convex and smooth: Newton's method with a fused pass, from a sample of the rows where there are many, or
truncated Newton where the columns are many; coordinate descent over working sets where l1_ratio > 0. Any name of
scikit-learn's solvers is taken as a hint and leads to the fastest of these; names of our own (`tutelage.solvers`) are
orders. The only trace that "liblinear" leaves is its objective, in which the intercept is penalised like a coefficient
of a column that is constantly ``intercept_scaling``.

The k scores of the multinomial model may all be moved by the same number without changing a probability. Where the
penalty does not settle it, scores are centred: coefficients and intercepts sum to zero over the classes.

Cost. Some 5 to 10 readings of X, one of them for the proof; k^2 d^2 memory for Newton's method while k d is small.

It fails, and says so by a ConvergenceWarning with the certificate's reason, where the classes can be separated and
nothing penalises: then no finite coefficients are the best, since larger ones are always better.

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> model = LogisticRegression().fit(X, y)
>>> model.predict(X[:2])
array([0, 0])
>>> model.certificate_.relative_gap < 1e-4
True
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from scipy.special import log_expit, log_softmax

from tutelage import losses, penalties
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.linear.accuracy import minimise_well
from tutelage.linear.base import LinearClassifier, SparseCoefficients, probabilities
from tutelage.linear.callbacks import CallbackSupport, rounds_told
from tutelage.linear.hints import (
    HINTS,
    PenaltyName,
    SolverName,
    check_solver,
    name_of_penalty,
    out_of_rounds,
    warn_of_penalty,
)
from tutelage.linear.inference import Information, WithInference, information_at
from tutelage.parameters import (
    Hidden,
    Interval,
    NonNegative,
    NonNegativeCount,
    Positive,
    RandomState,
    Range,
    Verbosity,
    fitted,
    parameter,
)
from tutelage.risk import Risk, Solution

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes, Weights


def elastic_penalty(strength: float, l1_ratio: float) -> Any:
    """Give the penalty strength (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2) in its simplest form.

    Examples
    --------
    >>> elastic_penalty(0.5, 0.0)
    L2(strength=0.5)
    """
    if strength == 0:
        return penalties.NoPenalty()
    if l1_ratio == 0:
        return penalties.L2(strength)
    if l1_ratio == 1:
        return penalties.L1(strength)
    return penalties.ElasticNet(strength * l1_ratio, strength * (1 - l1_ratio))


class LogisticProblem:
    """Rows and labels of a logistic regression, to be fitted at one strength of the penalty or at many.

    Parameters
    ----------
    X : matrix of shape (n, d)
        The rows.
    codes : array of shape (n,)
        The index of each row's class.
    weight : array of shape (n,) or None
        How much each row counts.
    classes : int
        How many classes there are, in these rows or elsewhere.
    fit_intercept : bool, default=True
        Whether there is an intercept.
    intercept_scaling : float, optional
        The constant of a column whose coefficient, penalised like the others, is the intercept; None for an intercept
        of its own.
    """

    def __init__(
        self,
        X: Matrix,
        codes: Codes,
        weight: Weights | None,
        classes: int,
        *,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
    ) -> None:
        self.columns = X.shape[1]
        self.scores = 1 if classes == 2 else classes
        self.scaling = intercept_scaling if fit_intercept else None
        self.X = X if self.scaling is None else _with_constant(X, self.scaling)
        self.own_intercept = fit_intercept and self.scaling is None
        self.weight = weight
        self.total = float(len(codes)) if weight is None else float(weight.sum())
        if self.scores == 1:
            self.loss: Any = losses.Logistic()
            self.y: Floats = np.where(codes == 1, 1.0, -1.0)
        else:
            self.loss = losses.Multinomial()
            self.y = codes.astype(np.float64)

    def minimise(
        self,
        C: float,
        l1_ratio: float,
        *,
        start: tuple[Any, Any] | None = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_rounds: int = 1000,
        time_limit: float | None = None,
    ) -> Solution:
        """Fit at one strength; coefficients have the shape (scores, d), intercepts (scores,)."""
        strength = 0.0 if math.isinf(C) else 1.0 / (C * self.total)
        solution = minimise_well(
            Risk(self.loss, elastic_penalty(strength, l1_ratio), self.own_intercept, self.scores),
            self.X,
            self.y,
            self.weight,
            solver="auto" if solver in HINTS else solver,
            tol=tol,
            smooth=l1_ratio == 0,
            max_rounds=max_rounds,
            time_limit=time_limit,
            start=None if start is None else self._point(*start),
        )
        coef = np.atleast_2d(solution.coef)
        intercept: Floats = np.atleast_1d(np.asarray(solution.intercept, dtype=np.float64))
        if self.scaling is not None:
            coef, intercept = coef[:, :-1], coef[:, -1] * self.scaling
        if self.scores > 1:
            if self.own_intercept:
                intercept = intercept - intercept.mean()
            if l1_ratio == 0 or strength == 0:
                coef = coef - coef.mean(axis=0)
        return Solution(coef, intercept, solution.certificate)

    def _point(self, coef: Any, intercept: Any) -> Floats:
        """Give coefficients and intercepts in one vector, as the core wants its start."""
        coef = np.asarray(coef, dtype=np.float64).reshape(self.scores, -1)
        if coef.shape[1] != self.columns:
            raise ValueError(
                f"The coefficients to start from have {coef.shape[1]} columns and X has {self.columns}; set "
                "warm_start=False for the first fit on other features."
            )
        intercept = np.asarray(intercept, dtype=np.float64).ravel()
        if self.scaling is not None:
            return np.column_stack([coef, intercept / self.scaling]).ravel()
        return np.concatenate([coef.ravel(), intercept]) if self.own_intercept else coef.ravel()

    def information(self, solution: Solution) -> Information | None:
        """Give Fisher's information at a fit without penalty, for its standard errors."""
        return information_at(
            self.loss, self.X, self.y, self.weight, solution, fit_intercept=self.own_intercept, total=self.total
        )


def _with_constant(X: Matrix, value: float) -> Matrix:
    constant = np.full((X.shape[0], 1), value, dtype=X.dtype)
    if is_sparse(X):
        return sparse.hstack([X, sparse.csr_array(constant)], format="csr")
    return np.hstack([X, constant])


class LogisticRegression(CallbackSupport, SparseCoefficients, WithInference, LinearClassifier):
    """Logistic regression, of two classes or of many, with any elastic-net penalty or none.

    A drop-in for scikit-learn's class of the same name. ``tol`` is the relative duality gap at which the fit stops, and
    ``certificate_`` is the proof. ``model.inference()`` gives standard errors where nothing was penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "yes", "no", "yes"])
    >>> model = LogisticRegression(C=10.0).fit(X, y)
    >>> model.predict([[-1.0], [4.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.predict_proba([[1.5]]).round(6)
    array([[0.5, 0.5]])
    """

    penalty: Annotated[
        PenaltyName | Literal["deprecated"] | None,
        Hidden("deprecated"),
        "The penalty by name. Deprecated: say it by ``l1_ratio`` and ``C``.",
    ] = parameter(default="deprecated", kw_only=False)
    C: Annotated[
        float,
        Interval(0, closed="right"),
        "Inverse strength of the penalty, against the sum of the losses; ``inf`` for none.",
        Range(1e-4, 1e4, logarithmic=True),
    ] = 1.0
    l1_ratio: Annotated[
        float | None,
        Interval(0, 1, closed="both"),
        "Share of the sum of absolute values in the penalty: 0 is the squared norm (ridge), 1 the lasso.",
    ] = 0.0
    dual: Annotated[bool, "Whether liblinear would solve the dual: a hint, which changes nothing."] = False
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-4
    fit_intercept: Annotated[bool, "Whether to fit an intercept."] = True
    intercept_scaling: Annotated[
        Positive, "With ``solver='liblinear'``, the constant whose penalised coefficient is the intercept."
    ] = 1
    class_weight: Annotated[
        dict[Any, float] | Literal["balanced"] | None, "Weights by class; ``'balanced'`` gives all the same total."
    ] = None
    random_state: Annotated[RandomState, "Unused: no solver here draws random numbers."] = None
    solver: Annotated[
        SolverName, "A name of scikit-learn's is a hint; one of ours (`tutelage.solvers`) says what runs."
    ] = "lbfgs"
    max_iter: Annotated[NonNegativeCount, "The most rounds of the solver."] = 100
    verbose: Annotated[Verbosity, "Whether to print the certificate."] = 0
    warm_start: Annotated[bool, "Whether to start from the coefficients of the last fit."] = False
    n_jobs: Annotated[int | None, "Deprecated, without effect; see `tutelage.set_threads`."] = None

    accepts: ClassVar[Accepts] = Accepts(sparse=True)
    n_iter_: Any = fitted("The rounds that were made, in an array of one.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, time_limit: float | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The labels.
        sample_weight : array of shape (n,), optional
            How much each row counts.
        time_limit : float, optional
            The most seconds.

        Returns
        -------
        self
            The fitted model.
        """
        self.check_parameters()
        C, l1_ratio = self._strength_and_ratio()
        if self.n_jobs is not None:
            warnings.warn(
                f"'n_jobs' has no effect; got n_jobs={self.n_jobs}. Leave it out, and see tutelage.set_threads.",
                FutureWarning,
                stacklevel=2,
            )
        before = (self.coef_, self.intercept_) if self.warm_start and hasattr(self, "coef_") else None
        X, codes, weight = self.validate(X, y, sample_weight)
        self._check_liblinear(X)
        liblinear = self.solver == "liblinear"
        problem = LogisticProblem(
            X,
            codes,
            weight,
            len(self.classes_),
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling if liblinear else None,
        )
        start = None
        if before is not None and not liblinear and before[0].shape[0] == problem.scores:
            start = (before[0].toarray() if is_sparse(before[0]) else before[0], before[1])

        def fit(rounds: int) -> Solution:
            return problem.minimise(
                C, l1_ratio, start=start, solver=self.solver, tol=self.tol, max_rounds=rounds, time_limit=time_limit
            )

        if getattr(self, "_skl_callbacks", None) and self.solver == "lbfgs":
            solution = rounds_told(self, X, y, weight, self.max_iter, fit, _attributes(X.dtype))
        else:
            solution = fit(self.max_iter)
        self._keep_fit(solution, solution.coef if liblinear else X)
        self._information = problem.information(solution) if math.isinf(C) and not liblinear else None
        return self

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, started at the fits of all rows.

        Parameters
        ----------
        X, y : arrays
            All rows and their classes.
        folds : list of (train, test)
            Row numbers.
        grid : list of dict
            The candidates.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        iterator of FoldPath or None
            See `tutelage.fold_paths`.
        """
        from tutelage.linear.logistic_folds import logistic_fold_paths

        return logistic_fold_paths(self, X, y, folds, grid, sample_weight)

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set scikit-learn's callbacks, which are told of every round of a fit with the default solver.

        Parameters
        ----------
        *callbacks : callback
            See `sklearn.callback`.

        Returns
        -------
        self
            The model.
        """
        if self.solver != "lbfgs":
            warnings.warn(
                f"Callbacks are only supported in {type(self).__name__} for solver='lbfgs', found "
                f"solver={self.solver!r}: they will not be told of its rounds.",
                UserWarning,
                stacklevel=2,
            )
        return super().set_callbacks(*callbacks)

    def _keep_fit(self, solution: Solution, like: Any) -> None:
        certificate = solution.certificate
        self.n_iter_ = np.array([certificate.rounds], dtype=np.int32)
        opening = out_of_rounds(self.solver, certificate)
        self.keep(solution.coef, solution.intercept, certificate, like, opening=opening, stacklevel=5)
        if not self.fit_intercept:
            self.intercept_ = np.zeros(len(solution.intercept), dtype=like.dtype)
        if self.verbose:
            print(certificate)

    def _check_liblinear(self, X: Matrix) -> None:
        """Refuse what liblinear refuses, for those who asked for it."""
        if self.solver != "liblinear":
            return
        way_out = "use solver='auto'"
        if len(self.classes_) > 2:
            raise ValueError(
                "The 'liblinear' solver does not support multiclass classification (n_classes >= 3), found "
                f"{len(self.classes_)} classes; {way_out}, or OneVsRestClassifier around it."
            )
        if is_sparse(X) and X.indices.dtype == np.int64:
            raise ValueError(
                f"Only sparse matrices with 32-bit integer indices are accepted by liblinear, found int64; {way_out}."
            )
        if X.shape[0] and X.max() > 1e30:
            raise ValueError(
                "Using the 'liblinear' solver while X contains a maximum value > 1e30 results in a frozen fit. Please "
                f"choose another solver or rescale the input X: {way_out}."
            )

    def _strength_and_ratio(self) -> tuple[float, float]:
        """Read C and l1_ratio out of the three parameters that scikit-learn has for them, with its warnings."""
        ratio = self.l1_ratio
        if self.penalty == "deprecated":
            if ratio is None:
                warnings.warn("'l1_ratio=None' was deprecated; use a number from 0 to 1.", FutureWarning, stacklevel=3)
            none = math.isinf(self.C)
            name = None if none else name_of_penalty(ratio or 0.0)
            check_solver(self.solver, name, self.dual)
            return self.C, 0.0 if none else ratio or 0.0
        warn_of_penalty("l1_ratio", "C", stacklevel=4)
        check_solver(self.solver, self.penalty, self.dual)
        if self.penalty != "elasticnet" and ratio is not None and 0 < ratio < 1:
            warnings.warn(
                f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={self.penalty})",
                UserWarning,
                stacklevel=3,
            )
        if (self.penalty == "l2" and ratio != 0) or (self.penalty == "l1" and ratio != 1):
            warnings.warn(
                f"Inconsistent values: penalty={self.penalty} with l1_ratio={ratio}. Leave penalty out and say it by "
                "l1_ratio only.",
                UserWarning,
                stacklevel=3,
            )
        if self.penalty == "elasticnet" and ratio is None:
            raise ValueError("l1_ratio must be specified when penalty is elasticnet; give a number from 0 to 1.")
        if self.penalty is None:
            if self.C != 1.0:
                warnings.warn(
                    "Setting penalty=None will ignore the C and l1_ratio parameters", UserWarning, stacklevel=3
                )
            return math.inf, 0.0
        return self.C, {"l1": 1.0, "l2": 0.0}.get(self.penalty, ratio or 0.0)

    def predict_proba(self, X: Any) -> Floats:
        """Give the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            Rows sum to one; columns are in the order of ``classes_``.
        """
        return probabilities(self.decision_function(X), multinomial=True)

    def _predict_proba_lr(self, X: Any) -> Floats:
        # scikit-learn's name for the probabilities of one model a class, made to sum to one.
        return probabilities(self.decision_function(X), multinomial=False)

    def predict_log_proba(self, X: Any) -> Floats:
        """Give the logarithm of the probability of each class, finite however small the probability is.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            Columns are in the order of ``classes_``.
        """
        scores = self.decision_function(X)
        answer: Floats
        if scores.ndim == 1:
            answer = np.column_stack([log_expit(-scores), log_expit(scores)])
        else:
            answer = log_softmax(scores, axis=1)
        return answer

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.solver != "liblinear"
        return tags


def _attributes(kind: Any) -> Callable[[Solution], dict[str, Any]]:
    """Give the fitted attributes of a solution, for a callback."""
    return lambda solution: {"coef_": solution.coef.astype(kind), "intercept_": solution.intercept.astype(kind)}

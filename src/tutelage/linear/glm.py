"""Generalised linear models: counts, amounts and times, whose spread grows with their mean.

Problem. The target has a distribution whose variance is dispersion * mean^power, and a function of its mean, the link,
is linear in x: mean = exp(x . w + b) (log) or mean = x . w + b (identity). The fit maximises the likelihood, held back
by a squared norm; half the unit deviance is the negative log-likelihood up to what does not depend on the mean:

    minimise over w, b:   (1 / S) sum_i s_i deviance(y_i, mean_i) / 2  +  alpha |w|^2 / 2

    power  distribution       deviance / 2                                 targets
    0      normal             (y - m)^2 / 2                                real
    1      Poisson            y log(y / m) - y + m                         y >= 0
    1..2   compound Poisson   the formula of `tutelage.losses.Tweedie`     y >= 0
    2      gamma              y / m - log(y / m) - 1                       y > 0
    3      inverse Gaussian   (y - m)^2 / (2 m^2 y)                        y > 0

Algorithm. Newton's method, in its forms of `tutelage.risk`, started at the logarithm of the mean target. With the log
link the risk is convex for powers from 1 to 2 and the certificate a duality gap; for others it is not, the fit ends at
a stationary point, and the certificate says so. With the identity link means must stay positive (powers above 0):
a step that would leave is shortened, and the expected curvature (Fisher's scoring) stands for the true one.

Cost. As logistic regression: 5 to 10 readings of X.

It fails, and says so, where a mean of zero is best (all targets zero, or zero wherever a column is not) and nothing
penalises: the optimum is then at infinity.

>>> import numpy as np
>>> X, y = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [4.0, 3.0]]), np.array([12.0, 17.0, 22.0, 21.0])
>>> model = PoissonRegressor(alpha=1.0).fit(X, y)
>>> model.coef_.round(3), model.intercept_.round(3)
(array([0.121, 0.158]), np.float64(2.089))
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import special
from sklearn.utils.validation import check_array

from tutelage import _core, losses
from tutelage.linear.accuracy import minimise_well
from tutelage.linear.base import LinearRegressor
from tutelage.linear.hints import out_of_rounds
from tutelage.linear.inference import Information, WithInference, information_at
from tutelage.linear.logistic import elastic_penalty
from tutelage.parameters import Count, Interval, NonNegative, Positive, Range, Verbosity, fitted
from tutelage.risk import Risk, Solution

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.base import Floats, Matrix
    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Weights

HINTS = ("lbfgs", "newton-cholesky")
SolverName = Literal["lbfgs", "newton-cholesky", "auto", "newton", "truncated_newton"]


@dataclass(frozen=True, eq=False, repr=False)
class TweedieOfMean(losses.Loss):
    """Half the unit deviance for variance mean^power, the score being the mean itself (identity link).

    Infinite where the mean is not positive. Its curvature is the expected one, mean^-power, which is never negative.

    Examples
    --------
    >>> TweedieOfMean(power=1.0).value(np.array([2.0]), np.array([2.0]))
    array([0.])
    """

    name: ClassVar[str] = "tweedie_of_mean"
    targets: ClassVar[str] = "real"  # checked by the learner
    power: float = 1.0

    def __post_init__(self) -> None:
        if self.power == 1:  # the one power that is convex in the mean everywhere, with its conjugate
            object.__setattr__(self, "conjugate", self._poisson_conjugate)
        object.__setattr__(self, "convex", self.power == 1)

    def native(self, scores: int = 1) -> _core.Loss:
        """Give the native form: this object, asked for whole vectors."""
        return _core.user_loss(self, scores)

    def value(self, y: Any, z: Any) -> Any:
        """Give the loss of each row."""
        power = self.power
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if power == 1:
                value = special.xlogy(y, y / z) - y + z
            elif power == 2:
                value = np.log(z / y) + y / z - 1
            else:
                top = np.maximum(y, 0.0) ** (2 - power) / ((1 - power) * (2 - power))
                value = top - y * z ** (1 - power) / (1 - power) + z ** (2 - power) / (2 - power)
        return np.where(z > 0, value, np.inf)

    def slope(self, y: Any, z: Any) -> Any:
        """Give the derivative in the mean."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(z > 0, (z - y) * z**-self.power, 0.0)

    def curvature(self, y: Any, z: Any) -> Any:  # noqa: ARG002 - the expected curvature does not depend on the target
        """Give the expected second derivative."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(z > 0, z**-self.power, 0.0)

    @staticmethod
    def _poisson_conjugate(y: Any, a: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(a <= 1, -special.xlogy(y, np.maximum(1 - a, 0.0)), np.inf)


class GeneralisedLinearRegressor(WithInference, LinearRegressor):
    """Base of the regressors of this chapter: a power, a link and a squared norm."""

    alpha: Annotated[NonNegative, "Strength of the squared norm; 0 for none.", Range(1e-6, 1e2, logarithmic=True)] = 1.0
    fit_intercept: Annotated[bool, "Whether to fit an intercept."] = True
    solver: Annotated[
        SolverName, "A name of scikit-learn's is a hint; one of ours (`tutelage.solvers`) says what runs."
    ] = "lbfgs"
    max_iter: Annotated[Count, "The most rounds of the solver."] = 100
    tol: Annotated[Positive, "Relative duality gap at which the fit stops."] = 1e-4
    warm_start: Annotated[bool, "Whether to start from the coefficients of the last fit."] = False
    verbose: Annotated[Verbosity, "Whether to print the certificate."] = 0
    time_limit: Annotated[Positive | None, "The most seconds of a fit."] = None

    n_iter_: int = fitted("The rounds that were made.")

    def _power(self) -> float:
        """The power of the mean that the variance is."""
        raise NotImplementedError

    def _link(self) -> Literal["log", "identity"]:
        return "log"

    def _loss(self) -> losses.Loss:
        power = self._power()
        if self._link() == "identity":
            return losses.Squared() if power == 0 else TweedieOfMean(power=power)
        if power == 1:
            return losses.Poisson()
        return losses.Gamma() if power == 2 else losses.Tweedie(power)

    def _smallest_target(self) -> tuple[float, bool]:
        """The lower bound of the targets, and whether it is allowed itself."""
        power = self._power()
        if power <= 0:
            return -math.inf, False
        return 0.0, power < 2

    def _check_targets(self, y: Floats) -> None:
        bound, included = self._smallest_target()
        if len(y) and not (y.min() >= bound if included else y.min() > bound):
            raise ValueError(
                f"Some value(s) of y are out of the valid range of the loss of {type(self).__name__}: the smallest is "
                f"{y.min():g}, and targets must be {'at least' if included else 'above'} 0 for the power "
                f"{self._power():g}; drop these rows or choose another power."
            )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The targets.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        self._check_targets(y)
        solution = minimise_well(
            Risk(self._loss(), elastic_penalty(self.alpha, 0.0), self.fit_intercept),
            X,
            y,
            weight,
            tol=self.tol,
            solver="auto" if self.solver in HINTS else self.solver,
            max_rounds=self.max_iter,
            time_limit=self.time_limit,
            start=self._start(X, y, weight),
        )
        self.n_iter_ = solution.certificate.rounds
        self.keep_solution(solution, X, opening=out_of_rounds(self.solver, solution.certificate))
        self._information = self._information_of(X, y, weight, solution) if self.alpha == 0 else None
        if self.verbose:
            print(solution.certificate)
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
            All rows and their targets.
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
        from tutelage.linear.logistic_folds import deviance_fold_paths

        return deviance_fold_paths(self, X, y, folds, grid, sample_weight)

    def _start(self, X: Matrix, y: Floats, weight: Weights | None) -> Floats | None:
        columns = X.shape[1]
        if self.warm_start and getattr(self, "coef_", np.empty(0)).shape == (columns,):
            before = np.append(self.coef_, self.intercept_) if self.fit_intercept else self.coef_
            return np.asarray(before, dtype=np.float64)
        if self.fit_intercept:
            mean = float(np.average(y, weights=weight))
            if self._link() == "identity":
                return np.append(np.zeros(columns), mean)
            return np.append(np.zeros(columns), math.log(mean)) if mean > 0 else None
        if self._link() == "identity" and self._power() != 0:
            return self._positive_start(X, y, weight)
        return None

    def _positive_start(self, X: Matrix, y: Floats, weight: Weights | None) -> Floats:
        """Means must be positive from the first: those of least squares, where they are."""
        start = minimise_well(Risk(losses.Squared(), fit_intercept=False), X, y, weight, tol=1e-6).coef
        if not np.all(X @ start > 0):
            raise ValueError(
                f"{type(self).__name__} with link='identity' and fit_intercept=False found no coefficients with "
                "positive means to start from; set fit_intercept=True or link='log'."
            )
        floats: Floats = start
        return floats

    def _information_of(self, X: Matrix, y: Floats, weight: Weights | None, solution: Solution) -> Information | None:
        """Fisher's information is expected curvature: that of targets which are their means."""
        total = float(len(y)) if weight is None else float(weight.sum())
        scores = X @ solution.coef + solution.intercept
        mean = np.exp(scores) if self._link() == "log" else scores
        freedom = total - len(solution.coef) - int(self.fit_intercept)
        power = self._power()
        dispersion = 1.0
        if power != 1:
            pearson = np.average((y - mean) ** 2 / mean**power, weights=weight) * total
            dispersion = float(pearson) / freedom if freedom > 0 else math.nan
        return information_at(
            self._loss(),
            X,
            np.ascontiguousarray(mean, dtype=np.float64),
            weight,
            solution,
            fit_intercept=self.fit_intercept,
            total=total,
            dispersion=np.array([dispersion]),
        )

    def _is_without_penalty(self) -> bool:
        return self.alpha == 0

    def _way_out_of_penalty(self) -> str:
        return "set alpha=0"

    def predict(self, X: Any) -> Floats:
        """Predict the means of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            The means.
        """
        scores = self.scores(X)
        return np.exp(scores, out=scores) if self._link() == "log" else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give D^2, the share of the deviance that the model explains; with the squared loss it is R^2.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their targets.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        float
            1 is the best; 0 is as good as the mean of y.
        """
        X = self.validate_rows(X)
        scores = X @ self.coef_ + self.intercept_
        targets = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        weight = self._validate_weight(sample_weight, X)
        self._check_targets(targets)
        mean = float(np.average(targets, weights=weight))
        constant = mean if self._link() == "identity" else math.log(mean) if mean > 0 else -math.inf
        loss = self._loss()
        explained = np.average(loss.value(targets, scores), weights=weight)
        null = np.average(loss.value(targets, np.full(len(targets), constant)), weights=weight)
        return float(1 - explained / null)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._smallest_target()[0] == 0
        return tags

    # scikit-learn's tools and tests know the loss of such a model by these names.

    def _get_loss(self) -> Any:
        from sklearn import _loss as theirs

        if self._link() == "identity":
            return theirs.HalfTweedieLossIdentity(power=self._power())
        return theirs.HalfTweedieLoss(power=self._power())

    @property
    def _base_loss(self) -> Any:
        return self._get_loss()


class PoissonRegressor(GeneralisedLinearRegressor):
    """Poisson regression: counts, whose variance is their mean, with the log link.

    A drop-in for scikit-learn's class of the same name. ``tol`` is the relative duality gap at which the fit stops, and
    ``certificate_`` is the proof. With ``alpha=0``, ``model.inference()`` gives standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import PoissonRegressor
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 6.0, 14.0])
    >>> PoissonRegressor(alpha=0).fit(X, y).predict([[4.0]]).round(1)
    array([35.1])
    """

    def _power(self) -> float:
        return 1.0

    def _get_loss(self) -> Any:
        from sklearn import _loss as theirs

        return theirs.HalfPoissonLoss()


class GammaRegressor(GeneralisedLinearRegressor):
    """Gamma regression: positive amounts, whose standard deviation is proportional to their mean, with the log link.

    A drop-in for scikit-learn's class of the same name. ``tol`` is the relative duality gap at which the fit stops, and
    ``certificate_`` is the proof. With ``alpha=0``, ``model.inference()`` gives standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import GammaRegressor
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 4.0, 8.0])
    >>> GammaRegressor(alpha=0, tol=1e-10).fit(X, y).predict([[4.0]]).round(6)
    array([16.])
    """

    def _power(self) -> float:
        return 2.0

    def _get_loss(self) -> Any:
        from sklearn import _loss as theirs

        return theirs.HalfGammaLoss()


class TweedieRegressor(GeneralisedLinearRegressor):
    """Regression of targets whose variance is their mean to some power.

    A drop-in for scikit-learn's class of the same name. ``tol`` is the relative duality gap at which the fit stops
    (the relative gradient where the risk is not convex), and ``certificate_`` is the proof. With ``alpha=0``,
    ``model.inference()`` gives standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import TweedieRegressor
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 2.0, 4.0, 6.0])
    >>> TweedieRegressor(power=0, alpha=0).fit(X, y).predict([[4.0]]).round(6)
    array([8.])
    """

    power: Annotated[
        float,
        Interval(closed="neither"),
        "0 normal, 1 Poisson, between them and 2 compound, 2 gamma, 3 inverse Gaussian.",
    ] = 0.0
    link: Annotated[
        Literal["auto", "identity", "log"],
        "What is linear in x; auto: the mean for powers up to 0, else its logarithm.",
    ] = "auto"

    def _power(self) -> float:
        return float(self.power)

    def _link(self) -> Literal["log", "identity"]:
        if self.link == "auto":
            return "identity" if self.power <= 0 else "log"
        return self.link

"""Maximum a posteriori estimation: what was believed of the coefficients beforehand, and what the data say.

Before any data, w ~ N(mean, covariance). A row of data has a likelihood, whose negative logarithm is a loss. By Bayes'
rule the posterior density is their product, and its maximum minimises

    sum_i s_i loss(y_i, x_i . w + b)  +  (w - mean)' covariance^-1 (w - mean) / 2

for the logistic or multinomial loss of classes; for targets with normal noise of variance v, whose loss is
(y - z)^2 / (2 v), the same. So a prior is a quadratic penalty, and ridge regression a posteriori: N(0, tau^2 I) is the
strength 1 / tau^2 against the sum of the losses (v / tau^2 for least squares). Nothing is believed of the intercept.

Near its maximum the posterior is a normal distribution (Laplace 1774; for least squares it is one exactly), with

    covariance of (w, b)  =  (X' D X  +  covariance^-1)^-1,     D = s / v,  or the curvatures of the loss

which is what ``inference()`` tells: coefficients, posterior deviations and credible intervals. Columns that the data do
not settle keep the deviation they had beforehand.

The scores of the multinomial model share an arbitrary constant, in which the intercepts are settled by summing to zero.

Cost: that of ridge or logistic regression, and d^3 for a full covariance. It fails to be Bayesian about the noise
variance and the prior themselves, which are taken as known.

>>> import numpy as np
>>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.1, 0.9, 2.1, 2.9])
>>> sure = MAPRegressor(mean=1.0, covariance=0.01, noise_variance=0.04).fit(X, y)
>>> print(sure.inference())
           coefficient  standard error       z         p   [0.025  0.975]
x0              0.9778         0.06667  14.667  1.05e-48   0.8471   1.108
intercept      0.03333          0.1414   0.236     0.814  -0.2438  0.3105
Laplace's posterior, intervals of level 0.95.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import linalg

from tutelage import losses, penalties
from tutelage.base import Accepts, Floats, is_sparse
from tutelage.linear.accuracy import minimise_well
from tutelage.linear.base import LinearClassifier, LinearRegressor, probabilities
from tutelage.linear.inference import Information, WithInference, information_at
from tutelage.parameters import Arrays, Count, NonNegative, Positive, Range, fitted, invalid, parameter
from tutelage.risk import Risk, Solution

if TYPE_CHECKING:
    from tutelage.base import Matrix
    from tutelage.labels import Weights

SolverName = Literal["auto", "closed_form", "newton", "truncated_newton", "lbfgs"]


@dataclass(frozen=True)
class SharedConstant(Information):
    """Information of several scores whose intercepts are settled by summing to zero, their coefficients by a prior."""

    def covariance(self) -> Floats:
        """Invert, and take the common part of the intercepts away.

        Returns
        -------
        array of shape (p, p)
            In the order of ``coef_.ravel()``, then the intercepts.
        """
        width = self.scores * self.columns
        centre = np.eye(len(self.matrix))
        centre[width:, width:] -= 1.0 / self.scores
        # Any settling of the common part does: it is taken away below. This one has the size of the others.
        flat = np.zeros_like(self.matrix)
        flat[width:, width:] = np.trace(self.matrix[width:, width:]) / self.scores**2
        prior = flat if self.prior is None else self.prior + flat
        whole = Information(self.matrix, self.shift, self.scores, self.intercept, prior).covariance()
        made: Floats = centre @ whole @ centre.T
        return made


class PriorModel(WithInference):
    """What `MAPClassifier` and `MAPRegressor` share: a Gaussian prior, and the posterior's curvature."""

    mean: Any
    covariance: Any
    solver: str
    tol: float
    max_rounds: int
    time_limit: float | None
    fit_intercept: bool
    warm_start: bool

    n_iter_: int = fitted("The rounds that were made.")

    def _fit_posterior(
        self, loss: Any, X: Matrix, y: Floats, weight: Weights | None, scores: int, noise: float = 1.0
    ) -> Solution:
        total = float(X.shape[0]) if weight is None else float(weight.sum())
        prior = self._prior(scores, X.shape[1], noise / total)
        solution = minimise_well(
            Risk(loss, prior, self.fit_intercept, scores if scores > 1 else None), X, y, weight, tol=self.tol,
            solver=self.solver, max_rounds=self.max_rounds, time_limit=self.time_limit,
            start=self._start(scores, X.shape[1]),
        )  # fmt: skip
        if scores > 1 and self.fit_intercept:
            solution = replace(solution, intercept=solution.intercept - np.mean(solution.intercept))
        self.n_iter_ = solution.rounds
        self._information = self._posterior(loss, X, y, weight, solution, total, noise)
        return solution

    def _prior(self, scores: int, columns: int, strength: float) -> Any:
        mean, covariance = np.asarray(self.mean, dtype=np.float64), np.asarray(self.covariance, dtype=np.float64)
        shapes: list[tuple[int, ...]] = [(), (columns,)] + ([(scores, columns)] if scores > 1 else [])
        if mean.shape not in shapes or not np.isfinite(mean).all():
            raise invalid(self, "mean", f"finite, one number or of a shape among {shapes[1:]}")
        if covariance.shape not in [(), (columns,), (columns, columns)]:
            raise invalid(self, "covariance", f"a variance, or of a shape among {[(columns,), (columns, columns)]}")
        if covariance.ndim == 0 and not mean.any():
            return penalties.L2(strength / float(covariance))
        if mean.ndim == 1 and scores > 1:
            mean = np.tile(mean, (scores, 1))
        return penalties.GaussianPrior(mean=mean[()], covariance=covariance[()], strength=strength)

    def _start(self, scores: int, columns: int) -> Floats | None:
        coef = np.atleast_2d(getattr(self, "coef_", np.empty((0, 0))))
        if not self.warm_start or coef.shape != (scores, columns):
            return None
        start: Floats = coef.ravel().astype(np.float64)
        return np.append(start, self.intercept_) if self.fit_intercept else start

    def _posterior(
        self, loss: Any, X: Matrix, y: Floats, weight: Weights | None, solution: Solution, total: float, noise: float
    ) -> Information | None:
        scores, columns = np.atleast_2d(solution.coef).shape
        size = scores * (columns + int(self.fit_intercept))
        information = information_at(loss, X, y, weight, solution, fit_intercept=self.fit_intercept, total=total)
        if information is None:
            return None
        prior = np.zeros((size, size))
        prior[: scores * columns, : scores * columns] = np.kron(np.eye(scores), self._precision(columns))
        kind = SharedConstant if scores > 1 and self.fit_intercept else Information
        return kind(information.matrix / noise, information.shift, scores, self.fit_intercept, prior)

    def _precision(self, columns: int) -> Floats:
        covariance = np.asarray(self.covariance, dtype=np.float64)
        if covariance.ndim < 2:
            return np.diag(np.broadcast_to(1.0 / covariance, columns))
        inverse: Floats = linalg.cho_solve(linalg.cho_factor(covariance, lower=True), np.eye(columns))
        return (inverse + inverse.T) / 2

    def _is_without_penalty(self) -> bool:
        return True  # a prior is no obstacle to inference


class MAPClassifier(PriorModel, LinearClassifier):
    """Logistic regression under a Gaussian prior, with its Laplace posterior; of two classes or of many.

    Examples
    --------
    >>> from tutelage import MAPClassifier
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0, 0, 1, 1]
    >>> model = MAPClassifier(covariance=[4.0, 0.01]).fit(X, y)
    >>> model.inference().error.round(2)[:2]
    array([1.29, 0.1 ])
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    mean: Annotated[float | Arrays, "What is expected of the coefficients: one number, or one for each."] = parameter(
        default=0.0, kw_only=False
    )
    covariance: Annotated[
        float | Arrays,
        "How far from it they may be: a variance, a variance for each, or the matrix.",
        Range(1e-3, 1e3, logarithmic=True),
    ] = parameter(default=1.0, kw_only=False)
    solver: Annotated[SolverName, "What runs; `tutelage.solvers` lists them."] = "auto"
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-6
    max_rounds: Annotated[Count, "The most rounds of the solver."] = 1000
    time_limit: Annotated[Positive | None, "The most seconds of a fit."] = None
    fit_intercept: Annotated[bool, "Whether there is an intercept, of which nothing is believed beforehand."] = True
    class_weight: Annotated[
        dict[Any, float] | Literal["balanced"] | None, "Weights by class; ``'balanced'`` gives all the same total."
    ] = None
    warm_start: Annotated[bool, "Whether to start from the coefficients of the last fit."] = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The classes.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts; a row of weight two is two rows.

        Returns
        -------
        self
            The fitted model.
        """
        X, codes, weight = self.validate(X, y, sample_weight)
        classes = len(self.classes_)
        if classes == 2:
            solution = self._fit_posterior(losses.Logistic(), X, 2.0 * codes - 1.0, weight, 1)
        else:
            solution = self._fit_posterior(losses.Multinomial(), X, codes.astype(np.float64), weight, classes)
        self.keep_solution(solution, X)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Give the probability of each class, at the coefficients of most posterior probability.

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


class MAPRegressor(PriorModel, LinearRegressor):
    """Linear regression with normal noise under a Gaussian prior, with its posterior.

    Examples
    --------
    >>> from tutelage import MAPRegressor
    >>> X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]
    >>> model = MAPRegressor(covariance=1.0, noise_variance=1.0, fit_intercept=False).fit(X, y)
    >>> model.coef_.round(6), model.inference().error.round(6)
    (array([0.933333]), array([0.258199]))
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    mean: Annotated[float | Arrays, "What is expected of the coefficients: one number, or one for each."] = parameter(
        default=0.0, kw_only=False
    )
    covariance: Annotated[
        float | Arrays,
        "How far from it they may be: a variance, a variance for each, or the matrix.",
        Range(1e-3, 1e3, logarithmic=True),
    ] = parameter(default=1.0, kw_only=False)
    noise_variance: Annotated[Positive, "The variance of the targets around their means.",
                              Range(1e-3, 1e3, logarithmic=True)] = 1.0  # fmt: skip
    solver: Annotated[SolverName, "What runs; `tutelage.solvers` lists them."] = "auto"
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-6
    max_rounds: Annotated[Count, "The most rounds of the solver."] = 1000
    time_limit: Annotated[Positive | None, "The most seconds of a fit."] = None
    fit_intercept: Annotated[bool, "Whether there is an intercept, of which nothing is believed beforehand."] = True
    warm_start: Annotated[bool, "Whether to start from the coefficients of the last fit."] = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts; a row of weight two is two rows.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        self.keep_solution(self._fit_posterior(losses.Squared(), X, y, weight, 1, self.noise_variance), X)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the targets of rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        return_std : bool, default=False
            Whether to give the deviation of a new target from its prediction too: that of the noise and that of the
            posterior together.

        Returns
        -------
        array of shape (n,), or two of them
            The predictions, and their deviations.
        """
        means = self.scores(X)
        if not return_std:
            return means
        X = self.validate_rows(X)
        covariance = self._usable_information().covariance()
        columns = X.shape[1]
        spread = X @ covariance[:columns, :columns]
        variance = (X.multiply(spread).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, spread)) + 0.0
        variance = np.asarray(variance, dtype=np.float64).ravel()
        if self.fit_intercept:
            variance = variance + 2 * (X @ covariance[:columns, -1]) + covariance[-1, -1]
        return means, np.sqrt(variance + self.noise_variance)

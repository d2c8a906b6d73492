"""Bridge regression: least squares with the penalty |w|^q, for any q > 0.

    minimise over w, b:   (1 / 2S) sum_i s_i (y_i - x_i . w - b)^2  +  alpha sum_j |w_j|^q

One family from subset selection to ridge (Frank and Friedman 1993):

    q -> 0   counts the coefficients that are not zero; 0 < q < 1 sets small ones to zero and leaves large ones alone
    q = 1    the lasso: zeros, and a constant pull on the others
    1 < q    no exact zeros; the pull grows with the size
    q = 2    ridge: a pull in proportion to the size (alpha here is half the strength of ``L2``)

From q = 1 on the problem is convex, and its certificate proves how near the minimum the fit is. Below 1 it is not:
there are many local minima, the fit ends at a point where no single coefficient can lower the risk, and the certificate
says so (``certificate_.kind``). To end in a good one the fit begins at the lasso with a comparable pull, unless
``start`` says otherwise.

Cost: that of a lasso; q = 2 is solved in closed form. It fails, for q < 1, to be stable: a small change of the data may
choose other columns.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(80, 6))
>>> y = X @ [2.0, 0, 0, 1.0, 0, 0] + 0.1 * rng.normal(size=80)
>>> BridgeRegressor(q=0.5, alpha=0.05).fit(X, y).coef_.round(1)
array([2., 0., 0., 1., 0., 0.])
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np

from tutelage import losses, penalties
from tutelage.base import Accepts
from tutelage.linear.base import LinearRegressor
from tutelage.parameters import Arrays, Count, NonNegative, Positive, Range, fitted, parameter
from tutelage.risk import Risk, minimise


class BridgeRegressor(LinearRegressor):
    """Least squares with an |w|^q penalty, for any q > 0; not convex below 1, and saying so.

    Examples
    --------
    >>> from tutelage import BridgeRegressor
    >>> model = BridgeRegressor(alpha=0.1, q=1.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.certificate_.kind.value
    'duality gap'
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    alpha: Annotated[NonNegative, "Strength of the penalty.", Range(1e-5, 1e2, logarithmic=True)] = parameter(
        default=1.0, kw_only=False
    )
    q: Annotated[Positive, "The exponent: 1 is the lasso, 2 is ridge, below 1 the problem is not convex.",
                 Range(0.3, 2)] = 1.0  # fmt: skip
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
    max_iter: Annotated[Count, "The most rounds of the solver."] = 1000
    tol: Annotated[
        NonNegative, "The relative duality gap at which the solver stops; below q = 1, the violation of stationarity."
    ] = 1e-6
    start: Annotated[Arrays | None, "Coefficients to begin with; None chooses."] = None
    time_limit: Annotated[Positive | None, "The most seconds that the fit may take."] = None

    n_iter_: int = fitted("Rounds of the solver.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The targets.
        sample_weight : array of shape (n,) or number, optional
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        options: dict[str, Any] = {"tol": self.tol, "max_rounds": self.max_iter, "time_limit": self.time_limit}
        begin = self._start(X, y, weight, options)
        solution = minimise(Risk(losses.Squared(), self._penalty(), self.fit_intercept), X, y, weight, start=begin,
                            **options)  # fmt: skip
        self.n_iter_ = solution.rounds
        self.keep_solution(solution, X)
        return self

    def _penalty(self) -> Any:
        if self.alpha == 0:
            return penalties.NoPenalty()
        if self.q == 2:
            return penalties.L2(strength=2.0 * self.alpha)
        return penalties.L1(strength=self.alpha) if self.q == 1 else penalties.Lq(strength=self.alpha, q=self.q)

    def _start(self, X: Any, y: Any, weight: Any, options: dict[str, Any]) -> Any:
        """Where to begin: as the user says, or below q = 1 at the lasso, whose small coefficients can still fall."""
        if self.start is not None:
            start = np.asarray(self.start, dtype=np.float64).ravel()
            if len(start) != X.shape[1]:
                raise ValueError(
                    f"start must have one coefficient for each of the {X.shape[1]} columns of X, found {len(start)}."
                )
            return np.append(start, 0.0) if self.fit_intercept else start
        if self.q >= 1 or self.alpha == 0:
            return None
        lasso = minimise(
            Risk(losses.Squared(), penalties.L1(strength=self.alpha * self.q), self.fit_intercept), X, y, weight,
            **options,
        )  # fmt: skip
        return np.append(lasso.coef, lasso.intercept) if self.fit_intercept else lasso.coef

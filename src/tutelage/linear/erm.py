"""Empirical risk minimisation: any loss, any penalty, any features, any solver, in one sentence.

    minimise over w, b:   (1 / S) sum_i s_i loss(y_i, z_i)  +  penalty(w),      z_i = features(x_i) . w + b

Most linear learners are this sentence with two words chosen:

    loss                penalty   is known as
    squared             l2        ridge regression
    absolute            l1        penalised median regression
    epsilon_insensitive l2        support vector regression
    hinge               l2        support vector machine
    logistic            l1        sparse logistic regression
    exponential         l2        what AdaBoost minimises, in linear functions
    crammer_singer      l2        multi-class support vector machine

`ERMClassifier` and `ERMRegressor` say it with any words: the name of one, an object of `tutelage.losses` or
`tutelage.penalties` with parameters of its own, or an object of yours with ``value`` and ``slope`` (or ``prox``).

Several classes. A loss of several scores (multinomial, crammer_singer, weston_watkins) learns them in one problem. Any
other learns each class against the rest, one problem a class, and the class of the largest score is the prediction.

Probabilities, where the loss has a link to them: for the minimiser over all functions z(x) and p = P(y = 1 | x),

    logistic        z = log(p / (1 - p))          exponential                  z = log(p / (1 - p)) / 2
    multinomial     z_c = log p_c + anything      squared, squared_hinge,
                                                  modified_huber               z = 2 p - 1

and for the others, such as the hinge, which only finds the side of 1/2, there is no ``predict_proba``.

Cost, and when it fails: those of the solver and the words; `tutelage.solvers` lists them, and ``certificate_`` says
what ran and how far from the minimum it ended.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(200, 2))
>>> y = np.where(X[:, 0] * X[:, 1] > 0, "like", "unlike")
>>> from tutelage import Polynomial
>>> ERMClassifier(loss="hinge", strength=0.01, features=Polynomial(degree=2)).fit(X, y).score(X, y) > 0.9
True

A loss of one's own is an object with two methods:

>>> class LogCosh:
...     def value(self, y, z):
...         return np.logaddexp(z - y, y - z) - np.log(2)
...     def slope(self, y, z):
...         return np.tanh(z - y)
>>> model = ERMRegressor(loss=LogCosh(), penalty="none").fit(X, X @ [1.0, -2.0])
>>> model.coef_.round(4)
array([ 1., -2.])
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tutelage import losses, penalties
from tutelage.base import Accepts, Floats, Matrix, is_sparse
from tutelage.linear.base import LinearClassifier, LinearModel, LinearRegressor
from tutelage.linear.least_squares import total
from tutelage.parameters import Count, Has, NonNegative, Positive, Range, fitted, parameter
from tutelage.risk import Risk, Solution, minimise

if TYPE_CHECKING:
    from tutelage.certificate import Certificate
    from tutelage.labels import Weights

PenaltyName = Literal[
    "none", "l2", "l1", "elastic_net", "lq", "non_negative", "mcp", "scad", "group_l2", "l_infinity", "gaussian_prior"
]
SolverName = Literal[
    "auto",
    "closed_form",
    "newton",
    "truncated_newton",
    "lbfgs",
    "proximal_gradient",
    "coordinate_descent",
    "augmented_lagrangian",
]
ClassifierLoss = Literal[
    "logistic",
    "hinge",
    "squared_hinge",
    "smoothed_hinge",
    "perceptron",
    "exponential",
    "modified_huber",
    "squared",
    "multinomial",
    "crammer_singer",
    "weston_watkins",
]
RegressorLoss = Literal[
    "squared",
    "absolute",
    "huber",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
    "quantile",
    "poisson",
    "gamma",
    "tweedie",
]

# The strength of a penalty that is given by its name alone.
USUAL_STRENGTH = 1e-3
# Losses of counts and amounts, whose score is the logarithm of the mean.
LOG_LINK = {"poisson", "gamma", "tweedie"}


def _identity(scores: Floats) -> Floats:
    """P for z = 2 p - 1."""
    shares: Floats = (1 + np.clip(scores, -1, 1)) / 2
    return shares


# P(y = 1 | x) for the score of x, by the name of the loss.
LINKS: dict[str, Any] = {
    "logistic": expit,
    "exponential": lambda scores: expit(2 * scores),
    "modified_huber": _identity,
    "squared": _identity,
    "squared_hinge": _identity,
}


def penalty_of(penalty: Any, strength: float | None) -> Any:
    """Give the penalty that a name or an object and a strength mean together.

    Parameters
    ----------
    penalty : str or penalty
        A name, or an object of `tutelage.penalties`, or one of a user's.
    strength : float or None
        None is `USUAL_STRENGTH` for a name, and for an object what it says itself. The elastic net's is shared equally
        by its two parts.

    Examples
    --------
    >>> penalty_of("elastic_net", 0.5), penalty_of(penalties.Lq(q=0.5), 0.1), penalty_of(penalties.L1(2.0), None)
    (ElasticNet(l1=0.25, l2=0.25), Lq(strength=0.1, q=0.5), L1(strength=2))
    """
    by_name = isinstance(penalty, str)
    if strength is None and not by_name:
        return penalty
    word = penalties.named(penalty) if by_name else penalty
    strength = USUAL_STRENGTH if strength is None else float(strength)
    names = {field.name for field in fields(word)} if is_dataclass(word) else set()
    if "strength" in names:
        return replace(word, strength=strength)
    if isinstance(word, penalties.ElasticNet) and by_name:
        return replace(word, l1=strength / 2, l2=strength / 2)
    if isinstance(word, penalties.NonNegative) and by_name:
        return replace(word, l2=strength)
    if isinstance(word, penalties.NoPenalty) and (strength == 0 or by_name):
        return word
    raise ValueError(
        f"The 'strength' parameter must be None for a penalty without one. Got strength={strength:g} with "
        f"penalty={word!r} instead; say the strength in the penalty itself."
    )


class RiskModel(LinearModel):
    """What `ERMClassifier` and `ERMRegressor` share: the words, the features and the fit of one problem."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    features: Annotated[Any, Has("fit", "transform"), "A transformer that makes the features, or None."] | None
    loss: Any
    penalty: Any
    strength: float | None
    solver: str
    tol: float
    max_rounds: int
    time_limit: float | None
    fit_intercept: bool
    warm_start: bool

    features_: Any = fitted("The fitted transformer.")
    n_iter_: int = fitted("The rounds of the solver; the most of them, where there are several problems.")

    def _loss(self) -> Any:
        return losses.named(self.loss) if isinstance(self.loss, str) else self.loss

    def _facts(self) -> Any:
        """What a loss says of itself, ours or a user's: its targets and its scores."""
        loss = self._loss()
        return loss.facts.targets if isinstance(loss, losses.Loss) else getattr(loss, "targets", None)

    def _fit_features(self, X: Matrix) -> Matrix:
        self.features_ = None if self.features is None else clone(self.features).fit(X)
        return self._expand(X)

    def _expand(self, X: Matrix) -> Matrix:
        if self.features_ is None:
            return X
        made = self.features_.transform(X)
        if is_sparse(made):
            return made.tocsr()
        made = np.asarray(made)
        return made if made.dtype in (np.float32, np.float64) else made.astype(np.float64)

    def _minimise(self, X: Matrix, y: Floats, weight: Weights | None, row: int, scores: int | None = None) -> Solution:
        """Solve one problem, from the coefficients of the last fit where that was asked for."""
        risk = Risk(self._loss(), penalty_of(self.penalty, self.strength), self.fit_intercept, scores)
        return minimise(
            risk, X, y, weight, solver=self.solver, tol=self.tol, max_rounds=self.max_rounds,
            time_limit=self.time_limit, start=self._start(X.shape[1], row, scores),
        )  # fmt: skip

    def _start(self, columns: int, row: int, scores: int | None) -> Floats | None:
        known = getattr(self, "_point", None) if self.warm_start else None
        if known is None:
            return None
        coef, intercept = known
        if coef.shape[1] != columns or (scores is not None and len(coef) != scores) or row >= len(coef):
            return None
        coef, intercept = (coef, intercept) if scores is not None else (coef[row : row + 1], intercept[row : row + 1])
        start: Floats = np.concatenate([coef.ravel(), intercept]) if self.fit_intercept else coef.ravel()
        return start

    def _keep_solutions(self, found: list[Solution]) -> tuple[Floats, Floats, Certificate]:
        coef = np.concatenate([np.atleast_2d(one.coef) for one in found])
        intercept = np.concatenate([np.atleast_1d(np.asarray(one.intercept, dtype=np.float64)) for one in found])
        self._point = (coef, intercept)
        certificate = total([one.certificate for one in found])
        self.n_iter_ = certificate.rounds
        return coef, intercept, certificate

    def scores(self, X: Any) -> Floats:
        """Give the scores of rows: features(X) coef' + intercept.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,), or (n, k) where ``coef_`` has rows
            The scores.
        """
        check_is_fitted(self)
        scores: Floats = self._expand(self.validate_rows(X)) @ self.coef_.T + self.intercept_
        return scores


def _link_of(model: ERMClassifier) -> Any:
    """How the scores of a model become probabilities, or None."""
    if isinstance(model.loss, str | losses.Loss):
        name = model.loss if isinstance(model.loss, str) else model.loss.name
        return softmax if name == "multinomial" else LINKS.get(name)
    return getattr(model.loss, "probability", None)


def _has_probabilities(model: ERMClassifier) -> bool:
    if _link_of(model) is None:
        raise AttributeError(
            f"predict_proba needs a loss with a link to probabilities, found loss={model.loss!r}; use logistic, "
            "multinomial, modified_huber, squared_hinge, squared or exponential, or give your loss a method "
            "probability(z)."
        )
    return True


class ERMClassifier(RiskModel, LinearClassifier):
    """A linear classifier of any loss and penalty, in features of your choice.

    Examples
    --------
    >>> from tutelage import ERMClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], ["a", "b", "c"]
    >>> model = ERMClassifier(loss="crammer_singer", penalty="l2", strength=0.01).fit(X, y)
    >>> model.predict([[0.1, 0.9]])
    array(['b'], dtype='<U1')
    """

    loss: Annotated[
        Any, Has("value", "slope"), "What a row costs: a name, an object of `tutelage.losses`, or yours."
    ] | (ClassifierLoss) = parameter(default="logistic", kw_only=False)
    penalty: Annotated[
        Any, Has("value"), "What coefficients cost: a name, an object of `tutelage.penalties`, or yours."
    ] | (PenaltyName) = parameter(default="l2", kw_only=False)
    strength: Annotated[
        NonNegative | None,
        "Strength of the penalty; None is 0.001 for a name, and for an object what it says itself.",
        Range(1e-6, 1e1, logarithmic=True),
    ] = None
    features: Annotated[Any, Has("fit", "transform"), "A transformer that makes the features."] | None = None
    solver: Annotated[SolverName, "What runs; `tutelage.solvers` lists them."] = "auto"
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-6
    max_rounds: Annotated[Count, "The most rounds of the solver."] = 1000
    time_limit: Annotated[Positive | None, "The most seconds of each problem."] = None
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
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
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, codes, weight = self.validate(X, y, sample_weight)
        X = self._fit_features(X)
        classes = len(self.classes_)
        if self._together():
            found = [self._minimise(X, codes.astype(np.float64), weight, 0, classes)]
        else:
            self._check_targets()
            found = [
                self._minimise(X, np.where(codes == one, 1.0, -1.0), weight, row)
                for row, one in enumerate(range(classes) if classes > 2 else [1])
            ]
        coef, intercept, certificate = self._keep_solutions(found)
        if self._together() and classes == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.keep(coef, intercept, certificate, X)
        return self

    def _together(self) -> bool:
        """Whether one problem learns the scores of all classes."""
        return bool(getattr(self._loss(), "several_scores", False)) or self._facts() == "category"

    def _check_targets(self) -> None:
        if self._facts() not in ("label", "real", None):
            raise ValueError(
                f"The 'loss' parameter of ERMClassifier must be one for classes, found loss={self.loss!r}, whose "
                f"targets are {self._facts()} numbers; choose logistic or hinge, or use ERMRegressor."
            )

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Give the probability of each class, by the link of the loss.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            Rows sum to one; columns are in the order of ``classes_``. Those of one problem a class are made to.
        """
        scores, link = self.decision_function(X), _link_of(self)
        if self._together():
            if scores.ndim == 1:
                scores = np.column_stack([np.zeros_like(scores), scores])
            joint: Floats = softmax(scores, axis=1) if link is softmax else link(scores)
            return joint
        shares: Floats = np.asarray(link(scores))
        if shares.ndim == 1:
            both: Floats = np.column_stack([1 - shares, shares])
            return both
        sums = shares.sum(axis=1, keepdims=True)
        none = sums[:, 0] == 0
        shares[none], sums[none] = 1.0, shares.shape[1]  # no class will have it: all alike
        shares /= sums
        return shares


class ERMRegressor(RiskModel, LinearRegressor):
    """A linear regressor of any loss and penalty, in features of your choice.

    The losses of counts and amounts (Poisson, gamma, Tweedie) have the logarithm of the mean as score, and predict the
    mean; a loss of your own may have a method ``mean(z)`` that turns scores into predictions.

    Examples
    --------
    >>> from tutelage import ERMRegressor, losses
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 400.0]
    >>> ERMRegressor(losses.Huber(delta=0.1), "none").fit(X, y).predict([[10.0]]).round(0)
    array([10.])
    """

    loss: Annotated[
        Any, Has("value", "slope"), "What a row costs: a name, an object of `tutelage.losses`, or yours."
    ] | (RegressorLoss) = parameter(default="squared", kw_only=False)
    penalty: Annotated[
        Any, Has("value"), "What coefficients cost: a name, an object of `tutelage.penalties`, or yours."
    ] | (PenaltyName) = parameter(default="l2", kw_only=False)
    strength: Annotated[
        NonNegative | None,
        "Strength of the penalty; None is 0.001 for a name, and for an object what it says itself.",
        Range(1e-6, 1e1, logarithmic=True),
    ] = None
    features: Annotated[Any, Has("fit", "transform"), "A transformer that makes the features."] | None = None
    solver: Annotated[SolverName, "What runs; `tutelage.solvers` lists them."] = "auto"
    tol: Annotated[NonNegative, "Relative duality gap at which the fit stops."] = 1e-6
    max_rounds: Annotated[Count, "The most rounds of the solver."] = 1000
    time_limit: Annotated[Positive | None, "The most seconds of a fit."] = None
    fit_intercept: Annotated[bool, "Whether there is an intercept; it has no price."] = True
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
            How much each row counts.

        Returns
        -------
        self
            The fitted model.
        """
        X, y, weight = self.validate(X, y, sample_weight)
        self._check_targets(y)
        X = self._fit_features(X)
        coef, intercept, certificate = self._keep_solutions([self._minimise(X, y, weight, 0)])
        self.keep(coef[0], float(intercept[0]), certificate, X)
        return self

    def _check_targets(self, y: Floats) -> None:
        kind = self._facts()
        if kind in ("label", "category"):
            raise ValueError(
                f"The 'loss' parameter of ERMRegressor must be one for numbers, found loss={self.loss!r}, whose "
                "targets are classes; choose squared or absolute, or use ERMClassifier."
            )
        smallest = y.min(initial=np.inf)
        if (kind == "positive" and smallest <= 0) or (kind == "nonnegative" and smallest < 0):
            raise ValueError(
                f"The targets y must be {'above' if kind == 'positive' else 'at least'} 0 for loss={self.loss!r}, "
                f"found {smallest:g}; drop these rows, or choose another loss."
            )

    def predict(self, X: Any) -> Floats:
        """Predict the targets of rows: the scores, or the means where the loss has a link.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            The predictions.
        """
        scores = self.scores(X)
        if not isinstance(self.loss, str | losses.Loss):
            mean = getattr(self.loss, "mean", None)
            return scores if mean is None else mean(scores)
        name = self.loss if isinstance(self.loss, str) else self.loss.name
        return np.exp(scores) if name in LOG_LINK else scores

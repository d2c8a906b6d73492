"""A generative classifier: any density for each class, and Bayes' rule.

    P(c | x) = P(c) P(x | c) / sum over b of P(b) P(x | b)

Each class has a family of its own (`tutelage.discriminant.densities`): Gaussian, Poisson, Bernoulli or gamma columns,
independent inside a class, or a mixture of several such members, which makes columns dependent and densities of any
shape. So one class may be normal and another skewed; the boundary follows.

With one member and the same family in all classes of Poisson, Bernoulli or gamma rows (of one shape), log P(1 | x) /
P(0 | x) is linear in x or in log x: logistic regression again. `score_samples` gives log P(x), low for novelties;
`sample` draws rows.

Cost: a pass a class, times the rounds of expectation-maximisation for mixtures. It fails where the family is wrong,
however many rows there are; compare log P(x) of families on rows left out.

>>> import numpy as np
>>> X = np.array([[0.0], [1.0], [1.0], [6.0], [9.0], [8.0]])
>>> model = GenerativeClassifier("poisson").fit(X, [0, 0, 0, 1, 1, 1])
>>> odds = np.diff(model.predict_log_proba([[2.0], [3.0], [4.0]])).ravel()
>>> bool(np.isclose(odds[2] - odds[1], odds[1] - odds[0]))  # linear in x
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Classifier, Floats, Matrix
from tutelage.discriminant.densities import FAMILIES, Mixture
from tutelage.discriminant.joint import JointScores
from tutelage.parameters import Arrays, Count, Positive, RandomState, fitted, invalid, parameter

if TYPE_CHECKING:
    from tutelage.labels import Codes

_RANGE = {"poisson": (0.0, "no negative number"), "gamma": (np.nextafter(0.0, 1.0), "positive numbers")}


class GenerativeClassifier(JointScores, Classifier):
    """A density for each class, of a family of its own or a mixture.

    Examples
    --------
    >>> from tutelage import GenerativeClassifier
    >>> X, y = [[0.0], [0.1], [9.9], [10.0], [4.9], [5.0]], ["ends", "ends", "ends", "ends", "middle", "middle"]
    >>> model = GenerativeClassifier(components={"ends": 2}, random_state=0).fit(X, y)
    >>> model.predict([[0.05], [4.95], [9.95]])
    array(['ends', 'middle', 'ends'], dtype='<U6')
    """

    accepts: ClassVar[Accepts] = Accepts(one_class=True)

    family: Annotated[
        Literal["gaussian", "poisson", "bernoulli", "gamma"] | dict[Any, str],
        "What columns are in all classes, or in each class by its label (Gaussian where none is named).",
    ] = parameter(default="gaussian", kw_only=False)
    components: Annotated[Count | dict[Any, int], "Members of the mixture, in all classes or in each by its label."] = 1
    priors: Annotated[Arrays | None, "Probabilities of the classes; None is their shares of the rows."] = None
    max_iter: Annotated[Count, "The most rounds of expectation-maximisation."] = 200
    tol: Annotated[Positive, "The gain of log likelihood a row at which expectation-maximisation stops."] = 1e-6
    random_state: Annotated[RandomState, "Where the members of mixtures begin."] = None

    phi_: Floats = fitted("The probability of each class.")
    densities_: list[Mixture] = fitted("The density of each class.")
    n_iter_: int = fitted("The most rounds that a class took.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a density to each class.

        Parameters
        ----------
        X : array or frame of shape (n, d)
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
        weight = np.ones(len(X)) if weight is None else weight
        totals = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        shares = totals / totals.sum() if self.priors is None else np.array(self.priors, dtype=np.float64)
        if shares.shape != totals.shape or not np.isclose(shares.sum(), 1.0) or shares.min() < 0:
            raise invalid(self, "priors", f"{len(totals)} probabilities that add up to 1, one for each class")
        if (totals == 0).any():
            raise ValueError(
                f"The class '{self.classes_[totals.argmin()]}' has only samples of weight zero, so no density can be "
                "fitted to it; leave them out."
            )
        self.phi_ = shares
        self.densities_ = self._fit_each(X.astype(np.float64, copy=False), codes, weight)
        self.n_iter_ = max(density.rounds for density in self.densities_)
        return self

    def _fit_each(self, X: Matrix, codes: Codes, weight: Floats) -> list[Mixture]:
        chance = check_random_state(self.random_state)
        made = []
        families = self._by_class("family", self.family, "gaussian")
        members = self._by_class("components", self.components, 1)
        for c, (family, count) in enumerate(zip(families, members, strict=True)):
            if family not in FAMILIES:
                raise invalid(self, "family", f"a dictionary whose values are of {FAMILIES}, which {family!r} is not")
            here = codes == c
            low, what = _RANGE.get(family, (-np.inf, ""))
            if (lowest := X[here].min()) < low:
                raise ValueError(
                    f"X must hold {what} in the class '{self.classes_[c]}' for the family {family!r}, found "
                    f"{lowest:g}; choose another family for the class."
                )
            mixture = Mixture(family, count)
            made.append(mixture.fit(X[here], weight[here], chance, max_iter=self.max_iter, tol=self.tol))
        return made

    def _by_class(self, name: str, given: Any, otherwise: Any) -> list[Any]:
        labels = self.classes_.tolist()
        if not isinstance(given, dict):
            return [given] * len(labels)
        strange = [key for key in given if key not in labels]
        if strange:
            raise invalid(self, name, f"a dictionary whose keys are classes of y, which {strange[0]!r} is not")
        return [given.get(label, otherwise) for label in labels]

    def log_densities(self, X: Any) -> Floats:
        """Give log P(x | c).

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column for each class; -infinity where a row is outside the range of its family.
        """
        check_is_fitted(self)
        X = self.validate_rows(X).astype(np.float64, copy=False)
        made = np.full((len(X), len(self.densities_)), -np.inf)
        for c, density in enumerate(self.densities_):
            possible = X.min(axis=1) >= _RANGE.get(density.family, (-np.inf, ""))[0]
            if possible.any():
                made[possible, c] = density.log_density(X[possible])
        return made

    def _scores(self, X: Any) -> Floats:
        with np.errstate(divide="ignore"):
            made: Floats = self.log_densities(X) + np.log(self.phi_)
        made[np.isneginf(made).all(axis=1)] = 0.0  # impossible in every class: nothing is known of it
        return made

    def score_samples(self, X: Any) -> Floats:
        """Give log P(x), the density of rows whatever their class: low for novelties.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Log densities.
        """
        with np.errstate(divide="ignore"):
            made: Floats = logsumexp(self.log_densities(X) + np.log(self.phi_), axis=1)
        return made

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Floats, Any]:
        """Draw rows and their classes.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : int, RandomState or None
            The source of chance.

        Returns
        -------
        X : array of shape (n, d)
            Rows.
        y : array of shape (n,)
            Their classes.
        """
        check_is_fitted(self)
        chance = check_random_state(random_state)
        codes = chance.choice(len(self.classes_), size=n, p=self.phi_)
        X = np.empty((n, self.densities_[0].parameters[0].shape[1]))
        for c, density in enumerate(self.densities_):
            X[codes == c] = density.sample(int((codes == c).sum()), chance)
        return X, self.classes_[codes]

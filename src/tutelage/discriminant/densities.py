"""Exponential families with independent columns, and mixtures of them.

A member of an exponential family, fitted to weighted rows by maximum likelihood, needs only the weighted means of its
sufficient statistics, a column at a time:

===========  ============================  =======================================================
family       sufficient statistics         parameters
===========  ============================  =======================================================
"gaussian"   x, x^2                        mean, variance
"poisson"    x                             rate = mean
"bernoulli"  [x != 0]                      p = mean
"gamma"      x, log x                      shape a with log a - psi(a) = log mean(x) - mean(log x)
===========  ============================  =======================================================

A mixture of m members is fitted by expectation-maximisation: each row belongs to each member by its posterior share r,
and each member is fitted to all rows with weights r. A round never lowers the likelihood. The shares begin at the
nearest of m rows, drawn far from each other. Only a local maximum is promised.

Cost: n d m a round. Variances are held above a billionth of the column's own, rates and probabilities off their ends by
half an observation.

>>> import numpy as np
>>> X = np.array([[0.0], [2.0], [4.0]])
>>> mixture = Mixture("poisson", 1).fit(X, np.ones(3), np.random.RandomState(0))
>>> mixture.parameters[0].ravel()
array([2.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, polygamma

if TYPE_CHECKING:
    from collections.abc import Callable

    from tutelage.base import Floats

FAMILIES = ("gaussian", "poisson", "bernoulli", "gamma")
_LOG_2_PI = float(np.log(2 * np.pi))


def _means(X: Floats, shares: Floats) -> Floats:
    """Average columns for each member: shares is n x m, the answer m x d."""
    made: Floats = (shares.T @ X) / shares.sum(axis=0)[:, None]
    return made


def _fit_gaussian(X: Floats, shares: Floats) -> tuple[Floats, ...]:
    mean = _means(X, shares)
    whole = _means((X - X.mean(axis=0)) ** 2, shares.sum(axis=1, keepdims=True))[0]
    floor = 1e-9 * np.where(whole > 0, whole, 1.0)
    variance = np.stack([_means((X - m) ** 2, shares[:, [c]])[0] for c, m in enumerate(mean)])
    return mean, np.maximum(variance, floor)


def _log_gaussian(X: Floats, mean: Floats, variance: Floats) -> Floats:
    made: Floats = -0.5 * (_LOG_2_PI + np.log(variance) + (X - mean) ** 2 / variance).sum(axis=1)
    return made


def _fit_poisson(X: Floats, shares: Floats) -> tuple[Floats, ...]:
    return (np.maximum(_means(X, shares), 0.5 / (shares.sum(axis=0)[:, None] + 1)),)


def _log_poisson(X: Floats, rate: Floats) -> Floats:
    made: Floats = (X * np.log(rate) - rate - gammaln(X + 1)).sum(axis=1)
    return made


def _fit_bernoulli(X: Floats, shares: Floats) -> tuple[Floats, ...]:
    rim = 0.5 / (shares.sum(axis=0)[:, None] + 1)
    return (np.clip(_means((X != 0).astype(float), shares), rim, 1 - rim),)


def _log_bernoulli(X: Floats, p: Floats) -> Floats:
    made: Floats = np.where(X != 0, np.log(p), np.log1p(-p)).sum(axis=1)
    return made


def _fit_gamma(X: Floats, shares: Floats) -> tuple[Floats, ...]:
    mean = _means(X, shares)
    s = np.maximum(np.log(mean) - _means(np.log(X), shares), 1e-9)
    shape = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)  # within 1.5 % of the root
    for _ in range(8):
        # Newton's method for 1 / shape, which converges from everywhere near.
        step = (np.log(shape) - digamma(shape) - s) / (shape**2 * (1 / shape - polygamma(1, shape)))
        shape = 1 / (1 / shape + step)
    return shape, mean / shape


def _log_gamma(X: Floats, shape: Floats, scale: Floats) -> Floats:
    made: Floats = ((shape - 1) * np.log(X) - X / scale - gammaln(shape) - shape * np.log(scale)).sum(axis=1)
    return made


_FIT: dict[str, Callable[[Floats, Floats], tuple[Floats, ...]]] = {
    "gaussian": _fit_gaussian, "poisson": _fit_poisson, "bernoulli": _fit_bernoulli, "gamma": _fit_gamma,
}  # fmt: skip
_LOG: dict[str, Callable[..., Floats]] = {
    "gaussian": _log_gaussian, "poisson": _log_poisson, "bernoulli": _log_bernoulli, "gamma": _log_gamma,
}  # fmt: skip


class Mixture:
    """A mixture of members of one family; of one member, the family itself.

    Parameters
    ----------
    family : {"gaussian", "poisson", "bernoulli", "gamma"}
        What the columns of a member are.
    members : int
        How many there are.

    Attributes
    ----------
    shares : array of shape (members,)
        Their probabilities.
    parameters : tuple of arrays of shape (members, d)
        Those of the family, in the order of the module's table.
    rounds : int
        Rounds of expectation-maximisation.
    """

    def __init__(self, family: str, members: int) -> None:
        self.family, self.members = family, members
        self.shares = np.ones(members) / members
        self.parameters: tuple[Floats, ...] = ()
        self.rounds = 1

    def fit(self, X: Floats, weight: Floats, chance: Any, *, max_iter: int = 200, tol: float = 1e-6) -> Mixture:
        """Fit to weighted rows; `tol` is the gain of log likelihood a row at which to stop.

        Parameters
        ----------
        X, weight : arrays
            Rows, of the range of the family, and weights.
        chance : RandomState
            Where the members begin.
        max_iter, tol : numbers
            When to stop.

        Returns
        -------
        Mixture
            Itself.
        """
        X, weight = X[weight > 0], weight[weight > 0]
        self.members = min(self.members, len(np.unique(X, axis=0)))
        belonging = self._begin(X, weight, chance) * weight[:, None]
        last = -np.inf
        for self.rounds in range(1, max_iter + 1):
            self.shares = belonging.sum(axis=0) / weight.sum()
            self.parameters = _FIT[self.family](X, belonging)
            if self.members == 1:
                break
            joint = self._joint(X)
            whole = logsumexp(joint, axis=1)
            now = float(weight @ whole) / float(weight.sum())
            if now - last <= tol:
                break
            last = now
            # No member may be left without any row.
            belonging = np.maximum(np.exp(joint - whole[:, None]), 1e-12) * weight[:, None]
        return self

    def _begin(self, X: Floats, weight: Floats, chance: Any) -> Floats:
        scale = X.std(axis=0)
        Z = X / np.where(scale > 0, scale, 1.0)
        centres = [Z[chance.choice(len(Z), p=weight / weight.sum())]]
        far = np.full(len(Z), np.inf)
        for _ in range(1, self.members):
            far = np.minimum(far, ((Z - centres[-1]) ** 2).sum(axis=1))
            centres.append(Z[chance.choice(len(Z), p=weight * far / (weight * far).sum())])
        nearest = np.argmin([((Z - centre) ** 2).sum(axis=1) for centre in centres], axis=0)
        made: Floats = np.maximum(np.eye(self.members)[nearest], 1e-3)
        return made

    def _joint(self, X: Floats) -> Floats:
        each = [_LOG[self.family](X, *(part[c] for part in self.parameters)) for c in range(self.members)]
        made: Floats = np.stack(each, axis=1) + np.log(self.shares)
        return made

    def log_density(self, X: Floats) -> Floats:
        """Give log P(x).

        Parameters
        ----------
        X : array of shape (n, d)
            Rows.

        Returns
        -------
        array of shape (n,)
            Log densities, or log probabilities of counts.
        """
        made: Floats = logsumexp(self._joint(X), axis=1)
        return made

    def sample(self, n: int, chance: Any) -> Floats:
        """Draw rows.

        Parameters
        ----------
        n : int
            How many.
        chance : RandomState
            The source of chance.

        Returns
        -------
        array of shape (n, d)
            Rows.
        """
        member = chance.choice(self.members, size=n, p=self.shares)
        first, *rest = (part[member] for part in self.parameters)
        if self.family == "gaussian":
            made: Floats = chance.normal(first, np.sqrt(rest[0]))
        elif self.family == "gamma":
            made = chance.gamma(first, rest[0])
        elif self.family == "poisson":
            made = chance.poisson(first).astype(float)
        else:
            made = (chance.random_sample(first.shape) < first).astype(float)
        return made

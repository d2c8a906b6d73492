"""The objective that all contestants minimise, and the one function that judges their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

LossName = Literal["logistic", "multinomial", "squared", "poisson"]


@dataclass(frozen=True)
class Problem:
    """(1/n) sum_i loss(y_i, x_i . w + b)  +  l1 |w|_1  +  (l2 / 2) |w|^2, or several of them along a path.

    ``path`` holds factors: the problem is then a family, l1 and l2 multiplied by each factor in turn.
    """

    loss: LossName
    l1: float = 0.0
    l2: float = 0.0
    intercept: bool = True
    path: tuple[float, ...] = ()

    @property
    def alpha(self) -> float:
        """The strength as scikit-learn's elastic net has it."""
        return self.l1 + self.l2

    @property
    def l1_ratio(self) -> float:
        return self.l1 / self.alpha if self.alpha else 0.0

    @property
    def alphas(self) -> np.ndarray:
        return self.alpha * np.array(self.path)

    def values(self, X: Any, y: np.ndarray, coef: Any, intercept: Any) -> np.ndarray:
        """Evaluate the objective in float64: one number, or one for each point of the path."""
        coef = np.asarray(coef, dtype=np.float64)
        if not self.path:
            return np.array([self._value(X, y, coef, np.asarray(intercept, dtype=np.float64), 1.0)])
        zero = np.zeros(1)
        return np.array([self._value(X, y, w, zero, t) for w, t in zip(coef, self.path, strict=True)])

    def _value(self, X: Any, y: np.ndarray, coef: np.ndarray, intercept: np.ndarray, factor: float) -> float:
        several = self.loss == "multinomial"
        z = X @ coef.T + intercept if several else X @ coef.ravel() + intercept.ravel()[0]
        penalty = self.l1 * np.abs(coef).sum() + self.l2 / 2 * np.square(coef).sum()
        return float(_LOSSES[self.loss](y, z).mean() + factor * penalty)


def _multinomial(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    return special.logsumexp(z, axis=1) - z[np.arange(len(y)), y.astype(np.intp)]


_LOSSES = {
    "logistic": lambda y, z: np.logaddexp(0.0, -y * z),  # y is -1 or +1
    "multinomial": _multinomial,  # y is 0 ... k - 1
    "squared": lambda y, z: np.square(y - z) / 2,
    "poisson": lambda y, z: special.xlogy(y, y) - y - y * z + np.exp(z),  # half the deviance
}


def strongest(X: Any, y: np.ndarray, loss: LossName, *, intercept: bool) -> float:
    """Give the smallest l1 at which all coefficients are zero (for the squared and the logistic loss)."""
    if loss == "logistic":
        slope = np.where(y > 0, (y > 0).mean() - 1.0, (y > 0).mean()) if intercept else -y / 2
    else:
        slope = y - y.mean() if intercept else y
    return float(np.abs(X.T @ slope).max() / len(y))

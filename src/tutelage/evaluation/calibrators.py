"""Calibration: scores become probabilities one can bet on.

Probabilities are calibrated if, among rows to which a classifier gives 0.8, eight in ten are positive. Support vector
machines have scores only, naive Bayes is too sure, forests not sure enough. A calibrator is a function of the score,
learned from rows that the classifier has not seen:

    Platt         p = 1 / (1 + exp(-(a s + b)))                       2 numbers   (Platt 1999)
    beta          p = 1 / (1 + exp(-(a log p - b log(1 - p) + c)))    3 numbers, a, b >= 0; contains the identity
                                                                      (Kull, Silva Filho and Flach 2017)
    temperature   p = softmax(s / T)                                  1 number, any number of classes; the order stays
                                                                      (Guo, Pleiss, Sun and Weinberger 2017)
    isotonic      p any function that does not fall                   some 1,000 rows and more (Zadrozny and Elkan 2002)

The first three are found by Newton's method on the cross-entropy, with Platt's targets (P + 1) / (P + 2) and 1 / (N +
2) in place of 1 and 0 in the first two, so that separable scores have an answer; the last by pooling adjacent violators
in O(n log n).

It fails where the score does not order the rows: no function of a useless score is useful.

>>> import numpy as np
>>> random = np.random.default_rng(0)
>>> p = random.random(5000)
>>> y = (random.random(5000) < p).astype(int)
>>> too_sure = np.log(p / (1 - p)) * 3
>>> platt = PlattScaling().fit(too_sure, y)
>>> bool(abs(platt.slope - 1 / 3) < 0.02)
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import expit, softmax

if TYPE_CHECKING:
    from tutelage.evaluation.metrics import Floats


def smoothed_targets(positive: Any) -> Floats:
    """Give Platt's targets: (P + 1) / (P + 2) for positives, 1 / (N + 2) for negatives.

    Parameters
    ----------
    positive : array of bool, shape (n,)
        Which rows are positive.

    Examples
    --------
    >>> smoothed_targets(np.array([True, False, False])).round(3).tolist()
    [0.667, 0.25, 0.25]
    """
    P, N = np.count_nonzero(positive), np.count_nonzero(~positive)
    return np.where(positive, (P + 1) / (P + 2), 1 / (N + 2))


def fit_logistic(features: Floats, targets: Floats, *, rounds: int = 200) -> Floats:
    """Minimise the cross-entropy of sigmoids of a few features, by Newton's method.

    Parameters
    ----------
    features : array of shape (n, m)
        A few columns.
    targets : array of shape (n,)
        Numbers within [0, 1].
    rounds : int, default=200
        The most rounds.
    """
    scale = np.abs(features).max(axis=0)
    scale[scale == 0] = 1.0
    F = features / scale
    w = np.zeros(F.shape[1])

    def cost(w: Floats) -> float:
        z = F @ w
        return float(np.mean(np.logaddexp(0.0, z) - targets * z))

    value = cost(w)
    for _ in range(rounds):
        p = expit(F @ w)
        slope = F.T @ (p - targets) / len(F)
        curvature = (F * (p * (1 - p))[:, None]).T @ F / len(F)
        # A little ridge: columns may be constant, and sigmoids flat.
        curvature[np.diag_indices_from(curvature)] += 1e-12 * max(float(np.trace(curvature)), 1e-12)
        step = np.linalg.solve(curvature, slope)
        size = 1.0
        while size > 1e-10 and cost(w - size * step) > value:
            size /= 2
        made = w - size * step
        now = cost(made)
        if not now < value:
            break
        w, value = made, now
        if float(slope @ step) < 1e-18:
            break
    return np.asarray(w / scale)


def _binary(scores: Any, y: Any) -> tuple[Floats, Any]:
    s, label = np.asarray(scores, dtype=float), np.asarray(y)
    if s.ndim != 1 or s.shape != label.shape or not np.all(np.isfinite(s)):
        raise ValueError(
            f"scores must be a finite number for each label, found the shapes {s.shape} and {label.shape}."
        )
    positive = label.astype(bool) if label.dtype.kind == "b" else label == 1
    if not np.all(positive | (label == 0)):
        raise ValueError(f"y must be 0 and 1 here, found {np.unique(label)[:4].tolist()}.")
    return s, positive


class PlattScaling:
    """A sigmoid of the score.

    Attributes
    ----------
    slope, intercept : float
        a and b.
    """

    slope: float
    intercept: float

    def fit(self, scores: Any, y: Any) -> Self:
        """Learn from scores and labels 0 and 1.

        Parameters
        ----------
        scores, y : arrays of shape (n,)
            Of rows that the classifier has not seen.
        """
        s, positive = _binary(scores, y)
        w = fit_logistic(np.column_stack([s, np.ones(len(s))]), smoothed_targets(positive))
        self.slope, self.intercept = float(w[0]), float(w[1])
        return self

    def predict(self, scores: Any) -> Floats:
        """Give the probability of the label 1.

        Parameters
        ----------
        scores : array of shape (n,)
            Scores.
        """
        return np.asarray(expit(self.slope * np.asarray(scores, dtype=float) + self.intercept))


class BetaCalibration:
    """A three-number family around the identity, for scores that are probabilities.

    Attributes
    ----------
    a, b, c : float
        The exponents of p and 1 - p, neither negative, and the intercept.
    """

    a: float
    b: float
    c: float

    def fit(self, scores: Any, y: Any) -> Self:
        """Learn from probabilities and labels 0 and 1.

        Parameters
        ----------
        scores, y : arrays of shape (n,)
            Probabilities of the label 1, of rows that the classifier has not seen, and their labels.
        """
        s, positive = _binary(scores, y)
        if s.min() < 0 or s.max() > 1:
            raise ValueError(f"scores must be probabilities for beta calibration, found {s.min():g} to {s.max():g}.")
        features, targets = self._features(s), smoothed_targets(positive)
        used = [0, 1, 2]
        w = fit_logistic(features, targets)
        for column in (0, 1):  # an exponent below zero would turn the order around; without it the other is fitted anew
            if w[used.index(column)] < 0:
                used.remove(column)
                w = fit_logistic(features[:, used], targets)
                break
        full = np.zeros(3)
        full[used] = w
        full[:2] = np.maximum(full[:2], 0.0)
        self.a, self.b, self.c = map(float, full)
        return self

    @staticmethod
    def _features(p: Floats) -> Floats:
        inside = np.clip(p, 1e-12, 1 - 1e-12)
        return np.column_stack([np.log(inside), -np.log1p(-inside), np.ones(len(p))])

    def predict(self, scores: Any) -> Floats:
        """Give the calibrated probability of the label 1.

        Parameters
        ----------
        scores : array of shape (n,)
            Probabilities.
        """
        return np.asarray(expit(self._features(np.asarray(scores, dtype=float)) @ [self.a, self.b, self.c]))


class IsotonicCalibration:
    """Any function of the score that does not fall.

    Attributes
    ----------
    scores, values : arrays
        Where the function bends, and its values there; it is straight in between and constant outside.
    """

    scores: Floats
    values: Floats

    def fit(self, scores: Any, y: Any) -> Self:
        """Learn from scores and labels 0 and 1.

        Parameters
        ----------
        scores, y : arrays of shape (n,)
            Of rows that the classifier has not seen.
        """
        s, positive = _binary(scores, y)
        distinct, place = np.unique(s, return_inverse=True)
        counts = np.bincount(place).astype(float)
        fit = isotonic_regression(np.bincount(place, weights=positive) / counts, weights=counts).x
        bends = np.ones(len(fit), dtype=bool)
        bends[1:-1] = (fit[1:-1] != fit[:-2]) | (fit[1:-1] != fit[2:])
        self.scores, self.values = distinct[bends], fit[bends]
        return self

    def predict(self, scores: Any) -> Floats:
        """Give the probability of the label 1.

        Parameters
        ----------
        scores : array of shape (n,)
            Scores.
        """
        return np.asarray(np.interp(np.asarray(scores, dtype=float), self.scores, self.values))


class TemperatureScaling:
    """One temperature for the scores of all classes.

    Attributes
    ----------
    temperature : float
        Above 1 where the classifier was too sure.

    Examples
    --------
    >>> scores = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> made = TemperatureScaling().fit(scores, np.array([0, 0, 1, 1]))
    >>> bool(np.allclose(made.predict(scores)[:, 0], [0.75, 0.75, 0.75, 0.25]))
    True
    """

    temperature: float

    def fit(self, scores: Any, y: Any) -> Self:
        """Learn from scores and codes of labels.

        Parameters
        ----------
        scores : array of shape (n, k)
            A column for each class: decision values or logarithms of probabilities.
        y : array of shape (n,)
            Codes 0 ... k - 1.
        """
        S, code = np.asarray(scores, dtype=float), np.asarray(y)
        if S.ndim != 2 or len(S) != len(code):
            raise ValueError(f"scores must have a row for each label and a column for each class, found {S.shape}.")
        S = S - S.max(axis=1, keepdims=True)
        of_truth = np.take_along_axis(S, code[:, None].astype(np.intp), 1)[:, 0]

        # Convex in beta = 1 / T: its slope, mean (E_p s - s_y), rises; bisection on a logarithmic scale cannot fail.
        low, high = -12.0, 12.0

        def slope(x: float) -> float:
            P = softmax(np.exp(x) * S, axis=1)
            return float(np.mean((P * S).sum(axis=1) - of_truth))

        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        self.temperature = float(np.exp(-(low + high) / 2))
        return self

    def predict(self, scores: Any) -> Floats:
        """Give probabilities.

        Parameters
        ----------
        scores : array of shape (n, k)
            A column for each class.
        """
        return np.asarray(softmax(np.asarray(scores, dtype=float) / self.temperature, axis=1))

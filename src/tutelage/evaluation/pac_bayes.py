"""PAC-Bayes for linear classifiers: the tightest promise that training rows alone can give.

Instead of one classifier w take a cloud of them, Q = Normal(m w / |w|, identity), and a prior cloud P = Normal(0,
identity) that was there before the rows. With probability 1 - d, for all Q at once (Langford and Seeger; Maurer's
constant),

    kl(errors of Q on the rows || errors of Q) <= (KL(Q, P) + log(2 sqrt(n) / d)) / n,      KL(Q, P) = m^2 / 2

where a member of the cloud errs on row x with probability Phi(-m y w . x / (|w| |x|)), so nothing need be drawn. The
length m trades: a long m errs as w does but pays for it. Twelve lengths a power of ten are tried, and the choice is
paid for.

The middle of the cloud, sign(w . x), is its majority vote, and a vote is wrong only where half the cloud is: its error
is at most twice that of the cloud.

Cost: n normal tail probabilities for each length. It fails, that is becomes vacuous, where margins are small against
|x|: scale columns to like size, and centre them, before fitting.

>>> import numpy as np
>>> random = np.random.default_rng(0)
>>> X = random.normal(size=(5000, 3))
>>> bound = pac_bayes_bound([1.0, -1.0, 0.0], X, X[:, 0] - X[:, 1] > 0)
>>> bound.vacuous, bound.details["cloud"] < 0.2
(False, True)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

from tutelage.evaluation.bounds import Bound, kl_ceiling
from tutelage.evaluation.intervals import check_level
from tutelage.labels import encode

LENGTHS = tuple(10.0 ** (place / 12) for place in range(-6, 43))


def pac_bayes_bound(coef: Any, X: Any, y: Any, *, intercept: float = 0.0, level: float = 0.95) -> Bound:
    """Bound the error of a linear classifier by the rows that it learned from.

    Parameters
    ----------
    coef : array of shape (d,)
        The coefficients.
    X : array of shape (n, d)
        The rows learned from.
    y : array of shape (n,)
        Labels of two classes; the larger is on the side of positive scores.
    intercept : float, default=0.0
        The intercept; it counts as the coefficient of a column of ones.
    level : float, default=0.95
        The confidence.

    Returns
    -------
    Bound
        Of the error of sign(w . x + b); details has that of the cloud, its length and its errors on the rows.
    """
    w, rows = np.asarray(coef, dtype=float).ravel(), np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != len(w):
        raise ValueError(f"X must have a column for each of {len(w)} coefficients, found the shape {rows.shape}.")
    classes, code = encode(np.asarray(y))
    if len(classes) > 2:
        raise ValueError(f"y must have two classes, found {len(classes)}.")
    if len(code) != len(rows) or len(rows) < 8:
        raise ValueError(f"y must have one label for each row, and at least 8, found {len(code)} for {len(rows)} rows.")
    sign = np.where(code == 1, 1.0, -1.0)
    scores = rows @ w + intercept
    length = math.sqrt(float(w @ w) + intercept**2)
    sizes = np.sqrt((rows**2).sum(axis=1) + (1.0 if intercept else 0.0))
    scale = length * sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = np.where(scale > 0, sign * scores / np.where(scale > 0, scale, 1.0), 0.0)
    n, delta = len(rows), 1 - check_level(level)
    best, chosen, seen = math.inf, 0.0, 1.0
    for m in LENGTHS:
        errors = float(ndtr(-m * cosine).mean())
        value = kl_ceiling(errors, (m * m / 2 + math.log(2 * math.sqrt(n) * len(LENGTHS) / delta)) / n)
        if value < best:
            best, chosen, seen = value, m, errors
    empirical = float(np.mean(sign * scores <= 0))
    return Bound(
        "PAC-Bayes", 2 * best, level, empirical, n, {"cloud": best, "length": chosen, "errors of the cloud": seen}
    )

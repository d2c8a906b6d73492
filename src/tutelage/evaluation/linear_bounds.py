"""Every bound that applies to a linear classifier, side by side.

Which bound is the best is not known beforehand, so the table shows all, and says of each whether it is vacuous. Each
holds at the level by itself; that all of them hold together is promised only at 1 - (how many) (1 - level).

Cost: the products of the rows with 400 vectors of signs. It fails for models without coefficients, which have only the
test set.

>>> import numpy as np
>>> from tutelage import LogisticRegression
>>> random = np.random.default_rng(0)
>>> X = random.normal(size=(4000, 3))
>>> y = X[:, 0] + 0.1 * random.normal(size=4000) > 0
>>> table = risk_bounds(LogisticRegression().fit(X[:3000], y[:3000]), X[:3000], y[:3000], X[3000:], y[3000:])
>>> [bound.name for bound in table.bounds]
['test set', 'VC', 'margin', 'PAC-Bayes']
>>> min(table.bounds, key=lambda bound: bound.value).name
'test set'
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tutelage.evaluation.bounds import Bound, compression_bound, holdout_bound, vc_bound
from tutelage.evaluation.complexity import margin_bound, rademacher
from tutelage.evaluation.pac_bayes import pac_bayes_bound
from tutelage.labels import encode_with


@dataclass(frozen=True)
class BoundTable:
    """Bounds of one classifier.

    Attributes
    ----------
    bounds : list of Bound
        Those that apply.
    """

    bounds: list[Bound]

    def __getitem__(self, name: str) -> Bound:
        """Give a bound by its name."""
        for bound in self.bounds:
            if bound.name == name:
                return bound
        raise KeyError(f"{name!r} does not apply here; there are {[bound.name for bound in self.bounds]}.")

    def __str__(self) -> str:
        return "\n".join(map(str, self.bounds))


def risk_bounds(
    model: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, level: float = 0.95, random_state: int = 0
) -> BoundTable:
    """Give every bound that applies to a linear classifier of two classes.

    Parameters
    ----------
    model : estimator
        Fitted, with coef_, intercept_ and classes_; a support_ (the numbers of its support vectors) adds compression.
    X, y : arrays
        The rows it learned from.
    X_test, y_test : arrays, optional
        Rows that had no part in it.
    level : float, default=0.95
        The confidence of each bound.
    random_state : int, default=0
        The seed of the signs of the Rademacher complexity.
    """
    if not (hasattr(model, "coef_") and hasattr(model, "classes_")) or len(model.classes_) != 2:
        raise ValueError(
            f"model must be a fitted linear classifier of two classes, found {type(model).__name__}; for others use "
            "holdout_bound."
        )
    rows, truth = np.asarray(X, dtype=float), encode_with(model.classes_, np.asarray(y))
    if len(np.ravel(model.coef_)) != rows.shape[1]:
        raise ValueError(
            f"model must have a coefficient for each of {rows.shape[1]} columns, found {len(np.ravel(model.coef_))}; "
            f"its "
            "features may not be those of X."
        )
    n, wrong = len(truth), model.predict(X) != np.asarray(y)
    w, b = np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])
    bounds = []
    if X_test is not None:
        fresh = model.predict(X_test) != np.asarray(y_test)
        bounds.append(holdout_bound(int(fresh.sum()), len(fresh), level=level))
    bounds.append(vc_bound(float(wrong.mean()), n, rows.shape[1] + 1, level=level))
    with_ones = np.column_stack([rows, np.ones(n)]) if b else rows
    length = float(np.sqrt(w @ w + b * b))
    if length > 0:
        margins = np.where(truth == 1, 1.0, -1.0) * (rows @ w + b) / length
        complexity = rademacher(with_ones, "ball", random_state=random_state)
        bounds.append(margin_bound(margins, complexity, level=level))
        bounds.append(pac_bayes_bound(w, rows, truth, intercept=b, level=level))
    if hasattr(model, "support_"):
        kept = np.zeros(n, dtype=bool)
        kept[np.asarray(model.support_, dtype=np.intp)] = True
        bounds.append(compression_bound(n, int(kept.sum()), int(wrong[~kept].sum()), level=level))
    return BoundTable(bounds)

"""Where the loss comes from: a model that is wrong on the mean, or one that changes with its rows.

Fit the same estimator to many samples of rows and let each predict the same held-out rows. For squared loss, with m the
mean prediction of a row over the samples,

    mean of (y - prediction)^2  =  (y - m)^2  +  variance of the predictions        (bias and noise, and variance),

row by row and exactly. For zero-one loss let m be the class predicted most often (Domingos 2000):

    share of wrong predictions  =  [m != y]  +  share that differs from m, where m = y
                                             -  share that is right,       where m != y

so the variance of a row that is right on the mean costs, and that of a row that is wrong on the mean pays. What is
called bias holds the noise of the targets too: no model can tell them apart without rows that repeat.

Cost: a fit for each sample. It fails to be about n rows: a bootstrap sample has 0.632 n different ones.

>>> import numpy as np
>>> from tutelage import KNeighborsRegressor
>>> random = np.random.default_rng(0)
>>> X = random.uniform(size=(200, 1))
>>> y = np.sin(6 * X[:, 0]) + 0.3 * random.normal(size=200)
>>> stiff = bias_variance(KNeighborsRegressor(100), X, y, random_state=0)
>>> loose = bias_variance(KNeighborsRegressor(1), X, y, random_state=0)
>>> stiff.bias > loose.bias, stiff.variance < loose.variance
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed

from tutelage.selection.drawing import TEST, TRAIN, axes_for
from tutelage.selection.fitting import rows_in
from tutelage.selection.splits import hold_out

if TYPE_CHECKING:
    from tutelage.base import Floats


@dataclass(frozen=True)
class BiasVariance:
    """The parts of a loss.

    Attributes
    ----------
    kind : {"squared", "zero-one"}
        The loss.
    loss : float
        Its mean over samples and rows: bias + variance.
    bias : float
        Of the mean prediction (the most frequent class), with the noise of the targets in it.
    variance : float
        The rest. For zero-one loss, what it costs where the most frequent class is right, less what it pays where that
        is wrong.
    rows : array of shape (m, 3)
        Loss, bias and variance of each held-out row.
    """

    kind: str
    loss: float
    bias: float
    variance: float
    rows: Floats

    def __str__(self) -> str:
        return (
            f"Of the {self.kind} loss {self.loss:.4g}, {self.bias:.4g} is bias and noise, and {self.variance:.4g} is "
            "variance."
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the parts as bars that add up to the loss.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib axes
            What was drawn.
        """
        ax = axes_for(ax)
        ax.bar(["loss"], [self.bias], width=0.5, color=TRAIN, label="bias and noise")
        ax.bar(["loss"], [self.variance], width=0.5, bottom=[self.bias], color=TEST, label="variance")
        ax.set_ylabel(f"{self.kind} loss")
        ax.legend(frameon=False, fontsize="small")
        return ax


def bias_variance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    samples: int = 50,
    share: float = 1 / 3,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BiasVariance:
    """Take the loss of an estimator apart by bootstrap.

    Parameters
    ----------
    estimator : estimator
        Not changed. A classifier's loss is zero-one, any other's squared.
    X, y : indexable
        The rows and their targets.
    samples : int, default=50
        How many samples are drawn from the rows that are not held out.
    share : float, default=1/3
        Of the rows that is held out.
    random_state : int, RandomState or None, default=None
        The seed.
    n_jobs : int, optional
        How many fits run at once.

    Returns
    -------
    BiasVariance
        The parts.
    """
    if samples < 2:
        raise ValueError(f"samples must be an int of at least 2, since variance needs two; found {samples!r}.")
    X, y = indexable(X, y)
    random = check_random_state(random_state)
    train, test = hold_out(rows_in(X), share=share, random_state=random)
    draws = [random.choice(train, size=len(train)) for _ in range(samples)]
    held, told = _safe_indexing(X, test), np.asarray(_safe_indexing(y, test))

    def predict(drawn: Any) -> Any:
        model = clone(estimator).fit(_safe_indexing(X, drawn), _safe_indexing(y, drawn))
        return np.asarray(model.predict(held))

    table = np.stack(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(predict)(drawn) for drawn in draws))
    if table.ndim != 2:
        raise ValueError(f"y must have one column, found predictions of shape {table.shape[1:]}.")
    if is_classifier(estimator):
        names, codes = np.unique(table, return_inverse=True)
        codes = codes.reshape(table.shape)
        counts = np.stack([(codes == place).sum(axis=0) for place in range(len(names))])
        main = names[counts.argmax(axis=0)]
        right = (table == told).mean(axis=0)
        loss, bias = 1 - right, (main != told).astype(float)
        kind = "zero-one"
    else:
        loss = ((table - told) ** 2).mean(axis=0)
        bias = (told - table.mean(axis=0)) ** 2
        kind = "squared"
    rows = np.column_stack([loss, bias, table.var(axis=0) if kind == "squared" else loss - bias])
    parts = rows.mean(axis=0)
    return BiasVariance(kind, float(parts[0]), float(parts[1]), float(parts[2]), rows)

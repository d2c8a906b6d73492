"""Scores: a metric's value with its interval, for predictions that are there or a model that can make them.

`assess` takes predictions, `evaluate` a fitted model and rows that it has not seen. The interval is chosen by the
metric:

    a share of rows (accuracy, precision, recall, ...)   Wilson
    the area under the ROC curve, two classes            DeLong
    everything else, functions of one's own included     BCa bootstrap

>>> import numpy as np
>>> y = np.repeat([0, 1], 50)
>>> print(assess(y, np.where(np.arange(100) % 10 == 0, 1 - y, y)))
accuracy 0.9 (95 % interval 0.8256 to 0.9448, Wilson, 100 rows)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import is_classifier

from tutelage.evaluation.intervals import Interval, bca, check_level, clopper_pearson, wilson
from tutelage.evaluation.metrics import Metric, metric, value_of
from tutelage.evaluation.ranking import delong

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Method = Literal["auto", "wilson", "clopper_pearson", "delong", "bootstrap"]
NAMES = {"wilson": "Wilson", "clopper_pearson": "Clopper-Pearson", "delong": "DeLong", "bootstrap": "BCa bootstrap"}


@dataclass(frozen=True)
class Score:
    """A metric's value and its interval.

    Attributes
    ----------
    metric : str
        Which metric.
    value : float
        On these rows.
    interval : Interval
        Where the value on all rows there could be lies.
    level : float
        The confidence.
    method : str
        How the interval was made.
    rows : int
        How many rows.
    greater_is_better : bool
        Whether more is better.
    """

    metric: str
    value: float
    interval: Interval
    level: float
    method: str
    rows: int
    greater_is_better: bool = True

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.value:.4g} ({100 * self.level:g} % interval {self.interval}, {self.method}, "
            f"{self.rows:,} rows)"
        )


def assess(
    y: Any,
    prediction: Any,
    metric_name: str | Metric | Callable[[Any, Any], float] = "accuracy",
    *,
    classes: Any = None,
    method: Method = "auto",
    level: float = 0.95,
    tables: int = 2000,
    random_state: int | None = 0,
) -> Score:
    """Give a metric of predictions, with its interval.

    Parameters
    ----------
    y : array of shape (n,)
        The truth.
    prediction : array of shape (n,) or (n, k)
        Labels, probabilities, scores or numbers, as the metric needs.
    metric_name : str, Metric or callable, default="accuracy"
        A name of `tutelage.evaluation.metrics.METRICS`, or a function (truth, prediction) -> number.
    classes : array of shape (k,), optional
        The labels of the columns of probabilities; those in y, sorted, if not given.
    method : {"auto", "wilson", "clopper_pearson", "delong", "bootstrap"}, default="auto"
        How the interval is made.
    level : float, default=0.95
        The confidence.
    tables : int, default=2000
        How many tables a bootstrap draws.
    random_state : int or None, default=0
        The seed of a bootstrap.

    Returns
    -------
    Score
        The value and its interval.

    Examples
    --------
    >>> import numpy as np
    >>> score = assess([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 2.5, 4.0], "root_squared_error")
    >>> round(score.value, 4), score.method
    (0.3536, 'BCa bootstrap')
    """
    chosen = metric(metric_name)
    check_level(level)
    sample = chosen.on(y, prediction, classes=classes)
    rows = len(np.asarray(y))
    value = value_of(sample, rows)
    if method == "auto":
        method = _method(chosen, sample)
    if method not in NAMES:
        raise ValueError(f"method must be one of auto, {', '.join(NAMES)}, found {method!r}.")
    if method in {"wilson", "clopper_pearson"}:
        if chosen.proportion is None:
            raise ValueError(
                f"method={method!r} is for a share of rows, which the metric {chosen.name!r} is not; use 'bootstrap'."
            )
        right, total = chosen.proportion(sample)
        made = wilson if method == "wilson" else clopper_pearson
        interval = made(right, total, level) if total else Interval(0.0, 1.0)
    elif method == "delong":
        if chosen.name != "auc" or len(sample.truths) > 1:  # type: ignore[attr-defined]
            raise ValueError("method='delong' is for the metric 'auc' of two classes; use 'bootstrap'.")
        interval = delong(sample.truths[0], sample.scores[0]).interval(level)  # type: ignore[attr-defined]
    else:
        interval = bca(sample, rows, level=level, tables=tables, random_state=random_state)
    return Score(chosen.name, value, interval, level, NAMES[method], rows, chosen.greater_is_better)


def _method(chosen: Metric, sample: Any) -> Method:
    if chosen.proportion is not None:
        return "wilson"
    if chosen.name == "auc" and len(sample.truths) == 1:
        return "delong"
    return "bootstrap"


def predicted(model: Any, X: Any, needs: str) -> tuple[Any, Any]:
    """Ask a fitted model for what a metric needs.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or frame of shape (n, d)
        The rows.
    needs : {"labels", "probabilities", "scores", "numbers"}
        What the prediction must be.

    Returns
    -------
    prediction, classes
        The prediction, and all labels there are (None for numbers).
    """
    name = type(model).__name__
    classes = getattr(model, "classes_", None)
    if needs in {"labels", "numbers"}:
        return np.asarray(model.predict(X)), classes if needs == "labels" else None
    if needs == "scores" and hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X)), classes
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X)), classes
    raise ValueError(
        f"The metric needs {needs}, and {name} gives none: it has no predict_proba"
        f"{' and no decision_function' if needs == 'scores' else ''}. Use a metric of labels, or CalibratedClassifier "
        "around the model."
    )


@dataclass(frozen=True)
class Evaluation:
    """The scores of a model.

    Attributes
    ----------
    model : str
        Its class.
    scores : list of Score
        One for each metric.
    """

    model: str
    scores: list[Score]

    def __getitem__(self, name: str) -> Score:
        """Give the score of a metric."""
        for score in self.scores:
            if score.metric == name:
                return score
        raise KeyError(f"{name!r} was not measured; there are {[score.metric for score in self.scores]}.")

    def __str__(self) -> str:
        rows = self.scores[0].rows
        width = max(len(score.metric) for score in self.scores)
        lines = [f"{self.model} on {rows:,} rows, with {100 * self.scores[0].level:g} % intervals"]
        lines += [
            f"  {score.metric:<{width}}  {score.value:>8.4g}   {score.interval.low:.4g} to {score.interval.high:.4g}   "
            f"{score.method}"
            for score in self.scores
        ]
        return "\n".join(lines)


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    metrics: Sequence[str | Metric] | str | None = None,
    *,
    level: float = 0.95,
    tables: int = 2000,
    random_state: int | None = 0,
) -> Evaluation:
    """Score a fitted model on rows that it has not seen, every score with its interval.

    Parameters
    ----------
    model : estimator
        Fitted; any with scikit-learn's interface.
    X, y : arrays or frames
        Rows and truth.
    metrics : sequence of str or Metric, optional
        Which; by default accuracy, balanced accuracy and, where there are probabilities, log loss, Brier's score and
        the area under the ROC curve for classifiers; the squared, absolute errors and R^2 for regressors.
    level : float, default=0.95
        The confidence of each interval.
    tables : int, default=2000
        How many tables a bootstrap draws.
    random_state : int or None, default=0
        The seed of a bootstrap.

    Returns
    -------
    Evaluation
        Prints as a table.

    Examples
    --------
    >>> import numpy as np
    >>> from tutelage import LogisticRegression
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(300, 2))
    >>> y = (X @ [2.0, -1.0] + random.normal(size=300) > 0).astype(int)
    >>> made = evaluate(LogisticRegression().fit(X[:150], y[:150]), X[150:], y[150:], ["accuracy", "auc"])
    >>> made["accuracy"].value in made["accuracy"].interval
    True
    """
    if metrics is None:
        if not is_classifier(model):
            metrics = ["root_squared_error", "absolute_error", "r2"]
        else:
            metrics = ["accuracy", "balanced_accuracy"]
            if hasattr(model, "predict_proba"):
                metrics += ["auc", "log_loss", "brier"]
    elif isinstance(metrics, str):
        metrics = [metrics]
    if not metrics:
        raise ValueError("metrics must name at least one metric, found none.")
    made: dict[str, tuple[Any, Any]] = {}
    scores = []
    for one in map(metric, metrics):
        if one.needs not in made:
            made[one.needs] = predicted(model, X, one.needs)
        prediction, classes = made[one.needs]
        scores.append(
            assess(y, prediction, one, classes=classes, level=level, tables=tables, random_state=random_state)
        )
    return Evaluation(type(model).__name__, scores)

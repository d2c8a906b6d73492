"""Metrics: one number for how well predictions agree with the truth, in a form that can be computed again and again.

A metric alone is a function of (truth, prediction). An interval for it asks for its value on thousands of resampled
tables, so a metric here is taken apart into what stays and what is weighed anew:

    Rows     statistics of single rows whose weighted means say everything: the mean of r^2 for the squared error; the
             means of y, y^2 and r^2 for R^2
    Cells    the confusion matrix says everything: accuracy, precision, F1, Matthews; resampling n rows is then one
             multinomial draw of k^2 counts, whatever n
    Ranked   rows sorted by score once; the area under the ROC curve and average precision are cumulative sums of
             weights
    Whole    any function (truth, prediction) -> number; it is called anew for each table

Each answers `weighted(W)`, the values for rows of W that say how often each row of the table counts, and `left_out()`,
the values with each row (or block of rows) removed. Cost: O(n m) for m tables, except for Whole.

It fails, with a sentence, where a metric needs what the prediction lacks (probabilities, two classes), and gives NaN
where it is not defined, such as precision if nothing was predicted positive.

>>> import numpy as np
>>> metric("accuracy")(np.array(["a", "b", "b"]), np.array(["a", "b", "a"]))
0.6666666666666666
>>> metric("auc")(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
0.75
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tutelage.evaluation.samples import Cells, Ranked, Rows, Whole
from tutelage.labels import encode, encode_with

if TYPE_CHECKING:
    from collections.abc import Callable

Floats: TypeAlias = npt.NDArray[np.float64]
Needs = Literal["labels", "probabilities", "scores", "numbers"]


class Sample(Protocol):
    """A metric applied to one table."""

    def weighted(self, weights: Floats) -> Floats:
        """Give the values for tables in which row i counts ``weights[t, i]`` times."""

    def left_out(self) -> tuple[Floats, Floats]:
        """Give the values with a row, or a block of rows, left out, and how many such blocks there are of each."""

    def resampled(self, random: np.random.Generator, tables: int) -> Floats:
        """Give the values on tables of n rows drawn with replacement."""


@dataclass(frozen=True)
class Metric:
    """A metric by its name.

    Attributes
    ----------
    name : str
        What it is called.
    needs : {"labels", "probabilities", "scores", "numbers"}
        What the prediction must be.
    greater_is_better : bool
        Whether more is better.
    sample : callable
        ``sample(truth, prediction, classes)`` gives the metric applied to a table.
    proportion : callable, optional
        For a share of rows: gives how many rows were so, of how many.
    """

    name: str
    needs: Needs
    greater_is_better: bool
    sample: Callable[[Any, Any, Any], Sample]
    proportion: Callable[[Any], tuple[int, int]] | None = None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (metric, (self.name,)) if METRICS.get(self.name) is self else super().__reduce_ex__(protocol)

    def __call__(self, y: Any, prediction: Any, *, classes: Any = None) -> float:
        """Give the value.

        Parameters
        ----------
        y : array of shape (n,)
            The truth.
        prediction : array of shape (n,) or (n, k)
            Labels, probabilities, scores or numbers, as the metric needs.
        classes : array of shape (k,), optional
            The labels of the columns of probabilities; those in y, sorted, if not given.
        """
        sample = self.on(y, prediction, classes=classes)
        return value_of(sample, len(np.asarray(y)))

    def on(self, y: Any, prediction: Any, *, classes: Any = None) -> Sample:
        """Apply the metric to a table; the parameters are those of a call."""
        truth, told = np.asarray(y), np.asarray(prediction)
        if truth.ndim != 1 or len(truth) == 0:
            raise ValueError(f"y must be a vector of at least one row, found the shape {truth.shape}.")
        if len(told) != len(truth):
            raise ValueError(
                f"prediction must have a row for each of the {len(truth)} rows of y, found {len(told)}; give both of "
                f"the "
                "same table."
            )
        if told.dtype.kind == "f" and not np.all(np.isfinite(told)):
            raise ValueError(
                f"prediction must be finite for the metric {self.name!r}, found {told[~np.isfinite(told)][0]!s}; drop "
                f"or "
                "mend these rows."
            )
        return self.sample(truth, told, None if classes is None else np.asarray(classes))


def value_of(sample: Sample, rows: int) -> float:
    """Give the value of a metric on the table itself."""
    return float(sample.weighted(np.ones((1, rows)))[0])


# --- confusion matrices
# --------------------------------------------------------------------------------------------------


def confusion_cells(truth: Any, told: Any, classes: Any) -> tuple[Any, Any, Any]:
    """Encode truth and prediction in one set of classes."""
    if told.ndim != 1:
        raise ValueError(f"prediction must be a vector of labels here, found the shape {told.shape}.")
    parts = [truth, told] if classes is None else [truth, told, np.asarray(classes)]
    if len({part.dtype.kind for part in parts}) > 1 and any(part.dtype.kind == "O" for part in parts):
        parts = [part.astype(object) for part in parts]
    known = encode(np.concatenate(parts))[0]
    if len(known) == 1 and known[0] in (0, 1):  # only one of the usual two occurs, and it keeps its meaning
        known = np.array([0, 1], dtype=known.dtype)
    return known, encode_with(known, parts[0]), encode_with(known, parts[1])


def _cells(combine: Callable[[Floats], Floats], *, binary: bool = False) -> Callable[[Any, Any, Any], Sample]:
    def sample(truth: Any, told: Any, classes: Any) -> Sample:
        labels, row, column = confusion_cells(truth, told, classes)
        k = max(len(labels), 2)
        if binary and k > 2:
            raise ValueError(
                f"y must have two classes for this metric, found {len(labels)}; use its macro form, such as 'f1_macro'."
            )
        return Cells(row * k + column, k, combine)

    return sample


def _share(numerator: Floats, denominator: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def _diagonal(table: Floats) -> Floats:
    return np.diagonal(table, axis1=-2, axis2=-1)


def _accuracy(table: Floats) -> Floats:
    return _share(_diagonal(table).sum(-1), table.sum((-2, -1)))


def _mean_of_known(shares: Floats) -> Floats:
    known = ~np.isnan(shares)
    return _share(np.where(known, shares, 0.0).sum(-1), known.sum(-1).astype(float))


def _balanced_accuracy(table: Floats) -> Floats:
    return _mean_of_known(_share(_diagonal(table), table.sum(-1)))


def _precision(table: Floats) -> Floats:
    return _share(table[..., 1, 1], table[..., :, 1].sum(-1))


def _recall(table: Floats) -> Floats:
    return _share(table[..., 1, 1], table[..., 1, :].sum(-1))


def _specificity(table: Floats) -> Floats:
    return _share(table[..., 0, 0], table[..., 0, :].sum(-1))


def _f1_of_classes(table: Floats) -> Floats:
    return _share(2 * _diagonal(table), table.sum(-1) + table.sum(-2))


def _f1(table: Floats) -> Floats:
    return _f1_of_classes(table)[..., 1]


def _f1_macro(table: Floats) -> Floats:
    return _mean_of_known(_f1_of_classes(table))


def _kappa(table: Floats) -> Floats:
    total = table.sum((-2, -1))
    chance = (table.sum(-1) * table.sum(-2)).sum(-1) / np.maximum(total, 1) ** 2
    return _share(_share(_diagonal(table).sum(-1), total) - chance, 1 - chance)


def _matthews(table: Floats) -> Floats:
    total, right = table.sum((-2, -1)), _diagonal(table).sum(-1)
    rows, columns = table.sum(-1), table.sum(-2)
    covariance = right * total - (rows * columns).sum(-1)
    spread = np.sqrt((total**2 - (rows**2).sum(-1)) * (total**2 - (columns**2).sum(-1)))
    return np.where(spread > 0, covariance / np.where(spread > 0, spread, 1.0), 0.0)


def _proportion(pick: Callable[[Floats], tuple[Any, Any]]) -> Callable[[Any], tuple[int, int]]:
    def proportion(sample: Cells) -> tuple[int, int]:
        right, total = pick(sample.table())
        return round(float(right)), round(float(total))

    return proportion


# --- means over rows
# -----------------------------------------------------------------------------------------------------


def as_probabilities(truth: Any, told: Any, classes: Any) -> tuple[Any, Floats]:
    """Give the codes of the truth and a column of probabilities for each class."""
    if told.dtype.kind not in "fiu":
        raise ValueError(
            f"prediction must be probabilities for this metric, found {told.dtype!s}; give what predict_proba gives."
        )
    if classes is None:
        classes = encode(truth)[0]
        if told.ndim == 1 and len(classes) == 1 and classes[0] in (0, 1):
            classes = np.array([0, 1])
    P = np.column_stack([1 - told, told]) if told.ndim == 1 else told
    if P.shape[1] != len(classes):
        raise ValueError(
            f"prediction must have a column for each class, found {P.shape[1]} columns and {len(classes)} classes in "
            f"y; "
            "name them in classes."
        )
    if P.min() < -1e-9 or P.max() > 1 + 1e-9 or np.abs(P.sum(1) - 1).max() > 1e-6:
        raise ValueError(
            f"prediction must be probabilities that sum to 1, found values from {P.min():g} to {P.max():g} and sums to "
            f"{P.sum(1).max():g}; give what predict_proba gives."
        )
    return encode_with(np.asarray(classes), truth), P.astype(float)


def _log_loss(truth: Any, told: Any, classes: Any) -> Sample:
    code, P = as_probabilities(truth, told, classes)
    of_truth = np.take_along_axis(P, code[:, None], 1)[:, 0]
    return Rows(-np.log(np.clip(of_truth, np.finfo(float).eps, 1))[:, None])


def _brier(truth: Any, told: Any, classes: Any) -> Sample:
    code, P = as_probabilities(truth, told, classes)
    apart = P - (np.arange(P.shape[1]) == code[:, None])
    # With two classes the columns say the same twice, and Brier's score counts it once.
    return Rows(((apart**2).sum(1) / (2 if P.shape[1] == 2 else 1))[:, None])


def _numbers(truth: Any, told: Any) -> tuple[Floats, Floats]:
    if truth.dtype.kind not in "fiub" or told.dtype.kind not in "fiub" or told.ndim != 1:
        raise ValueError(
            f"y and prediction must be vectors of numbers for this metric, found {truth.dtype!s} and {told.dtype!s} "
            f"of the shape {told.shape}."
        )
    return truth.astype(float), told.astype(float)


def _squared(truth: Any, told: Any, _: Any) -> Sample:
    y, z = _numbers(truth, told)
    return Rows(((y - z) ** 2)[:, None])


def _root_squared(truth: Any, told: Any, _: Any) -> Sample:
    y, z = _numbers(truth, told)
    return Rows(((y - z) ** 2)[:, None], lambda means: np.sqrt(np.maximum(means[..., 0], 0.0)))


def _absolute(truth: Any, told: Any, _: Any) -> Sample:
    y, z = _numbers(truth, told)
    return Rows(np.abs(y - z)[:, None])


def _r2(truth: Any, told: Any, _: Any) -> Sample:
    y, z = _numbers(truth, told)
    y0 = y - y.mean()  # the variance from moments about the mean loses no digits

    def combine(means: Floats) -> Floats:
        spread = means[..., 1] - means[..., 0] ** 2
        return 1 - _share(means[..., 2], np.where(spread > 1e-14 * max(float(np.mean(y0**2)), 1e-300), spread, 0.0))

    return Rows(np.column_stack([y0, y0**2, (y - z) ** 2]), combine)


# --- order
# ---------------------------------------------------------------------------------------------------------------


def _ranked(kind: Literal["auc", "average_precision"]) -> Callable[[Any, Any, Any], Sample]:
    def sample(truth: Any, told: Any, classes: Any) -> Sample:
        labels = encode(truth)[0] if classes is None else classes
        if told.ndim == 1:
            told = told[:, None]
        elif told.shape[1] == 2:
            told = told[:, 1:]
        if told.shape[1] == 1 and len(labels) > 2:
            raise ValueError(
                f"prediction must have a column for each of {len(labels)} classes, found one column; give "
                f"predict_proba."
            )
        if told.dtype.kind not in "fiub":
            raise ValueError(f"prediction must be scores for this metric, found {told.dtype!s}; give predict_proba.")
        code = encode_with(labels, truth)
        if len(np.unique(code)) < 2:
            raise ValueError(
                f"y must have rows of two classes for {kind!r}, found only {truth.tolist()[0]!r}; take more rows, or a "
                f"stratified "
                "split."
            )
        wanted = [1] if told.shape[1] == 1 else list(range(len(labels)))
        return Ranked([(code == c).astype(float) for c in wanted], list(told.T.astype(float)), kind)

    return sample


@dataclass(frozen=True)
class _OfFunction:
    """The sample of a user's function; can be pickled where the function can."""

    function: Callable[[Any, Any], float]

    def __call__(self, truth: Any, told: Any, _: Any) -> Sample:
        return Whole(truth, told, self.function)


METRICS: dict[str, Metric] = {
    one.name: one
    for one in (
        Metric("accuracy", "labels", True, _cells(_accuracy), _proportion(lambda t: (np.trace(t), t.sum()))),
        Metric(
            "error",
            "labels",
            False,
            _cells(lambda t: 1 - _accuracy(t)),
            _proportion(lambda t: (t.sum() - np.trace(t), t.sum())),
        ),
        Metric("balanced_accuracy", "labels", True, _cells(_balanced_accuracy)),
        Metric(
            "precision",
            "labels",
            True,
            _cells(_precision, binary=True),
            _proportion(lambda t: (t[1, 1], t[:, 1].sum())),
        ),
        Metric("recall", "labels", True, _cells(_recall, binary=True), _proportion(lambda t: (t[1, 1], t[1].sum()))),
        Metric(
            "specificity",
            "labels",
            True,
            _cells(_specificity, binary=True),
            _proportion(lambda t: (t[0, 0], t[0].sum())),
        ),
        Metric("f1", "labels", True, _cells(_f1, binary=True)),
        Metric("f1_macro", "labels", True, _cells(_f1_macro)),
        Metric("kappa", "labels", True, _cells(_kappa)),
        Metric("matthews", "labels", True, _cells(_matthews)),
        Metric("log_loss", "probabilities", False, _log_loss),
        Metric("brier", "probabilities", False, _brier),
        Metric("auc", "scores", True, _ranked("auc")),
        Metric("average_precision", "scores", True, _ranked("average_precision")),
        Metric("squared_error", "numbers", False, _squared),
        Metric("root_squared_error", "numbers", False, _root_squared),
        Metric("absolute_error", "numbers", False, _absolute),
        Metric("r2", "numbers", True, _r2),
    )
}


def metric(
    name: str | Metric | Callable[[Any, Any], float],
    *,
    needs: Needs = "labels",
    greater_is_better: bool = True,
) -> Metric:
    """Find a metric by its name, or make one of a function.

    Parameters
    ----------
    name : str, Metric or callable
        One of `METRICS`, or any function (truth, prediction) -> number.
    needs : {"labels", "probabilities", "scores", "numbers"}, default="labels"
        What a function's prediction must be.
    greater_is_better : bool, default=True
        Whether more is better, for a function.

    Examples
    --------
    >>> metric("brier").greater_is_better
    False
    >>> metric(lambda y, z: float(abs(y - z).max()), needs="numbers").name
    '<lambda>'
    """
    if isinstance(name, Metric):
        return name
    if callable(name):
        return Metric(getattr(name, "__name__", type(name).__name__), needs, greater_is_better, _OfFunction(name))
    if name in METRICS:
        return METRICS[name]
    near = difflib.get_close_matches(str(name), METRICS, 1)
    raise ValueError(
        f"metric must be one of {', '.join(METRICS)}, or a function (truth, prediction) -> number, found {name!r}."
        + (f" Did you mean {near[0]!r}?" if near else "")
    )


def row_values(name: str | Metric, y: Any, prediction: Any, *, classes: Any = None) -> Floats:
    """Give the values of single rows whose mean the metric is, such as 1 where a row is right for accuracy.

    Parameters
    ----------
    name : str or Metric
        One of accuracy, error, log_loss, brier, squared_error and absolute_error.
    y, prediction, classes
        As in a call of the metric.

    Examples
    --------
    >>> row_values("squared_error", np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    array([0., 4.])
    """
    chosen = metric(name)
    sample = chosen.on(y, prediction, classes=classes)
    if isinstance(sample, Rows) and sample.is_mean:
        values: Floats = sample.statistics[:, 0]
        return values
    if isinstance(sample, Cells) and chosen.name in {"accuracy", "error"}:
        right = sample.cell // sample.k == sample.cell % sample.k
        shown: Floats = (right if chosen.name == "accuracy" else ~right).astype(float)
        return shown
    raise ValueError(
        f"metric must be a mean over rows here (accuracy, error, log_loss, brier, squared_error, absolute_error), "
        f"found {chosen.name!r}."
    )

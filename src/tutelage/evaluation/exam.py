"""The exam: rows sealed before anything looks at the data, opened by an explicit act, every opening counted.

A test set keeps its promise once. Whoever looks at the score, changes the model and looks again, fits the test set, and
the usual interval knows nothing of it. An exam therefore does three things.

*It seals.* ``Exam(X, y)`` sets rows aside by a seed; ``exam.X, exam.y`` are the others.

*It counts.* ``exam.open(model)`` is the only way to a score. Every opening is a line of a ledger, which copies, pickles
and other processes share. The same answers given again are the same opening: they tell nothing new.

*It widens.* The interval of an opening allows for what earlier openings may have taught. An exam says little, as Blum
and Hardt's ladder (2015): the first score, and then only scores that beat the best so far by more than the standard
error of the difference; of all others it says "not better". So few different stories can have been told before opening
t that a union bound over all of them is affordable. Give each answer a probability beforehand,

    a score told to m values            1 / m
    not better, at opening t            1 - 1 / t
    better, at opening t                1 / t   times that of the score told

and let w be the product over the answers so far. The w of all stories of one length sum to at most 1, each story leads
to one model (whatever the analyst's cunning, and any chance it used was drawn independently), so an interval at
confidence 1 - (1 - level) w holds with probability at least `level` at every opening. After k openings that were not
better, w is 1 / (m k): the price is logarithmic. The first opening pays nothing.

Cost: that of predicting the sealed rows; for the area under the curve O(n log n), for other metrics 2,000 resampled
tables. It fails where sealed rows are not independent of the others (groups, time; see ``how``), and against an analyst
who reads `_sealed`.

>>> import numpy as np
>>> from tutelage import GaussianNB
>>> random = np.random.default_rng(0)
>>> y = np.repeat([0, 1], 200)
>>> exam = Exam(random.normal(size=(400, 3)) + y[:, None], y, random_state=1)
>>> len(exam.y), exam.rows, len(exam.openings)
(300, 100, 0)
>>> opening = exam.open(GaussianNB().fit(exam.X, exam.y))
>>> opening.number, opening.better, opening.value in opening.interval
(1, True, True)
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import time
import zlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, logit, ndtri
from sklearn.utils.multiclass import type_of_target

from tutelage.evaluation.intervals import Interval, check_level, clopper_pearson, wilson
from tutelage.evaluation.ledger import Ledger
from tutelage.evaluation.metrics import Metric, metric, value_of
from tutelage.evaluation.ranking import delong
from tutelage.evaluation.refits import check_table, pick
from tutelage.evaluation.samples import Ranked, all_but_a_block
from tutelage.evaluation.scores import predicted

if TYPE_CHECKING:
    import os

FINEST = 1000  # a share is told to at most so many steps
EXPONENTS = math.pi**2 / 3 - 1  # the sum over whole numbers e of 1 / (1 + |e|)^2


@dataclass(frozen=True)
class Opening:
    """What an exam answered.

    Attributes
    ----------
    number : int
        Which opening it was.
    model : str
        What the model is called.
    metric : str
        The metric.
    better : bool
        Whether the score beat the best before by more than a standard error; the first does.
    value : float
        The score; of the best opening so far where this one was not better.
    low, high : float
        Its interval, adjusted for all openings before it.
    level : float
        The confidence of the interval.
    rows : int
        Sealed rows.
    widened : float
        How many times as wide as that of a first opening the interval is.
    note : str
        What the opener said about it.
    """

    number: int
    model: str
    metric: str
    better: bool
    value: float
    low: float
    high: float
    level: float
    rows: int
    widened: float
    note: str = ""

    @property
    def interval(self) -> Interval:
        """The interval."""
        return Interval(self.low, self.high)

    def __str__(self) -> str:
        words = f"{self.metric} {self.value:.4g} ({100 * self.level:g} % interval {self.interval}, {self.rows:,} rows)"
        if not self.better:
            return f"Opening {self.number}: {self.model} is not better than the best so far, {words}."
        if self.number == 1:
            return f"Opening 1: {self.model}, {words}."
        return (
            f"Opening {self.number}: {self.model}, {words}; {self.number - 1} earlier opening"
            f"{'s' if self.number > 2 else ''} made the interval {self.widened:.2g} times as wide."
        )


class Exam:
    """A sealed test set that counts how often it was opened.

    Parameters
    ----------
    X, y : arrays or frames
        The table.
    metric_name : str or Metric, optional
        What the exam asks; accuracy for labels and R^2 for numbers if not given.
    share : float, default=0.25
        The share of the rows, or of the groups, that is sealed.
    how : {"random", "stratified", "last"}, default="random"
        Which rows: any, or classes in their shares, or the last ones, for rows in the order of time.
    groups : array of shape (n,), optional
        Rows of one group are sealed together, or not at all. The interval still counts rows as independent.
    level : float, default=0.95
        The confidence of the intervals.
    ledger : str or path, optional
        The file that counts. Without it the count is shared by all copies, pickles and processes while the process that
        made the exam lives, and pickles take along what they know; with it the count also survives the next run of a
        script.
    random_state : int, default=0
        The seed that chooses the rows.

    Examples
    --------
    >>> exam = Exam(np.arange(20.0)[:, None], np.arange(20) % 2, share=0.5, how="last")
    >>> exam.X.ravel().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        metric_name: str | Metric | None = None,
        *,
        share: float = 0.25,
        how: Literal["random", "stratified", "last"] = "random",
        groups: Any = None,
        level: float = 0.95,
        ledger: str | os.PathLike[str] | None = None,
        random_state: int = 0,
    ) -> None:
        truth = check_table(X, y)
        numeric = type_of_target(truth).startswith("continuous")
        self.metric = metric(metric_name if metric_name is not None else "r2" if numeric else "accuracy")
        self.level = check_level(level)
        sealed = _choose(truth, share, how, groups, random_state)
        open_rows = np.setdiff1d(np.arange(len(truth)), sealed, assume_unique=True)
        self.X, self.y = pick(X, open_rows), pick(y, open_rows)
        self._sealed = (pick(X, sealed), truth[sealed])
        self._classes = None if numeric else np.unique(truth)
        self.rows = len(sealed)
        told = json.dumps([sealed.tolist(), [str(label) for label in truth[sealed]], self.metric.name, self.level])
        self.key = hashlib.sha256(told.encode()).hexdigest()[:32]
        self._ledger = Ledger(ledger)

    def __getstate__(self) -> dict[str, Any]:
        lines = [(self.key, line) for line in self._ledger.read(self.key)]
        ledger = {"path": str(self._ledger.path), "lasting": self._ledger.lasting, "known": lines}
        return {**self.__dict__, "_ledger": ledger}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ledger = state.pop("_ledger")
        self.__dict__.update(state)
        try:
            self._ledger = Ledger(ledger["path"], tuple((key, line) for key, line in ledger["known"]))
        except ValueError:  # the folder is gone: another machine
            self._ledger = Ledger(None)
            with self._ledger.held(self.key) as lines:
                lines.extend(line for _, line in ledger["known"])
        self._ledger.lasting = ledger["lasting"]

    def __repr__(self) -> str:
        return f"Exam({self.rows} rows sealed, {self.metric.name}, opened {len(self.openings)} times)"

    @property
    def openings(self) -> list[Opening]:
        """All openings so far, by whomever."""
        return [_opening(line) for line in self._ledger.read(self.key) if "seal" not in line]

    @property
    def best(self) -> Opening | None:
        """The best opening so far."""
        better = [one for one in self.openings if one.better]
        return better[-1] if better else None

    @property
    def broken(self) -> bool:
        """Whether the sealed rows themselves were taken out."""
        return any("seal" in line for line in self._ledger.read(self.key))

    def open(self, model: Any, note: str = "", *, name: str | None = None) -> Opening:
        """Score a fitted model on the sealed rows; this counts.

        Parameters
        ----------
        model : estimator
            Fitted, on rows of ``exam.X`` only.
        note : str, default=""
            Why; written into the ledger.
        name : str, optional
            What the model is called; its class if not given.

        Returns
        -------
        Opening
            The answer.
        """
        X, y = self._sealed
        prediction, classes = predicted(model, X, self.metric.needs)
        if classes is None and self.metric.needs in {"probabilities", "scores"}:
            classes = self._classes
        mark = hashlib.sha256(np.ascontiguousarray(prediction).tobytes()).hexdigest()[:32]
        if prediction.dtype.kind in "OUT":
            mark = hashlib.sha256(json.dumps([str(one) for one in prediction.ravel()]).encode()).hexdigest()[:32]
        self.metric.on(y, prediction, classes=classes)  # says what is wrong before the seal is touched
        with self._ledger.held(self.key) as lines:
            if any("seal" in line for line in lines):
                raise ValueError(
                    "The seal of this exam was broken: its rows were taken out, and no interval can be promised any "
                    "more. "
                    "Seal fresh rows in a new Exam."
                )
            for line in lines:
                if line["mark"] == mark:
                    return _opening(line)
            line = self._answer(lines, prediction, classes, mark)
            line |= {"model": name if name is not None else type(model).__name__, "note": note}
            line["when"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            lines.append(line)
        return _opening(line)

    def break_seal(self) -> tuple[Any, Any]:
        """Take the sealed rows out. The exam then answers no more: nothing can be promised about rows one has seen.

        Returns
        -------
        X, y
            The sealed rows.
        """
        with self._ledger.held(self.key) as lines:
            if not any("seal" in line for line in lines):
                lines.append({"seal": "broken", "mark": "", "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
        return self._sealed

    def _answer(self, lines: list[dict[str, Any]], prediction: Any, classes: Any, mark: str) -> dict[str, Any]:
        number, weight = len(lines) + 1, lines[-1]["weight"] if lines else 1.0
        best = next((line for line in reversed(lines) if line["better"]), None)
        answer = {"number": number, "metric": self.metric.name, "level": self.level, "rows": self.rows, "mark": mark}
        if best is not None and not self._beats(prediction, classes, best):
            kept = {name: best[name] for name in ("value", "low", "high", "widened")}
            return {**answer, **kept, "better": False, "weight": weight * (1 - 1 / number)}
        told, code = self._told(prediction, classes)
        level = 1 - (1 - self.level) * weight
        interval, plain = self._interval(told, level, exact=number > 1), self._interval(told, self.level, exact=False)
        return {
            **answer,
            "value": told[0],
            "low": interval.low,
            "high": interval.high,
            "widened": interval.width / plain.width if plain.width > 0 else 1.0,
            "better": True,
            "weight": weight * code / number,
            "answers": _packed(prediction, classes),
        }

    def _told(self, prediction: Any, classes: Any) -> tuple[tuple[float, float], float]:
        """Give what is told of a score, (value, standard error or rows), rounded, and its probability beforehand."""
        y = self._sealed[1]
        sample = self.metric.on(y, prediction, classes=classes)
        if self.metric.name in {"accuracy", "error"}:
            steps = min(self.rows, FINEST)
            return (round(value_of(sample, self.rows) * steps) / steps, float(self.rows)), 1 / (steps + 1)
        if isinstance(sample, Ranked) and self.metric.name == "auc" and len(sample.truths) == 1:
            made = delong(sample.truths[0], sample.scores[0])
            value, error = made.area, math.sqrt(made.variance)
        else:
            value = value_of(sample, self.rows)
            error = float(np.nanstd(sample.resampled(np.random.default_rng(0), 2000)))
        (value, of_value), (error, of_error) = _rounded(value, 3), _rounded(error, 2, up=True)
        return (value, error), of_value * of_error

    def _interval(self, told: tuple[float, float], level: float, *, exact: bool) -> Interval:
        value, error = told
        if self.metric.name in {"accuracy", "error"}:
            return (clopper_pearson if exact else wilson)(value * error, error, level)
        reach = float(-ndtri((1 - level) / 2)) * error
        if (
            self.metric.needs in {"labels", "scores"}
            and 0 < value < 1
            and self.metric.name not in {"kappa", "matthews"}
        ):
            reach /= value * (1 - value)
            return Interval(float(expit(logit(value) - reach)), float(expit(logit(value) + reach)))
        if not self.metric.greater_is_better and value > 0:
            return Interval(value * math.exp(-reach / value), value * math.exp(reach / value))
        return Interval(value - reach, value + reach)

    def _beats(self, prediction: Any, classes: Any, best: dict[str, Any]) -> bool:
        """Tell whether a prediction beats the best so far by more than the standard error of the difference."""
        y = self._sealed[1]
        old_answers, old_classes = _unpacked(best["answers"])
        new, old = self.metric.on(y, prediction, classes=classes), self.metric.on(y, old_answers, classes=old_classes)
        gain = value_of(new, self.rows) - value_of(old, self.rows)
        gain *= 1 if self.metric.greater_is_better else -1
        left_out = np.concatenate([new.weighted(kept) - old.weighted(kept) for kept in all_but_a_block(self.rows)])
        known = left_out[np.isfinite(left_out)]
        error = math.sqrt((len(known) - 1) * float(known.var())) if len(known) > 1 else math.inf
        return gain > max(error, 1e-12)


def _choose(y: Any, share: float, how: str, groups: Any, seed: int) -> Any:
    """Give the rows that are sealed, sorted."""
    if not 0 < share < 1:
        raise ValueError(f"share must lie between 0 and 1, found {share!r}.")
    if how not in {"random", "stratified", "last"}:
        raise ValueError(f"how must be 'random', 'stratified' or 'last', found {how!r}.")
    rows, random = len(y), np.random.default_rng(seed)
    if groups is not None:
        if how == "stratified":
            raise ValueError("how='stratified' cannot be had together with groups; leave one of them out.")
        names, first, code = np.unique(np.asarray(groups), return_index=True, return_inverse=True)
        if len(code) != rows:
            raise ValueError(f"groups must have a value for each of the {rows} rows, found {len(code)}.")
        order = np.argsort(first) if how == "last" else random.permutation(len(names))
        count = round(share * len(names))
        sealed = np.flatnonzero(np.isin(code, order[len(names) - count :]))
    elif how == "last":
        sealed = np.arange(rows - round(share * rows), rows)
    elif how == "stratified":
        parts = [np.flatnonzero(y == label) for label in np.unique(y)]
        sealed = np.sort(np.concatenate([random.permutation(part)[: round(share * len(part))] for part in parts]))
    else:
        sealed = np.sort(random.permutation(rows)[: round(share * rows)])
    if not 0 < len(sealed) < rows:
        raise ValueError(
            f"share must leave rows on both sides of the seal, found {len(sealed)} of {rows} rows sealed with "
            f"share={share!r}."
        )
    return sealed


def _rounded(number: float, digits: int, *, up: bool = False) -> tuple[float, float]:
    """Round to significant digits; give the result and a probability: over all such numbers they sum to 1."""
    if number == 0 or not math.isfinite(number):
        return number, 0.1
    exponent = math.floor(math.log10(abs(number)))
    scale = 10.0 ** (exponent - digits + 1)
    made = (math.ceil(number / scale - 1e-9) if up else round(number / scale)) * scale
    # A tenth each for zero, NaN and the infinities, a quarter for each sign; 901 mantissas of three digits.
    return float(f"{made:.{digits}g}"), 0.25 / (9 * 10 ** (digits - 1) + 1) / (EXPONENTS * (1 + abs(exponent)) ** 2)


def _packed(prediction: Any, classes: Any) -> dict[str, Any]:
    """Put answers into a line of the ledger; they are the opener's own, and tell nothing of the truth."""
    names = None if classes is None else np.asarray(classes).tolist()
    if prediction.dtype.kind == "O":
        return {"list": prediction.tolist(), "classes": names}
    values = np.ascontiguousarray(prediction)
    raw = base64.b64encode(zlib.compress(values.tobytes(), 9)).decode()
    return {"dtype": values.dtype.str, "shape": list(values.shape), "raw": raw, "classes": names}


def _unpacked(packed: dict[str, Any]) -> tuple[Any, Any]:
    names = None if packed["classes"] is None else np.array(packed["classes"])
    if "list" in packed:
        return np.array(packed["list"], dtype=object), names
    raw = zlib.decompress(base64.b64decode(packed["raw"]))
    return np.frombuffer(raw, dtype=np.dtype(packed["dtype"])).reshape(packed["shape"]), names


def _opening(line: dict[str, Any]) -> Opening:
    return Opening(**{name: line[name] for name in asdict(_BLANK)})


_BLANK = Opening(0, "", "", better=False, value=0.0, low=0.0, high=0.0, level=0.95, rows=0, widened=1.0)

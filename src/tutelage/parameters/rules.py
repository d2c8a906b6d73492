"""What a parameter may be: one small class for each kind of value.

A check is a list of alternatives, which `tutelage.parameters.hints` reads from a type hint. Every alternative knows
four things: whether it accepts a value, the phrase that an error sentence and a documentation table use for it, the
scikit-learn constraint with the same meaning, and how to read itself from a word of the command line.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np

Closed = Literal["left", "right", "both", "neither"]


@dataclass(frozen=True)
class Interval:
    """The range of a number, in metadata: ``Annotated[float, Interval(0, 1, closed="both")]``.

    Parameters
    ----------
    low, high : float
        The ends; infinite ends are allowed and are what they say: ``closed="both"`` with ``high=inf`` admits infinity.
    closed : {"left", "right", "both", "neither"}, default="left"
        Which ends belong to the range.

    Examples
    --------
    >>> share = Interval(0, 1, closed="right")
    >>> print(share, 0.0 in share, 1 in share)
    (0.0, 1.0] False True
    """

    low: float = -math.inf
    high: float = math.inf
    closed: Closed = "left"

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise TypeError(f"An interval needs low < high, found low={self.low!r} and high={self.high!r}.")

    def __contains__(self, value: Any) -> bool:
        above = self.low <= value if self.closed in ("left", "both") else self.low < value
        below = value <= self.high if self.closed in ("right", "both") else value < self.high
        return bool(above and below)

    def describe(self, end: type) -> str:
        """Write the interval with its finite ends as the given type of number."""
        low, high = (str(value if math.isinf(value) else end(value)) for value in (self.low, self.high))
        left = "[" if self.closed in ("left", "both") else "("
        right = "]" if self.closed in ("right", "both") else ")"
        return f"{left}{low}, {high}{right}"

    def __str__(self) -> str:
        return self.describe(float)


class Rule(ABC):
    """One kind of value that a parameter may have."""

    hidden: ClassVar[bool] = False  # accepted, but named neither in errors nor in documentation
    textual: ClassVar[bool] = False  # a word of the command line can express it

    @abstractmethod
    def accepts(self, value: Any) -> bool:
        """Whether the value is of this kind."""

    @abstractmethod
    def __str__(self) -> str:
        """Phrase of an error sentence, with its article: ``a float in the range [0.0, inf)``."""

    @property
    def label(self) -> str:
        """Phrase of the documentation table, without the article."""
        return str(self).removeprefix("a ").removeprefix("an ")

    @abstractmethod
    def constraint(self) -> Any:
        """Give the scikit-learn constraint with the same meaning, for its testing tools."""

    def parse(self, word: str) -> Any:
        """Read a value from a word of the command line; ValueError if the word is not one of this kind."""
        raise ValueError(f"{self} cannot be written as a word, found {word!r}.")


@dataclass(frozen=True)
class Number(Rule):
    """An integer, or a real number, inside an interval."""

    integer: bool
    interval: Interval | None = None
    beside_integer: bool = False  # an integer alternative stands beside this one, and owns the integers

    textual: ClassVar[bool] = True

    def accepts(self, value: Any) -> bool:
        whole = isinstance(value, Integral)
        if (self.integer and not whole) or (self.beside_integer and whole) or not isinstance(value, Real):
            return False
        if self.interval is None:
            return whole or not math.isnan(value)
        return value in self.interval  # no comparison holds for NaN, so it is in none

    def __str__(self) -> str:
        name = "an int" if self.integer else "a float"
        return name if self.interval is None else f"{name} in the range {self.interval.describe(self._type)}"

    @property
    def _type(self) -> type:
        return int if self.integer else float

    def constraint(self) -> Any:
        from sklearn.utils import _param_validation as theirs

        interval = self.interval
        if self.integer:
            if interval is None:
                return Integral
            first, last = (None if math.isinf(end) else int(end) for end in (interval.low, interval.high))
            # Theirs refuses to close an infinite end over the integers.
            left = interval.closed in ("left", "both") and first is not None
            right = interval.closed in ("right", "both") and last is not None
            closed = "both" if left and right else "left" if left else "right" if right else "neither"
            return theirs.Interval(Integral, first, last, closed=closed)
        kind = theirs.RealNotInt if self.beside_integer else Real
        if interval is None:
            return theirs.Interval(kind, None, None, closed="both")
        low, high = (None if math.isinf(end) else end for end in (interval.low, interval.high))
        return theirs.Interval(kind, low, high, closed=interval.closed)

    def parse(self, word: str) -> Any:
        if self.integer:
            return int(word)
        if self.beside_integer and word.strip().lstrip("+-").isdigit():
            raise ValueError(f"{word!r} is an integer; write it with a decimal point to mean a float.")
        return float(word)


@dataclass(frozen=True)
class Options(Rule):
    """One of a few values of one type."""

    values: tuple[Any, ...]
    textual: ClassVar[bool] = True

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self._type) and value in self.values

    @property
    def _type(self) -> type:
        # NumPy's integers and floats count as int and float; a string is only ever a string.
        first: type = type(self.values[0])
        wider: dict[type, type] = {int: Integral, float: Real}
        return wider.get(first, first)

    def __str__(self) -> str:
        return f"a {type(self.values[0]).__name__} among {self.label}"

    @property
    def label(self) -> str:
        return "{" + ", ".join(map(repr, self.values)) + "}"

    def constraint(self) -> Any:
        from sklearn.utils import _param_validation as theirs

        if isinstance(self.values[0], str):
            return theirs.StrOptions(set(self.values))
        return theirs.Options(self._type, set(self.values))

    def parse(self, word: str) -> Any:
        for value in self.values:
            if word == str(value):
                return value
        raise ValueError(f"must be one of {', '.join(map(str, self.values))}, found {word!r}.")


@dataclass(frozen=True)
class Boolean(Rule):
    """True or False."""

    textual: ClassVar[bool] = True

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_)

    def __str__(self) -> str:
        return "a bool"

    def constraint(self) -> Any:
        return "boolean"

    def parse(self, word: str) -> Any:
        meanings = {
            "true": True,
            "yes": True,
            "on": True,
            "1": True,
            "false": False,
            "no": False,
            "off": False,
            "0": False,
        }
        if word.lower() not in meanings:
            raise ValueError(f"must be yes or no, found {word!r}.")
        return meanings[word.lower()]


@dataclass(frozen=True)
class Nothing(Rule):
    """None."""

    textual: ClassVar[bool] = True

    def accepts(self, value: Any) -> bool:
        return value is None

    def __str__(self) -> str:
        return "None"

    def constraint(self) -> Any:
        return None

    def parse(self, word: str) -> Any:
        if word.lower() != "none":
            raise ValueError(f"must be none, found {word!r}.")
        return None


@dataclass(frozen=True)
class Instance(Rule):
    """An instance of a class."""

    type: type

    @property
    def textual(self) -> bool:  # type: ignore[override]
        return self.type is str

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.type)

    def __str__(self) -> str:
        name = self.type.__qualname__
        if self.type.__module__ != "builtins":
            name = f"{self.type.__module__}.{name}"
        return f"an instance of {name!r}"

    @property
    def label(self) -> str:
        return self.type.__name__

    def constraint(self) -> Any:
        return self.type

    def parse(self, word: str) -> Any:
        return word if self.type is str else super().parse(word)


@dataclass(frozen=True)
class AnyCallable(Rule):
    """Anything that can be called."""

    def accepts(self, value: Any) -> bool:
        return callable(value)

    def __str__(self) -> str:
        return "a callable"

    def constraint(self) -> Any:
        return callable


@dataclass(frozen=True)
class AnyArray(Rule):
    """A list, an array, a series, a frame: anything of numbers with a length, but no string and no dictionary."""

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str | bytes | dict | type):
            return False
        shape = getattr(value, "shape", None)
        return len(shape) > 0 if isinstance(shape, tuple) else hasattr(value, "__len__") or hasattr(value, "__array__")

    def __str__(self) -> str:
        return "an array-like"

    def constraint(self) -> Any:
        return "array-like"


@dataclass(frozen=True)
class Has(Rule):
    """Anything with the methods named."""

    methods: tuple[str, ...]

    def __init__(self, *methods: str) -> None:
        object.__setattr__(self, "methods", methods)

    def accepts(self, value: Any) -> bool:
        return all(callable(getattr(value, method, None)) for method in self.methods)

    def __str__(self) -> str:
        *first, last = map(repr, self.methods)
        return f"an object implementing {', '.join(first)} and {last}" if first else f"an object implementing {last}"

    def constraint(self) -> Any:
        from sklearn.utils import _param_validation as theirs

        return theirs.HasMethods(list(self.methods))


@dataclass(frozen=True)
class Either(Rule):
    """A few alternatives under one name, which scikit-learn's tools know by that name too."""

    name: str
    rules: tuple[Rule, ...]
    textual: ClassVar[bool] = True

    def accepts(self, value: Any) -> bool:
        return any(rule.accepts(value) for rule in self.rules)

    def __str__(self) -> str:
        return join([str(rule) for rule in self.rules])

    @property
    def label(self) -> str:
        return join([rule.label for rule in self.rules])

    def constraint(self) -> Any:
        return self.name

    def parse(self, word: str) -> Any:
        return parse(self.rules, word)


@dataclass(frozen=True)
class AnyIterable(Rule):
    """Anything that can be iterated over, but no string."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Iterable) and not isinstance(value, str)

    def __str__(self) -> str:
        return "an iterable"

    def constraint(self) -> Any:
        from sklearn.utils import _param_validation as theirs

        return theirs._IterablesNotString()  # noqa: SLF001 - it has no public name


@dataclass(frozen=True)
class Hidden(Rule):
    """Values that are understood for the sake of old code, and never offered: ``Hidden("deprecated")``."""

    values: tuple[Any, ...]
    hidden: ClassVar[bool] = True

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def accepts(self, value: Any) -> bool:
        return any(value is other or (isinstance(value, str) and value == other) for other in self.values)

    def __str__(self) -> str:
        return "{" + ", ".join(map(repr, self.values)) + "}"

    def constraint(self) -> Any:
        from sklearn.utils import _param_validation as theirs

        if all(isinstance(value, str) for value in self.values):
            return theirs.Hidden(theirs.StrOptions(set(self.values)))
        return theirs.Hidden(None)


def join(phrases: list[str]) -> str:
    """Join phrases as an enumeration: ``a, b or c``.

    Examples
    --------
    >>> join(["a float", "an int", "None"])
    'a float, an int or None'
    """
    *first, last = phrases
    return f"{', '.join(first)} or {last}" if first else last


def parse(rules: Iterable[Rule], word: str) -> Any:
    """Read a word of the command line by the first alternative that understands and accepts it.

    Examples
    --------
    >>> rules = (Number(True, Interval(1)), Nothing())
    >>> parse(rules, "3"), parse(rules, "none")
    (3, None)
    >>> parse(rules, "0")
    Traceback (most recent call last):
    ...
    ValueError: must be an int in the range [1, inf) or None, found '0'.
    """
    known = [rule for rule in rules if rule.textual and not rule.hidden]
    # Free text comes last: otherwise it would swallow numbers and None.
    for rule in sorted(known, key=lambda rule: isinstance(rule, Instance)):
        try:
            value = rule.parse(word)
        except ValueError:
            continue
        if rule.accepts(value):
            return value
    raise ValueError(f"must be {join([str(rule) for rule in known])}, found {word!r}.")


VERBOSITY = Either("verbose", (Number(True, Interval(0)), Boolean()))
SEED = Either(
    "random_state", (Number(True, Interval(0, 2**32 - 1, closed="both")), Instance(np.random.RandomState), Nothing())
)
SPLITS = Either("cv_object", (Number(True, Interval(2)), Has("split", "get_n_splits"), AnyIterable(), Nothing()))

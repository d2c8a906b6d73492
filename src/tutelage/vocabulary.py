"""What losses and penalties have in common as Python objects: words with parameters, fixed once said.

A word is a frozen object: equal to another of the same class and parameters, hashable, picklable, printed as the call
that makes it. The ranges of its scalar parameters are declared once, in the native core, and checked here.

>>> from tutelage import losses
>>> losses.Huber(delta=2) == losses.Huber(2.0)
True
>>> losses.Huber(delta=-1)
Traceback (most recent call last):
ValueError: delta of Huber must be above 0; found -1.0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


def range_in_words(row: Mapping[str, Any]) -> str:
    """Say which values a declared parameter may take.

    >>> range_in_words({"low": 0.0, "high": 1.0, "open_low": True, "open_high": True})
    'above 0 and below 1'
    """
    bounds = []
    if row["low"] > -math.inf or row["open_low"]:
        bounds.append(f"{'above' if row['open_low'] else 'at least'} {row['low']:g}")
    if row["high"] < math.inf or row["open_high"]:
        bounds.append(f"{'below' if row['open_high'] else 'at most'} {row['high']:g}")
    return " and ".join(bounds) or "a number"


def checked_number(value: object, row: Mapping[str, Any], owner: str) -> float:
    """Return a scalar parameter as a float, or raise the sentence that says what it must be."""
    name = row["name"]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} of {owner} must be a number, {range_in_words(row)}; found {value!r}.")
    number = float(value)
    above = number > row["low"] if row["open_low"] else number >= row["low"]
    below = number < row["high"] if row["open_high"] else number <= row["high"]
    if not (above and below):
        raise ValueError(f"{name} of {owner} must be {range_in_words(row)}; found {number}.")
    return number


def checked_list(value: npt.ArrayLike, name: str, owner: str, ndim: int = 1) -> Array:
    """Return a parameter with an entry for each coefficient as a read-only array of its own."""
    try:
        array = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} of {owner} must be an array of numbers; found {value!r}.") from error
    if not 1 <= array.ndim <= ndim or array.size == 0:
        raise ValueError(f"{name} of {owner} must have {ndim} dimensions and an entry; its shape is {array.shape}.")
    if np.isnan(array).any():
        raise ValueError(f"{name} of {owner} must not contain NaN.")
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False, repr=False)
class Word:
    """A choice of parameters, under a name."""

    name: ClassVar[str]

    def parameters(self) -> Iterator[tuple[str, Any]]:
        """Yield the name and value of every parameter that is set."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                yield field.name, value

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_numbers(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        """Check the scalar parameters against their declaration, and store them as floats."""
        for name, value in list(self.parameters()):
            if name in rows and not isinstance(value, np.ndarray):
                self._set(name, checked_number(value, rows[name], type(self).__name__))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={_shown(value)}" for name, value in self.parameters())
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Word) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        values = (value for _, value in self.parameters())
        named = tuple(name for name, _ in self.parameters())
        contents = ((v.shape, v.tobytes()) if isinstance(v, np.ndarray) else v for v in values)
        return (type(self), named, *contents)


def _shown(value: object) -> str:
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 6 else f"<array of shape {value.shape}>"
    return f"{value:g}" if isinstance(value, float) and value == round(value, 5) else repr(value)

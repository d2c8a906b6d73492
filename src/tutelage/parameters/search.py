"""Where to look for a good value of a parameter: ranges and lists that a search can draw from or lay a grid over.

`Range` and `Among` have the ``rvs`` method that scikit-learn's ``RandomizedSearchCV`` asks of a distribution, so that
``RandomizedSearchCV(model, model.search_space())`` works; ``grid`` serves ``GridSearchCV`` and our own searches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


def _generator(random_state: Any) -> np.random.RandomState:
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.RandomState(random_state)


@dataclass(frozen=True)
class Range:
    """An interval of numbers, on a linear or a logarithmic scale.

    Parameters
    ----------
    low, high : float
        The ends, both included.
    logarithmic : bool, default=False
        Whether equal ratios, rather than equal differences, are equally likely: the scale of penalties and step sizes.
    integer : bool, default=False
        Whether only integers are drawn.

    Examples
    --------
    >>> Range(0.01, 100, logarithmic=True).grid(5)
    [0.01, 0.1, 1.0, 10.0, 100.0]
    >>> Range(1, 8, integer=True).grid(4)
    [1, 3, 6, 8]
    """

    low: float
    high: float
    logarithmic: bool = False
    integer: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise TypeError(f"A range needs low < high, found low={self.low!r} and high={self.high!r}.")
        if self.logarithmic and self.low <= 0:
            raise TypeError(f"A logarithmic range needs low > 0, found low={self.low!r}.")

    def _place(self, share: Any) -> Any:
        """Map shares in [0, 1] onto the range."""
        if self.logarithmic:
            # Base ten, so that a grid over decades hits the powers of ten exactly.
            values = 10.0 ** (math.log10(self.low) + share * (math.log10(self.high) - math.log10(self.low)))
        else:
            values = self.low + share * (self.high - self.low)
        values = np.clip(values, self.low, self.high)
        return np.rint(values).astype(int) if self.integer else values

    def rvs(self, size: int | None = None, random_state: Any = None) -> Any:
        """Draw one value, or an array of `size` of them."""
        values = self._place(_generator(random_state).uniform(size=size))
        return values if size is not None else values.item()

    def grid(self, points: int) -> list[Any]:
        """Give evenly spaced values, both ends among them, without repetition."""
        values = self._place(np.linspace(0, 1, points)).tolist()
        return list(dict.fromkeys(values))


@dataclass(frozen=True)
class Among:
    """A list of values, all equally likely.

    Examples
    --------
    >>> Among("l1", "l2").grid(7)
    ['l1', 'l2']
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def rvs(self, size: int | None = None, random_state: Any = None) -> Any:
        """Draw one value, or a list of `size` of them."""
        drawn = _generator(random_state).randint(len(self.values), size=size)
        return self.values[drawn] if size is None else [self.values[index] for index in drawn]

    def grid(self, points: int) -> list[Any]:
        """Give the first `points` values."""
        return list(self.values[:points])


SearchRange = Range | Among

"""The reading of a type hint as the alternatives that a value is checked against.

A hint is a union of alternatives, and so is a check: ``float | None`` with an interval means "a float in that interval,
or None".

=============================  ==========================================================================
hint                           alternative
=============================  ==========================================================================
``int``, ``float``             a number (of any NumPy width), inside the `Interval` beside it, never NaN
``bool``, ``str``, ``None``    just that
``Literal["a", "b"]``          one of the values
``Callable[..., Any]``         anything that can be called
``Annotated[Any, Has("fit")]`` anything with these methods (any rule may stand in the metadata)
a class                        an instance of it
``Any``                        anything: never checked
=============================  ==========================================================================

Where ``int`` and ``float`` stand side by side (``Count | Share``), the float is a float that is not an integer: 1
means one, 1.0 means all.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np

from tutelage.parameters.rules import AnyArray, AnyCallable, Boolean, Instance, Interval, Nothing, Number, Options, Rule


def read_hint(hint: Any) -> tuple[Rule, ...]:
    """Read a type hint as alternatives; an empty tuple means that nothing is checked.

    Examples
    --------
    >>> for rule in read_hint(Annotated[float | Literal["scale"] | None, Interval(0)]):
    ...     print(rule)
    a float in the range [0.0, inf)
    a str among {'scale'}
    None
    """
    rules = _read(hint, None)
    if rules is None:
        return ()
    if any(isinstance(rule, Number) and rule.integer for rule in rules):
        rules = [
            replace(rule, beside_integer=True) if isinstance(rule, Number) and not rule.integer else rule
            for rule in rules
        ]
    return tuple(dict.fromkeys(rules))


_PLAIN: dict[Any, Rule] = {
    bool: Boolean(),
    None: Nothing(),
    type(None): Nothing(),
    collections.abc.Callable: AnyCallable(),
    np.ndarray: AnyArray(),
}


def _read(hint: Any, interval: Interval | None) -> list[Rule] | None:
    """Alternatives of a hint inside an interval that stands further out; None for anything at all."""
    if hint is Any or hint is object:
        return None
    if isinstance(hint, str | typing.ForwardRef):
        raise TypeError(f"The hint {hint!r} was not resolved; import its names where the class is defined.")
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return _read_annotated(hint, interval)
    if origin in (typing.Union, types.UnionType):
        parts = [_read(part, interval) for part in typing.get_args(hint)]
        return None if any(part is None for part in parts) else [rule for part in parts for rule in part or ()]
    if origin is Literal:
        return _read_literal(typing.get_args(hint))
    kind = origin or hint
    if kind in (int, float):
        return [Number(kind is int, interval)]
    if kind in _PLAIN:
        return [_PLAIN[kind]]
    if isinstance(kind, type):
        return [Instance(kind)]
    raise TypeError(f"The hint {hint!r} says nothing that can be checked; use Annotated[Any, a rule] or Any.")


def _read_annotated(hint: Any, interval: Interval | None) -> list[Rule] | None:
    metadata = hint.__metadata__
    inner = next((item for item in reversed(metadata) if isinstance(item, Interval)), interval)
    open_rules = [item for item in metadata if isinstance(item, Rule) and not item.hidden]
    hidden = [item for item in metadata if isinstance(item, Rule) and item.hidden]
    rules = open_rules or _read(hint.__origin__, inner)
    return None if rules is None else [*[rule for rule in rules if not _is_hidden(rule, hidden)], *hidden]


def _is_hidden(rule: Rule, hidden: list[Rule]) -> bool:
    """Whether all that a rule offers is hidden: a type must name such values too, ``Literal["deprecated"]``."""
    offered = rule.values if isinstance(rule, Options) else ()
    return bool(offered) and all(any(one.accepts(value) for one in hidden) for value in offered)


def _read_literal(values: tuple[Any, ...]) -> list[Rule]:
    by_type: dict[type, list[Any]] = {}
    for value in values:
        by_type.setdefault(type(value), []).append(value)
    return [Nothing() if kind is type(None) else Options(tuple(group)) for kind, group in by_type.items()]

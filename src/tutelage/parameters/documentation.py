"""The "Parameters" and "Attributes" tables of a class docstring, written from the declarations when they are read."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import TYPE_CHECKING, Any

from tutelage.parameters.rules import join

if TYPE_CHECKING:
    from tutelage.parameters.declared import Attribute, Parameter

# numpydoc's order of sections: Parameters and Attributes come before all of these.
_LATER_SECTIONS = re.compile(r"^(See Also|Notes|References|Examples|Warnings|Methods)\n-+$", re.MULTILINE)
_ANY_SECTION = re.compile(r"^(\w[\w ]*)\n-+$", re.MULTILINE)
_WIDTH = 116


class Documented:
    """Stands for ``__doc__``: the text of the class with the tables put in, built once, on the first reading."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._built: str | None = None

    def __get__(self, instance: Any, owner: Any = None) -> str:
        if self._built is None:
            self._built = insert_tables(
                self._text, owner.declared_parameters().values(), owner.declared_attributes().values()
            )
        return self._built


def parameter_entry(parameter: Parameter) -> str:
    """Write the entry of one parameter: its name, what it may be, its default, its sentence."""
    shown = [rule.label for rule in parameter.rules if not rule.hidden]
    kind = join(shown) if shown else "object"
    default = "" if parameter.required else f", default={parameter.default!r}"
    return _entry(f"{parameter.name} : {kind}{default}", parameter.sentence)


def attribute_entry(attribute: Attribute) -> str:
    """Write the entry of one fitted attribute."""
    kind = "object" if attribute.kind == "Any" else attribute.kind
    return _entry(f"{attribute.name} : {kind}", attribute.sentence)


def _entry(head: str, sentence: str) -> str:
    body = textwrap.fill(sentence, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    return f"{head}\n{body}" if body else head


def insert_tables(text: str, parameters: Any, attributes: Any) -> str:
    """Put the tables after the prose of a docstring and before its later sections; a table already there stays.

    The tables are written in the order numpydoc asks for, and the text is dedented.
    """
    text = inspect.cleandoc(text)
    present = {match.group(1) for match in _ANY_SECTION.finditer(text)}
    tables = []
    for title, entries in (
        ("Parameters", [parameter_entry(parameter) for parameter in parameters]),
        ("Attributes", [attribute_entry(attribute) for attribute in attributes]),
    ):
        if entries and title not in present:
            tables.append(f"{title}\n{'-' * len(title)}\n" + "\n".join(entries))
    later = _LATER_SECTIONS.search(text)
    cut = later.start() if later else len(text)
    parts = [text[:cut].rstrip(), *tables, text[cut:].rstrip()]
    return "\n\n".join(part for part in parts if part) + "\n"

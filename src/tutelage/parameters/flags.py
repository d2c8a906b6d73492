"""Parameters as command-line flags, described without any command-line library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tutelage.parameters.rules import Boolean, Number, Options, Rule, join, parse

if TYPE_CHECKING:
    from tutelage.parameters.declared import Parameter


@dataclass(frozen=True)
class Flag:
    """One flag of a command line.

    Attributes
    ----------
    name : str
        How it is written: ``--max-iter``.
    parameter : str
        The parameter it sets: ``max_iter``.
    type : type
        The type of its values: bool, int, float or str (str where several kinds of word are understood).
    default : object
        The value without the flag.
    required : bool
        Whether there is no default.
    choices : tuple of str
        The words understood, where there is only a list of them; empty otherwise.
    help : str
        The parameter's sentence, with what it may be and its default.
    """

    name: str
    parameter: str
    type: type
    default: Any
    required: bool
    choices: tuple[str, ...]
    help: str
    rules: tuple[Rule, ...]

    def parse(self, word: str) -> Any:
        """Read the value of the parameter from a word; a ValueError says in one sentence what is understood."""
        try:
            return parse(self.rules, word)
        except ValueError as error:
            raise ValueError(f"{self.name} {error}") from None


def flag_of(parameter: Parameter) -> Flag | None:
    """Describe a parameter as a flag; None if no word could express a value of it (an estimator, a callable)."""
    rules = tuple(rule for rule in parameter.rules if rule.textual and not rule.hidden)
    kinds = {_kind(rule) for rule in rules} - {type(None)}
    if not kinds:
        return None
    closed = all(isinstance(rule, Options) or str(rule) == "None" for rule in rules)
    choices = tuple(str(value) for rule in rules if isinstance(rule, Options) for value in rule.values)
    nullable = any(rule.accepts(None) for rule in rules)
    default = "" if parameter.required else f" (default {'none' if parameter.default is None else parameter.default})"
    return Flag(
        name="--" + parameter.name.replace("_", "-"),
        parameter=parameter.name,
        type=kinds.pop() if len(kinds) == 1 and not nullable else str,
        default=parameter.default,
        required=parameter.required,
        choices=(*choices, "none")[: len(choices) + nullable] if closed else (),
        help=f"{parameter.sentence} {join([rule.label for rule in rules])}{default}".strip(),
        rules=rules,
    )


def _kind(rule: Rule) -> type:
    if isinstance(rule, Boolean):
        return bool
    if isinstance(rule, Number):
        return int if rule.integer else float
    return type(None) if str(rule) == "None" else str

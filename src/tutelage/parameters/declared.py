"""Classes whose parameters are annotated fields, each declared once; see `Declared`."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import reprlib
import sys
import types
import typing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, dataclass_transform

import numpy as np

from tutelage.parameters.documentation import Documented
from tutelage.parameters.flags import Flag, flag_of
from tutelage.parameters.hints import read_hint
from tutelage.parameters.rules import Options, Rule, join
from tutelage.parameters.search import Among, Range, SearchRange

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")


class _Required:
    """The default of a parameter that has none."""

    def __repr__(self) -> str:
        return "<required>"


REQUIRED: Any = _Required()


@dataclass(frozen=True)
class _Field:
    """What a class body says about one parameter, before its hint is resolved."""

    owner: type
    hint: Any
    default: Any
    kw_only: bool


@dataclass(frozen=True)
class Parameter:
    """One declared parameter, its hint resolved."""

    name: str
    default: Any
    kw_only: bool
    sentence: str
    rules: tuple[Rule, ...]
    search: SearchRange | None

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is REQUIRED


@dataclass(frozen=True)
class Attribute:
    """One declared fitted attribute."""

    name: str
    kind: str
    sentence: str


@dataclass(frozen=True)
class _Specified:
    default: Any
    kw_only: bool


@dataclass(frozen=True)
class _Fitted:
    sentence: str


def parameter(*, default: T = REQUIRED, kw_only: bool = True) -> T:
    """Declare a parameter that may be given by position.

    ``alpha: NonNegative = parameter(default=1.0, kw_only=False)`` lets a user write ``Ridge(2.0)``. A plain
    ``alpha: NonNegative = 1.0`` declares a keyword-only parameter. Type checkers read both.
    """
    return typing.cast("T", _Specified(default, kw_only))


def fitted(sentence: str = "", *, init: Literal[False] = False) -> Any:  # noqa: ARG001 - read by type checkers
    """Declare an attribute that ``fit`` will set: ``coef_: FloatArray = fitted("One coefficient a feature.")``.

    Type checkers and the documentation learn of it; the class itself does not have it, so that an estimator before its
    fit has none.
    """
    return _Fitted(sentence)


class _Constraints:
    """The declarations in scikit-learn's words, for its testing tools and meta-estimators."""

    def __get__(self, instance: Any, owner: type[Declared]) -> dict[str, Any]:
        return {
            name: [rule.constraint() for rule in one.rules] or "no_validation"
            for name, one in owner.declared_parameters().items()
        }


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter, fitted))
class Declared:
    """Base of every class with parameters; one annotated line for each parameter says everything about it.

    ::

        class Ridge(Regressor):
            alpha: Annotated[NonNegative, "Strength of the penalty.", Range(1e-6, 1e3, logarithmic=True)] = 1.0
            solver: Annotated[Literal["auto", "newton"], "Algorithm."] = "auto"

    From these lines come the ``__init__`` (an explicit signature; it stores its arguments as they are), the checks
    (`check_parameters`), the tables in the class docstring, the ranges of a search (`search_space`) and the flags of
    a command line (`flags`). In the metadata of ``Annotated`` a string is the sentence of the documentation, an
    `Interval` or another rule restricts the values, and a `Range` or `Among` says where to search.

    - Parameters are keyword-only unless declared by ``parameter(default=..., kw_only=False)``.
    - A subclass inherits parameters in their order. ``alpha = 2.0`` in its body changes a default;
      ``alpha: ClassVar[float] = 2.0`` fixes the value and takes the parameter away.
    - Names that begin or end with an underscore and ClassVars are no parameters.
    - A class with an ``__init__`` of its own keeps it.

    Examples
    --------
    >>> from typing import Annotated
    >>> from tutelage.parameters import Declared, NonNegative
    >>> class Shrink(Declared):
    ...     alpha: Annotated[NonNegative, "Strength of the penalty."] = 1.0
    >>> import inspect
    >>> list(inspect.signature(Shrink).parameters)
    ['alpha']
    >>> Shrink(alpha=-1).check_parameters()  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    InvalidParameterError: The 'alpha' parameter of Shrink must be a float in the range [0.0, inf). Got -1 instead.
    """

    _declared_fields: ClassVar[Mapping[str, _Field]] = {}
    _parameter_constraints: ClassVar[Any] = _Constraints()  # the name scikit-learn looks for

    def __init_subclass__(cls, **keywords: Any) -> None:
        fields, documented = _collect(cls)
        cls._declared_fields = fields
        if "__init__" not in vars(cls):
            cls.__init__ = _write_init(cls, fields)  # type: ignore[method-assign]
        if documented and isinstance(vars(cls).get("__doc__"), str):
            cls.__doc__ = Documented(vars(cls)["__doc__"])  # type: ignore[assignment]
        # Last, because scikit-learn reads signatures here (metadata routing) and wraps methods (set_output).
        super().__init_subclass__(**keywords)

    @classmethod
    def declared_parameters(cls) -> Mapping[str, Parameter]:
        """Resolve the declared parameters by name, in the order of the signature; once for each class."""
        cached = vars(cls).get("_parameters_cache")
        if cached is None:
            cached = {name: _resolve(cls, name, field) for name, field in _signature_order(cls._declared_fields)}
            cls._parameters_cache = cached  # type: ignore[attr-defined]
        return typing.cast("Mapping[str, Parameter]", cached)

    @classmethod
    def declared_attributes(cls) -> Mapping[str, Attribute]:
        """Give the declared fitted attributes by name, inherited ones first."""
        attributes: dict[str, Attribute] = {}
        for base in reversed(cls.__mro__):
            attributes.update(vars(base).get("_own_attributes", {}))
        return attributes

    def check_parameters(self) -> None:
        """Raise scikit-learn's InvalidParameterError for the first parameter whose value is not one of those declared.

        Called by every ``fit`` before it looks at the data, never by ``__init__``. A value that is the default itself
        was checked when the class was first used, so a model with default parameters pays next to nothing.
        """
        cls = type(self)
        checks = vars(cls).get("_checks_cache")
        if checks is None:
            checks = cls._compile_checks()
        for name, default, rules in checks:
            value = getattr(self, name)
            if value is not default and not any(rule.accepts(value) for rule in rules):
                raise invalid(self, name, rules=rules)

    @classmethod
    def _compile_checks(cls) -> list[tuple[str, Any, tuple[Rule, ...]]]:
        checks = []
        for one in cls.declared_parameters().values():
            if not one.rules:
                continue
            if not one.required and not any(rule.accepts(one.default) for rule in one.rules):
                wanted = join([str(rule) for rule in one.rules])
                raise TypeError(
                    f"{cls.__name__} declares {one.name} to be {wanted}, but its default is {one.default!r}."
                )
            checks.append((one.name, one.default, one.rules))
        cls._checks_cache = checks  # type: ignore[attr-defined]
        return checks

    @classmethod
    def search_space(cls) -> dict[str, SearchRange]:
        """Give the default search range of each parameter that has one, by name.

        Parameters that only trade time for accuracy (``tol``, ``max_iter``) are not declared with one.
        """
        return {name: one.search for name, one in cls.declared_parameters().items() if one.search is not None}

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        """Describe the parameters that words can express as command-line flags."""
        return tuple(flag for one in cls.declared_parameters().values() if (flag := flag_of(one)) is not None)


def invalid(
    owner: object, name: str, must_be: str = "", advice: str = "", *, rules: tuple[Rule, ...] = ()
) -> ValueError:
    """Build the error for a parameter: one sentence with its name, what it must be, what was found, and the way out.

    Parameters
    ----------
    owner : object
        The estimator (or function name) whose parameter it is.
    name : str
        The parameter.
    must_be : str
        What it must be, where that is more than its rules say: ``"'l2' when solver='newton'"``.
    advice : str
        A way out, where the requirement is not enough of one: a sentence.
    rules : tuple of Rule
        The rules broken; they give `must_be` and, for a misspelt choice, the advice.

    Returns
    -------
    ValueError
        A ``sklearn.utils._param_validation.InvalidParameterError``, which is also a TypeError. The caller raises it.
    """
    from sklearn.utils._param_validation import InvalidParameterError

    value = getattr(owner, name)
    if rules:
        must_be = join([str(rule) for rule in rules if not rule.hidden])
        choices = [
            choice for rule in rules if isinstance(rule, Options) for choice in rule.values if isinstance(choice, str)
        ]
        close = difflib.get_close_matches(value, choices, n=1) if isinstance(value, str) else []
        advice = f"Did you mean {close[0]!r}?" if close else advice
    who = type(owner).__name__
    message = f"The {name!r} parameter of {who} must be {must_be}. Got {_brief(value)} instead."
    return typing.cast("ValueError", InvalidParameterError(f"{message} {advice}".rstrip()))


def _brief(value: Any) -> str:
    """Represent a value on one line, however large it is."""
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 120
    return " ".join(short.repr(value).split())


def _collect(cls: type) -> tuple[dict[str, _Field], bool]:
    """Read the parameters of a class body, after those of its bases; and whether there is anything to document.

    Every class keeps what its own body says; merging that along the method resolution order makes parameters follow the
    rules of attributes, diamonds included.
    """
    fields: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(vars(base).get("_own_fields", {}))
        for name in vars(base).get("_withdrawn", ()):
            fields.pop(name, None)
    own, attributes, withdrawn = _read_body(cls, fields)
    own = _resolve_early(cls, own)
    fields.update(own)
    for name in withdrawn:
        fields.pop(name, None)
    for name, field in own.items():
        if isinstance(vars(cls).get(name), _Specified):
            _store_default(cls, name, field.default)
    cls._own_fields = own  # type: ignore[attr-defined]
    cls._own_attributes = attributes  # type: ignore[attr-defined]
    cls._withdrawn = withdrawn  # type: ignore[attr-defined]
    return fields, bool(fields or attributes)


def _read_body(
    cls: type, inherited: Mapping[str, _Field]
) -> tuple[dict[str, _Field], dict[str, Attribute], frozenset[str]]:
    """Read what a class body declares: parameters, fitted attributes, and the parameters it takes away."""
    hints = inspect.get_annotations(cls)
    fields: dict[str, _Field] = {}
    attributes: dict[str, Attribute] = {}
    withdrawn = set()
    for name, hint in hints.items():
        value = vars(cls).get(name, REQUIRED)
        if isinstance(value, _Fitted):
            kind = hint if isinstance(hint, str) else getattr(hint, "__name__", str(hint))
            attributes[name] = Attribute(name, kind, value.sentence)
            delattr(cls, name)
        elif _is_class_variable(hint):
            if name in inherited:
                withdrawn.add(name)
        elif name.startswith("_"):
            continue
        elif name.endswith("_"):
            raise TypeError(
                f"{cls.__name__}.{name} looks like a fitted attribute: declare it by {name}: ... = fitted()."
            )
        else:
            fields[name] = _read_field(cls, name, hint, value)
    for name, value in vars(cls).items():
        if name in inherited and name not in hints and not _is_descriptor(value):
            fields[name] = replace(inherited[name], default=_harmless(cls, name, value))
    return fields, attributes, frozenset(withdrawn)


def _store_default(cls: type, name: str, default: Any) -> None:
    if default is REQUIRED:
        delattr(cls, name)
    else:
        setattr(cls, name, default)


def _read_field(cls: type, name: str, hint: Any, value: Any) -> _Field:
    if isinstance(value, _Specified):
        return _Field(cls, hint, _harmless(cls, name, value.default), value.kw_only)
    return _Field(cls, hint, _harmless(cls, name, value), True)


def _harmless(cls: type, name: str, default: Any) -> Any:
    if isinstance(default, list | dict | set | np.ndarray):
        raise TypeError(f"{cls.__name__}.{name} has a default that could be changed in place; use None or a tuple.")
    return default


def _is_descriptor(value: Any) -> bool:
    return isinstance(value, property | types.FunctionType | classmethod | staticmethod)


def _is_class_variable(hint: Any) -> bool:
    if isinstance(hint, str):
        return hint.startswith(("ClassVar", "typing.ClassVar"))
    return hint is ClassVar or typing.get_origin(hint) is ClassVar


def _signature_order(fields: Mapping[str, _Field]) -> list[tuple[str, _Field]]:
    """Positional parameters first, the required before the optional; otherwise the order of declaration."""
    return sorted(
        fields.items(), key=lambda item: (item[1].kw_only, not item[1].kw_only and item[1].default is not REQUIRED)
    )


def _write_init(cls: type, fields: Mapping[str, _Field]) -> Any:
    """Write ``__init__`` with an explicit signature, which scikit-learn's get_params and clone read.

    The text is compiled, as in the standard library's dataclasses: a function that took ``**keywords`` would be slower
    and would need its signature forged.
    """
    arguments, body, scope = ["self"], [], {}
    for name, field in _signature_order(fields):
        if field.kw_only and "*" not in arguments:
            arguments.append("*")
        if field.default is REQUIRED:
            arguments.append(name)
        else:
            scope[f"_default_{name}"] = field.default
            arguments.append(f"{name}=_default_{name}")
        body.append(f"    self.{name} = {name}\n")
    source = f"def __init__({', '.join(arguments)}):\n{''.join(body) or '    pass'}"
    exec(compile(source, f"<parameters of {cls.__qualname__}>", "exec"), scope)  # noqa: S102 - names only, never a value
    init: Any = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    return init


def _resolve_early(cls: type, fields: dict[str, _Field]) -> dict[str, _Field]:
    """Resolve the hints of a class whose names its module will not know later.

    Hints are words until somebody asks, and then their names are looked up in the module of the class: that fails for
    classes made inside functions and doctests, and for those of a script that travel to other processes.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name in {"_resolve_early", "_collect", "__init_subclass__", "__new__"}:
        frame = frame.f_back
    module = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    if frame is None or (frame.f_globals is module and frame.f_locals is module and cls.__module__ != "__main__"):
        return fields
    resolved = dict(fields)
    for name, field in fields.items():
        if field.owner is cls:
            with contextlib.suppress(NameError):  # the name may come to exist; if not, the first check says so
                hint = _resolve_hint(name, field, frame.f_globals, dict(frame.f_locals))
                resolved[name] = replace(field, hint=hint)
    return resolved


def _resolve_hint(name: str, field: _Field, names: dict[str, Any] | None, local_names: dict[str, Any]) -> Any:
    # typing resolves the hints of a class, and a class of one field has no other hints to stumble over.
    alone = type(
        field.owner.__name__, (), {"__annotations__": {name: field.hint}, "__module__": field.owner.__module__}
    )
    return typing.get_type_hints(alone, names, local_names, include_extras=True)[name]


def _resolve(cls: type, name: str, field: _Field) -> Parameter:
    """Resolve the hint of a parameter in the module of the class that declared it."""
    try:
        hint = _resolve_hint(name, field, None, {})
    except NameError as error:
        raise TypeError(
            f"The hint of {cls.__name__}.{name} uses the name {error.name!r}, which its module lacks at run time; "
            "import it outside TYPE_CHECKING."
        ) from None
    metadata = getattr(hint, "__metadata__", ())
    search = next((item for item in reversed(metadata) if isinstance(item, Range | Among)), None)
    sentence = next((item for item in reversed(metadata) if isinstance(item, str)), "")
    return Parameter(name, field.default, field.kw_only, sentence, read_hint(hint), search)

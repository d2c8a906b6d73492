"""Laws of declared parameters: what is accepted, how it is said, and that one line gives signature, tables and
flags."""

from __future__ import annotations

import argparse
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import KFold, RandomizedSearchCV
from sklearn.utils._param_validation import InvalidParameterError, generate_invalid_param_val, make_constraint

from tutelage.base import Estimator
from tutelage.parameters import (
    Among,
    Arrays,
    Count,
    Declared,
    Has,
    Hidden,
    Interval,
    NonNegative,
    NonNegativeCount,
    Positive,
    RandomState,
    Range,
    Share,
    Splits,
    Verbosity,
    fitted,
    invalid,
    parameter,
)
from tutelage.parameters.hints import read_hint
from tutelage.parameters.rules import join, parse

HINTS = [
    *(float, int, bool, str, dict, Positive, NonNegative, Share, Count, NonNegativeCount),
    *(Arrays, RandomState, Verbosity, Splits, float | None, NonNegative | None, Count | Arrays),
    Count | Annotated[float, Interval(0, 1, closed="right")],
    Literal["a", "b"],
    Literal["a", 1, 2] | None,
    Annotated[float, Interval(0, closed="right")],
    Annotated[float, Interval(-1, 1, closed="neither")] | Literal["auto"],
    Annotated[int, Interval(2, 255, closed="both")],
    Callable[..., float] | Literal["uniform"],
    Annotated[Any, Has("fit", "predict")],
    Annotated[Any, Has("fit")] | None,
    np.ndarray,
    Annotated[bool, Hidden("deprecated")],
]

VALUES: list[Any] = [
    *(None, True, False, np.True_, 0, 1, 2, -1, 255, 256, 2**40, 10**400),
    *(0.0, 1.0, 0.5, -0.5, 1e300, np.inf, -np.inf, np.nan, np.float64(0.5), np.float64(np.nan)),
    *(np.int8(1), np.uint64(2), 1j, "a", "b", "auto", "uniform", "deprecated", "", "1"),
    *([1, 2], (1,), {}, {"a": 1}, set(), np.arange(3), range(3), b"ab"),
    *(len, int, KFold(), np.random.RandomState(0), np.random.default_rng(0), Estimator(), object(), iter([1])),
]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_the_same_values_are_accepted_as_by_the_same_constraints_of_scikit_learn(hint: Any) -> None:
    rules = read_hint(hint)
    constraints = [make_constraint(rule.constraint()) for rule in rules]
    for value in VALUES:
        if isinstance(value, dict | bytes | type) and any(str(rule) == "an array-like" for rule in rules):
            continue  # they have a length, but nobody means them as numbers
        ours = any(rule.accepts(value) for rule in rules)
        assert ours == any(constraint.is_satisfied_by(value) for constraint in constraints), repr(value)


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_the_invalid_values_that_scikit_learn_invents_are_refused(hint: Any) -> None:
    rules = read_hint(hint)
    for rule in rules:
        if not rule.hidden:
            try:
                value = generate_invalid_param_val(make_constraint(rule.constraint()))
            except NotImplementedError:
                continue
            assert not any(rule.accepts(value) for rule in rules)


@pytest.mark.parametrize(
    ("hint", "phrase"),
    [
        (NonNegative, "a float in the range [0.0, inf)"),
        (Annotated[float, Interval(0, closed="right")], "a float in the range (0.0, inf]"),
        (Count | None, "an int in the range [1, inf) or None"),
        (Literal["b", "a"] | Callable[..., Any] | None, "a str among {'b', 'a'}, a callable or None"),
        (Annotated[bool | Arrays, Hidden("deprecated")], "a bool or an array-like"),
        (Annotated[Any, Has("fit", "score", "predict")], "an object implementing 'fit', 'score' and 'predict'"),
        (dict, "an instance of 'dict'"),
    ],
)
def test_alternatives_are_said_in_the_order_of_the_hint(hint: Any, phrase: str) -> None:
    assert join([str(rule) for rule in read_hint(hint) if not rule.hidden]) == phrase


def test_an_integer_means_a_count_where_a_share_stands_beside_it() -> None:
    count, share = read_hint(Count | Share)
    assert count.accepts(1)
    assert not share.accepts(1)
    assert share.accepts(1.0)
    assert share.accepts(np.float32(0.5))
    assert not count.accepts(1.0)


@given(st.floats(allow_nan=False), st.sampled_from(["left", "right", "both", "neither"]))
def test_an_interval_contains_its_inside_and_the_ends_it_closes(value: float, closed: Any) -> None:
    interval = Interval(-1, 2, closed=closed)
    at_an_end = (value == -1 and closed in {"left", "both"}) or (value == 2 and closed in {"right", "both"})
    assert (value in interval) == (-1 < value < 2 or at_an_end)


@pytest.mark.parametrize("bad", [lambda: Interval(1, 1), lambda: Range(2, 1), lambda: Range(0, 1, logarithmic=True)])
def test_empty_ranges_cannot_be_declared(bad: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="needs low"):
        bad()


class Base(Estimator):
    """A base.

    Examples
    --------
    Nothing to see.
    """

    alpha: Annotated[NonNegative, "Strength.", Range(1e-3, 1e3, logarithmic=True)] = parameter(
        default=1.0, kw_only=False
    )
    solver: Annotated[Literal["auto", "newton", "lbfgs"], "Algorithm.", Among("newton", "lbfgs")] = "auto"
    tol: Annotated[NonNegative, "Tolerance."] = 1e-4
    max_iter: Count | None = None
    anything: Any = None

    coef_: float = fitted("A number.")

    def fit(self, X: Any, y: Any = None) -> Base:  # noqa: ARG002
        self.check_parameters()
        self.coef_ = 1.0
        return self

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        return -abs(np.log(self.alpha))


class OtherDefault(Base):
    """Changes a default, and adds a parameter."""

    alpha = 0.5
    extra: bool = False


class Grandchild(OtherDefault):
    """Changes nothing."""


class Sibling(Base):
    """Another branch."""

    tol = 0.5


class Diamond(Grandchild, Sibling):
    """Both branches."""


class OneLess(Base):
    """Fixes a parameter."""

    solver: ClassVar[str] = "newton"  # type: ignore[misc]


class Wraps(Estimator):
    """Needs a parameter."""

    estimator: Annotated[Any, Has("fit")] = parameter(kw_only=False)
    times: Count = parameter(default=1, kw_only=False)


def parameters_of(cls: type) -> dict[str, tuple[str, Any]]:
    return {name: (one.kind.name, one.default) for name, one in inspect.signature(cls).parameters.items()}


def test_the_signature_is_explicit() -> None:
    assert parameters_of(Base) == {
        "alpha": ("POSITIONAL_OR_KEYWORD", 1.0),
        "solver": ("KEYWORD_ONLY", "auto"),
        "tol": ("KEYWORD_ONLY", 1e-4),
        "max_iter": ("KEYWORD_ONLY", None),
        "anything": ("KEYWORD_ONLY", None),
    }
    assert Base(3).alpha == 3
    with pytest.raises(TypeError, match="positional"):
        Base(3, "newton")  # type: ignore[misc]
    with pytest.raises(TypeError, match="unexpected keyword"):
        Base(aplha=3)  # type: ignore[call-arg]


def test_subclasses_inherit_change_add_and_take_away() -> None:
    assert parameters_of(OtherDefault) == parameters_of(Base) | {
        "alpha": ("POSITIONAL_OR_KEYWORD", 0.5),
        "extra": ("KEYWORD_ONLY", False),
    }
    assert parameters_of(OneLess) == {name: one for name, one in parameters_of(Base).items() if name != "solver"}
    assert parameters_of(Grandchild) == parameters_of(OtherDefault)
    assert parameters_of(Diamond) == parameters_of(OtherDefault) | {"tol": ("KEYWORD_ONLY", 0.5)}
    assert OneLess().solver == "newton"
    assert "solver" not in OneLess().get_params()
    assert Base().alpha == 1.0


def test_classes_made_inside_functions_know_the_names_around_them() -> None:
    Small = Annotated[float, Interval(0, 0.1)]

    class Local(Declared):
        step: Small = 0.05

    class Below(Local):
        more: Small | None = None

    assert Below(more=0.01).check_parameters() is None  # type: ignore[func-returns-value]
    with pytest.raises(InvalidParameterError, match="'step' parameter of Below"):
        Below(step=1).check_parameters()


def test_required_parameters_come_first_and_have_no_default() -> None:
    assert list(parameters_of(Wraps)) == ["estimator", "times"]
    assert not hasattr(Wraps, "estimator")
    with pytest.raises(TypeError, match="estimator"):
        Wraps()  # type: ignore[call-arg]
    with pytest.raises(InvalidParameterError, match=r"'estimator' parameter of Wraps must be .*'fit'.* Got 3 instead"):
        Wraps(3).check_parameters()


def test_values_are_stored_as_they_are_and_cloned() -> None:
    alpha = np.array([1.0, 2.0])
    assert Base(alpha).alpha is alpha  # type: ignore[arg-type]
    copy = clone(Base(2.0, solver="lbfgs"))
    assert copy.get_params() == {"alpha": 2.0, "solver": "lbfgs", "tol": 1e-4, "max_iter": None, "anything": None}
    assert pickle.loads(pickle.dumps(copy)).get_params() == copy.get_params()


def test_fitted_attributes_do_not_exist_before_the_fit() -> None:
    assert not hasattr(Base(), "coef_")
    assert Base().fit([[1]]).coef_ == 1.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": -1}, r"^The 'alpha' parameter of Base must be a float in the range \[0.0, inf\). Got -1 instead.$"),
        ({"solver": "newtn"}, r"Got 'newtn' instead. Did you mean 'newton'\?$"),
        ({"solver": "simplex"}, r"must be a str among {'auto', 'newton', 'lbfgs'}. Got 'simplex' instead.$"),
        ({"max_iter": 0}, r"must be an int in the range \[1, inf\) or None. Got 0 instead.$"),
        ({"tol": np.zeros((50, 50))}, r"Got array\(.* instead.$"),
        ({"tol": "x" * 1000}, r"Got 'x+\.\.\.x+' instead.$"),
    ],
)
def test_an_error_is_one_line_that_names_parameter_requirement_and_value(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message) as caught:
        Base(**wrong).check_parameters()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TypeError)
    assert len(str(caught.value)) < 400


def test_a_combination_is_refused_in_the_same_words() -> None:
    error = invalid(Base(solver="newton"), "solver", "'lbfgs' when alpha=0", "Or give alpha a positive value.")
    assert str(error) == (
        "The 'solver' parameter of Base must be 'lbfgs' when alpha=0. Got 'newton' instead. Or give alpha a "
        "positive value."
    )


def test_what_is_not_annotated_with_rules_is_never_checked() -> None:
    Base(anything=object()).check_parameters()
    assert Base._parameter_constraints["anything"] == "no_validation"  # type: ignore[index]


def test_wrong_declarations_are_refused() -> None:
    class WrongDefault(Declared):
        alpha: Positive = 0.0

    with pytest.raises(TypeError, match=r"WrongDefault declares alpha to be a float in the range \(0.0, inf\)"):
        WrongDefault().check_parameters()
    with pytest.raises(TypeError, match="changed in place"):

        class Mutable(Declared):
            steps: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError, match="fitted"):

        class Unmarked(Declared):
            coef_: float


def test_the_docstring_has_tables_that_numpydoc_reads() -> None:
    from sklearn.externals._numpydoc.docscrape import NumpyDocString

    text = Base.__doc__
    assert text is not None
    read = NumpyDocString(text)
    assert [(one.name, one.type, one.desc) for one in read["Parameters"]] == [
        ("alpha", "float in the range [0.0, inf), default=1.0", ["Strength."]),
        ("solver", "{'auto', 'newton', 'lbfgs'}, default='auto'", ["Algorithm."]),
        ("tol", "float in the range [0.0, inf), default=0.0001", ["Tolerance."]),
        ("max_iter", "int in the range [1, inf) or None, default=None", []),
        ("anything", "object, default=None", []),
    ]
    assert [(one.name, one.type, one.desc) for one in read["Attributes"]] == [("coef_", "float", ["A number."])]
    assert read["Examples"] == ["Nothing to see."]
    assert text.index("Parameters") < text.index("Attributes") < text.index("Examples")


def test_a_table_written_by_hand_stays() -> None:
    class ByHand(Declared):
        """A class.

        Parameters
        ----------
        alpha : float
            Written by hand.
        """

        alpha: NonNegative = 1.0

    text = inspect.getdoc(ByHand)
    assert text is not None
    assert text.count("Parameters") == 1
    assert "Written by hand." in text


@pytest.mark.parametrize("search", [Range(0.1, 10, logarithmic=True), Range(-3, 5), Range(1, 9, integer=True)])
def test_draws_and_grids_stay_in_their_range(search: Range) -> None:
    for values in (search.rvs(200, random_state=0), search.grid(7)):
        assert np.min(values) >= search.low
        assert np.max(values) <= search.high
        assert np.ndim(values) == 1
    assert {search.grid(7)[0], search.grid(7)[-1]} == {search.low, search.high}
    assert search.rvs(random_state=3) == search.rvs(random_state=3)


def test_logarithmic_draws_are_uniform_in_the_logarithm() -> None:
    from scipy.stats import kstest

    draws = Range(1e-4, 1e4, logarithmic=True).rvs(2000, random_state=0)
    assert kstest(np.log10(draws), "uniform", args=(-4, 8)).pvalue > 1e-3


def test_search_space_feeds_scikit_learns_search() -> None:
    assert set(Base.search_space()) == {"alpha", "solver"}
    search = RandomizedSearchCV(Base(), Base.search_space(), n_iter=20, random_state=0, cv=2)
    search.fit(np.zeros((4, 1)), np.zeros(4))
    assert abs(np.log(search.best_params_["alpha"])) < 2
    assert set(search.cv_results_["param_solver"]) == {"newton", "lbfgs"}


def test_flags_make_a_command_line() -> None:
    flags = {flag.parameter: flag for flag in Base.flags()}
    assert set(flags) == {"alpha", "solver", "tol", "max_iter"}
    assert flags["alpha"].type is float
    assert flags["max_iter"].name == "--max-iter"
    assert flags["solver"].choices == ("auto", "newton", "lbfgs")
    command = argparse.ArgumentParser()
    for flag in flags.values():
        command.add_argument(flag.name, type=flag.parse, default=flag.default, help=flag.help)
    given_words = command.parse_args(["--alpha", "2", "--max-iter", "none", "--solver", "lbfgs"])
    model = Base(**vars(given_words))
    model.check_parameters()
    assert (model.alpha, model.max_iter, model.solver, model.tol) == (2.0, None, "lbfgs", 1e-4)
    assert "Strength." in command.format_help()
    with pytest.raises(ValueError, match=r"--alpha must be a float in the range \[0.0, inf\), found '-1'"):
        flags["alpha"].parse("-1")


@pytest.mark.parametrize(
    ("hint", "word", "value"),
    [
        *((Count | Share, "3", 3), (Count | Share, "0.5", 0.5), (Count | Share, "1.0", 1.0), (bool, "no", False)),
        *((Literal["auto"] | float, "auto", "auto"), (Literal["auto"] | float, "2", 2.0), (str | None, "none", None)),
        *((RandomState, "7", 7), (str, "none", "none"), (Literal[1, 2], "2", 2)),
    ],
)
def test_words_become_values(hint: Any, word: str, value: Any) -> None:
    read = parse(read_hint(hint), word)
    assert read == value
    assert type(read) is type(value)


def test_a_class_of_a_script_travels_to_another_process_by_value() -> None:
    code = """
import sys
import cloudpickle
from typing import Annotated
from tutelage.base import Estimator
from tutelage.parameters import NonNegative
class Mine(Estimator):
    '''Mine.'''
    alpha: Annotated[NonNegative, "Strength."] = 1.0
sys.stdout.buffer.write(cloudpickle.dumps(Mine(alpha=-2.0)))
"""
    pytest.importorskip("cloudpickle")
    code = "from __future__ import annotations" + code
    sent = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    model = pickle.loads(sent.stdout)
    assert model.get_params() == {"alpha": -2.0}
    assert "Strength." in type(model).__doc__
    with pytest.raises(InvalidParameterError, match="'alpha' parameter of Mine"):
        model.check_parameters()


def test_the_module_needs_neither_scipy_nor_scikit_learn() -> None:
    code = "import sys, tutelage.parameters; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    assert not {"scipy", "sklearn"} & set(loaded)


@pytest.mark.slow
def test_mypy_reads_the_declarations(tmp_path: Any) -> None:
    api = pytest.importorskip("mypy.api")
    script = tmp_path / "script.py"
    script.write_text(
        "from typing import Annotated\n"
        "from tutelage.parameters import Declared, NonNegative, fitted, parameter\n"
        "class Model(Declared):\n"
        "    alpha: Annotated[NonNegative, 'Strength.'] = parameter(default=1.0, kw_only=False)\n"
        "    tol: NonNegative = 1e-4\n"
        "    coef_: float = fitted('A number.')\n"
        "Model(2.0, tol=1e-3)\n"
        "Model(tol='small')\n"
        "Model(toll=1.0)\n"
    )
    output, _, _ = api.run(["--strict", "--no-error-summary", str(script)])
    errors = [line.split("script.py:")[1] for line in output.splitlines() if "script.py" in line and "error" in line]
    assert [error.split(":")[0] for error in errors] == ["8", "9"], output
    assert "arg-type" in errors[0]
    assert "call-arg" in errors[1]

"""Functions of features: `Basis` for any functions, `Squares` for x and x^2.

A linear model of the values of fixed functions, f(x) = sum_j w_j phi_j(x), is linear in its parameters and free in its
shape: least squares in a basis fits polynomials, waves and steps with the algebra of lines.

>>> import numpy as np
>>> Basis(["x", "sin", ("bump", lambda X: np.exp(-(X**2).sum(axis=1)))]).fit_transform([[0.0, 1.0]]).round(3)
array([[0.   , 1.   , 0.   , 0.841, 0.368]])

Cost: one vectorised call of each function. It fails where a function is not defined on the data, and says which
function and where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tutelage.base import Accepts, Matrix, is_sparse
from tutelage.features.maps import FeatureMap, Names, as_names
from tutelage.parameters import fitted, invalid, parameter

Function: TypeAlias = Callable[[npt.NDArray[Any]], Any]

NAMED: dict[str, Function] = {
    "x": lambda x: x,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "abs": np.abs,
    "sign": np.sign,
    "relu": lambda x: np.maximum(x, 0),
    "step": lambda x: (x > 0).astype(x.dtype),
}


class Basis(FeatureMap):
    """The values of basis functions: one column, or one column for each feature, from each function.

    A function is a name (``"x"``, ``"x^2"``, ``"x^-1"``, ``"x^0.5"``, ``"sin"``, ``"cos"``, ``"tan"``, ``"tanh"``,
    ``"exp"``, ``"expm1"``, ``"log"``, ``"log1p"``, ``"sqrt"``, ``"cbrt"``, ``"abs"``, ``"sign"``, ``"relu"``,
    ``"step"``), a callable, or a pair of a name and a callable. A callable takes the rows, an array of shape (n, d),
    and returns an array of shape (n, d) (a function of each feature), (n,) (a function of the row) or (n, k).

    See Also
    --------
    Polynomial : Products of several features.
    Squares : x and x^2, for sparse rows too.

    Examples
    --------
    >>> import numpy as np
    >>> basis = Basis(["x", "x^2", "cos"]).fit(np.array([[1.0, 2.0]]))
    >>> basis.get_feature_names_out(["a", "b"]).tolist()
    ['a', 'b', 'a^2', 'b^2', 'cos(a)', 'cos(b)']
    """

    accepts: ClassVar[Accepts] = Accepts()

    functions: Annotated[
        list[str | Function | tuple[str, Function]] | tuple[str | Function | tuple[str, Function], ...],
        "The functions: names, callables, or pairs of a name and a callable.",
    ] = parameter(default=("x", "x^2"), kw_only=False)

    widths_: list[int] = fitted("The number of columns that each function gives.")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Try the functions on the rows, and learn how many columns they give.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.
        y : object
            Not used.
        """
        X = self.validate(X)
        # The first rows show the shapes; transform sees the rest.
        self.widths_ = [values.shape[1] for values in self._evaluate(X[:2])]
        return self

    def _read(self) -> list[tuple[str, Function]]:
        """Give each function with its name."""
        if len(self.functions) == 0:
            raise invalid(self, "functions", "a list of at least one function")
        return [self._read_one(one) for one in self.functions]

    def _read_one(self, one: str | Function | tuple[str, Function]) -> tuple[str, Function]:
        match one:
            case (str(name), function) if callable(function):
                return name, function
        if callable(one):
            return getattr(one, "__name__", type(one).__name__), one
        if isinstance(one, str):
            if one in NAMED:
                return one, NAMED[one]
            if one.startswith("x^"):
                try:
                    return one, _Power(float(one[2:]))
                except ValueError:
                    pass
        raise invalid(
            self,
            "functions",
            "a list of callables, pairs of a name and a callable, powers like 'x^3', or names among "
            f"{', '.join(map(repr, NAMED))}",
            f"The function {one!r} is none of these.",
        )

    def _evaluate(self, X: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        parts = []
        for name, function in self._read():
            with np.errstate(all="ignore"):  # what goes wrong is said below, in words
                values = np.asarray(function(X))
            if values.ndim == 1:
                values = values[:, None]
            if values.ndim != 2 or len(values) != len(X):
                raise ValueError(
                    f"The basis function {name!r} must return an array of shape {(len(X),)} or ({len(X)}, k) for "
                    f"{len(X)} rows, "
                    f"found {np.shape(values)}; it is called with all rows at once."
                )
            bad = ~np.isfinite(values)
            if bad.any():
                row = int(np.argmax(bad.any(axis=1)))
                raise ValueError(
                    f"The basis function {name!r} is not finite everywhere: it gives {values[bad][0]!s} for the row "
                    f"{row}, "
                    f"{np.array2string(X[row], threshold=6)}. Leave it out, or transform the data first."
                )
            parts.append(values)
        return parts

    def transform(self, X: Any) -> Matrix:
        """Evaluate the functions on each row."""
        X = self.validate_rows(X)
        parts = self._evaluate(X)
        widths = [values.shape[1] for values in parts]
        if widths != self.widths_:
            raise ValueError(f"The basis functions gave {self.widths_} columns in fit, and now {widths}.")
        return np.asfortranarray(np.hstack(parts), dtype=X.dtype)

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the columns: ``sin(a)`` for a function of each feature, ``bump`` for one of the row."""
        names = self.input_names(input_features)
        result: list[str] = []
        for (function, _), width in zip(self._read(), self.widths_, strict=True):
            if width == len(names) and (width > 1 or function in NAMED or function.startswith("x^")):
                result += [_name(function, name) for name in names]
            elif width == 1:
                result.append(function)
            else:
                result += [f"{function}_{number}" for number in range(width)]
        return as_names(result)


class _Power:
    """x to a fixed power; a class, so that it can be pickled."""

    def __init__(self, power: float) -> None:
        self.power = int(power) if power == int(power) else power

    def __call__(self, x: npt.NDArray[Any]) -> npt.NDArray[Any]:
        result: npt.NDArray[Any] = x**self.power
        return result


def _name(function: str, feature: str) -> str:
    if function == "x":
        return feature
    return f"{feature}{function[1:]}" if function.startswith("x^") else f"{function}({feature})"


class Squares(FeatureMap):
    """Every feature and its square: a, b, a^2, b^2.

    The cheapest map with which a linear classifier draws ellipses along the axes, and a sum of one-dimensional
    parabolas fits a regression. It keeps sparse rows sparse.

    Examples
    --------
    >>> Squares().fit_transform([[1.0, 3.0]])
    array([[1., 3., 1., 9.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the number of features.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The rows.
        y : object
            Not used.
        """
        self.validate(X)
        return self

    def transform(self, X: Any) -> Matrix:
        """Append the squares to each row."""
        X = self.validate_rows(X)
        if is_sparse(X):
            return type(X)(sparse.hstack([X, X.multiply(X)], format=X.format))
        n, d = X.shape
        result = np.empty((n, 2 * d), dtype=X.dtype, order="F" if X.flags.f_contiguous else "C")
        result[:, :d] = X
        np.multiply(X, X, out=result[:, d:])
        return result

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the columns: ``a``, ``a^2``."""
        names = self.input_names(input_features)
        return as_names([*names, *(f"{name}^2" for name in names)])

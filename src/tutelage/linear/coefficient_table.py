"""The table that ``model.inference()`` gives: a row for each coefficient, and how sure the model is of it.

It holds the numbers; `tutelage.linear.inference` says where they come from. It prints as a table in a terminal and in a
notebook, gives itself as a frame, and keeps the covariance of all coefficients for whatever else is to be computed of
them: the variance of a sum c . w is c' covariance c.

>>> import numpy as np
>>> from tutelage.linear import PoissonRegressor
>>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
>>> table = PoissonRegressor(alpha=0).fit(X, [0.0, 1.0, 1.0, 3.0]).inference()
>>> table.to_frame().columns
['name', 'coefficient', 'standard error', 'z', 'p', '[0.025', '0.975]']
>>> bool(np.isclose(np.sqrt(table.covariance[0, 0]), table.error[0]))
True
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tutelage.base import Floats


@dataclass(frozen=True, eq=False)
class Inference:
    """A table of coefficients and how sure the model is of them; rows are coefficients, the intercept last.

    Attributes
    ----------
    names : list of str
        What each row is the coefficient of.
    classes : list or None
        Which class or target each row belongs to, where there are several.
    coefficient, error, statistic, p, low, high : arrays
        The columns of the table; `statistic` is z, or t where `freedom` is finite.
    covariance : array of shape (rows, rows)
        Of the coefficients, in the order of the rows.
    level : float
        Level of the intervals from `low` to `high`.
    freedom : float
        Degrees of freedom of t; infinite for z.
    note : str
        How the table was made: a sentence.
    """

    names: list[str]
    classes: list[Any] | None
    coefficient: Floats
    error: Floats
    statistic: Floats
    p: Floats
    low: Floats
    high: Floats
    covariance: Floats
    level: float
    freedom: float
    note: str

    def __len__(self) -> int:
        return len(self.names)

    @property
    def columns(self) -> dict[str, Any]:
        """The table by columns, with the words of its heading."""
        tail = (1 - self.level) / 2
        table: dict[str, Any] = {"name": self.names}
        if self.classes is not None:
            table["class"] = self.classes
        return table | {
            "coefficient": self.coefficient,
            "standard error": self.error,
            "z" if math.isinf(self.freedom) else "t": self.statistic,
            "p": self.p,
            f"[{tail:.4g}": self.low,
            f"{1 - tail:.4g}]": self.high,
        }

    def to_frame(self, library: str = "polars") -> Any:
        """Give the table as a data frame.

        Parameters
        ----------
        library : {"polars", "pandas"}, default="polars"
            Whose frame.

        Returns
        -------
        DataFrame
            One row a coefficient.
        """
        if library == "polars":
            import polars as pl

            return pl.DataFrame(self.columns)
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(self.columns).set_index(["class", "name"] if self.classes is not None else "name")
        raise ValueError(f"The library of a frame must be 'polars' or 'pandas', found {library!r}.")

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        heading, *texts = self._texts()
        return heading, texts

    def _texts(self) -> list[list[str]]:
        columns = self.columns
        words = {"name", "class"}
        formatted = [
            [str(value) if name in words else _brief(value, name) for value in values]
            for name, values in columns.items()
        ]
        heading = ["" if name == "name" else name for name in columns]
        return [heading, *([*row] for row in zip(*formatted, strict=True))]

    def __str__(self) -> str:
        rows = self._texts()
        left = 1 if self.classes is None else 2
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if place < left else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, self.note])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heading, rows = self._cells()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in heading)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
            f"<caption>{html.escape(self.note)}</caption></table>"
        )


def _brief(value: float, name: str) -> str:
    if name in ("z", "t"):
        return f"{value:.3f}"
    if name == "p":
        return f"{value:.3g}"
    return f"{value:#.4g}"

"""Decision regions: which answer a classifier gives where, in a plane.

Two columns of X span the plane; of more columns, the others are held at their medians (or at values of one's own), so
that the picture is a slice through the space in which the classifier decides. Rows are drawn where their two columns
put them, which is only their shadow if there are more: a row may lie on the wrong side of a slice and be classified
right.

Cost: one prediction for each of 200 x 200 points. It fails for columns that are not numbers.

>>> import numpy as np
>>> from tutelage import GaussianNB
>>> random = np.random.default_rng(0)
>>> y = random.integers(0, 2, 200)
>>> X = random.normal(size=(200, 3)) + y[:, None]
>>> made = decision_regions(GaussianNB().fit(X, y), X, y, columns=(0, 2), points=50)
>>> made.region.shape, made.names
((50, 50), ('x0', 'x2'))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.base import is_sparse
from tutelage.drawing import axes_for
from tutelage.evaluation.pictures import altair, shades
from tutelage.labels import encode_with

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class DecisionRegions:
    """The answers of a classifier over a plane.

    Attributes
    ----------
    classes : array of shape (k,)
        The labels.
    across, up : arrays of shape (points,)
        The values of the two columns.
    region : array of intp, shape (points, points)
        The code of the answer; rows go up, columns across.
    X, y : arrays of shape (n, 2) and (n,)
        The rows, and codes of their labels.
    names : (str, str)
        What the columns are called.
    """

    classes: Any
    across: Any
    up: Any
    region: Any
    X: Any
    y: Any
    names: tuple[str, str]

    def frame(self) -> Any:
        """Give the answer at each point as a table."""
        import polars as pl

        first, second = np.meshgrid(self.across, self.up)
        answers = [str(label) for label in self.classes[self.region.ravel()]]
        return pl.DataFrame({self.names[0]: first.ravel(), self.names[1]: second.ravel(), "answer": answers})

    def plot(self, ax: Any = None) -> Any:
        """Draw the regions and the rows.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        """
        from matplotlib.colors import ListedColormap

        ax = axes_for(ax)
        colours = shades(len(self.classes))
        levels = np.arange(len(self.classes) + 1) - 0.5
        ax.contourf(self.across, self.up, self.region, levels=levels, cmap=ListedColormap(colours), alpha=0.2)
        for code in range(len(self.classes) - 1):
            ax.contour(self.across, self.up, self.region, levels=[code + 0.5], colors="#444444", linewidths=0.7)
        size = max(3.0, min(24.0, 6e3 / max(len(self.X), 1)))
        for code, label in enumerate(self.classes):
            here = self.X[self.y == code]
            ax.scatter(*here.T, s=size, color=colours[code], edgecolors="white", linewidths=0.3, label=str(label))
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        if len(self.X):
            ax.legend(frameon=False, fontsize="small")
        return ax

    def chart(self) -> Any:
        """Describe the same picture to Altair."""
        alt = altair()
        scale = alt.Scale(domain=[str(label) for label in self.classes], range=shades(len(self.classes)))
        alt.data_transformers.disable_max_rows()
        ground = (
            alt.Chart(self.frame())
            .mark_square(opacity=0.2, size=12)
            .encode(x=self.names[0], y=self.names[1], color=alt.Color("answer:N", scale=scale))
        )
        import polars as pl

        rows = pl.DataFrame(
            {self.names[0]: self.X[:, 0], self.names[1]: self.X[:, 1], "truth": [str(c) for c in self.classes[self.y]]}
        )
        points = (
            alt.Chart(rows)
            .mark_circle(size=20)
            .encode(x=self.names[0], y=self.names[1], color=alt.Color("truth:N", scale=scale))
        )
        return ground + points


def decision_regions(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[int] = (0, 1),
    held: Any = None,
    points: int = 200,
    names: Sequence[str] | None = None,
) -> DecisionRegions:
    """Ask a classifier for its answers over a plane.

    Parameters
    ----------
    model : estimator
        Fitted; any classifier of numeric columns.
    X : array of shape (n, d)
        Rows: the picture reaches a little beyond them.
    y : array of shape (n,), optional
        Their labels; without them no rows are drawn.
    columns : (int, int), default=(0, 1)
        The columns that span the plane.
    held : array of shape (d,), optional
        Where the other columns are held; their medians if not given.
    points : int, default=200
        How many points each way.
    names : (str, str), optional
        What the two columns are called.

    Returns
    -------
    DecisionRegions
        With `plot`, `chart` and `frame`.
    """
    known = getattr(X, "columns", None)
    try:
        rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            "X must have columns of numbers for a picture of regions; leave out or encode the others."
        ) from None
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(f"X must have at least two columns, found the shape {rows.shape}.")
    first, second = (int(column) for column in columns)
    if first == second or not all(-rows.shape[1] <= c < rows.shape[1] for c in (first, second)):
        raise ValueError(f"columns must be two different ones of {rows.shape[1]}, found {tuple(columns)!r}.")
    plane = rows[:, [first, second]]
    margin = 0.08 * np.ptp(plane, axis=0) + 1e-9
    across, up = (np.linspace(plane[:, j].min() - margin[j], plane[:, j].max() + margin[j], points) for j in (0, 1))
    grid = np.repeat(
        (np.median(rows, axis=0) if held is None else np.asarray(held, float))[None], points * points, axis=0
    )
    grid[:, first], grid[:, second] = np.tile(across, points), np.repeat(up, points)
    asked: Any = grid
    if known is not None:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        asked = nw.from_dict(
            {str(name): grid[:, j] for j, name in enumerate(frame.columns)}, backend=frame.implementation
        ).to_native()
    region = encode_with(model.classes_, np.asarray(model.predict(asked))).reshape(points, points)
    if names is None:
        names = [str(known[c]) if known is not None else f"x{c % rows.shape[1]}" for c in (first, second)]
    code = np.empty(0, dtype=np.intp) if y is None else encode_with(model.classes_, np.asarray(y))
    shown = plane if y is not None else np.empty((0, 2))
    return DecisionRegions(model.classes_, across, up, region, shown, code, (str(names[0]), str(names[1])))

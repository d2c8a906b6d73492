"""What every picture drawn with Matplotlib needs: the library, or a sentence that says how to get it, and axes.

>>> import matplotlib
>>> matplotlib.use("agg")
>>> axes_for(None).spines["top"].get_visible()
False
"""

from __future__ import annotations

from typing import Any


def pyplot(what: str = "A plot") -> Any:
    """Give Matplotlib's pyplot, which is optional and imported when something is drawn.

    Parameters
    ----------
    what : str
        What needs it, to begin the sentence where it is not installed.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            f"{what} needs Matplotlib, which is not installed; run pip install 'tutelage[plot]'."
        ) from None
    return plt


def axes_for(ax: Any = None, size: tuple[float, float] = (5.6, 4.4)) -> Any:
    """Give the axes to draw on, new ones if none are given.

    Parameters
    ----------
    ax : matplotlib axes, optional
        Where to draw.
    size : (float, float)
        Of a new figure, in inches.
    """
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax

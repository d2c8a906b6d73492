"""What all pictures of evaluation share: their data as a table, and two ways to draw it.

A picture is an object with ``frame()``, the numbers in it as a Polars frame; ``plot()``, which draws them with
Matplotlib; and ``chart()``, which describes the same numbers to Altair. Both are optional: ``pip install
'tutelage[plot]'``, and neither is imported before it is asked for.

>>> shades(3)
['#0072B2', '#D55E00', '#009E73']
"""

from __future__ import annotations

from typing import Any

# Told apart also by those who see few colours, and dark enough for text on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B1568C", "#8A6D00", "#56738A", "#7B3294", "#A6341B", "#3B7D23", "#1B9AAA")
GREY = "#888888"


def altair() -> Any:
    """Give the Altair package."""
    try:
        import altair as alt
    except ImportError:
        raise ImportError("A chart needs Altair, which is not installed; run pip install 'tutelage[plot]'.") from None
    return alt


def shades(count: int) -> list[str]:
    """Give colours for so many things, repeating after ten.

    Parameters
    ----------
    count : int
        How many.
    """
    return [COLOURS[place % len(COLOURS)] for place in range(count)]

"""What the pictures of this chapter share.

>>> import matplotlib
>>> matplotlib.use("agg")
>>> axes = axes_for(None)
>>> axes.spines["top"].get_visible()
False
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage import drawing

if TYPE_CHECKING:
    from tutelage.base import Floats

# Told apart also by those who see few colours.
TRAIN, TEST, LAW = "#56738A", "#D55E00", "#444444"


def axes_for(ax: Any) -> Any:
    """Give the axes to draw on; None makes a new figure."""
    ax = drawing.axes_for(ax, (6.4, 4.2))
    ax.tick_params(labelsize="small")
    return ax


def band(ax: Any, places: Any, scores: Floats, colour: str, label: str) -> None:
    """Draw the mean of scores over folds, in a band of one standard error to each side."""
    mean = scores.mean(axis=1)
    error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else np.zeros(len(mean))
    ax.fill_between(places, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
    ax.plot(places, mean, color=colour, marker="o", markersize=3.5, linewidth=1.6, label=label)

"""Parameters, declared once.

A parameter has a range, a default and a sentence that says what it does, and five readers: the signature, the check,
the documentation, the command line and the search for a good value. Here it is one annotated line in a class body,
and the five are derived from it:

>>> from typing import Annotated, Literal
>>> class Smooth(Declared):
...     '''Smooth a curve.'''
...     width: Annotated[Positive, "Width of the window.", Range(0.1, 10, logarithmic=True)] = 1.0
...     shape: Annotated[Literal["box", "bell"], "Shape of the window."] = "bell"
>>> Smooth(width=3).width
3
>>> try:
...     Smooth(shape="bel").check_parameters()
... except ValueError as error:
...     print(error)
The 'shape' parameter of Smooth must be a str among {'box', 'bell'}. Got 'bel' instead. Did you mean 'bell'?
>>> Smooth.__doc__.splitlines()[4:6]
['width : float in the range (0.0, inf), default=1.0', '    Width of the window.']
>>> Smooth.search_space()["width"].grid(3)
[0.1, 1.0, 10.0]
>>> Smooth.flags()[1].name, Smooth.flags()[1].choices
('--shape', ('box', 'bell'))

Cost: a class pays some 0.1 ms when it is made; hints are resolved once, at the first check; a check of a value that
is its default costs a comparison of identities. It fails, with a TypeError that says why, when a hint cannot be
resolved at run time or a default breaks its own rule.

The module imports neither SciPy nor scikit-learn until an error is raised or scikit-learn asks for its constraints.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from tutelage.parameters.declared import REQUIRED, Attribute, Declared, Parameter, fitted, invalid, parameter
from tutelage.parameters.flags import Flag
from tutelage.parameters.rules import SEED, SPLITS, VERBOSITY, AnyArray, Has, Hidden, Interval, Rule
from tutelage.parameters.search import Among, Range, SearchRange

Positive = Annotated[float, Interval(0, closed="neither")]
NonNegative = Annotated[float, Interval(0)]
Share = Annotated[float, Interval(0, 1, closed="both")]
Count = Annotated[int, Interval(1)]
NonNegativeCount = Annotated[int, Interval(0)]
Arrays = Annotated[npt.ArrayLike, AnyArray()]
RandomState = Annotated[int | np.random.RandomState | None, SEED]
Verbosity = Annotated[int | bool, VERBOSITY]
Splits = Annotated[int | Iterable[Any] | None, SPLITS]

__all__ = [
    "REQUIRED",
    "Among",
    "AnyArray",
    "Arrays",
    "Attribute",
    "Count",
    "Declared",
    "Flag",
    "Has",
    "Hidden",
    "Interval",
    "NonNegative",
    "NonNegativeCount",
    "Parameter",
    "Positive",
    "RandomState",
    "Range",
    "Rule",
    "SearchRange",
    "Share",
    "Splits",
    "Verbosity",
    "fitted",
    "invalid",
    "parameter",
]

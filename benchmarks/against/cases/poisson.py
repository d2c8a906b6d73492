"""Poisson regression with a squared norm: goal 3."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case

_case = partial(Case, family="poisson", loss="poisson", goal=3.0)
CASES = [
    _case("poisson 500000 x 50", data=partial(data.dense_counts, 500_000, 50), l2=1e-4),
    _case("poisson bike sharing", data=data.bikes, l2=1e-4),
]

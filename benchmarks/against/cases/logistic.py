"""Dense binary logistic regression with a squared norm, C = 1: goal 3."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case

_case = partial(Case, family="dense logistic", loss="logistic", goal=3.0, C=1.0)
CASES = [
    _case("generated 500000 x 50", data=partial(data.dense_binary, 500_000, 50)),
    _case("covertype binary", data=data.covertype_binary),
    _case("adult one-hot", data=data.adult),
    _case("magic gamma", data=data.magic),
    _case("generated 20000 x 500", data=partial(data.dense_binary, 20_000, 500)),
]

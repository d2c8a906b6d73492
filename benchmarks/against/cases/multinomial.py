"""Multinomial logistic regression with a squared norm, C = 1: goal 3."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case

_case = partial(Case, family="multinomial", loss="multinomial", goal=3.0, C=1.0)
CASES = [
    _case("fashion-mnist 10000", data=partial(data.fashion, 10_000), C=0.01),
    _case("covertype", data=data.covertype),
    _case("letter", data=data.letter),
    _case("digits", data=data.digits),
    _case("newsgroups 20 classes", data=data.newsgroups),
]

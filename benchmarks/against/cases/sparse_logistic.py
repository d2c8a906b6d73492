"""Sparse binary logistic regression with a squared norm, C = 1, without an intercept (LIBLINEAR would penalise it)."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case

_case = partial(Case, family="sparse logistic", loss="logistic", goal=2.0, C=1.0, intercept=False)
CASES = [
    _case("a9a", data=data.a9a),
    _case("a9a with intercept", data=data.a9a, intercept=True),
    _case("newsgroups", data=data.newsgroups_binary),
    _case("newsgroups C = 100", data=data.newsgroups_binary, C=100.0),
    _case("texts 200000 x 50000", data=partial(data.sparse_words, 200_000, 50_000, 80)),
]

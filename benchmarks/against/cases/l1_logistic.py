"""Binary logistic regression with an l1 norm, without an intercept (celer and LIBLINEAR have none of their own)."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case

_case = partial(Case, family="l1 logistic", loss="logistic", goal=2.0, intercept=False)
CASES = [
    _case("l1 a9a", data=partial(data.a9a, "csc"), l1_share=0.01),
    _case("l1 newsgroups", data=partial(data.newsgroups_binary, "csc"), l1_share=0.05),
    _case("l1 newsgroups weak", data=partial(data.newsgroups_binary, "csc"), l1_share=0.01),
    _case("l1 texts 200000 x 50000", data=partial(data.sparse_words, 200_000, 50_000, 80, "csc"), l1_share=0.05),
    _case("l1 generated 10000 x 1000", data=partial(data.dense_binary, 10_000, 1000), l1_share=0.05),
    _case("l1 generated 10000 x 10", data=partial(data.dense_binary, 10_000, 10), l1_share=0.05),
    _case("l1 newsgroups with intercept", data=partial(data.newsgroups_binary, "csc"), l1_share=0.05, intercept=True),
]

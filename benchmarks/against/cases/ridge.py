"""Ridge regression and least squares: goal 1.5."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case

_case = partial(Case, family="ridge", loss="squared", goal=1.5, alpha=1.0)
CASES = [
    _case("ridge 500000 x 50", data=partial(data.dense_numbers, 500_000, 50, 50)),
    _case("ridge 100000 x 200", data=partial(data.dense_numbers, 100_000, 200, 200)),
    _case("ridge 5000 x 2000", data=partial(data.dense_numbers, 5_000, 2_000, 500)),
    _case("ridge 1000 x 10000", data=partial(data.dense_numbers, 1_000, 10_000, 100)),
    _case("ridge newsgroups", data=data.newsgroups_numbers),
    _case("ridge texts 200000 x 50000", data=partial(data.sparse_words, 200_000, 50_000, 80)),
    _case("least squares 500000 x 50", data=partial(data.dense_numbers, 500_000, 50, 50), alpha=0.0),
    _case("least squares 100000 x 200", data=partial(data.dense_numbers, 100_000, 200, 200), alpha=0.0),
    _case("least squares 20000 x 1000", data=partial(data.dense_numbers, 20_000, 1000, 500), alpha=0.0),
]

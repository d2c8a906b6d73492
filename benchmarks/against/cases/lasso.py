"""Lasso and elastic net, single fits and paths of 100 strengths (which have no intercept): goal 1.5.

Dense X is in Fortran order, which coordinate descent reads without a copy in every library.
"""

from functools import partial

import numpy as np

from benchmarks.against import data
from benchmarks.against.case import Case

# From the strength at which all is zero to a hundredth of it.
_PATH = tuple(np.geomspace(1.0, 0.01, 100).tolist())

_case = partial(Case, family="lasso", loss="squared", goal=1.5)
_wide = partial(data.dense_numbers, 1_000, 10_000, 100, "F")
_tall = partial(data.dense_numbers, 100_000, 200, 50, "F")
_words = partial(data.newsgroups_numbers, "csc")
_genes = partial(data.genes, 72, 7_000)
_texts = partial(data.sparse_words, 200_000, 50_000, 80, "csc")

CASES = [
    _case("lasso 1000 x 10000", data=_wide, l1_share=0.1),
    _case("lasso 1000 x 10000 weak", data=_wide, l1_share=0.01),
    _case("lasso 100000 x 200", data=_tall, l1_share=0.01),
    _case("lasso newsgroups", data=_words, l1_share=0.05),
    _case("lasso newsgroups weak", data=_words, l1_share=0.01),
    _case("lasso texts 200000 x 50000", data=_texts, l1_share=0.05),
    _case("lasso genes 72 x 7000", data=_genes, l1_share=0.1),
    _case("elastic net 1000 x 10000", data=_wide, l1_share=0.1, l2_per_l1=1.0),
    _case("elastic net 100000 x 200", data=_tall, l1_share=0.01, l2_per_l1=1.0),
    _case("elastic net newsgroups", data=_words, l1_share=0.05, l2_per_l1=1.0),
    _case("lasso path 1000 x 10000", data=_wide, l1_share=1.0, path=_PATH, intercept=False),
    _case("lasso path 100000 x 200", data=_tall, l1_share=1.0, path=_PATH, intercept=False),
    _case("lasso path newsgroups", data=_words, l1_share=1.0, path=_PATH, intercept=False),
    _case("lasso path genes 72 x 7000", data=_genes, l1_share=1.0, path=_PATH, intercept=False),
    _case("elastic net path 1000 x 10000", data=_wide, l1_share=1.0, l2_per_l1=1.0, path=_PATH, intercept=False),
]

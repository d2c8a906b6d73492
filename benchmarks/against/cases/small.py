"""Fits of the size of iris, where everything around the solver is what counts."""

from functools import partial

from benchmarks.against import data
from benchmarks.against.case import Case


def _petal_width():
    X, _ = data.small("iris")
    return X[:, :3].copy(), X[:, 3].copy()


_case = partial(Case, family="small", goal=1.0)
_iris = partial(data.small, "iris")
CASES = [
    _case("iris logistic", loss="multinomial", data=_iris, C=1.0),
    _case("iris ridge", loss="squared", data=_petal_width, alpha=1.0),
    _case("iris least squares", loss="squared", data=_petal_width),
    _case("iris lasso", loss="squared", data=_petal_width, l1_share=0.1),
    _case("diabetes lasso", loss="squared", data=partial(data.small, "diabetes"), l1_share=0.01),
    _case("iris poisson", loss="poisson", data=_iris, l2=0.01),
]

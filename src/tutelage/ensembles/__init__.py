"""Forests: many trees that differ by chance, and their mean.

A tree grown to the end has little bias and much variance. The mean of B trees, each of variance s^2 and any two of
correlation r, has the variance

    r s^2 + (1 - r) s^2 / B,

so trees are made to differ: each draws its rows with replacement (a bootstrap sample has 63 % of the rows), and each
node looks at a few features drawn at random. Extra trees draw the cuts too. The rows that a tree has not drawn judge it
for nothing: the out-of-bag score.

>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True)
>>> model = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
>>> model.oob_score_ > 0.9, model.predict([[5.0, 3.4, 1.5, 0.2]]).item()
(True, 0)
"""

from __future__ import annotations

from tutelage.ensembles.classify import ExtraTreesClassifier, RandomForestClassifier
from tutelage.ensembles.embedding import RandomTreesEmbedding
from tutelage.ensembles.regress import ExtraTreesRegressor, RandomForestRegressor

__all__ = [
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "RandomTreesEmbedding",
]

"""Neighbours: a prediction is what the rows most like the query say.

    y(x) = vote or mean of y_i over the neighbours N(x),      N(x): the k nearest rows, or all within a radius

There is nothing to fit but the rows; all the work is the search, n distances of d coordinates a query. It is exact
here, always, and the same on any machine and any number of threads: distances are summed in one order, and rows at
equal distance stand in the order of their numbers. `tutelage.neighbours.index` tells which search runs when.

Neighbours fail where distance means little: columns of different units (scale them first), many irrelevant columns, and
high dimensions, where all rows are about equally far.

>>> model = KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
>>> model.predict([[1.1]])
array([0])
"""

from tutelage.neighbours.centroid import NearestCentroid
from tutelage.neighbours.classify import KNeighborsClassifier, RadiusNeighborsClassifier
from tutelage.neighbours.outlier import LocalOutlierFactor
from tutelage.neighbours.regress import KNeighborsRegressor, RadiusNeighborsRegressor
from tutelage.neighbours.selection import best_k, condensed, edited, predictions_for_every_k, scores_for_every_k
from tutelage.neighbours.unsupervised import NearestNeighbors, kneighbors_graph, radius_neighbors_graph

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LocalOutlierFactor",
    "NearestCentroid",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "best_k",
    "condensed",
    "edited",
    "kneighbors_graph",
    "predictions_for_every_k",
    "radius_neighbors_graph",
    "scores_for_every_k",
]

"""Decision trees: questions about single features, asked one after another.

A tree asks of a row whether x_j <= t and goes left or right; in the leaf where it ends, the training rows that came
there answer by their majority, mean or median. It is grown from the root: of all questions the one is taken that
decreases most, in the two groups that it makes, the impurity

    gain = w i(all) - w_l i(left) - w_r i(right),       w the weights,      i:

======================  ==============================================================
gini                    1 - sum_k p_k^2
entropy, log_loss       - sum_k p_k log2 p_k, in bits
squared_error           mean of (y - mean)^2
absolute_error          mean of |y - median|
poisson                 mean of y log(y / mean), half the deviance
======================  ==============================================================

and each group is split again until it is pure or a limit is reached (depth, rows, weight, leaves, gain). A tree grown
to the end is consistent with any data free of contradictions. Such a tree fits noise too; limits, or pruning by cost
and complexity (`ccp_alpha`: the price of a leaf), take away what is not worth its leaves.

*Exact splitter* (``splitter="best"``): each feature is sorted once. A node owns a range of every sorted feature; a
split cuts the ranges in two and keeps their order. So every level costs O(n d) after O(n d log n), whatever the values.
A feature of at most 256 distinct values is counted by value instead. *Histogram splitter* (``"histogram"``): every
feature becomes at most 255 bins. *Random splitter* (``"random"``): one cut a feature, drawn between its extremes.
Which one runs is what `splitter` says; the size of the data never changes it.

A missing value goes to the side where it served best in training; where none was missing, to the larger side. Trees
see the order of a feature alone: scaling and other increasing transforms change nothing. They predict constants, never
a trend beyond the data; a small change of the data can change the first question and all below it; and the greedy
choice sees no gain in either feature of an exclusive or until one of them is asked.

>>> from sklearn.datasets import load_iris
>>> iris = load_iris(as_frame=True)
>>> model = DecisionTreeClassifier(max_depth=2).fit(iris.data, iris.target)
>>> print(export_text(model, feature_names=list(iris.data)))
|--- petal length (cm) <= 2.45
|   |--- class: 0
|--- petal length (cm) >  2.45
|   |--- petal width (cm) <= 1.75
|   |   |--- class: 1
|   |--- petal width (cm) >  1.75
|   |   |--- class: 2
<BLANKLINE>
"""

from __future__ import annotations

from tutelage.trees.classify import DecisionTreeClassifier, ExtraTreeClassifier
from tutelage.trees.lecture import DecisionTree
from tutelage.trees.pictures import export_graphviz, export_text, plot_tree
from tutelage.trees.regress import DecisionTreeRegressor, ExtraTreeRegressor
from tutelage.trees.tree import Tree

__all__ = [
    "DecisionTree",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "Tree",
    "export_graphviz",
    "export_text",
    "plot_tree",
]

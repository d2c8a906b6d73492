"""Trees to read: as text, in Graphviz's language, and drawn by Matplotlib.

They are scikit-learn's own, which read the arrays of any tree, and take the same arguments.

>>> from tutelage.trees import DecisionTreeClassifier
>>> model = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
>>> print(export_text(model, feature_names=["size"]))
|--- size <= 0.50
|   |--- class: a
|--- size >  0.50
|   |--- class: b
<BLANKLINE>
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from sklearn import tree as _theirs
from sklearn.utils.validation import check_is_fitted

from tutelage.trees.base import Treelike
from tutelage.trees.classify import DecisionTreeClassifier

if TYPE_CHECKING:
    from collections.abc import Callable

_Classifier, _Regressor = _theirs.DecisionTreeClassifier, _theirs.DecisionTreeRegressor
_FITTED = ("tree_", "classes_", "n_classes_", "n_outputs_", "n_features_in_", "feature_names_in_", "max_features_")


def _readable(model: Any) -> Any:
    """Give a model of scikit-learn's class that holds our tree, and was never fitted itself."""
    check_is_fitted(model)
    made = (_Classifier if isinstance(model, DecisionTreeClassifier) else _Regressor)(criterion=model.criterion)
    for name in _FITTED:
        if hasattr(model, name):
            setattr(made, name, getattr(model, name))
    return made


def _of_ours(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def read(decision_tree: Any, *arguments: Any, **keywords: Any) -> Any:
        readable = _readable(decision_tree) if isinstance(decision_tree, Treelike) else decision_tree
        return function(readable, *arguments, **keywords)

    return read


export_text = _of_ours(_theirs.export_text)
export_graphviz = _of_ours(_theirs.export_graphviz)
plot_tree = _of_ours(_theirs.plot_tree)

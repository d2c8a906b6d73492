"""Classification trees.

>>> model = DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
>>> model.predict([[1.2], [1.8]])
array(['a', 'b'], dtype='<U1')
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Classifier
from tutelage.parameters import fitted
from tutelage.trees.base import Answers, Treelike


class DecisionTreeClassifier(Treelike, Classifier):
    """Classify by questions about single features, each chosen to leave the purest groups.

    The splitters 'best' and 'random' are exact: they see the order of a feature and nothing else, so that a strictly
    increasing transform of a feature changes no prediction of a training row. 'histogram' sees at most 255 values of
    each feature.

    See Also
    --------
    ExtraTreeClassifier : Questions drawn at random.
    tutelage.trees.export_text : The tree in words.

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]], [0, 1, 1, 0]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    >>> model.get_depth(), model.get_n_leaves()
    (2, 4)
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True, missing=True, many_outputs=True, one_class=True)

    criterion: Annotated[
        Literal["gini", "entropy", "log_loss"],
        "What a question is to decrease: Gini's impurity, or the entropy in bits, of which log_loss is another name.",
    ] = "gini"
    class_weight: Annotated[
        dict[Any, Any] | list[Any] | Literal["balanced"] | None,
        "Weights of the classes, a list of such for several outputs; 'balanced': the same weight for every class.",
    ] = None

    n_classes_: Any = fitted("The number of classes; an array, one an output, for several outputs.")

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,  # noqa: ARG002 - examples are always checked
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; NaN is a missing value.
        y : array of shape (n,) or (n, outputs)
            The labels.
        sample_weight : array of shape (n,), optional
            How much each row counts; rows of weight 0 are left out.
        check_input : bool
            Not needed: examples are always checked.
        """
        X, codes, weight = self.validate(X, y, sample_weight)
        if codes.ndim == 1:
            codes = codes[:, None]
            self.n_classes_ = len(self.classes_)
            counts = [self.n_classes_]
        else:
            weight = self._weigh_outputs(codes, weight)
            counts = [len(classes) for classes in self.classes_]
            self.n_classes_ = np.asarray(counts, dtype=np.intp)
            if len(counts) == 1:
                self.classes_, self.n_classes_ = self.classes_[0], counts[0]
        self._grow(X, Answers(codes, None, counts), weight, self.criterion)
        return self

    def _weigh_classes(self, codes: Any, weight: Any) -> Any:
        if isinstance(self.class_weight, list):
            raise ValueError(  # noqa: TRY004 - scikit-learn's kind of error for it
                "class_weight must be a dict, 'balanced' or None for one output, found a list; give its only element."
            )
        return super()._weigh_classes(codes, weight)

    def _weigh_outputs(self, codes: Any, weight: Any) -> Any:
        """Multiply the weights of all outputs' classes together."""
        if self.class_weight is None:
            return weight
        labels = np.empty(codes.shape, dtype=object)
        for output, classes in enumerate(self.classes_):
            labels[:, output] = classes[codes[:, output]]
        of_class = compute_sample_weight(self.class_weight, labels)
        return np.ascontiguousarray(of_class if weight is None else of_class * weight, dtype=np.float64)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002 - rows are always checked
        """Give the shares of the classes in each row's leaf.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        check_input : bool
            Not needed: rows are always checked.

        Returns
        -------
        array of shape (n, classes), or a list of such
            One for each output.
        """
        check_is_fitted(self)
        shares = self.tree_.predict(self.validate_rows(X))
        if self.n_outputs_ == 1:
            return shares[:, : self.n_classes_]
        return [shares[:, output, :classes] for output, classes in enumerate(self.n_classes_)]

    def predict_log_proba(self, X: Any) -> Any:
        """Give the logarithms of the shares.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return np.log(shares) if self.n_outputs_ == 1 else [np.log(share) for share in shares]

    def predict(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002 - rows are always checked
        """Predict the most frequent class of each row's leaf; the first of several.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        check_input : bool
            Not needed: rows are always checked.
        """
        shares = self.predict_proba(X)
        if self.n_outputs_ == 1:
            return self.classes_[shares.argmax(axis=1)]
        found = [classes[share.argmax(axis=1)] for classes, share in zip(self.classes_, shares, strict=True)]
        return np.stack(found, axis=1)


class ExtraTreeClassifier(DecisionTreeClassifier):
    """Classify by questions drawn at random: of each feature one cut, and of few features the best.

    Made for forests, whose trees should differ.

    Examples
    --------
    >>> ExtraTreeClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"]).predict([[0.1]])
    array(['a'], dtype='<U1')
    """

    splitter = "random"
    max_features = "sqrt"

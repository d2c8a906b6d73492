"""Forests that classify: the mean of the trees' shares.

>>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
>>> ExtraTreesClassifier(20, random_state=0).fit(X, y).predict([[0.2], [2.9]])
array(['a', 'b'], dtype='<U1')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from tutelage.base import Accepts, Classifier, is_sparse
from tutelage.ensembles.base import Forestlike, warn_of_a_column
from tutelage.parameters import fitted
from tutelage.trees.base import Answers
from tutelage.trees.classify import DecisionTreeClassifier, ExtraTreeClassifier

if TYPE_CHECKING:
    from tutelage.base import Floats, Matrix
    from tutelage.trees.base import Treelike


class _ClassifyingForest(Forestlike, Classifier):
    """What both forests of classifiers share."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, missing=True, many_outputs=True, one_class=True)

    criterion: Annotated[
        Literal["gini", "entropy", "log_loss"],
        "What a question is to decrease: Gini's impurity, or the entropy in bits, of which log_loss is another name.",
    ] = "gini"
    max_features = "sqrt"
    class_weight: Annotated[
        dict[Any, Any] | list[Any] | Literal["balanced", "balanced_subsample"] | None,
        "Weights of the classes, a list of such for several outputs; 'balanced': the same weight for every class, "
        "'balanced_subsample': among the rows that each tree draws.",
    ] = None

    n_classes_: Any = fitted("The number of classes; an array, one an output, for several outputs.")
    oob_decision_function_: Any = fitted("Shares of the classes by the trees that have not drawn the row.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; NaN is a missing value.
        y : array of shape (n,) or (n, outputs)
            The labels.
        sample_weight : array of shape (n,), optional
            How likely each row is drawn; without `bootstrap`, how much it counts.
        """
        if is_sparse(y):
            raise ValueError("sparse multilabel-indicator for y is not supported; use y.toarray().")
        X, codes, weight = self.validate(X, y, sample_weight)
        warn_of_a_column(codes)
        if codes.ndim == 1:
            codes, counts = codes[:, None], [len(self.classes_)]
            self._labels = [self.classes_]
            self.n_classes_ = counts[0]
        else:
            self._labels = self.classes_
            counts = [len(classes) for classes in self.classes_]
            self.n_classes_ = np.asarray(counts, dtype=np.intp)
            if len(counts) == 1:
                self.classes_, self.n_classes_ = self.classes_[0], counts[0]
        self._check_class_weight(codes.shape[1])
        weight = self._weigh(codes, weight)
        self._grow(X, codes, Answers(codes, None, counts), weight, self.criterion)
        return self

    def _weigh_classes(self, codes: Any, weight: Any) -> Any:  # noqa: ARG002 - all outputs are weighed at once, later
        return weight

    def _check_class_weight(self, outputs: int) -> None:
        wanted = self.class_weight
        if outputs > 1 and wanted is not None and not isinstance(wanted, str):
            if not isinstance(wanted, list):
                raise ValueError("For multi-output, class_weight should be a list of dicts, or the string 'balanced'.")
            if len(wanted) != outputs:
                raise ValueError(
                    f"For multi-output, number of elements in class_weight should match number of outputs: found "
                    f"{len(wanted)} for {outputs} outputs."
                )

    def _weigh(self, codes: Any, weight: Any) -> Any:
        wanted = self.class_weight
        if wanted is None or (self._balances_samples() and self.bootstrap):
            return weight
        if self._balances_samples():
            wanted = "balanced"
        if isinstance(wanted, list) and codes.shape[1] == 1:
            wanted = wanted[0]
        labels = np.empty(codes.shape, dtype=object)
        for output, classes in enumerate(self._labels):
            labels[:, output] = classes[codes[:, output]]
        of_class = compute_sample_weight(wanted, labels if codes.shape[1] > 1 else self._labels[0][codes[:, 0]])
        return np.ascontiguousarray(of_class if weight is None else of_class * weight, dtype=np.float64)

    def _balances_samples(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    def _finish(self, member: Treelike, answers: Answers) -> None:
        classes = [np.arange(count, dtype=np.float64) for count in answers.classes]
        several = len(classes) > 1
        member.classes_ = classes if several else classes[0]  # type: ignore[attr-defined]
        member.n_classes_ = np.asarray(answers.classes) if several else answers.classes[0]  # type: ignore[attr-defined]

    def _score_out_of_bag(self, X: Matrix, y: Any) -> None:
        if (kind := type_of_target(y)) in {"unknown", "multiclass-multioutput"}:
            raise ValueError(
                f"The type of target cannot be used to compute OOB estimates. Got {kind} while only the following are "
                "supported: continuous, continuous-multioutput, binary, multiclass, multilabel-indicator."
            )
        shares = self._out_of_bag(X)
        if self.n_outputs_ == 1:
            shares = shares[:, 0, :]
            self.oob_decision_function_ = shares
            said, true = shares.argmax(axis=1), y[:, 0]
        else:
            self.oob_decision_function_ = np.swapaxes(shares, 1, 2)
            said, true = shares.argmax(axis=2), y
        self.oob_score_ = self._scorer(accuracy_score)(true, said)

    def predict_proba(self, X: Any) -> Any:
        """Give the mean over the trees of the shares of the classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, classes), or a list of such
            One for each output.
        """
        check_is_fitted(self)
        shares = self._sums(self.validate_rows(X))[0] / len(self.estimators_)
        if self.n_outputs_ == 1:
            return shares[:, 0, : self.n_classes_]
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

    def predict(self, X: Any) -> Any:
        """Predict the class of the largest share; the first of several.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        """
        shares: Floats | list[Floats] = self.predict_proba(X)
        if not isinstance(shares, list):
            return self.classes_[shares.argmax(axis=1)]
        found = [classes[share.argmax(axis=1)] for classes, share in zip(self.classes_, shares, strict=True)]
        return np.stack(found, axis=1)


class RandomForestClassifier(_ClassifyingForest):
    """Classify by the mean of trees that draw their rows, and whose nodes look at a few features drawn at random.

    See Also
    --------
    ExtraTreesClassifier : Cuts are drawn too.
    DecisionTreeClassifier : One tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> RandomForestClassifier(oob_score=True, random_state=0).fit(X, y).oob_score_ > 0.94
    True
    """

    _member = DecisionTreeClassifier


class ExtraTreesClassifier(_ClassifyingForest):
    """Classify by the mean of trees that draw one cut for each of a few features, and take the best of them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ExtraTreesClassifier(random_state=0).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.94
    True
    """

    splitter = "random"
    bootstrap = False

    _member = ExtraTreeClassifier

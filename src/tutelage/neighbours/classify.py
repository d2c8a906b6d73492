"""Classification by the vote of neighbours: the k nearest, or all within a radius.

    p(c | x) = sum_{i in N(x), y_i = c} weight_i / sum_{i in N(x)} weight_i,      prediction: the class of the largest

With k = 1 every row rules its own cell, and the training error is zero; a larger k draws smoother borders. As n grows
the error of k = 1 stays below twice the best possible one, and with k -> infinity, k / n -> 0 it reaches the best.

>>> KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[1.1]])
array(['a'], dtype='<U1')
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import column_or_1d

from tutelage.base import Accepts, Classifier
from tutelage.labels import encode
from tutelage.neighbours.base import (
    KNearest,
    Neighbourly,
    Neighbours,
    OutlierLabel,
    Radius,
    Weighting,
    WithinRadius,
    neighbour_weights,
)
from tutelage.parameters import fitted, parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.base import Floats
    from tutelage.fold_paths import FoldPath, Rows


class _Voting(Neighbourly, Classifier):
    """What both classifiers share: labels as codes in columns, and the counting of votes."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True, many_outputs=True, one_class=True)

    weights: Weighting = "uniform"

    outputs_2d_: bool = fitted("Whether y had several columns.")

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; for the metric "precomputed" the distances between them.
        y : array of shape (n,) or (n, outputs)
            The labels.
        """
        if self._borrowed(X):
            self.check_parameters()
            self.classes_, codes = encode(column_or_1d(y))
        else:
            X, codes, _ = self.validate(X, y)
        if codes.ndim == 2 and codes.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=2,
            )
            self.classes_, codes = self.classes_[0], codes[:, 0]
        self._keep(X)
        self.outputs_2d_ = codes.ndim == 2
        self._y = codes
        return self

    def _outputs(self) -> list[tuple[Any, Any]]:
        """Classes and codes of each output."""
        if self.outputs_2d_:
            return list(zip(self.classes_, self._y.T, strict=True))
        return [(self.classes_, self._y)]

    def _shape(self, columns: list[Any]) -> Any:
        return np.stack(columns, axis=1) if self.outputs_2d_ else columns[0]


def votes(codes: Any, classes: int, queries: int, owner: Any, weight: Any) -> Floats:
    """Add up the votes of neighbours with these codes: queries x classes."""
    flat = (owner * classes + codes).ravel()
    counted = np.bincount(flat, None if weight is None else weight.ravel(), minlength=queries * classes)
    return np.asarray(counted.reshape(queries, classes), dtype=np.float64)


class KNeighborsClassifier(_Voting, KNearest):
    """Classify by the vote of the k nearest rows.

    See Also
    --------
    RadiusNeighborsClassifier : All rows within a radius vote.
    tutelage.neighbours.best_k : Choose k for the price of one search.

    Examples
    --------
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict_proba([[0.9]]).round(3)
    array([[0.667, 0.333]])
    """

    n_neighbors: Neighbours = parameter(default=5, kw_only=False)

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, all numbers of neighbours by one search.

        Parameters
        ----------
        X, y : arrays
            All rows and their labels.
        folds : list of (train, test)
            Row numbers.
        grid : list of dict
            The candidates.
        sample_weight : array of shape (n,), optional
            How much each row counts.

        Returns
        -------
        iterator of FoldPath or None
            See `tutelage.fold_paths`.
        """
        from tutelage.neighbours.fold_paths import neighbour_fold_paths

        return neighbour_fold_paths(self, X, y, folds, grid, sample_weight)

    def _votes(self, X: Any) -> list[Floats]:
        asked = self._queries(X)
        k = self._how_many(None)
        queries = self.n_samples_fit_ if asked is None else asked.shape[0]
        self._check_enough(k, asked is None, queries)
        distances, rows = self._nearest(asked, k, exclude=asked is None)
        weight = neighbour_weights(self.weights, distances)
        if weight is not None and np.any(np.all(weight == 0, axis=1)):
            raise ValueError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if "
                "you "
                "are using a user-defined function."
            )
        owner = np.arange(queries)[:, None]
        return [votes(codes[rows], len(classes), queries, owner, weight) for classes, codes in self._outputs()]

    def predict(self, X: Any) -> Any:
        """Predict the class of the most votes; the first of several with as many.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), or None
            None: the rows of the fit, each without itself, which is leave-one-out.
        """
        found = self._votes(X)
        return self._shape(
            [classes[vote.argmax(axis=1)] for (classes, _), vote in zip(self._outputs(), found, strict=True)]
        )

    def predict_proba(self, X: Any) -> Any:
        """Give each class's share of the votes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), or None
            As for `predict`.
        """
        shares = [vote / vote.sum(axis=1, keepdims=True) for vote in self._votes(X)]
        return shares if self.outputs_2d_ else shares[0]


class RadiusNeighborsClassifier(_Voting, WithinRadius):
    """Classify by the vote of all rows within a radius.

    Examples
    --------
    >>> model = RadiusNeighborsClassifier(radius=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[1.5]])
    array([0])
    """

    radius: Radius = parameter(default=1.0, kw_only=False)
    outlier_label: OutlierLabel = None

    outlier_label_: Any = fitted("The label of each output for queries without neighbours, or None.")

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their labels, and find the label of those without neighbours.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows; for the metric "precomputed" the distances between them.
        y : array of shape (n,) or (n, outputs)
            The labels.
        """
        super().fit(X, y)
        self.outlier_label_ = self._outlier_labels()
        return self

    def _outlier_labels(self) -> list[Any] | None:
        wanted = self.outlier_label
        outputs = self._outputs()
        if wanted is None:
            return None
        if isinstance(wanted, str) and wanted == "most_frequent":
            return [classes[np.bincount(codes).argmax()] for classes, codes in outputs]
        if isinstance(wanted, str) or not np.iterable(wanted):
            labels = [wanted] * len(outputs)
        else:
            labels = list(wanted)  # type: ignore[arg-type]
            if len(labels) != len(outputs):
                raise ValueError(
                    f"The length of outlier_label: {wanted} is inconsistent with the output length: {len(outputs)}; "
                    "give one label for each output."
                )
        for label, (classes, _) in zip(labels, outputs, strict=True):
            if np.iterable(label) and not isinstance(label, str):
                raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {label}.")
            if np.append(classes, label).dtype != classes.dtype:
                raise TypeError(f"The dtype of outlier_label {label} is inconsistent with classes {classes} in y.")
        return labels

    def predict_proba(self, X: Any) -> Any:
        """Give each class's share of the votes; zeros where there is no neighbour and `outlier_label` is no class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), or None
            None: the rows of the fit, each without itself.
        """
        asked = self._queries(X)
        starts, rows, distances = self._within(asked, self.radius, exclude=asked is None)
        queries = len(starts) - 1
        lonely = np.flatnonzero(np.diff(starts) == 0)
        if len(lonely) and self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {lonely}, you can try using larger radius, giving a label for "
                "outliers, or considering removing them from your dataset."
            )
        weight = neighbour_weights(self.weights, distances, starts)
        owner = np.repeat(np.arange(queries), np.diff(starts))
        shares = []
        for number, (classes, codes) in enumerate(self._outputs()):
            found = votes(codes[rows], len(classes), queries, owner, weight)
            if len(lonely):
                label = self.outlier_label_[number]
                place = np.flatnonzero(classes == label)
                found[np.ix_(lonely, place)] = 1.0
                if not len(place):
                    warnings.warn(
                        f"Outlier label {label} is not in training classes. All class probabilities of "
                        "outliers will be assigned with 0.",
                        UserWarning,
                        stacklevel=2,
                    )
            total = found.sum(axis=1, keepdims=True)
            shares.append(found / np.where(total == 0, 1.0, total))
        return shares if self.outputs_2d_ else shares[0]

    def predict(self, X: Any) -> Any:
        """Predict the class of the most votes; `outlier_label` for a query without neighbours.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (queries, d), or None
            As for `predict_proba`.
        """
        shares = self.predict_proba(X)
        columns = []
        for number, (classes, _) in enumerate(self._outputs()):
            share = shares[number] if self.outputs_2d_ else shares
            labels = classes[share.argmax(axis=1)]
            lonely = ~share.any(axis=1)
            if lonely.any():
                labels[lonely] = self.outlier_label_[number]
            columns.append(labels)
        return self._shape(columns)

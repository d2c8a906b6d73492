"""What every learner shares: its parameters, and one way in for data.

A learner is a class whose parameters are declared (`tutelage.parameters`) and whose ``fit`` begins with `validate`:

    class NearestMean(Classifier):
        accepts = Accepts(sparse=True)
        shrinkage: Annotated[Share, "How far the means move to the centre."] = 0.0

        def fit(self, X, y, sample_weight=None):
            X, y, weight = self.validate(X, y, sample_weight)

`validate` checks the parameters, then the data, and hands over what native code can read as it is:

- X: float32 or float64, in C or Fortran order, read-only, memory-mapped, CSR or CSC with 32- or 64-bit indices, all
  without a copy. Integers, half floats, lists and frames become float64; a sparse matrix with duplicate or unsorted
  entries is tidied in a copy. NaN and infinity are errors unless the learner `accepts` them.
- y: codes 0 ... k - 1 with ``classes_`` set for a `Classifier`, float64 for a `Regressor`.
- weight: None if every sample counts the same, otherwise float64, with ``class_weight`` multiplied in. Negative weights
  are errors, and so is weighing everything with zero.

It sets ``n_features_in_`` and, for frames with names, ``feature_names_in_``. `validate_rows` does the same for
``predict``.

Cost: scikit-learn's own validation (some 0.1 ms, then one reading of X), plus a few hundredths of a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Number
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn import get_config
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted, check_non_negative, validate_data

from tutelage.labels import Codes, Labels, Weights, class_weights, encode, encode_with, warn_of_many_classes
from tutelage.parameters import Declared, fitted

if TYPE_CHECKING:
    # scikit-learn has no types; these say what we use of it, so that the types of our own classes stay checked.
    class _BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **parameters: Any) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_partial_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...
        def get_metadata_routing(self) -> Any: ...

    class _ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class _RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def __sklearn_tags__(self) -> Any: ...

    class _TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
else:
    from sklearn.base import BaseEstimator as _BaseEstimator
    from sklearn.base import ClassifierMixin as _ClassifierMixin
    from sklearn.base import RegressorMixin as _RegressorMixin
    from sklearn.base import TransformerMixin as _TransformerMixin

# A NumPy array or a SciPy sparse matrix of float32 or float64. Native code takes either; nothing in Python looks
# inside.
Matrix: TypeAlias = Any
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Accepts:
    """What a learner can take, as class-level facts; scikit-learn's tags and the validation follow from it.

    Attributes
    ----------
    sparse : bool, default=False
        CSR and CSC matrices.
    missing : bool, default=False
        NaN in X, as a missing value.
    non_negative : bool, default=False
        Only X without negative entries.
    many_outputs : bool, default=False
        y with several columns.
    negative_weights : bool, default=False
        Samples of negative weight.
    one_class : bool, default=False
        Labels that are all the same (classifiers).
    binary_only : bool, default=False
        No more than two classes (classifiers).
    dtypes : tuple of NumPy types, default=(float64, float32)
        Types of X that are taken as they are; others become the first.
    order : {"C", "F", None}, default=None
        The only order of dense X that can be read, if there is one.
    """

    sparse: bool = False
    missing: bool = False
    non_negative: bool = False
    many_outputs: bool = False
    negative_weights: bool = False
    one_class: bool = False
    binary_only: bool = False
    dtypes: tuple[type[np.floating[Any]], ...] = (np.float64, np.float32)
    order: str | None = None

    def but(self, **changes: Any) -> Accepts:
        """Give the same facts with some changed: ``accepts = Parent.accepts.but(sparse=False)``."""
        return replace(self, **changes)


class TrainingData(NamedTuple):
    """What `validate` hands over: the rows, their targets, and their weights (None: all alike)."""

    X: Matrix
    y: Any
    weight: Weights | None


class Estimator(Declared, _BaseEstimator):
    """Base of every learner; see `Classifier`, `Regressor` and `Transformer`."""

    accepts: ClassVar[Accepts] = Accepts()

    if TYPE_CHECKING:  # set by scikit-learn's validation, and documented there
        n_features_in_: int = fitted()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.accepts.sparse
        tags.input_tags.allow_nan = self.accepts.missing
        tags.input_tags.positive_only = self.accepts.non_negative
        tags.target_tags.multi_output = self.accepts.many_outputs
        return tags

    def check_parameters(self) -> None:
        """Raise an error for the first parameter whose value is not one of those declared; `validate` calls this."""
        if not get_config()["skip_parameter_validation"]:
            super().check_parameters()

    def validate_rows(self, X: Any, *, reset: bool = False) -> Matrix:
        """Check rows against those of the fit, for ``predict`` and its kin.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        reset : bool, default=False
            Whether these rows are the first, and say how many features there are and what they are called.
        """
        if not reset:
            check_is_fitted(self)
        return self._tidy(self._check_arrays(X, reset=reset))

    def _check_arrays(self, *arrays: Any, **options: Any) -> Any:
        """Let scikit-learn check X, or X and y."""
        # The tags, rather than `accepts`, decide: a parameter may change them (kernel="precomputed").
        tags = self.__sklearn_tags__().input_tags
        with np.errstate(invalid="ignore"):  # the test for infinity sums, and finite values may add up to inf - inf
            return validate_data(
                self,
                *arrays,
                accept_sparse=("csr", "csc") if tags.sparse else False,
                dtype=self.accepts.dtypes,
                order=self.accepts.order,
                ensure_all_finite="allow-nan" if tags.allow_nan else True,
                **options,
            )

    def _tidy(self, X: Matrix) -> Matrix:
        """Merge duplicate entries of a sparse matrix, in a copy; refuse negative entries where they make no sense."""
        if is_sparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if self.accepts.non_negative:
            check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    def _validate_weight(self, sample_weight: Any, X: Matrix) -> Weights | None:
        """Check sample weights; None stays None, a number becomes a vector."""
        if sample_weight is None:
            return None
        samples = _num_samples(X)
        if isinstance(sample_weight, Number):
            weight: Weights = np.full(samples, sample_weight, dtype=float)
        else:
            weight = check_array(
                sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
            )
        if weight.ndim != 1:
            raise ValueError(
                f"Sample weights must be 1D array or scalar, got {weight.ndim}D array. Expected either a scalar "
                "value or a "
                f"1D array of length {samples}."
            )
        if len(weight) != samples:
            raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(samples,)}!")
        if not self.accepts.negative_weights and (smallest := weight.min()) < 0:
            raise ValueError(
                f"Negative values in data passed to `sample_weight`: the smallest is {smallest!s}. Give the samples "
                "to be "
                "left out the weight 0."
            )
        if not weight.any():
            raise ValueError(
                f"Sample weights must contain at least one non-zero number. All {samples} are zero, so that there "
                "is nothing "
                "to learn from."
            )
        return weight


class Classifier(_ClassifierMixin, Estimator):
    """Base of classifiers."""

    classes_: Any = fitted("The labels of the classes, sorted; a list of arrays, one an output, for many outputs.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.accepts.binary_only
        tags.classifier_tags.multi_label = self.accepts.many_outputs
        return tags

    def validate(
        self, X: Any, y: Any, sample_weight: Any = None, *, classes: Any = None, reset: bool = True
    ) -> TrainingData:
        """Check the parameters and the examples of a fit; set ``classes_``.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The labels, of any kind; of shape (n, outputs) where the learner accepts many outputs.
        sample_weight : array of shape (n,), number or None
            How much each sample counts.
        classes : array, optional
            All labels there are, where the first of several calls of ``partial_fit`` names them.
        reset : bool, default=True
            False in later calls of ``partial_fit``: features and classes must then be those of the first.

        Returns
        -------
        TrainingData
            X, the codes of the labels (intp; in columns for many outputs, with a list of arrays as ``classes_``), and
            the weights with the learner's ``class_weight`` multiplied in.
        """
        self.check_parameters()
        X, y = self._check_arrays(X, y, reset=reset, multi_output=self.accepts.many_outputs)
        X = self._tidy(X)
        weight = self._validate_weight(sample_weight, X)
        if self.accepts.many_outputs and y.ndim == 2:
            return TrainingData(X, self._encode_columns(y), weight)
        if classes is not None or not reset:
            if reset:
                self.classes_ = encode(np.asarray(classes))[0]
            codes = encode_with(self.classes_, y)
        else:
            self.classes_, codes = encode(y)
            warn_of_many_classes(self.classes_, len(codes))
            self._check_class_count(codes, weight)
        return TrainingData(X, codes, self._weigh_classes(codes, weight))

    def _encode_columns(self, y: Labels) -> Codes:
        pairs = [encode(column) for column in y.T]
        self.classes_ = [classes for classes, _ in pairs]
        return np.stack([codes for _, codes in pairs], axis=1)

    def _check_class_count(self, codes: Codes, weight: Weights | None) -> None:
        classes = self.classes_
        if self.accepts.binary_only and len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}, found {len(classes)} classes: y "
                "contains "
                f"{classes[:3].tolist()}{' and more' if len(classes) > 3 else ''}. Use OneVsRestClassifier around it."
            )
        if self.accepts.one_class:
            return
        if len(classes) == 1:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but the data contains only "
                "one "
                f"class: {classes[0]!r}."
            )
        if weight is not None and len(present := np.flatnonzero(np.bincount(codes, weights=weight != 0))) == 1:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes in the data, but only the class "
                f"{classes[present[0]]!r} has samples of non-zero weight."
            )

    def _weigh_classes(self, codes: Codes, weight: Weights | None) -> Weights | None:
        of_class = class_weights(getattr(self, "class_weight", None), self.classes_, codes, weight)
        if of_class is None:
            return weight
        return of_class[codes] if weight is None else of_class[codes] * weight


class Regressor(_RegressorMixin, Estimator):
    """Base of regressors."""

    def validate(self, X: Any, y: Any, sample_weight: Any = None, *, reset: bool = True) -> TrainingData:
        """Check the parameters and the examples of a fit.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : array of shape (n,), or (n, outputs) where the learner accepts many outputs
            The targets.
        sample_weight : array of shape (n,), number or None
            How much each sample counts.
        reset : bool, default=True
            False in later calls of ``partial_fit``: features must then be those of the first.

        Returns
        -------
        TrainingData
            X, the targets as float64, and the weights.
        """
        self.check_parameters()
        X, y = self._check_arrays(X, y, reset=reset, multi_output=self.accepts.many_outputs, y_numeric=True)
        return TrainingData(self._tidy(X), _numbers(y), self._validate_weight(sample_weight, X))


class Transformer(_TransformerMixin, Estimator):
    """Base of feature maps."""

    def validate(self, X: Any) -> Matrix:
        """Check the parameters and the rows of a fit."""
        self.check_parameters()
        return self.validate_rows(X, reset=True)


def _numbers(y: npt.NDArray[Any]) -> Floats:
    try:
        return np.ascontiguousarray(y, dtype=np.float64) if y.ndim == 1 else y.astype(np.float64, copy=False)
    except ValueError:
        raise ValueError(
            f"The targets y must be numbers for a regressor, found {y.dtype!s} with the value {y.flat[0]!r}; "
            "convert them, or "
            "use a classifier."
        ) from None


def is_sparse(X: Matrix) -> bool:
    """Tell whether rows are a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def draw_seed(random_state: Any) -> int:
    """Draw the seed of a native generator from a ``random_state``; the same integer always gives the same seed."""
    return int(check_random_state(random_state).randint(2**31 - 1))

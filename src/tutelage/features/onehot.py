"""One-hot: a category becomes a column of zeros and ones for each of its values."""

from __future__ import annotations

from itertools import repeat
from typing import Annotated, Any, ClassVar, Literal, Self

import narwhals
import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted, validate_data

from tutelage.base import Accepts, Matrix
from tutelage.features.indicators import indicate
from tutelage.features.maps import FeatureMap, Names, as_names
from tutelage.labels import encode
from tutelage.parameters import Count, fitted

Column = npt.NDArray[Any]


class OneHot(FeatureMap):
    """One column for each value of each feature: colour=red, colour=blue, size=large, ...

    Features may be strings, numbers or booleans, in arrays or in frames of any library; in a frame every column keeps
    its own type. Columns are named ``feature=value`` and sorted.

    scikit-learn's OneHotEncoder is the model; this class names columns so that a value can be read from them, treats
    a missing value by choice rather than as one more category, and gives unknown and rare values one "other" column.

    Examples
    --------
    >>> import numpy as np
    >>> colours = np.array([["red"], ["blue"], ["red"]], dtype=object)
    >>> onehot = OneHot(unknown="other").fit(colours)
    >>> onehot.get_feature_names_out(["colour"]).tolist()
    ['colour=blue', 'colour=red', 'colour=other']
    >>> onehot.transform(np.array([["red"], ["green"]], dtype=object)).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """

    unknown: Annotated[
        Literal["error", "ignore", "other"],
        "What a value unseen in training is: an error, all zeros, or a column that all such values share.",
    ] = "error"
    missing: Annotated[
        Literal["category", "ignore", "error"],
        "What None and NaN are: a column of their own where the training rows have any, all zeros, or an error.",
    ] = "category"
    min_count: Annotated[
        Count, "Values in fewer training rows have no column: they are unknown, and no error (all zeros, or other)."
    ] = 1
    drop_first: Annotated[
        bool, "Whether each feature's first column is left out, so that the columns and an intercept are independent."
    ] = False
    sparse_output: Annotated[bool, "Whether the result is a CSR matrix."] = True

    accepts: ClassVar[Accepts] = Accepts(missing=True)

    categories_: list[Column] = fitted("The values of each feature that have columns, sorted.")
    rare_: list[Column] = fitted("The values of each feature with fewer than `min_count` training rows.")
    has_missing_: npt.NDArray[np.bool_] = fitted("Which features had missing values in training.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the values of each feature.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The training rows.
        y : object
            Not used.
        """
        self.check_parameters()
        self.categories_, self.rare_, has_missing = [], [], []
        for name, column in self._columns(X, reset=True):
            missing = find_missing(column)
            self._refuse_missing(name, column, missing)
            present = column[~missing] if missing.any() else column
            values, codes = encode_column(present)
            often = np.bincount(codes, minlength=len(values)) >= self.min_count
            self.categories_.append(values[often])
            self.rare_.append(values[~often])
            has_missing.append(bool(missing.any()))
        self.has_missing_ = np.array(has_missing)
        return self

    def _columns(self, X: Any, reset: bool) -> list[tuple[Any, Column]]:
        """Give each feature's name or number and its values, a frame's in their own types."""
        frame = narwhals.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, narwhals.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if len(frame) == 0:
                raise ValueError("Found array with 0 sample(s): X must have at least one row.")
            return [(name, frame[:, number].to_numpy()) for number, name in enumerate(frame.columns)]
        options: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}
        if not hasattr(X, "dtype") and np.asarray(X).dtype.kind in "US":
            options["dtype"] = object  # a list of words and numbers: keep the numbers numbers
        X = validate_data(self, X, reset=reset, **options)
        return list(enumerate(X.T))

    def _refuse_missing(self, name: Any, column: Column, missing: npt.NDArray[np.bool_]) -> None:
        if self.missing != "error":
            return
        if column.dtype.kind == "f":
            missing = ~np.isfinite(column)  # whoever asks for errors wants to hear of infinity too
        if missing.any():
            row = int(np.argmax(missing))
            what = "infinity" if column.dtype.kind == "f" and np.isinf(column[row]) else "NaN"
            raise ValueError(
                f"Input X contains {what}: the feature {name!r} in row {row}. Fill it in, or set missing='category' or "
                "missing='ignore'."
            )

    def transform(self, X: Any) -> Matrix:
        """Replace each feature by its columns."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        codes = np.empty((len(columns[0][1]), len(columns)), dtype=np.int64, order="F")
        for feature, (name, column) in enumerate(columns):
            codes[:, feature] = self._encode(feature, name, column)
        if self.drop_first:
            codes -= 1  # the first column's code becomes -1; so does what has none, which stays without
            codes[codes < 0] = -1
        return indicate(codes, self._widths(), np.float64, self.sparse_output)

    def _encode(self, feature: int, name: Any, column: Column) -> npt.NDArray[np.int64]:
        categories = self.categories_[feature]
        codes, strange = look_up(categories, column)
        if not strange.any():
            return codes
        # Among what has no column: missing values, rare ones, and unknown ones.
        rows = np.flatnonzero(strange)
        values = column[rows]
        missing = find_missing(values)
        self._refuse_missing(name, column, strange & np.isin(np.arange(len(column)), rows[missing]))
        other = len(categories) + int(self._has_missing_column(feature)) if self.unknown == "other" else -1
        if self.unknown == "error":
            self._refuse_unknown(feature, name, values[~missing], bool(missing.any()))
        codes[rows[~missing]] = other
        if self._has_missing_column(feature):
            codes[rows[missing]] = len(categories)
        else:
            codes[rows[missing]] = other if self.missing == "category" else -1
        return codes

    def _refuse_unknown(self, feature: int, name: Any, strange: Column, any_missing: bool) -> None:
        unseen = strange[look_up(self.rare_[feature], strange)[1]]
        if len(unseen):
            raise ValueError(
                f"Found unknown categories {encode_column(unseen)[0].tolist()[:5]} in column {name!r} during "
                "transform. Set "
                "unknown='ignore' or unknown='other' to accept them."
            )
        if any_missing and self.missing == "category" and not self.has_missing_[feature]:
            raise ValueError(
                f"Found unknown categories [nan] in column {name!r} during transform: no value was missing in "
                "training. Set "
                "unknown='ignore' or unknown='other' to accept them, or missing='ignore'."
            )

    def _has_missing_column(self, feature: int) -> bool:
        return self.missing == "category" and bool(self.has_missing_[feature])

    def _words(self, feature: int) -> list[str]:
        """Name the columns of a feature by their values."""
        words = [str(value) for value in self.categories_[feature].tolist()]
        words += ["missing"] * self._has_missing_column(feature) + ["other"] * (self.unknown == "other")
        return words[1:] if self.drop_first else words

    def _widths(self) -> npt.NDArray[np.int64]:
        return np.array([len(self._words(feature)) for feature in range(len(self.categories_))], dtype=np.int64)

    def get_feature_names_out(self, input_features: Any = None) -> Names:
        """Name the columns: ``colour=red``."""
        names = self.input_names(input_features)
        return as_names([f"{name}={word}" for feature, name in enumerate(names) for word in self._words(feature)])


def find_missing(column: Column) -> npt.NDArray[np.bool_]:
    """Tell which values are None, NaN or another library's mark of absence."""
    if column.dtype.kind == "f":
        return np.isnan(column)
    if column.dtype.kind in "mM":
        return np.isnat(column)
    if column.dtype.kind != "O":
        return np.zeros(len(column), dtype=bool)
    # A few distinct values usually tell for all rows.
    if not any(map(is_mark_of_absence, set(column.tolist()))):
        return np.zeros(len(column), dtype=bool)
    return np.fromiter(map(is_mark_of_absence, column.tolist()), dtype=bool, count=len(column))


def is_mark_of_absence(value: Any) -> bool:
    """Tell whether a value is None, a NaN or a NaT of any type, or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return bool(value != value)  # noqa: PLR0124 - only NaN and NaT differ from themselves


def encode_column(column: Column) -> tuple[Column, npt.NDArray[np.intp]]:
    """Find the values of a column, sorted, and the code of each row; floats are values like any others."""
    if column.dtype.kind == "f":
        values, codes = np.unique(column, return_inverse=True)
        return values, codes
    if len(column) == 0:
        return column, np.zeros(0, dtype=np.intp)
    if column.dtype.kind == "O" and any(isinstance(value, float) for value in column[:1]):
        return encode_column(column.astype(float))
    return encode(column)


def look_up(values: Column, column: Column) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Find the code of each row among sorted values, and which rows have none."""
    if len(values) == 0 or len(column) == 0:
        return np.full(len(column), -1, dtype=np.int64), np.ones(len(column), dtype=bool)
    if values.dtype.kind == "O" or column.dtype.kind == "O":
        table = {value: code for code, value in enumerate(values.tolist())}
        found = np.fromiter(map(table.get, column.tolist(), repeat(-1)), dtype=np.int64, count=len(column))
        return found, found < 0
    if (values.dtype.kind in "US") != (column.dtype.kind in "US"):
        return np.full(len(column), -1, dtype=np.int64), np.ones(len(column), dtype=bool)
    codes = np.minimum(np.searchsorted(values, column), len(values) - 1).astype(np.int64)
    return codes, values[codes] != column

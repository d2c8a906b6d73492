"""What every feature map shares: the input's names, and room for the output."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from tutelage.base import Accepts, Transformer
from tutelage.parameters import fitted

Names = npt.NDArray[np.object_]


class FeatureMap(Transformer):
    """Base of the feature maps: a transformer whose output has names and the dtype of its input."""

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    n_features_in_: int = fitted("The number of features seen by ``fit``.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def input_names(self, input_features: Any = None) -> Names:
        """Give the names of the input's features: those of the frame, those given, or x0, x1, ..."""
        check_is_fitted(self)
        names: Names = _check_feature_names_in(self, input_features)
        return names


def as_names(names: list[str]) -> Names:
    """Make an array of names, as scikit-learn wants them."""
    return np.array(names, dtype=object)

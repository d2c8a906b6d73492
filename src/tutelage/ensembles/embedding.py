"""Rows as the leaves of random trees: a sparse code in which rows that fall together are alike.

>>> coded = RandomTreesEmbedding(3, max_depth=1, random_state=0).fit_transform([[0.0], [1.0], [9.0]])
>>> coded.shape, coded.sum(axis=1).ravel().tolist()
((3, 6), [[3.0, 3.0, 3.0]])
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from tutelage.base import Accepts, Transformer
from tutelage.ensembles.base import MOST_SEEDS, Forestlike
from tutelage.parameters import Count, fitted
from tutelage.trees.base import Answers
from tutelage.trees.regress import ExtraTreeRegressor


class RandomTreesEmbedding(Forestlike, Transformer):
    """Code each row by the leaves in which it ends in trees grown at random.

    The trees learn targets drawn at random with random cuts, so that they tell of X alone.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.1, 0.0], [9.0, 9.0]]
    >>> coded = RandomTreesEmbedding(50, max_depth=1, random_state=0).fit_transform(X)
    >>> bool((coded[0] @ coded[1].T).sum() > (coded[0] @ coded[2].T).sum())
    True
    """

    accepts: ClassVar[Accepts] = Accepts(sparse=True)

    max_depth: Annotated[Count | None, "The most questions on the way to a leaf; None: as many as it takes."] = 5
    sparse_output: Annotated[bool, "Whether the code is a sparse matrix."] = True

    splitter: ClassVar[str] = "random"  # type: ignore[misc, assignment]
    max_features: ClassVar[int] = 1  # type: ignore[misc]
    bootstrap: ClassVar[bool] = False  # type: ignore[misc]
    oob_score: ClassVar[bool] = False  # type: ignore[misc]
    max_samples: ClassVar[None] = None  # type: ignore[misc]
    ccp_alpha: ClassVar[float] = 0.0  # type: ignore[misc]
    monotonic_cst: ClassVar[None] = None  # type: ignore[misc]
    bins: ClassVar[int] = 255  # type: ignore[misc]

    one_hot_encoder_: Any = fitted("What turns leaves into columns.")

    _member = ExtraTreeRegressor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : None
            Not used.
        sample_weight : array of shape (n,), optional
            How much each row counts.
        """
        self.fit_transform(X, y, sample_weight=sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:  # type: ignore[override]  # noqa: ARG002
        """Grow the trees, and code the rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        y : None
            Not used.
        sample_weight : array of shape (n,), optional
            How much each row counts.
        """
        rows = self.validate(X)
        weight = self._validate_weight(sample_weight, rows)
        drawn = check_random_state(self.random_state)
        seed = drawn.randint(MOST_SEEDS)
        targets = np.random.RandomState(seed).uniform(size=(rows.shape[0], 1))
        self._grow(rows, targets, Answers(None, targets, []), weight, "squared_error")
        leaves = self.apply(X)
        self.one_hot_encoder_ = OneHotEncoder(sparse_output=self.sparse_output)
        coded = self.one_hot_encoder_.fit_transform(leaves)
        self._n_features_out = coded.shape[1]
        return coded

    def transform(self, X: Any) -> Any:
        """Code rows by the leaves in which they end.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            The rows.
        """
        check_is_fitted(self)
        return self.one_hot_encoder_.transform(self.apply(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Name the columns by tree and leaf.

        Parameters
        ----------
        input_features : array of str, optional
            Compared to the names of the fit, and not used otherwise.
        """
        check_is_fitted(self, "_n_features_out")
        _check_feature_names_in(self, input_features=input_features, generate_names=False)
        leaves = self.one_hot_encoder_.categories_
        named = [f"randomtreesembedding_{tree}_{leaf}" for tree, of_tree in enumerate(leaves) for leaf in of_tree]
        return np.asarray(named, dtype=object)

"""Quadratic discriminant analysis: classes are Gaussians, each with a mean and a covariance of its own.

    log P(x, c) = log P(c) - 1/2 log det S_c - 1/2 (x - m_c)' S_c^-1 (x - m_c) + const

The quadratic terms differ from class to class, so boundaries are quadrics: ellipses, hyperbolas, pairs of planes.

Algorithm: the scatter of each class in one sandwich of its rows (n d^2 / 2 multiplications in all), then the
eigenvalues of each S_c, in parallel products where singular value decompositions of the rows would do several times
the work. It needs d (d + 1) / 2 numbers a class: with fewer than some ten rows a column and class they are noise, and
shrinking (``shrinkage``, ``reg_param``) or the linear model does better. A singular S_c is an error here, as in
scikit-learn; `tutelage.GaussianDiscriminant` regularises it and says so.

>>> import numpy as np
>>> X = np.array([[-1.0], [0.0], [1.0], [-9.0], [0.0], [9.0]])
>>> model = QuadraticDiscriminantAnalysis().fit(X, ["near", "near", "near", "far", "far", "far"])
>>> model.predict([[0.5], [4.0], [-4.0]])
array(['near', 'far', 'far'], dtype='<U4')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy import linalg

from tutelage import counts
from tutelage.base import Accepts, Classifier, Floats, Matrix
from tutelage.discriminant.covariance import class_covariances
from tutelage.discriminant.joint import JointScores
from tutelage.parameters import Arrays, Has, NonNegative, Range, Share, fitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tutelage.counts import Scatter
    from tutelage.fold_paths import FoldPath, Rows
    from tutelage.labels import Codes


class QuadraticDiscriminantAnalysis(JointScores, Classifier):
    """Classes as Gaussians, each with its own covariance.

    Examples
    --------
    >>> from tutelage import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])
    """

    accepts: ClassVar[Accepts] = Accepts()

    solver: Annotated[Literal["svd", "eigen"], "'eigen' can shrink; 'svd' takes reg_param."] = "svd"
    shrinkage: Annotated[
        Share | Literal["auto"] | None,
        "With solver='eigen', share of the identity in each covariance; 'auto' is that of Ledoit and Wolf.",
        Range(0.0, 1.0),
    ] = None
    priors: Annotated[Arrays | None, "Probabilities of the classes; None is their shares of the rows."] = None
    reg_param: Annotated[
        Share, "With solver='svd', each covariance S becomes (1 - reg_param) S + reg_param I.", Range(0.0, 1.0)
    ] = 0.0
    store_covariance: Annotated[bool, "Whether covariance_ is set."] = False
    tol: Annotated[NonNegative, "The variance of a direction at which a covariance counts as singular."] = 1e-4
    covariance_estimator: (
        Annotated[Any, Has("fit"), "With solver='eigen', what estimates covariances, with covariance_ after its fit."]
        | None
    ) = None

    means_: Floats = fitted("The mean of each class.")
    priors_: Floats = fitted("The probability of each class.")
    scalings_: Any = fitted("For each class, the variances along the axes of its Gaussian, the largest first.")
    rotations_: Any = fitted("For each class, the axes of its Gaussian, in columns.")
    covariance_: Any = fitted("The covariance of each class.")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the mean and the covariance of each class.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.
        y : array of shape (n,)
            The classes.

        Returns
        -------
        self
            The fitted model.
        """
        X, codes, _ = self.validate(X, y)
        self._learn(X, codes, None)
        return self

    def _learn(self, X: Matrix, codes: Codes, measured: Scatter | None) -> None:
        """Fit to checked rows, or to what was measured of them."""
        if self.solver == "svd" and self.shrinkage is not None:
            raise NotImplementedError("shrinkage not supported with 'svd' solver. Use solver='eigen', or reg_param.")
        if self.solver == "svd" and self.covariance_estimator is not None:
            raise ValueError("covariance_estimator is not supported with solver='svd'. Try solver='eigen' instead.")
        rows = np.bincount(codes)
        if rows.min() == 1:
            raise ValueError(
                f"y has only 1 sample in class {self.classes_[rows.argmin()]!s}, covariance is ill defined. Leave the "
                "class out, or use LinearDiscriminantAnalysis."
            )
        priors = rows / len(codes) if self.priors is None else np.array(self.priors, dtype=np.float64)
        if len(priors) != len(rows):
            raise ValueError(f"priors must have a number for each of the {len(rows)} classes, found {len(priors)}.")
        self._keep(*self._decompose(X, codes, rows, measured), priors, X.dtype.type)

    def fold_paths(
        self,
        X: Any,
        y: Any,
        folds: Sequence[tuple[Rows, Rows]],
        grid: Sequence[dict[str, Any]],
        sample_weight: Any = None,
    ) -> Iterator[FoldPath | None]:
        """Fit every candidate on every fold, from the scatter of the other folds.

        Parameters
        ----------
        X, y : arrays
            All rows and their classes.
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
        from tutelage.discriminant.fold_paths import scattered_fold_paths

        return scattered_fold_paths(
            self, X, y, folds, grid, sample_weight, own=True,
            can=lambda one: one.covariance_estimator is None and not isinstance(one.shrinkage, str),
        )  # fmt: skip

    def _decompose(
        self, X: Matrix, codes: Codes, rows: Any, measured: Scatter | None
    ) -> tuple[Floats, list[Floats], list[Floats], list[Floats]]:
        measured = counts.scatter(X, codes, None, len(rows), own=True) if measured is None else measured
        if self.solver == "svd":
            each = measured.covariance()
        else:
            each = class_covariances(X, codes, len(rows), self.shrinkage, self.covariance_estimator, measured=measured)
        scalings, rotations, covariances = [], [], []
        for c, covariance in enumerate(each):
            values, vectors = linalg.eigh(covariance)
            values, vectors = values[::-1], vectors[:, ::-1]
            if self.solver == "svd":
                # As many directions as rows can tell; the others have no variance to be regularised.
                values = (1 - self.reg_param) * np.maximum(values[: rows[c]], 0.0) + self.reg_param
                vectors = vectors[:, : rows[c]]
                covariance = (vectors * values) @ vectors.T  # noqa: PLW2901 - regularised
            if int((values > self.tol).sum()) < X.shape[1]:
                self._refuse(c, int(rows[c]), X.shape[1])
            scalings.append(values)
            rotations.append(vectors)
            covariances.append(covariance)
        return measured.mean, scalings, rotations, covariances

    def _refuse(self, c: int, rows: int, columns: int) -> None:
        opening = f"The covariance matrix of class {self.classes_[c]!s} is not full rank."
        if self.solver == "svd" and rows <= columns:
            raise linalg.LinAlgError(
                f"{opening} When using `solver='svd'` the number of samples in each class should be more than the "
                f"number of features, but class {self.classes_[c]!s} has {rows} samples and {columns} features. Try "
                "using `solver='eigen'` and setting the parameter `shrinkage` for regularization."
            )
        name = "shrinkage" if self.solver == "eigen" else "reg_param"
        raise linalg.LinAlgError(f"{opening} Increase the value of `{name}` to reduce the collinearity.")

    def _keep(
        self, means: Floats, scalings: list[Floats], rotations: list[Floats], covariances: list[Floats], priors: Any,
        kind: Any,
    ) -> None:  # fmt: skip
        self.priors_ = priors
        self.means_ = means.astype(kind, copy=False)
        self.scalings_ = [one.astype(kind, copy=False) for one in scalings]
        self.rotations_ = [one.astype(kind, copy=False) for one in rotations]
        self.__dict__.pop("covariance_", None)
        if self.store_covariance:
            self.covariance_ = [one.astype(kind, copy=False) for one in covariances]

    def _scores(self, X: Any) -> Floats:
        X = self.validate_rows(X)
        scores = np.empty((len(X), len(self.classes_)))
        for c, (variances, axes) in enumerate(zip(self.scalings_, self.rotations_, strict=True)):
            whitened = (X - self.means_[c]) @ (axes * variances**-0.5)
            scores[:, c] = -0.5 * (np.einsum("ij,ij->i", whitened, whitened) + np.log(variances).sum())
        with np.errstate(divide="ignore"):
            scores += np.log(self.priors_)
        return scores

    def decision_function(self, X: Any) -> Floats:
        """Give log P(x, c) of rows, up to a constant.

        Parameters
        ----------
        X : array or frame of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,) for two classes, (n, k) for more
            For two classes, the log odds of the second.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

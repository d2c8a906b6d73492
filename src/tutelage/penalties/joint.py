"""Penalties of all coefficients together: groups, the largest, balls, and a Gaussian prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tutelage.penalties.base import Penalty
from tutelage.vocabulary import checked_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tutelage import _core


@dataclass(frozen=True, eq=False, repr=False)
class GroupL2(Penalty):
    """``strength sum_g weight_g |w_g| + l2 sum w^2 / 2``: whole groups are zero together (Yuan and Lin 2006).

    A group is some columns, with their coefficients for every score. Without groups every column is one, which for
    several outputs is the multi-task lasso. Columns in no group bear the l2 part alone.

    Parameters
    ----------
    strength : float, default=1
        Of the norms; at least 0.
    l2 : float, default=0
        Strength of sum w^2 / 2; at least 0.
    groups : sequence of sequences of int, default=None
        The columns of each group, no column in two; None is every column by itself.
    weights : array-like, default=None
        Of each group; None is 1 for all. The square root of the size of a group is a common choice.

    Examples
    --------
    >>> GroupL2(strength=1.0, groups=[[0, 1], [2]]).prox([3.0, 4.0, 0.5], step=1.0).round(6).tolist()
    [2.4, 3.2, 0.0]
    """

    name: ClassVar[str] = "group_l2"
    strength: float = 1.0
    l2: float = 0.0
    groups: Sequence[Sequence[int]] | None = None
    weights: npt.ArrayLike | None = None

    def _check_lists(self) -> None:
        super()._check_lists()
        if self.groups is None:
            return
        try:
            groups = tuple(tuple(int(column) for column in np.asarray(group, dtype=np.intp)) for group in self.groups)
        except (TypeError, ValueError) as error:
            raise TypeError(f"groups of GroupL2 must be lists of column numbers; found {self.groups!r}.") from error
        self._set("groups", groups)
        columns = [column for group in groups for column in group]
        if not columns or min(columns) < 0:
            raise ValueError(f"groups of GroupL2 must name columns from 0 on; found {groups!r}.")
        if len(set(columns)) < len(columns):
            twice = next(column for column in columns if columns.count(column) > 1)
            raise ValueError(f"groups of GroupL2 must not share a column; column {twice} is in two.")
        if self.weights is not None and np.size(self.weights) != len(groups):
            raise ValueError(
                f"weights of GroupL2 must have one entry for each of its {len(groups)} groups; it has "
                f"{np.size(self.weights)}."
            )

    def native(self) -> _core.Penalty:
        """Return the native penalty."""
        from tutelage import _core

        numbers = {name: value for name, value in self.parameters() if name != "groups"}
        return _core.make_penalty(self.name, numbers, [list(group) for group in self.groups or ()])


@dataclass(frozen=True, eq=False, repr=False)
class LInfinity(Penalty):
    """``strength max |w|``: the largest coefficients are held down to one height.

    It spreads a fit over many columns. Its prox is a projection: w less its projection on the ball sum abs(v) <= step
    strength.

    Parameters
    ----------
    strength : float, default=1
        How much; at least 0.

    Examples
    --------
    >>> LInfinity(strength=1.0).prox([3.0, 2.5, -1.0], step=1.0).tolist()
    [2.25, 2.25, -1.0]
    """

    name: ClassVar[str] = "l_infinity"
    strength: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class L1Ball(Penalty):
    """Zero where ``sum |w| <= bound``, infinite elsewhere: the lasso as it was first written (Tibshirani 1996).

    For every bound below what an unpenalised fit uses there is a strength of :class:`L1` with the same solution. The
    prox is the projection.

    Parameters
    ----------
    bound : float, default=1
        What the sum may reach; at least 0.

    Examples
    --------
    >>> L1Ball(bound=2.0).prox([3.0, -2.0, 0.5], step=1.0).tolist()
    [1.5, -0.5, 0.0]
    """

    name: ClassVar[str] = "l1_ball"
    bound: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class L2Ball(Penalty):
    """Zero where ``sum w^2 <= bound``, infinite elsewhere: ridge as a constraint (Ivanov 1962).

    The bound is on the squared norm. The prox is the projection.

    Parameters
    ----------
    bound : float, default=1
        What the sum of squares may reach; at least 0.

    Examples
    --------
    >>> L2Ball(bound=25.0).prox([6.0, 8.0], step=1.0).tolist()
    [3.0, 4.0]
    """

    name: ClassVar[str] = "l2_ball"
    bound: float = 1.0


@dataclass(frozen=True, eq=False, repr=False)
class GaussianPrior(Penalty):
    """``strength (w - mean)' covariance^-1 (w - mean) / 2``: maximum a posteriori estimation.

    If w ~ N(mean, covariance) beforehand, and the loss is a negative log-likelihood, the coefficients of most
    posterior probability minimise ``sum_i loss_i + (w - mean)' covariance^-1 (w - mean) / 2``. Risk is a mean over S
    rows, so that is strength = 1 / S. The squared loss is the log-likelihood of normal noise times its variance, so
    there it is strength = noise variance / S. N(0, tau^2 I) is :class:`L2` with strength / tau^2.

    Making one from a full covariance costs d^3, and so does each prox; the products that Newton's method takes cost
    d^2.

    Parameters
    ----------
    mean : float or array-like of shape (d,) or (k, d), default=0
        What is expected of w beforehand.
    covariance : float or array-like of shape (d,) or (d, d), default=1
        One variance for all, a variance for each coefficient, or the whole matrix, positive definite; the same for
        every score.
    strength : float, default=1
        How much; at least 0.

    Examples
    --------
    >>> GaussianPrior(covariance=[[2.0, 1.0], [1.0, 2.0]]).value([1.0, 1.0])
    0.333...
    >>> GaussianPrior(mean=1.0, covariance=0.5).prox([4.0], step=0.5).tolist()
    [2.5]
    """

    name: ClassVar[str] = "gaussian_prior"
    mean: float | npt.ArrayLike = 0.0
    covariance: float | npt.ArrayLike = 1.0
    strength: float = 1.0

    def _check_lists(self) -> None:
        mean = np.asarray(self.mean)
        self._set("mean", float(mean) if mean.ndim == 0 else checked_list(mean, "mean", "GaussianPrior", ndim=2))
        covariance = np.asarray(self.covariance)
        if covariance.ndim == 0:
            self._set("covariance", float(covariance))
        else:
            covariance = checked_list(covariance, "covariance", "GaussianPrior", ndim=2)
            self._set("covariance", covariance)
        if not np.isfinite(self.mean).all():
            raise ValueError("mean of GaussianPrior must be finite.")
        self._check_covariance(np.asarray(self.covariance))

    def _check_covariance(self, covariance: npt.NDArray[np.float64]) -> None:
        wrong = "covariance of GaussianPrior must be positive definite and finite"
        if not np.isfinite(covariance).all():
            raise ValueError(f"{wrong}.")
        if covariance.ndim < 2:
            if not (covariance > 0).all():
                raise ValueError(f"{wrong}; found the variance {covariance.min():g}.")
        elif covariance.shape[0] != covariance.shape[1]:
            raise ValueError(f"{wrong}: a square matrix; found the shape {covariance.shape}.")
        elif not np.allclose(covariance, covariance.T, rtol=1e-10, atol=1e-12 * np.abs(covariance).max()):
            raise ValueError(f"{wrong}; it is not symmetric.")
        else:
            try:
                np.linalg.cholesky(covariance)
            except np.linalg.LinAlgError as error:
                raise ValueError(f"{wrong}; a direction has no variance.") from error

    def native(self) -> _core.Penalty:
        """Return the native penalty."""
        from tutelage import _core

        covariance = np.asarray(self.covariance, dtype=np.float64)
        spread = "covariance" if covariance.ndim == 2 else "variance"
        lists = {"mean": np.ravel(np.asarray(self.mean, dtype=np.float64)), spread: np.ravel(covariance)}
        return _core.make_penalty(self.name, {"strength": self.strength, **lists})

"""Regularisation paths of the lasso and the elastic net: fits along a falling alpha, each begun where the last ended.

    coef(alpha) = argmin over w:   (1 / 2n) |y - X w|^2  +  alpha (r |w|_1 + (1 - r) / 2 |w|_2^2)

Above the strongest alpha, max_j |x_j . y| / (n r), every coefficient is zero; a geometric grid falls from there to
``eps`` times it. From one alpha to the next little changes, so the solver keeps everything it has: coefficients,
residuals, and the products between all columns that ever mattered (`src/core/solvers/path.hpp`). A whole path costs
little more than its last fit.

`lasso_path` and `enet_path` are scikit-learn's functions of these names: no intercept, dense coefficients. `Path` and
`follow_path` are what `LassoCV` and `ElasticNetCV` walk: with intercept and weights, the coefficients sparse.

>>> import numpy as np
>>> X = np.array([[1.0, 0.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, 0.0]])
>>> alphas, coefs, gaps = lasso_path(X, np.array([2.0, 2.0, -2.0, -2.0]), alphas=3, eps=0.25)
>>> alphas, coefs[0]
(array([2. , 1. , 0.5]), array([0. , 1. , 1.5]))
"""

from __future__ import annotations

import math
import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils import check_array

from tutelage import _core, losses, matrices, penalties
from tutelage.base import Floats, Matrix, is_sparse
from tutelage.linear.accuracy import MOST_ROUNDS, PATH_DIGITS, arrived, is_small, minimise_well
from tutelage.linear.least_squares import as_columns
from tutelage.risk import Risk, certificate_from

if TYPE_CHECKING:
    from tutelage.certificate import Certificate


class Path(NamedTuple):
    """The fits along a path.

    Attributes
    ----------
    alphas : array of shape (m,)
        The strengths, falling.
    coefs : CSC matrix of shape (d, m)
        A column of coefficients for each.
    intercepts : array of shape (m,)
        The intercepts.
    certificates : list of Certificate
        The proofs.
    """

    alphas: Floats
    coefs: Any
    intercepts: Floats
    certificates: list[Certificate]


def elastic_net(alpha: float, l1_ratio: float, positive: bool = False) -> Any:
    """Say scikit-learn's alpha and l1_ratio in the words of `tutelage.penalties`.

    Examples
    --------
    >>> elastic_net(2.0, 0.25)
    ElasticNet(l1=0.5, l2=1.5)
    >>> elastic_net(2.0, 0.0)
    L2(strength=2)
    """
    l1, l2 = float(alpha * l1_ratio), float(alpha * (1 - l1_ratio))
    if positive:
        return penalties.NonNegative(l1=l1, l2=l2)
    if l1 == 0:
        return penalties.L2(strength=l2)
    return penalties.L1(strength=l1) if l2 == 0 else penalties.ElasticNet(l1=l1, l2=l2)


def follow_path(
    X: Matrix,
    y: Floats,
    weight: Floats | None = None,
    *,
    alphas: Floats,
    l1_ratio: float = 1.0,
    positive: bool = False,
    fit_intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 1000,
    time_limit: float | None = None,
) -> Path:
    """Fit one target along falling alphas.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows, checked.
    y : array of shape (n,)
        The targets.
    weight : array of shape (n,), optional
        How much each row counts.
    alphas : array
        The strengths, falling.
    l1_ratio, positive, fit_intercept, tol, max_iter, time_limit
        As in `ElasticNet`.

    Returns
    -------
    Path
        The fits.
    """
    if l1_ratio == 0 and not positive:
        return _follow_ridge(X, y, weight, alphas, fit_intercept)
    walked = alphas[alphas > 0]
    limit = math.inf if time_limit is None else time_limit

    def walk(tol: float, max_rounds: int) -> Any:
        return _core.coordinate_path(
            matrices.columns(X, copy=False), y, weight, losses.Squared().native(),
            lambda alpha: elastic_net(alpha, l1_ratio, positive).native(), fit_intercept, walked.tolist(),
            tol=tol, max_rounds=max_rounds, time_limit=limit,
        )  # fmt: skip

    last_digits = is_small(X) and tol > PATH_DIGITS
    answer = walk(PATH_DIGITS, min(max_iter, MOST_ROUNDS)) if last_digits else walk(tol, max_iter)
    if last_digits and any(certificate_from(dict(facts)).measure > tol for facts in answer[-1]):
        answer = walk(tol, max_iter)  # columns that are nearly collinear: no last digits to be had
    data, rows, starts, intercepts, _, facts = answer
    coefs = sparse.csc_array((data, rows, starts), shape=(X.shape[1], len(intercepts)))
    certificates = [arrived(certificate_from(one), tol) for one in facts]
    for _ in alphas[len(walked) :]:  # alpha = 0: no corner, and nothing to warm up
        risk = Risk(losses.Squared(), elastic_net(0.0, l1_ratio, positive), fit_intercept)
        last = minimise_well(risk, X, y, weight, tol=tol, max_rounds=max_iter, time_limit=time_limit)
        coefs = sparse.hstack([coefs, sparse.csc_array(last.coef[:, None])], format="csc")
        intercepts, certificates = np.append(intercepts, last.intercept), [*certificates, last.certificate]
    return Path(alphas[: len(intercepts)], coefs, intercepts, certificates)


def _follow_ridge(X: Matrix, y: Floats, weight: Floats | None, alphas: Floats, fit_intercept: bool) -> Path:
    samples, columns = X.shape
    scale = samples if weight is None else weight.sum()
    path = _core.RidgePath(matrices.rows(X), as_columns(y), weight, fit_intercept, samples <= columns)
    points, facts = zip(*[path.solve([alpha * scale]) for alpha in alphas], strict=True)
    table = np.stack(points, axis=1)
    intercepts = table[columns] if fit_intercept else np.zeros(len(alphas))
    return Path(alphas, sparse.csc_array(table[:columns]), intercepts, [certificate_from(one) for one in facts])


def alpha_grid(
    X: Matrix,
    Y: Floats,
    weight: Floats | None = None,
    *,
    l1_ratio: float = 1.0,
    fit_intercept: bool = True,
    eps: float = 1e-3,
    count: int = 100,
    positive: bool = False,
) -> Floats:
    """Give a geometric grid from the smallest alpha whose coefficients are all zero to eps times that.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows.
    Y : array of shape (n, k)
        The targets.
    weight : array of shape (n,), optional
        How much each row counts.
    l1_ratio, fit_intercept, eps, positive
        As in `ElasticNetCV`.
    count : int, default=100
        How many alphas.

    Returns
    -------
    array of shape (count,)
        Falling.
    """
    if l1_ratio == 0:
        raise ValueError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid by providing your "
            "estimator with the appropriate `alphas=` argument."
        )
    residual = Y - np.average(Y, axis=0, weights=weight) if fit_intercept else Y
    if weight is not None:
        residual = residual * weight[:, None]
    slopes = matrices.rows(X).transpose_times(np.ascontiguousarray(residual)) / (
        len(Y) if weight is None else weight.sum()
    )
    with np.errstate(over="ignore"):  # an infinite grid is refused below
        sizes = np.maximum(slopes, 0).ravel() if positive else np.sqrt((slopes**2).sum(axis=0))
    strongest = float(sizes.max(initial=0.0)) / l1_ratio
    smallest = float(np.finfo(np.float64).resolution)
    if not math.isfinite(strongest):
        raise ValueError("Entries of X or y are so large that their products overflow. Scale them down.")
    if strongest <= smallest:
        return np.full(count, smallest)
    grid: Floats = np.geomspace(strongest, strongest * eps, num=count)
    return grid


def check_gram(gram: Any, X: Matrix, weight: Floats | None, fit_intercept: bool) -> None:
    """Check a Gram matrix that a user gives along with X: it must be that of X, in one of its entries at least."""
    if isinstance(gram, bool | str | np.bool_) or gram is None:
        return
    gram = np.asarray(gram)
    samples, columns = X.shape
    if gram.shape != (columns, columns):
        raise ValueError(
            f"The 'precompute' parameter must be a Gram matrix of shape {(columns, columns)}, found {gram.shape}; give "
            "X.T @ X, or precompute=True."
        )
    mean = np.asarray(X.mean(axis=0)).ravel()
    if fit_intercept and not np.allclose(mean if weight is None else _mean(X, weight), 0.0):
        warnings.warn(
            "Gram matrix was provided but X was centered to fit intercept: recomputing Gram matrix.",
            UserWarning,
            stacklevel=3,
        )
        return
    i = columns // 2
    j = min(i + 1, columns - 1)
    left, right = (np.asarray(X[:, [c]].todense() if is_sparse(X) else X[:, c]).ravel() for c in (i, j))
    scale = 1.0 if weight is None else weight * (samples / weight.sum())
    expected, actual = float(np.sum(scale * left * right)), float(gram[i, j])
    near = 1e-4 if np.float32 in (X.dtype, gram.dtype) else 1e-7
    if not math.isclose(expected, actual, rel_tol=near, abs_tol=near * float(np.sum(scale * left * left))):
        raise ValueError(
            "Gram matrix passed in via 'precompute' parameter did not pass validation when a single element was "
            f"checked - please check that it was computed properly. For element ({i}, {j}) we computed {expected} but "
            f"the user-supplied value was {actual}."
        )


def _mean(X: Matrix, weight: Floats) -> Floats:
    mean: Floats = matrices.rows(X).transpose_times(weight[:, None])[0] / weight.sum()
    return mean


_KNOWN = {"tol", "max_iter", "selection", "random_state", "sample_weight", "do_screening", "X_offset", "X_scale"}


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = "warn",
    precompute: Any = "auto",
    Xy: Any = None,  # noqa: ARG001
    copy_X: bool = True,  # noqa: ARG001
    coef_init: Any = None,  # noqa: ARG001
    verbose: Any = False,  # noqa: ARG001
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,  # noqa: ARG001
    **params: Any,
) -> tuple[Any, ...]:
    """Compute the coefficients of the elastic net along a path of alphas, without an intercept.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The rows.
    y : array of shape (n,) or (n, targets)
        The targets; several share their zeros, as in `MultiTaskElasticNet`.
    l1_ratio : float, default=0.5
        The share of the l1 part.
    eps : float, default=1e-3
        The smallest alpha of a grid relative to the largest.
    n_alphas : int, deprecated
        What `alphas` says as a number.
    alphas : int or array, default=100
        How many alphas a grid has, or the alphas.
    precompute : bool, "auto" or array, default="auto"
        A hint; a Gram matrix is checked against X.
    Xy, copy_X, coef_init, verbose, check_input
        Not needed.
    return_n_iter : bool, default=False
        Whether the rounds of each fit are returned too.
    positive : bool, default=False
        Whether coefficients must not be negative.
    **params
        ``tol``, ``max_iter`` and ``sample_weight``, as in `ElasticNet`.

    Returns
    -------
    alphas : array of shape (m,)
        The alphas, falling.
    coefs : array of shape (d, m) or (targets, d, m)
        The coefficients.
    dual_gaps : array of shape (m,)
        How far from the minimum each risk can be.
    n_iters : list of int
        The rounds, if asked for.

    Examples
    --------
    >>> alphas, coefs, gaps = enet_path([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], alphas=[0.5, 1.0])
    >>> alphas, coefs.round(4)
    (array([1. , 0.5]), array([[0.5385, 0.7391]]))
    """
    wanted = _wanted_alphas(alphas, n_alphas)
    if unknown := set(params) - _KNOWN:
        raise ValueError(f"Unexpected parameters in params: {sorted(unknown)}; known are {sorted(_KNOWN)}.")
    X = check_array(X, accept_sparse=("csc", "csr"), dtype=(np.float64, np.float32))
    y = np.ascontiguousarray(check_array(y, ensure_2d=False, dtype=np.float64))
    if y.ndim != 1 and positive:
        raise ValueError("positive=True is not allowed for multi-output (y.ndim != 1); fit each target on its own.")
    weight = params.get("sample_weight")
    weight = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    check_gram(precompute, X, weight, fit_intercept=False)
    if isinstance(wanted, Integral):
        grid = alpha_grid(X, as_columns(y), weight, l1_ratio=l1_ratio, fit_intercept=False, eps=eps,
                          count=int(wanted), positive=positive)  # fmt: skip
    else:
        grid = np.sort(np.asarray(wanted, dtype=np.float64).ravel())[::-1]
    options = {"tol": params.get("tol", 1e-4), "max_iter": params.get("max_iter", 1000)}
    if y.ndim == 1:
        path = follow_path(X, y, weight, alphas=grid, l1_ratio=l1_ratio, positive=positive, fit_intercept=False,
                           **options)  # fmt: skip
        grid, certificates = path.alphas, path.certificates
        coefs = path.coefs.toarray()
    else:
        from tutelage.linear.multi_task import follow_tasks

        found = follow_tasks(X, y, weight, alphas=grid, l1_ratio=l1_ratio, fit_intercept=False, **options)
        certificates = [solution.certificate for solution in found]
        coefs = np.stack([np.atleast_2d(solution.coef) for solution in found], axis=-1)
    gaps = np.array([certificate.gap for certificate in certificates])
    answer = (grid, coefs.astype(X.dtype, copy=False), gaps)
    return (*answer, [certificate.rounds for certificate in certificates]) if return_n_iter else answer


def lasso_path(
    X: Any,
    y: Any,
    *,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = "warn",
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: Any = False,
    return_n_iter: bool = False,
    positive: bool = False,
    **params: Any,
) -> tuple[Any, ...]:
    """Compute the coefficients of the lasso along a path of alphas, without an intercept.

    Parameters
    ----------
    X, y, eps, n_alphas, alphas, precompute, Xy, copy_X, coef_init, verbose, return_n_iter, positive, **params
        As in `enet_path`.

    Returns
    -------
    tuple
        As from `enet_path`.

    Examples
    --------
    >>> lasso_path([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0], alphas=[1.0])[1]
    array([[0.4]])
    """
    return enet_path(
        X, y, l1_ratio=1.0, eps=eps, n_alphas=n_alphas, alphas=alphas, precompute=precompute, Xy=Xy, copy_X=copy_X,
        coef_init=coef_init, verbose=verbose, return_n_iter=return_n_iter, positive=positive, **params,
    )  # fmt: skip


def _wanted_alphas(alphas: Any, n_alphas: Any) -> int | npt.ArrayLike:
    """Understand both names that scikit-learn has for the number of alphas, and warn of the older as it does."""
    if n_alphas != "deprecated":
        warnings.warn(
            "'n_alphas' was deprecated in 1.9 and will be removed in 1.11 of scikit-learn; give the number as "
            "'alphas'.",
            FutureWarning,
            stacklevel=3,
        )
    wanted = 100 if isinstance(n_alphas, str) else n_alphas
    if alphas is None:
        warnings.warn(
            "'alphas=None' is deprecated and will be removed in 1.11 of scikit-learn. Set 'alphas=100' instead.",
            FutureWarning,
            stacklevel=3,
        )
        return int(wanted)
    return int(wanted) if isinstance(alphas, str) else alphas

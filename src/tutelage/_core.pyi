from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

def variant() -> str:
    """The instruction-set variant of this build: v2, v3, v4 or base."""

def compiler() -> str:
    """The compiler of this build."""

def get_threads() -> int:
    """The number of threads a fit on the calling thread may use."""

def set_threads(n: int) -> None:
    """Sets the number of threads for the whole process."""

def set_thread_override(n: int) -> int:
    """
    Sets the number of threads for the calling thread alone (0: as the process); returns what it was.
    """

def parallel_latency(calls: int, tasks: int) -> float:
    """The mean time, in seconds, of a parallel call of so many empty tasks."""

def stop_threads() -> None:
    """
    Ends the worker threads; the next call that needs them starts them again.
    """

def remember_main_thread() -> None:
    """
    Notes which thread runs Python's signal handlers; called again after a fork.
    """

def load_blas(blas: dict[str, object], lapack: dict[str, object]) -> None:
    """
    Takes the BLAS and LAPACK routines from the __pyx_capi__ of SciPy's cython_blas and cython_lapack.
    """

def set_blas_thread_functions(set_threads: int, get_threads: int) -> None:
    """Takes the addresses of BLAS's own functions for its number of threads."""

def coordinate_descent(
    x: Columns,
    y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)] | None,
    loss: Loss,
    penalty: Penalty,
    intercept: bool,
    start: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)] | None = None,
    start_intercept: float = 0.0,
    tol: float = 1e-06,
    max_rounds: int = 1000,
    time_limit: float = float("inf"),
) -> tuple:
    """
    Coordinate descent with working sets: coefficients, intercept and certificate of one fit.
    """

def coordinate_path(
    x: Columns,
    y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)] | None,
    loss: Loss,
    penalty: Callable[[float], Penalty],
    intercept: bool,
    strengths: Sequence[float] | None = None,
    ratio: float = 0.001,
    count: int = 100,
    penalty_weights: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)] | None = None,
    tol: float = 1e-06,
    max_rounds: int = 1000,
    time_limit: float = float("inf"),
) -> tuple:
    """
    Coordinate descent along decreasing strengths, or along a geometric grid from the strongest that matters: values, columns and starts of the coefficients as a CSC matrix, intercepts, strengths and certificates.
    """

@overload
def rows(X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)]) -> Rows:
    """
    A dense matrix read by rows, where it lies: float32 or float64, its rows or its columns in one piece.
    """

@overload
def rows(
    data: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: tuple[int, int],
) -> Rows:
    """A CSR matrix, where it lies; the indices are checked."""

def other_compression(
    data: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    across: int,
) -> tuple:
    """
    data, indices and indptr of the same matrix in CSC when it came in CSR, and the reverse.
    """

def fortran_copy(X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)]) -> object:
    """A copy of a C-ordered matrix in Fortran order."""

class Rows:
    """A matrix that products read by blocks of rows."""

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

    @property
    def stored(self) -> int:
        """Entries in memory."""

    @property
    def sparse(self) -> bool:
        """Whether entries that are zero are left out."""

    @property
    def block_rows(self) -> int:
        """Rows read at a time."""

    def times(
        self, w: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """X w' for w of shape (k, columns); shape (rows, k)."""

    def transpose_times(
        self, s: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """s' X for s of shape (rows, k); shape (k, columns)."""

    def sandwich(
        self,
        c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        shift: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """
        The lower triangle of (X - shift)' diag(c) (X - shift); zeros above it.
        """

    def statistics(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> tuple:
        """Weighted means and variances of the columns."""

    def standardised(
        self,
        mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Rows:
        """(X - mean) / scale, without a copy."""

    def augmented(self) -> Rows:
        """X with a column of ones behind it, without a copy."""

@overload
def columns(X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)]) -> Columns:
    """
    A dense matrix read by columns, where it lies; quick when its columns are in one piece.
    """

@overload
def columns(
    data: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray, dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: tuple[int, int],
) -> Columns:
    """A CSC matrix, where it lies; the indices are checked."""

class Columns:
    """A matrix that products read column by column."""

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

    @property
    def stored(self) -> int:
        """Entries in memory."""

    def stored_in(self, j: int) -> int:
        """Entries of column j in memory."""

    def dot(
        self, j: int, r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> float:
        """The inner product of column j with r."""

    def add(
        self,
        j: int,
        a: float,
        z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """z + a times column j."""

    def weighted_dot(
        self,
        j: int,
        c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        r: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> float:
        """sum_i c_i x_ij r_i."""

    def weighted_square(
        self,
        j: int,
        c: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> float:
        """sum_i c_i x_ij^2."""

    def statistics(
        self,
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> tuple:
        """Weighted means and variances of the columns."""

class Loss:
    """A loss over blocks of rows."""

    @property
    def facts(self) -> dict[str, Any]:
        """What is true of the loss."""

    @property
    def scores(self) -> int:
        """How many scores a row has."""

    @property
    def targets(self) -> int:
        """How many targets a row has."""

    def value(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The loss of each row."""

    def slope(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The slope in each score."""

    def curvature(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The second derivative in each score."""

    def curvature_times(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        u: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The Hessian of each row times a row of u."""

    def conjugate(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        a: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The conjugate of each row."""

    def prox(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        step: float,
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The proximal point of each row."""

    def total(
        self,
        y: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        s: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        z: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> float:
        """The sum of the values, each times its weight."""

def make_loss(name: str, parameters: Mapping[str, float] = {}, scores: int = 1) -> Loss:
    """The loss of that name."""

def user_loss(loss: object, scores: int = 1) -> Loss:
    """A loss from an object with value(y, z) and slope(y, z) on vectors."""

def envelope(loss: Loss, sigma: float) -> Loss:
    """
    A proximal loss made smooth: its rows of targets are followed by the multipliers of its scores.
    """

def loss_table() -> list[dict[str, Any]]:
    """The names and parameters of all losses."""

class Penalty:
    """A penalty over the coefficients of one fit."""

    @property
    def facts(self) -> dict[str, Any]:
        """What is true of the penalty."""

    def value(self, w: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)]) -> float:
        """The penalty at w."""

    def prox(
        self, w: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)], step: float
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The proximal point of w."""

    def value_one(self, j: int, w: float) -> float:
        """The part of coefficient j."""

    def prox_one(self, j: int, v: float, step: float) -> float:
        """The proximal point of coefficient j."""

    def slope(
        self, w: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)]
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The gradient, of a smooth penalty."""

    def curvature(
        self, w: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)]
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The diagonal of the Hessian, of a smooth penalty."""

    def hessian(self, d: int, score: int = 0) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The Hessian of one score, of a quadratic penalty."""

    def hessian_times(
        self, v: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)]
    ) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The Hessian times v, of a quadratic penalty."""

    def hessian_diagonal(self, k: int, d: int) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
        """The diagonal of the Hessian, of a quadratic penalty."""

    def conjugate(self, v: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)]) -> float:
        """The largest v.w - value(w)."""

    def dual_scale(self, v: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)]) -> float:
        """The largest t up to 1 with a finite conjugate at t v."""

    def stationarity(
        self,
        w: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        g: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    ) -> float:
        """
        How far -g is from being a subgradient at w, in the largest coordinate.
        """

    def check(self, k: int, d: int) -> None:
        """Raises ValueError where lists given for each coefficient do not fit."""

def make_penalty(name: str, parameters: dict[str, Any] = {}, groups: Sequence[Sequence[int]] = []) -> Penalty:
    """The penalty of that name."""

def user_penalty(penalty: object) -> Penalty:
    """A penalty from an object with value(w) and prox(w, step) or slope(w)."""

def penalty_table() -> list[dict[str, Any]]:
    """The names and parameters of all penalties."""

def minimise(
    rows: Rows,
    y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    loss: Loss,
    penalty: Penalty,
    intercept: bool,
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    solver: str,
    tol: float,
    max_rounds: int,
    time_limit: float,
) -> tuple:
    """
    Minimise a risk; returns the point (coefficients, then intercepts) and its certificate.
    """

def objection(arg0: str, arg1: Loss, arg2: Penalty, /) -> str:
    """
    Why a solver cannot minimise a loss with a penalty: half a sentence, empty when it can.
    """

def curvature(
    rows: Rows,
    y: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    loss: Loss,
    penalty: Penalty,
    intercept: bool,
    point: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> tuple:
    """
    The Hessian of the mean loss at a point, lower triangle, the rows shifted by the vector that comes with it; the penalty adds nothing.
    """

class RidgePath:
    """Ridge fits of one data set, from one factorisation."""

    def __init__(
        self,
        rows: Rows,
        y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        intercept: bool,
        by_kernel: bool,
    ) -> None: ...
    def solve(self, alphas: Sequence[float]) -> tuple:
        """The fit with an alpha for each output: the point and its certificate."""

    def coefficients(self, alphas: Sequence[float]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The fit with an alpha for each output, without a certificate."""

    def leave_one_out(self, alphas: Sequence[float], keep_residuals: bool) -> tuple:
        """
        Weighted squares of the left-out residuals (alphas x outputs), and the residuals (rows x outputs x alphas).
        """

class Spectrum:
    """The singular values of a matrix, found when they are asked for."""

    def values(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...
    def moments(self) -> tuple:
        """
        The Gram matrix of the centred X over the sum of the weights, its lower triangle, and the means; both empty where the fit did not make them.
        """

def least_squares(
    rows: Rows,
    y: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    intercept: bool,
) -> tuple:
    """
    Least squares of several outputs without a penalty: the point, its certificate and the spectrum of X.
    """

def class_sums(
    rows: Rows,
    codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    classes: int,
    threshold: float | None = None,
) -> tuple:
    """
    The weight of each class and the weighted sums of its rows; with a threshold, of whether they exceed it.
    """

def class_moments(
    rows: Rows,
    codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    classes: int,
    missing: bool = False,
) -> tuple:
    """
    Weights, means and sums of squared deviations of each column in each class; NaN is left out if missing.
    """

def class_scatter(
    rows: Rows,
    codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    own: bool = False,
) -> object:
    """
    The lower triangle of the scatter of rows around the means of their classes; one for each class if own.
    """

def gaussian_scores(
    rows: Rows,
    base: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    precisions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    missing: bool = False,
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    base - 1/2 sum_j precision_j (x_j - mean_j)^2 of each row and class; NaN is left out if missing.
    """

def class_products(
    rows: Rows,
    table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """
    X table' for a table of classes; quick for sparse rows of very many columns.
    """

def class_distances(
    rows: Rows,
    codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    means: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    precisions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
) -> Annotated[NDArray[numpy.float64], dict(order="C")]:
    """sum_j precision_j (x_j - mean_j)^2 of each row for its own class."""

class Search:
    """A matrix that can be searched for neighbours."""

    @property
    def shape(self) -> tuple:
        """Rows and columns."""

    def nearest(
        self,
        queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        are_rows: bool,
        k: int,
    ) -> tuple:
        """
        Distances and rows of the k nearest; where are_rows, query i is row i and not its own neighbour.
        """

    def within(
        self,
        queries: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        are_rows: bool,
        radii: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        by_distance: bool,
    ) -> tuple:
        """
        All rows within the radius of each query: starts, rows and distances, by row or by distance.
        """

def panel_search(
    X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    metric: str,
    p: float,
    algorithm: str,
    leaf_size: int,
) -> Search:
    """
    Brute force, a KD tree or a ball tree over prepared rows, of which it keeps a copy.
    """

def product_search(
    X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
    form: str,
    mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    basis: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    scale: float,
) -> Search:
    """
    Euclidean search by float32 products of images of the rows, exact in the end.
    """

def nearest_of_distances(
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    are_rows: bool,
    k: int,
) -> tuple:
    """The k least of each row: distances and columns."""

def within_of_distances(
    distances: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    are_rows: bool,
    radii: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    by_distance: bool,
) -> tuple:
    """What is at most the radius of each row: starts, columns and distances."""

def nearest_sparse(
    arg0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg4: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg5: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg6: str,
    arg7: bool,
    arg8: int,
    /,
) -> tuple:
    """
    The k nearest rows of a CSR matrix to those of another: distances and rows.
    """

def within_sparse(
    arg0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg4: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg5: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg6: str,
    arg7: bool,
    arg8: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg9: bool,
    /,
) -> tuple:
    """
    The rows of a CSR matrix within a radius of those of another: starts, rows and distances.
    """

def nearest_strings(
    arg0: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg2: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg3: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg4: bool,
    arg5: int,
    /,
) -> tuple:
    """The k nearest strings by edit distance: distances and rows."""

def within_strings(
    arg0: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg2: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg3: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg4: bool,
    arg5: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg6: bool,
    /,
) -> tuple:
    """The strings within an edit distance: starts, rows and distances."""

def group_descent(
    h: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    g0: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    square: float,
    l1: float,
    l2: float,
    start: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
    tol: float,
    max_rounds: int,
    time_limit: float,
) -> tuple:
    """
    Squared loss of several targets with a penalty on the norm of each feature's coefficients, from the sums of squares and products: the coefficients by features, and the certificate.
    """

class CodedColumns:
    """The columns of X as codes in the order of their values."""

def code_columns(
    X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)], use: str, bins: int
) -> CodedColumns:
    """
    Codes for a tree that looks at every column, at some of them, or at histograms.
    """

def code_sparse_columns(
    data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    rows: int,
    use: str,
    bins: int,
) -> CodedColumns:
    """The same of a CSC matrix."""

def grow_tree(
    columns: CodedColumns,
    criterion: str,
    labels: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)] | None,
    numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None,
    classes: Sequence,
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    rules: dict,
    monotone: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
) -> dict:
    """A tree as arrays of nodes; it takes the coded columns with it."""

def grow_trees(
    columns: CodedColumns,
    criterion: str,
    labels: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)] | None,
    numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None,
    classes: Sequence,
    weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    rules: dict,
    monotone: Annotated[NDArray[numpy.int8], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    draws: int,
    balanced: bool,
    order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    cumulated: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> list:
    """Trees of a forest, one for each seed, as arrays of nodes."""

def order_by_content(
    columns: CodedColumns,
    labels: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order="C", device="cpu", writable=False)] | None,
    numbers: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)]
    | None,
    classes: Sequence,
) -> object:
    """Rows in the order of a hash of what they hold."""

def times_drawn(
    seed: int,
    rows: int,
    draws: int,
    order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    cumulated: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
) -> object:
    """How often the tree of this seed has drawn each row."""

class Forest:
    """Trees that answer together."""

    def __init__(self, width: int) -> None: ...
    def add(
        self,
        arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg4: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        arg5: Annotated[NDArray[numpy.float64], dict(order="C", device="cpu", writable=False)],
        arg6: int,
        /,
    ) -> None:
        """One more tree."""

    def sums(
        self,
        X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)],
        draws: int,
        order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        cumulated: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None,
    ) -> tuple:
        """
        The sum of all values for each row; where draws > 0, of trees that have not drawn it, and their number.
        """

    def sums_sparse(
        self,
        data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: int,
        draws: int,
        order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        cumulated: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None,
    ) -> tuple:
        """The same for the rows of a CSR matrix."""

class TreeSteps:
    """A tree as prediction reads it."""

    def apply(self, X: Annotated[NDArray, dict(shape=(None, None), device="cpu", writable=False)]) -> object:
        """The leaf of each row."""

    def apply_sparse(
        self,
        data: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: int,
    ) -> object:
        """The leaf of each row of a CSR matrix."""

def tree_steps(
    arg0: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg2: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg3: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    arg4: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    /,
) -> TreeSteps:
    """A tree made ready for prediction."""

def prune_tree(
    left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    alpha: float,
) -> tuple:
    """
    Prices and costs along the pruning path up to a price, and which nodes are leaves then.
    """

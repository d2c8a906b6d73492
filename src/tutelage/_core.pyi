from collections.abc import Mapping, Sequence
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

class Rows:
    pass

@overload
def rows(arg: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", writable=False)], /) -> Rows: ...
@overload
def rows(arg: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="F", writable=False)], /) -> Rows: ...
@overload
def rows(arg: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", writable=False)], /) -> Rows: ...
@overload
def rows(arg: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="F", writable=False)], /) -> Rows: ...
def csr(
    arg0: Annotated[NDArray[numpy.float64], dict(shape=(None,), writable=False)],
    arg1: Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)],
    arg2: Annotated[NDArray[numpy.int32], dict(shape=(None,), writable=False)],
    arg3: int,
    arg4: int,
    /,
) -> Rows: ...
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

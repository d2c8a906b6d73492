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

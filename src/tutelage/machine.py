"""The machine underneath: how many threads a fit may use, and what it runs on.

A fit cuts its work into blocks whose size does not depend on the number of threads and adds their results in the order
of the blocks. So the number of threads changes how long a fit takes and never a single bit of its result.

The default is the number of processors this process may use, or the environment variable ``TUTELAGE_THREADS``.

>>> from tutelage.machine import get_threads, threads
>>> with threads(1):
...     get_threads()
1
"""

from __future__ import annotations

import os
import platform
import sys
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["get_threads", "set_threads", "show_versions", "threads"]


def _checked(n: object) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"n must be a positive integer, the number of threads; got {n!r}.")
    return n


def get_threads() -> int:
    """Tell how many threads a fit on the calling thread may use.

    Returns
    -------
    int
    """
    from tutelage import _core

    return _core.get_threads()


def set_threads(n: int) -> None:
    """Set how many threads fits may use, for the whole process.

    Parameters
    ----------
    n : int
        At least 1.
    """
    from tutelage import _core

    _core.set_threads(_checked(n))


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Set how many threads fits on the calling thread may use, inside a ``with`` block.

    Parameters
    ----------
    n : int
        At least 1.

    Examples
    --------
    >>> from tutelage import get_threads, threads
    >>> with threads(3):
    ...     get_threads()
    3
    """
    from tutelage import _core

    before = _core.set_thread_override(_checked(n))
    try:
        yield
    finally:
        _core.set_thread_override(before)


def versions() -> dict[str, str]:
    """Collect what ``show_versions`` prints, as label and value."""
    import tutelage
    from tutelage import _core, _native

    table = {
        "tutelage": tutelage.__version__,
        "variant": f"{_core.variant()} (of {', '.join(_native.available_variants())})",
        "compiler": _core.compiler(),
        "threads": f"{_core.get_threads()} (of {os.cpu_count()} processors)",
    }
    for library in _native.blas_libraries()[:1]:
        details = (library["internal_api"], library.get("version"), library.get("architecture"))
        table["BLAS"] = " ".join(str(part) for part in details if part) + ", SciPy's own"
    table["Python"] = sys.version.split()[0]
    table["platform"] = platform.platform()
    for package in ("numpy", "scipy", "scikit-learn", "polars", "narwhals"):
        table[package] = metadata.version(package)
    return table


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def serial_blas() -> Iterator[None]:
    """Hold NumPy's and SciPy's BLAS at one thread inside a ``with`` block.

    For fits that factor small matrices in Python between native passes: threads of two pools would wait for each other,
    a hundred times longer than the work takes, and sums would depend on their number.
    """
    with _blas().limit(limits=1):
        yield


def show_versions() -> None:
    """Print what a bug report should say: the variant of the native core, threads, BLAS, compiler and versions."""
    table = versions()
    width = max(map(len, table))
    for label, value in table.items():
        print(f"{label:<{width}}  {value}")

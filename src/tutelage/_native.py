"""Load the native core: one of several builds of it, whichever is the fastest this processor runs.

On x86-64 the wheel carries the core three times, for the instruction-set levels v2 (SSE4.2), v3 (AVX2 and FMA) and v4
(AVX-512); elsewhere once. The environment variable ``TUTELAGE_VARIANT`` asks for another one than the best.

Users of the core write ``from tutelage import _core``: that module becomes the chosen variant.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib
import importlib.util
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

X86_VARIANTS = ("v4", "v3", "v2")  # the best first


def available_variants() -> list[str]:
    """Tell which variants of the core were built and can run on this processor, the best first."""
    try:
        level = importlib.import_module("tutelage._processor").level()
    except ImportError as error:
        raise ImportError(
            "The native core of tutelage is not built; install the package with pip, or run `make develop` in its "
            "source tree."
        ) from error
    runnable = [v for v in X86_VARIANTS if v <= level] if level.startswith("v") else ["base"]
    return [v for v in runnable if importlib.util.find_spec(f"tutelage._core_{v}") is not None]


def choose_variant() -> str:
    """Choose the best variant, or the one that ``TUTELAGE_VARIANT`` names."""
    available = available_variants()
    if not available:
        raise ImportError(
            "No build of tutelage's native core runs on this processor (it needs x86-64-v2, from 2009 on)."
        )
    wanted = os.environ.get("TUTELAGE_VARIANT", "")
    if wanted and wanted not in available:
        raise ImportError(
            f"TUTELAGE_VARIANT is {wanted!r}, but this machine can load {', '.join(available)}; unset it or name one "
            "of these."
        )
    return wanted or available[0]


def load() -> ModuleType:
    """Import the chosen variant and give it SciPy's BLAS."""
    core = importlib.import_module(f"tutelage._core_{choose_variant()}")
    from scipy.linalg import cython_blas, cython_lapack  # here, since SciPy is imported only when the core is

    core.load_blas(cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__)
    functions = blas_thread_functions()
    if functions is not None:
        core.set_blas_thread_functions(*functions)
    atexit.register(core.stop_threads)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=core.remember_main_thread)
    return core


def blas_libraries() -> list[dict[str, Any]]:
    """Describe the BLAS libraries in this process, SciPy's first, as threadpoolctl finds them."""
    from threadpoolctl import threadpool_info

    found = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return sorted(found, key=lambda library: "scipy" not in library["filepath"].rsplit("site-packages", 1)[-1])


def blas_thread_functions() -> tuple[int, int] | None:
    """Find the addresses of the functions that set and get the number of threads of SciPy's BLAS.

    They are OpenBLAS's, whose names may carry a prefix and a suffix. Another BLAS gives None, and keeps its threads.
    """
    libraries = [library for library in blas_libraries() if library["internal_api"] == "openblas"]
    for library in libraries[:1]:
        handle = ctypes.CDLL(library["filepath"])
        for prefix in ("", "scipy_"):
            for suffix in ("", "64_", "_64", "_64_"):
                try:
                    pair = [getattr(handle, f"{prefix}openblas_{verb}_num_threads{suffix}") for verb in ("set", "get")]
                except AttributeError:
                    continue
                set_address, get_address = (ctypes.cast(f, ctypes.c_void_p).value for f in pair)
                if set_address and get_address:
                    return set_address, get_address
    return None

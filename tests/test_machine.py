"""Threads, signals, forks and the choice of a variant, seen from Python."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

import tutelage
from tutelage import _core, _native


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_threads_scope_is_the_calling_threads_own() -> None:
    outside = tutelage.get_threads()
    seen: list[int] = []
    with tutelage.threads(5):
        assert tutelage.get_threads() == 5
        other = threading.Thread(target=lambda: seen.append(tutelage.get_threads()))
        other.start()
        other.join()
        with tutelage.threads(2):
            assert tutelage.get_threads() == 2
        assert tutelage.get_threads() == 5
    assert seen == [outside]
    assert tutelage.get_threads() == outside


def test_threads_scope_ends_with_an_exception() -> None:
    outside = tutelage.get_threads()
    with pytest.raises(KeyError), tutelage.threads(outside + 3):
        raise KeyError
    assert tutelage.get_threads() == outside


def test_set_threads_holds_for_every_thread() -> None:
    outside = tutelage.get_threads()
    seen: list[int] = []
    try:
        tutelage.set_threads(outside + 4)
        other = threading.Thread(target=lambda: seen.append(tutelage.get_threads()))
        other.start()
        other.join()
    finally:
        tutelage.set_threads(outside)
    assert seen == [outside + 4]


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "two", True, None])
def test_an_impossible_number_of_threads_is_named(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"n must be a positive integer.*got"):
        tutelage.set_threads(wrong)  # type: ignore[arg-type]


def test_the_environment_sets_the_number_of_threads() -> None:
    code = "import tutelage; print(tutelage.get_threads())"
    assert run_python(code, TUTELAGE_THREADS="3").stdout == "3\n"


def test_the_best_variant_is_chosen() -> None:
    if "TUTELAGE_VARIANT" not in os.environ:
        assert _core.variant() == _native.available_variants()[0]
    assert _core.__name__ == "tutelage._core"


def test_every_variant_this_machine_runs_can_be_asked_for() -> None:
    code = "from tutelage import _core; print(_core.variant())"
    for variant in _native.available_variants():
        assert run_python(code, TUTELAGE_VARIANT=variant).stdout == f"{variant}\n"


def test_an_unknown_variant_is_named() -> None:
    answer = run_python("import tutelage._core", TUTELAGE_VARIANT="v9")
    assert answer.returncode != 0
    assert "TUTELAGE_VARIANT is 'v9', but this machine can load" in answer.stderr


def test_a_missing_core_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tutelage._processor", None)
    with pytest.raises(ImportError, match=r"not built; install the package with pip, or run `make develop`"):
        _native.available_variants()


def test_show_versions_names_everything_a_bug_report_needs(capsys: pytest.CaptureFixture[str]) -> None:
    tutelage.show_versions()
    labels = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert labels >= {"tutelage", "variant", "compiler", "threads", "BLAS", "Python", "numpy", "scipy", "scikit-learn"}


def test_a_blas_of_another_signature_is_refused() -> None:
    from scipy.linalg import cython_blas, cython_lapack

    capsules = dict(cython_blas.__pyx_capi__)
    capsules["dgemm"] = capsules["sgemm"]
    with pytest.raises(ImportError, match=r"SciPy's dgemm has the signature void \(char \*.*float \*"):
        _core.load_blas(capsules, cython_lapack.__pyx_capi__)
    _core.load_blas(cython_blas.__pyx_capi__, cython_lapack.__pyx_capi__)


def test_a_parallel_call_costs_microseconds() -> None:
    with tutelage.threads(2):
        assert min(_core.parallel_latency(200, 2) for _ in range(5)) < 1e-3


INTERRUPTED = """
import os, signal, threading, time
import tutelage
from tutelage import _core

class Stopped(Exception):
    pass

def stop(number, frame):
    raise Stopped("by the handler")

# Set either way: a process started in the background by a shell ignores SIGINT.
signal.signal(signal.SIGINT, stop if {handler} else signal.default_int_handler)
tutelage.set_threads({threads})
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    _core.parallel_latency(1 << 50, 3)
except (KeyboardInterrupt, Stopped) as error:
    print(type(error).__name__, error, time.perf_counter() - start < 5)
print(_core.parallel_latency(10, 3) >= 0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("handler", "raised"), [(False, "KeyboardInterrupt"), (True, "Stopped by the handler")])
def test_ctrl_c_ends_a_native_computation(threads: int, handler: bool, raised: str) -> None:
    answer = run_python(INTERRUPTED.format(threads=threads, handler=handler))
    words = answer.stdout.split()
    assert words == [*raised.split(), "True", "True"], answer.stdout + answer.stderr


FORKED = """
import os
import tutelage
from tutelage import _core

tutelage.set_threads(3)
_core.parallel_latency(100, 8)
child = os.fork()
if child == 0:
    _core.parallel_latency(100, 8)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_child_computes() -> None:
    assert run_python(FORKED).stdout == "7\n"

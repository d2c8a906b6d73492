"""The search for neighbours against scikit-learn, scikit-learn-intelex and FAISS: equal answers, one after the other.

    python -m benchmarks.against.neighbours [--data FOLDER] [--rounds N] [--threads N]

Fashion-MNIST (60,000 x 784, 4,000 queries, k = 5) by brute force, and 400,000 rows in 8 dimensions by trees. Each
library fits and searches in turn, N rounds; the fastest round counts, by the clock and by the processor (which a busy
machine does not disturb). Only --threads 1 compares all of them fairly: scikit-learn's trees take one thread in a
process that another one started. FAISS measures in float32 only.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Search = Callable[[Any, Any], Any]  # rows and queries to the row numbers of the neighbours


def contestants(algorithm: str, threads: int) -> dict[str, Search]:
    """Everything that is installed, ours first."""
    import tutelage

    tutelage.set_threads(threads)
    found: dict[str, Search] = {
        "tutelage": lambda X, Q: (
            tutelage.NearestNeighbors(algorithm=algorithm).fit(X).kneighbors(Q, 5, return_distance=False)
        )
    }
    from sklearn.neighbors import NearestNeighbors

    found["scikit-learn"] = lambda X, Q: (
        NearestNeighbors(algorithm=algorithm, n_jobs=threads).fit(X).kneighbors(Q, 5, return_distance=False)
    )
    try:
        from sklearnex.neighbors import NearestNeighbors as Intel

        found["scikit-learn-intelex"] = lambda X, Q: (
            Intel(algorithm=algorithm, n_jobs=threads).fit(X).kneighbors(Q, 5, return_distance=False)
        )
    except ImportError:
        print("scikit-learn-intelex is not installed")
    if algorithm == "brute":
        try:
            import faiss
        except ImportError:
            print("faiss-cpu is not installed")
        else:
            faiss.omp_set_num_threads(threads)

            def flat(X: Any, Q: Any) -> Any:
                index = faiss.IndexFlatL2(X.shape[1])
                index.add(X)
                return index.search(Q, 5)[1]

            found["FAISS flat"] = flat
    return found


def images(folder: Path, name: str) -> Any:
    """Read pictures as rows of float32."""
    import numpy as np

    with gzip.open(folder / "fashion_mnist" / f"{name}-images-idx3-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32)


CASES = {"Fashion-MNIST, brute force": "brute", "8 dimensions, 400,000 rows, trees": "kd_tree"}


def data(algorithm: str, folder: Path) -> tuple[Any, Any]:
    """Give the rows and the queries of a case."""
    import numpy as np

    if algorithm == "brute":
        return images(folder, "train"), images(folder, "test")[:4000]
    random = np.random.default_rng(0)
    return random.normal(size=(400_000, 8)), random.normal(size=(4_000, 8))


def timed(name: str, algorithm: str, folder: Path, rounds: int, threads: int) -> tuple[float, float, Any]:
    """Run one contestant, in a process of its own: the fastest round by clock and by processor, and the answer."""
    search = contestants(algorithm, threads)[name]
    X, Q = data(algorithm, folder)
    clock, processor, answer = [], [], None
    for _ in range(rounds):
        start, used = time.perf_counter(), time.process_time()
        answer = search(X, Q)
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    return min(clock), min(processor), answer


def race(title: str, algorithm: str, folder: Path, rounds: int, threads: int) -> None:
    """Run every contestant in turn and print its fastest round."""
    import numpy as np

    print(f"\n{title}, {threads} threads")
    first = None
    for name in contestants(algorithm, threads):
        # Libraries of one process take threads from each other.
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            clock, processor, answer = alone.apply(timed, (name, algorithm, folder, rounds, threads))
        first = first or (clock, processor, answer)
        print(
            f"{name:22} {clock:7.3f} s ({clock / first[0]:5.2f})   processor {processor:7.3f} s "
            f"({processor / first[1]:5.2f})   equal rows {float((np.asarray(answer) == first[2]).mean()):.4%}"
        )


def main() -> None:
    """Read the command line and race."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared" / "data")
    reader.add_argument("--rounds", type=int, default=2)
    reader.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    words = reader.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # before anything loads them
        os.environ[name] = str(words.threads)
    for title, algorithm in CASES.items():
        race(title, algorithm, words.data, words.rounds, words.threads)


if __name__ == "__main__":
    main()

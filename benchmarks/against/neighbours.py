"""The search for neighbours against scikit-learn, scikit-learn-intelex and FAISS: equal answers, one after the other.

    python -m benchmarks.against.neighbours [--data FOLDER] [--rounds N] [--threads N]

Fashion-MNIST (60,000 x 784, 4,000 queries, k = 5) by brute force, and 400,000 rows in 8 dimensions by trees. Each
library fits and searches in turn, N rounds; the fastest round counts, by the clock and by the processor (which a busy
machine does not disturb; compare it with --threads 1). FAISS measures in float32 only.
"""

from __future__ import annotations

import argparse
import gzip
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


def race(title: str, X: Any, Q: Any, algorithm: str, rounds: int, threads: int) -> None:
    """Run every contestant in turn and print its fastest round."""
    import numpy as np

    print(f"\n{title}, {threads} threads")
    libraries = contestants(algorithm, threads)
    clock = dict.fromkeys(libraries, np.inf)
    processor = dict.fromkeys(libraries, np.inf)
    answers: dict[str, Any] = {}
    for _ in range(rounds):
        for name, search in libraries.items():
            start, used = time.perf_counter(), time.process_time()
            answers[name] = np.asarray(search(X, Q))
            clock[name] = min(clock[name], time.perf_counter() - start)
            processor[name] = min(processor[name], time.process_time() - used)
    for name, answer in answers.items():
        equal = float((answer == answers["tutelage"]).mean())
        ratio = clock[name] / clock["tutelage"], processor[name] / processor["tutelage"]
        print(
            f"{name:22} {clock[name]:7.3f} s ({ratio[0]:5.2f})   "
            f"processor {processor[name]:7.3f} s ({ratio[1]:5.2f})   equal rows {equal:.4%}"
        )
    products = 2 * len(X) * len(Q) * X.shape[1]
    print(f"all products would be {products / 1e9:.0f} GFlop: {products / clock['tutelage'] / 1e9:.0f} GFlop/s of them")


def main() -> None:
    """Read the command line and race."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared" / "data")
    reader.add_argument("--rounds", type=int, default=2)
    reader.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    words = reader.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # before anything loads them
        os.environ[name] = str(words.threads)
    import numpy as np

    X, Q = images(words.data, "train"), images(words.data, "test")[:4000]
    race("Fashion-MNIST, brute force", X, Q, "brute", words.rounds, words.threads)
    random = np.random.default_rng(0)
    X, Q = random.normal(size=(400_000, 8)), random.normal(size=(4_000, 8))
    race("8 dimensions, 400,000 rows, trees", X, Q, "kd_tree", words.rounds, words.threads)


if __name__ == "__main__":
    main()

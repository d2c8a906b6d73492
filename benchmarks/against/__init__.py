"""We and the peers, side by side: the same objective, reached to the same accuracy, in the same process.

``python -m benchmarks.against`` runs every case and writes ``benchmarks/RESULTS.md``. A case is a data set, an
objective and the contestants who can minimise it. What is compared is the time to the same *objective*, never to the
same ``tol``, which means something else in every library:

1. Our certificate at a tight tolerance gives the optimum; whoever finds a lower value replaces it.
2. Each contestant, in a process of its own, tightens its tolerance tenfold until its objective (one NumPy function, in
   float64) is within a relative 1e-6 of that optimum. The memory of the fit is measured there: the highest resident set
   during the fit above the one before it. Who does not get there within the time limit is listed as such.
3. Those who got there are timed in one process, in turns, at the loosest tolerance that was enough; the best time
   counts. Compilation (numba, first calls) is done before and is not counted.
"""

import os

# Two threads for all, said before any library starts its own.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "TUTELAGE_THREADS"):
    os.environ.setdefault(_name, "2")

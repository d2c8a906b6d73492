"""Neighbours that are probably the nearest: by an inverted file, for those who ask for it.

The rows are divided into cells around centres that k-means finds on a sample; a query looks into the cells whose
centres are nearest and nowhere else. What it finds there is measured again in float64 and ordered as everywhere in this
chapter, so the distances are right and ties go to the lower row number; what may be missing is a neighbour behind the
border of a cell that was not visited.

With n rows there are 4 sqrt(n) cells, of which a query visits one in sixteen, eight at least: the work of brute force
falls by about that factor. Everything is seeded and the cells are searched one by one, so the same rows and queries get
the same answer each time.

The library is FAISS (Johnson, Douze, Jégou 2021), which is not installed with Tutelage: ``pip install
'tutelage[approximate]'``. Every other algorithm is exact, and 'auto' never comes here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tutelage.base import Floats

SPARE = 8  # candidates beyond those wanted: float32 may order the last of them wrongly
VISITED = 16  # one cell in so many is visited
BLOCK = 2048  # queries measured at a time


class InvertedFile:
    """Rows in cells.

    Parameters
    ----------
    rows : array of shape (n, d)
        The rows; distances are Euclidean.
    """

    def __init__(self, rows: Floats) -> None:
        faiss = _library()
        n, d = rows.shape
        self._rows = np.asarray(rows, dtype=np.float64)
        self._mean = self._rows.mean(axis=0)  # far from the origin float32 has few digits left
        cells = int(np.clip(4 * np.sqrt(n), 1, max(1, n // 40)))
        self._cells = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, cells)
        self._cells.cp.min_points_per_centroid = 1
        narrow = self._narrow(self._rows)
        self._cells.train(narrow)
        self._cells.add(narrow)
        self._cells.nprobe = min(cells, max(8, cells // VISITED))

    def _narrow(self, rows: Any) -> Any:
        return np.ascontiguousarray(rows - self._mean, dtype=np.float32)

    def nearest(self, queries: Any, k: int, *, exclude: bool = False) -> tuple[Floats, Any]:
        """Find k rows that are probably the nearest of each query.

        Parameters
        ----------
        queries : array of shape (m, d), or None for the rows themselves
            The queries.
        k : int
            How many.
        exclude : bool, default=False
            Whether query i is row i and not its own neighbour.

        Returns
        -------
        distances, rows : arrays of shape (m, k)
        """
        asked = self._rows if queries is None else np.asarray(queries, dtype=np.float64)
        wanted = min(k + exclude + SPARE, len(self._rows))
        found = self._cells.search(self._narrow(asked), wanted)[1]
        short = (found >= 0).sum(axis=1) < k + exclude
        if short.any():  # too few rows in the cells visited: these queries look into all
            probes, self._cells.nprobe = self._cells.nprobe, self._cells.nlist
            found[short] = self._cells.search(self._narrow(asked[short]), wanted)[1]
            self._cells.nprobe = probes
        distances, rows = np.empty((len(asked), k)), np.empty((len(asked), k), dtype=np.intp)
        for first in range(0, len(asked), BLOCK):
            here = slice(first, first + BLOCK)
            near = found[here]
            gaps = np.sqrt(((self._rows[near] - asked[here, None]) ** 2).sum(axis=2))
            gaps[near < 0] = np.inf
            if exclude:
                gaps[near == np.arange(first, first + len(near))[:, None]] = np.inf
            order = np.lexsort((near, gaps), axis=1)[:, :k]
            distances[here] = np.take_along_axis(gaps, order, axis=1)
            rows[here] = np.take_along_axis(near, order, axis=1)
        return distances, rows


def _library() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            "algorithm='approximate' needs the library FAISS, which is not installed: pip install "
            "'tutelage[approximate]', or choose algorithm='auto', which is exact."
        ) from error
    return faiss

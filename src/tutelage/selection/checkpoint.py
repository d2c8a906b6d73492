"""What a search has found so far, in a file from which it goes on.

The file is JSON: a fingerprint of the search (estimator, scoring, folds, rows and targets) and, for each finished
candidate, its parameters in words and its scores. It is written beside its place and moved into it, so that at every
moment a whole file stands there: a search that is killed loses at most the candidates of the last second. A file of
another search is refused rather than mixed with this one.

>>> import pathlib, tempfile
>>> from tutelage.selection.fitting import Outcome
>>> place = pathlib.Path(tempfile.mkdtemp()) / "search.json"
>>> first = Checkpoint(place, "abc")
>>> first.keep({"C": 1.0}, [Outcome(test=0.5)])
>>> first.write()
>>> Checkpoint(place, "abc").find({"C": 1.0})[0].test
0.5
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib  # type: ignore[import-untyped]

from tutelage.selection.fitting import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

# Seconds between two writings of the file.
PAUSE = 1.0
KEPT = ("test", "train", "fit_time", "score_time", "error")


def fingerprint(*parts: Any) -> str:
    """Give a word that differs where anything of these differs.

    Examples
    --------
    >>> fingerprint([1.0, 2.0]) == fingerprint([1.0, 2.0]), fingerprint([1.0]) == fingerprint([2.0])
    (True, False)
    """
    return str(joblib.hash(parts))


class Checkpoint:
    """The file of a search.

    Parameters
    ----------
    place : path
        The file; it need not exist.
    mark : str
        The fingerprint of the search.
    """

    def __init__(self, place: str | os.PathLike[str], mark: str) -> None:
        self.place, self.mark = Path(place), mark
        self.found: dict[str, list[dict[str, Any]]] = {}
        self._last = -PAUSE
        if not self.place.exists():
            if not self.place.parent.is_dir():
                raise FileNotFoundError(
                    f"The folder of checkpoint={str(self.place)!r} does not exist; make it, or name another."
                )
            return
        try:
            told = json.loads(self.place.read_text("utf-8"))
            theirs, self.found = told["search"], told["candidates"]
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"checkpoint={str(self.place)!r} is not a file of a search; remove it, or name another."
            ) from None
        if theirs != mark:
            raise ValueError(
                f"checkpoint={str(self.place)!r} belongs to a search of another estimator, scoring, folds or data; "
                "remove it to begin anew, or name another file."
            )

    def find(self, parameters: dict[str, Any]) -> list[Outcome] | None:
        """Give what is known of a candidate, or None."""
        known = self.found.get(fingerprint(parameters))
        return None if known is None else [Outcome(**{name: one[name] for name in KEPT}) for one in known]

    def keep(self, parameters: dict[str, Any], outcomes: Sequence[Outcome]) -> None:
        """Remember a candidate; the file is written once a second at most."""
        self.found[fingerprint(parameters)] = [{name: getattr(one, name) for name in KEPT} for one in outcomes]
        if time.monotonic() - self._last >= PAUSE:
            self.write()

    def write(self) -> None:
        """Write the file beside its place and move it there."""
        beside = self.place.with_name(f"{self.place.name}.{os.getpid()}.part")
        try:
            beside.write_text(json.dumps({"search": self.mark, "candidates": self.found}), "utf-8")
            beside.replace(self.place)
        finally:
            beside.unlink(missing_ok=True)
        self._last = time.monotonic()

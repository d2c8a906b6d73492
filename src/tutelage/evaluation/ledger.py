"""The ledger of an exam: a file of lines, one for each opening, that several processes may write to.

A line is written under a lock of the file beside it, after the lines that are there have been read, so that the number
of an opening is its place in the ledger, whoever opened. One ledger may serve many exams; each knows its lines by a key
made from the sealed rows.

A ledger without a name lives in a temporary folder until the process that made it ends; what an exam knew of it travels
with its pickle. A ledger with a name stays.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     ledger = Ledger(f"{folder}/exam.jsonl")
...     with ledger.held("key") as lines:
...         lines.append({"value": 0.5})
...     ledger.read("key"), ledger.read("another")
([{'value': 0.5}], [])
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Ledger:
    """A file of openings.

    Parameters
    ----------
    path : str or path, optional
        The file; one in a temporary folder, gone with this process, if not given.
    known : sequence of (key, line), optional
        What is already known to have happened, for a file that has been lost.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, known: tuple[tuple[str, Any], ...] = ()) -> None:
        self.lasting = path is not None
        if path is None:
            handle, name = tempfile.mkstemp(prefix="exam-", suffix=".jsonl")
            os.close(handle)
            weakref.finalize(self, _remove, name, os.getpid())
            path = name
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise ValueError(
                f"ledger must be a file in a folder that exists, found {self.path!s}; make the folder first."
            )
        if known and not self.path.exists():
            with _locked(self.path):
                if not self.path.exists():
                    self._write(known)

    def _write(self, lines: tuple[tuple[str, Any], ...]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"exam": key, **line}) + "\n" for key, line in lines)
            file.flush()
            if self.lasting:  # a count that is to outlive the process is to outlive a power cut too
                os.fsync(file.fileno())

    def read(self, key: str) -> list[dict[str, Any]]:
        """Give the openings of an exam, in their order.

        Parameters
        ----------
        key : str
            The exam's.
        """
        if not self.path.exists():
            return []
        lines = []
        for number, text in enumerate(self.path.read_text("utf-8").splitlines(), 1):
            try:
                line = json.loads(text)
                mine = line.pop("exam") == key
            except (ValueError, KeyError, AttributeError, TypeError):
                raise ValueError(
                    f"The ledger {self.path!s} cannot be read: line {number} is not one of an exam's. Restore the "
                    f"file; a "
                    "count that is not known cannot be reported."
                ) from None
            if mine:
                lines.append(line)
        return lines

    @contextlib.contextmanager
    def held(self, key: str) -> Iterator[list[dict[str, Any]]]:
        """Hold the ledger, so that nobody else writes; lines appended to the list are written at the end.

        Parameters
        ----------
        key : str
            The exam's.
        """
        with _locked(self.path):
            lines = self.read(key)
            before = len(lines)
            yield lines
            self._write(tuple((key, line) for line in lines[before:]))


def _remove(name: str, owner: int) -> None:
    if os.getpid() == owner:  # not a forked child, which ends before its parent
        for path in (Path(name), _lock_file(Path(name))):
            path.unlink(missing_ok=True)


def _lock_file(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait for the lock of a file."""
    with _lock_file(path).open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)

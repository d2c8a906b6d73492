"""How far a search is, and how long it will still take; nothing where nobody looks.

The time left is the mean time of the candidates so far, times those that are left. Off a terminal nothing is written
unless it was asked for.

>>> import io
>>> place = io.StringIO()
>>> progress = Progress(True, place)
>>> progress(1, 4)
>>> progress.close()
>>> place.getvalue().strip().startswith("1 of 4 candidates")
True
"""

from __future__ import annotations

import sys
import time
from typing import Any

# Seconds between two lines: a terminal is slow, and so is its reader.
PAUSE = 0.2


class Progress:
    """A line that says how far a search is.

    Parameters
    ----------
    wanted : bool or None
        Whether to write; None: if `stream` is a terminal.
    stream : file, optional
        Where to write; standard error without it.
    """

    def __init__(self, wanted: bool | None = None, stream: Any = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        terminal = bool(getattr(self.stream, "isatty", lambda: False)())
        self.active = terminal if wanted is None else bool(wanted)
        self.begun = time.monotonic()
        self._last = 0.0
        self._first: int | None = None
        self._written = 0

    def __call__(self, done: int, total: int) -> None:
        """Say that so many of so many candidates are done."""
        if not self.active:
            return
        if self._first is None:
            self._first = done - 1
        now = time.monotonic()
        if done < total and now - self._last < PAUSE:
            return
        self._last = now
        left = (now - self.begun) / max(done - self._first, 1) * (total - done)
        text = f"{done} of {total} candidates, {clock(left)} left" if done < total else f"{total} candidates"
        self.stream.write("\r" + text.ljust(self._written))
        self.stream.flush()
        self._written = len(text)

    def close(self) -> None:
        """End the line."""
        if self._written:
            self.stream.write("\n")
            self.stream.flush()
            self._written = 0


def clock(seconds: float) -> str:
    """Write a duration as a clock does.

    Examples
    --------
    >>> clock(75), clock(3661)
    ('1:15', '1:01:01')
    """
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

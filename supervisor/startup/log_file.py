"""The log file that a service manager appends standard error to, which launchd never rotates."""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
from pathlib import Path

from supervisor.processes.timers import Timers

log = logging.getLogger(__name__)

LARGEST = 10_000_000
"""Bytes from which the file is emptied; the file with the suffix `.1` then has them."""

LOOK_EVERY = 600.0
"""Seconds between two looks at the file's size."""


VARIABLE = "KOKORO_LIVE_SERVICE_LOG"
"""Environment variable with the file's path, in the service's definition."""


def keep_small(path: Path, timers: Timers) -> None:
    """Rotate the log file now and from time to time, if this process's standard error is appended to it."""

    def look() -> None:
        try:
            rotate(path)
        except OSError as error:
            log.warning("%s can't be rotated: %s", path, error.strerror)
        timers.after(LOOK_EVERY, look)

    if _is_standard_error(path):
        look()


def _is_standard_error(path: Path) -> bool:
    """True if standard error is that file, and every write to it goes to the file's end."""
    try:
        same = os.path.samestat(os.fstat(2), path.stat())
        return same and bool(fcntl.fcntl(2, fcntl.F_GETFL) & os.O_APPEND)
    except OSError:
        return False


def rotate(path: Path, largest: int = LARGEST) -> None:
    """Move the lines of a file of `largest` bytes or more into the file `.1`, whose own are dropped.

    All processes of a server write to the one open file, so it is copied and emptied in place. A line that is written
    between the copy's last byte and the emptying is lost.

    Raises:
        OSError: there is no room for the copy, or the files can't be used; the log stays as it is.
    """
    if path.stat().st_size < largest:
        return
    unfinished = path.with_name(f"{path.name}.1.part")
    with path.open("r+b") as file, unfinished.open("wb") as earlier:
        shutil.copyfileobj(file, earlier)
        earlier.flush()
        file.truncate(0)
    unfinished.replace(path.with_name(f"{path.name}.1"))

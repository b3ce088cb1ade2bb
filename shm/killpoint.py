"""Kill points: named places at which a test can have a process killed. A kill point does nothing without the test
setting.

`KOKORO_LIVE_TEST_KILLPOINTS` names a folder. A file in it named `ROLE.NAME` (`worker.written`, for example) holds a
number n: the n-th passage of that place kills its process by SIGKILL. The file is removed first, so the next process
lives.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

VARIABLE = "KOKORO_LIVE_TEST_KILLPOINTS"

_folder = os.environ.get(VARIABLE)


def killpoint(name: str, last_deed: Callable[[], object] | None = None) -> None:
    """Kill this process, after calling `last_deed`, if a test has ordered it. Otherwise it costs one comparison."""
    if _folder is not None:
        _passed(Path(_folder), name, last_deed)


def _passed(folder: Path, name: str, last_deed: Callable[[], object] | None) -> None:
    import multiprocess  # imported here, so that other users don't pay for it

    role, _, _ = multiprocess.current_process().name.partition("[")
    order = folder / f"{role}.{name}"
    try:
        passages = int(order.read_text() or 1)
        if passages > 1:
            order.write_text(str(passages - 1))
            return
        order.unlink()  # the first of several threads to get here dies; the others find no file
    except FileNotFoundError:
        return
    if last_deed is not None:
        last_deed()
    os.kill(os.getpid(), signal.SIGKILL)

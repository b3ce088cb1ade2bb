"""macOS imitated on Linux: what macOS lacks is taken away from the project's own code and its tests.

Libraries and the standard library have chosen their ways for Linux and keep them: `sys.platform`, `platform.system` and
the files of `/proc` answer by who asks. Names in modules, and limits of sockets, pipes, files and shared memory, hold
for all.
"""

import sys
from types import FrameType

PROGRAMS = {"__main__", "__mp_main__"}
ROOMS = PROGRAMS | {
    "kokoro_live",
    "shm",
    "worker",
    "frontend",
    "books",
    "client",
    "player",
    "supervisor",
    "text",
    "benchmarks",
    "tests",
}
"""Top-level modules to which this is macOS. `__main__` is the project's command, or a test's script."""


def is_ours(frame: FrameType | None) -> bool:
    """True if the frame's own module is one of the project's."""
    return frame is not None and _root(frame) in ROOMS


def asked_by_us() -> bool:
    """True if the nearest module on the stack that isn't the standard library's or this package's is the project's."""
    frame: FrameType | None = sys._getframe(1)
    while frame and (_root(frame) in sys.stdlib_module_names or _root(frame) == "darwin"):
        if _root(frame) in ROOMS:
            break
        frame = frame.f_back
    return is_ours(frame)


def _root(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]

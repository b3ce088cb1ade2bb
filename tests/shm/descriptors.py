"""The descriptors that processes hold, as the kernel lists them (Linux's /proc)."""

import contextlib
import gc
import os
from collections.abc import Iterator
from pathlib import Path

import psutil


def open_descriptors() -> int:
    gc.collect()  # or what an earlier test left to the collector could vanish between two counts
    gc.freeze()  # the next collection looks at later objects only: this one has seen thousands of tests
    return int(psutil.Process().num_fds())


def holders(fd: int) -> list[tuple[int, str]]:
    """Every descriptor of what `fd` is one of, in this process and its descendants: (pid, read, write or both)."""
    wanted = os.fstat(fd).st_ino
    me = psutil.Process()
    return sorted(
        (process.pid, _mode(process.pid, number))
        for process in [me, *me.children(recursive=True)]
        for number in _numbers(process.pid, wanted)
    )


def arenas(pid: int) -> int:
    """Number of descriptors of arenas that a process holds: a mapping keeps one of its own."""
    return sum("kokoro-live-pcm" in link for link in _links(pid))


def _links(pid: int) -> Iterator[str]:
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own descriptor
            yield str(entry.readlink())


def _numbers(pid: int, inode: int) -> list[str]:
    found = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            if entry.stat().st_ino == inode:
                found.append(entry.name)
    return found


def _mode(pid: int, number: str) -> str:
    flags = next(
        line for line in Path(f"/proc/{pid}/fdinfo/{number}").read_text().splitlines() if line.startswith("flags:")
    )
    return {os.O_RDONLY: "read", os.O_WRONLY: "write", os.O_RDWR: "both"}[int(flags.split()[1], 8) & os.O_ACCMODE]

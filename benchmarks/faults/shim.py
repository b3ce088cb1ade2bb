"""The library that makes calls fail (`shim.c`), as Python sees it: its build, and the memory that steers it."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NoReturn

SOURCE = Path(__file__).with_name("shim.c")
_LINUX = sys.platform == "linux"
CONTROL, ACTIVE = "KOKORO_LIVE_FAULTS", "KOKORO_LIVE_FAULTS_ACTIVE"


class Group(IntEnum):
    """Calls that are counted together, in the order of `enum group`."""

    WRITE = 0
    OPEN = 1
    RENAME = 2
    SYNC = 3
    READ = 4
    DESCRIPTOR = 5
    TRANSFER_IN = 6
    TRANSFER_OUT = 7
    MEMORY = 8
    PROCESS = 9
    THREAD = 10
    CLOCK = 11


class Mode(IntEnum):
    FAIL = 0
    SHORT = 1
    JUMP = 2
    RECORD = 3
    SITES = 4


_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Kind:
    """One way in which calls of a group fail."""

    name: str
    group: Group
    error: int = 0
    mode: Mode = Mode.FAIL
    jump: int = 0
    """Seconds by which the wall clock is off from the nth reading on."""


POWER = Kind("power cut", Group.SYNC, mode=Mode.RECORD)
"""No call fails: the disk is left as a power cut may leave it."""

SITES = Kind("sites", Group.SYNC, mode=Mode.SITES)
"""No call fails: each call's site is noted."""

KINDS = (
    Kind("write ENOSPC", Group.WRITE, errno.ENOSPC),
    Kind("write EIO", Group.WRITE, errno.EIO),
    Kind("open ENOSPC", Group.OPEN, errno.ENOSPC),
    Kind("open EIO", Group.OPEN, errno.EIO),
    Kind("rename ENOSPC", Group.RENAME, errno.ENOSPC),
    Kind("rename EIO", Group.RENAME, errno.EIO),
    Kind("fsync ENOSPC", Group.SYNC, errno.ENOSPC),
    Kind("fsync EIO", Group.SYNC, errno.EIO),
    Kind("read EIO", Group.READ, errno.EIO),
    Kind("descriptor EMFILE", Group.DESCRIPTOR, errno.EMFILE),
    Kind("read EINTR", Group.TRANSFER_IN, errno.EINTR),
    Kind("write EINTR", Group.TRANSFER_OUT, errno.EINTR),
    Kind("short read", Group.TRANSFER_IN, mode=Mode.SHORT),
    Kind("short write", Group.TRANSFER_OUT, mode=Mode.SHORT),
    Kind("mmap ENOMEM", Group.MEMORY, errno.ENOMEM),
    Kind("fork EAGAIN", Group.PROCESS, errno.EAGAIN),
    Kind("clock ahead", Group.CLOCK, mode=Mode.JUMP, jump=400 * _DAY),
    Kind("clock back", Group.CLOCK, mode=Mode.JUMP, jump=-3 * _DAY),
    POWER,
)


class _Control(ctypes.Structure):
    """`struct control`."""

    _fields_ = (
        ("armed", ctypes.c_int32),
        ("group", ctypes.c_int32),
        ("mode", ctypes.c_int32),
        ("error", ctypes.c_int32),
        ("nth", ctypes.c_int64),
        ("jump", ctypes.c_int64),
        ("counts", ctypes.c_int64 * len(Group)),
        ("fired", ctypes.c_int64),
        ("call", ctypes.c_char * 32),
        ("path", ctypes.c_char * 256),
        ("prefix", ctypes.c_char * 256),
        ("site", ctypes.c_char * 512),
    )


def buildable() -> str:
    """The reason why the library can't be built and used here; empty if it can."""
    if not _LINUX:
        return "calls are failed by LD_PRELOAD, which is Linux's"
    return "" if shutil.which("cc") else "there is no C compiler (cc)"


class Shim:
    """The library, preloaded into this process and all that it starts."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds what `preloaded` has put there."""
        self.log = folder / "control.log"
        """Where changes, or sites, are recorded."""
        self._file = (folder / "control").open("r+b")
        self._memory = mmap.mmap(self._file.fileno(), ctypes.sizeof(_Control))
        self.control = _Control.from_buffer(self._memory)
        self._library = ctypes.CDLL(str(folder / "shim.so"))

    @contextmanager
    def armed(self, prefix: Path, kind: Kind = KINDS[0], nth: int = 0, site: bytes = b"") -> Iterator[None]:
        """Have the nth call of that site fail within the block, or of all; 0: none. `prefix` limits the files."""
        control = self.control
        control.group, control.mode, control.error, control.jump = kind.group, kind.mode, kind.error, kind.jump
        control.prefix, control.nth, control.fired, control.site = os.fsencode(prefix), nth, 0, site
        control.call = control.path = b""
        control.counts = type(control.counts)()
        control.armed = 1
        try:
            yield
        finally:
            control.armed = 0

    def sites(self) -> dict[Group, list[tuple[bytes, int]]]:
        """Take the sites that were noted, in the order of their first calls, with their numbers of calls."""
        noted = Counter(self.log.read_bytes().splitlines() if self.log.exists() else ())
        self.log.unlink(missing_ok=True)
        found: dict[Group, list[tuple[bytes, int]]] = {group: [] for group in Group}
        for line, count in noted.items():
            group, _, site = line.partition(b"\t")
            found[Group(int(group))].append((site, count))
        return found

    @property
    def failed(self) -> str:
        """The call that failed, with its path; empty if none did."""
        if not self.control.fired:
            return ""
        return f"{self.control.call.decode()} {self.control.path.decode(errors='replace')}".strip()

    def mean_this_process(self, meant: bool = True) -> None:
        self._library.faults_active(int(meant))

    @contextmanager
    def exempt(self) -> Iterator[None]:
        """Calls of this thread aren't meant."""
        self._library.faults_exempt(1)
        try:
            yield
        finally:
            self._library.faults_exempt(0)


def preloaded(folder: Path) -> Mapping[str, str]:
    """Build the library in `folder`; the environment of a program that is to have it.

    Raises:
        subprocess.CalledProcessError: the compiler refuses it.
    """
    library = folder / "shim.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    (folder / "control").write_bytes(bytes(ctypes.sizeof(_Control)))
    # A child is forked for each call that fails, and a library's threads would be missing in it.
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return alone | {"LD_PRELOAD": str(library), CONTROL: str(folder / "control")}


def run_again(folder: Path, module: str, arguments: list[str]) -> NoReturn:
    """Execute this module again with the library."""
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], {**os.environ, **preloaded(folder)})

"""Anonymous shared memory: file descriptors without names, so that nothing remains after a kill.

Linux has `memfd_create`; elsewhere (macOS, where this code has never been run) a POSIX shared-memory object is unlinked
as soon as it is created. Every page is reserved at once, so that too little memory is an error here, at the start, and
never a SIGBUS later. The kernel itself would kill a process rather than refuse, so the available memory is read first.
"""

from __future__ import annotations

import errno
import mmap
import os
import secrets
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path


class NoMemory(OSError):
    """The shared memory can't be reserved. The message names the size that was requested."""


def reserve(size: int) -> int:
    """Reserve `size` bytes of zeroed shared memory; returns its file descriptor, which children don't inherit unless it
    is passed on.

    Raises:
        NoMemory: the machine (or the cgroup, or RLIMIT_FSIZE) doesn't have that much.
    """
    fd = _nameless()
    try:
        if size > available():
            raise OSError(errno.ENOMEM, f"{available() / 1e6:.0f} MB are available")
        os.ftruncate(fd, size)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(fd, 0, size)
    except OSError as error:
        os.close(fd)
        raise NoMemory(
            error.errno, f"can't reserve {size / 1e6:.0f} MB of shared memory for the PCM arena: {error.strerror}"
        ) from error
    return fd


def sparse(name: str) -> int:
    """Shared memory without size, whose pages take memory once they are written: it outlives each process that maps it.
    Returns its descriptor, which children don't inherit unless it is passed on.

    Raises:
        OSError: the system has no such memory.
    """
    if not hasattr(os, "memfd_create"):  # and no other kernel has been shown to count what it has taken
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    fd: int = os.memfd_create(f"kokoro-live-{name}")
    return fd


def available() -> int:
    """Number of bytes that can be taken without another process being killed for them, by the machine's and the
    cgroup's limits."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(pages, _meminfo(pages), _cgroup(pages))


def _meminfo(otherwise: int) -> int:
    """The kernel's estimate of available memory in bytes, on Linux; `otherwise` elsewhere."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return otherwise


def _cgroup(otherwise: int) -> int:
    """Bytes that this process's control groups may still take (a container's, a service manager's)."""
    return min([otherwise, *(room for group in _memory_groups() if (room := _room(*group)) is not None)])


def _memory_groups() -> Iterator[tuple[Path, str, str, str]]:
    """Folder of each control group, from this process's own to the root, with the names of its limit file, its usage
    file and its figure for reclaimable file cache.

    Version 2 is read, and version 1 where it still has the memory controller. Inside a container the path may be the
    host's, and then only the root exists.
    """
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        lines = ["0::/"]
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root, files = Path("/sys/fs/cgroup"), ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = Path("/sys/fs/cgroup/memory")
            files = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        folder = root / path.lstrip("/")
        for group in (folder, *folder.parents):
            if group.is_relative_to(root):
                yield group, *files


def _room(group: Path, limit_file: str, usage_file: str, cache: str) -> int | None:
    """Number of bytes that are free or hold reclaimable file cache; None if the group has no limit."""
    try:
        limit = (group / limit_file).read_text().strip()
        used = int((group / usage_file).read_text())
        if limit == "max":
            return None
        return int(limit) - used + _cached(group / "memory.stat", cache)
    except (OSError, ValueError):
        return None


def _cached(statistics: Path, name: str) -> int:
    try:
        lines = statistics.read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.split()[0] == name)
    except (OSError, StopIteration):
        return 0


def _nameless() -> int:
    if hasattr(os, "memfd_create"):
        fd: int = os.memfd_create("kokoro-live-pcm")
        return fd
    import _posixshmem  # CPython's own binding, which gives the descriptor without a resource tracker

    name = f"/kokoro-live-{secrets.token_hex(8)}"
    fd = _posixshmem.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600)
    _posixshmem.shm_unlink(name)
    return fd


_HEAD = struct.Struct("<QII")
HEAD_BYTES = _HEAD.size


def newest(memory: mmap.mmap | bytearray, at: int, copy_bytes: int) -> tuple[int, bytes]:
    """The newer of two copies that are right: its generation and payload; 0 and nothing if none is.

    Args:
        at: the first copy's first byte.
        copy_bytes: bytes of one copy.
    """
    found = (0, b"")
    for start in (at, at + copy_bytes):
        generation, length, crc = _HEAD.unpack_from(memory, start)
        if generation > found[0] and 0 < length <= copy_bytes - HEAD_BYTES:
            payload = bytes(memory[start + HEAD_BYTES : start + HEAD_BYTES + length])
            if zlib.crc32(payload, generation & 0xFFFFFFFF) == crc:
                found = generation, payload
    return found


def copy_of(generation: int, payload: bytes, copy_bytes: int) -> tuple[int, bytes]:
    """Place of a record of that generation, in bytes from the first copy's first byte on, and its bytes."""
    head = _HEAD.pack(generation, len(payload), zlib.crc32(payload, generation & 0xFFFFFFFF))
    return (generation % 2) * copy_bytes, head + payload

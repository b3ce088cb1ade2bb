"""Objects of `shm_open`: names of up to 31 bytes, a size that is set once and rounded up to pages."""

import errno
import os
from pathlib import Path

from darwin.limits import PAGE

NAME_BYTES = 31
"""`PSHMNAMLEN`."""


def imitate() -> None:
    truncate, folder = os.ftruncate, Path("/dev/shm")
    device = folder.stat().st_dev if folder.exists() else None

    def once(fd: int, length: int) -> None:
        held = os.fstat(fd)
        if held.st_dev != device:
            return truncate(fd, length)
        if held.st_size:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return truncate(fd, -(-length // PAGE) * PAGE)

    os.ftruncate = once
    try:
        import _posixshmem
    except ImportError:
        return
    shm_open = _posixshmem.shm_open

    def opened(path: str, flags: int, mode: int = 0o777) -> int:
        if len(os.fsencode(path)) > NAME_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        return int(shm_open(path, flags, mode))

    _posixshmem.shm_open = opened

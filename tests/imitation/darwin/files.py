"""Folders that macOS lacks, and paths of /dev/fd, which duplicate a descriptor there: its offset is shared."""

import builtins
import errno
import io
import os
import re
from collections.abc import Callable
from typing import Any

from darwin import asked_by_us

LACKING = re.compile(r"/(proc|sys|run|dev/(shm|full))(/|$)")
DESCRIPTOR = re.compile(r"/dev/fd/(\d+)$")
LOOKS = "access chdir listdir lstat mkdir open readlink remove rename replace rmdir scandir stat statvfs unlink utime"


class _Opening:
    """An opener. An instance, unlike a function, doesn't become a method where a class holds it."""

    def __init__(self, original: Callable[..., Any], duplicate: bool) -> None:
        self._original = original
        self._duplicate = duplicate

    def __call__(self, path: Any, *args: Any, **options: Any) -> Any:
        if isinstance(path, (str, bytes, os.PathLike)):
            name = os.fsdecode(path)
            if LACKING.match(name) and asked_by_us():
                if self._original is _access:
                    return False
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
            if self._duplicate and (found := DESCRIPTOR.match(name)):
                copy = os.dup(int(found[1]))
                return copy if self._original is _open else self._original(copy, *args, **options)
        return self._original(path, *args, **options)


_open, _access = os.open, os.access


def imitate() -> None:
    for name in LOOKS.split():
        setattr(os, name, _Opening(getattr(os, name), name == "open"))
    # Sets of functions that take a descriptor, or have other abilities, hold the originals.
    for abilities in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        abilities.update(each for name in LOOKS.split() if (each := getattr(os, name))._original in abilities)
    builtins.open = io.open = _Opening(builtins.open, True)  # type: ignore[assignment]

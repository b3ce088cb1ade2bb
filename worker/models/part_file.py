"""Part files: the growing file of a download, locked while it grows."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from types import TracebackType

from worker.models.fetch_error import FetchError


class PartFile:
    """A part file, owned by one process at a time through `flock`, which the kernel releases however that process ends.

    Every byte counted in `size` has been handed to the kernel, so a process that is killed loses none of them. A
    download that fails before its first byte leaves no file.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size = os.lseek(descriptor, 0, os.SEEK_END)
        """Size of the part in bytes."""

    @classmethod
    def lock(cls, path: Path) -> PartFile | None:
        """Open or create the part file at `path`, and lock it; None while another download holds it.

        Raises:
            FetchError: the file system refuses access.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise FetchError(
                f"{path} can't be written: {error.strerror}. Make its folder writable, or choose another with"
                " --model-dir."
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The download that held the lock before may have renamed or removed the file that was opened here.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return cls(path, descriptor)
        except (BlockingIOError, FileNotFoundError):
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
        if error is not None and self.size == 0:
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def write(self, data: bytes) -> None:
        """Append `data`.

        Raises:
            FetchError: the disk is full. The bytes written so far are kept, so that the download can be resumed.
        """
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
        """Check that the file system has room for the rest of a file of `total` bytes.

        Raises:
            FetchError: the room is too small.
        """
        free = shutil.disk_usage(self.path.parent).free
        if total - self.size > free:
            raise FetchError(
                f"{self.path.parent} has {free:,} bytes free, {total - self.size:,} are needed: make room, or choose"
                " another folder with --model-dir."
            )

    def empty(self) -> None:
        """Truncate the part to no bytes, for a new start."""
        os.ftruncate(self._descriptor, 0)
        self.size = os.lseek(self._descriptor, 0, os.SEEK_SET)

    def discard(self) -> None:
        """Remove the part file."""
        self.path.unlink()

    def commit(self, target: Path) -> None:
        """Rename the part to `target`, durably: any process that finds `target` finds it complete, even after a power
        cut.

        Raises:
            FetchError: the file system refuses the rename.
        """
        try:
            os.fsync(self._descriptor)
            self.path.replace(target)
            directory = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except OSError as error:
            raise FetchError(f"{self.path} can't become {target}: {error.strerror}.") from error

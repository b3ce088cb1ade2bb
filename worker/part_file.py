"""The file that a download grows in, locked while it does."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from types import TracebackType

from worker.fetch_error import FetchError


class PartFile:
    """Owned by one process at a time, through `flock`, which the kernel gives back however that process ends.

    Every byte that is counted in `size` was handed to the kernel, so a process that is killed loses none of them.
    A download that fails with nothing brought leaves no file.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self.size = os.lseek(descriptor, 0, os.SEEK_END)
        """Bytes."""

    @classmethod
    def lock(cls, path: Path) -> PartFile | None:
        """Open or make it; None while another download has it.

        Raises:
            FetchError: the file system doesn't let us.
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
            # The download that had the lock before may have renamed or removed the file that we opened.
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
        """Append.

        Raises:
            FetchError: the disk is full. What was written is kept, so that the download can be resumed.
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
        """Make sure that the file system can take the part of `total` bytes.

        Raises:
            FetchError: it can't.
        """
        free = shutil.disk_usage(self.path.parent).free
        if total - self.size > free:
            raise FetchError(
                f"{self.path.parent} has {free:,} bytes free, {total - self.size:,} are needed: make room, or choose"
                " another folder with --model-dir."
            )

    def empty(self) -> None:
        """Start over."""
        os.ftruncate(self._descriptor, 0)
        self.size = os.lseek(self._descriptor, 0, os.SEEK_SET)

    def discard(self) -> None:
        """Remove it."""
        self.path.unlink()

    def commit(self, target: Path) -> None:
        """Give it its final name, durably: whoever finds `target` finds it whole, even after a power cut.

        Raises:
            FetchError: the file system doesn't let us.
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

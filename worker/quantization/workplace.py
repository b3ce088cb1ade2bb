"""The folder in which a float model is made: alongside it, one maker at a time, and nothing of a killed one stays."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from worker.quantization.error import QuantizationError


@contextmanager
def workplace(out: Path) -> Iterator[Path]:
    """An empty folder on the file system of `out`, for all files that are made on the way; gone afterwards.

    onnxruntime's tools put theirs, as large as the model, into the system's folder of temporary files, which may be in
    memory: meanwhile this one is that. The lock is the kernel's, so it ends with the process that has it, and what that
    has left is removed by the next.

    Raises:
        QuantizationError: another process makes `out`.
        OSError: nothing can be written there.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = out.with_name(f".{out.name}.unfinished")
    folder.mkdir(exist_ok=True)
    before = tempfile.tempdir
    with _locked(folder, out):
        try:
            for left in folder.iterdir():
                _remove(left)
            tempfile.tempdir = str(folder)
            yield folder
        finally:
            tempfile.tempdir = before
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, out: Path) -> Iterator[None]:
    busy = QuantizationError(
        f"{out} is being made by another `kokoro-live dequantize`: wait for it, or name another file"
    )
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError as error:  # it was done just now, and its folder went
        raise busy from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not (folder.exists() and os.path.samestat(os.fstat(descriptor), folder.stat())):
            raise busy
        yield
    except BlockingIOError as error:
        raise busy from error
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()

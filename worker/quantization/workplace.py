"""Workplaces: the folder in which a float model is made, next to its file, for one process at a time. A killed
process's files are removed later."""

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
    """An empty folder on the file system of `out`, for all intermediate files; removed afterwards.

    onnxruntime's tools put intermediate files as large as the model into the system's temporary folder, which may be in
    memory; inside the `with` block this folder takes its place. The lock belongs to the kernel, so it ends with its
    process, and the next process removes the files that a killed one has left.

    Raises:
        QuantizationError: another process is making `out`.
        OSError: the folder can't be written.
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
    except FileNotFoundError as error:  # the other process has just finished and removed its folder
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

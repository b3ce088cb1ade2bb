"""Float model files made from int8 ones: read, converted, written to an unfinished file, and only then named."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx

from worker.graph.dynamic_int8 import UnknownPattern, dequantize, is_dynamic_int8
from worker.graph.graph import CannotSplit
from worker.graph.loading import load_graph
from worker.models.checksum_cache import cached_sha256_of
from worker.models.model_search import MODEL_NAMES


class QuantizationError(Exception):
    """The float model can't be made; the message names the file and tells the user how to fix it."""


# Workplaces: the folder in which a float model is made, next to its file, for one process at a time. A killed
# process's files are removed later.


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


SOURCE = "kokoro_live.dequantized_sha256"
"""Metadata key of a float file whose value is the sha256 of the int8 file that it was made from."""


def float_path(model: Path) -> Path:
    """Path of the float file next to its model: `kokoro-v1.0.float.onnx` for `kokoro-v1.0.int8.onnx`."""
    return model.with_name(f"{model.stem.removesuffix('.int8')}.float.onnx")


def write_float(model: Path, out: Path) -> None:
    """Write `out`, whole or not at all: 325 MB for the published file.

    Args:
        model: a model in dynamic int8.
        out: the file to write. An existing file is replaced only if this function made it.

    Raises:
        QuantizationError: the file can't be made; the message says why.
    """
    _check(model, out)
    try:
        source = cached_sha256_of(model)
        graph = load_graph(model)
        if not is_dynamic_int8(graph):
            raise QuantizationError(f"{model} isn't in dynamic int8, as kokoro-v1.0.int8.onnx is: name that one")
        floats = dequantize(graph).model
        floats.metadata_props.add(key=SOURCE, value=source)
        with workplace(out) as folder:
            unfinished = folder / out.name
            onnx.save(floats, unfinished)
            _publish(unfinished, out)
    except (CannotSplit, UnknownPattern) as error:
        raise QuantizationError(f"{model} can't be made a float model: {error}") from error
    except OSError as error:
        raise QuantizationError(
            f"{out} can't be written: {error.strerror or error}. Nothing is left of it; make room, or name "
            "another place with --out"
        ) from error


def _check(model: Path, out: Path) -> None:
    if not model.is_file():
        raise QuantizationError(f"there is no model file {model}: run `kokoro-live models fetch`, or name another")
    if out.name in MODEL_NAMES:
        raise QuantizationError(
            f"{out} has a published file's name, and wouldn't be that file: name another with --out"
        )
    if out.is_dir():
        raise QuantizationError(f"{out} is a folder: name a file with --out")
    if out.exists() and not _was_made_here(out):
        raise QuantizationError(
            f"{out} is there already, and `dequantize` didn't make it: name another file with --out"
        )


def _was_made_here(file: Path) -> bool:
    """True if the file's metadata, which protobuf writes after the graph, have the key `SOURCE`."""
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - 4096))
        return SOURCE.encode() in opened.read()


def _publish(unfinished: Path, out: Path) -> None:
    """Give the file its name, durably: every process that finds it finds it complete, even after a power cut."""
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(out)
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

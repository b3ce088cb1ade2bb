"""Float model files made from int8 ones: whole or not at all, by one process at a time."""

from __future__ import annotations

from pathlib import Path

import onnx

from worker.graph.dynamic_int8 import UnknownPattern, dequantize, is_dynamic_int8
from worker.graph.graph import CannotSplit
from worker.graph.loading import load_graph
from worker.models.assembly import FetchError, PartFile
from worker.models.checksums import cached_sha256_of
from worker.models.choice import MODEL_NAMES
from worker.models.sources import part_of


class QuantizationError(Exception):
    """The float model can't be made; the message names the file and tells the user how to fix it."""


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
        part = PartFile.lock(part_of(out))
        if part is None:
            raise QuantizationError(
                f"{out} is being made by another `kokoro-live dequantize`: wait for it, or name another file"
            )
        with part:
            part.empty()
            onnx.save(floats, part.path)
            part.commit(out)
    except (CannotSplit, UnknownPattern) as error:
        raise QuantizationError(f"{model} can't be made a float model: {error}") from error
    except (OSError, FetchError) as error:
        reason = getattr(error.__cause__ or error, "strerror", None) or error
        raise QuantizationError(
            f"{out} can't be written: {reason}. Nothing is left of it; make room, or name another place with --out"
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

"""Stages as onnxruntime runs them on this machine's processor: optimised graphs, with weights packed for its kernels.

onnxruntime optimises a stage's graph and packs its weights at each load, into memory of each session's own. Saved in
files, both are made once; every session and every process maps the same packed weights
(`session.save_external_prepacked_constant_initializers`); `python -m benchmarks.start` compares a start that makes them
with one that finds them. The arithmetic is the same to the bit.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
import onnxruntime as ort

from worker.machine import cores
from worker.split.segments.stage import optimized_name
from worker.targets import CPU

log = logging.getLogger(__name__)

_PACKED = "prepacked_"
"""Beginning of the keys under which onnxruntime describes an initializer's packed forms: as `KERNEL+HASH`, then for
each buffer `|OFFSET;LENGTH;CHECKSUM`."""

_ALIGNMENT = 4096

_SMALLEST = 1024
"""Bytes from which onnxruntime writes an initializer outside the graph."""


def optimize_stages(folder: Path, stages: Collection[str], weights: str) -> None:
    """Write the optimised form of each stage alongside it, and append the packed weights to the file `weights`.

    If onnxruntime or the disk refuses, nothing is left behind, and the stages are loaded as they are.
    """
    before = (folder / weights).stat().st_size
    try:
        with ThreadPoolExecutor(min(cores(), len(stages))) as pool:
            list(pool.map(lambda stage: _save(folder, stage), stages))
        with (folder / weights).open("r+b") as file:
            store = _Store(folder / weights, file)
            for stage in stages:
                _move_weights(folder, stage, store)
    except Exception as error:  # onnxruntime's errors have no base class of their own
        log.warning("the stages stay as they were cut, and load more slowly: %s", " ".join(str(error).split()))
        for stage in stages:
            (folder / optimized_name(stage)).unlink(missing_ok=True)
        with (folder / weights).open("r+b") as file:
            file.truncate(before)
    finally:
        for stage in stages:
            _own_weights(folder, stage).unlink(missing_ok=True)


def _own_weights(folder: Path, stage: str) -> Path:
    return folder / f"{stage}.part"


def _save(folder: Path, stage: str) -> None:
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_reuse = False
    # The warning that the file fits this processor only: the manifest names the processor.
    options.log_severity_level = 3
    options.optimized_model_filepath = str(folder / optimized_name(stage))
    for key, value in (
        ("optimized_model_external_initializers_file_name", _own_weights(folder, stage).name),
        ("optimized_model_external_initializers_min_size_in_bytes", str(_SMALLEST)),
        ("save_external_prepacked_constant_initializers", "1"),
    ):
        options.add_session_config_entry(f"session.{key}", value)
    ort.InferenceSession(str(folder / stage), options, providers=[CPU])


def _move_weights(folder: Path, stage: str, store: _Store) -> None:
    """Have the optimised stage refer to the shared file of weights instead of its own."""
    file = folder / optimized_name(stage)
    model = onnx.load(file, load_external_data=False)
    known = {tensor.name: _entries(tensor) for tensor in _outside(onnx.load(folder / stage, load_external_data=False))}
    if any(_outside(model)):
        own = np.memmap(_own_weights(folder, stage), np.uint8, "r")
        for tensor in _outside(model):
            _move(tensor, own, known.get(tensor.name), store)
    file.write_bytes(model.SerializeToString())


def _outside(model: Any) -> Iterable[Any]:
    return (tensor for tensor in model.graph.initializer if tensor.external_data)


def _entries(tensor: Any) -> dict[str, str]:
    return {entry.key: entry.value for entry in tensor.external_data}


def _move(tensor: Any, own: Any, before: dict[str, str] | None, store: _Store) -> None:
    entries = _entries(tensor)
    values = own[int(entries["offset"]) :][: int(entries["length"])]
    # Unchanged weights stay where the stage as it was cut has them.
    known = int(before["offset"]) if before else -1
    place = known if before and store.holds(known, values) else store.place(values)
    entries |= {"location": store.name, "offset": str(place)}
    for key, value in entries.items():
        if not key.startswith(_PACKED):
            continue
        kernel, *buffers = value.split("|")
        moved = [kernel]
        for buffer in buffers:
            offset, length, checksum = buffer.split(";")
            there = store.place(own[int(offset) : int(offset) + int(length)])
            moved.append(f"{there};{length};{checksum}")
        entries[key] = "|".join(moved)
    tensor.ClearField("external_data")
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


class _Store:
    """The file of weights that all stages share. Equal values are written once."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self.name = path.name
        self._file = file
        self._before = np.memmap(path, np.uint8, "r")
        self._places: dict[bytes, int] = {}

    def holds(self, offset: int, values: Any) -> bool:
        """True if the file had these values at this place before any were added."""
        return np.array_equal(self._before[offset : offset + len(values)], values)

    def place(self, values: Any) -> int:
        """The offset in bytes at which the file has these values."""
        digest = hashlib.blake2b(values, digest_size=16).digest()
        if digest not in self._places:
            end = self._file.seek(0, 2)
            self._file.write(bytes(-end % _ALIGNMENT))
            self._places[digest] = self._file.tell()
            self._file.write(values)
        return self._places[digest]

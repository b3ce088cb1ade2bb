"""The cache of split models: made once per model file, whole or not at all, and made again when damaged."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import onnx
import onnxruntime
import onnxruntime as ort

from shm import kept
from shm.decoding import json_decoder
from worker.machine import cores, cpu_flags, processor
from worker.models.sources import cached_sha256_of, sha256_of
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.segments.segment import Noise
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


_MANIFEST = "manifest.json"
_UNFINISHED = "unfinished-"


class Unprepared(Exception):
    """The model can't be used in stages, but it can still run whole; the message gives the reason."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a cache folder. The manifest is written last."""

    unsplittable: str = ""
    """The reason why the model can't be split; if set, the folder holds only this and `onnxruntime`."""
    onnxruntime: str = ""
    """The onnxruntime version that the stages were optimised for, or that couldn't load them; another version makes
    them again."""
    processor: str = ""
    """The processor that the stages were optimised for; another one makes them again."""
    files: dict[str, str] = {}
    """sha256 by name."""
    noise: tuple[Noise, ...] = ()
    channels: int = 0
    """Number of channels of the generator's norms."""
    fingerprint: tuple[float, ...] = ()
    """The model's fingerprint (`worker.split.rewrites.stage_files.fingerprint`)."""


class Prepared(msgspec.Struct, frozen=True):
    """A split model whose files exist and have the right checksums."""

    folder: Path
    manifest: Manifest

    @property
    def is_complete(self) -> bool:
        """False if a file has been removed since."""
        return all((self.folder / name).is_file() for name in self.manifest.files)


def prepare(model: Path, cache: Path, rewrites: Collection[Rewrite] = DEFAULT) -> Prepared:
    """The model's stages, from the cache or made now; `python -m benchmarks.start` shows what that takes.

    Several processes may call this at once: one makes the stages, the others wait for it.

    Raises:
        Unprepared: the model isn't built like Kokoro, can't be read, or the cache can't be written.
    """
    try:
        sha256 = cached_sha256_of(model)
    except OSError as error:
        raise Unprepared(f"{model} can't be read: {error.strerror}") from error
    folder = cache / "split" / "-".join([sha256[:32], str(kept.STAGES.version), *sorted(rewrites)])
    try:
        manifest = _sound(folder)
        if manifest is None:
            with alone(folder.parent):
                manifest = _sound(folder) or _make(model, folder, rewrites)
    except OSError as error:
        raise Unprepared(f"the cache {cache} can't be used: {error}") from error
    if manifest.unsplittable:
        raise Unprepared(manifest.unsplittable)
    return Prepared(folder, manifest)


def remember_unloadable(prepared: Prepared, reason: str) -> None:
    """Keep `reason` in place of stages that onnxruntime can't load, so that no later start makes them again.

    Raises:
        Unprepared: the cache can't be written.
    """
    manifest = Manifest(unsplittable=" ".join(reason.split()), onnxruntime=onnxruntime.__version__)
    try:
        with alone(prepared.folder.parent):
            _replaced(prepared.folder, lambda made: manifest)
    except OSError as error:
        raise Unprepared(f"{reason}; and the cache can't be written: {error}") from error


def _sound(folder: Path) -> Manifest | None:
    """The folder's manifest if all files match it."""
    try:
        manifest = json_decoder(Manifest)((folder / _MANIFEST).read_bytes())
        for name, sha256 in manifest.files.items():
            if cached_sha256_of(folder / name) != sha256:
                raise ValueError(f"{name} has changed")
    except FileNotFoundError as error:
        if folder.exists():
            log.warning("the stages in %s are made again: %s is missing", folder, error.filename)
        return None
    except ValueError as error:
        log.warning("the stages in %s are made again: %s", folder, error)
        return None
    if manifest.onnxruntime not in ("", onnxruntime.__version__) or manifest.processor not in ("", _processor()):
        log.info(
            "the stages in %s are made again for onnxruntime %s on %s", folder, onnxruntime.__version__, _processor()
        )
        return None
    return manifest


def _make(model: Path, folder: Path, rewrites: Collection[Rewrite]) -> Manifest:
    """Make the stages. The caller holds the lock."""
    for left in folder.parent.glob(f"{_UNFINISHED}*"):
        shutil.rmtree(left, ignore_errors=True)
    started = time.monotonic()
    log.info("cutting %s (%.0f MB) into stages, once for this machine", model.name, model.stat().st_size / 1e6)
    manifest = _replaced(folder, lambda made: _split(model, made, rewrites))
    _put_away_earlier(folder)
    if not manifest.unsplittable:
        log.info("prepared %s: %.0f MB in %.1f s", model.name, size_of(folder) / 1e6, time.monotonic() - started)
    return manifest


def _replaced(folder: Path, fill: Callable[[Path], Manifest]) -> Manifest:
    """Put a folder that `fill` has filled in the old one's place, with the manifest that it returns."""
    made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_UNFINISHED))
    try:
        manifest = fill(made)
        (made / _MANIFEST).write_bytes(msgspec.json.encode(manifest))
        _put_away(folder)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return manifest


def size_of(folder: Path) -> int:
    """Bytes of the files in a folder of stages."""
    return sum(file.stat().st_size for file in folder.iterdir())


def _split(model: Path, folder: Path, rewrites: Collection[Rewrite]) -> Manifest:
    # Only a new model needs the onnx package (`python -m benchmarks.late_loading`).
    from worker.graph.graph import CannotSplit
    from worker.graph.loading import load_graph
    from worker.split.prepared import optimize_stages
    from worker.split.rewrites.stage_files import SERVED, WEIGHTS, fingerprint, write_stages

    try:
        graph = load_graph(model)
        noise, channels = write_stages(graph, folder, rewrites)
        family = fingerprint(graph)
    except CannotSplit as error:
        for file in folder.iterdir():
            file.unlink()
        return Manifest(unsplittable=" ".join(str(error).split()))
    optimize_stages(folder, SERVED, WEIGHTS)
    files = {file.name: sha256_of(file) for file in sorted(folder.iterdir())}
    return Manifest(
        onnxruntime=onnxruntime.__version__,
        processor=_processor(),
        files=files,
        noise=noise,
        channels=channels,
        fingerprint=family,
    )


def _processor() -> str:
    """The processor's name and a digest of its features. Clouds give processors with vector units of different widths
    one name, and optimised graphs are laid out for one width.
    """
    features = " ".join(sorted(cpu_flags() or ()))
    return f"{processor()} {hashlib.blake2b(features.encode(), digest_size=8).hexdigest()}"


def _put_away(folder: Path) -> None:
    """Remove the old folder. Sessions of other processes keep the files that they have mapped."""
    if folder.exists():
        away = folder.with_name(f"{_UNFINISHED}{os.getpid()}-{folder.name}")
        folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)


def _put_away_earlier(folder: Path) -> None:
    """Remove the same model's stages of earlier layouts, which nothing reads any more."""
    model = folder.name.split("-")[0]
    for other in folder.parent.glob(f"{model}-*"):
        layout = other.name.split("-")[1]
        if layout.isdecimal() and int(layout) < kept.STAGES.version:
            _put_away(other)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder's cache lock; the operating system releases the lock of a process that dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("waiting for another process, which makes stages in %s", folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield

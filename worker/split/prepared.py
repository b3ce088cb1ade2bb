"""The cache of split models: made once per model file, whole or not at all, and made again when damaged."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import onnxruntime

from shm import kept
from shm.atomic import try_lock
from shm.decoding import json_decoder
from worker.machine import cpu_flags, processor
from worker.models.sources import cached_sha256_of, sha256_of
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.segments.segment import Noise

log = logging.getLogger(__name__)

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
    from worker.split.optimized import optimize_stages
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
        if not try_lock(lock):
            log.info("waiting for another process, which makes stages in %s", folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""Choice of Kokoro's files: the user's, then the model directory's, then the installed packages'; and the inventory
of all with their origins, for display.

Imports little, so that the supervisor can use it too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from worker.engine import EngineUnavailable
from worker.models.assembly import FetchError, assembled, origin_of
from worker.models.sources import (
    BadPackages,
    FilePresence,
    KnownFile,
    cached_sha256_of,
    check,
    find_packaged,
    known_files,
    state_of,
)
from worker.settings import WorkerSettings
from worker.voices.kokoro_voices import EMBEDDED

log = logging.getLogger(__name__)

MODEL_NAMES = (
    "kokoro-v1.0.onnx",
    "model.onnx",
    "kokoro-v1.0.fp16.onnx",
    "model_fp16.onnx",
    "kokoro-v1.0.int8.onnx",
    "model_quantized.onnx",
    "model_uint8.onnx",
    "model_q8f16.onnx",
    "model_uint8f16.onnx",
    "model_q4.onnx",
    "model_q4f16.onnx",
)
"""File names of the published models (kokoro-onnx's releases, onnx-community's repository), the best first."""


def kokoro_files(settings: WorkerSettings) -> tuple[Path, Path]:
    """Paths of the model and its voices, as `chosen_model` and `chosen_voices` find them."""
    return chosen_model(settings), chosen_voices(settings)


def chosen_model(settings: WorkerSettings) -> Path:
    """The model that the settings name, unchecked; else the best intact file of the model directory; else the one in
    installed packages, assembled now if necessary. Each unusable candidate is logged as a warning before the next is
    tried.

    Raises:
        EngineUnavailable: no model is usable; the message has all reasons.
    """
    if settings.model:
        return settings.model
    known = known_files(settings.manifest, settings.packaged_model)
    problems: list[str] = []
    for model in _candidates(settings, known, problems):
        for problem in problems:
            log.warning("%s. Going on with %s", problem.rstrip("."), model)
        return model
    raise EngineUnavailable("; ".join(problem.rstrip(".") for problem in problems) or _no_model(settings))


def find_model(settings: WorkerSettings) -> Path:
    """The model that the settings name, or the best one present, unchecked. No model is assembled.

    Raises:
        EngineUnavailable: there is no model.
    """
    if settings.model:
        return settings.model
    for folder in assembly_folders(settings):
        if there := models_in(folder):
            return there[0]
    raise EngineUnavailable(_no_model(settings))


def _no_model(settings: WorkerSettings) -> str:
    return f"there is no Kokoro model in {settings.model_dir}: run `kokoro-live models fetch`, or name one with --model"


def models_in(directory: Path) -> list[Path]:
    """Models in the directory and its `onnx` folder (onnx-community's layout): published ones, the best first, then
    others."""
    folders = (directory, directory / "onnx")
    published = [folder / name for name in MODEL_NAMES for folder in folders]
    # A name that starts with a dot isn't the user's model: macOS leaves such files next to copied ones.
    others = [file for folder in folders for file in sorted(folder.glob("*.onnx")) if not file.name.startswith(".")]

    def is_variant(file: Path) -> bool:
        # A file of `kokoro-live dequantize`, whose name begins with its model's, is used only if the settings name it.
        return any(file.name.startswith(f"{other.stem}.") for other in others if other != file)

    return [file for file in dict.fromkeys((*published, *sorted(others, key=is_variant))) if file.is_file()]


def assembly_folders(settings: WorkerSettings) -> tuple[Path, Path]:
    """Folders for a model assembled from packages, in order: the model directory, then the cache if that can't be
    written."""
    return settings.model_dir, settings.cache_dir / "models"


def _candidates(settings: WorkerSettings, known: Mapping[str, KnownFile], problems: list[str]) -> Iterator[Path]:
    """Usable models, the best first; the reason for each unusable one is appended to `problems`."""
    for file in models_in(settings.model_dir):
        try:
            yield _sound(file, known)
        except EngineUnavailable as error:
            problems.append(str(error))
    for row in known.values():
        for folder in assembly_folders(settings):
            try:
                model = assembled(row, folder)
            except BadPackages as error:
                problems.append(str(error))
                break
            except FetchError as error:
                problems.append(str(error))
                continue
            if model:
                yield model
            break


def chosen_voices(settings: WorkerSettings) -> Path:
    """The voices that the settings name, unchecked; else the model directory's, if they match their name's published
    checksum, or are readable under a name of their own; else the embedded ones."""
    voices = find_voices(settings)
    if voices in (settings.voices, EMBEDDED):
        return voices
    published = known_files(settings.manifest)
    try:
        if voices.name not in published:
            # Imports onnxruntime, which this module's other users do without (`python -m benchmarks.late_loading`).
            from worker.voices.voice_bank import VoiceBank

            VoiceBank.open(voices)
        return _sound(voices, published)
    except EngineUnavailable as error:
        log.warning("%s. Going on with the voices in %s", str(error).rstrip("."), EMBEDDED)
        return EMBEDDED


def find_voices(settings: WorkerSettings) -> Path:
    """The voices that the settings name, else the model directory's (an archive, or else a `voices` folder of single
    ones), else the embedded ones; unchecked."""
    directory = settings.model_dir
    archives = (directory / "voices-v1.0.bin", directory / "voices.bin", *sorted(directory.glob("voices*.bin")))
    there = next((path for path in archives if path.is_file()), None)
    folder = directory / "voices"
    return settings.voices or there or (folder if folder.is_dir() else EMBEDDED)


def _sound(file: Path, published: Mapping[str, KnownFile]) -> Path:
    """Return `file` after checking that a file with a published name is the published file. The hash is cached, so the
    check costs nothing at most starts."""
    if known := published.get(file.name):
        try:
            if known.is_of(cached_sha256_of(file)):
                return file
        except OSError as error:
            raise EngineUnavailable(f"{file} can't be read: {error.strerror}") from error
        check(file, known)
    return file


class InventoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    what: str
    precision: str = ""
    size: int
    """Size in bytes of the published file, or of the user's."""
    sha256: str = ""
    """Checksum of the published file; empty for a user's file, which is used unchecked."""
    url: str = ""
    """URL of the release; empty if there is none."""
    path: str
    """Present or future path of the file."""
    state: FilePresence
    origin: str
    """Origin of the file; if the file isn't here, the origin from which it would be fetched."""


def inventory(settings: WorkerSettings, known: Mapping[str, KnownFile]) -> list[InventoryEntry]:
    """Rows for the published files, the embedded voices, and the files that the settings name."""
    return [*(_published(settings, file) for file in known.values()), _embedded(), *_named(settings)]


def _published(settings: WorkerSettings, file: KnownFile) -> InventoryEntry:
    folders = assembly_folders(settings) if file.packages else (settings.model_dir,)
    # A model that could not be assembled in the model directory lies in the cache.
    folder = next((each for each in folders if (each / file.name).exists()), settings.model_dir)
    state, path = state_of(folder, file), folder / file.name
    return InventoryEntry(
        name=file.name,
        what=file.what,
        precision=file.precision,
        size=file.size,
        sha256=file.sha256,
        url=file.url,
        path=str(path),
        state=state,
        origin=(origin_of(path) or "not recorded") if path.exists() else _source(file),
    )


def _source(file: KnownFile) -> str:
    try:
        packaged = find_packaged(file)
    except BadPackages as error:
        return f"{_release(file)} ({error})"
    return f"{packaged.origin} (installed)" if packaged else _release(file)


def _release(file: KnownFile) -> str:
    return f"release on {urlsplit(file.url).hostname}"


def _embedded() -> InventoryEntry:
    return InventoryEntry(
        name=EMBEDDED.name,
        what="54 voices, used where voices-v1.0.bin isn't",
        precision="fp32, rank 12",
        size=EMBEDDED.stat().st_size,
        path=str(EMBEDDED),
        state=FilePresence.PRESENT,
        origin="part of kokoro-live",
    )


def _named(settings: WorkerSettings) -> Iterator[InventoryEntry]:
    for path, setting in ((settings.model, "model"), (settings.voices, "voices")):
        if path is not None:
            yield InventoryEntry(
                name=path.name,
                what=setting,
                size=_size(path),
                path=str(path),
                state=FilePresence.PRESENT if path.exists() else FilePresence.MISSING,
                origin=f"named by --{setting}",
            )


def _size(path: Path) -> int:
    """Size in bytes of a file, or of all files in a folder; 0 if the path doesn't exist."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())

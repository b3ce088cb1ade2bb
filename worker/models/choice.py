"""Choice of Kokoro's files: the user's, then the model directory's, then the installed packages'.

Imports little, so that the supervisor can use it too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from worker.engine import EngineUnavailable
from worker.models.assembly import FetchError, assembled
from worker.models.checksums import cached_sha256_of
from worker.models.sources import BadPackages, KnownFile, check, known_files
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

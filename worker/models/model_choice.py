"""Choice of Kokoro's files: the user's, then the model directory's, then the installed packages'."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from worker.engine import EngineUnavailable
from worker.models.assembly import assembled
from worker.models.checksum_cache import cached_sha256_of
from worker.models.fetch_error import FetchError
from worker.models.model_files import KnownFile, known_files, verify
from worker.models.model_packages import BadPackages
from worker.models.model_search import assembly_folders, models_in, voices_in
from worker.settings import WorkerSettings
from worker.voices.voice_bank import EMBEDDED

log = logging.getLogger(__name__)


def kokoro_files(settings: WorkerSettings) -> tuple[Path, Path]:
    """Paths of the model and its voices.

    Raises:
        EngineUnavailable: there is no model, or none that matches its name's published checksum.
    """
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
    raise EngineUnavailable(
        "; ".join(problem.rstrip(".") for problem in problems)
        or f"there is no Kokoro model in {settings.model_dir}: run `kokoro-live models fetch`, or name one with --model"
    )


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
    """The voices that the settings name, else the model directory's, else the embedded ones; unchecked."""
    return settings.voices or voices_in(settings.model_dir) or EMBEDDED


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


def _sound(file: Path, published: Mapping[str, KnownFile]) -> Path:
    """Return `file` after checking that a file with a published name is the published file. The hash is cached, so the
    check costs nothing at most starts.

    Raises:
        CorruptModel: the file is another one; the message has both hashes.
        EngineUnavailable: the file can't be read.
    """
    if known := published.get(file.name):
        try:
            sha256 = cached_sha256_of(file)
        except OSError as error:
            raise EngineUnavailable(f"{file} can't be read: {error.strerror}") from error
        if not known.is_of(sha256):
            verify(file, published)
    return file

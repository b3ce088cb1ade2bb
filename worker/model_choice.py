"""Which files Kokoro speaks with: the user's, then the model directory's, then the installed packages'."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path

from worker.assembly import assembled
from worker.checksum_cache import cached_sha256_of
from worker.engine import EngineUnavailable
from worker.fetch_error import FetchError
from worker.low_rank import EMBEDDED
from worker.model_files import KnownFile, known_files, verify
from worker.model_packages import BadPackages
from worker.model_search import assembly_folders, models_in, voices_in
from worker.settings import WorkerSettings

log = logging.getLogger(__name__)


def kokoro_files(settings: WorkerSettings) -> tuple[Path, Path]:
    """The model and its voices.

    Raises:
        EngineUnavailable: there is no model, or none that is what its name says.
    """
    return chosen_model(settings), chosen_voices(settings)


def chosen_model(settings: WorkerSettings) -> Path:
    """The named model as it is; else the best sound file of the model directory; else the one that installed packages
    carry, assembled now unless that was done. Each choice that can't be used is one warning before the next.

    Raises:
        EngineUnavailable: nothing is left; the message has all reasons.
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
    """The named voices as they are; else the model directory's, if they are what their name says; else the embedded
    ones."""
    voices = find_voices(settings)
    if voices in (settings.voices, EMBEDDED):
        return voices
    try:
        return _sound(voices, known_files(settings.manifest))
    except EngineUnavailable as error:
        log.warning("%s Going on with the voices in %s", error, EMBEDDED)
        return EMBEDDED


def find_voices(settings: WorkerSettings) -> Path:
    """The named voices, or the model directory's, or else the embedded ones; unchecked."""
    return settings.voices or voices_in(settings.model_dir) or EMBEDDED


def _candidates(settings: WorkerSettings, known: Mapping[str, KnownFile], problems: list[str]) -> Iterator[Path]:
    """Models that can be used, the best first; `problems` gets the reason for each that can't."""
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
    """A file under a published name must be that file. Its hash is remembered, so this costs nothing at most starts.

    Raises:
        CorruptModel: it is another; the message has both hashes.
        EngineUnavailable: it can't be read.
    """
    if known := published.get(file.name):
        try:
            sha256 = cached_sha256_of(file)
        except OSError as error:
            raise EngineUnavailable(f"{file} can't be read: {error.strerror}") from error
        if not known.is_of(sha256):
            verify(file, published)
    return file

"""Inventory of the model files that this machine has or could have, with the origin of each, for display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from worker.models.assembly import origin_of
from worker.models.choice import assembly_folders
from worker.models.sources import BadPackages, FilePresence, KnownFile, find_packaged, state_of
from worker.settings import WorkerSettings
from worker.voices.kokoro_voices import EMBEDDED


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

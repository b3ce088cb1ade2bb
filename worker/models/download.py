"""Download of one URL into one part file; it continues after cut connections."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence

import aiohttp

from worker.models.fetch_error import FetchError
from worker.models.part_file import PartFile

DELAYS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each retry; the download fails when all retries have failed in a row."""

HEADWAY = 1 << 20
"""Number of bytes that a try must bring for earlier failures to be forgotten."""

# A server may compress unless told `identity`, and byte ranges would then count compressed bytes.
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "kokoro-live"}
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}

Tell = Callable[[str], None]
"""Callback for progress: called with an empty string when the part file has grown, and with the reason when the
download is held up."""


class _Cut(Exception):
    """The present try failed; the next one may bring the rest."""


def open_session(*, connect_seconds: float = 30.0, idle_seconds: float = 60.0) -> aiohttp.ClientSession:
    """HTTP session for downloads of any length: only connecting and silence have time limits. The session honours
    HTTP_PROXY and related variables."""
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds, sock_read=idle_seconds)
    return aiohttp.ClientSession(timeout=timeout, trust_env=True, headers=_HEADERS, auto_decompress=False)


async def download(
    session: aiohttp.ClientSession, url: str, part: PartFile, size: int, tell: Tell, delays: Sequence[float] = DELAYS
) -> None:
    """Append to `part` until it has the server's whole file.

    The caller must check the result: a part begun from another version of the file gives a mixture. `size` is used only
    if the server doesn't report the file's length.

    Raises:
        FetchError: the server refuses, too many tries failed, or the disk is full. The part is kept.
    """
    shown = without_password(url)
    failures = 0
    while True:
        before = part.size
        try:
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


async def _attempt(session: aiohttp.ClientSession, url: str, part: PartFile, size: int, tell: Tell) -> None:
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

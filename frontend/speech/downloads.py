"""Downloads: finished responses that are kept for a while under a path of their own, as Kokoro-FastAPI does.

The files are kept in memory, so that a front that dies leaves nothing behind. Their number of bytes is bounded; the
oldest are dropped for newer ones.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from aiohttp import hdrs, web

from frontend.audio.encoders import Seam
from frontend.audio.encoding import Encoders, Encoding
from frontend.audio.formats import BY_EXTENSION, AudioFormat, OutputFormat
from frontend.contract.errors import ApiError
from shm.audio import SAMPLE_RATE, Pcm

HEADER = "X-Download-Path"

KEPT_SECONDS = 3600.0
KEPT_BYTES = 64 * 2**20

_UNFIT = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Download:
    """A kept file."""

    audio: bytes
    content_type: str
    until: float
    """Time at which it is dropped, on the store's clock."""


class Downloads:
    """The store, and the handler of `GET /v1/download/{name}`."""

    def __init__(self, encoders: Encoders, max_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Args:
        max_seconds: longest audio that is kept.
        """
        self._encoders = encoders
        self._max_seconds = max_seconds
        self._clock = clock
        self._kept: OrderedDict[str, Download] = OrderedDict()

    def begin(
        self,
        encoding: Encoding,
        audio_format: AudioFormat,
        sample_rate: int,
        engine_rate: int = SAMPLE_RATE,
        name: str = "",
    ) -> Recording:
        """A stream's encoding that also encodes a whole file, in that format, for a download afterwards.

        Args:
            name: the file's name, which a front that was killed has told the client; empty: a new one.
        """
        name = name or f"{secrets.token_urlsafe(16)}.{audio_format}"
        output = OutputFormat(audio_format, sample_rate)
        whole = self._encoders.open(output, engine_rate, whole=True)
        return Recording(
            name,
            encoding,
            whole,
            self._max_seconds * engine_rate,
            lambda audio: self._keep(name, output.content_type, audio),
        )

    async def get(self, request: web.Request) -> web.Response:
        """Answer with a finished file; `?name=` sets the name under which a browser saves it.

        Raises:
            ApiError: 404: the name is wrong, the response isn't finished, or the file was dropped.
        """
        self._drop_old()
        name = request.match_info["name"]
        found = self._kept.get(name)
        if found is None:
            message = "There is no such download. It is there when its response has ended, for an hour at most."
            raise ApiError(404, message, code="download_not_found")
        saved_as = _file_name(request.query.get("name", ""), name)
        headers = {
            hdrs.CONTENT_TYPE: found.content_type,
            hdrs.CONTENT_DISPOSITION: f'attachment; filename="{saved_as}"',
            hdrs.CACHE_CONTROL: "no-store",
        }
        return web.Response(body=found.audio, headers=headers)

    def _keep(self, name: str, content_type: str, audio: bytes) -> None:
        self._drop_old()
        self._kept[name] = Download(audio, content_type, self._clock() + KEPT_SECONDS)
        while sum(len(each.audio) for each in self._kept.values()) > KEPT_BYTES:
            self._kept.popitem(last=False)

    def _drop_old(self) -> None:
        now = self._clock()
        for name in [name for name, each in self._kept.items() if each.until <= now]:
            del self._kept[name]


class Recording:
    """An encoding that passes its stream's samples on to a second one, and keeps that one's file once it is whole.

    Implements `frontend.audio.encoding.Encoding`. Audio that is too long is not kept.
    """

    def __init__(
        self,
        name: str,
        encoding: Encoding,
        whole: Encoding,
        max_samples: float,
        keep: Callable[[bytes], None],
    ) -> None:
        self.name = name
        self.path = f"/download/{name}"
        """Path as Kokoro-FastAPI gives it: its clients put it after the API's address, which may end in /v1."""
        self.bytes_per_second = encoding.bytes_per_second
        self._encoding = encoding
        self._whole = whole
        self._left = max_samples
        self._keep = keep
        self._parts: list[bytes] = []

    @property
    def given_out(self) -> float:
        return self._encoding.given_out

    @property
    def seam(self) -> Seam:
        return 0, 0  # the file needs all of the audio

    async def encode(self, pcm: Pcm) -> bytes:
        self._left -= len(pcm)
        if self._left < 0:
            self._parts.clear()
            return await self._encoding.encode(pcm)
        samples = pcm.copy()
        audio, part = await asyncio.gather(self._encoding.encode(samples), self._whole.encode(samples))
        self._parts.append(part)
        return audio

    async def finish(self) -> bytes:
        audio = await self._encoding.finish()
        if self._left >= 0:
            self._parts.append(await self._whole.finish())
            self._keep(b"".join(self._parts))
        return audio

    def close(self) -> None:
        self._encoding.close()
        self._whole.close()


def _file_name(wanted: str, name: str) -> str:
    """A safe name for saving a download: the wanted one with the download's own extension, or the download's name."""
    extension = name.rpartition(".")[2]
    stem = wanted.rpartition(".")[0] if PurePath(wanted).suffix.lower() in BY_EXTENSION else wanted
    stem = _UNFIT.sub("_", stem.encode("ascii", "replace").decode()).strip("._")[:_LONGEST_NAME]
    return f"{stem}.{extension}" if stem else name

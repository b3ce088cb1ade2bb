"""One request for speech that is being answered."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass

from aiohttp import hdrs, web

from frontend.audio.encoding import Encoding
from frontend.contract.speaker import SpeechStream
from frontend.http import downloads
from frontend.http.answers.framing import CaptionLines, Events, Framing, Plain
from frontend.http.answers.speakable import HEADER, Pieces
from frontend.http.downloads import Recording
from frontend.http.requests.schema import SpeechCall
from frontend.http.sessions import Turn
from frontend.monitoring.listening import Listening


@dataclass(frozen=True)
class SpeechAnswer:
    """A checked request with its open stream."""

    request: web.Request
    call: SpeechCall
    stream: SpeechStream
    encoding: Encoding | Recording
    listening: Listening
    turn: Turn
    voice: str
    """The voice of words that name no other, where the words of the answer name voices; empty where they don't."""

    @property
    def framing(self) -> Framing:
        if self.call.captioned:
            return CaptionLines(self.call.format, self.voice)
        return Events() if self.call.events else Plain(self.call.format)

    def headers(self, content_type: str) -> dict[str, str]:
        headers = {
            hdrs.CONTENT_TYPE: content_type,
            "X-Engine": self.stream.engine.name,
            "X-Sample-Rate": str(self.call.sample_rate),
        }
        if isinstance(self.encoding, Recording):
            headers[downloads.HEADER] = self.encoding.path
        return headers

    def label(self, headers: MutableMapping[str, str], pieces: Pieces) -> None:
        """Set the headers that say if the text has sound, and if all audio so far came from the cache."""
        if not pieces.speakable:
            headers[HEADER] = "none"
        if self.stream.cached and pieces.speakable:
            headers["X-Cache"] = "hit"
        else:
            headers.pop("X-Cache", None)

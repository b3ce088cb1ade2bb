"""Azure: one call that speaks an SSML document, the list of voices, and the token that its clients fetch first.

Source: https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech
"""

from __future__ import annotations

import re
from typing import Annotated, ClassVar

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.audio.formats import ALL_NAMES, OutputFormat, output_of
from frontend.contract.errors import ApiError
from frontend.dialects.dialect import Post, service, speak
from frontend.serving.errors import ErrorAnswer, ErrorDetail
from frontend.serving.gate import offered_key
from frontend.serving.json_body import json_response
from frontend.serving.route import Access, Answer, Routes, json_answer
from frontend.serving.services import SERVICES, engine_asked
from frontend.speech.answer import Delivery
from frontend.speech.framing import Framing
from frontend.speech.voices import usual_output
from shm.engine_info import VoiceInfo
from text.markup.marked import MarkupKind
from text.words.language import locale_of

FORMAT = "X-Microsoft-OutputFormat"
_KEY = "Ocp-Apim-Subscription-Key"
DEFAULT_FORMAT = "riff-24khz-16bit-mono-pcm"

_FORMAT_NAME = re.compile(
    r"(?P<container>[a-z]+)-(?P<rate>\d{4,5}|\d{1,2}(?=k))k?hz-(\d+bit-)?((?P<kilobits>\d{1,3})(kbps|kbitrate)-)?mono-"
    r"(?P<codec>[a-z\d]+)"
)
_FORMATS = {
    **{("raw", codec): codec for codec in ("pcm", "mulaw", "alaw")},
    **{("riff", codec): f"wav_{codec}" for codec in ("mulaw", "alaw")},
    ("riff", "pcm"): "wav",
    ("audio", "mp3"): "mp3",
    ("ogg", "opus"): "opus",
}
"""Our names of the formats by container and codec."""


class AzureError(ErrorAnswer):
    """An error as Azure's clients read it: the status, and a line of text."""

    content_type: ClassVar[str] = "text/plain"

    message: str

    @classmethod
    def of(cls, status: int, detail: ErrorDetail) -> AzureError:
        return cls(detail.message)

    def encoded(self) -> bytes:
        return self.message.encode(errors="replace")


class AzureVoice(msgspec.Struct, rename="pascal"):
    """A voice in Azure's shape."""

    name: str
    display_name: str
    local_name: str
    short_name: Annotated[str, Meta(description="What `voice name` takes.")]
    gender: str
    locale: str
    sample_rate_hertz: str
    voice_type: str = "Neural"
    status: str = "GA"


LISTS = Routes()


@LISTS.add(
    "get",
    "/cognitiveservices/voices/list",
    Access.NEAR,
    "Lists",
    json_answer("The voices.", list[AzureVoice]),
    errors=(403, 503),
)
async def voices(request: web.Request) -> web.Response:
    """The voices of the engine that speaks, for Azure's clients."""
    engine = engine_asked(request)
    return json_response([_voice(voice, engine.sample_rate) for voice in engine.voices])


@LISTS.add(
    "post",
    "/sts/v1.0/issueToken",
    Access.KEY,
    "Lists",
    Answer("The token.", {"text/plain": None}),
)
async def issue_token(request: web.Request) -> web.Response:
    """A token for Azure's clients, which trade their key for one: the key itself, because keys here don't expire."""
    token = offered_key(request).encode(errors="surrogateescape") or b"none"
    return web.Response(body=token, content_type="text/plain", headers={"X-Content-Type-Options": "nosniff"})


def _voice(voice: VoiceInfo, rate: int) -> AzureVoice:
    title, gender = voice.title or voice.name, (voice.gender or "").title() or "Neutral"
    return AzureVoice(voice.name, title, title, voice.name, gender, locale_of(voice.language), str(rate))


async def _speech(request: web.Request) -> web.StreamResponse:
    """POST /cognitiveservices/v1."""
    try:
        document = (await request.read()).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ApiError(400, f"The body is not UTF-8 (byte {error.start}).", code="invalid_markup") from error
    named, usual = request.headers.get(FORMAT), usual_output(request.app[SERVICES].settings)
    output = output_named(named or DEFAULT_FORMAT) if named or usual is None else usual
    # A file whose header names its length is made whole: that is what these clients read.
    delivery = Delivery(output, Framing(output.content_type), streamed=not output.format.needs_length)
    return await speak(request, (document, "body"), delivery, None, None, markup=MarkupKind.SSML)


def output_named(name: str) -> OutputFormat:
    """The format of a header `X-Microsoft-OutputFormat`, such as `audio-24khz-48kbitrate-mono-mp3`.

    Raises:
        ApiError: 400, there is no such format here.
    """
    match = _FORMAT_NAME.fullmatch(name)
    ours = _FORMATS.get((match["container"], match["codec"])) if match else None
    if match is None or ours is None:
        known = ", ".join(f"{container}-…-{codec}" for container, codec in _FORMATS)
        raise ApiError(400, f"{FORMAT}: {name[:64]!r} is none of {known}.", param=FORMAT, code="invalid_output_format")
    rate = int(match["rate"]) * (1 if len(match["rate"]) > 2 else 1000)
    return output_of(ALL_NAMES[ours], rate, int(match["kilobits"]) * 1000 if match["kilobits"] else None, FORMAT)


DIALECT = service(
    "azure",
    AzureError,
    Post(
        "/cognitiveservices/v1",
        _speech,
        Annotated[str, Meta(description="An SSML document, UTF-8.")],
        '<speak version="1.0" xml:lang="en-US"><voice name="en-US-JennyNeural">Hello.</voice></speak>',
        body_type="application/ssml+xml",
        request_headers=(FORMAT,),
    ),
    lists=LISTS,
    asks=lambda request: _KEY in request.headers or FORMAT in request.headers,
    key_header=_KEY,
)

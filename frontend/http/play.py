"""The player's operations under /v1/play: they check what is asked, and pass it to the player of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

import msgspec
from aiohttp import hdrs, web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.contract.player import PlayerControl
from frontend.contract.speaker import Speaker, engine_in_use
from frontend.contract.voices import checked_language, checked_voice
from frontend.serving.json_body import read_json
from frontend.serving.unknown_fields import unknown_in
from frontend.serving.warning import note_no_effect
from frontend.settings.front import FrontSettings
from frontend.speech import sse
from frontend.speech.asked import checked_text
from frontend.speech.body import VoiceReference
from shm.playing import Change, Item, PlayedWord, PlayerState, Verb, WhenBusy
from text.markup.marked import MarkupKind

# The JSON bodies of the player's operations.


class PlayBody(msgspec.Struct):
    """A text to play. `null` means absent; X-Warning names fields that aren't named here."""

    input: Annotated[
        str | None, Meta(description="The text to play. Needed, unless `text` is given.", examples=["Hello."])
    ] = None
    text: Annotated[str | None, Meta(description="Another name for `input`, which wins where both are given.")] = None
    voice: Annotated[str | VoiceReference | None, Meta(description="The same field as in a speech request.")] = None
    speed: Annotated[Annotated[float, Meta(ge=0.25, le=4.0)] | None, Meta(description="1 where it is left out.")] = None
    lang: Annotated[
        Annotated[str, Meta(max_length=64)] | None, Meta(description="The same field as in a speech request.")
    ] = None
    markup: Annotated[MarkupKind | None, Meta(description="The same field as in a speech request.")] = None
    on_busy: Annotated[
        WhenBusy | None,
        Meta(
            description="The place of the text while another one is being played. `interrupt`, the default: the "
            "other one ends with a short fade, and the queue stays; `queue`: after all others; `next`: after the "
            "one that is being played."
        ),
    ] = None
    title: Annotated[
        Annotated[str, Meta(max_length=256)] | None, Meta(description="A name for people: media controls show it.")
    ] = None
    source: Annotated[Annotated[str, Meta(max_length=256)] | None, Meta(description="The program that asks.")] = None


class PlayChangeBody(msgspec.Struct):
    """Changes of what is being played. `null` means absent."""

    speed: Annotated[
        Annotated[float, Meta(ge=0.25, le=4.0)] | None,
        Meta(description="From the next sentence on, which is synthesised again."),
    ] = None
    voice: Annotated[str | VoiceReference | None, Meta(description="From the next sentence on.")] = None
    volume: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Meta(description="0 to 1, at once; it stays for later texts.")
    ] = None
    seek: Annotated[
        Annotated[float, Meta(ge=0)] | None,
        Meta(description="Seconds in the text: the sentence that sounds then begins."),
    ] = None
    sentence: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000_000)] | None,
        Meta(description="The number of the sentence that is to begin, from 0."),
    ] = None


_decode_play = msgspec.json.Decoder(PlayBody).decode
_decode_change = msgspec.json.Decoder(PlayChangeBody).decode


def read_play(body: bytes) -> PlayBody:
    """The fields of a `POST /v1/play`.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    return read_json(_decode_play, body)


def read_change(body: bytes) -> PlayChangeBody:
    """The fields of a `PATCH /v1/play`.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    return read_json(_decode_change, body)


KEEP_ALIVE_SECONDS = 15.0
"""Seconds of silence after which an event stream gets a comment, so that a proxy doesn't close it."""


class PlayHandler:
    """Answers the player's operations."""

    def __init__(self, player: PlayerControl, speaker: Speaker, settings: FrontSettings) -> None:
        self._player = player
        self._speaker = speaker
        self._settings = settings
        self._ending = asyncio.Event()

    async def close(self, _: web.Application) -> None:
        """End the event streams: they would keep a draining front from its end."""
        self._ending.set()

    async def post(self, request: web.Request) -> web.Response:
        """POST /v1/play: 202 with the item's id and its place.

        Raises:
            ApiError, Unavailable: the text can't be played.
        """
        body = await request.read()
        fields = read_play(body)
        item = self._item(fields)
        place = await self._player.play(item, fields.on_busy or WhenBusy.INTERRUPT)
        dead = ["text"] if fields.input is not None and fields.text is not None else []
        note_no_effect(request, [*unknown_in(body, PlayBody), *dead])
        return _json({"id": item.id, "position_in_queue": place}, status=202)

    async def get(self, request: web.Request) -> web.Response:
        """GET /v1/play: the state."""
        return self._state()

    def verb(self, verb: Verb) -> Callable[[web.Request], Awaitable[web.Response]]:
        """The handler of a command without arguments; it answers with the state afterwards."""

        async def obey(request: web.Request) -> web.Response:
            await self._player.steer(verb)
            return self._state()

        return obey

    async def delete(self, request: web.Request) -> web.Response:
        """DELETE /v1/play/{id}: end one text; the state afterwards.

        Raises:
            ApiError: 404, there is no such text; 503, the player doesn't answer.
        """
        await self._player.remove(request.match_info["id"])
        return self._state()

    async def patch(self, request: web.Request) -> web.Response:
        """PATCH /v1/play: change speed, voice, volume or place; the state afterwards.

        Raises:
            ApiError, Unavailable: nothing was changed.
        """
        body = await request.read()
        fields = read_change(body)
        voice: str | None = None
        if fields.voice is not None:
            voice, _ = checked_voice(_name(fields.voice), engine_in_use(self._speaker).voices)
        if fields.seek is not None and fields.sentence is not None:
            message = "`seek` and `sentence` exclude each other: give one of them."
            raise ApiError(400, message, param="sentence", code="invalid_value")
        await self._player.change(
            Change(speed=fields.speed, voice=voice, volume=fields.volume, seek=fields.seek, sentence=fields.sentence)
        )
        note_no_effect(request, unknown_in(body, PlayChangeBody))
        return self._state()

    async def events(self, request: web.Request) -> web.StreamResponse:
        """GET /v1/play/events: states and words as server-sent events, until the client leaves."""
        response = web.StreamResponse(headers={hdrs.CONTENT_TYPE: sse.CONTENT_TYPE, hdrs.CACHE_CONTROL: "no-store"})
        await response.prepare(request)
        ended = asyncio.ensure_future(self._ending.wait())
        events = self._player.events()
        following = asyncio.ensure_future(_next(events))
        try:
            while not ended.done():
                await asyncio.wait((following, ended), timeout=KEEP_ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                if following.done():
                    await response.write(_event(following.result()))
                    following = asyncio.ensure_future(_next(events))
                elif not ended.done():
                    await response.write(b": nothing new\n\n")
        finally:
            for waiting in (following, ended):
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await waiting
        return response

    def _item(self, fields: PlayBody) -> Item:
        text = fields.text if fields.input is None else fields.input
        if text is None:
            raise ApiError(400, "`input` is missing: give the text to play.", param="input", code="missing_required")
        checked_text(text, self._settings.max_input_characters, "input")
        voice, blend = checked_voice(_name(fields.voice), engine_in_use(self._speaker).voices)
        checked_language(blend, fields.lang)
        return Item(
            id=f"play-{secrets.token_hex(6)}",
            input=text,
            voice=voice,
            speed=1.0 if fields.speed is None else fields.speed,
            lang=fields.lang,
            markup=fields.markup or MarkupKind.NONE,
            title=fields.title or "",
            source=fields.source or "",
        )

    def _state(self) -> web.Response:
        return _json(shown(self._player.state))


def shown(state: PlayerState) -> dict[str, object]:
    """The state as the API shows it."""
    built: dict[str, object] = msgspec.to_builtins(state)
    del built["message"]
    return built


def _name(voice: str | VoiceReference | None) -> str | None:
    return voice.id if isinstance(voice, VoiceReference) else voice


async def _next(events: AsyncIterator[PlayerState | PlayedWord]) -> PlayerState | PlayedWord:
    return await anext(events)


def _event(event: PlayerState | PlayedWord) -> bytes:
    name = "state" if isinstance(event, PlayerState) else "word"
    fields = msgspec.to_builtins(event)
    del fields["message"]
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(fields))


def _json(body: object, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(body), status=status, content_type="application/json")

"""The player's operations: they check what is asked, and pass it to the player of this machine."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Literal

import msgspec
from aiohttp import hdrs, web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.contract.speaker import engine_in_use
from frontend.playing.desk import PlayDesk
from frontend.serving.json_body import fields_of, json_response
from frontend.serving.no_effect import another_name
from frontend.serving.route import Access, Answer, Route, Routes, json_answer
from frontend.serving.services import SERVICES, Services
from frontend.speech.asked import check_length, checked_text
from frontend.speech.body import VoiceReference
from frontend.speech.framing import EVENTS
from frontend.speech.voices import checked_language, checked_speed, checked_voice
from shm.engine_info import Speed
from shm.messages import Voice
from shm.playing import (
    Change,
    Item,
    PlayedText,
    PlayedWord,
    PlayerState,
    QueuedItem,
    SoundingWord,
    Verb,
    WhenBusy,
)
from text.markup.marked import MarkupKind
from text.sentences.growth import Growth

# The JSON bodies of the player's operations.


class PlayBody(PlayedText, frozen=True, kw_only=True):
    """A text to play. `null` means absent; X-Warning names fields that aren't named here."""

    input: Annotated[
        str | None, Meta(description="The text to play. Needed, unless `text` is given.", examples=["Hello."])
    ] = None
    text: Annotated[str | None, another_name("input")] = None
    voice: Annotated[str | VoiceReference | None, Meta(description="The same field as in a speech request.")] = None
    speed: Annotated[Speed | None, Meta(description="The same field as in a speech request.")] = None
    markup: Annotated[MarkupKind | None, Meta(description="The same field as in a speech request.")] = None
    on_busy: Annotated[
        WhenBusy | None,
        Meta(
            description="The place of the text while another one is being played. `interrupt`, the default: the "
            "other one ends with a short fade, and the queue stays; `queue`: after all others; `next`: after the "
            "one that is being played."
        ),
    ] = None
    more: Annotated[bool | None, Meta(description=_MORE)] = None


_MORE = "True if more of the text follows, by `POST /v1/play/{id}`. It sounds while it is being written."


class PlayMoreBody(msgspec.Struct):
    """More of a text that is being played, or its end."""

    input: Annotated[str, Meta(description="What follows, cut anywhere; empty: the writer is still there.")] = ""
    more: Annotated[bool, Meta(description=_MORE)] = False
    offset: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="Characters of the text before `input`: what came already isn't taken twice."),
    ] = None


class PlayChangeBody(msgspec.Struct):
    """Changes of what is being played. `null` means absent."""

    speed: Annotated[
        Speed | None,
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


class PlayAccepted(msgspec.Struct):
    """The place of an accepted text in the player's queue."""

    id: str
    position_in_queue: Annotated[int, Meta(description="Texts before this one; 0: it is being played.")]


class PlayState(msgspec.Struct):
    """The player's state; the fields about a text are null while there is none."""

    state: Literal["idle", "buffering", "playing", "paused"]
    id: str | None
    title: str | None
    source: str | None
    sentence: Annotated[str | None, Meta(description="The sentence that sounds, as it is written.")]
    sentence_number: Annotated[int | None, Meta(description="From 0.")]
    word: Annotated[str | None, Meta(description="The word that sounds, where the engine can tell.")]
    seconds: Annotated[float | None, Meta(description="Audio of the text before the sample that sounds.")]
    of: Annotated[float | None, Meta(description="Expected length of the text, in seconds.")]
    voice: str | None
    speed: float | None
    volume: float
    queue: list[QueuedItem]
    device: Annotated[str | None, Meta(description="The output in use; null while none is open.")]
    reason: Annotated[str | None, Meta(description="Why a player that should play doesn't.")]


KEEP_ALIVE_SECONDS = 15.0
"""Seconds of silence after which an event stream gets a comment, so that a proxy doesn't close it."""

PLAYER: web.AppKey[PlayDesk] = web.AppKey("PLAYER")

FRONT_ENDS: web.AppKey[asyncio.Event] = web.AppKey("FRONT_ENDS", asyncio.Event)
"""Set once the front drains: the event streams would keep it from its end."""

_ID = "play-[^/]+"  # no verb

ROUTES = Routes()

_STATE = json_answer("The state afterwards.", PlayState)


@ROUTES.add(
    "post",
    "/v1/play",
    Access.HERE,
    "Player",
    answers={202: json_answer("It will sound, in its turn.", PlayAccepted)},
    errors=(400, 403, 408, 413, 415, 429, 501, 503),
    body=PlayBody,
    example={"input": "Hello.", "voice": "af_heart", "on_busy": "interrupt"},
)
async def post(request: web.Request) -> web.Response:
    """Play a text on this machine's loudspeakers.

    Without configured keys it answers clients on the server's own machine only, as all of the player's operations do.
    """
    fields = await fields_of(request, PlayBody)
    item = _item(fields, request.app[SERVICES])
    place = await request.app[PLAYER].play(item, fields.on_busy or WhenBusy.INTERRUPT)
    return json_response(PlayAccepted(item.id, place), status=202)


@ROUTES.add(
    "post",
    "/v1/play/{id}",
    Access.HERE,
    "Player",
    _STATE,
    errors=(400, 403, 404, 408, 409, 413, 415, 429, 503),
    body=PlayMoreBody,
    example={"input": "And it goes on.", "more": False},
    id_pattern=_ID,
)
async def extend(request: web.Request) -> web.Response:
    """Give more of a text, or its end.

    A text whose writer is silent for a minute after all of it has sounded counts as ended. 404 (`not_found`) if it was
    played, ended or stopped. 409 if characters between the text so far and `offset` are missing.
    """
    fields = await fields_of(request, PlayMoreBody)
    services = request.app[SERVICES]

    def longer(item: Item) -> Item:
        offset = item.written if fields.offset is None else fields.offset
        if offset > item.written:
            message = f"The text has {item.written} characters so far: those between them and `offset` are missing."
            raise ApiError(409, message, param="offset", code="invalid_value")
        return _extended(item, fields.input[item.written - offset :], fields.more, services)

    await request.app[PLAYER].extend(request.match_info["id"], longer)
    return await get(request)


@ROUTES.add("get", "/v1/play", Access.HERE, "Player", json_answer("The state.", PlayState))
async def get(request: web.Request) -> web.Response:
    """The player's state and queue."""
    return json_response(_shown(request.app[PLAYER].state))


@ROUTES.add(
    "patch",
    "/v1/play",
    Access.HERE,
    "Player",
    _STATE,
    errors=(400, 403, 408, 409, 413, 415, 429, 503),
    body=PlayChangeBody,
    example={"speed": 1.25},
)
async def patch(request: web.Request) -> web.Response:
    """Change speed, voice, volume or place while it is played.

    409 if nothing is being played, except for the volume alone. 400 (`seek_beyond_end`) leaves the playback as it is.
    """
    fields = await fields_of(request, PlayChangeBody)
    voice: str | None = None
    if fields.voice is not None:
        voice, _ = _voice(fields.voice, request.app[SERVICES])
    if fields.seek is not None and fields.sentence is not None:
        message = "`seek` and `sentence` exclude each other: give one of them."
        raise ApiError(400, message, param="sentence", code="invalid_value")
    await request.app[PLAYER].change(
        Change(speed=fields.speed, voice=voice, volume=fields.volume, seek=fields.seek, sentence=fields.sentence)
    )
    return await get(request)


async def _steer(verb: Verb, request: web.Request) -> web.Response:
    await request.app[PLAYER].steer(verb)
    return await get(request)


_VERBS = {
    Verb.PAUSE: "Pause",
    Verb.RESUME: "Go on after a pause",
    Verb.TOGGLE: "Pause, or go on",
    Verb.STOP: "Stop, and empty the queue",
    Verb.SKIP: "Go to the next sentence, after the last one to the next text",
    Verb.BACK: "Go to the sentence's beginning, within its first second to the previous sentence",
    Verb.FASTER: "Speak faster from the next sentence on",
    Verb.SLOWER: "Speak slower from the next sentence on",
}

ROUTES += [
    Route(
        "post",
        f"/v1/play/{verb.value}",
        Access.HERE,
        partial(_steer, verb),
        "Player",
        summary,
        answers={200: _STATE},
        errors=(403, 429, 503),
    )
    for verb, summary in _VERBS.items()
]


@ROUTES.add(
    "get",
    "/v1/play/events",
    Access.HERE,
    "Player",
    Answer(
        "Server-sent events: `state` with the state now and at each change, `word` as each word sounds.",
        {EVENTS: None},
    ),
)
async def events(request: web.Request) -> web.StreamResponse:
    """Follow what is being played."""
    response = web.StreamResponse(headers={hdrs.CONTENT_TYPE: EVENTS, hdrs.CACHE_CONTROL: "no-store"})
    await response.prepare(request)
    ended = asyncio.ensure_future(request.app[FRONT_ENDS].wait())
    events = request.app[PLAYER].events()
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


@ROUTES.add(
    "delete",
    "/v1/play/{id}",
    Access.HERE,
    "Player",
    _STATE,
    errors=(403, 404, 429, 503),
    id_pattern=_ID,
)
async def delete(request: web.Request) -> web.Response:
    """End one text.

    A text that is being played ends as if it were skipped; one that waits leaves the queue. All others stay. 404
    (`not_found`) if it was played before.
    """
    await request.app[PLAYER].remove(request.match_info["id"])
    return await get(request)


def _item(fields: PlayBody, services: Services) -> Item:
    text = fields.text if fields.input is None else fields.input
    if text is None:
        raise ApiError(400, "`input` is missing: give the text to play.", param="input", code="missing_required")
    if not fields.more:
        checked_text(text, services.settings, "input")
    voice, blend = _voice(fields.voice, services)
    checked_language(blend, engine_in_use(services.speaker).voices, fields.lang)
    item = Item(
        id=f"play-{secrets.token_hex(6)}",
        input="",
        rest="",
        voice=voice,
        speed=checked_speed(fields.speed, services.settings),
        markup=fields.markup or MarkupKind.NONE,
        **{name: getattr(fields, name) for name in PlayedText.__struct_fields__},
    )
    return _extended(item, text, fields.more or False, services)


def _extended(item: Item, text: str, more: bool, services: Services) -> Item:
    """The item with more of its text, or its end."""
    check_length(len(item.input) + len(item.rest or "") + len(text), services.settings, "input")
    rest, whole = (item.rest or "") + text, ""
    if more:
        _, blend = _voice(item.voice, services)
        language = checked_language(blend, engine_in_use(services.speaker).voices, item.lang)
        growth = Growth(language, whole=item.markup != MarkupKind.NONE)
        growth.add(rest)
        whole, rest = growth.take_all(), growth.text
    else:
        whole = rest
    return msgspec.structs.replace(
        item, input=item.input + whole, rest=rest if more else None, written=item.written + len(text)
    )


def _voice(named: str | VoiceReference | None, services: Services) -> tuple[str, Voice]:
    name = named.id if isinstance(named, VoiceReference) else named
    return checked_voice(name, engine_in_use(services.speaker), services.settings)


async def _next(events: AsyncIterator[PlayerState | PlayedWord]) -> PlayerState | PlayedWord:
    return await anext(events)


def _event(event: PlayerState | PlayedWord) -> bytes:
    word = isinstance(event, PlayedWord)
    shown = msgspec.convert(event, SoundingWord, from_attributes=True) if word else _shown(event)
    return b"event: %b\ndata: %b\n\n" % (b"word" if word else b"state", msgspec.json.encode(shown))


def _shown(state: PlayerState | PlayedWord) -> PlayState:
    return msgspec.convert(state, PlayState, from_attributes=True)

"""ElevenLabs' answers in JSON: times of characters and, of a dialogue, of its voices; the lists from which its clients
fill their menus; and an account, which nobody has here.

Source: https://elevenlabs.io/docs/api-reference/voices/search
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.dialects.dialect import asker
from frontend.serving.json_body import json_response, read_query
from frontend.serving.route import Access, Routes, json_answer
from frontend.serving.services import engine_asked
from frontend.speech.framing import Framing
from frontend.speech.voices import MODELS, refusing
from shm.engine_info import VoiceInfo
from shm.timing import WordTiming
from text.words.voice_spec import parse_voice


class Alignments:
    """Divides a context's words over its audio messages.

    An alignment covers exactly the audio since the last alignment: the last character's start and duration add up to
    its length. Clients add these sums up to know where the next alignment begins, unless times are `absolute`: seconds
    from the context's beginning, to which LiveKit's plugin adds nothing. A word is in the message in which
    it begins, with a space after it, because clients take a word as complete at its space.
    """

    def __init__(self, *, absolute: bool = False) -> None:
        self._absolute = absolute
        self._words: deque[WordTiming] = deque()
        self.covered_ms = 0
        """Milliseconds of audio that the alignments so far cover; set before any word is added, by one that continues
        a killed front's."""
        self.covered_words: Sequence[WordTiming] = ()
        """The words of the latest alignment."""

    def __len__(self) -> int:
        """Words of which no message has told."""
        return len(self._words)

    def add(self, words: Sequence[WordTiming]) -> None:
        """Take words that begin in audio to come."""
        self._words += words

    def cover(self, seconds: float) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The alignment of the written and of the normalised text for the audio up to that time (seconds from the
        context's beginning); None if no word begins in it."""
        found: list[WordTiming] = []
        while self._words and self._words[0].start < seconds:
            found.append(self._words.popleft())
        if not found:
            return None
        self.covered_words = found
        # Both ends are rounded on one clock, so that the sums don't drift from the audio.
        start, end = self.covered_ms, round(seconds * 1000)
        self.covered_ms = end
        origin = 0 if self._absolute else start
        spans = []
        for word, following in pairwise([*found, None]):
            assert word is not None
            begins = _within(round(word.start * 1000), start, end)
            limit = end if following is None else _within(round(following.start * 1000), begins, end)
            times = (begins, _within(round(word.end * 1000), begins, limit), limit)
            spans.append((times[0] - origin, times[1] - origin, times[2] - origin))
        written = [word.word for word in found]
        return _characters(written, spans), _characters([word.said or word.word for word in found], spans)


NO_CHARACTERS: dict[str, Any] = {"chars": [], "charStartTimesMs": [], "charDurationsMs": []}


def _characters(words: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> dict[str, Any]:
    """Three lists of equal length. A span has a word's begin and end, and the end of the space after it, in ms."""
    chars: list[str] = []
    starts: list[int] = []
    durations: list[int] = []
    for word, (begin, end, limit) in zip(words, spans, strict=True):
        edges = [begin + (end - begin) * place // len(word) for place in range(len(word) + 1)] if word else [end]
        chars += [*word, " "]
        starts += edges
        durations += [later - earlier for earlier, later in pairwise([*edges, limit])]
    return {"chars": chars, "charStartTimesMs": starts, "charDurationsMs": durations}


def _within(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


class ElevenLabsTurn(msgspec.Struct):
    """One voice's turn."""

    text: Annotated[str, Meta(description="The text of the turn.")]
    voice_id: Annotated[str, Meta(description="The voice.")] = ""


class TimedLines(Framing):
    """A JSON object a line, whose times are seconds of the whole audio."""

    bare = False

    def __init__(self, turns: Sequence[ElevenLabsTurn] = ()) -> None:
        """`turns`: those of a dialogue, whose answer says too which voice speaks when."""
        super().__init__("application/json")
        self._alignments, self._began = Alignments(), 0.0
        named = groupby(enumerate(turns), lambda numbered: numbered[1].voice_id.casefold())
        self._runs = [next(run) for _, run in named]
        """The first turn, with its number, of each row of turns that one voice speaks."""
        self._run, self._voice = 0, ""

    @property
    def held(self) -> tuple[int, int]:
        return len(self._alignments), 0

    @property
    def place(self) -> list[float]:
        return [self._began, self._alignments.covered_ms, self._run]

    def resume(self, place: list[float]) -> None:
        self._began = place[0]
        self._alignments.covered_ms = int(place[1])
        self._run = int(place[2])

    def words(self, words: Sequence[WordTiming]) -> bytes:
        self._alignments.add(words)
        return b""

    def audio(self, audio: bytes, seconds: float) -> bytes:
        found = self._alignments.cover(seconds)
        line = self._timed(audio, found, self._began)
        self._began = seconds if found else self._began
        return line + b"\n"

    def whole(self, audio: bytes, words: Sequence[WordTiming], seconds: float) -> bytes:
        self._alignments.add(words)
        return self._timed(audio, self._alignments.cover(seconds) or (NO_CHARACTERS, NO_CHARACTERS), 0.0)

    def _timed(self, audio: bytes, found: tuple[Mapping[str, Any], Mapping[str, Any]] | None, began: float) -> bytes:
        written, said = (_in_seconds(each, began) for each in found) if found else (None, None)
        encoded = base64.b64encode(audio).decode()
        line: dict[str, Any] = {"audio_base64": encoded, "alignment": written, "normalized_alignment": said}
        if self._runs:
            line["voice_segments"] = self._segments(self._alignments.covered_words) if found else []
        return msgspec.json.encode(line)

    def _segments(self, words: Sequence[WordTiming]) -> list[dict[str, Any]]:
        """Rows of words that one voice speaks, of those in a line."""
        segments: list[dict[str, Any]] = []
        character = 0
        for word in words:
            if self._voice and word.voice != self._voice and self._run < len(self._runs) - 1:
                self._run += 1
            number, turn = self._runs[self._run]
            if not segments or segments[-1]["dialogue_input_index"] != number:
                begins = {"voice_id": turn.voice_id, "start_time_seconds": round(word.start, 3)}
                segments.append({**begins, "character_start_index": character, "dialogue_input_index": number})
            character += len(word.word) + 1
            segments[-1] |= {"end_time_seconds": round(word.end, 3), "character_end_index": character}
            self._voice = word.voice
        return segments


def _in_seconds(alignment: Mapping[str, Any], began: float) -> dict[str, Any]:
    starts = [began + start / 1000 for start in alignment["charStartTimesMs"]]
    durations = [duration / 1000 for duration in alignment["charDurationsMs"]]
    return {
        "characters": alignment["chars"],
        "character_start_times_seconds": [round(start, 3) for start in starts],
        "character_end_times_seconds": [
            round(start + duration, 3) for start, duration in zip(starts, durations, strict=True)
        ],
    }


_UNLIMITED = 1_000_000_000
"""Characters, where the service has a limit."""

_MOST_LISTED = 100


class VoicePace(msgspec.Struct):
    """A voice's settings: those of its requests that name none. Only `speed` has an effect here."""

    stability: float = 0.5
    similarity_boost: float = 0.75
    style: float = 0.0
    use_speaker_boost: bool = True
    speed: float = 1.0


class FoundVoice(msgspec.Struct):
    """A voice in ElevenLabs' shape."""

    voice_id: str
    name: str
    category: str
    labels: Annotated[dict[str, str], Meta(description="Its language, and its gender where the name says one.")]
    description: str
    settings: VoicePace
    preview_url: str | None = None


class FoundVoices(msgspec.Struct):
    """A page of voices."""

    voices: list[FoundVoice]
    has_more: bool
    total_count: int
    next_page_token: str | None = None


class VoiceSearch(msgspec.Struct):
    """The query of a search for voices."""

    search: Annotated[str, Meta(description="Words that name, language or gender must contain.")] = ""
    page_size: Annotated[int, Meta(ge=1, le=_MOST_LISTED, description="Voices a page.")] = 10
    next_page_token: Annotated[str, Meta(description="That of the page before.")] = ""
    voice_ids: Annotated[str, Meta(description="Only this voice.")] = ""


ROUTES = Routes()


@ROUTES.add(
    "get",
    "/v2/voices",
    Access.NEAR,
    "Lists",
    json_answer("A page of them.", FoundVoices),
    errors=(400, 403, 503),
    query=VoiceSearch,
)
async def search_voices(request: web.Request) -> web.Response:
    """The voices that match, for ElevenLabs' clients."""
    query = read_query(request.query, VoiceSearch)
    wanted = query.search.casefold().split()
    found = [
        voice
        for voice in map(_found, engine_asked(request).voices)
        if all(word in " ".join((voice.name, voice.description)).casefold() for word in wanted)
        and query.voice_ids in ("", voice.voice_id)
    ]
    names = [voice.voice_id for voice in found]
    begin = names.index(query.next_page_token) + 1 if query.next_page_token in names else 0
    page, rest = found[begin : begin + query.page_size], found[begin + query.page_size :]
    return json_response(FoundVoices(page, bool(rest), len(found), page[-1].voice_id if rest else None))


@ROUTES.add(
    "get",
    "/v1/voices/{id}",
    Access.NEAR,
    "Lists",
    json_answer("It is known.", FoundVoice),
    errors=(403, 404),
)
async def one_voice(request: web.Request) -> web.Response:
    """One voice, in the shape of the service whose client asks, else in ElevenLabs'. A voice of theirs is the one here
    that speaks for it."""
    engine, name = engine_asked(request), request.match_info["id"]
    try:
        with refusing():
            blend = parse_voice(name, engine.voices)
    except ApiError as error:
        raise ApiError(404, error.message, param="voice_id", code="voice_not_found") from error
    voice = next(voice for voice in engine.voices if voice.name == blend[0][0])
    return json_response((asker(request).voice or _found)(voice))


@ROUTES.add("get", "/v1/voices/settings/default", Access.NEAR, "Lists", json_answer("They are fixed.", VoicePace))
@ROUTES.add("get", "/v1/voices/{id}/settings", Access.NEAR, "Lists", json_answer("They are fixed.", VoicePace))
async def voice_settings(request: web.Request) -> web.Response:
    """A voice's settings, or the default ones, for ElevenLabs' clients."""
    return json_response(VoicePace())


@ROUTES.add("get", "/v1/user", Access.NEAR, "Lists", json_answer("Nobody in particular.", dict[str, Any]))
async def user(request: web.Request) -> web.Response:
    """The user, for ElevenLabs' clients: a local one."""
    return json_response(
        {
            "user_id": "local",
            "workspace_id": "local",
            "subscription": _SUBSCRIPTION,
            "is_new_user": False,
            "can_use_delayed_payment_methods": False,
            "is_onboarding_completed": True,
            "is_onboarding_checklist_completed": True,
            "created_at": 0,
            "seat_type": "workspace_admin",
        }
    )


@ROUTES.add("get", "/v1/user/subscription", Access.NEAR, "Lists", json_answer("Without limits.", dict[str, Any]))
async def subscription(request: web.Request) -> web.Response:
    """The subscription, for ElevenLabs' clients: nothing is counted or charged."""
    return json_response(_SUBSCRIPTION)


@ROUTES.add("get", "/v1/history", Access.NEAR, "Lists", json_answer("Always empty.", dict[str, Any]))
async def history(request: web.Request) -> web.Response:
    """Answer with an empty history, for ElevenLabs' clients: nothing is kept."""
    return json_response({"history": [], "has_more": False, "last_history_item_id": None, "scanned_until": None})


_SUBSCRIPTION = {
    "tier": "local",
    "status": "active",
    "character_count": 0,
    "character_limit": _UNLIMITED,
    "max_credit_limit_extension": 0,
    "can_extend_character_limit": False,
    "allowed_to_extend_character_limit": False,
    "voice_slots_used": 0,
    "professional_voice_slots_used": 0,
    "professional_voice_slots_used_in_workspace": 0,
    "voice_limit": 0,
    "voice_add_edit_counter": 0,
    "professional_voice_limit": 0,
    "can_extend_voice_limit": False,
    "can_use_instant_voice_cloning": False,
    "can_use_professional_voice_cloning": False,
    "current_overage": {"amount": "0", "currency": "usd"},
    "open_invoices": [],
    "has_open_invoices": False,
}


def models(_: web.Request) -> list[dict[str, Any]]:
    """The models in ElevenLabs' shape: all of its names mean the one model here."""
    return [
        {
            "model_id": name,
            "name": name,
            "can_do_text_to_speech": True,
            "can_be_finetuned": False,
            "can_do_voice_conversion": False,
            "can_use_style": False,
            "can_use_speaker_boost": False,
            "serves_pro_voices": False,
            "token_cost_factor": 0.0,
            "description": "Kokoro-82M on this machine.",
            "maximum_text_length_per_request": _UNLIMITED,
            "languages": [],
        }
        for name in MODELS[:1]
    ]


def _found(voice: VoiceInfo) -> FoundVoice:
    labels = {"language": voice.language, "gender": voice.gender or ""}
    known = {name: label for name, label in labels.items() if label}
    title = f"{voice.title}, " if voice.title else ""
    return FoundVoice(voice.name, voice.name, "premade", known, title + " ".join(known.values()), VoicePace())

"""ElevenLabs: the calls from which its clients fill their menus, and those about an account, which nobody has here.

Source: https://elevenlabs.io/docs/api-reference/voices/search
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from aiohttp import web
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.dialects.dialect import asker
from frontend.serving.json_body import json_response, read_query
from frontend.serving.route import Access, Routes, json_answer
from frontend.serving.services import engine_asked
from frontend.speech.voices import MODELS, refusing
from shm.engine_info import VoiceInfo
from text.words.voice_spec import parse_voice

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

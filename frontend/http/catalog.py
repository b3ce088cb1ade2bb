"""The lists from which clients fill their menus: models and voices. They need no key."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from aiohttp import web

from frontend.contract.errors import ApiError
from frontend.contract.speaker import Speaker, engine_in_use
from frontend.serving.json_body import read_json, read_query
from frontend.speech.model_names import MODELS
from frontend.speech.voice_description import VoiceDescription, described
from text.words.language import language_of
from text.words.performer import Performer
from text.words.voice_spec import VoiceError, default_voice, parse_voice

_decode_blend = msgspec.json.Decoder(str | list[str]).decode

KOKORO_V1_PUBLISHED = 1_737_936_000
"""27 January 2025 in Unix time: the list's form demands a date of creation."""


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": KOKORO_V1_PUBLISHED, "owned_by": "kokoro-live"}


class VoicesQuery(msgspec.Struct):
    """The query of the voices' list."""

    legacy: Annotated[
        bool, msgspec.Meta(description="`true`: names only, as in Kokoro-FastAPI before version 0.4.")
    ] = False


class Catalog:
    """Lists of models and voices. Models are always known; voices are the engine's, so their list is 503 while none
    speaks."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    async def models(self, request: web.Request) -> web.Response:
        """OpenAI's list of models."""
        return web.json_response({"object": "list", "data": [_model(name) for name in MODELS]})

    async def model(self, request: web.Request) -> web.Response:
        """One entry of OpenAI's list of models."""
        name = request.match_info["id"]
        if name not in MODELS:
            message = f"There is no model {name[:64]!r}; there are {', '.join(MODELS)}."
            raise ApiError(404, message, param="model", code="model_not_found")
        return web.json_response(_model(name))

    async def audio_models(self, request: web.Request) -> web.Response:
        """The list of models in Open WebUI's form."""
        return web.json_response({"models": [{"id": name, "name": name} for name in MODELS]})

    async def voices_by_any_name(self, request: web.Request) -> web.Response:
        """The list of voices for clients of Open WebUI's and of ElevenLabs' API."""
        return web.json_response(
            {"voices": [{**voice, "voice_id": voice["id"], "category": "premade"} for voice in self._voices()]}
        )

    async def voices(self, request: web.Request) -> web.Response:
        """The list of voices in Open WebUI's form. `name` repeats the id, because some clients send the shown name
        back. With `?legacy=true` it has names only, as in Kokoro-FastAPI before its version 0.4.

        Raises:
            ApiError: 400: `legacy` is no truth value.
        """
        engine = engine_in_use(self._speaker)
        query = read_query(request.query, VoicesQuery)
        voices = engine.voices if query.legacy else self._voices()
        return web.json_response({"voices": voices, "default_voice": default_voice(engine.voices)})

    async def combine(self, request: web.Request) -> web.Response:
        """Kokoro-FastAPI's blend of voices: answer with the name that a request's `voice` takes.

        No file is made: every request can name a blend.

        Raises:
            ApiError: 400: the body is neither a blend nor a list of voices, or a voice is unknown.
        """
        engine = engine_in_use(self._speaker)
        spec = read_json(_decode_blend, await request.read())
        try:
            voice = parse_voice(spec if isinstance(spec, str) else "+".join(spec), engine.voices)
        except VoiceError as error:
            raise ApiError(400, str(error), param="voices", code="invalid_voice") from error
        name = Performer(voice, "").name
        blend = {"id": name, "name": name, "language": language_of(voice), "engine": engine.name, "voices": dict(voice)}
        return web.json_response(blend)

    def _voices(self) -> list[VoiceDescription]:
        engine = engine_in_use(self._speaker)
        return [described(name, engine.name) for name in engine.voices]

"""Routes from which clients fill their menus: models and voices."""

from __future__ import annotations

from frontend.http.catalog import VoicesQuery
from frontend.http.routes import answer_types
from frontend.http.routes.route import Operation, Route, json_answer
from frontend.serving.access.rules import Access

LISTS: tuple[Route, ...] = (
    Route(
        "get",
        "/v1/models",
        Access.NEAR,
        lambda handlers: handlers.catalog.models,
        Operation("Lists", "The models", {200: json_answer("All mean the one model here.", answer_types.ModelList)}),
    ),
    Route(
        "get",
        "/v1/models/{id}",
        Access.NEAR,
        lambda handlers: handlers.catalog.model,
        Operation("Lists", "One model", {200: json_answer("It is known.", answer_types.Model)}, errors=(403, 404)),
        id_pattern=".+",  # a model's name may contain slashes
    ),
    Route(
        "get",
        "/v1/audio/models",
        Access.NEAR,
        lambda handlers: handlers.catalog.audio_models,
        Operation("Lists", "The models, for Open WebUI", {200: json_answer("The models.", answer_types.AudioModels)}),
    ),
    Route(
        "get",
        "/v1/audio/voices",
        Access.NEAR,
        lambda handlers: handlers.catalog.voices,
        Operation(
            "Lists",
            "The voices of the engine that speaks",
            {200: json_answer("The voices.", answer_types.Voices)},
            errors=(400, 403, 503),
            query=VoicesQuery,
        ),
    ),
    Route(
        "get",
        "/v1/voices",
        Access.NEAR,
        lambda handlers: handlers.catalog.voices_by_any_name,
        Operation(
            "Lists",
            "The same as /v1/audio/voices, with ElevenLabs' fields besides",
            {200: json_answer("The voices.", answer_types.NamedVoices)},
            errors=(403, 503),
        ),
    ),
)

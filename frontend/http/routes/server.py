"""Routes about the server itself: probes, figures and the description of the API."""

from __future__ import annotations

from frontend.http.routes import answer_types
from frontend.http.routes.route import Answer, Operation, Route, json_answer
from frontend.serving.access.rules import Access

SERVER: tuple[Route, ...] = (
    Route(
        "get",
        "/health",
        Access.OPEN,
        lambda handlers: handlers.health.alive,
        Operation("Server", "Is it alive?", {200: json_answer("It is, whatever is being spoken.", answer_types.Alive)}),
    ),
    Route(
        "get",
        "/ready",
        Access.OPEN,
        lambda handlers: handlers.health.ready,
        Operation(
            "Server",
            "Can it speak?",
            {
                200: json_answer("It can.", answer_types.Ready),
                503: json_answer("It can't, and why.", answer_types.NotReady, ("Retry-After",)),
            },
        ),
    ),
    Route(
        "get",
        "/status",
        Access.NEAR,
        lambda handlers: handlers.status.get if handlers.status else None,
        Operation(
            "Server",
            "The server's state and figures",
            {200: json_answer("Counts begin with the process that counts.", answer_types.Status)},
        ),
    ),
    Route(
        "get",
        "/metrics",
        Access.NEAR,
        lambda handlers: handlers.scrape.get,
        Operation(
            "Server",
            "The same for Prometheus",
            {200: Answer("In the text format that `Accept` asks for.", {"text/plain": None})},
        ),
    ),
    Route(
        "get",
        "/openapi.json",
        Access.OPEN,
        lambda handlers: handlers.description.openapi,
        Operation("Server", "This description", {200: json_answer("OpenAPI 3.1.", answer_types.OpenApiDocument)}),
    ),
    Route(
        "get",
        "/docs",
        Access.OPEN,
        lambda handlers: handlers.description.docs,
        Operation(
            "Server",
            "This description, to read",
            {200: Answer("A page that needs nothing from elsewhere.", {"text/html": None})},
        ),
    ),
)

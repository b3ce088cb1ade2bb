"""Routes of the player: they make this machine's loudspeakers speak."""

from __future__ import annotations

from frontend.http.play import PlayBody, PlayChangeBody
from frontend.http.routes import answer_types
from frontend.http.routes.route import Answer, Handle, Handlers, Operation, Route, json_answer
from frontend.serving.access.rules import Access
from frontend.speech import sse
from shm.playing import Verb

_STATE = json_answer("The state afterwards.", answer_types.PlayState)

_SUMMARIES = {
    Verb.PAUSE: "Pause",
    Verb.RESUME: "Go on after a pause",
    Verb.TOGGLE: "Pause, or go on",
    Verb.STOP: "Stop, and empty the queue",
    Verb.SKIP: "Go to the next sentence, after the last one to the next text",
    Verb.BACK: "Go to the sentence's beginning, within its first second to the previous sentence",
    Verb.FASTER: "Speak faster from the next sentence on",
    Verb.SLOWER: "Speak slower from the next sentence on",
}


def _verb(verb: Verb) -> Route:
    def handler(handlers: Handlers) -> Handle | None:
        return handlers.play.verb(verb) if handlers.play else None

    path = f"/v1/play/{verb.value}"
    return Route(
        "post", path, Access.HERE, handler, Operation("Player", _SUMMARIES[verb], {200: _STATE}, errors=(403, 429, 503))
    )


PLAY: tuple[Route, ...] = (
    Route(
        "post",
        "/v1/play",
        Access.HERE,
        lambda handlers: handlers.play.post if handlers.play else None,
        Operation(
            "Player",
            "Play a text on this machine's loudspeakers",
            {202: json_answer("It will sound, in its turn.", answer_types.PlayAccepted)},
            "Without configured keys it answers clients on the server's own machine only, as all of the player's "
            "operations do.",
            (400, 403, 408, 413, 415, 429, 501, 503),
            PlayBody,
            {"input": "Hello.", "voice": "af_heart", "on_busy": "interrupt"},
        ),
    ),
    Route(
        "get",
        "/v1/play",
        Access.HERE,
        lambda handlers: handlers.play.get if handlers.play else None,
        Operation("Player", "The player's state and queue", {200: json_answer("The state.", answer_types.PlayState)}),
    ),
    Route(
        "patch",
        "/v1/play",
        Access.HERE,
        lambda handlers: handlers.play.patch if handlers.play else None,
        Operation(
            "Player",
            "Change speed, voice, volume or place while it is played",
            {200: json_answer("The state afterwards.", answer_types.PlayState)},
            "409 if nothing is being played, except for the volume alone. 400 (`seek_beyond_end`) leaves the playback "
            "as it is.",
            (400, 403, 408, 409, 413, 415, 429, 503),
            PlayChangeBody,
            {"speed": 1.25},
        ),
    ),
    *map(_verb, Verb),
    Route(
        "get",
        "/v1/play/events",
        Access.HERE,
        lambda handlers: handlers.play.events if handlers.play else None,
        Operation(
            "Player",
            "Follow what is being played",
            {
                200: Answer(
                    "Server-sent events: `state` with the state now and at each change, `word` as each word sounds.",
                    {sse.CONTENT_TYPE: None},
                )
            },
        ),
    ),
    Route(
        "delete",
        "/v1/play/{id}",
        Access.HERE,
        lambda handlers: handlers.play.delete if handlers.play else None,
        Operation(
            "Player",
            "End one text",
            {200: _STATE},
            "A text that is being played ends as if it were skipped; one that waits leaves the queue. All others stay. "
            "404 (`not_found`) if it was played before.",
            (403, 404, 429, 503),
        ),
        id_pattern="play-[^/]+",  # no verb
    ),
)

"""The JSON body of a dialogue: turns of several voices in one request."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec
from msgspec import Meta

from frontend.contract.errors import ApiError
from frontend.http.requests.json_body import read_json
from frontend.http.requests.schema import SpeechBody, SpeechCall, TurnCall, markup_of, speech_call

MAX_TURNS = 1000

MAX_TURN_PAUSE = 10.0
"""Most seconds of silence between two turns."""


class TurnBody(msgspec.Struct):
    """One voice's turn."""

    text: str
    voice: str | None = None
    voice_id: str | None = None
    """Another name for `voice`, which wins where both are given."""


Turns = Annotated[list[TurnBody], Meta(min_length=1, max_length=MAX_TURNS)]


class DialogueBody(SpeechBody):
    """The body's fields: those of a speech request, with `turns` in place of `input`."""

    turns: Turns | None = None
    inputs: Turns | None = None
    """Another name for `turns`, which wins where both are given."""
    pause_between_turns: Annotated[float, Meta(ge=0.0, le=MAX_TURN_PAUSE)] | None = None


_decode = msgspec.json.Decoder(DialogueBody).decode


def read_dialogue(body: bytes) -> DialogueBody:
    """The fields of a JSON body, whatever its Content-Type.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    return read_json(_decode, body)


def dialogue_call(fields: DialogueBody, max_input_characters: int) -> SpeechCall:
    """Check the fields, as `speech_call` does for a text.

    A turn without a voice is spoken by the request's `voice`. Consecutive turns of one voice are separate turns.

    Args:
        max_input_characters: most characters of all turns together.

    Raises:
        ApiError: 400, naming the field that is wrong.
    """
    name = "turns" if fields.turns is not None or fields.inputs is None else "inputs"
    turns = fields.turns if fields.turns is not None else fields.inputs
    if turns is None:
        raise ApiError(400, "`turns` is missing: give the turns to speak.", param="turns", code="missing_required")
    for field in ("input", "text", "phonemes"):
        if getattr(fields, field) is not None:
            message = f"`{field}`: a dialogue's text stands in its `turns`."
            raise ApiError(400, message, param=field, code="invalid_value")
    for place, turn in enumerate(turns):
        if not turn.text.strip():
            param = f"{name}[{place}].text"
            raise ApiError(400, f"`{param}` is blank: give something to speak.", param=param, code="unspeakable")
    fields.input = "\n".join(turn.text for turn in turns)
    calls = tuple(TurnCall(turn.text, turn.voice or turn.voice_id) for turn in turns)
    return replace(
        speech_call(fields, max_input_characters),
        markup=markup_of(fields, [turn.text for turn in turns]),
        turns=calls,
        pause_between_turns=fields.pause_between_turns or 0.0,
    )

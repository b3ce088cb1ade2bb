"""The dialects' one-shot calls: their bodies and the forms of their answers."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from aiohttp import web

from frontend.contexts.events import Spoken
from frontend.contexts.services import Services
from frontend.contexts.voices import find_voice
from frontend.contexts.voicing import Voicing
from frontend.contract.stages import STARTED
from frontend.http.dialects import fields, oneshot
from frontend.http.dialects.alignment import Alignments, whole_alignment
from frontend.http.dialects.audio_formats import OutputFormat, elevenlabs_output, named_output
from frontend.http.dialects.cartesia import cartesia_voicing
from frontend.http.dialects.clients import new_voicing, number_of, object_of, text_of
from frontend.http.dialects.deepgram import deepgram_voicing, rate_of
from frontend.http.dialects.elevenlabs import DEFAULT_OUTPUT, rules_off
from frontend.http.requests.json_body import read_json
from frontend.http.requests.unknown_fields import unknown_in
from frontend.http.requests.warning import note_no_effect


async def elevenlabs_speech(request: web.Request, services: Services) -> web.StreamResponse:
    """POST /v1/text-to-speech/{voice} and …/stream: the audio."""
    body = await _body(request, fields.ElevenLabsBody)
    voicing, output = _elevenlabs_voicing(request, services, body)
    headers = oneshot.typed(output.content_type)
    return await oneshot.answer(request, services, voicing, text_of(body, "text"), headers, lambda event: event.audio)


async def elevenlabs_timed_stream(request: web.Request, services: Services) -> web.StreamResponse:
    """POST …/stream/with-timestamps: a JSON object a line, whose times are seconds of the whole audio."""
    body = await _body(request, fields.ElevenLabsBody)
    voicing, _ = _elevenlabs_voicing(request, services, body)
    alignments, began = Alignments(), 0.0

    def line(event: Spoken) -> bytes:
        nonlocal began
        alignments.add(event.words)
        if not event.audio:
            return b""
        found = alignments.cover(event.seconds)
        written, said = (_in_seconds(each, began) for each in found) if found else (None, None)
        began = event.seconds if found else began
        audio = base64.b64encode(event.audio).decode()
        message = {"audio_base64": audio, "alignment": written, "normalized_alignment": said}
        return msgspec.json.encode(message) + b"\n"

    headers = oneshot.typed("application/json")
    return await oneshot.answer(
        request, services, replace(voicing, timestamps=True), text_of(body, "text"), headers, line
    )


async def elevenlabs_timed(request: web.Request, services: Services) -> web.StreamResponse:
    """POST …/with-timestamps: one JSON object with all audio and the times of its characters."""
    body = await _body(request, fields.ElevenLabsBody)
    voicing, _ = _elevenlabs_voicing(request, services, body)
    events, headers = await oneshot.collect(services, replace(voicing, timestamps=True), text_of(body, "text"))
    words = [word for event in events for word in event.words]
    written, said = whole_alignment(words, max((event.seconds for event in events), default=0.0))
    audio = base64.b64encode(b"".join(event.audio for event in events)).decode()
    answer = {"audio_base64": audio, "alignment": written, "normalized_alignment": said}
    return web.Response(body=msgspec.json.encode(answer), headers=headers, content_type="application/json")


async def cartesia_bytes(request: web.Request, services: Services) -> web.StreamResponse:
    """POST /tts/bytes: the audio."""
    body = await _body(request, fields.CartesiaBody)
    voicing = cartesia_voicing(services, _voicing(request), body)
    output = OutputFormat(voicing.format, voicing.sample_rate)
    note_no_effect(request, fields.void_in_cartesia(body, output))
    headers = oneshot.typed(output.content_type)
    text = text_of(body, "transcript")
    return await oneshot.answer(request, services, voicing, text, headers, lambda event: event.audio)


async def deepgram_speech(request: web.Request, services: Services) -> web.StreamResponse:
    """POST /v1/speak: the audio. MP3 unless the address names an encoding; linear16 in a WAV unless it says `none`."""
    body, query = await _body(request, fields.DeepgramBody), request.query
    encoding = query.get("encoding", "mp3")
    if encoding == "linear16" and query.get("container", "wav") == "wav":
        encoding = "wav"
    output = named_output(encoding, rate_of(query), rate_of(query, "bit_rate"))
    voicing = deepgram_voicing(services, _voicing(request), query, output)
    note_no_effect(request, fields.void_in_deepgram(query, output))
    headers = oneshot.typed(output.content_type)
    text = text_of(body, "text")
    return await oneshot.answer(request, services, voicing, text, headers, lambda event: event.audio)


def _voicing(request: web.Request) -> Voicing:
    return replace(new_voicing(request, ""), asked_at=request[STARTED])


def _elevenlabs_voicing(
    request: web.Request, services: Services, body: Mapping[str, Any]
) -> tuple[Voicing, OutputFormat]:
    output = elevenlabs_output(request.query.get("output_format", DEFAULT_OUTPUT))
    speed = number_of(object_of(body, "voice_settings"), "speed")
    voicing = replace(
        _voicing(request),
        format=output.format,
        sample_rate=output.sample_rate,
        bit_rate=output.bit_rate,
        speed=1.0 if speed is None else speed,
        rules_off=rules_off(text_of(body, "apply_text_normalization")),
    )
    language = text_of(body, "language_code") or None
    note_no_effect(request, fields.void_in_elevenlabs(body))
    return find_voice(services.speaker, voicing, request.match_info["voice"], language), output


async def _body(request: web.Request, kind: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The fields of a body of that type; those that the type lacks are noted as without effect."""
    body = await request.read()
    found: Mapping[str, Any] = msgspec.to_builtins(read_json(msgspec.json.Decoder(kind).decode, body))
    note_no_effect(request, unknown_in(body, kind))
    return found


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

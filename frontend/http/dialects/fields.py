"""The fields and parameters of the other services' calls that the server knows, and those of them that change nothing.

X-Warning names the fields that a type here lacks; on a socket the log does, and a message if the service has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from frontend.http.dialects.audio_formats import OutputFormat
from frontend.http.requests.model_names import MODELS


class ElevenLabsQuery(msgspec.Struct):
    """The address of ElevenLabs' POST calls."""

    output_format: str = ""


class ElevenLabsSettings(msgspec.Struct):
    """`voice_settings`, in a body or a message."""

    speed: float | None = None


class ElevenLabsBody(msgspec.Struct):
    """The body of ElevenLabs' POST calls."""

    text: str | None = None
    model_id: str | None = None
    language_code: str | None = None
    voice_settings: ElevenLabsSettings | None = None
    apply_text_normalization: str | None = None


class ElevenLabsSocketQuery(msgspec.Struct):
    """The address of ElevenLabs' sockets."""

    output_format: str = ""
    language_code: str = ""
    apply_text_normalization: str = ""
    enable_ssml_parsing: bool = False
    auto_mode: bool = False
    inactivity_timeout: int = 0


class ElevenLabsMessage(msgspec.Struct):
    """A message on ElevenLabs' sockets."""

    text: str = ""
    context_id: str = ""
    context: str = msgspec.field(default="", name="contextId")
    voice_settings: ElevenLabsSettings | None = None
    flush: bool = False
    try_trigger_generation: bool = False
    close_context: bool = False
    close_socket: bool = False
    key: str = msgspec.field(default="", name="xi-api-key")
    xi_api_key: str = ""
    authorization: str = ""


class CartesiaVoice(msgspec.Struct):
    """`voice`, where it isn't a name."""

    id: str | None = None
    mode: str | None = None


class CartesiaOutput(msgspec.Struct):
    """`output_format`."""

    container: str | None = None
    encoding: str | None = None
    sample_rate: float | None = None
    bit_rate: float | None = None


class CartesiaGeneration(msgspec.Struct):
    """`generation_config`."""

    speed: float | None = None


class CartesiaBody(msgspec.Struct):
    """The body of Cartesia's POST call."""

    transcript: str | None = None
    voice: CartesiaVoice | str | None = None
    model_id: str | None = None
    output_format: CartesiaOutput | None = None
    language: str | None = None
    generation_config: CartesiaGeneration | None = None
    speed: str | float | None = None


class CartesiaMessage(CartesiaBody):
    """A message on Cartesia's socket."""

    context_id: str = ""
    goes_on: bool = msgspec.field(default=False, name="continue")
    cancel: bool = False
    flush: bool = False
    add_timestamps: bool = False
    max_buffer_delay_ms: float | None = None


class DeepgramSocketQuery(msgspec.Struct):
    """The address of Deepgram's socket."""

    model: str = ""
    encoding: str = ""
    sample_rate: int | None = None
    speed: float | None = None


class DeepgramQuery(DeepgramSocketQuery):
    """The address of Deepgram's POST call."""

    container: str = ""
    bit_rate: int | None = None


class DeepgramBody(msgspec.Struct):
    """The body of Deepgram's POST call."""

    text: str | None = None


class DeepgramMessage(msgspec.Struct):
    """A message on Deepgram's socket."""

    type: str = ""
    text: str = ""


def void_in_elevenlabs(body: Mapping[str, Any]) -> list[str]:
    """Known fields of a body that change nothing."""
    return _other_model(body)


def void_in_cartesia(body: Mapping[str, Any], output: OutputFormat) -> list[str]:
    """Known fields of a body that change nothing.

    Args:
        output: the format that the body asks for.
    """
    wanted, generation, voice = (body.get(name) or {} for name in ("output_format", "generation_config", "voice"))
    found = _other_model(body)
    if isinstance(voice, dict) and voice.get("mode") not in (None, "id"):
        found.append("voice.mode")
    if wanted.get("container") == "mp3" and wanted.get("encoding") not in (None, "mp3"):
        found.append("output_format.encoding")
    if wanted.get("bit_rate") is not None and not output.has_bit_rate:
        found.append("output_format.bit_rate")
    if body.get("speed") is not None and generation.get("speed") is not None:
        found.append("speed")
    return found


def void_in_deepgram(query: Mapping[str, str], output: OutputFormat) -> list[str]:
    """Known parameters of an address that change nothing.

    Args:
        output: the format that the address asks for.
    """
    container = query.get("container")
    void = {
        "container": container is not None
        and container not in _CONTAINERS.get(query.get("encoding", "mp3"), ("none",)),
        "bit_rate": "bit_rate" in query and not output.has_bit_rate,
    }
    return [name for name, is_void in void.items() if is_void]


_CONTAINERS = {"linear16": ("wav", "none"), "opus": ("ogg",), "wav": ("wav",)}
"""The containers in which the encodings come; all others come in none."""


def _other_model(body: Mapping[str, Any]) -> list[str]:
    return ["model_id"] if body.get("model_id") not in (None, *MODELS) else []

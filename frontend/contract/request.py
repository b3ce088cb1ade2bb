"""The speech request that the HTTP side has checked and the speaking side serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from frontend.contract.stages import Stages
from frontend.contract.urgency import Urgency
from shm.messages import Voice


class MarkupKind(StrEnum):
    """What a request's text is written in."""

    NONE = "none"
    TAGS = "tags"
    """`[pause:1.5s]` and `[word](/ipa/)`."""
    SSML = "ssml"


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A request that was checked: every field is valid for the engine that speaks now."""

    request_id: str
    text: str
    voice: Voice
    language: str
    """As espeak names it: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn."""
    speed: float
    markup: MarkupKind = MarkupKind.NONE
    phonemes: bool = False
    """The text is phonemes of the model's vocabulary, to be spoken as they are."""
    timestamps: bool = False
    """Its words' times are wanted (`SpeechStream.take_words`)."""
    client: str = ""
    """Who asks: those who ask much don't keep others waiting."""
    urgency: Urgency = Urgency.LISTENING
    fresh: bool = False
    """Neither taken from the cache nor kept there."""
    stages: Stages = field(default_factory=Stages, compare=False)
    """When its first audio came how far, for the log."""

"""The properties of one context's speech: voice, language, speed and audio format."""

from __future__ import annotations

from dataclasses import dataclass

from frontend.audio.formats import AudioFormat
from frontend.audio.raw import RawFormat
from shm.audio import SAMPLE_RATE
from shm.messages import Voice
from text.markup.marked import MarkupKind


@dataclass(frozen=True, slots=True)
class Voicing:
    """A context's settings; `frontend.contexts.voices.find_voice` checks them against the engine that speaks now."""

    request_id: str
    """Identity in the log and in `/status`."""
    client: str
    """Identity for admission: one client's contexts are heard one after the other, unless their names differ."""
    voice: Voice
    language: str
    """A language code, as `text.words.language.language_of` returns it."""
    speed: float = 1.0
    format: AudioFormat | RawFormat = AudioFormat.PCM
    sample_rate: int = SAMPLE_RATE
    """Samples per second of the audio that is given; the format has it."""
    bit_rate: int | None = None
    """Bits per second of a lossy format; None: the server's own choice."""
    fresh: bool = False
    """True if the cache neither gives nor keeps the speech."""
    timestamps: bool = False
    """True if word times are given; ignored if the engine has none."""
    markup: MarkupKind = MarkupKind.NONE
    """The text's markup; the text between two flushes is then one document."""
    rules_off: tuple[str, ...] = ()
    """Normalisation rules that aren't applied to the text, by the names of their settings."""
    asked_at: float | None = None
    """Monotonic seconds at which the request for all of the text came; None: the text comes in pieces."""
    patience: float | None = None
    """Seconds after which text is spoken although its sentence isn't complete; None: never before a flush."""

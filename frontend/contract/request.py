"""The speech request that the front has checked, its urgency, and the stages that its first audio has passed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum, auto

from frontend.contract.growing_text import GrowingText
from frontend.contract.progress import Progress
from shm.inflection import PLAIN, Inflection
from shm.messages import Voice
from text.markup.marked import MarkupKind
from text.words.performer import DialogueTurn, Performer


class Urgency(Enum):
    """The listener who waits for a request's audio, in the order of service."""

    LISTENING = auto()
    """Somebody hears it while it is made: the first sample is due at once, and the rest without a gap."""
    WHOLE = auto()
    """Nothing is heard before all of it is made (`stream: false`, or the priority `file`): it needs no real time, and
    yields to those who listen."""
    IDLE = auto()
    """Nobody waits for it (a self-check, a phrase spoken ahead): it yields to everyone, and ends when anyone comes."""


PLACES = ("planned", "dispatched", "first_block", "first_byte", "first_audio")
"""The first segment was read and cut; a worker has it; its first block was sealed; the answer's first byte, and speech,
went to the socket."""


class Stages:
    """Stages of one request. A stage that was skipped (a cache hit needs no worker) is absent."""

    def __init__(self) -> None:
        self.stream: int | None = None
        """The number under which workers know it."""
        self.facts: dict[str, str | int] = {}
        """What the log's line says of the request: engine, voice, language, characters."""
        self.audio_seconds = 0.0
        """Seconds of audio that were encoded."""
        self._work = self._made = 0.0
        self._reached: dict[str, float] = {}

    def reach(self, place: str) -> None:
        """Note that the request is at the place now; the first time counts."""
        assert place in PLACES
        self._reached.setdefault(place, time.monotonic())

    def seconds(self, since: float) -> dict[str, float]:
        """Time of each place, in seconds from `since` (monotonic)."""
        return {place: round(self._reached[place] - since, 3) for place in PLACES if place in self._reached}

    def made(self, work: float, audio: float) -> None:
        """Note a segment that took `work` seconds of an inference thread for `audio` seconds."""
        self._work += work
        self._made += audio

    def report(self, since: float) -> dict[str, str | float]:
        """All that the log's line says; times are seconds from `since` (monotonic)."""
        found: dict[str, str | float] = {} if self.stream is None else {"stream": self.stream}
        found |= self.facts
        if self.audio_seconds:
            found["audio"] = round(self.audio_seconds, 2)
        if self._made:
            found["real_time_factor"] = round(self._work / self._made, 3)
        return found | self.seconds(since)

    def line(self, since: float) -> str:
        """`stream=7 engine=kokoro …`, each with a space before it; empty where nothing is known."""
        return "".join(f" {name}={value}" for name, value in self.report(since).items())


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """A request that was checked: every field is valid for the engine that speaks now."""

    request_id: str
    text: str
    voice: Voice
    language: str
    """A language code of espeak's: en-us, en-gb, es, fr-fr, hi, it, ja, pt-br, cmn."""
    speed: float
    markup: MarkupKind = MarkupKind.NONE
    turns: tuple[DialogueTurn, ...] = ()
    """The text's parts with the performers who speak them; empty: `performer` speaks all of it. `text` is then only
    what the request is known by."""
    aliases: tuple[tuple[str, Performer], ...] = ()
    """Names that markup may use for voices, besides the engine's own."""
    one_language: bool = False
    """The voices that markup names speak `language`; otherwise each speaks its own."""
    delimiters: str | None = None
    """Cut marks (`text/markup/delimiters.py`); None: the settings'."""
    rules_off: tuple[str, ...] = ()
    """Normalisation rules that aren't applied to this text, by the names of their settings."""
    phonemes: bool = False
    """The text is phonemes of the model's vocabulary, to be spoken as they are."""
    timestamps: bool = False
    """True if the words' times are wanted (`SpeechStream.take_words`)."""
    sentences: bool = False
    """True if the sentences' times are wanted (`SpeechStream.take_sentences`); then no segment holds two sentences."""
    from_sentence: int = 0
    """Number of the first sentence to speak; 0 speaks all."""
    client: str = ""
    """The client's identity: a client with many requests doesn't keep others waiting."""
    urgency: Urgency = Urgency.LISTENING
    fresh: bool = False
    """Neither taken from the cache nor kept there."""
    inflection: Inflection = PLAIN
    """How all of the text is to be said; markup adds to it."""
    growing: GrowingText | None = field(default=None, compare=False)
    """The text where it is still being written; `text` is then its first part."""
    progress: Progress = field(default_factory=Progress, compare=False)
    """How far the request is, for a successor of this front."""
    stages: Stages = field(default_factory=Stages, compare=False)
    """Times at which the request's first audio passed each stage, for the log."""

    @property
    def performer(self) -> Performer:
        """The performer of all that names no other voice."""
        return Performer(self.voice, self.language)

"""The speech request that the front has checked, and its urgency."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from frontend.contract.growing_text import GrowingText
from frontend.contract.progress import Progress
from frontend.contract.stages import Stages
from shm.inflection import PLAIN, Inflection
from shm.messages import Voice
from text.lexicon import Entry
from text.markup.marked import MarkupKind
from text.words.performer import DialogueTurn, Performer
from text.words.segment import Sentence


class Urgency(Enum):
    """The listener who waits for a request's audio, in the order of service."""

    LISTENING = auto()
    """Somebody hears it while it is made: the first sample is due at once, and the rest without a gap."""
    WHOLE = auto()
    """Nothing is heard before all of it is made (`stream: false`, or the priority `file`): it needs no real time, and
    yields to those who listen."""
    IDLE = auto()
    """Nobody waits for it (a self-check, a phrase spoken ahead): it yields to everyone, and ends when anyone comes."""


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
    emphasis: float | None = None
    """Degree of the rules of expression; None: the settings'."""
    pronunciations: tuple[Entry, ...] = ()
    """Pronunciations of this request, which precede the user's lexicon."""
    phonemes: bool = False
    """The text is phonemes of the model's vocabulary, to be spoken as they are."""
    scored: tuple[Sentence, ...] = ()
    """Sentences of an edited score, which are spoken in place of the text; each is a unit that is a segment."""
    score_only: bool = False
    """The score is wanted (`SpeechStream.scores`), not the sound."""
    timestamps: bool = False
    """True if the words' times are wanted (`SpeechStream.take_words`)."""
    visemes: bool = False
    """True if words are told with their visemes."""
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
    """The inflection of all of the text; markup adds to it."""
    growing: GrowingText | None = field(default=None, compare=False)
    """The text where it is still being written; `text` is then its first part."""
    progress: Progress = field(default_factory=Progress, compare=False)
    """The request's progress, for a successor of this front."""
    stages: Stages = field(default_factory=Stages, compare=False)
    """Times at which the request's first audio passed each place."""

    @property
    def performer(self) -> Performer:
        """The performer of all that names no other voice."""
        return Performer(self.voice, self.language)

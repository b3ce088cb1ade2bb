"""The model, asked for sentences without a server, and its listeners."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from benchmarks.measuring.evaluation.sentences import answers, middling
from benchmarks.measuring.hearing.opinion import OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors
from shm.audio import Pcm
from shm.inflection import InflectedSpan, Inflection
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Notation, Segment
from worker.engine import Utterance
from worker.engines.kokoro import KokoroEngine
from worker.models.choice import kokoro_files
from worker.settings import WorkerSettings

VOICES = ("af_heart", "am_michael", "bf_emma", "bm_george", "af_bella", "am_puck")
LANGUAGES = {"a": "en-us", "b": "en-gb"}


class Speaker:
    """The model, by its own interface."""

    def __init__(self) -> None:
        settings = WorkerSettings(threads=1)  # with more, a busy machine makes them wait for one another
        self.engine = KokoroEngine(*kokoro_files(settings), settings)
        self._notation = Notation.of(self.engine.info)
        self._pipeline = TextPipeline(G2P())

    def segment(self, text: str, voice: str, sentences: int | None = None) -> Segment | None:
        """The text, or so many of its sentences, as one segment; None if it is longer."""
        found = islice(self._pipeline.sentences(text, LANGUAGES[voice[0]], self._notation), sentences)
        units = [unit for sentence in found for unit in sentence]
        script = units[0].script + "".join(unit.lead + unit.script for unit in units[1:])
        if len(script) > self._notation.max_tokens:
            return None
        words, position = [], -len(units[0].lead)
        for unit in units:
            position += len(unit.lead)
            words += [replace(each, start=each.start + position, end=each.end + position) for each in unit.words]
            position += len(unit.script)
        return Segment(text, script, len(script), units[-1].cut, tuple(words))

    def utterance(self, script: str, voice: str, *spans: InflectedSpan, speed: float = 1.0) -> Utterance:
        return Utterance(script, LANGUAGES[voice[0]], ((voice, 1.0),), speed, inflected=spans, marks=True)

    def timed(self, script: str, voice: str, *spans: InflectedSpan, speed: float = 1.0) -> tuple[Pcm, dict[int, int]]:
        """The sound, and the sample at which each character of the script begins to sound."""
        blocks = list(self.engine.begin(self.utterance(script, voice, *spans, speed=speed)))
        return np.concatenate([block.samples for block in blocks]), dict(blocks[0].marks)

    def say(self, script: str, voice: str, *spans: InflectedSpan, speed: float = 1.0) -> Pcm:
        return self.timed(script, voice, *spans, speed=speed)[0]

    def said_so(self, script: str, voice: str, inflection: Inflection) -> Pcm:
        """The sound of a script that is inflected as a whole."""
        return self.say(script, voice, InflectedSpan(0, len(script), inflection))


@dataclass
class Heard:
    """What Whisper and DNSMOS made of some sounds."""

    words: int = 0
    errors: int = 0
    opinions: list[float] = field(default_factory=list)
    """P.808 scores."""

    @property
    def points(self) -> float:
        """Word errors in per cent."""
        return 100 * self.errors / max(self.words, 1)

    @property
    def wrong(self) -> str:
        opinion = float(np.mean(self.opinions or [0]))
        return f"{self.errors} of {self.words} words wrong ({self.points:.1f} %), DNSMOS P.808 {opinion:.2f}"

    def against(self, other: Heard) -> tuple[float, float]:
        """Percentage points of word errors, and of P.808, by which these sounds exceed the others."""
        return self.points - other.points, float(np.mean(self.opinions or [0]) - np.mean(other.opinions or [0]))


class Listeners:
    """Whisper and DNSMOS; neither where the extra `quality` isn't installed."""

    def __init__(self, *, deaf: bool) -> None:
        self.there = not deaf and Recognizer.is_installed() and OpinionScorer.is_installed()
        self._ears = Recognizer(1) if self.there else None
        self._judge = OpinionScorer(1) if self.there else None

    def hear(self, text: str, sound: Pcm, heard: Heard) -> str:
        """Words that Whisper understood; empty if it isn't there."""
        if not (self._ears and self._judge):
            return ""
        understood = self._ears.understood(sound)
        heard.words += len(spoken_words(text))
        heard.errors += word_errors(text, understood)
        heard.opinions.append(self._judge.p808(sound))
        return understood


@dataclass(frozen=True)
class Bench:
    """What every row needs."""

    speaker: Speaker
    listeners: Listeners
    voices: int
    sentences: int
    questions: int

    def texts(self, share: int = 1) -> list[tuple[str, str, Segment]]:
        """Text, voice and segment of the sentences; `share`: one of so many."""
        texts = (*middling(), *answers())[: self.sentences : share]
        said = [(text, VOICES[at % self.voices]) for at, text in enumerate(texts)]
        return [(*each, segment) for each in said if (segment := self.speaker.segment(*each))]

"""A third engine: tones at 16 kHz, one a character, in a language that no other engine speaks."""

import re
from collections.abc import Generator

import numpy as np

from shm.engine_info import EngineInfo, VoiceInfo
from worker.engine import Block, Utterance
from worker.select import EngineRow

RATE = 16_000
PER_CHARACTER = RATE // 20
HERTZ = {"low": 440.0, "high": 880.0, "af_heart": 660.0}
VOICES = (
    VoiceInfo("low", "eo", "male", aliases=("alloy",), maker="the tests"),
    VoiceInfo("high", "eo", "female", maker="the tests"),
)


class ToneEngine:
    """Sounds for 50 ms a character; a space is silent."""

    concurrency = 1

    def __init__(self, voices: tuple[VoiceInfo, ...] = VOICES) -> None:
        self.info = EngineInfo(
            name="tone",
            provider="native",
            model="tone 1",
            speaks="text",
            max_tokens=200,
            voices=voices,
            sample_rate=RATE,
            marks=True,
        )

    def warm_up(self) -> None: ...

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        script, (voice, _) = utterance.script, utterance.voice[0]
        times = np.arange(len(script) * PER_CHARACTER) / RATE
        sounds = np.repeat([character != " " for character in script], PER_CHARACTER)
        samples = (np.sin(2 * np.pi * HERTZ[voice] * times) * sounds * 9_000).astype(np.int16)
        words = [(word.start() * PER_CHARACTER, word.end() * PER_CHARACTER) for word in re.finditer(r"\S+", script)]
        marks = [(sample // PER_CHARACTER, sample) for word in words for sample in word] if utterance.marks else []
        yield Block(utterance.from_sample, samples[utterance.from_sample :], last=True, marks=tuple(marks))


def load(*_: object) -> ToneEngine:
    return ToneEngine()


def load_namesake(*_: object) -> ToneEngine:
    """The engine under the name of a voice that other engines have too."""
    return ToneEngine((VoiceInfo("af_heart"),))


TONE = EngineRow("tone", "Tone", "tests.tone_engine:load", VOICES)
NAMESAKE = EngineRow("namesake", "Namesake", "tests.tone_engine:load_namesake", (VoiceInfo("af_heart"),))

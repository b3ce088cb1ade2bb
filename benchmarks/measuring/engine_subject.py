"""One way of running a model, in a process of its own: measured when it is told to, so that rivals can take turns.

python -m benchmarks.measuring.engine_subject: a `Subject` as a line of JSON comes in, then a line for each round that
is wanted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import psutil
from kokoro_onnx.config import DEFAULT_VOCAB, MAX_PHONEME_LENGTH
from numpy.typing import NDArray

from shm.engine_info import EngineInfo
from worker.engine import Block, Engine, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.machine import cores
from worker.pcm import to_pcm
from worker.session import NUMPY_TYPES, open_session, run_session
from worker.settings import WorkerSettings
from worker.split.speech import Crew
from worker.tuning.messages import Round
from worker.tuning.process import FIRSTS, EngineMeasurement
from worker.voices.kokoro_voices import kokoro_voice
from worker.voices.voice_bank import VoiceBank


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The engine that a measured process runs."""

    name: str
    model: str
    voices: str
    settings: dict[str, Any] = {}
    """Fields of `WorkerSettings`, without the files."""
    published: bool = False
    """The file as it was published, in plain sessions: what anybody has without this project."""
    script: str
    """Phonemes of the sentence that is spoken."""


class Loaded(msgspec.Struct, frozen=True):
    load_seconds: float
    resident: int
    """Bytes, after the sentence was spoken once."""


class Published:
    """A whole model in plain sessions, a segment in one run, as the engines of this project are used: all cores for a
    run that is alone, one each for several."""

    def __init__(self, model: Path, voices: Path, settings: WorkerSettings) -> None:
        self._crew = Crew(settings)
        self._sessions = {self._crew.most: open_session(model, settings, threads=self._crew.most)}
        self._model, self._settings = model, settings
        self._voices = VoiceBank.open(voices)
        self.concurrency = cores()
        self.info = EngineInfo(
            name="kokoro",
            provider=self._sessions[self._crew.most].get_providers()[0],
            model=model.name,
            speaks="phonemes",
            max_tokens=MAX_PHONEME_LENGTH,
            voices=tuple(map(kokoro_voice, self._voices.names)),
        )

    def warm_up(self) -> None:
        for _ in self.begin(Utterance("həlˈO", "en-us", ((self._voices.names[0], 1.0),), 1.0)):
            pass

    def ready_for_several(self) -> None:
        """The session of one thread, which a server alone with one listener wouldn't need."""
        if self._crew.least not in self._sessions:
            self._sessions[self._crew.least] = open_session(self._model, self._settings, threads=self._crew.least)

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        ids = [DEFAULT_VOCAB[phoneme] for phoneme in utterance.script]
        values: dict[str, Any] = {"style": self._voices.style(utterance.voice, len(ids)), "speed": [utterance.speed]}
        with self._crew.step() as threads:
            session = self._sessions.get(threads) or self._sessions[self._crew.most]
            feeds: dict[str, NDArray[Any]] = {
                given.name: np.asarray(values.get(given.name, [[0, *ids, 0]]), NUMPY_TYPES[given.type])
                for given in session.get_inputs()
            }
            audio = run_session(session, feeds, utterance.control)[0]
        yield Block(0, to_pcm(audio.ravel()), last=True)


def opened(subject: Subject) -> Engine:
    """The engine, warmed up."""
    model, voices = Path(subject.model), Path(subject.voices)
    settings = WorkerSettings(model=model, voices=voices, **subject.settings)
    engine: Engine = Published(model, voices, settings) if subject.published else KokoroEngine(model, voices, settings)
    engine.warm_up()
    return engine


def main() -> None:
    subject = msgspec.json.decode(sys.stdin.buffer.readline(), type=Subject)
    started = time.perf_counter()
    engine = opened(subject)
    load_seconds = time.perf_counter() - started
    for _ in engine.begin(Utterance(subject.script, "en-us", ((engine.info.voices[0].name, 1.0),), 1.0)):
        pass
    _say(Loaded(load_seconds, psutil.Process().memory_info().rss))
    if isinstance(engine, Published):
        engine.ready_for_several()
    # A whole run's first sound takes as long as the sentence: seconds, where a window takes a fraction of one.
    speaking = EngineMeasurement(engine, subject.script, firsts=1 if subject.published else FIRSTS)
    for _ in sys.stdin:
        _say(speaking.measure())


def _say(result: Loaded | Round) -> None:
    print(msgspec.json.encode(result).decode(), flush=True)


if __name__ == "__main__":
    main()

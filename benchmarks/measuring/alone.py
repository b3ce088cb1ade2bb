"""The engine without a server: what a request's time is compared with."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from kokoro_onnx.config import DEFAULT_VOCAB

from benchmarks.measuring.playback import FirstAudible
from benchmarks.measuring.subjects import Subject
from frontend.planning.planner import LONG, Limits, plan
from frontend.planning.profile import CostProfile, guess
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.language import language_of
from text.words.segment import Notation, Segment
from worker.engine import Engine, Utterance
from worker.machine import cores
from worker.select import choose
from worker.session import NUMPY_TYPES, open_session
from worker.settings import WorkerSettings
from worker.voices.voice_bank import VoiceBank


def plans_profile(server: Subject) -> CostProfile | None:
    """The cost profile that a running server plans with; None until the server has measured something."""
    costs: dict[str, dict[str, Any]] = server.status()["costs"]
    return next((CostProfile(**found["plans_are_made_for"]) for found in costs.values()), None)


class Alone:
    """The worker's own engine in this process, and the front's text pipeline before it."""

    def __init__(self, settings: WorkerSettings) -> None:
        """
        Raises:
            EngineUnavailable: the settings' engine can't be loaded.
        """
        self.engine: Engine = choose(settings)
        self.engine.warm_up()
        self.voice = self.engine.info.default_voice
        self._language = language_of(((self.voice, 1.0),), self.engine.info.voices)
        self._pipeline = TextPipeline(G2P())

    @property
    def label(self) -> str:
        info = self.engine.info
        return f"{info.name} ({info.model}, {info.provider})"

    @property
    def windowed(self) -> bool:
        return self.engine.info.first_block > 0

    def plan(self, text: str, profile: CostProfile | None) -> list[Segment]:
        """The segments that a server with that profile makes of a text."""
        chosen = profile or guess(self.engine.info.first_block)
        notation = Notation.of(self.engine.info)
        sentences = self._pipeline.sentences(text, self._language, notation)
        limits = Limits(opens_from=LONG if self.engine.info.parts else 0)
        return list(plan(sentences, chosen, 1.0, notation, limits))

    def to_first_audible(self, segment: Segment) -> float:
        """Seconds of work until the block is made that has the segment's first audible sample."""
        first = FirstAudible()
        started = time.perf_counter()
        blocks = self.engine.begin(self._utterance(segment))
        for block in blocks:
            if first.push(block.samples.astype("<i2").tobytes()):
                break
        taken = time.perf_counter() - started
        blocks.close()
        return taken

    def to_end(self, segments: Sequence[Segment]) -> tuple[float, float]:
        """Seconds of work for all of them, one after another, and of processor time of this process for that."""
        started, processor = time.perf_counter(), time.process_time()
        for segment in segments:
            for _ in self.engine.begin(self._utterance(segment)):
                pass
        return time.perf_counter() - started, time.process_time() - processor

    def _utterance(self, segment: Segment) -> Utterance:
        voice = ((self.voice, 1.0),)
        return Utterance(segment.script, self._language, voice, segment.rate, part=segment.part, styled=segment.styled)


class Bare:
    """A bare onnxruntime session of the whole model, with the settings' threads (all cores, unless they say)."""

    def __init__(self, settings: WorkerSettings, voice: str) -> None:
        assert settings.model and settings.voices
        self._session = open_session(settings.model, settings, threads=settings.threads or cores())
        self._voices = VoiceBank.open(settings.voices)
        self._voice = voice
        self._types = {given.name: NUMPY_TYPES[given.type] for given in self._session.get_inputs()}

    def seconds(self, segments: Sequence[Segment]) -> list[float]:
        """Seconds of one run for each script, one after another: an opening is a part of the script after it."""
        taken = []
        for segment in (each for each in segments if not each.styled):
            ids = [DEFAULT_VOCAB[phoneme] for phoneme in segment.script]
            values = {"style": self._voices.style(((self._voice, 1.0),), len(ids)), "speed": [segment.rate]}
            feeds = {name: np.asarray(values.get(name, [[0, *ids, 0]]), kind) for name, kind in self._types.items()}
            started = time.perf_counter()
            self._session.run(None, feeds)
            taken.append(time.perf_counter() - started)
        return taken


def label_and_voice(settings: WorkerSettings) -> tuple[str, str]:
    """The label and the default voice of the settings' engine, which is loaded for that and then unloaded: the
    measured server needs the memory.

    Raises:
        EngineUnavailable: the settings' engine can't be loaded.
    """
    alone = Alone(settings)
    return alone.label, alone.voice

"""The figures of one listener: samples given, and the time of the first speech."""

from __future__ import annotations

import time

import numpy as np

from frontend.contract.stages import Stages
from frontend.monitoring.metrics import Metrics
from shm.audio import AUDIBLE, Pcm


class Listening:
    """Counts the samples that a client was given, and times its first speech."""

    def __init__(
        self, metrics: Metrics, started: float, stages: Stages, sample_rate: int, *, heard: bool = True
    ) -> None:
        """
        Args:
            sample_rate: samples per second of what is encoded.
            heard: somebody waits for the speech; otherwise its time says nothing, and isn't counted.
        """
        self.samples = 0
        """Samples encoded so far."""
        self._rate = sample_rate
        self._metrics = metrics
        self._started = started
        self._stages = stages
        self._heard = heard
        self._given = 0
        self._speech_at: int | None = None
        self._speaking = False

    @property
    def seconds(self) -> float:
        """Length of what was encoded so far."""
        return self.samples / self._rate

    def begins(self, started: float, stages: Stages) -> None:
        """Time the first speech of another text for the same listener; arguments as at the first one."""
        self._started, self._stages = started, stages
        self._speech_at, self._speaking = None, False

    def encoded(self, chunk: Pcm) -> None:
        if self._speech_at is None:
            audible = np.flatnonzero((chunk > AUDIBLE) | (chunk < -AUDIBLE))
            if len(audible):
                self._speech_at = self.samples + int(audible[0])
        self.samples += len(chunk)
        self._stages.audio_seconds += len(chunk) / self._rate

    def ready(self) -> None:
        """Note that the answer's first audio is encoded."""
        self._stages.reach("encoded")

    def begun(self) -> None:
        """Note that the answer's first byte leaves."""
        self._stages.reach("first_byte")

    def given(self, seconds: float) -> None:
        """Note that this much of the audio, from its beginning, was handed to the socket."""
        given = min(round(seconds * self._rate), self.samples)
        if given > self._given:
            self._metrics.audio_sent((given - self._given) / self._rate)
            self._given = given
        if not self._speaking and self._speech_at is not None and self._given > self._speech_at:
            self._speaking = True
            self._stages.reach("first_audio")
            if self._heard:
                seconds = time.monotonic() - self._started
                self._metrics.speech_began(seconds)
                self._metrics.traces.add(self._stages, self._started, seconds)

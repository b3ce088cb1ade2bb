"""Measures voices' statistics: each voice's from the same sentences, one at a time, while there is time for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shm.messages import Voice
from worker.cancellation import Cancellation
from worker.engine import Cancelled, EngineError, EngineUnavailable, ProviderUnavailable
from worker.split.statistics import Statistics, VoiceStatistics

log = logging.getLogger(__name__)

ENOUGH_SECONDS = 8.0
"""Of speech, after which a voice's statistics are frozen."""

MOST_WAITING = 16
"""Voices that were spoken with and are not measured yet. One too many is measured when it is spoken with again."""

PATIENCE = 3
"""How often a voice is cut short for somebody who comes. After that a sentence is spoken to its end, or a server that
is much asked would never know the voice."""

Measure = Callable[[int, Voice, Cancellation], tuple[Statistics, float]]
"""Speaks the sentence of that number, whole, to nobody: its statistics, and its length in seconds."""


@dataclass
class _Measured:
    voice: Voice
    cut_short: int = 0
    sentences: int = 0
    seconds: float = 0.0
    sums: list[NDArray[np.float64]] = field(default_factory=list)


class VoiceStudy:
    """The voices that wait to be measured. Any thread may ask for one; one at a time measures."""

    def __init__(self, statistics: VoiceStatistics, sentences: int) -> None:
        """`sentences`: how many there are to measure."""
        self._statistics = statistics
        self._sentences = sentences
        self._waiting: dict[str, _Measured] = {}
        self._given_up: set[str] = set()
        self._lock = threading.Lock()
        self._measuring = threading.Lock()

    def want(self, key: str, voice: Voice) -> None:
        """Measure this voice if nobody did, or tried to; `key` is the name that its statistics are kept under."""
        if self._statistics.frozen(key) is None:
            with self._lock:
                if len(self._waiting) < MOST_WAITING and key not in self._given_up:
                    self._waiting.setdefault(key, _Measured(voice))

    @property
    def waiting(self) -> bool:
        """Whether there is a voice to measure."""
        with self._lock:
            return bool(self._waiting)

    def step(self, measure: Measure, cancellation: Cancellation) -> None:
        """Speak one sentence more with the voice that has waited longest, when no other thread is at it any more.

        Raises:
            Cancelled: in the middle of a sentence, of which nothing is kept.
            ProviderUnavailable: the execution provider doesn't work any more.
        """
        with self._measuring:
            if cancellation.is_set:
                raise Cancelled
            with self._lock:
                key, voice = next(iter(self._waiting.items()), ("", None))
            if voice and (self._statistics.frozen(key) or self._take_in(key, voice, measure, cancellation)):
                with self._lock:
                    del self._waiting[key]

    def _take_in(self, key: str, voice: _Measured, measure: Measure, cancellation: Cancellation) -> bool:
        """One sentence; whether the voice is done with."""
        if voice.cut_short >= PATIENCE:
            cancellation = Cancellation()
        try:
            told, seconds = measure(voice.sentences, voice.voice, cancellation)
        except Cancelled:
            voice.cut_short += 1
            raise
        except ProviderUnavailable:
            raise
        except (EngineError, EngineUnavailable) as error:
            log.warning("the statistics of the voice %s can't be measured: %s", _name(voice.voice), error)
            self._given_up.add(key)
            return True
        weighted = [seconds * vector.astype(np.float64) for vector in told]
        voice.sums = [a + b for a, b in zip(voice.sums, weighted, strict=True)] if voice.sums else weighted
        voice.seconds += seconds
        voice.sentences += 1
        if voice.seconds < ENOUGH_SECONDS and voice.sentences < self._sentences:
            return False
        mean = Statistics(*((total / voice.seconds).astype(np.float32) for total in voice.sums))
        if all(np.isfinite(vector).all() for vector in mean):
            self._statistics.freeze(key, mean)
            log.info("measured the voice %s: its sound begins sooner from now on", _name(voice.voice))
        else:
            log.warning("the statistics of the voice %s are no numbers, so it is spoken whole", _name(voice.voice))
            self._given_up.add(key)
        return True


def _name(voice: Voice) -> str:
    return "+".join(f"{name}({weight:g})" if weight != 1 else name for name, weight in voice)

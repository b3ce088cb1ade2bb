"""A voice that nobody has used before speaks its first sentence in windows: no voice waits for anything."""

from pathlib import Path

import pytest

from tests.split_model import make_split_model, make_split_voices
from tests.system.server import Server, server


def blocks_made(of: Server) -> float:
    _, metrics = of.get("/metrics")
    [line] = [line for line in metrics.splitlines() if line.startswith("kokoro_live_worker_blocks_total")]
    return float(line.split()[-1])


@pytest.mark.slow
def test_its_first_sentence_comes_in_windows(tmp_path: Path) -> None:
    arguments = (
        *("--model", str(make_split_model(tmp_path / "small.onnx"))),
        *("--voices", str(make_split_voices(tmp_path / "voices.bin"))),
        *("--cache-dir", str(tmp_path / "cache"), "--cache-bytes", "0"),
    )
    with server(*arguments) as started:
        for voice in ("am_adam", "af_heart(1)+bf_emma(1)"):
            before = blocks_made(started)
            started.hear(input="Nobody has heard this voice before.", voice=voice, response_format="pcm")
            assert blocks_made(started) - before > 1, voice

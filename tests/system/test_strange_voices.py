"""A voice that nobody has used before: spoken whole at once, measured when there is time, in windows from then on."""

from __future__ import annotations

from pathlib import Path

from tests.split_model import make_split_model, make_split_voices
from tests.system.server import Server, server


def blocks_made(of: Server) -> float:
    _, metrics = of.get("/metrics")
    [line] = [line for line in metrics.splitlines() if line.startswith("kokoro_live_worker_blocks_total")]
    return float(line.split()[-1])


def test_it_speaks_in_windows_after_a_pause(tmp_path: Path) -> None:
    arguments = (
        *("--model", str(make_split_model(tmp_path / "small.onnx"))),
        *("--voices", str(make_split_voices(tmp_path / "voices.bin"))),
        *("--cache-dir", str(tmp_path / "cache"), "--cache-bytes", "0"),
    )
    with server(*arguments) as started:
        made = []
        for _ in range(2):
            before = blocks_made(started)
            started.hear(input="Nobody has heard this voice before.", voice="am_adam", response_format="pcm")
            made.append(blocks_made(started) - before)
            started.logs(r"worker\S* INFO: measured the voice am_adam")
    assert made[0] == 1 < made[1]

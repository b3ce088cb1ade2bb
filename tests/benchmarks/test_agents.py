"""The yardstick for voice agents: what it hears, and that it hears a server in each way."""

import subprocess
import sys
from collections.abc import AsyncIterator

import numpy as np
import pytest

from benchmarks.agents import WAYS, Heard, _sentences
from shm.audio import SAMPLE_RATE


@pytest.mark.parametrize("size", [1, 333, 10_000])
def test_sound_begins_with_the_first_10_ms_above_the_limit(size: int) -> None:
    hiss = np.full(SAMPLE_RATE, 300, "<i2")
    click = np.zeros(240, "<i2")
    click[5] = 4000
    voice = np.full(SAMPLE_RATE, 400, "<i2")
    data = np.concatenate([hiss, click, voice]).tobytes()
    heard = Heard()
    for start in range(0, len(data), size):
        heard.take(data[start : start + size], SAMPLE_RATE)
        if heard.sound is not None:
            break
    taken = sum(count for _, count in heard.arrivals) // 2
    assert len(hiss) + len(click) + 240 <= taken <= len(hiss) + len(click) + 240 + size


async def test_sentences_are_cut_when_the_next_begins() -> None:
    async def written() -> AsyncIterator[str]:
        for token in ("It", " rains", ".", " It", " is", " 3", ".5", "!", " End"):
            yield token

    assert [each async for each in _sentences(written())] == ["It rains.", "It is 3.5!", "End"]


@pytest.mark.slow
def test_a_server_is_heard_in_each_way(tmp_path: object) -> None:
    options = ["--engine", "espeak", "--answers", "2", "--rates", "300", "--listeners", "1", "--out", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.agents", *options], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    for way in {*WAYS} - {"espeak-ng"}:
        assert f"| kokoro-live, {way} | 300 | 1 |" in ran.stdout

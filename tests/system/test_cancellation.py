"""A run inside onnxruntime ends when its listener has left and another one waits."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Iterator

import numpy as np
import pytest

from frontend.text.g2p import G2P
from frontend.text.pipeline import TextPipeline
from tests.system.oracle import NOTATION, miniature_arguments, samples_of
from tests.system.server import Server, server

LONG = "This comes first. And then there is a sentence with far more words than anybody needs to hear of it."
SHORT = "Hi."

_PADS = 2


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One lane, and a model that takes its time for every token."""
    arguments = miniature_arguments(tmp_path_factory.mktemp("model"), cost=40)
    with server(*arguments, "--concurrency", "1", "--cache-bytes", "0") as started:
        yield started


def tokens_of_segments(text: str) -> list[int]:
    return [segment.tokens + _PADS for segment in TextPipeline(G2P()).segments(text, "en-us", NOTATION)]


def first_audio_seconds(of: Server) -> float:
    """The sum over all requests so far, as the server itself measured it."""
    _, metrics = of.get("/metrics")
    found = re.findall(r"^kokoro_live_time_to_first_audio_seconds_sum\S* (\S+)", metrics, re.MULTILINE)
    return sum(map(float, found))


@pytest.fixture(scope="module")
def seconds_per_token(slow: Server) -> float:
    started = time.monotonic()
    slow.hear(input=LONG, response_format="pcm")
    return (time.monotonic() - started) / sum(tokens_of_segments(LONG))


@pytest.mark.parametrize("leaves", ["while another waits", "before another comes"])
def test_what_a_listener_left_is_cancelled_inside_its_run(slow: Server, seconds_per_token: float, leaves: str) -> None:
    """The lane is at the long text's second segment; without an end, that alone would take twice the time allowed."""
    _, second, *_ = tokens_of_segments(LONG)
    assert second >= 5 * tokens_of_segments(SHORT)[0]

    leaver = slow.connect()
    leaver.request("POST", "/v1/audio/speech", json.dumps({"input": LONG, "response_format": "pcm"}))
    leaver.getresponse().read(4800)
    assert slow.get("/health")[0] == 200
    before = first_audio_seconds(slow)
    if leaves == "before another comes":
        leaver.close()
    with contextlib.closing(slow.connect()) as waiting:
        waiting.request("POST", "/v1/audio/speech", json.dumps({"input": SHORT, "response_format": "pcm"}))
        leaver.close()
        heard = np.frombuffer(waiting.getresponse().read(), "<i2")
    assert np.array_equal(heard, samples_of(SHORT))
    assert first_audio_seconds(slow) - before < second * seconds_per_token / 2

"""A run inside onnxruntime ends when its listener has left and another one waits."""

import contextlib
import json
import re
import time

import numpy as np
import pytest

from tests.frontend.segments import segments_of
from tests.system.oracle import NOTATION, samples_of
from tests.system.server import DEADLINE, Server
from tests.system.shared import SharedServer
from text.g2p import G2P
from text.pipeline import TextPipeline

LONG = "This comes first. And then there is a sentence with far more words than anybody needs to hear of it."
SHORT = "Hi."

_PADS = 2


@pytest.fixture
def slow(laborious: SharedServer) -> Server:
    return laborious.calm()


def tokens_of_segments(text: str) -> list[int]:
    return [segment.tokens + _PADS for segment in segments_of(TextPipeline(G2P()), text, "en-us", NOTATION)]


def counted(of: Server, name: str) -> float:
    _, metrics = of.get("/metrics")
    return sum(map(float, re.findall(rf"^kokoro_live_worker_{name}_total (\S+)", metrics, re.MULTILINE)))


def processor_seconds(of: Server) -> float:
    """The worker's processor time: on a machine that others use as well, the share that it was given."""
    times = of.child("worker[").cpu_times()
    return times.user + times.system


@pytest.fixture(scope="module")
def seconds_per_token(laborious: SharedServer) -> float:
    slow = laborious.calm()
    before = processor_seconds(slow)
    slow.hear(input=LONG, response_format="pcm")
    return (processor_seconds(slow) - before) / sum(tokens_of_segments(LONG))


@pytest.mark.parametrize(
    "leaves", ["while another waits", pytest.param("before another comes", marks=pytest.mark.slow)]
)
def test_what_a_listener_left_is_cancelled_inside_its_run(slow: Server, seconds_per_token: float, leaves: str) -> None:
    """The worker is at the long text's second segment; without an end, that alone would take twice the time allowed."""
    _, second, *_ = tokens_of_segments(LONG)
    assert second >= 5 * tokens_of_segments(SHORT)[0]

    leaver = slow.connect()
    leaver.request("POST", "/v1/audio/speech", json.dumps({"input": LONG, "response_format": "pcm"}))
    leaver.getresponse().read(4800)
    blocks, cancelled, used = counted(slow, "blocks"), counted(slow, "cancelled_runs"), processor_seconds(slow)
    give_up = time.monotonic() + DEADLINE
    while processor_seconds(slow) < used + second * seconds_per_token / 20 and time.monotonic() < give_up:
        time.sleep(0.01)  # the inference thread is at it when it uses its processor, which nothing else tells
    if leaves == "before another comes":
        leaver.close()
    with contextlib.closing(slow.connect()) as waiting:
        waiting.request("POST", "/v1/audio/speech", json.dumps({"input": SHORT, "response_format": "pcm"}))
        leaver.close()
        heard = np.frombuffer(waiting.getresponse().read(), "<i2")
    assert np.array_equal(heard, samples_of(SHORT))
    assert (counted(slow, "blocks"), counted(slow, "cancelled_runs")) == (blocks + 1, cancelled + 1)
    assert processor_seconds(slow) - used < second * seconds_per_token / 2

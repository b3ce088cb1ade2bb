"""The first listener doesn't wait for a codec: the front has loaded the usual format's before anybody came."""

import sys
import time
from pathlib import Path

import pytest

from tests.system.server import DEADLINE, server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells which libraries a process has")


@pytest.mark.parametrize(("usual", "loaded"), [("mp3", True), pytest.param("pcm", False, marks=pytest.mark.slow)])
def test_a_front_that_nobody_has_asked_has_the_codec_of_the_usual_format(usual: str, loaded: bool) -> None:
    with server("--engine", "espeak", "--default-format", usual) as started:
        front = next(each for each in started.get("/status")[1]["processes"] if each["role"] == "front")
        maps, until = Path(f"/proc/{front['pid']}/maps"), time.monotonic() + DEADLINE
        while loaded and "libavcodec" not in maps.read_text() and time.monotonic() < until:
            started.get("/health")
        assert ("libavcodec" in maps.read_text()) == loaded
        started.hear(input="The first.", response_format="mp3")
        assert "libavcodec" in maps.read_text()

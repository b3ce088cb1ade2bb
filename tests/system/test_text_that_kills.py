"""Texts that are segmentation faults in espeak-ng end no stream, and no process that others depend on."""

import contextlib
import re

import pytest

from tests.system.server import Server
from tests.system.shared import SharedServer

POISON = "\u033e\u093dn\u115cQ"
LONG = "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun. " * 15


@pytest.fixture
def live(plain: SharedServer) -> Server:
    return plain.calm()


def test_five_characters_break_nobodys_stream(live: Server) -> None:
    """1. Somebody listens. 2. Others have such texts spoken, more often than a server may die. 3. Each is answered, the
    listener hears all, front and worker are the processes of before, and the helper's deaths are counted."""
    expected = live.hear(input=LONG, voice="af_heart", response_format="pcm")
    before = {title: live.child(title).pid for title in ("front", "worker")}
    with contextlib.closing(live.connect()) as connection:
        response = connection.speak({"input": LONG, "voice": "af_heart", "response_format": "pcm"})
        heard = response.read(4096)
        for count in range(8):
            text = f"{POISON}{chr(ord('a') + count)}"
            for language in ("en-us", "hi"):
                status, found = live.post("/dev/phonemize", {"input": f"so {text} so", "lang": language})
                assert status == 200
                assert [word["word"] for word in found["words"]] == ["so", text, "so"]
            assert live.hear(input=f"so {text} so", lang="hi", response_format="pcm")
        heard += response.read()
    assert heard == expected
    assert {title: live.child(title).pid for title in ("front", "worker")} == before
    _, metrics = live.get("/metrics")
    restarts = re.search(r'kokoro_live_process_restarts_total\{process="g2p"\} (\S+)', metrics)
    assert restarts and float(restarts[1]) >= 8
    assert re.search(r'kokoro_live_process_resident_memory_bytes\{process="g2p"\} [1-9]', metrics)


def test_the_helper_ends_with_the_front(live: Server) -> None:
    """1. The front's helper runs. 2. The front is killed. 3. The helper is another one, and the former is gone."""
    live.post("/dev/phonemize", {"input": "hola", "lang": "es"})
    helpers = live.children("g2p")
    assert len(helpers) == 2
    start = len(live.log)
    live.child("front").kill()
    for process in helpers:
        process.wait(60)
    live.logs("the front died", start)
    live.post("/dev/phonemize", {"input": "hola", "lang": "es"})
    assert len(live.children("g2p")) == 2

"""A rule whose time grows exponentially holds up the sentence that it stalls at, and nobody else."""

import os
import re
import threading
from collections.abc import Iterator

import pytest

from tests.system.server import Server, server
from text.apart import AT_ONCE

PLANTED = """
import sys
if "text.passages:answering" in sys.orig_argv:
    import re
    from text.normalization.draft import Rule
    from text.normalization.english import english
    def stall(draft):
        if "Zebra" in draft.sentence:
            re.match("(?:a|a)+b", "a" * 100)
    english.RULES = (*english.RULES[:1], Rule("web_addresses", stall, re.compile("")), *english.RULES[1:])
"""
CALM = "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun. " * 5
STALLING = {
    "long": "It rains. A Zebra ran. It shines. " + "Words. " * (AT_ONCE // 7),
    "a short one with a row of signs": "It rains. A Zebra ran. It shines. " + "=" * 200 + " And so on.",
}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(PLANTED)
    path = os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))
    with server("--engine", "espeak", environment={"PYTHONPATH": path}) as started:
        yield started


def misread(live: Server) -> float:
    found = re.search(r"^kokoro_live_sentences_misread_total (\S+)", live.get("/metrics")[1], re.MULTILINE)
    return float(found[1]) if found else 0.0


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, id=name, marks=[pytest.mark.slow] if name == "long" else [])
        for name, text in STALLING.items()
    ],
)
def test_health_and_other_streams_go_on_and_the_text_is_spoken_whole(live: Server, text: str) -> None:
    """1. A text is read in which a rule never ends. 2. Meanwhile /health answers, others are spoken. 3. The helper is
    killed, and the text is spoken, the one sentence without its rules."""
    before = misread(live)
    expected = live.hear(input=CALM, response_format="pcm")
    whole = live.hear(input=text.replace("Zebra", "horse"), response_format="pcm")
    heard: list[bytes] = []
    reading = threading.Thread(target=lambda: heard.append(live.hear(input=text, response_format="pcm")))
    reading.start()
    asked = spoken = 0
    while reading.is_alive():
        assert live.get("/health")[0] == 200
        asked += 1
        if asked % 5 == 0:
            assert live.hear(input=CALM, response_format="pcm") == expected
            spoken += 1
    reading.join()
    assert spoken >= 2 and asked >= 10
    assert len(heard[0]) > 0.9 * len(whole)
    metrics = live.get("/metrics")[1]
    assert misread(live) == before + 1
    restarts = re.search(r'kokoro_live_process_restarts_total\{process="reader"\} (\S+)', metrics)
    assert restarts and 1 <= float(restarts[1]) <= 8
    assert any("at character 10: HelperDied" in line for line in live.log)


def test_the_helper_ends_with_the_front(live: Server) -> None:
    live.hear(input=CALM * 10, response_format="pcm")
    helpers = live.children("reader")
    assert len(helpers) == 2
    live.child("front").kill()
    for process in helpers:
        process.wait(60)

"""A dialogue through the whole server, whichever process dies meanwhile, and a voice that nobody has used before."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frontend.streams.joins import Joiner
from tests.frontend.segments import segments_of
from tests.miniature import STYLE_STEP, expected, tokens_of
from tests.split_model import make_split_model, make_split_voices
from tests.system.oracle import NOTATION
from tests.system.server import Server, server
from tests.system.shared import SharedServer
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Cut

LANGUAGES = {"af_heart": "en-us", "am_adam": "en-us", "bf_emma": "en-gb"}
TURNS = [(voice, f"Turn number {n} is of {voice[3:]}.") for n, voice in enumerate([*LANGUAGES] * 6)]
"""Turns that no plan cuts, however late the machine is."""


@pytest.fixture
def slow(wanting: SharedServer) -> Server:
    return wanting.calm()


def samples_of(turns: list[tuple[str, str]]) -> np.ndarray:
    """The expected sound of the turns, from the plan of each turn by itself."""
    joiner, pipeline = Joiner(), TextPipeline(G2P())
    joined: list[np.ndarray] = []
    for place, (voice, text) in enumerate(turns, 1):
        *_, last = segments = list(segments_of(pipeline, text, LANGUAGES[voice], NOTATION))
        for segment in segments:
            tokens = tokens_of(segment.script)
            offset = [*LANGUAGES].index(voice) * STYLE_STEP + (len(tokens) - 1) % 50
            joined += joiner.push(expected(tokens, 1.0, offset))
            ends = segment is last and place < len(turns)
            joiner.end(Cut.SENTENCE if ends else segment.cut, 1.0, None if ends else segment.pause)
    return np.concatenate([*joined, *joiner.finish()])


def heard(started: Server, **body: Any) -> np.ndarray:
    status, audio = started.post("/v1/audio/dialogue", {"response_format": "pcm"} | body)
    assert status == 200
    return np.frombuffer(audio, "<i2")


def body_of(turns: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"voice": voice, "text": text} for voice, text in turns]


def test_a_dialogue_has_every_sample_of_every_voice_though_a_worker_dies(slow: Server) -> None:
    connection = slow.connect()
    connection.request("POST", "/v1/audio/dialogue", json.dumps({"turns": body_of(TURNS), "response_format": "pcm"}))
    response = connection.getresponse()
    first = response.read(4800)
    slow.child("worker").kill()
    got = np.frombuffer(first + response.read(), "<i2")
    assert np.array_equal(got, samples_of(TURNS))


def test_tags_and_ssml_sound_like_the_same_turns(slow: Server) -> None:
    (one, first), (two, second), (three, third) = TURNS[:3]
    wanted = samples_of(TURNS[:3])
    tagged = f"{first} [voice:{two}] {second} [voice:{three}] {third}"
    got = slow.hear(input=tagged, voice=one, allow_voice_tags=True, response_format="pcm")
    assert np.array_equal(np.frombuffer(got, "<i2"), wanted)
    document = f'<speak>{first} <voice name="{two}">{second}</voice> <voice name="{three}">{third}</voice></speak>'
    got = slow.hear(input=document, voice=one, markup="ssml", response_format="pcm")
    assert np.array_equal(np.frombuffer(got, "<i2"), wanted)


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

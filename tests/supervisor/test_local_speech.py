"""Speaking in this process gives the samples that a server would, in order, and stops when nobody listens."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

from frontend.text.g2p import G2P
from frontend.text.pipeline import TextPipeline
from frontend.text.segment import Notation
from shm.messages import EngineInfo
from supervisor.local_speech import LocalSpeech
from supervisor.spoken import CannotSpeak
from tests.miniature import expected, make_miniature, make_voices, tokens_of
from tests.supervisor.clean_environment import clean_environment
from worker import select
from worker.engine import Block, Utterance
from worker.settings import WorkerSettings

LONG_THEN_SHORT = f"{'A long sentence comes first and takes its time ' * 5}. Then one. Two. Three. Four. And five."


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    with clean_environment(tmp_path, monkeypatch):
        yield


def miniature(folder: Path, concurrency: int = 1, **attributes: int) -> LocalSpeech:
    folder.mkdir()
    make_miniature(folder / "model.onnx", **attributes)
    make_voices(folder / "voices.bin")
    return LocalSpeech(WorkerSettings(model_dir=folder, concurrency=concurrency))


def samples(speech: LocalSpeech, text: str, **attributes: object) -> np.ndarray:
    asked = {"voice": None, "lang": None, "speed": 1.0} | attributes
    return np.frombuffer(b"".join(piece.pcm for piece in speech.speak(text, **asked)), "<i2")


def planned(speech: LocalSpeech, text: str) -> list[str]:
    return [segment.script for segment in TextPipeline(G2P()).segments(text, "en-us", Notation.of(speech.engine))]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_every_segment_is_spoken_in_order(tmp_path, concurrency):
    """With three at a time the short segments are made before the long one that comes before them."""
    speech = miniature(tmp_path / "models", concurrency, cost=2)
    scripts = planned(speech, LONG_THEN_SHORT)
    assert len(scripts) >= 6
    wanted = np.concatenate([expected(tokens_of(script)) for script in scripts])
    assert np.array_equal(samples(speech, LONG_THEN_SHORT), wanted)


def test_pieces_tell_how_much_of_the_text_they_are(tmp_path):
    speech = miniature(tmp_path / "models")
    pieces = list(speech.speak(LONG_THEN_SHORT, None, None, 1.0))
    assert sum(piece.characters for piece in pieces) == pytest.approx(len(LONG_THEN_SHORT), abs=8)
    assert sum(piece.characters > 0 for piece in pieces) == len(planned(speech, LONG_THEN_SHORT))


def test_voice_and_speed_reach_the_engine(tmp_path):
    speech = miniature(tmp_path / "models")
    [script] = planned(speech, "Hello.")
    assert np.array_equal(samples(speech, "Hello.", speed=2.0), expected(tokens_of(script), speed=2.0))
    with pytest.raises(CannotSpeak, match=r"No voice is called 'af_hart'\. Near it: af_heart"):
        samples(speech, "Hello.", voice="af_hart")
    with pytest.raises(CannotSpeak, match="unknown language 'xx'"):
        samples(speech, "Hello.", lang="xx")


def test_the_seed_is_the_servers(tmp_path, monkeypatch):
    engine = Recorder()
    monkeypatch.setattr(select, "choose", lambda settings: engine)
    samples(LocalSpeech(WorkerSettings()), "One.", voice="bf_emma")
    assert engine.begun == [Utterance("One.", "en-gb", (("bf_emma", 1.0),), 1.0, zlib.crc32(b"One."))]


def test_an_engine_that_fails_on_a_segment_is_no_end_of_the_text(tmp_path):
    speech = miniature(tmp_path / "models", fails_at=tokens_of("θ")[0])
    good, bad = planned(speech, "One. Thing.")
    assert "θ" not in good and "θ" in bad
    pieces = speech.speak("One. Thing.", None, None, 1.0)
    with pytest.raises(CannotSpeak, match="the model failed"):
        heard = [next(pieces).pcm]
        heard += [piece.pcm for piece in pieces]
    assert np.array_equal(np.frombuffer(b"".join(heard), "<i2"), expected(tokens_of(good)))


def test_an_error_that_isnt_the_engines_own_comes_through(monkeypatch):
    class Defective(Recorder):
        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            raise ZeroDivisionError
            yield

    monkeypatch.setattr(select, "choose", lambda settings: Defective())
    with pytest.raises(ZeroDivisionError):
        samples(LocalSpeech(WorkerSettings()), "One.")


def test_what_nobody_listens_to_is_not_made(monkeypatch):
    engine = Recorder()
    monkeypatch.setattr(select, "choose", lambda settings: engine)
    pieces = LocalSpeech(WorkerSettings()).speak("One. Two. Three. " * 9, None, None, 1.0)
    next(pieces)
    pieces.close()
    for thread in threading.enumerate():
        if thread.name.startswith("speech"):
            thread.join()
    assert 1 <= len(engine.begun) <= 3  # one that was heard, and two ahead of it


def test_a_segment_that_nobody_listens_to_is_not_made_to_its_end(monkeypatch):
    left = threading.Event()
    made = []

    class InBlocks(Recorder):
        concurrency = 1

        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            for number in range(9):
                made.append(number)
                yield Block(number, np.zeros(1, np.int16))
                left.wait()

    monkeypatch.setattr(select, "choose", lambda settings: InBlocks())
    pieces = LocalSpeech(WorkerSettings()).speak("One.", None, None, 1.0)
    next(pieces)
    pieces.close()
    left.set()
    for thread in threading.enumerate():
        if thread.name.startswith("speech"):
            thread.join()
    assert made == [0, 1]


def test_what_has_no_sound_is_counted(tmp_path):
    speech = miniature(tmp_path / "models")
    samples(speech, "Hello \ue000 there.")
    assert speech.unspoken == {"\ue000": 1}


def test_without_the_model_that_is_asked_for(tmp_path):
    with pytest.raises(CannotSpeak, match="kokoro-live models fetch"):
        LocalSpeech(WorkerSettings(engine="kokoro", model_dir=tmp_path))


class Recorder:
    """An engine that speaks text, a sample each, and remembers what it was asked for."""

    concurrency = 2
    info = EngineInfo(
        name="espeak-ng", provider="native", model="", speaks="text", max_tokens=9, voices=("af_heart", "bf_emma")
    )

    def __init__(self) -> None:
        self.begun: list[Utterance] = []

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        self.begun.append(utterance)
        yield Block(0, np.array([len(utterance.script)], np.int16))

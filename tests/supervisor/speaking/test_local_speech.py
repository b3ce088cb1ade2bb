"""Speech in this process: a server's samples, in order, no longer than somebody listens; and files of each format."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Generator
from itertools import pairwise
from pathlib import Path

import av
import msgspec
import numpy as np
import pytest

from client.answers import CannotSpeak
from frontend.audio.formats import BY_EXTENSION
from frontend.streams.joins import LEAD
from supervisor.speaking.local_speech import LocalSpeech
from supervisor.speaking.sinks import sink_for
from tests.engine_infos import espeak
from tests.frontend.segments import segments_of
from tests.miniature import make_miniature, make_voices, tokens_of
from tests.system.oracle import samples_of
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.settings import TextSettings
from text.words.segment import Notation, Segment
from worker import select
from worker.engine import Block, Cancelled, Utterance
from worker.settings import WorkerSettings

PIPELINE = TextPipeline(G2P())
LONG_THEN_SHORT = f"{'A long sentence comes first and takes its time ' * 5}. Then one. Two. Three. Four. And five."


def miniature(folder: Path, concurrency: int = 1, **attributes: int) -> LocalSpeech:
    folder.mkdir()
    make_miniature(folder / "model.onnx", **attributes)
    make_voices(folder / "voices.bin")
    return LocalSpeech(WorkerSettings(model_dir=folder, concurrency=concurrency))


def speaking(monkeypatch: pytest.MonkeyPatch, engine: Recorder, text: TextSettings | None = None) -> LocalSpeech:
    monkeypatch.setattr(select, "choose", lambda settings: engine)
    return LocalSpeech(WorkerSettings(), text)


def until_nothing_is_made() -> None:
    for thread in threading.enumerate():
        if thread.name.startswith("speech"):
            thread.join()


def samples(speech: LocalSpeech, text: str, **attributes: object) -> np.ndarray:
    asked = {"voice": None, "lang": None, "speed": 1.0} | attributes
    return np.frombuffer(b"".join(piece.pcm for piece in speech.speak(text, **asked)), "<i2")


def planned(speech: LocalSpeech, text: str) -> list[Segment]:
    return list(segments_of(PIPELINE, text, "en-us", Notation.of(speech.engine)))


@pytest.mark.parametrize("concurrency", [1, 3])
def test_every_segment_is_spoken_in_order(tmp_path, concurrency):
    """Three segments at a time: the short ones are made before the long one that precedes them."""
    speech = miniature(tmp_path / "models", concurrency, cost=2)
    assert len(planned(speech, LONG_THEN_SHORT)) >= 4
    assert np.array_equal(samples(speech, LONG_THEN_SHORT), samples_of(LONG_THEN_SHORT))


def test_pieces_tell_how_much_of_the_text_they_are(tmp_path):
    speech = miniature(tmp_path / "models")
    pieces = list(speech.speak(LONG_THEN_SHORT, None, None, 1.0))
    assert sum(piece.characters for piece in pieces) == pytest.approx(len(LONG_THEN_SHORT), abs=8)
    assert sum(piece.characters > 0 for piece in pieces) == len(planned(speech, LONG_THEN_SHORT))


def test_voice_and_speed_reach_the_engine(tmp_path):
    speech = miniature(tmp_path / "models")
    assert np.array_equal(samples(speech, "Hello.", speed=2.0), samples_of("Hello.", 2.0))


def test_the_seed_is_the_servers(tmp_path, monkeypatch):
    engine = Recorder()
    samples(speaking(monkeypatch, engine), "One.", voice="bf_emma")
    [begun] = engine.begun
    wanted = Utterance("One.", "en-gb", (("bf_emma", 1.0),), 1.0, zlib.crc32(b"One."))
    assert msgspec.structs.replace(begun, control=wanted.control) == wanted


@pytest.mark.parametrize(
    ("text", "script"),
    [
        (TextSettings(), "nginx has five kilometers."),
        (TextSettings(normalize_without=("units",)), "nginx has 5 km."),
        ("engine x", "engine x has five kilometers."),
    ],
)
def test_the_users_lexicon_and_rules_are_obeyed(tmp_path, monkeypatch, text, script):
    if isinstance(text, str):
        (tmp_path / "lexicon.tsv").write_text(f"nginx\t{text}\n")
        text = TextSettings(lexicon=tmp_path / "lexicon.tsv")
    engine = Recorder()
    engine.concurrency = 1  # segments are recorded in the order of the text
    speech = speaking(monkeypatch, engine, text)
    samples(speech, "nginx has 5 km.")
    assert "".join(begun.script for begun in engine.begun).replace(" ", "") == script.replace(" ", "")
    assert speech.pronounced("nginx has 5 km.", None, None) == script


def test_an_engine_that_fails_on_a_segment_is_no_end_of_the_text(tmp_path):
    speech = miniature(tmp_path / "models", fails_at=tokens_of("θ")[0])
    text = "No one is here now, as far as we can see at all.\n\nThing."
    good, bad = planned(speech, text)
    assert "θ" not in good.script and "θ" in bad.script
    heard = b""
    with pytest.raises(CannotSpeak, match="the model failed"):
        for piece in speech.speak(text, None, None, 1.0):
            heard += piece.pcm
    got = np.frombuffer(heard, "<i2")
    assert len(got) > 10_000 and np.array_equal(got, samples_of(text)[: len(got)])


def test_an_error_that_isnt_the_engines_own_comes_through(monkeypatch):
    class Defective(Recorder):
        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            raise ZeroDivisionError
            yield

    with pytest.raises(ZeroDivisionError):
        samples(speaking(monkeypatch, Defective()), "One.")


def test_what_nobody_listens_to_is_not_made(monkeypatch):
    engine = Recorder()
    pieces = speaking(monkeypatch, engine).speak("One. Two. Three. " * 9, None, None, 1.0)
    next(pieces)
    pieces.close()
    until_nothing_is_made()
    assert 1 <= len(engine.begun) <= 3  # one that was heard, and two ahead of it


def test_a_segment_that_nobody_listens_to_is_not_made_to_its_end(monkeypatch):
    left = threading.Event()
    made = []

    class InBlocks(Recorder):
        concurrency = 1

        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            for number in range(9):
                made.append(number)
                yield Block(number * 2400, np.full(2400, 9000, np.int16))
                left.wait()

    pieces = speaking(monkeypatch, InBlocks()).speak("One.", None, None, 1.0)
    next(pieces)
    pieces.close()
    left.set()
    until_nothing_is_made()
    assert made == [0, 1]


def test_what_is_being_made_is_cancelled_when_nobody_listens(monkeypatch):
    came_out = threading.Event()

    class Deep(Recorder):
        concurrency = 1

        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            self.begun.append(utterance)
            yield Block(0, np.full(2400, 9000, np.int16))
            deep_in = threading.Event()
            with utterance.control.stopping(deep_in.set):
                assert deep_in.wait(30)
            came_out.set()
            raise Cancelled

    pieces = speaking(monkeypatch, Deep()).speak("One.", None, None, 1.0)
    next(pieces)
    pieces.close()
    assert came_out.wait(30)


# -- when words sound


def test_words_are_told_when_they_sound(tmp_path):
    """Each is where its sound is: before and after it, at the joins and in the pauses, it is quiet."""
    speech = LocalSpeech(WorkerSettings(engine="espeak", model_dir=tmp_path))
    text = "Please stop! Now $5 is all. \n\nThen go."
    pieces = list(speech.speak(text, None, None, 1.0, timestamps=True))
    audio = np.abs(np.frombuffer(b"".join(piece.pcm for piece in pieces), "<i2").astype(int))
    words = [word for piece in pieces for word in piece.words]
    assert [word.word for word in words] == ["Please", "stop!", "Now", "$5", "is", "all.", "Then", "go."]
    assert all(one.end <= other.start for one, other in pairwise(words))
    assert words[-1].end <= len(audio) / 24_000
    for word in words:
        assert audio[round(word.start * 24_000) : round(word.end * 24_000)].max() > 1000, word
    for before, after in ((1, 2), (5, 6)):
        gap = audio[round(words[before].end * 24_000) : round(words[after].start * 24_000)]
        assert len(gap) > 0.2 * 24_000
        assert gap.max() <= 64


def test_the_silence_that_is_cut_away_before_a_word_is_not_counted(monkeypatch):
    class Hesitant(Recorder):
        info = msgspec.structs.replace(Recorder.info, marks=True)

        def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
            samples = np.repeat(np.array([0, 9000], np.int16), 12_000)
            yield Block(0, samples, marks=((0, 12_000), (len(utterance.script), 24_000)))

    pieces = speaking(monkeypatch, Hesitant()).speak("One.", None, None, 1.0, timestamps=True)
    [word] = [word for piece in pieces for word in piece.words]
    assert (word.start, word.end) == (LEAD, LEAD + 0.5)


def test_an_engine_that_cannot_tell_says_so(monkeypatch):
    with pytest.raises(CannotSpeak, match="can't tell when words sound"):
        next(speaking(monkeypatch, Recorder()).speak("One.", None, None, 1.0, timestamps=True))


class Recorder:
    """An engine that speaks text, a tenth of a second each, and remembers what it was asked for."""

    concurrency = 2
    info = espeak("af_heart", "bf_emma", max_tokens=9)

    def __init__(self) -> None:
        self.begun: list[Utterance] = []

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        self.begun.append(utterance)
        yield Block(0, np.full(2400, 9000, np.int16))


SECOND = (np.sin(np.arange(24_000) / 10) * 10_000).astype("<i2").tobytes()


@pytest.mark.parametrize("suffix", [each for each in BY_EXTENSION if each not in (".pcm", ".raw")])
def test_a_file_has_its_format_and_its_length(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"out{suffix}"
    with sink_for(str(file)) as write:
        for at in range(0, len(SECOND), 4801):
            write(SECOND[at : at + 4801])
    with av.open(str(file)) as audio:
        seconds = sum(frame.samples / frame.sample_rate for frame in audio.decode(audio=0))
    assert seconds == pytest.approx(1, abs=0.15)


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(CannotSpeak, match="mp3"):
        sink_for(str(tmp_path / "out.xyz"))

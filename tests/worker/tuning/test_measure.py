"""What a trial's figures mean, on an engine whose every block takes a known time."""

from __future__ import annotations

import threading
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

from shm.audio import SAMPLE_RATE
from shm.engine_info import EngineInfo
from tests.split_model import make_split_model, make_split_voices
from worker.acceleration.placing import Placing
from worker.acceleration.verdict import Verdict
from worker.engine import Block, Utterance
from worker.providers.chain import Choice
from worker.providers.records import Assignment
from worker.settings import WorkerSettings
from worker.tuning import trial
from worker.tuning.measure import Speaking
from worker.tuning.records import Failed, Measured, TrialSpec, decode_result, decode_spec, encode, silence
from worker.tuning.trial import attempt

SECOND = SAMPLE_RATE


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class TimedEngine:
    """A second of sound for each character, a block each; the first takes `first`, the others `later` seconds."""

    def __init__(self, clock: Clock, first: float, later: float, concurrency: int = 1) -> None:
        self.clock = clock
        self.first, self.later = first, later
        self.concurrency = concurrency
        self.voices: list[str] = []
        self.scripts: list[str] = []
        self.lock = threading.Lock()
        self.info = EngineInfo(
            name="kokoro",
            provider="fake",
            model="fake.onnx",
            speaks="phonemes",
            max_tokens=510,
            voices=("bf_emma", "am_adam"),
            concurrency=concurrency,
        )

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        self.voices.append(utterance.voice[0][0])
        self.scripts.append(utterance.script)
        for place in range(len(utterance.script)):
            with self.lock:
                self.clock.now += self.later if place else self.first
            yield Block(place * SECOND, np.zeros(SECOND, np.int16), prosody_seconds=0.0 if place else self.first / 2)

    def warm_up(self) -> None: ...


def test_a_text_alone_is_its_segments_one_after_another() -> None:
    clock = Clock()
    engine = TimedEngine(clock, first=3.0, later=0.5)
    times, segments = Speaking(engine, clock).alone(("abc", "de"), repeats=2, firsts=3)
    assert (times.first, times.whole, times.audio) == (3.0, 3.0 + 2 * 0.5 + 3.0 + 0.5, 5.0)
    assert [segment.tokens for segment in segments] == [3, 2] * 2
    assert (segments[0].prosody_seconds, segments[0].seconds, segments[0].samples) == (1.5, 4.0, 3 * SECOND)
    # Heard from second 3 to 6; the second segment's first block is there at second 7.
    assert times.silence == 1.0
    assert set(engine.voices) == {"bf_emma"}


def test_together_all_lanes_speak_all_texts() -> None:
    clock = Clock()
    engine = TimedEngine(clock, first=1.0, later=1.0, concurrency=3)
    entered: list[str] = []

    def enter_lane() -> None:
        entered.append(threading.current_thread().name)

    assert Speaking(engine, clock, enter_lane).together((("ab",), ("c",))) == pytest.approx(1.0)
    assert len(engine.voices) == 6
    assert entered and threading.current_thread().name not in entered


@pytest.mark.parametrize(
    ("blocks", "gaps"),
    [
        ((), 0.0),
        (((SECOND, 9.0),), 0.0),
        (((SECOND, 1.0), (SECOND, 1.0), (SECOND, 1.0)), 0.0),
        (((SECOND, 1.0), (SECOND, 1.5), (SECOND, 2.0)), 1.5),
        (((3 * SECOND, 1.0), (SECOND, 2.0), (SECOND, 2.5)), 0.5),
    ],
)
def test_silence_is_what_a_listener_hears_between_blocks(blocks: tuple[tuple[int, float], ...], gaps: float) -> None:
    assert silence(blocks) == pytest.approx(gaps)


def test_specs_and_results_cross_as_they_are(tmp_path) -> None:
    spec = TrialSpec(settings=WorkerSettings(model=tmp_path / "a.onnx", threads=3), texts=(("a", "b"),), repeats=2)
    assert decode_spec(encode(spec)) == spec
    assert decode_result(encode(Failed("no"))) == Failed("no")
    measured = Measured(engine=TimedEngine(Clock(), 1, 1).info, load_seconds=1.0, rss=1)
    assert decode_result(encode(measured)) == measured


def test_a_provider_that_is_not_there_is_a_failure(tmp_path) -> None:
    settings = WorkerSettings(
        engine="kokoro",
        model=make_split_model(tmp_path / "small.onnx"),
        voices=make_split_voices(tmp_path / "voices.bin"),
        cache_dir=tmp_path / "cache",
        provider="coreml",
    )
    result = attempt(TrialSpec(settings=settings))
    assert isinstance(result, Failed) and "CoreML" in result.reason


class TestProviders:
    """Of an engine that could run on CUDA, and says on what it does."""

    @pytest.fixture(autouse=True)
    def engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.untried: tuple[str, ...] = ()
        self.judged: list[str] = []
        files = (Path("model.onnx"), Path("voices.bin"))
        monkeypatch.setattr(trial, "kokoro_files", lambda settings: files)
        monkeypatch.setattr(trial, "place", lambda *_: Placing(Choice(Assignment(), self.untried), ()))
        monkeypatch.setattr(trial, "choose", lambda settings: TimedEngine(Clock(), 1.0, 1.0))
        monkeypatch.setattr(trial, "judge", self.judge)

    def judge(self, settings: WorkerSettings, provider: str, seconds: float) -> Verdict | None:
        self.judged.append(provider)
        return None if provider == "unstorable" else Verdict(when=0.0, right=True, faster=True, reason="")

    def test_one_that_was_not_tried_is_judged_first(self) -> None:
        self.untried = ("one", "another")
        assert isinstance(attempt(TrialSpec(settings=WorkerSettings())), Measured)
        assert self.judged == ["one", "another"]

    def test_what_cannot_be_kept_is_a_failure(self) -> None:
        self.untried = ("unstorable",)
        result = attempt(TrialSpec(settings=WorkerSettings()))
        assert isinstance(result, Failed) and "unstorable" in result.reason

    def test_the_longest_text_is_spoken_before_anything_is_measured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engine = TimedEngine(Clock(), 1.0, 1.0)
        monkeypatch.setattr(trial, "choose", lambda settings: engine)
        assert isinstance(attempt(TrialSpec(settings=WorkerSettings(), texts=(("a",), ("b", "cd")))), Measured)
        assert engine.scripts[:5] == ["b", "cd", "a", "b", "cd"] and len(engine.scripts) == 2 + 3 + 3

    def test_another_than_was_asked_for_is_a_failure(self) -> None:
        result = attempt(TrialSpec(settings=WorkerSettings(provider="cuda")))
        assert isinstance(result, Failed) and "CUDAExecutionProvider was asked for, and fake runs" in result.reason

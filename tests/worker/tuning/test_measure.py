"""The figures of a measurement, with an engine whose every block takes a known time."""

import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shm.audio import AUDIBLE, SAMPLE_RATE
from tests.engine_infos import kokoro
from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.engine import Block, EngineError, Utterance
from worker.providers.choice import Choice, ProviderDecision
from worker.providers.verdict import Verdict
from worker.settings import WorkerSettings
from worker.targets import Assignment
from worker.tuning import process
from worker.tuning.messages import MeasurementFailed, Result, Round, decode_result, decode_settings, encode
from worker.tuning.process import FIRSTS, EngineMeasurement, results

SECOND = SAMPLE_RATE


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class TimedEngine:
    """A second of sound for each character, a block each; spaces are silent. The first takes `first`, the others
    `later` seconds."""

    def __init__(self, clock: Clock, first: float, later: float, concurrency: int = 1) -> None:
        self.clock = clock
        self.first, self.later = first, later
        self.concurrency = concurrency
        self.utterances: list[Utterance] = []
        self.lock = threading.Lock()
        self.info = kokoro("bf_emma", "am_adam", concurrency=concurrency)

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        self.utterances.append(utterance)
        for place, character in enumerate(utterance.script):
            with self.lock:
                self.clock.now += self.later if place else self.first
            level = AUDIBLE if character == " " else AUDIBLE + 1
            yield Block(place * SECOND, np.full(SECOND, -level, np.int16))

    def warm_up(self) -> None: ...


def test_first_audio_is_the_first_audible_sample_and_later_blocks_are_not_made_for_it() -> None:
    clock = Clock()
    engine = TimedEngine(clock, first=3.0, later=0.5)
    found = EngineMeasurement(engine, " ab", clock).measure()
    assert found.first == 3.5
    assert found.alone == found.together == pytest.approx(3 / (3.0 + 2 * 0.5))
    assert {each.voice[0][0] for each in engine.utterances} == {"bf_emma"}
    assert clock.now == pytest.approx(100.0 + FIRSTS * 3.5 + 2 * 4.0)


def test_together_as_many_sentences_are_spoken_as_the_engine_takes() -> None:
    clock = Clock()
    engine = TimedEngine(clock, first=1.0, later=1.0, concurrency=3)
    found = EngineMeasurement(engine, "ab", clock).measure()
    assert len(engine.utterances) == FIRSTS + 1 + 3
    assert found.together == pytest.approx(1.0)


def test_an_engine_that_gives_silence_is_no_fast_one() -> None:
    with pytest.raises(EngineError, match="silence"):
        EngineMeasurement(TimedEngine(Clock(), 1.0, 1.0), "  ", Clock()).measure()


def test_records_cross_as_they_are(tmp_path: Path) -> None:
    settings = WorkerSettings(model=tmp_path / "a.onnx", threads=3, provider_options=("a=1",))
    assert decode_settings(encode(settings)) == settings
    for result in (MeasurementFailed("no"), Round(1.0, 2.0, 3.0)):
        assert decode_result(encode(result)) == result


def test_a_real_engine_gives_a_round_for_each_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "SENTENCE", process.SENTENCE[:24])
    model, voices = make_split_model(tmp_path / "small.onnx"), make_split_voices(tmp_path / "voices.bin")
    stages_of(model, tmp_path / "cache")
    settings = WorkerSettings(model=model, voices=voices, cache_dir=tmp_path / "cache")
    found = list(results(settings, range(2)))
    assert [type(each) for each in found] == [Round, Round]
    (broken,) = results(replace(settings, model=tmp_path / "gone.onnx"), range(2))
    assert isinstance(broken, MeasurementFailed) and "gone.onnx" in broken.reason


class TestProviders:
    """An engine that could run on other execution providers."""

    @pytest.fixture(autouse=True)
    def engine(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.untried: tuple[str, ...] = ()
        self.tried: list[str] = []
        files = (Path("model.onnx"), Path("voices.bin"))
        monkeypatch.setattr(process, "kokoro_files", lambda settings: files)
        monkeypatch.setattr(
            process, "decide_providers", lambda *_: ProviderDecision(Choice(Assignment(), self.untried), ())
        )
        monkeypatch.setattr(process, "choose", lambda settings: TimedEngine(Clock(), 1.0, 1.0))
        monkeypatch.setattr(process, "trial", self.trial)

    def trial(self, settings: WorkerSettings, provider: str, seconds: float, _measuring: object) -> Verdict | None:
        self.tried.append(provider)
        return None if provider == "unstorable" else Verdict(when=0.0, right=True, faster=True, reason="")

    def measured(self) -> list[Result]:
        return list(results(WorkerSettings(), []))

    def test_providers_without_a_verdict_are_tried_first(self) -> None:
        self.untried = ("one", "another")
        assert self.measured() == [] and self.tried == ["one", "another"]

    def test_a_verdict_that_cannot_be_stored_is_a_failure(self) -> None:
        self.untried = ("unstorable",)
        (failed,) = self.measured()
        assert isinstance(failed, MeasurementFailed) and "unstorable" in failed.reason

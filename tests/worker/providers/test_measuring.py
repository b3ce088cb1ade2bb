"""Comparison and timing, with engines whose sound and speed are known."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.engine import Block, EngineError, EngineUnavailable, ProviderUnavailable, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.models import sources
from worker.providers import trial
from worker.providers.trial import ROUNDS, SENTENCES, measure
from worker.providers.verdict import Measurements, judge
from worker.settings import WorkerSettings
from worker.targets import CPU, Assignment, StageTarget

AZURE = "AzureExecutionProvider"
PLACED = Assignment(generator=StageTarget(AZURE))


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


class FakeEngine:
    """Speaks in blocks of 100 samples, and says how long each took."""

    info = SimpleNamespace(vocabulary="ðəkwˈɪ ", default_voice="af_heart")

    def __init__(self, clock: FakeClock, seconds: float, error: float = 0.0, blocks: int = 3) -> None:
        self._clock, self._seconds, self._error, self._blocks = clock, seconds, error, blocks
        self.spoken = 0

    def warm_up(self) -> None:
        self._clock.now += 10

    def begin(self, utterance: Utterance) -> Iterator[Block]:
        assert set(utterance.script) <= set(self.info.vocabulary)
        self.spoken += 1
        for number in range(self._blocks):
            self._clock.now += self._seconds
            wave = np.sin(np.arange(100) + number) * 10_000
            yield Block(100 * number, (wave * (1 + self._error)).astype(np.int16))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    made = FakeClock()
    monkeypatch.setattr(trial, "time", made)
    return made


def measured(cpu: Any, other: Any) -> Measurements:
    return measure(AZURE, lambda placed: cpu if placed == Assignment() else other, PLACED)


@pytest.mark.parametrize(("seconds", "ratio"), [(0.25, 4.0), (1.0, 1.0), (2.0, 0.5)])
def test_both_speak_the_same_in_turn(clock: FakeClock, seconds: float, ratio: float) -> None:
    cpu, other = FakeEngine(clock, 1.0), FakeEngine(clock, seconds)
    found = measured(cpu, other)
    assert found.failure == ""
    assert cpu.spoken == other.spoken == (ROUNDS + 1) * len(SENTENCES)
    assert [mine / its for mine, its in zip(found.cpu_seconds, found.seconds, strict=True)] == [ratio] * ROUNDS
    assert found.compile_seconds == 10 + 3 * seconds * len(SENTENCES)
    assert judge(found).ratio == ratio


@pytest.mark.parametrize(("error", "snr"), [(0.001, 60), (0.01, 40), (0.1, 20)])
def test_sounds_are_compared(clock: FakeClock, error: float, snr: float) -> None:
    found = measured(FakeEngine(clock, 1.0), FakeEngine(clock, 1.0, error))
    assert found.snr == pytest.approx([snr] * len(SENTENCES), abs=2)


def test_static_windows_are_compared_with_the_same_windows_in_floats_and_timed_against_what_speaks(
    clock: FakeClock,
) -> None:
    """The CPU speaks in 8-bit integers, 20 dB from its own floats; the accelerator is 60 dB from these."""
    placed = Assignment(generator=StageTarget(AZURE, window=70, half=True))
    engines = {
        Assignment(): FakeEngine(clock, 1.0, error=0.1),
        Assignment(generator=StageTarget(CPU, window=70)): FakeEngine(clock, 9.0),
        placed: FakeEngine(clock, 0.5, error=0.001),
    }
    found = measure(AZURE, engines.__getitem__, placed)
    assert found.snr == pytest.approx([60] * len(SENTENCES), abs=2)
    assert judge(found).ratio == 2.0


def test_a_model_that_has_no_floats_is_a_verdict(clock: FakeClock) -> None:
    placed = Assignment(generator=StageTarget(AZURE, window=70, half=True))

    def load(assigned: Assignment) -> FakeEngine:
        if assigned == Assignment():
            return FakeEngine(clock, 1.0)
        raise ProviderUnavailable(CPU, "its generator can't be made for windows of 70 frames")

    assert "can't be made" in measure(AZURE, load, placed).failure


def test_another_length_is_another_sound(clock: FakeClock) -> None:
    found = measured(FakeEngine(clock, 1.0), FakeEngine(clock, 1.0, blocks=4))
    assert "made 400 samples, and the CPU 300" in found.failure
    assert found.seconds == ()


def test_whatever_the_provider_raises_is_its_failure(clock: FakeClock) -> None:
    class Raises(FakeEngine):
        def begin(self, utterance: Utterance) -> Iterator[Block]:
            raise RuntimeError("CoreML: no such unit")

    assert measured(FakeEngine(clock, 1.0), Raises(clock, 1.0)).failure == "RuntimeError: CoreML: no such unit"


def test_what_the_cpu_raises_is_not_the_providers(clock: FakeClock) -> None:
    class Raises(FakeEngine):
        def warm_up(self) -> None:
            raise EngineUnavailable("no")

    with pytest.raises(EngineUnavailable):
        measured(Raises(clock, 1.0), FakeEngine(clock, 1.0))


class Numberless:
    """A session of the accelerator whose floats are no numbers."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def run(self, *arguments: Any) -> list[Any]:
        return [array * np.nan if array.dtype == np.float32 else array for array in self._real.run(*arguments)]


def test_what_is_no_number_is_never_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real stages, of which the generator's sessions go wrong."""
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")
    monkeypatch.setattr(trial, "SENTENCES", (SENTENCES[1][:24],))
    real = onnxruntime.InferenceSession

    def open_one(model: Any, options: Any = None, providers: Any = (CPU,), **more: Any) -> Any:
        session = real(model, options, providers=providers, **more)
        return Numberless(session) if providers[0][0] == AZURE else session

    monkeypatch.setattr(onnxruntime, "InferenceSession", open_one)
    files = make_split_model(tmp_path / "small.onnx"), make_split_voices(tmp_path / "voices.bin")
    stages_of(files[0], tmp_path / "cache")
    settings = WorkerSettings(cache_dir=tmp_path / "cache")
    found = measure(AZURE, lambda assigned: KokoroEngine(*files, settings, assigned=assigned), PLACED)
    assert EngineError.__name__ in found.failure or EngineUnavailable.__name__ in found.failure
    assert "no numbers" in found.failure
    assert not judge(found).right

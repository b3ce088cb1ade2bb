"""Which execution provider is taken, and what happens when it doesn't work; the accelerators are fakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnxruntime
import pytest

from tests.miniature import make_miniature, make_voices
from worker.engine import EngineUnavailable, ProviderUnavailable, Utterance
from worker.kokoro import KokoroEngine
from worker.providers.chain import chain, first_left
from worker.providers.records import CPU, StageRecord
from worker.select import choose
from worker.session import open_session
from worker.settings import WorkerSettings

CUDA, COREML = "CUDAExecutionProvider", "CoreMLExecutionProvider"


@pytest.mark.parametrize(
    ("setting", "platform", "available", "expected"),
    [
        ("auto", "darwin", [COREML, CPU], (COREML, CPU)),
        ("auto", "darwin", [CPU], (CPU,)),
        ("auto", "linux", [CUDA, CPU], (CUDA, CPU)),
        ("auto", "linux", [COREML, CPU], (CPU,)),
        ("cuda", "linux", [CPU], (CUDA, CPU)),
        ("coreml", "darwin", [COREML, CPU], (COREML, CPU)),
        ("cpu", "darwin", [COREML, CPU], (CPU,)),
    ],
)
def test_the_chain_ends_at_the_cpu(setting: Any, platform: str, available: list[str], expected: tuple[str]) -> None:
    assert chain(WorkerSettings(provider=setting), available, platform) == expected


def test_what_was_given_up_is_passed_over() -> None:
    settings = WorkerSettings(provider="cuda")
    assert first_left(settings, [CUDA, CPU], ()) == CUDA
    assert first_left(settings, [CUDA, CPU], (CUDA,)) == CPU


def test_a_provider_that_onnxruntime_does_not_have_is_an_error() -> None:
    with pytest.raises(ProviderUnavailable, match=r"CUDAExecutionProvider.*has only CPUExecutionProvider"):
        first_left(WorkerSettings(provider="cuda"), [CPU], ())


class FakeAccelerator:
    """A session that is said to run on CUDA."""

    def __init__(self, real: Any, fails: bool) -> None:
        self._real = real
        self._fails = fails

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def get_providers(self) -> list[str]:
        return [CUDA, CPU]

    def run(self, *arguments: Any) -> Any:
        if self._fails:
            raise RuntimeError("CUDA failure 2: out of memory")
        return self._real.run(*arguments)


@pytest.fixture
def model(tmp_path: Path) -> tuple[Path, Path]:
    return make_miniature(tmp_path / "m.onnx"), make_voices(tmp_path / "voices.bin")


def pretend_cuda(monkeypatch: pytest.MonkeyPatch, session: Any) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)


def test_a_provider_that_cannot_load_the_model_is_told_from_a_bad_model(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path]
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("driver too old")

    pretend_cuda(monkeypatch, refuse)
    with pytest.raises(ProviderUnavailable, match="driver too old"):
        open_session(model[0], WorkerSettings(), StageRecord(CUDA))
    with pytest.raises(EngineUnavailable, match="corrupt") as error:
        open_session(model[0], WorkerSettings())
    assert not isinstance(error.value, ProviderUnavailable)


def test_a_session_that_quietly_went_over_to_the_cpu_is_found_out(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path]
) -> None:
    real = onnxruntime.InferenceSession
    pretend_cuda(monkeypatch, lambda path, options, providers: real(path, options, providers=[CPU]))
    with pytest.raises(ProviderUnavailable, match="went over"):
        open_session(model[0], WorkerSettings(), StageRecord(CUDA))


def test_an_accelerator_that_fails_in_a_run_is_no_segments_fault(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path]
) -> None:
    real = onnxruntime.InferenceSession
    pretend_cuda(
        monkeypatch, lambda path, options, providers: FakeAccelerator(real(path, options, providers=[CPU]), fails=True)
    )
    engine = KokoroEngine(*model, WorkerSettings(provider="cuda"))
    assert engine.info.provider == CUDA
    with pytest.raises(ProviderUnavailable, match="out of memory"):
        next(engine.begin(Utterance("hˈI", "en-us", (("af_heart", 1.0),), 1.0)))


def test_auto_does_not_fall_back_on_espeak_because_of_a_provider(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin")
    settings = WorkerSettings(provider="cuda", model_dir=tmp_path)
    with pytest.raises(ProviderUnavailable):
        choose(settings)
    assert choose(settings, without=(CUDA,)).info.name == "kokoro"

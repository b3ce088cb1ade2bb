"""The choice of an execution provider, and the next choice when it doesn't work; the accelerators are fakes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnxruntime
import pytest

from tests.miniature import make_miniature, make_voices
from tests.split_model import make_split_model, make_split_voices, stages_of
from tests.worker.split.splitting import SCRIPT, blocks_of
from worker.engine import BadOption, EngineUnavailable, ProviderUnavailable
from worker.engines.kokoro import KokoroEngine
from worker.models import sources
from worker.providers.choice import Candidate, Choice, candidates_of, chain, choose, keyed_candidates, window_frames
from worker.providers.table import PROVIDERS
from worker.providers.verdict import Verdict, store
from worker.select import choose as choose_engine
from worker.session import open_session
from worker.settings import WorkerSettings
from worker.split.segments.segment import GENERATOR_CONTEXT
from worker.split.segments.windows import WindowShape, windows
from worker.targets import CPU, Assignment, StageTarget

COREML, CUDA, TENSORRT, OPENVINO = (PROVIDERS[name].name for name in ("coreml", "cuda", "tensorrt", "openvino"))
COMPILED = Path("/cache")


@pytest.mark.parametrize(
    ("setting", "platform", "available", "expected"),
    [
        ("auto", "darwin", [COREML, CPU], (COREML, CPU)),
        ("auto", "darwin", [CPU], (CPU,)),
        ("auto", "linux", [CUDA, CPU], (CUDA, CPU)),
        ("auto", "linux", [TENSORRT, CUDA, OPENVINO, CPU], (CUDA, CPU)),
        ("auto", "linux", [COREML, CPU], (CPU,)),
        ("cuda", "linux", [CPU], (CUDA, CPU)),
        ("tensorrt", "linux", [TENSORRT, CUDA, CPU], (TENSORRT, CUDA, CPU)),
        ("tensorrt", "linux", [TENSORRT, CPU], (TENSORRT, CPU)),
        ("openvino", "linux", [OPENVINO, CUDA, CPU], (OPENVINO, CPU)),
        ("coreml", "darwin", [COREML, CPU], (COREML, CPU)),
        ("cpu", "darwin", [COREML, CPU], (CPU,)),
    ],
)
def test_the_chain_ends_at_the_cpu(setting: Any, platform: str, available: list[str], expected: tuple[str]) -> None:
    assert chain(WorkerSettings(provider=setting), available, platform) == expected


def stages(provider: str, /, **settings: Any) -> dict[str, tuple[str, int]]:
    placed = candidates_of(provider, WorkerSettings(**settings), COMPILED, "1.31.1")[0]
    return {name: (target.provider, target.window) for name, target in placed.stages()}


FRAMES = window_frames(WorkerSettings())
NOWHERE_ELSE = dict.fromkeys(("prosody", "source", "decoder", "generator"), (CPU, 0))


@pytest.mark.parametrize("provider", ["coreml", "cuda", "tensorrt", "openvino"])
def test_accelerators_have_the_generator_in_one_static_window(provider: Any) -> None:
    expected = NOWHERE_ELSE | {"generator": (PROVIDERS[provider].name, FRAMES)}
    assert stages(PROVIDERS[provider].name, provider=provider) == expected


@pytest.mark.parametrize("provider", [COREML, CUDA, TENSORRT, OPENVINO])
def test_without_windows_there_is_no_static_one(provider: str) -> None:
    assert stages(provider, vocoder="whole") == NOWHERE_ELSE


def test_a_compiled_model_is_kept_where_nothing_else_is() -> None:
    options = dict(candidates_of(COREML, WorkerSettings(), COMPILED, "1.31.1")[0].generator.options)
    assert options["ModelCacheDirectory"] == str(COMPILED)


def test_openvino_is_given_as_many_threads_as_a_run_has() -> None:
    (placed,) = candidates_of(OPENVINO, WorkerSettings(provider="openvino", threads=3), COMPILED)
    assert dict(placed.generator.options)["num_of_threads"] == "3"
    settings = WorkerSettings(provider="openvino", threads=3, provider_options=("num_of_threads=1",))
    assert dict(candidates_of(OPENVINO, settings, COMPILED)[0].generator.options)["num_of_threads"] == "1"


@pytest.mark.parametrize("shape", [{}, {"window": 1.0}, {"first_window": 0.15, "window": 0.3}, {"window_growth": 4.0}])
def test_every_window_of_every_segment_fits_into_the_static_one(shape: dict[str, float]) -> None:
    settings = WorkerSettings(**shape)
    longest = max(
        window.end - window.begin for frames in range(1, 800) for window in windows(0, frames, WindowShape.of(settings))
    )
    assert window_frames(settings) % 2 == 0
    assert 0 <= window_frames(settings) - longest - 2 * GENERATOR_CONTEXT <= 1


RIGHT = Verdict(when=0.0, right=True, faster=False, reason="0.9 times as fast")
FASTER = Verdict(when=0.0, right=True, faster=True, reason="4 times as fast")
WRONG = Verdict(when=0.0, right=False, faster=False, reason="12 dB SNR")
PLACED = {name: Assignment(generator=StageTarget(name)) for name in (COREML, CUDA, TENSORRT)}


def chosen(setting: Any, available: list[str], without: tuple[str, ...] = (), **verdicts: Verdict) -> Choice:
    told = {PROVIDERS[name].name: verdict for name, verdict in verdicts.items()}
    candidates = [Candidate(name, placed, told.get(name)) for name, placed in PLACED.items()]
    settings = WorkerSettings(provider=setting)
    return choose(settings, available, without, candidates, "darwin" if COREML in available else "linux")


def test_without_a_verdict_the_cpu_is_taken_whether_it_was_asked_for_or_not() -> None:
    for setting in ("auto", "coreml"):
        assert chosen(setting, [COREML, CPU]) == Choice(Assignment(), (COREML,))


def test_unasked_an_accelerator_has_to_be_faster() -> None:
    assert chosen("auto", [COREML, CPU], coreml=FASTER) == Choice(PLACED[COREML])
    for verdict in (RIGHT, WRONG):
        assert chosen("auto", [COREML, CPU], coreml=verdict) == Choice(Assignment())


def test_asked_for_it_has_to_be_right() -> None:
    for verdict in (FASTER, RIGHT):
        assert chosen("coreml", [COREML, CPU], coreml=verdict) == Choice(PLACED[COREML])
    with pytest.raises(ProviderUnavailable, match="CoreMLExecutionProvider: 12 dB SNR"):
        chosen("coreml", [COREML, CPU], coreml=WRONG)


@pytest.mark.parametrize("setting", ["auto", "coreml"])
@pytest.mark.parametrize("verdict", [FASTER, RIGHT, WRONG])
def test_a_stale_verdict_holds_until_the_next_trial_which_is_due(setting: Any, verdict: Verdict) -> None:
    settings = WorkerSettings(provider=setting)
    candidates = [Candidate(COREML, PLACED[COREML], verdict, stale=True)]
    found = choose(settings, [COREML, CPU], (), candidates, "darwin")
    used = verdict.favours(setting == "coreml")
    assert found == Choice(PLACED[COREML] if used else Assignment(), (COREML,))


def test_while_the_first_of_the_chain_is_untried_the_next_may_speak() -> None:
    assert chosen("tensorrt", [TENSORRT, CUDA, CPU], cuda=FASTER) == Choice(PLACED[CUDA], (TENSORRT,))
    assert chosen("tensorrt", [TENSORRT, CUDA, CPU]) == Choice(Assignment(), (TENSORRT, CUDA))
    assert chosen("tensorrt", [TENSORRT, CUDA, CPU], cuda=RIGHT) == Choice(Assignment(), (TENSORRT,))


def test_what_was_given_up_is_passed_over_whatever_its_verdict() -> None:
    assert chosen("cuda", [CUDA, CPU], (CUDA,), cuda=FASTER) == Choice(Assignment())
    assert chosen("cuda", [CPU], (CUDA,)) == Choice(Assignment())


def test_a_provider_that_onnxruntime_does_not_have_is_an_error() -> None:
    with pytest.raises(
        ProviderUnavailable, match=r"CUDAExecutionProvider.*has only CPUExecutionProvider; onnxruntime-gpu has it"
    ):
        chosen("cuda", [CPU])


def test_a_provider_that_has_nothing_to_run_is_an_error_if_it_was_asked_for() -> None:
    nothing = [Candidate(COREML, Assignment())]
    with pytest.raises(ProviderUnavailable, match="--vocoder whole"):
        choose(WorkerSettings(provider="coreml", vocoder="whole"), [COREML, CPU], (), nothing, "darwin")
    assert choose(WorkerSettings(), [COREML, CPU], (), nothing, "darwin") == Choice(Assignment())


class FakeAccelerator:
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
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A model, and voices, of which an accelerator has the generator."""
    monkeypatch.setattr(sources, "default_cache", lambda: tmp_path / "checksums.json")
    made = make_split_model(tmp_path / "model.onnx"), make_split_voices(tmp_path / "voices.bin")
    stages_of(made[0], tmp_path / "cache")
    return made


def pretend_cuda(monkeypatch: pytest.MonkeyPatch, session: Any) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: [CUDA, CPU])
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)


def test_a_provider_that_cannot_load_the_model_is_told_from_a_bad_model(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path]
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError("driver too old")

    pretend_cuda(monkeypatch, refuse)
    with pytest.raises(ProviderUnavailable, match="driver too old"):
        open_session(model[0], WorkerSettings(), StageTarget(CUDA))
    with pytest.raises(EngineUnavailable, match="corrupt") as error:
        open_session(model[0], WorkerSettings())
    assert not isinstance(error.value, ProviderUnavailable)


def test_a_session_that_quietly_went_over_to_the_cpu_is_found_out(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path]
) -> None:
    real = onnxruntime.InferenceSession
    pretend_cuda(monkeypatch, lambda path, options, providers, **_: real(path, options, providers=[CPU]))
    with pytest.raises(ProviderUnavailable, match="went over"):
        open_session(model[0], WorkerSettings(), StageTarget(CUDA))


def win_trial(model: Path, settings: WorkerSettings) -> None:
    [(placed, key)] = keyed_candidates(CUDA, model, settings)
    assert placed.provider == CUDA
    store(settings.cache_dir, key, FASTER)


def test_an_accelerator_that_fails_in_a_run_is_no_segments_fault(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path], tmp_path: Path
) -> None:
    real = onnxruntime.InferenceSession

    def open_one(path: Any, options: Any = None, providers: Any = (CPU,), **_: Any) -> Any:
        session = real(path, options, providers=[CPU])
        return FakeAccelerator(session, fails=True) if providers[0][0] == CUDA else session

    pretend_cuda(monkeypatch, open_one)
    settings = WorkerSettings(provider="cuda", cache_dir=tmp_path / "cache")
    assert KokoroEngine(*model, settings).info.provider == CPU
    win_trial(model[0], settings)
    engine = KokoroEngine(*model, settings)
    assert [stage.name for stage in engine.info.stages if stage.provider == CUDA] == ["generator"]
    with pytest.raises(ProviderUnavailable, match="out of memory"):
        blocks_of(engine, SCRIPT)


def test_auto_does_not_fall_back_on_espeak_because_of_a_provider_or_its_options(tmp_path: Path) -> None:
    make_miniature(tmp_path / "model.onnx")
    make_voices(tmp_path / "voices.bin")
    settings = WorkerSettings(provider="cuda", model_dir=tmp_path, cache_dir=tmp_path / "cache")
    with pytest.raises(ProviderUnavailable):
        choose_engine(settings)
    assert choose_engine(settings, without=(CUDA,)).info.name == "kokoro"
    with pytest.raises(BadOption, match="gpu_mem_limit"):
        choose_engine(replace(settings, provider_options=("gpu_mem_limit=much",)))


def test_an_option_of_ours_that_onnxruntime_refuses_costs_the_provider_and_not_the_server(
    monkeypatch: pytest.MonkeyPatch, model: tuple[Path, Path], tmp_path: Path
) -> None:
    """Under `auto` the next provider of the chain speaks; an option given explicitly fails at start."""
    real = onnxruntime.InferenceSession

    def refuse(path: Any, options: Any = None, providers: Any = (CPU,), **_: Any) -> Any:
        if providers[0][0] == CUDA and "cudnn_conv_algo_search" in providers[0][1]:
            raise RuntimeError("[ONNXRuntimeError] Invalid CUDA EP option: cudnn_conv_algo_search")
        session = real(path, options, providers=[CPU])
        return FakeAccelerator(session, fails=False) if providers[0][0] == CUDA else session

    pretend_cuda(monkeypatch, refuse)
    settings = WorkerSettings(model_dir=tmp_path, cache_dir=tmp_path / "cache")
    win_trial(model[0], settings)
    loading: list[str] = []
    with pytest.raises(ProviderUnavailable, match="cudnn_conv_algo_search"):
        choose_engine(settings, (), loading.append)
    assert loading == [CUDA, CUDA]
    assert choose_engine(settings, without=(CUDA,)).info.provider == CPU
    asked = replace(settings, provider="cuda", provider_options=("cudnn_conv_algo_search=DEFAULT",))
    with pytest.raises(BadOption, match="cudnn_conv_algo_search"):
        choose_engine(asked)
    other = replace(asked, provider_options=("use_tf32=0",))
    win_trial(model[0], other)
    with pytest.raises(ProviderUnavailable, match="cudnn_conv_algo_search"):
        choose_engine(other)

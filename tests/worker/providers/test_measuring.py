"""Comparison and timing with engines whose sound and speed are known; where nodes ran; and the options of providers."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args, get_type_hints

import msgspec
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from tests.split_model import make_split_model, make_split_voices, stages_of
from worker.engine import BadOption, Block, EngineError, EngineUnavailable, ProviderUnavailable, RunControl, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.models import sources
from worker.providers import trial
from worker.providers.choice import candidates_of, choose, window_frames
from worker.providers.table import PROVIDERS, cached_in, options_of
from worker.providers.trial import ROUNDS, SENTENCES, measure
from worker.providers.verdict import Measurements, judge
from worker.session import nodes_by_provider, open_session, profiling, run_session
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


SETTINGS = WorkerSettings()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Three nodes, one of them in both of two branches' places."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("x", "y")]
    nodes = [
        helper.make_node("Sin", ["x"], ["a"], "first"),
        helper.make_node("Sin", ["a"], ["b"], "second"),
        helper.make_node("Add", ["a", "b"], ["y"], "third"),
    ]
    graph = helper.make_graph(nodes, "three", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "three.onnx")
    return tmp_path / "three.onnx"


def run(session: object, times: int = 1) -> None:
    for _ in range(times):
        run_session(session, {"x": np.ones(2, np.float32)}, RunControl())


@pytest.mark.parametrize("times", [1, 4])
def test_each_node_counts_once_however_often_it_ran(model: Path, times: int) -> None:
    with profiling() as profiles:
        run(open_session(model, SETTINGS), times)
        assert profiles.end() == {"three": {CPU: 3}}


def test_a_provider_without_kernels_gets_nothing(model: Path) -> None:
    """The session says that it runs on Azure's provider; the profile says who did the work."""
    with profiling() as profiles:
        session = open_session(model, SETTINGS, StageTarget("AzureExecutionProvider"))
        run(session)
        assert session.get_providers()[0] == "AzureExecutionProvider"
        assert profiles.end() == {"three": {CPU: 3}}


def test_of_several_sessions_of_a_graph_the_one_that_ran_is_told(model: Path) -> None:
    with profiling() as profiles:
        open_session(model, SETTINGS)
        run(open_session(model, SETTINGS, threads=2))
        open_session(model, SETTINGS, threads=3)
        assert profiles.end()["three"] == {CPU: 3}


def test_afterwards_sessions_go_on_and_nothing_is_profiled(model: Path, tmp_path: Path) -> None:
    with profiling() as profiles:
        session = open_session(model, SETTINGS)
        run(session)
        profiles.end()
        run(session)
        assert profiles.end() == {}
    assert not open_session(model, SETTINGS).get_session_options().enable_profiling


def test_other_threads_sessions_are_their_own(model: Path) -> None:
    opened = []
    with profiling() as profiles:
        thread = threading.Thread(target=lambda: opened.append(open_session(model, SETTINGS)))
        thread.start()
        thread.join()
        assert not opened[0].get_session_options().enable_profiling
        assert profiles.end() == {}


def test_what_was_compiled_into_one_node_is_one(tmp_path: Path) -> None:
    events = [
        {"cat": "Session", "name": "model_run", "args": {}},
        {"cat": "Node", "name": "CoreML_1_0_kernel_time", "args": {"provider": "CoreMLExecutionProvider"}},
        {"cat": "Node", "name": "Exp_kernel_time", "args": {"provider": CPU}},
        {"cat": "Node", "name": "Exp_kernel_time", "args": {"provider": CPU}},
        {"cat": "Node", "name": "Exp_fence_before", "args": {}},
    ]
    profile = tmp_path / "profile.json"
    profile.write_bytes(msgspec.json.encode(events))
    assert nodes_by_provider(profile) == {"CoreMLExecutionProvider": 1, CPU: 1}


def test_something_else_is_no_profile(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text("[{")
    with pytest.raises(msgspec.DecodeError):
        nodes_by_provider(tmp_path / "profile.json")


COREML, CUDA = PROVIDERS["coreml"], PROVIDERS["cuda"]


def given(provider: str, *pairs: str, version: str = "1.31.1") -> dict[str, str]:
    return options_of(PROVIDERS[provider].name, pairs, provider, version)


def test_coreml_is_asked_for_a_static_ml_program_and_the_fastest_prediction() -> None:
    assert given("coreml") == {
        "ModelFormat": "MLProgram",
        "MLComputeUnits": "ALL",
        "RequireStaticInputShapes": "1",
        "EnableOnSubgraphs": "0",
        "SpecializationStrategy": "FastPrediction",
    }


def test_cuda_searches_no_algorithm_for_each_shape() -> None:
    assert given("cuda") == {"cudnn_conv_algo_search": "HEURISTIC"}


def test_what_is_given_takes_the_place_of_a_default() -> None:
    found = given("coreml", "MLComputeUnits=CPUAndNeuralEngine", " AllowLowPrecisionAccumulationOnGPU = 1 ")
    assert (found["MLComputeUnits"], found["AllowLowPrecisionAccumulationOnGPU"]) == ("CPUAndNeuralEngine", "1")


def test_a_default_that_onnxruntime_does_not_know_yet_is_left_out() -> None:
    assert "SpecializationStrategy" not in given("coreml", version="1.20.1")


def test_compiled_models_are_kept_unless_a_folder_was_named() -> None:
    def folder(*pairs: str, version: str = "1.31.1") -> str | None:
        options = options_of(COREML.name, pairs, "coreml", version)
        return cached_in("/cache", options, COREML, version).get("ModelCacheDirectory")

    assert folder() == "/cache"
    assert folder("ModelCacheDirectory=/mine") == "/mine"
    assert folder(version="1.20.1") is None
    cuda = options_of(CUDA.name, (), "cuda", "1.31.1")
    assert cached_in("/cache", cuda, CUDA, "1.31.1") == cuda


@pytest.mark.parametrize(
    ("provider", "pair", "said"),
    [
        ("coreml", "MLComputeUnit=ALL", r"MLComputeUnit is no option.*MLComputeUnits.*https://onnxruntime.ai"),
        ("coreml", "MLComputeUnits=GPU", r"MLComputeUnits can't be 'GPU': it is ALL or CPUAndGPU or"),
        ("coreml", "MLComputeUnits", r"KEY=VALUE"),
        ("coreml", "ModelCacheDirectory=", r"ModelCacheDirectory can't be '': it is a folder"),
        ("cuda", "cudnn_conv_algo_search=heuristic", r"EXHAUSTIVE or HEURISTIC or DEFAULT"),
        ("cuda", "gpu_mem_limit=2G", r"can't be '2G': it is bytes"),
        ("cuda", "ModelFormat=MLProgram", r"is no option of this provider; it has cudnn_conv_algo_search"),
        ("tensorrt", "trt_fp16_enable=1", r"True or False"),
        ("openvino", "device_type=XPU", r"CPU, GPU, NPU"),
        ("openvino", "device_type=HETERO:", r"CPU, GPU, NPU"),
    ],
)
def test_what_is_no_option_is_said_with_what_there_is(provider: str, pair: str, said: str) -> None:
    with pytest.raises(BadOption, match=said):
        given(provider, pair)


@pytest.mark.parametrize("device", ["CPU", "GPU.1", "AUTO", "AUTO:GPU,CPU", "HETERO:NPU,CPU"])
def test_openvinos_devices(device: str) -> None:
    assert given("openvino", f"device_type={device}")["device_type"] == device


def test_an_option_that_is_too_new_for_this_onnxruntime() -> None:
    with pytest.raises(BadOption, match=r"ModelCacheDirectory needs onnxruntime 1\.21 or newer, and this is 1\.20\.1"):
        given("coreml", "ModelCacheDirectory=/x", version="1.20.1")


@pytest.mark.parametrize("asked", ["auto", "cpu"])
def test_options_are_nobodys_unless_a_provider_is_named(asked: str) -> None:
    with pytest.raises(BadOption, match=f"--provider is {asked}: name one of coreml, cuda, tensorrt, openvino, dml"):
        options_of(CPU, ("device_id=1",), asked, "1.31.1")


def test_another_provider_of_the_chain_keeps_its_own() -> None:
    """`--provider tensorrt` puts CUDA after it."""
    cuda = options_of(CUDA.name, ("trt_fp16_enable=True",), "tensorrt", "1.31.1")
    assert cuda == {"cudnn_conv_algo_search": "HEURISTIC"}


def test_a_bad_option_is_no_reason_to_take_another_provider() -> None:
    assert issubclass(BadOption, EngineUnavailable)
    assert not issubclass(BadOption, ProviderUnavailable)


def test_every_default_is_a_value_that_it_may_have() -> None:
    for row in PROVIDERS.values():
        for key, option in row.options.items():
            assert not option.default or re.fullmatch(option.pattern, option.default), key
        assert {row.cache, row.threads, row.tried_also[0]} <= {"", *row.options}


def test_every_provider_that_can_be_named_has_a_row() -> None:
    assert set(get_args(get_type_hints(WorkerSettings)["provider"])) == {"auto", *PROVIDERS}


@pytest.mark.parametrize("provider", ["dml", "webgpu", "rocm", "migraphx", "qnn"])
def test_a_provider_that_is_not_there_costs_one_line_with_its_package(provider: str) -> None:
    row = PROVIDERS[provider]
    settings = WorkerSettings(provider=provider)  # type: ignore[arg-type]
    with pytest.raises(ProviderUnavailable, match=rf"{row.name}: .*; {row.package} has it"):
        choose(settings, [CPU], (), [])
    (placed,) = candidates_of(row.name, settings, Path("/cache"))
    assert (placed.generator.provider, placed.prosody.provider) == (row.name, CPU)
    assert placed.generator.window == window_frames(settings)

"""Options of execution providers: the vendors' names and values, and nothing else."""

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from worker.engine import BadOption, EngineUnavailable, ProviderUnavailable
from worker.providers.choice import candidates_of, choose, window_frames
from worker.providers.table import PROVIDERS, cached_in, options_of
from worker.settings import WorkerSettings
from worker.targets import CPU

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

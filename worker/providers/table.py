"""The execution providers, a row each: their packages, and their options as the vendors name them.

A value is text, as onnxruntime takes it. Options in the settings are checked here, before any session is made, because
some providers react to a wrong value by leaving everything to the CPU (OpenVINO's does, with onnxruntime 1.24). This
project has run OpenVINO and CUDA; `docs/architecture.md` says what was never run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from packaging.version import Version

from worker.engine import BadOption
from worker.targets import CPU


@dataclass(frozen=True, slots=True)
class Option:
    pattern: str
    """Regular expression of its values."""
    allowed: str
    """Its values, for people."""
    default: str = ""
    """Empty: it isn't passed on, so that onnxruntime's own default holds."""
    since: str = "0"
    """The onnxruntime that introduced it."""


def _one_of(*values: str, default: str = "", since: str = "0") -> Option:
    return Option("|".join(values), " or ".join(values), default, since)


_SWITCH, _WORD = _one_of("0", "1"), _one_of("True", "False")
_NUMBER, _DEVICE, _BYTES = (
    Option(r"\d{1,19}", allowed) for allowed in ("a whole number", "a device's number", "bytes")
)
_FOLDER = Option(".+", "a folder")
_OPENVINO_DEVICE = r"(CPU|GPU|NPU)(\.\d+)?"


@dataclass(frozen=True, slots=True)
class Provider:
    """An execution provider of onnxruntime."""

    name: str
    """onnxruntime's name."""
    package: str
    """The package whose onnxruntime has it."""
    options: Mapping[str, Option] = field(default_factory=dict)
    page: str = "https://onnxruntime.ai/docs/execution-providers/"
    """The source of the options."""
    cache: str = ""
    """Option for the folder of compiled models, which the next start needn't compile again."""
    threads: str = ""
    """Option for the number of threads."""
    tried_also: tuple[str, tuple[str, ...]] = ("", ())
    """Option whose other values are worth a trial, unless the user gave one, and those values."""
    half: bool = False
    """True if its best units take float16 alone."""


def _page(name: str) -> str:
    return f"https://onnxruntime.ai/docs/execution-providers/{name}-ExecutionProvider.html"


PROVIDERS: dict[str, Provider] = {
    # onnxruntime's `coreml_options.cc` raises on any other key. CoreML's provider doesn't report its options.
    "coreml": Provider(
        "CoreMLExecutionProvider",
        "onnxruntime on macOS",
        {
            "ModelFormat": _one_of("MLProgram", "NeuralNetwork", default="MLProgram"),
            "MLComputeUnits": _one_of("ALL", "CPUAndGPU", "CPUAndNeuralEngine", "CPUOnly", default="ALL"),
            # Variable shapes keep nearly everything off the Neural Engine.
            "RequireStaticInputShapes": _one_of("0", "1", default="1"),
            "EnableOnSubgraphs": _one_of("0", "1", default="0"),
            "SpecializationStrategy": _one_of("Default", "FastPrediction", default="FastPrediction", since="1.21"),
            "AllowLowPrecisionAccumulationOnGPU": _one_of("0", "1", since="1.21"),
            # A log of the unit that runs each operation, which onnxruntime's profile doesn't know.
            "ProfileComputePlan": _one_of("0", "1", since="1.21"),
            "ModelCacheDirectory": Option(".+", "a folder", since="1.21"),
        },
        _page("CoreML"),
        cache="ModelCacheDirectory",
        # Compute units differ by chip, system and model in what they take and how fast they are.
        tried_also=("MLComputeUnits", ("CPUAndNeuralEngine", "CPUAndGPU")),
        half=True,
    ),
    "cuda": Provider(
        "CUDAExecutionProvider",
        "onnxruntime-gpu",
        {
            # As fast as EXHAUSTIVE, onnxruntime's default, and ready sooner (on an H200).
            "cudnn_conv_algo_search": _one_of("EXHAUSTIVE", "HEURISTIC", "DEFAULT", default="HEURISTIC"),
            "device_id": _DEVICE,
            "gpu_mem_limit": _BYTES,
            "arena_extend_strategy": _one_of("kNextPowerOfTwo", "kSameAsRequested"),
            "do_copy_in_default_stream": _SWITCH,
            "cudnn_conv_use_max_workspace": _SWITCH,
            "cudnn_conv1d_pad_to_nc1d": _SWITCH,
            "prefer_nhwc": _SWITCH,
            "use_tf32": _SWITCH,
        },
        _page("CUDA"),
    ),
    "tensorrt": Provider(
        "TensorrtExecutionProvider",
        "onnxruntime-gpu",
        {
            "device_id": _DEVICE,
            "trt_fp16_enable": _WORD,
            "trt_max_workspace_size": _BYTES,
            "trt_builder_optimization_level": _one_of("0", "1", "2", "3", "4", "5"),
            "trt_engine_cache_enable": _one_of("True", "False", default="True"),
            "trt_engine_cache_path": _FOLDER,
            "trt_timing_cache_enable": _one_of("True", "False", default="True"),
            "trt_timing_cache_path": _FOLDER,
        },
        _page("TensorRT"),
        cache="trt_engine_cache_path",
    ),
    # Run with onnxruntime-openvino 1.24: it raises on an unknown key, and doesn't report its options.
    "openvino": Provider(
        "OpenVINOExecutionProvider",
        "onnxruntime-openvino",
        {
            "device_type": Option(
                rf"{_OPENVINO_DEVICE}|AUTO|(AUTO|HETERO|MULTI):{_OPENVINO_DEVICE}(,{_OPENVINO_DEVICE})*",
                "CPU, GPU, NPU, GPU.1, AUTO, or AUTO:, HETERO: or MULTI: with devices after it",
                default="CPU",
            ),
            "precision": _one_of("FP32", "FP16", "ACCURACY"),
            "num_of_threads": _NUMBER,
            "num_streams": _NUMBER,
            "cache_dir": _FOLDER,
            "load_config": Option(".+", "a JSON file"),
            "model_priority": _one_of("LOW", "MEDIUM", "HIGH", "DEFAULT"),
            "enable_opencl_throttling": _one_of("true", "false"),
            "enable_qdq_optimizer": _one_of("true", "false"),
            "disable_dynamic_shapes": _one_of("true", "false"),
        },
        _page("OpenVINO"),
        cache="cache_dir",
        threads="num_of_threads",
    ),
    "dml": Provider("DmlExecutionProvider", "onnxruntime-directml", {"device_id": _DEVICE}, _page("DirectML")),
    "webgpu": Provider("WebGpuExecutionProvider", "onnxruntime-webgpu"),
    "rocm": Provider("ROCMExecutionProvider", "onnxruntime-rocm", {"device_id": _DEVICE}, _page("ROCm")),
    "migraphx": Provider(
        "MIGraphXExecutionProvider", "onnxruntime-migraphx", {"device_id": _DEVICE}, _page("MIGraphX")
    ),
    "qnn": Provider("QNNExecutionProvider", "onnxruntime-qnn", {"backend_path": Option(".+", "a file")}, _page("QNN")),
    "cpu": Provider(CPU, "onnxruntime"),
}
"""All providers, by the values of the setting `provider`."""


def provider_of(name: str) -> Provider:
    """The row of a provider by onnxruntime's name."""
    return next(row for row in PROVIDERS.values() if row.name == name)


def is_asked(name: str, setting: str) -> bool:
    """True if the setting `provider` names that provider (onnxruntime's name)."""
    return setting in PROVIDERS and PROVIDERS[setting].name == name


def options_of(name: str, given: tuple[str, ...], setting: str, version: str) -> dict[str, str]:
    """Options of a provider by name: defaults, and the user's if it is the provider that the settings name.

    Args:
        name: onnxruntime's name of the provider.
        given: the user's options, as `KEY=VALUE`.
        setting: the setting `provider`.
        version: onnxruntime's version; defaults that it doesn't have yet are left out.

    Raises:
        BadOption: a key or value isn't the vendor's, or is too new for onnxruntime `version`; or the setting `provider`
            is auto or cpu, which take no options.
    """
    if given and setting in ("auto", "cpu"):
        raise BadOption(
            f"--provider-options {','.join(given)} belong to an execution provider, but --provider is {setting}: "
            f"name one of {', '.join(each for each in PROVIDERS if each != 'cpu')}, or leave the options out"
        )
    row = provider_of(name)
    options = {key: option.default for key, option in row.options.items() if option.default and _has(option, version)}
    return options | (dict(_checked(pair, row, version) for pair in given) if is_asked(name, setting) else {})


def cached_in(folder: str, options: dict[str, str], row: Provider, version: str) -> dict[str, str]:
    """The options with `folder` for compiled models, unless the user named another folder."""
    if not row.cache or row.cache in options or not _has(row.options[row.cache], version):
        return options
    return options | {row.cache: folder}


def given_to(name: str, given: tuple[str, ...], setting: str) -> frozenset[str]:
    """Keys of the options that the user gave for the provider; all others are this project's."""
    return frozenset(pair.partition("=")[0].strip() for pair in given if is_asked(name, setting))


def _has(option: Option, version: str) -> bool:
    return Version(version) >= Version(option.since)


def _checked(pair: str, row: Provider, version: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in pair.partition("="))
    if not equals:
        raise BadOption(f"--provider-options are KEY=VALUE with commas between, not {pair!r}")
    if key not in row.options:
        raise BadOption(f"{key} is no option of this provider; it has {', '.join(row.options)} ({row.page})")
    option = row.options[key]
    if not re.fullmatch(option.pattern, value):
        raise BadOption(f"{key} can't be {value!r}: it is {option.allowed} ({row.page})")
    if not _has(option, version):
        raise BadOption(f"{key} needs onnxruntime {option.since} or newer, and this is {version}")
    return key, value

"""Options of the execution providers: their names, their valid values, and the onnxruntime version that introduced
each.

Field names and values are the vendors'. A value is text, as onnxruntime takes it; an empty one is not passed on, so
that onnxruntime's own default holds. Options in the settings are checked here, before any session is made, because some
providers react to a wrong value by leaving everything to the CPU (OpenVINO's does, with onnxruntime 1.24).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from packaging.version import Version

from worker.engine import EngineUnavailable
from worker.providers.targets import NAMES


class BadOption(EngineUnavailable):
    """An option that the user gave isn't the provider's, or isn't accepted. No other provider is tried, because the
    user asked for this one."""


def _one_of(*values: str, default: str = "", since: str = "0") -> Any:
    allowed = " or ".join(values)
    return field(default=default, metadata={"allowed": allowed, "fits": values.__contains__, "since": since})


def _matching(pattern: str, allowed: str, *, default: str = "", since: str = "0") -> Any:
    fits = re.compile(pattern).fullmatch
    return field(default=default, metadata={"allowed": allowed, "fits": fits, "since": since})


def _number(allowed: str = "a whole number", **more: str) -> Any:
    return _matching(r"\d{1,19}", allowed, **more)


def _path(what: str, **more: str) -> Any:
    return _matching(r".+", what, **more)


@dataclass(frozen=True, slots=True)
class Options:
    """Base class of all providers' options. Frozen, because a verdict is about one set of them."""

    page: ClassVar[str] = "https://onnxruntime.ai/docs/execution-providers/"
    cache: ClassVar[str] = ""
    """Name of the option for the folder of compiled models, which the next start needn't compile again."""
    half: ClassVar[bool] = False
    """True if the provider's best units take float16 alone."""

    def as_options(self, version: str) -> tuple[tuple[str, str], ...]:
        """Name and value of each option, sorted by name, without those that onnxruntime `version` doesn't have yet."""
        known = (each for each in fields(self) if Version(version) >= Version(each.metadata["since"]))
        return tuple(sorted((each.name, value) for each in known if (value := getattr(self, each.name))))

    def variants(self, given: Collection[str]) -> tuple[Options, ...]:
        """The sets of options to try; the user's values, whose keys are `given`, are in each."""
        return (self,)

    def with_cache(self, folder: Path) -> Options:
        """The options with `folder` for compiled models, unless the user named another folder."""
        return replace(self, **{self.cache: str(folder)}) if self.cache and not getattr(self, self.cache) else self


@dataclass(frozen=True, slots=True)
class CpuOptions(Options):
    """Options of onnxruntime's CPU provider, which takes none."""


@dataclass(frozen=True, slots=True)
class CoreMLOptions(Options):
    """Options of CoreML, which this project has never run. Sources:
    https://onnxruntime.ai/docs/execution-providers/CoreML-ExecutionProvider.html and onnxruntime's `coreml_options.cc`,
    which raises on any other key. CoreML's provider doesn't report its options."""

    page: ClassVar[str] = "https://onnxruntime.ai/docs/execution-providers/CoreML-ExecutionProvider.html"
    cache: ClassVar[str] = "ModelCacheDirectory"
    half: ClassVar[bool] = True

    ModelFormat: str = _one_of("MLProgram", "NeuralNetwork", default="MLProgram")
    MLComputeUnits: str = _one_of("ALL", "CPUAndGPU", "CPUAndNeuralEngine", "CPUOnly", default="ALL")
    RequireStaticInputShapes: str = _one_of("0", "1", default="1")
    """Requirement of static shapes: variable shapes keep nearly everything off the Neural Engine."""
    EnableOnSubgraphs: str = _one_of("0", "1", default="0")
    SpecializationStrategy: str = _one_of("Default", "FastPrediction", default="FastPrediction", since="1.21")
    AllowLowPrecisionAccumulationOnGPU: str = _one_of("0", "1", since="1.21")
    ProfileComputePlan: str = _one_of("0", "1", since="1.21")
    """Log of the unit that runs each operation, which onnxruntime's profile doesn't know."""
    ModelCacheDirectory: str = _path("a folder", since="1.21")

    def variants(self, given: Collection[str]) -> tuple[Options, ...]:
        """Compute units differ by chip, system and model in what they take and how fast they are."""
        units = () if "MLComputeUnits" in given else ("CPUAndNeuralEngine", "CPUAndGPU")
        return (self, *(replace(self, MLComputeUnits=each) for each in units))


@dataclass(frozen=True, slots=True)
class CudaOptions(Options):
    """Options of CUDA, which this project has never run. Source:
    https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html"""

    page: ClassVar[str] = "https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html"

    cudnn_conv_algo_search: str = _one_of("EXHAUSTIVE", "HEURISTIC", "DEFAULT", default="HEURISTIC")
    """Search for convolution algorithms. EXHAUSTIVE, onnxruntime's default, searches again for each new shape, and
    windows have several."""
    device_id: str = _number("a device's number")
    gpu_mem_limit: str = _number("bytes")
    arena_extend_strategy: str = _one_of("kNextPowerOfTwo", "kSameAsRequested")
    do_copy_in_default_stream: str = _one_of("0", "1")
    cudnn_conv_use_max_workspace: str = _one_of("0", "1")
    cudnn_conv1d_pad_to_nc1d: str = _one_of("0", "1")
    prefer_nhwc: str = _one_of("0", "1")
    use_tf32: str = _one_of("0", "1")


@dataclass(frozen=True, slots=True)
class TensorRTOptions(Options):
    """Options of TensorRT, which this project has never run. Source:
    https://onnxruntime.ai/docs/execution-providers/TensorRT-ExecutionProvider.html"""

    page: ClassVar[str] = "https://onnxruntime.ai/docs/execution-providers/TensorRT-ExecutionProvider.html"
    cache: ClassVar[str] = "trt_engine_cache_path"

    device_id: str = _number("a device's number")
    trt_fp16_enable: str = _one_of("True", "False")
    trt_max_workspace_size: str = _number("bytes")
    trt_builder_optimization_level: str = _one_of("0", "1", "2", "3", "4", "5")
    trt_engine_cache_enable: str = _one_of("True", "False", default="True")
    trt_engine_cache_path: str = _path("a folder")
    trt_timing_cache_enable: str = _one_of("True", "False", default="True")
    trt_timing_cache_path: str = _path("a folder")


_DEVICE = r"(CPU|GPU|NPU)(\.\d+)?"


@dataclass(frozen=True, slots=True)
class OpenVINOOptions(Options):
    """Options of OpenVINO, run with onnxruntime-openvino 1.24. Source:
    https://onnxruntime.ai/docs/execution-providers/OpenVINO-ExecutionProvider.html. The provider raises on an unknown
    key, leaves everything to the CPU provider on a wrong value, and doesn't report its options."""

    page: ClassVar[str] = "https://onnxruntime.ai/docs/execution-providers/OpenVINO-ExecutionProvider.html"
    cache: ClassVar[str] = "cache_dir"

    device_type: str = _matching(
        rf"{_DEVICE}|AUTO|(AUTO|HETERO|MULTI):{_DEVICE}(,{_DEVICE})*",
        "CPU, GPU, NPU, GPU.1, AUTO, or AUTO:, HETERO: or MULTI: with devices after it",
        default="CPU",
    )
    precision: str = _one_of("FP32", "FP16", "ACCURACY")
    num_of_threads: str = _number()
    num_streams: str = _number()
    cache_dir: str = _path("a folder")
    load_config: str = _path("a JSON file")
    model_priority: str = _one_of("LOW", "MEDIUM", "HIGH", "DEFAULT")
    enable_opencl_throttling: str = _one_of("true", "false")
    enable_qdq_optimizer: str = _one_of("true", "false")
    disable_dynamic_shapes: str = _one_of("true", "false")


KINDS: dict[str, type[Options]] = {
    "coreml": CoreMLOptions,
    "cuda": CudaOptions,
    "tensorrt": TensorRTOptions,
    "openvino": OpenVINOOptions,
    "cpu": CpuOptions,
}
"""Class of options, by the values of the setting `provider`."""


def options_of(provider: str, given: tuple[str, ...], asked: str, version: str) -> Options:
    """Options of a provider (onnxruntime's name), with the user's options if it is the one that the settings name.

    Args:
        provider: onnxruntime's name of the provider.
        given: the user's options, as `KEY=VALUE`.
        asked: the setting `provider`.
        version: onnxruntime's version.

    Raises:
        BadOption: a key or value isn't the vendor's, or is too new for onnxruntime `version`; or the setting `provider`
            is auto or cpu, which take no options.
    """
    if given and asked in ("auto", "cpu"):
        raise BadOption(
            f"--provider-options {','.join(given)} belong to an execution provider, but --provider is {asked}: "
            f"name one of {', '.join(name for name in KINDS if name != 'cpu')}, or leave the options out"
        )
    kind = next(kind for name, kind in KINDS.items() if NAMES[name] == provider)
    if NAMES.get(asked) != provider:
        return kind()
    known: dict[str, Field[Any]] = {each.name: each for each in fields(kind)}
    return kind(**dict(_checked(pair, known, kind, version) for pair in given))


def given_to(provider: str, given: tuple[str, ...], asked: str) -> frozenset[str]:
    """Keys of the options that the user gave for the provider; all others are this project's."""
    if NAMES.get(asked) != provider:
        return frozenset()
    return frozenset(pair.partition("=")[0].strip() for pair in given)


def _checked(pair: str, known: dict[str, Field[Any]], kind: type[Options], version: str) -> tuple[str, str]:
    key, equals, value = (part.strip() for part in pair.partition("="))
    if not equals:
        raise BadOption(f"--provider-options are KEY=VALUE with commas between, not {pair!r}")
    if key not in known:
        raise BadOption(f"{key} is no option of this provider; it has {', '.join(known)} ({kind.page})")
    fits: Callable[[str], object] = known[key].metadata["fits"]
    if not fits(value):
        raise BadOption(f"{key} can't be {value!r}: it is {known[key].metadata['allowed']} ({kind.page})")
    since = known[key].metadata["since"]
    if Version(version) < Version(since):
        raise BadOption(f"{key} needs onnxruntime {since} or newer, and this is {version}")
    return key, value

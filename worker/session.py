"""onnxruntime sessions: how to make and run them, and which provider ran which of their nodes."""

from __future__ import annotations

import io
import logging
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from shm.decoding import json_decoder
from worker.engine import BadOption, Cancelled, EngineError, EngineUnavailable, Paused, ProviderUnavailable, RunControl
from worker.settings import WorkerSettings
from worker.targets import CPU, StageTarget

log = logging.getLogger(__name__)

STYLE_SIZE = 256
"""Number of floats in a style vector."""

NUMPY_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
}
"""numpy types, by onnxruntime's names for a session's input types."""

ON_CPU = StageTarget()

_ARENA = {
    "max_mem": 0,
    "arena_extend_strategy": 1,
    "initial_chunk_size_bytes": -1,
    "max_dead_bytes_per_chunk": -1,
}
"""The arena has no limit, and grows by what is asked for (1) instead of by powers of two."""

_PRELOADED = ("CUDAExecutionProvider", "TensorrtExecutionProvider")
"""Providers whose libraries may have come as packages, where the system doesn't look: `onnxruntime-gpu[cuda,cudnn]`."""

_INTEGERS = ("tensor(int64)", "tensor(int32)")
_FLOATS = ("tensor(float)", "tensor(float16)", "tensor(double)")


def open_session(
    model: Path,
    settings: WorkerSettings,
    target: StageTarget = ON_CPU,
    *,
    threads: int = 0,
    optimized: bool = False,
) -> Any:
    """An `onnxruntime.InferenceSession`; any number of runs may share it at the same time.

    Args:
        model: the file.
        settings: the settings that the other arguments don't override.
        target: the execution provider, with its options.
        threads: threads of each run, instead of the settings' (whose 0 means one here).
        optimized: the file is onnxruntime's own optimised form, to be run as it is.

    Raises:
        EngineUnavailable: the file is missing, truncated, or isn't a model that onnxruntime can load.
        BadOption: the provider doesn't take an option that the user gave.
        ProviderUnavailable: the provider isn't there, or can't take the model, and isn't the CPU.
    """
    if not model.is_file():
        raise EngineUnavailable(f"there is no model file {model}: run `kokoro-live models fetch`, or name another")
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads or settings.threads or 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = (
        ort.GraphOptimizationLevel.ORT_DISABLE_ALL if optimized else ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    )
    # Planning which buffers share memory takes time that is quadratic in the number of nodes, and as much again for
    # each session. Runs are as fast without the plan, because the arena reuses buffers.
    options.enable_mem_reuse = target.provider != CPU
    # A plan of memory by input shape makes no run faster here, and takes a little more memory.
    options.enable_mem_pattern = False
    _share_arena()
    options.add_session_config_entry("session.use_env_allocators", "1")
    for key, value in _spinning(settings.spin_duration):
        options.add_session_config_entry(f"session.{key}", value)
    profiles = current.get()
    if profiles is not None:
        options.enable_profiling = True
        options.profile_file_prefix = profiles.prefix(model)
    try:
        given = {pair.partition("=")[0].strip() for pair in settings.provider_options}
        session = session_on(target, str(model), options, given)
    except (ProviderUnavailable, BadOption):
        raise
    except Exception as error:  # onnxruntime's errors have no base class of their own
        raise EngineUnavailable(
            f"{model} ({model.stat().st_size:,} bytes) is truncated, corrupt or not an ONNX model that onnxruntime "
            f"{ort.__version__} can load; fetch it again with `kokoro-live models fetch`. It says: {_line(error)}"
        ) from error
    if profiles is not None:
        profiles.opened(model, session)
    return session


@cache
def _share_arena() -> None:
    """Have all sessions of this process take their buffers from one arena: the buffers of a stage that has run serve
    the next one."""
    information = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    ort.create_and_register_allocator(information, ort.OrtArenaCfg(dict(_ARENA)))


def _spinning(seconds: float) -> Iterator[tuple[str, str]]:
    """onnxruntime's session options for a pool whose idle threads spin so long."""
    yield "intra_op.allow_spinning", str(int(seconds > 0))
    if seconds > 0:
        yield "intra_op.spin_duration_us", str(max(1, round(seconds * 1e6)))
        # Each stage has threads of its own: those of a stage that has ended would take a core from the next one.
        yield "force_spinning_stop", "1"


@cache
def _preload() -> None:
    """Load the libraries of CUDA and cuDNN that were installed as packages; what isn't there is left to the system.
    onnxruntime prints what it can't load."""
    if not hasattr(ort, "preload_dlls"):  # since 1.21
        return
    said = io.StringIO()
    with redirect_stdout(said):
        ort.preload_dlls()
    for line in filter(None, said.getvalue().splitlines()):
        log.debug("onnxruntime: %s", line)


def session_on(target: StageTarget, model: str | bytes, options: Any, given: Collection[str] = ()) -> Any:
    """A session whose first provider is the target's and has accepted the target's options.

    onnxruntime's default reaction to a provider's failure, a session on the CPU and a line on standard output, is off.

    Args:
        target: the provider, with its options.
        model: a file's path, or its content.
        options: `onnxruntime.SessionOptions`.
        given: keys of options that the user gave; the others are this project's, and another provider may do without
            them.

    Raises:
        BadOption: the provider doesn't take an option that the user gave.
        ProviderUnavailable: the provider isn't there, or rejects the model or this project's options, and isn't the
            CPU.
        Exception: the error that onnxruntime raises if the CPU can't load the model.
    """
    provider = target.provider
    if provider in _PRELOADED:
        _preload()
    chain = [(provider, dict(target.options)), *([] if provider == CPU else [(CPU, {})])]
    try:
        session = ort.InferenceSession(model, options, providers=chain, enable_fallback=0)
    except Exception as error:  # onnxruntime's errors have no base class of their own
        if provider == CPU:
            raise
        said = _line(error)
        if "option" in said.lower() and any(_names(said, key) for key, _ in target.options if key in given):
            raise BadOption(f"{provider} doesn't take an option that it was given: {said}") from error
        raise ProviderUnavailable(provider, said) from error
    if session.get_providers()[0] != provider:
        raise ProviderUnavailable(provider, "onnxruntime went over to another one when it loaded the model")
    # Some providers don't report their options (CoreML, OpenVINO): unreported options can't be compared.
    told = session.get_provider_options().get(provider) or {}
    for key, value in target.options:
        if told and _plain(told.get(key)) != _plain(value):
            said = f"was given {key}={value}, and onnxruntime says that it has {told.get(key)}"
            raise BadOption(f"{provider} {said}") if key in given else ProviderUnavailable(provider, f"it {said}")
    return session


def run_session(session: Any, feeds: dict[str, NDArray[Any]], control: RunControl) -> list[NDArray[Any]]:
    """All outputs of a run; `feeds` holds arrays by names of inputs.

    Raises:
        Cancelled, Paused: another thread did that; onnxruntime stops before the graph's next node.
        EngineError: the run failed on the CPU.
        ProviderUnavailable: the run failed on another execution provider.
    """
    options = ort.RunOptions()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = options.terminate = True

    try:
        with control.stopping(stop):
            outputs: list[NDArray[Any]] = session.run(None, feeds, options)
    except Exception as error:  # onnxruntime's errors have no base class of their own
        if control.is_cancelled:
            raise Cancelled from error
        if stopped:
            raise Paused from error
        provider = session.get_providers()[0]
        if provider != CPU:
            raise ProviderUnavailable(provider, _line(error)) from error
        raise EngineError(f"the model failed on these phonemes: {_line(error)}") from error
    if control.is_cancelled:
        raise Cancelled
    return outputs


def check_signature(session: Any, model: Path) -> None:
    """Check that a session has Kokoro's inputs and output, with any of its exports' names and types.

    Raises:
        EngineUnavailable: the model has other inputs or outputs.
    """
    inputs = {i.name: i for i in session.get_inputs()}
    audio = [o.name for o in session.get_outputs() if o.type in _FLOATS]
    tokens = "input_ids" if "input_ids" in inputs else "tokens"
    if set(inputs) != {tokens, "style", "speed"} or not audio:
        raise EngineUnavailable(_stranger(session, model, "names"))
    if inputs[tokens].type not in _INTEGERS or inputs["style"].type not in _FLOATS:
        raise EngineUnavailable(_stranger(session, model, "types"))
    if inputs["speed"].type not in _INTEGERS + _FLOATS:
        raise EngineUnavailable(_stranger(session, model, "types"))
    if inputs["style"].shape[-1:] != [STYLE_SIZE] and isinstance(inputs["style"].shape[-1], int):
        raise EngineUnavailable(_stranger(session, model, "shapes"))
    if session.get_outputs()[0].name != audio[0]:
        raise EngineUnavailable(_stranger(session, model, "order"))


def _stranger(session: Any, model: Path, what: str) -> str:
    found = ", ".join(f"{i.name} {i.type} {i.shape}" for i in session.get_inputs())
    outputs = ", ".join(f"{o.name} {o.type}" for o in session.get_outputs())
    return (
        f"{model} isn't a Kokoro model: inputs or outputs have other {what}. It takes {found} and gives {outputs}; "
        f"Kokoro takes tokens or input_ids (integers), style (floats, [1, {STYLE_SIZE}]) and speed, and gives audio "
        "(floats). Name a Kokoro model with --model, or run `kokoro-live models fetch`"
    )


def _names(said: str, key: str) -> bool:
    """True if the message `said` is about the option `key`, not about one whose name contains that key."""
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", said) is not None


def _plain(value: object) -> str:
    """An option's value in comparable form: providers write true as 1, true or True."""
    return {"true": "1", "false": "0"}.get(str(value).lower(), str(value))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


class _Event(msgspec.Struct):
    name: str
    cat: str = ""
    args: dict[str, Any] = {}


_decode = json_decoder(list[_Event])


def nodes_by_provider(profile: Path) -> dict[str, int]:
    """Number of nodes by the execution provider that ran them; a node that ran several times counts once. Nodes that a
    provider has compiled into one count as one.

    Raises:
        OSError, msgspec.DecodeError: the file isn't a profile.
    """
    ran = {
        (event.name, provider)
        for event in _decode(profile.read_bytes())
        if event.cat == "Node" and (provider := event.args.get("provider"))
    }
    return dict(Counter(provider for _, provider in ran))


def graph_name(model: Path) -> str:
    """The name of a graph, whatever form its file has: `decoder` for `decoder.cpu.onnx`."""
    return model.stem.removesuffix(".cpu")


class NodeProfiles:
    """Collector of the sessions that are opened while profiles are taken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sessions: list[tuple[str, Any]] = []

    def prefix(self, model: Path) -> str:
        """Path prefix of the model's profile file."""
        return str(self._folder / f"{len(self._sessions)}-{graph_name(model)}")

    def opened(self, model: Path, session: Any) -> None:
        """Record a session that was opened for the model."""
        self._sessions.append((graph_name(model), session))

    def end(self) -> dict[str, dict[str, int]]:
        """End profiling. Returns the number of nodes by provider, by the graph's file name without its suffix, for the
        sessions that ran; if a graph has several sessions, the one in which most nodes ran counts."""
        found: dict[str, dict[str, int]] = {}
        for name, session in self._sessions:
            nodes = nodes_by_provider(Path(session.end_profiling()))
            if sum(nodes.values()) > sum(found.get(name, {}).values()):
                found[name] = nodes
        self._sessions.clear()
        return found


current: ContextVar[NodeProfiles | None] = ContextVar("current", default=None)
"""Collector for the sessions that `open_session` opens in this context; None if no profile is taken."""


@contextmanager
def profiling() -> Iterator[NodeProfiles]:
    """Profile every session that this thread opens inside the `with` block, until `NodeProfiles.end`."""
    with tempfile.TemporaryDirectory(prefix="kokoro-live-profile-") as folder:
        profiles = NodeProfiles(Path(folder))
        token = current.set(profiles)
        try:
            yield profiles
        finally:
            current.reset(token)

"""A worker's description of its engine: files, limits, voices, and the execution provider of each stage."""

from __future__ import annotations

from typing import Literal

import msgspec

Speaks = Literal["phonemes", "text"]
"""The kind of script that an engine takes: phonemes of its model's vocabulary, or text, if it has a G2P of its own."""


class ModelFile(msgspec.Struct, frozen=True):
    """A file that an engine has loaded."""

    name: str
    bytes: int
    sha256: str = ""
    """Empty if the file wasn't hashed."""


class Priority(msgspec.Struct, frozen=True):
    """How the system schedules a process, as read back from it."""

    nice: int
    processors: tuple[int, ...] = ()
    """Processors that the process may use; empty where the system doesn't tie processes to processors."""
    qos: str = ""
    """The main thread's quality of service class on macOS; empty elsewhere."""


class StageInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The execution provider of one stage of a model. A model that isn't cut is one stage, `whole`."""

    name: str
    provider: str
    options: dict[str, str] = {}
    """The provider's options, as it was given them."""
    window: int = 0
    """The only length that the stage takes, in frames at 80 Hz; 0: it takes any length."""
    nodes: dict[str, int] | None = None
    """Number of nodes by the execution provider that ran them, from onnxruntime's profile; None if none was taken."""


class TrialInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Result of the trial of an execution provider. A figure is None if the trial ended before it was measured."""

    provider: str
    when: float
    """Seconds since 1970."""
    right: bool
    faster: bool
    reason: str
    snr: float | None = None
    """Signal-to-noise ratio of its sound against the CPU's, in dB."""
    ratio: float | None = None
    """The CPU's time divided by the provider's."""
    compile_seconds: float | None = None


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded engine: sent by a worker that is ready, shown in `/ready`, `X-Engine` and the model lists."""

    name: Literal["kokoro", "espeak-ng"]
    provider: str
    """onnxruntime's execution provider, or `native`."""
    stands_in: bool = False
    """The engine speaks only because another that was wanted can't."""
    model: str
    """The model file's name, or the library's name and version."""
    model_sha256: str = ""
    """Empty for an engine without a model file."""
    speaks: Speaks
    vocabulary: str = ""
    """The phonemes that the model knows, one character each; empty for an engine that speaks text."""
    max_tokens: int
    """The longest script of one segment: phonemes, or characters of text."""
    voices: tuple[str, ...]
    voices_sha256: str = ""
    """Hash of all voices' numbers: with `model_sha256` it tells whether a voice's name still means the same sound."""
    concurrency: int = 1
    """How many segments it makes side by side."""
    first_block: float = 0.0
    """Seconds of audio in a segment's first block, from an engine that vocodes in windows; 0: segments are blocks."""
    marks: bool = False
    """The engine can say when each part of a script sounds (`SegmentOrder.marks`)."""
    files: tuple[ModelFile, ...] = ()
    providers: tuple[str, ...] = ()
    """Execution providers that could run the model here, in the order in which they are tried; `provider` is one."""
    threads: int = 0
    """Threads of one run that is alone, as the library says; 0 from an engine that has no such setting."""
    priority: Priority | None = None
    """The priority of the worker's process; None from an engine that runs in another process."""
    stages: tuple[StageInfo, ...] = ()
    """The stages in the order in which they run; none from an engine without a model."""
    trials: tuple[TrialInfo, ...] = ()
    """Results for the providers of the chain that were tried here before."""
    untried: tuple[str, ...] = ()
    """Execution providers that could run the model here and have had no trial yet."""

    @property
    def rank(self) -> int:
        """The order of preference: among several engines one of the highest rank speaks."""
        return 1 if self.name == "kokoro" else 0

"""What a worker says of the engine that it has loaded: its files, limits and voices, and what each stage runs on."""

from __future__ import annotations

from typing import Literal

import msgspec

Speaks = Literal["phonemes", "text"]
"""What an engine reads aloud: phonemes of its model's vocabulary, or text, if it brings a G2P of its own."""


class ModelFile(msgspec.Struct, frozen=True):
    """A file that an engine has loaded."""

    name: str
    bytes: int
    sha256: str = ""
    """Empty where it wasn't taken."""


class Priority(msgspec.Struct, frozen=True):
    """How the system schedules a process, as read back from it."""

    nice: int
    processors: tuple[int, ...] = ()
    """Those that it may use; empty where the system doesn't tie processes to processors."""
    qos: str = ""
    """macOS's quality of service class of its main thread; empty elsewhere."""


class StageInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What one stage of a model runs on; a model that isn't cut is one stage, `whole`."""

    name: str
    provider: str
    options: dict[str, str] = {}
    """The provider's own, as it was given them."""
    window: int = 0
    """Frames at 80 Hz of the only length that it takes; 0: it takes any."""
    nodes: dict[str, int] | None = None
    """Nodes by the execution provider that ran them, as read back from a profile; None where that wasn't done."""


class TrialInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial of an execution provider has found. None: it didn't come to measure that."""

    provider: str
    when: float
    """Seconds since 1970."""
    right: bool
    faster: bool
    reason: str
    snr: float | None = None
    """dB, of its sound against the CPU's."""
    ratio: float | None = None
    """How many times faster than the CPU it is."""
    compile_seconds: float | None = None


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What speaks: sent by a worker that is ready, shown in `/ready`, `X-Engine` and the model lists."""

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
    """Of all its voices' numbers: with `model_sha256` it tells whether a name still means the same sound."""
    concurrency: int = 1
    """How many segments it makes side by side."""
    first_block: float = 0.0
    """Seconds of audio in a segment's first block, from an engine that vocodes in windows; 0: segments are blocks."""
    marks: bool = False
    """It can say when each part of a script sounds (`SegmentOrder.marks`)."""
    files: tuple[ModelFile, ...] = ()
    providers: tuple[str, ...] = ()
    """The execution providers that could run it here, in the order in which they are tried; `provider` is one."""
    threads: int = 0
    """Of one run that is alone, as the library says; 0 from an engine that has no such setting."""
    priority: Priority | None = None
    """Of the worker's process; None from an engine that runs in another one."""
    stages: tuple[StageInfo, ...] = ()
    """In the order in which they run; nothing from an engine without a model."""
    trials: tuple[TrialInfo, ...] = ()
    """Of the providers of the chain, as far as they were tried here before."""
    untried: tuple[str, ...] = ()
    """Execution providers that could run it here, and of which nobody knows yet whether they are right and faster."""

    @property
    def rank(self) -> int:
        """Where several engines are there, one of the highest speaks."""
        return 1 if self.name == "kokoro" else 0

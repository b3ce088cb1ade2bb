"""What trials have found, and the cache that keeps it: a trial is made once for what it depends on."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
from pathlib import Path

import msgspec
import onnxruntime

from worker.machine import machine_name
from worker.providers.records import Assignment, StageRecord
from worker.settings import WorkerSettings
from worker.split.prepared import FORMAT as STAGES_FORMAT

log = logging.getLogger(__name__)

FORMAT = 1
"""One more whenever a verdict is reached otherwise, or written otherwise."""

_FOLDER = "verdicts"

_DECIDE = (
    "vocoder",
    "first_window",
    "window_growth",
    "window",
    "threads",
    "graph_optimization",
    "worker_cpus",
    "provider_options",
)
"""Settings that a verdict depends on."""

_SHARED_OUT = ("num_of_threads",)
"""Options that follow from the cores that a process may use, unless `provider_options` say them."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a verdict depends on: another of any of it, and the provider is tried again.

    It is the same in a trial, which has all of the server's cores, and in a worker, which may have a share of them.
    """

    format: int = FORMAT
    stages_format: int = STAGES_FORMAT
    machine: str
    onnxruntime: str
    model: str
    """sha256 of its file."""
    provider: str
    stages: tuple[tuple[str, str, tuple[tuple[str, str], ...], int], ...]
    """Name, provider, options and static window of each, and of the whole model."""
    shape: tuple[str, ...]
    """How segments are vocoded, and with what of the machine."""

    @classmethod
    def of(cls, provider: str, placed: Assignment, settings: WorkerSettings, model: str) -> Key:
        records = [*placed.stages(), ("whole", placed.whole)]
        return cls(
            machine=machine_name(os.cpu_count() or 1),
            onnxruntime=onnxruntime.__version__,
            model=model,
            provider=provider,
            stages=tuple((name, record.provider, _lasting(record), record.window) for name, record in records),
            shape=tuple(str(getattr(settings, name)) for name in _DECIDE),
        )


def _lasting(record: StageRecord) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in record.options if pair[0] not in _SHARED_OUT)


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial has found. What it didn't come to measure is None or empty."""

    when: float
    """Seconds since 1970."""
    right: bool
    """It says what the CPU says, as far as its rounding allows."""
    faster: bool
    """By enough to be worth it."""
    reason: str
    """In words, for people."""
    snr: float | None = None
    """dB, of its sound against the CPU's; the worst of the sentences."""
    ratio: float | None = None
    """How many times faster than the CPU it is."""
    compile_seconds: float | None = None
    """What it took to load, and to compile, and to speak for the first time."""
    placement: dict[str, dict[str, int]] = {}
    """Nodes that ran on each provider, by the graph's file name without its suffix."""
    timeout: float | None = None
    """The `compile_timeout` that wasn't enough; None if it was."""

    def had_less(self, timeout: float) -> bool:
        """Whether it ran out of time, and would have more now."""
        return self.timeout is not None and timeout > self.timeout

    def favours(self, asked_by_name: bool) -> bool:
        """Whether the provider is to be used. Who names one has decided that it be used if it is right."""
        return self.right and (self.faster or asked_by_name)

    def nodes_of(self, stage: str, window: int = 0) -> dict[str, int] | None:
        """A stage's nodes by the provider that ran them: of its static window if it has one, else of the graph that
        takes any length, which tells its own statistics (`exact`) if no other ran."""
        names = [f"{stage}-{window}"] if window else [stage, f"{stage}-exact"]
        return next((self.placement[name] for name in names if name in self.placement), None)


class _Record(msgspec.Struct, frozen=True):
    key: Key
    verdict: Verdict


_decode = msgspec.msgpack.Decoder(_Record).decode


def load(cache: Path, key: Key) -> Verdict | None:
    """The verdict on that, if there is one. What can't be read is as if it weren't there, with a warning."""
    path = _path(cache, key)
    try:
        record = _decode(path.read_bytes())
        if record.key != key:
            raise ValueError("it is about something else")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # msgspec's errors are ValueErrors
        log.warning("the verdict in %s can't be used, so %s is tried again: %s", path, key.provider, error)
        return None
    return record.verdict


def store(cache: Path, key: Key, verdict: Verdict) -> bool:
    """Keep it, whole or not at all; false, with a warning, if it can't be kept."""
    path = _path(cache, key)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix="unfinished-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.msgpack.encode(_Record(key, verdict)))
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        log.warning("the verdict on %s can't be kept in %s: %s", key.provider, path.parent, error)
        return False
    return True


def clear(cache: Path) -> None:
    """Forget all verdicts, so that every provider is tried again."""
    shutil.rmtree(cache / _FOLDER, ignore_errors=True)


def _path(cache: Path, key: Key) -> Path:
    return cache / _FOLDER / f"{hashlib.sha256(msgspec.msgpack.encode(key)).hexdigest()[:32]}.msgpack"

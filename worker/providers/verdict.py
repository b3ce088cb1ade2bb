"""Verdicts of trials: how measurements become one, and their cache. A trial is run once for each combination of
everything that its result depends on."""

from __future__ import annotations

import hashlib
import logging
import math
import os
import shutil
import statistics
import time
from pathlib import Path

import msgspec
import onnxruntime

from shm import kept
from shm.atomic import write_shared
from shm.decoding import msgpack_decoder
from shm.engine_info import TrialResult
from shm.messages import clipped
from worker.machine import machine_name
from worker.settings import WorkerSettings
from worker.targets import Assignment, StageTarget

log = logging.getLogger(__name__)

_FOLDER = "verdicts"

_DECIDE = (
    "vocoder",
    "window",
    "threads",
    "worker_cpus",
    "provider_options",
)
"""Names of the settings that a verdict depends on."""

_SHARED_OUT = ("num_of_threads",)
"""Options that follow from the cores that a process may use, unless `provider_options` sets them."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a verdict depends on: if any field changes, the provider is tried again.

    The key is the same in a trial, which has all of the server's cores, and in a worker, which may have a share of
    them.
    """

    format: int = kept.VERDICT.version
    stages_format: int = kept.STAGES.version
    machine: str
    onnxruntime: str
    model: str
    """Hexadecimal sha256 of the model file."""
    provider: str
    stages: tuple[tuple[str, str, tuple[tuple[str, str], ...], int, bool], ...]
    """Name, provider, options and static window of each stage, and whether it is in half precision."""
    shape: tuple[str, ...]
    """Values of the settings in `_DECIDE`, as text."""

    @classmethod
    def of(cls, provider: str, placed: Assignment, settings: WorkerSettings, model: str) -> Key:
        """Key of a provider's verdict; `model` is the sha256 of the model file."""
        targets = placed.stages()
        return cls(
            machine=machine_name(os.cpu_count() or 1),
            onnxruntime=onnxruntime.__version__,
            model=model,
            provider=provider,
            stages=tuple(
                (name, target.provider, _lasting(target), target.window, target.half) for name, target in targets
            ),
            shape=tuple(str(getattr(settings, name)) for name in _DECIDE),
        )


def _lasting(target: StageTarget) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in target.options if pair[0] not in _SHARED_OUT)


class Verdict(TrialResult, frozen=True, kw_only=True):
    nodes_run: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """Number of nodes that ran on each provider, by the graph's file name without its suffix."""
    timeout: float | None = None
    """The `compile_timeout` that was too short; None if it sufficed."""

    def had_less(self, timeout: float) -> bool:
        """True if the trial ran out of time, and `timeout` would be longer."""
        return self.timeout is not None and timeout > self.timeout

    def is_stale(self, age: float) -> bool:
        """True if the trial is older than `age` seconds."""
        return time.time() - self.when > age

    def favours(self, asked_by_name: bool) -> bool:
        """True if the provider should be used. A user who names a provider gets it if it is right, even if it isn't
        faster."""
        return self.right and (self.faster or asked_by_name)

    def nodes_of(self, stage: str, window: int = 0, half: bool = False) -> dict[str, int] | None:
        """Number of a stage's nodes by the provider that ran them. With a static window (`window` > 0), the window's
        graph counts; without one, the graph for any length or, if only that ran, the graph that computes its own
        statistics (`exact`)."""
        names = [f"{stage}-{window}{'.half' if half else ''}"] if window else [stage, f"{stage}-exact"]
        return next((self.nodes_run[name] for name in names if name in self.nodes_run), None)


class _StoredVerdict(msgspec.Struct, frozen=True):
    key: Key
    verdict: Verdict


_decode = msgpack_decoder(_StoredVerdict)


def load(cache: Path, key: Key) -> Verdict | None:
    """Stored verdict for a key; None if there is none, or, with a warning, if it can't be read."""
    path = _path(cache, key)
    try:
        stored = _decode(path.read_bytes())
        if stored.key != key:
            raise ValueError("it is about something else")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # msgspec's errors are ValueErrors
        log.warning("the verdict in %s can't be used, so %s is tried again: %s", path, key.provider, error)
        return None
    return stored.verdict


def store(cache: Path, key: Key, verdict: Verdict) -> bool:
    """Store a verdict, whole or not at all. Returns False, with a warning, if it can't be stored."""
    path = _path(cache, key)
    try:
        write_shared(path, msgspec.msgpack.encode(_StoredVerdict(key, verdict)))
    except OSError as error:
        log.warning("the verdict on %s can't be kept in %s: %s", key.provider, path.parent, error)
        return False
    return True


def clear(cache: Path) -> None:
    """Delete all verdicts, so that every provider is tried again."""
    shutil.rmtree(cache / _FOLDER, ignore_errors=True)


def _path(cache: Path, key: Key) -> Path:
    return cache / _FOLDER / f"{hashlib.sha256(msgspec.msgpack.encode(key)).hexdigest()[:32]}.msgpack"


ENOUGH_SNR = 35.0
"""Smallest signal-to-noise ratio in dB against the CPU's sound. Half precision gives more. The
predicted statistics with which windows are made change the sound by more than such an error, so it is inaudible; wrong
arithmetic (a modulo, a norm, a pad) gives far less."""

ENOUGH_FASTER = 1.1
"""Smallest ratio of the CPU's time to the provider's. Less may be noise, on a machine that speaks in the meantime, and
isn't worth another worker."""


class Measurements(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements of a trial, as far as it came."""

    provider: str
    failure: str = ""
    """Reason why the trial ended early; empty if it is complete."""
    timeout: float | None = None
    """The `compile_timeout` that ended the trial; None if it ended otherwise."""
    compile_seconds: float | None = None
    snr: tuple[float, ...] = ()
    """Signal-to-noise ratio in dB, by sentence."""
    cpu_seconds: tuple[float, ...] = ()
    """Seconds that the CPU took for all sentences, by round; rounds alternate with those of `seconds`."""
    seconds: tuple[float, ...] = ()
    nodes_run: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)


def judge(measured: Measurements) -> Verdict:
    """Verdict on the measurements. Pure, apart from reading the clock."""
    nodes = sum(by_provider.get(measured.provider, 0) for by_provider in measured.nodes_run.values())
    snr = min(measured.snr, key=lambda each: -math.inf if math.isnan(each) else each, default=None)
    ratio = _ratio(measured)
    right, faster = False, False
    if measured.failure:
        reason = clipped(" ".join(measured.failure.split()))
    elif not nodes:
        reason = f"onnxruntime gave it nothing to run: all of the model fell to {_others(measured)}"
    elif snr is None or ratio is None:
        reason = "the trial measured nothing"
    elif not snr >= ENOUGH_SNR:  # a NaN counts as wrong too
        reason = f"its sound isn't the CPU's: {snr:.1f} dB SNR, and {ENOUGH_SNR:g} are wanted"
    else:
        right, faster = True, ratio >= ENOUGH_FASTER
        reason = f"{ratio:.2f} times as fast as the CPU, {snr:.1f} dB SNR against it"
        if not faster:
            reason += f"; from {ENOUGH_FASTER:g} times on it is taken unasked"
    return Verdict(
        when=time.time(),
        right=right,
        faster=faster,
        reason=reason,
        snr=snr,
        ratio=ratio,
        compile_seconds=measured.compile_seconds,
        nodes_run=measured.nodes_run,
        timeout=measured.timeout,
    )


def _ratio(measured: Measurements) -> float | None:
    """Median of the ratios of paired rounds: other load on the machine affects both rounds of a pair."""
    pairs = zip(measured.cpu_seconds, measured.seconds, strict=True)
    return statistics.median(cpu / other for cpu, other in pairs) if measured.seconds else None


def _others(measured: Measurements) -> str:
    others = {provider for nodes in measured.nodes_run.values() for provider in nodes}
    return " and ".join(sorted(others)) or "another one"

"""Judgement of a trial: turns measurements into a verdict."""

from __future__ import annotations

import math
import statistics
import time

import msgspec

from shm.messages import clipped
from worker.acceleration.verdict import Verdict

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
    nodes_run: dict[str, dict[str, int]] = {}


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

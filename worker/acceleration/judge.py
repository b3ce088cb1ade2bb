"""From what a trial has measured to its verdict."""

from __future__ import annotations

import math
import statistics
import time

import msgspec

from shm.messages import clipped
from worker.acceleration.verdict import Verdict

ENOUGH_SNR = 35.0
"""dB against the CPU's sound. Half precision gives 40 to 60, TensorFloat-32 more. The predicted statistics
with which windows are made cost more than 35 leaves (5 to 15), so what is above it isn't what one would hear; wrong
arithmetic (a modulo, a norm, a pad) is far below it, at 0 to 20."""

ENOUGH_FASTER = 1.1
"""Times. What is less may be noise, on a machine that speaks meanwhile, and isn't worth another worker."""


class Measurements(msgspec.Struct, frozen=True, kw_only=True):
    """What a trial has measured, as far as it came."""

    provider: str
    failure: str = ""
    """Why it went no further; empty if nothing is missing."""
    timeout: float | None = None
    """The `compile_timeout`, if that is why."""
    compile_seconds: float | None = None
    snr: tuple[float, ...] = ()
    """dB, by sentence."""
    cpu_seconds: tuple[float, ...] = ()
    """For the same sentences, again and again, in turn with `seconds`."""
    seconds: tuple[float, ...] = ()
    placement: dict[str, dict[str, int]] = {}


def judge(measured: Measurements) -> Verdict:
    """Pure, but for the time."""
    nodes = sum(by_provider.get(measured.provider, 0) for by_provider in measured.placement.values())
    snr = min(measured.snr, key=lambda each: -math.inf if math.isnan(each) else each, default=None)
    ratio = _ratio(measured)
    right, faster = False, False
    if measured.failure:
        reason = clipped(" ".join(measured.failure.split()))
    elif not nodes:
        reason = f"onnxruntime gave it nothing to run: all of the model fell to {_others(measured)}"
    elif snr is None or ratio is None:
        reason = "the trial measured nothing"
    elif not snr >= ENOUGH_SNR:  # what isn't a number isn't right either
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
        placement=measured.placement,
        timeout=measured.timeout,
    )


def _ratio(measured: Measurements) -> float | None:
    """The median of neighbours' ratios: what else the machine does meanwhile is in both of a pair."""
    pairs = zip(measured.cpu_seconds, measured.seconds, strict=True)
    return statistics.median(cpu / other for cpu, other in pairs) if measured.seconds else None


def _others(measured: Measurements) -> str:
    others = {provider for nodes in measured.placement.values() for provider in nodes}
    return " and ".join(sorted(others)) or "another one"

"""Advice from the figures of a `/status` report: pure rules, each of which cites the figure behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import UNSET

from frontend.monitoring.drift import DRIFTED, NOTICED
from frontend.monitoring.report import Memory, Recommendation, Status

_CONSEQUENCES = {
    "worker": " Listeners don't hear a worker's death, but after a series of deaths without progress the next try "
    "waits, from one minute up to ten (docs/operations.md).",
    "front": " On Linux the next front continues its answers, elsewhere they are cut; a series of deaths without "
    "progress ends the service (docs/operations.md).",
}
"""The consequence of a death, by role; the death of another role's process ends nothing but its own work."""

_MEGABYTE = 1e6
_FEW = 20
"""Requests, words or lookups below which a rate is meaningless."""
_SETTLED = 8
"""Segments, each made alone, below which an engine's speed isn't known well enough for advice: the first ones after a
start are slow, and short ones say little about long ones. Plans wait for as many (`frontend.planning.costs`)."""


def recommendations(status: Status) -> list[Recommendation]:
    """The recommendations that apply, the gravest first."""
    return [Recommendation(code, message) for rule in RULES for code, message in rule(status)]


def _crashes(status: Status) -> Iterator[tuple[str, str]]:
    for role, count in status.restarts.items():
        if count:
            last = next(
                (f", the last by {p.last_exit}" for p in status.processes if p.role == role and p.last_exit), ""
            )
            times = "once" if count == 1 else f"{count} times"
            yield (
                "restarts",
                f"The {role} has died and been restarted {times}{last}: the log says why.{_CONSEQUENCES.get(role, '')}",
            )


def _fallback(status: Status) -> Iterator[tuple[str, str]]:
    if status.engine is not UNSET and status.engine.stands_in:
        yield (
            "espeak",
            f"{status.engine.model} speaks, because Kokoro can't: `kokoro-live doctor` says why. If espeak-ng is what "
            "you want, --engine espeak says so.",
        )


def _provider(status: Status) -> Iterator[tuple[str, str]]:
    for name, reason in status.provider_failures.items():
        yield "provider_refused", f"{name} was given up ({reason}), and the next provider speaks. Mend it, or name one "
        "with --provider."


def _too_slow(status: Status) -> Iterator[tuple[str, str]]:
    for name, factor in _real_time_factors(status).items():
        if factor > 1:
            yield (
                "slower_than_speech",
                f"The real-time factor is {factor:.2f} with {name}: slower than speech, so listeners hear gaps. Choose "
                "a smaller model file (docs/variants.md), or another --provider.",
            )


def _real_time_factors(status: Status) -> dict[str, float]:
    """Real-time factors by engine, of those engines whose speed is known well enough."""
    settled = {name: costs for name, costs in status.costs.items() if costs.get("segments", 0) >= _SETTLED}
    return {name: costs["real_time_factor"] for name, costs in settled.items()}


def _gaps(status: Status) -> Iterator[tuple[str, str]]:
    gaps, factors = status.totals.underruns, _real_time_factors(status).values()
    if gaps and factors and all(factor <= 1 for factor in factors):
        yield (
            "gaps",
            f"Listeners heard {gaps} gaps, though a stream that is alone keeps up: too many at once, or other programs "
            "take the processors. Lower --max-streams, or give the server more cores.",
        )


def _refused(status: Status) -> Iterator[tuple[str, str]]:
    refused = status.totals.refused
    asked = refused + status.totals.spoken  # scrapes and lists are requests too, and no reason for advice
    if asked >= _FEW and refused > asked * 0.05:
        yield (
            "refused",
            f"{refused} of {asked} texts were rejected, because they could not have been spoken in time: spread them, "
            "or use a faster --provider, a smaller model, or another machine.",
        )


def _memory(status: Status) -> Iterator[tuple[str, str]]:
    memory = status.memory
    if _is_short(memory):
        yield (
            "low_memory",
            f"{memory.available_bytes / _MEGABYTE:.0f} MB of {memory.total_bytes / _MEGABYTE:.0f} MB of memory are "
            f"available: lower --cache-bytes (the cache holds {status.cache.bytes / _MEGABYTE:.0f} MB), use --standby "
            "off, or a smaller model.",
        )


def _is_short(memory: Memory) -> bool:
    return memory.available_bytes < memory.total_bytes * 0.05


def _drift(status: Status) -> Iterator[tuple[str, str]]:
    drift = status.drift
    if drift is UNSET or drift.recent is UNSET or drift.recent < NOTICED:
        return
    if drift.ratio is not UNSET and drift.ratio > DRIFTED:
        yield (
            "slower_than_before",
            f"The real-time factor is {drift.recent:.3f} of late, {drift.ratio:.2f} times the stored "
            f"{drift.baseline:.3f}: look for heat, power saving, other programs, or an update.",
        )
    if drift.stream_ratio is not UNSET and drift.stream_ratio > DRIFTED:
        yield (
            "slows_down_in_streams",
            f"The last long stream became {drift.stream_ratio:.2f} times slower from its first segments to its last: "
            "look for heat or power saving.",
        )


def _selfcheck(status: Status) -> Iterator[tuple[str, str]]:
    check = status.selfcheck
    if check is not UNSET and check.ratio is not UNSET and check.ratio > DRIFTED and check.real_time_factor >= NOTICED:
        yield (
            "selfcheck_regression",
            f"The last self-check had a real-time factor of {check.real_time_factor:.3f}, {check.ratio:.2f} times the "
            f"median of the {check.checks - 1} before: look for heat, power saving, other programs, or an update.",
        )


def _pronunciation(status: Status) -> Iterator[tuple[str, str]]:
    words = sum(status.words_by_source.values())
    guessed = status.words_by_source.get("espeak", 0) + status.words_by_source.get("letters", 0)
    if words >= 10 * _FEW and guessed > words * 0.2:
        yield (
            "guessed_pronunciations",
            f"{guessed} of {words} words were in no lexicon, and pronounced by rule: add those that you use often to a "
            "--lexicon.",
        )


def _cache(status: Status) -> Iterator[tuple[str, str]]:
    cache = status.cache
    asked = cache.hits + cache.misses
    if asked < 10 * _FEW:
        return
    rate = cache.hits / asked
    # Where memory is short, the advice is a smaller cache.
    if 0 < cache.capacity_bytes < cache.bytes / 0.9 and rate > 0.1 and not _is_short(status.memory):
        yield (
            "cache_full",
            f"The cache is full ({cache.bytes / _MEGABYTE:.0f} MB of {cache.capacity_bytes / _MEGABYTE:.0f} MB), and "
            f"{rate:.0%} of segments are found there: with a larger --cache-bytes it would be more.",
        )
    if rate > 0.3 and not cache.disk:
        yield (
            "disk_cache_unused",
            f"{rate:.0%} of segments had been spoken before: --disk-cache FOLDER would keep them for the next start.",
        )


RULES: tuple[Callable[[Status], Iterator[tuple[str, str]]], ...] = (
    _too_slow,
    _fallback,
    _provider,
    _crashes,
    _memory,
    _gaps,
    _refused,
    _drift,
    _selfcheck,
    _pronunciation,
    _cache,
)

"""What a start names in one line and does without: settings of earlier versions, and variables `KOKORO_…` of other
servers, each with the setting that takes its place."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

_RULE = "normalize_"
_RULES = "--normalize-without lists the rules that are left out"
_OF_TODAY = ("normalize_without", "normalize_emoji_names")


OURS, OTHERS = "KOKORO_LIVE_", "KOKORO_"

_MEANT = {
    "api_key": "api_keys",
    "cache": "cache_bytes",
    "cache_size": "cache_bytes",
    "concurrent_requests": "max_streams",
    "cors": "cors_origins",
    "default_speed": "default_speed",
    "default_voice": "default_voice",
    "device": "provider",
    "format": "default_format",
    "inference_provider": "provider",
    "max_concurrent": "max_streams",
    "max_segment_length": "adapt_plans",
    "max_workers": "workers",
    "memory_limit": "worker_max_rss",
    "memory_watchdog": "worker_max_rss",
    "model_path": "model",
    "ort_provider": "provider",
    "onnx_provider": "provider",
    "ort_threads": "threads",
    "provider_cache_dir": "cache_dir",
    "silence_primer": "prime_silence",
    "speed": "default_speed",
    "stream_format": "default_format",
    "voice": "default_voice",
    "voices_path": "voices",
    "warm_up": "prewarm",
    "warmup": "prewarm",
}
"""Usual names of other servers' variables, by the setting that does the same here."""


def is_removed(name: str) -> bool:
    return _replacement(name) is not None


def removed_line(place: str, name: str) -> str:
    """The line about a removed setting that stands at `place`: a file, a variable or a flag."""
    now = _replacement(name)
    return f"{place}: there is no setting {name} any more, and it is ignored{f'; {now}' if now else ''}"


def without_removed(arguments: Iterable[str]) -> tuple[list[str], list[str]]:
    """A command line without the flags of removed settings, and the lines about those."""
    kept: list[str] = []
    lines: list[str] = []
    left = list(arguments)
    while left:
        argument = left.pop(0)
        flag, equals, _ = argument.partition("=")
        name = flag.removeprefix("--").removeprefix("no-").replace("-", "_")
        if not flag.startswith("--") or not is_removed(name):
            kept.append(argument)
            continue
        lines.append(removed_line(flag, name))
        if left and not equals and name in _table()["flags-with-a-value"]:
            left.pop(0)
    return kept, lines


def foreign_lines(variables: Iterable[str], settings: Collection[str]) -> Iterator[str]:
    """A line for each variable that another server of Kokoro's would read.

    Args:
        settings: the names of this server's settings.
    """
    for variable in sorted(variables):
        if not variable.startswith(OTHERS) or variable.startswith(OURS):
            continue
        name = variable.removeprefix(OTHERS).lower()
        found = name if name in settings else _MEANT.get(name)
        near = [found] if found in settings else difflib.get_close_matches(name, settings, 1, 0.75)
        instead = f"{OURS}{near[0].upper()} or --{near[0].replace('_', '-')}" if near and near[0] else ""
        yield f"{variable} is not read here; " + (
            f"{instead} is the setting" if instead else "docs/coming-from.md and docs/settings.md have the settings"
        )


def _replacement(name: str) -> str | None:
    if name.startswith(_RULE):  # each rule of normalisation had a switch
        return None if name in _OF_TODAY else _RULES
    return next((names[name] for names in _table().values() if name in names), None)


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text())

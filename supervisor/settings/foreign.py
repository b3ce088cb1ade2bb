"""Variables `KOKORO_…` of other servers, which nothing here reads: a start names each in one line, with the setting
that takes its place."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator

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

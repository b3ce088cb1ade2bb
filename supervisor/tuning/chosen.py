"""The settings that tuning may choose, and what else of the settings makes a profile one of its own. Light."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

Provider = Literal["auto", "coreml", "cuda", "tensorrt", "openvino", "cpu"]
"""As `WorkerSettings.provider` has them; any other in a file makes that unusable."""


class Chosen(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """Settings of the supervisor, the worker and the front by their own names; None: the default stays."""

    model: str | None = None
    provider: Provider | None = None
    threads: int | None = None
    concurrency: int | None = None
    spinning: bool | None = None
    memory_arena: bool | None = None
    memory_pattern: bool | None = None
    first_window: float | None = None
    window_growth: float | None = None
    window: float | None = None
    min_first_tokens: int | None = None
    workers: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Chosen:
        """From settings' own values."""
        plain: dict[str, Any] = {n: str(value) if isinstance(value, Path) else value for n, value in values.items()}
        return cls(**plain)

    def values(self) -> dict[str, Any]:
        """Those that were chosen, as settings have them."""
        chosen = {name: value for name in CHOOSABLE if (value := getattr(self, name)) is not None}
        return {name: Path(value) if name == "model" else value for name, value in chosen.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} {shown(value)}" for name, value in self.values().items())


CHOOSABLE = Chosen.__struct_fields__

_DECIDE_COSTS = ("vocoder", "statistics", "graph_optimization", "provider_options", "worker_cpus", "worker_qos")
"""Never chosen, but what suits one of their values needn't suit another."""

KEYED = (*(name for name in CHOOSABLE if name not in ("model", "workers")), *_DECIDE_COSTS)
"""Settings that, where they are given, are a part of a profile's key. The model counts by its hash; all else was found
with one worker, whether more were chosen or not."""


def shown(value: object) -> str:
    """For people."""
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case Path():
            return value.name
        case _:
            return str(value)


def options(given: Mapping[str, Any], names: Iterable[str] = KEYED) -> dict[str, str]:
    """Of the given settings those that count for the key, as text."""
    return {name: shown(given[name]) for name in sorted(names) if name in given}

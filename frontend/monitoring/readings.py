"""Gauges of values that this front knows at the moment of a scrape: engine in use, costs, memory; and who has called.

The gauges are read at every scrape and stored nowhere, so no value is left over from an ended process or a replaced
engine. An unknown value has no sample.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.core import GaugeMetricFamily

from frontend.planning.costs import CostModel
from shm.engine_info import EngineInfo

Reading = tuple[str, tuple[str, ...], float]
"""A gauge's name without its prefix, its labels' values, and its value."""

GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "demand_ratio": (
        "Work that is due divided by work that is possible, over all admitted streams: near 1, newcomers are rejected. "
        "Absent while the engine's speed isn't measured.",
        (),
    ),
    "engine_info": (
        "1 for the engine that speaks now; absent while nothing can.",
        ("engine", "provider", "model"),
    ),
    "engine_stands_in": ("1 while espeak-ng speaks only because Kokoro was wanted and can't.", ("engine",)),
    "sockets": ("Open connections of clients that send text piece by piece.", ("protocol",)),
    "contexts": ("Contexts that are open on those connections.", ()),
    "jobs": ("Books that /v1/jobs keeps, by state: queued, making, done, failed.", ("state",)),
    "job_progress_ratio": ("Part of the text that is spoken of the book in hand; absent while there is none.", ()),
    "process_resident_memory_bytes": (
        "Memory of all processes of a role together; a standby counts as a worker.",
        ("process",),
    ),
    "processor_seconds_per_audio_second": (
        "Processor seconds of a role's processes for each second of speech made, since this front began; a worker's by "
        "stage (prosody, vocoder) if it tells them apart.",
        ("process", "stage"),
    ),
    "joules_per_audio_second": (
        "Energy in the same way, where Linux's powercap tells it: the processors', shared out by processor time.",
        ("process", "stage"),
    ),
    "cost_seconds_per_100_tokens": ("Fitted: work for a script of 100 tokens.", ("engine",)),
    "cost_audio_seconds_per_token": ("Fitted: audio of each token of a script, at speed 1.", ("engine",)),
    "cost_real_time_factor": ("Fitted: seconds of work per second of audio, of a run that is alone.", ("engine",)),
    "cost_prosody_seconds_per_100_tokens": ("Fitted: of the work, what comes before any sound.", ("engine",)),
    "cost_vocoder_seconds_per_audio_second": ("Fitted: of the work, what grows with the audio.", ("engine",)),
    "real_time_factor_drift_ratio": (
        "The real-time factor of late, against the one that is stored (over=days) or its stream's own first segments "
        "(over=stream); 1.2 is 20 % slower.",
        ("over",),
    ),
    "selfcheck_real_time_factor": ("Seconds of work per second of audio, in the last self-check.", ()),
    "selfcheck_first_audio_seconds": ("Time to the first audio in the last self-check.", ()),
    "selfcheck_regression_ratio": ("The last self-check's real-time factor against the median of those before.", ()),
}


class Readings:
    """A collector for prometheus-client."""

    def __init__(self) -> None:
        self._sources: list[Callable[[], Iterable[Reading]]] = []

    def add(self, source: Callable[[], Iterable[Reading]]) -> None:
        """Add a function that is called at every scrape."""
        self._sources.append(source)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        families: dict[str, GaugeMetricFamily] = {}
        for source in self._sources:
            for name, labels, value in source():
                if name not in families:
                    explained, label_names = GAUGES[name]
                    families[name] = GaugeMetricFamily(f"kokoro_live_{name}", explained, labels=label_names)
                families[name].add_metric(labels, value)
        yield from families.values()


def engine_readings(engine: EngineInfo | None) -> Iterator[Reading]:
    if engine is not None:
        yield "engine_info", (engine.name, engine.provider, engine.model), 1
        yield "engine_stands_in", (engine.name,), float(engine.stands_in)


def demand_readings(ratio: float | None) -> Iterator[Reading]:
    """The load that admission calculates with."""
    if ratio is not None:
        yield "demand_ratio", (), ratio


def cost_readings(models: Mapping[str, CostModel]) -> Iterator[Reading]:
    for name, costs in models.items():
        for figure, value in costs.as_dict().items() if costs.measured else ():
            if (gauge := f"cost_{figure}") in GAUGES and isinstance(value, float):
                yield gauge, (name,), value


@dataclass(slots=True)
class OpenSockets:
    """Counts that the protocols with growing texts keep."""

    sockets: Counter[str] = field(default_factory=Counter)
    """Open connections by protocol; a protocol that was used once stays with 0."""
    contexts: int = 0
    """Contexts that are open on them."""

    def readings(self) -> Iterator[Reading]:
        """The counts of sockets and contexts, as gauges."""
        for protocol, count in self.sockets.items():
            yield "sockets", (protocol,), float(count)
        yield "contexts", (), float(self.contexts)


_MOST_CALLS = 256
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Call:
    """The latest call of one address by one program."""

    path: str
    program: str
    """The name by which it gives itself out (its User-Agent); empty if it gives none."""
    at: float
    """Monotonic seconds."""


class Callers:
    """The latest calls since this front began; of very many addresses and programs, the latest ones."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], Call] = {}

    def note(self, path: str, program: str) -> None:
        """A program has called that address, and was answered."""
        program = "".join(filter(str.isprintable, program[:_LONGEST_NAME]))
        self._calls.pop((path, program), None)
        self._calls[path, program] = Call(path, program, time.monotonic())
        if len(self._calls) > _MOST_CALLS:
            del self._calls[next(iter(self._calls))]

    def latest(self, path: re.Pattern[str], program: re.Pattern[str]) -> Call | None:
        """The latest call whose address and program match these expressions."""
        found = (each for each in reversed(self._calls.values()) if path.search(each.path))
        return next((each for each in found if program.search(each.program)), None)

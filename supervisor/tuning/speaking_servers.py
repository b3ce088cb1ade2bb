"""The servers that tuning measures: what was chosen so far, as `serve` would run it, with one worker or several."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

from supervisor.tuning.candidates import Changes
from supervisor.tuning.listening import Figures, measure
from supervisor.tuning.profile_file import ProfileFolder
from supervisor.tuning.servers import RunningServer, flags, serving
from supervisor.tuning.several_workers import Costs
from supervisor.tuning.texts import PARAGRAPHS, SENTENCE
from supervisor.tuning.trials import OF_THE_FRONT
from worker.settings import WorkerSettings

_MOST_LISTENERS = 24
"""A server makes no more than 32 streams at once."""

COSTS = "measuring.costs.json"
"""Beside the profiles, while servers are measured: what plans begin with."""


@dataclass(frozen=True, slots=True)
class SpeakingServers:
    """See `supervisor.tuning.several_workers.Start`. Each has its processes, which end with this one."""

    settings: WorkerSettings
    """As they are without tuning; with `min_first_tokens`, the default."""
    min_first_tokens: int
    cores: int
    timeout: float
    """Seconds in which all workers must speak, and without a byte after which a server counts as broken."""

    @contextmanager
    def __call__(self, changes: Changes, costs: Costs, workers: int) -> Iterator[_Measured]:
        """
        Raises:
            ServerFailed: it doesn't speak with all its workers.
        """
        of_worker = {name: value for name, value in changes.items() if name not in OF_THE_FRONT}
        settings = asdict(replace(self.settings, **of_worker))
        settings["min_first_tokens"] = changes.get("min_first_tokens", self.min_first_tokens)
        file = ProfileFolder(self.settings.cache_dir).path / COSTS
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(costs))
        try:
            arguments = (*flags(settings), "--standby", "off", "--cost-profiles", str(file))
            with serving(arguments, workers, self.timeout) as server:
                yield _Measured(server, listeners(self.cores), self.timeout)
        finally:
            file.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Measured:
    server: RunningServer
    crowd: int
    timeout: float

    def measure(self) -> Figures:
        """See `supervisor.tuning.several_workers.Server`."""
        texts = [PARAGRAPHS[number % len(PARAGRAPHS)] for number in range(self.crowd)]
        figures = measure(self.server.url, SENTENCE, texts, self.timeout)
        self.server.assert_sound()
        return figures

    def memory(self) -> int:
        """Likewise."""
        return self.server.memory()


def listeners(cores: int) -> int:
    """About as many as a server can serve with so many cores, and one more."""
    return min(cores + 1, _MOST_LISTENERS)

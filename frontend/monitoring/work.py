"""Processor seconds, and energy where the machine tells it, for each second of speech made: by process and stage.

Linux tells the energy of its processor packages in `/sys/class/powercap` (RAPL; most systems let root alone read it). A
process's share of it is its share of the time in which the machine's processors were busy.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil

from frontend.monitoring.readings import Reading
from frontend.monitoring.report import Work, work

POWERCAP = Path("/sys/class/powercap")

SELDOM = 2.0
"""Seconds between two looks at the processes while speech is made: each costs some system calls."""

ENOUGH = 1.0
"""Seconds of speech from which on a figure is told."""


class Packages:
    """Energy that the processor packages have used since the first call."""

    def __init__(self, folder: Path = POWERCAP) -> None:
        # intel-rapl:0 is a package, intel-rapl:0:1 a part of one, whose energy the package's contains.
        self._zones = [zone for zone in sorted(folder.glob("intel-rapl:*")) if zone.name.count(":") == 1]
        self._last: dict[Path, int] = {}
        self._joules = 0.0

    def joules(self) -> float | None:
        """The energy so far; None if the machine doesn't tell it."""
        known = False
        for zone in self._zones:
            try:
                now = int((zone / "energy_uj").read_text())
                most = int((zone / "max_energy_range_uj").read_text())
            except (OSError, ValueError):
                continue
            known = True
            # The counter begins again from 0 after `max_energy_range_uj`.
            self._joules += (now - self._last.get(zone, now)) % (most + 1) / 1e6
            self._last[zone] = now
        return self._joules if known else None


def processor_seconds(pid: int) -> float | None:
    """A process's time so far; None if it has ended."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return None
    return float(times.user + times.system)


def busy_seconds() -> float:
    """Time of all the machine's processors in which they weren't idle."""
    times = psutil.cpu_times()
    return float(sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0))


class WorkAccount:
    """Sums over one front's life. What a process did after the last look before its end is lost."""

    def __init__(
        self,
        processes: Callable[[], Mapping[int, str]] = dict,
        packages: Packages | None = None,
        spent: Callable[[int], float | None] = processor_seconds,
        busy: Callable[[], float] = busy_seconds,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`processes`: the role of each of the server's processes, by pid."""
        self.processes = processes
        self._packages = packages or Packages()
        self._spent, self._busy, self._clock = spent, busy, clock
        self._looked = -SELDOM
        self._before: dict[int, float] = {}
        self._joules_before: float | None = None
        self._busy_before = 0.0
        self._seconds: dict[str, float] = defaultdict(float)
        self._joules: dict[str, float] = defaultdict(float)
        self._audio = 0.0
        self._engine = {"prosody": 0.0, "vocoder": 0.0}

    def made(self, audio: float, engine: float, prosody: float) -> None:
        """Note a segment: its seconds of audio, of an inference thread, and of these for its prosody."""
        self._audio += audio
        self._engine["prosody"] += prosody
        self._engine["vocoder"] += engine - prosody
        if self._clock() - self._looked >= SELDOM:
            self.look()

    def look(self) -> None:
        """Add what the processes have spent since the last look."""
        self._looked = self._clock()
        roles = self.processes()
        now = {pid: spent for pid in roles if (spent := self._spent(pid)) is not None}
        since: dict[str, float] = defaultdict(float)
        for pid, spent in now.items():
            since[roles[pid]] += spent - self._before.get(pid, spent)
        joules, busy = self._packages.joules(), self._busy()
        for role, seconds in since.items():
            self._seconds[role] += seconds
            if joules is not None and self._joules_before is not None and busy > self._busy_before:
                share = min(seconds / (busy - self._busy_before), 1.0)
                self._joules[role] += (joules - self._joules_before) * share
        self._before, self._joules_before, self._busy_before = now, joules, busy

    def report(self) -> list[Work]:
        """For `/status`; empty before a second of speech was made."""
        self.look()
        return [] if self._audio < ENOUGH else list(self._rows())

    def readings(self) -> Iterator[Reading]:
        for row in self.report():
            labels = (row.process, row.stage or "")
            yield "processor_seconds_per_audio_second", labels, row.processor_seconds
            if row.joules:
                yield "joules_per_audio_second", labels, row.joules

    def _rows(self) -> Iterator[Work]:
        for role, seconds in sorted(self._seconds.items()):
            joules = self._joules.get(role, 0.0)
            parts = self._parts() if role == "worker" else {"": 1.0}
            for stage, part in parts.items():
                told = seconds * part / self._audio, joules * part / self._audio
                yield work(role, stage, *told)

    def _parts(self) -> Mapping[str, float]:
        """Each stage's part of the workers' time: the same as of the inference threads' time."""
        if not (total := sum(self._engine.values())) or not self._engine["prosody"]:
            return {"": 1.0}
        return {stage: seconds / total for stage, seconds in self._engine.items()}

"""The server's processes, as the supervisor reports them: their present memory, and what each second of speech costs.

Linux tells the energy of its processor packages in `/sys/class/powercap` (RAPL; most systems let root alone read it). A
process's share of it is its share of the time in which the machine's processors were busy.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil
from msgspec import UNSET, UnsetType

from frontend.monitoring.readings import Reading
from frontend.monitoring.report import LoadedFile, Process, Provider, Scheduling, SpeakingEngine, Stage, Work, work
from shm.engine_info import EngineInfo, Priority, StageInfo, TrialInfo
from shm.situation import ProcessReport, Situation


def processes(situation: Situation, supervisor: int) -> list[Process]:
    """The supervisor's process (by its pid), then all processes that it has reported; empty before its first report."""
    if not situation.processes:
        return []
    first = Process("supervisor", "running", pid=supervisor, resident_memory_bytes=_resident(supervisor))
    return [first, *map(_process, situation.processes), *_trackers(supervisor)]


def _trackers(supervisor: int) -> list[Process]:
    """The process that multiprocess starts beside the first child, to clean up named resources. None are used."""
    try:
        children = psutil.Process(supervisor).children()
        found = [child.pid for child in children if any("resource_tracker" in word for word in child.cmdline())]
    except psutil.Error:
        return []
    return [Process("resource_tracker", "running", pid=pid, resident_memory_bytes=_resident(pid)) for pid in found]


def _process(report: ProcessReport) -> Process:
    return Process(
        role=report.role,
        state=report.state,
        slot=_known(report.slot),
        provider=report.provider or UNSET,
        scheduling=scheduling(report.priority),
        generation=_known(report.generation),
        pid=_known(report.pid),
        uptime_seconds=_since(report.started),
        load_seconds=_rounded(report.load_seconds),
        resident_memory_bytes=_resident(report.pid) if report.pid else UNSET,
        restarts=_known(report.restarts),
        last_exit=report.last_exit or UNSET,
        last_exit_seconds_ago=_since(report.last_exit_at),
        next_start_in_seconds=_until(report.next_start),
    )


def scheduling(priority: Priority | None) -> Scheduling | UnsetType:
    """The worker's scheduling priority, as the system reports it there."""
    if priority is None:
        return UNSET
    return Scheduling(priority.nice, list(priority.processors) or UNSET, priority.qos or UNSET)


def memory_readings(situation: Situation, supervisor: int) -> Iterator[Reading]:
    """Memory by role for `/metrics`; a standby counts as a worker."""
    by_role: dict[str, int] = defaultdict(int)
    for process in processes(situation, supervisor):
        if process.resident_memory_bytes is not UNSET:
            by_role["worker" if process.role == "standby" else process.role] += process.resident_memory_bytes
    yield from (("process_resident_memory_bytes", (role,), size) for role, size in by_role.items())


def helper_memory_readings(pids: Mapping[str, Sequence[int]]) -> Iterator[Reading]:
    """Memory of the helper processes that the front starts itself, by name, for `/metrics`."""
    for name, theirs in pids.items():
        if size := sum(_resident(pid) or 0 for pid in theirs):
            yield "process_resident_memory_bytes", (name,), size


def _resident(pid: int) -> int | UnsetType:
    """Resident memory in bytes; UNSET if the process has just ended."""
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return UNSET


def _known(figure: int | None) -> int | UnsetType:
    return UNSET if figure is None else figure


def _since(moment: float | None) -> float | UnsetType:
    return UNSET if moment is None else round(time.monotonic() - moment, 3)


def _until(moment: float | None) -> float | UnsetType:
    return UNSET if moment is None else round(max(moment - time.monotonic(), 0.0), 3)


def speaking(engine: EngineInfo, situation: Situation) -> SpeakingEngine:
    """The engine in use, with the provider chain as trials and refusals have left it."""
    return SpeakingEngine(
        name=engine.name,
        provider=engine.provider,
        model=engine.model,
        inference_threads=engine.concurrency,
        stands_in=engine.stands_in,
        sha256=engine.model_sha256 or UNSET,
        voices_sha256=engine.voices_sha256 or UNSET,
        threads=engine.threads or UNSET,
        first_block_seconds=engine.first_block or UNSET,
        scheduling=scheduling(_priority(engine, situation)),
        files=[LoadedFile(file.name, file.bytes, file.sha256 or UNSET) for file in engine.files],
        providers=_chain(engine, situation),
        stages=[_stage(stage) for stage in engine.stages],
    )


def _priority(engine: EngineInfo, situation: Situation) -> Priority | None:
    """Priority of the first worker's stages on its provider: a worker that was moved runs elsewhere than it was loaded
    for."""
    workers = (process for process in situation.processes if process.role == "worker" and process.state == "running")
    return next((w.priority for w in workers if w.priority and w.provider == engine.provider), engine.priority)


def _chain(engine: EngineInfo, situation: Situation) -> list[Provider]:
    """The providers of the chain, each with the reason why it was taken or not, once for each of its trials."""
    units = next((stage.options.get("MLComputeUnits", "") for stage in engine.stages if stage.name == "generator"), "")
    found: list[Provider] = []
    taken = False
    for name, trial in _tried(engine):
        if name == engine.provider and (trial.compute_units == units if trial else not taken):
            taken = True
            provider = Provider(name, "taken", trial.reason if trial else _instead(found))
        elif name == engine.provider and trial:
            provider = Provider(name, "refused", trial.reason)
        elif name in situation.provider_failures:
            provider = Provider(name, "refused", situation.provider_failures[name])
        elif trial and not taken:
            provider = Provider(name, "refused", trial.reason)
        elif name in engine.untried:
            provider = _untried(name, situation)
        elif taken:
            provider = Provider(name, "not tried", "one before it works")
        else:
            continue
        found.append(_with_figures(provider, trial) if trial else provider)
    return found


def _tried(engine: EngineInfo) -> Iterator[tuple[str, TrialInfo | None]]:
    for name in engine.providers:
        trials = [trial for trial in engine.trials if trial.provider == name]
        yield from ((name, trial) for trial in trials)
        if not trials or name in engine.untried:
            yield name, None


def _instead(before: list[Provider]) -> str:
    if not before:
        return "it is the first of the chain"
    if any(provider.state == "refused" for provider in before):
        return "each one before it was refused, or waits for its trial"
    return "it speaks until those before it have been tried"


def _untried(name: str, situation: Situation) -> Provider:
    if any(process.role == "trial" for process in situation.processes):
        return Provider(name, "being tried", "it is compiled and compared with the CPU, which speaks meanwhile")
    return Provider(name, "not tried", "its trial was lost, or a worker that has it comes up: the log says which")


def _with_figures(provider: Provider, trial: TrialInfo) -> Provider:
    provider.compute_units = trial.compute_units or UNSET
    provider.right = trial.right
    provider.faster = trial.faster
    provider.tried_at = _utc(trial.when)
    provider.verdict_age_seconds = round(time.time() - trial.when)
    provider.next_trial_from = "never" if trial.stale_from is None else _utc(trial.stale_from)
    provider.snr_db = _rounded(trial.snr)
    provider.times_as_fast_as_cpu = _rounded(trial.ratio)
    provider.compile_seconds = _rounded(trial.compile_seconds)
    return provider


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _stage(stage: StageInfo) -> Stage:
    return Stage(
        name=stage.name,
        provider=stage.provider,
        options=stage.options or UNSET,
        window_frames=stage.window or UNSET,
        nodes=UNSET if stage.nodes is None else stage.nodes,
    )


def _rounded(figure: float | None) -> float | UnsetType:
    return UNSET if figure is None else round(figure, 3)


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
            for stage, part in (self._parts() if role == "worker" else {"": 1.0}).items():
                yield work(role, stage, seconds * part / self._audio, joules * part / self._audio)

    def _parts(self) -> Mapping[str, float]:
        """Each stage's part of the workers' time: the same as of the inference threads' time."""
        if not (total := sum(self._engine.values())) or not self._engine["prosody"]:
            return {"": 1.0}
        return {stage: seconds / total for stage, seconds in self._engine.items()}

"""One attempt in a forked process while a call fails, the next attempt, and the judgement of both."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks.faults.power import Cut, Recording, on_disk, put, read_log
from benchmarks.faults.scenarios import Refused, Scenario
from benchmarks.faults.shim import KINDS, POWER, SITES, Kind, Shim

PATIENCE = 150.0
"""Seconds after which an attempt hangs."""

GOOD = ("unharmed", "unreached", "told", "refused")
BAD = ("wrong", "silent", "unclear", "lost", "hang", "crash")
OUTCOMES: Mapping[str, str] = {
    "unharmed": "as without the failure",
    "unreached": "the call didn't come in this run",
    "told": "the same result, and a line in the log",
    "refused": "refused with a line, and the next attempt gave the result",
    "wrong": "another result than without the failure, or a wrong state on the disk",
    "silent": "refused without a word",
    "unclear": "a traceback instead of a line",
    "lost": "the next attempt didn't give the result",
    "hang": f"not done after {PATIENCE:g} s",
    "crash": "the process died of a signal",
}


@dataclass(slots=True)
class Attempt:
    """Outcome of one forked process."""

    result: str | None = None
    """None if it was refused."""
    lines: list[str] = field(default_factory=list)
    """Lines that the user saw: standard error and warnings of the log."""
    traces: str = ""
    """A traceback that was shown, or an exception that wasn't caught."""
    ended: str = ""
    """`hang` or `crash`."""
    failed: str = ""
    """The call that failed."""


class Call(NamedTuple):
    """The nth call of a site, or the nth power cut."""

    nth: int
    site: bytes = b""


NONE = Call(0)


@dataclass(frozen=True, slots=True)
class Trial:
    scenario: str
    kind: str
    nth: int
    site: str
    outcome: str
    failed: str
    told: str


class Trials:
    """All trials of one scenario, each in a folder of its own below `work`."""

    def __init__(self, scenario: Scenario, shim: Shim, work: Path) -> None:
        self._scenario = scenario
        self._shim = shim
        self._work = work
        self._number = 0
        self._next: dict[int, Attempt] = {}
        """Attempts without a failure, by the files that they began with."""
        first = self._attempt(self._folder(), SITES)
        assert first.result is not None, (scenario.name, first)
        self.result = first.result
        self._usual = {_without_numbers(line) for line in first.lines}
        """Lines that a user sees without a failure too."""
        self._sites = shim.sites()
        self._cuts = self._record(scenario.holds) if scenario.holds else []

    def calls(self, kind: Kind, every: int = 1) -> list[Call]:
        """Calls that may fail in that way, or power cuts that leave different states. `every`: the first call of each
        site and every so-manieth later one; 0: the first alone."""
        if kind is POWER:
            return [Call(nth) for nth in range(1, len(self._cuts) + 1)]
        sites = self._sites[kind.group]
        return [Call(nth, site) for site, count in sites for nth in range(1, count + 1, every or count)]

    def _record(self, holds: Callable[[Path], str]) -> list[Cut]:
        """Learn what power cuts may leave of an undisturbed run."""
        self._cut_folder = folder = self._folder()
        before = on_disk(folder)
        self._attempt(folder, POWER)
        changes = [each for each in read_log(self._shim.log) if Path(each.path).is_relative_to(folder)]
        self._recording = Recording(before, changes)
        assert self._recording.left(Cut(len(changes), len(changes), "all")) == on_disk(folder), self._scenario.name
        self._holds, self._promised = holds, holds(folder)
        return self._recording.cuts()

    def _after_power_cut(self, nth: int) -> tuple[Path, str]:
        """Leave the disk as the nth cut does; the folder, and what was promised and isn't there."""
        folder, cut = self._cut_folder, self._cuts[nth - 1]
        shutil.rmtree(folder, ignore_errors=True)
        put(self._recording.left(cut))
        found = self._holds(folder) if self._recording.is_last(cut) else self._promised
        return folder, "" if found == self._promised else f"after {cut}: {found} instead of {self._promised}"

    def trial(self, kind: Kind, call: Call) -> Trial:
        named = self._scenario.name, kind.name, call.nth, os.fsdecode(call.site)
        if kind is POWER:
            folder, lost = self._after_power_cut(call.nth)
            if lost:
                return Trial(*named, "lost", "", lost)
            first = self._attempt(folder)
            first.failed = str(self._cuts[call.nth - 1])
        else:
            folder = self._folder()
            first = self._attempt(folder, kind, call)
        outcome, told = self._judged(first, folder)
        if outcome == "unharmed" and not first.failed:
            outcome = "unreached"
        if outcome in GOOD:
            again = self._again(folder)
            if again.result != self.result:
                outcome, told = "lost", f"{told} / then {again}"
        shutil.rmtree(folder)
        return Trial(*named, outcome, first.failed, told)

    def _again(self, folder: Path) -> Attempt:
        """The next attempt, without a failure; on files that an earlier one began with it isn't made anew."""
        files = hash(frozenset((os.path.relpath(path, folder), data) for path, data in on_disk(folder).items()))
        if files not in self._next:
            self._next[files] = self._attempt(folder)
        return self._next[files]

    def _folder(self) -> Path:
        self._number += 1
        folder = self._work / f"{self._scenario.name}-{self._number}"
        folder.mkdir()
        self._scenario.prepare(folder)
        return folder

    def _judged(self, first: Attempt, folder: Path) -> tuple[str, str]:
        if first.ended:
            return first.ended, first.traces
        told = "; ".join(line for line in first.lines if _without_numbers(line) not in self._usual)
        if first.traces:
            return "unclear", first.traces
        if first.result not in (None, self.result):
            return "wrong", f"{first.result} instead of {self.result}"
        if first.result is None:
            if trouble := self._scenario.trouble(folder):
                return "wrong", trouble
            return ("refused" if told else "silent"), told
        return ("told" if told else "unharmed"), told

    def _attempt(self, folder: Path, kind: Kind = KINDS[0], call: Call = NONE) -> Attempt:
        """Fork, and do it there."""
        said, answer = folder.with_suffix(".err"), folder.with_suffix(".json")
        pid = os.fork()
        if not pid:
            try:
                self._do(folder, kind, call, said, answer)
            finally:
                os._exit(70)
        attempt = Attempt()
        if (status := _status(pid)) != 0:
            attempt.ended = "hang" if status is None else "crash"
            attempt.traces = f"status {status}: {said.read_text(errors='replace')[-2000:] if said.exists() else ''}"
        else:
            found = json.loads(answer.read_text())
            attempt.result, attempt.traces = found["result"], found["traces"]
            attempt.lines = [*found["lines"], *filter(None, said.read_text(errors="replace").splitlines())]
            if "Traceback" in "\n".join(attempt.lines):
                attempt.traces += "\n".join(attempt.lines)
        attempt.failed = self._shim.failed
        said.unlink(missing_ok=True)
        answer.unlink(missing_ok=True)
        return attempt

    def _do(self, folder: Path, kind: Kind, call: Call, said: Path, answer: Path) -> None:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        homes = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "HOME")
        os.environ |= dict.fromkeys(homes, str(folder))
        log = _Warnings()
        logging.basicConfig(handlers=[log], level=logging.WARNING, force=True)
        result, traces = None, ""
        self._shim.mean_this_process()
        with self._shim.armed(folder, kind, *call):
            try:
                result = self._scenario.attempt(folder, self._shim)
            except Refused as error:
                log.lines += filter(None, (str(error),))
            except SystemExit:
                pass
            except BaseException:
                traces = traceback.format_exc()
        self._shim.mean_this_process(False)
        sys.stderr.flush()
        found = {"result": result, "lines": log.lines, "traces": traces + log.traces}
        answer.write_text(json.dumps(found))
        os._exit(0)


def _without_numbers(line: str) -> str:
    return re.sub(r"\d+", "0", line)


def _status(pid: int) -> int | None:
    """Exit status of a child; None if it hangs, and is killed."""
    give_up = time.monotonic() + PATIENCE
    pause = 0.001
    while time.monotonic() < give_up:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


class _Warnings(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self.traces = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        if record.exc_info and record.exc_info[0]:
            self.traces += "".join(traceback.format_exception(*record.exc_info))

"""Two processors in simulated time: a real workbench, runs that cost what the published int8 file costs, and listeners.

Nothing waits and nothing is computed, so minutes pass in milliseconds, and equal crowds always hear the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
import pytest

import worker.engine
import worker.loop.segments
import worker.loop.workbench
from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from shm.memory import reserve
from shm.messages import Commit, CommitMessage, Done, Release
from shm.ring import Arena
from tests.worker.bench_desk import ScriptedEngine, an_order
from worker.engine import Block
from worker.loop.segments import SegmentWork
from worker.loop.workbench import Workbench
from worker.split.segments.windows import FRAME_SAMPLES, FRAMES_PER_SECOND, Window, WindowShape, windows

PROCESSORS = 2
PROSODY = 0.0023 / 0.061
"""Processor seconds of prosody and decoder for a second of the segment's audio (docs/first-audio.md)."""
FRAME = 0.3 / FRAMES_PER_SECOND / 1.21
"""Processor seconds of the generator for each frame (docs/first-audio.md); 58 frames make a window of 48."""
CONTEXT = 5
"""Frames that the generator makes on each side of a window."""
BESIDE = 1.13
"""Factor of a run's time while another one runs: so the whole makes 5.25 times real time."""
TWO_THREADS = 1.65
"""Factor of the generator's processor time with two threads: 85 ms for 34 frames."""
SHAPE = WindowShape(first=24, growth=1.3, longest=48)
READING = 0.03
"""Seconds from a request to its first segment's order."""
DUE = 0.3
"""Seconds from a request to its first deadline (`frontend.scheduling.admission.FIRST_AUDIO_TARGET`)."""
TOLERANCE = 0.02
"""Seconds of lateness that a player bridges."""


class FakeClock:
    """Stands in for the module `time`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@dataclass(eq=False)
class Listener:
    """One stream's listener, who plays from the first sample on."""

    arrival: float
    """Seconds after the simulation's start."""
    segments: Sequence[float]
    """Seconds of audio in each of the stream's segments."""
    first: float | None = None
    """Time of the first sample."""
    gaps: list[float] = field(default_factory=list)
    """Seconds of each gap."""
    ordered: int = 0
    done: int = 0
    _heard_until: float = 0.0

    def take(self, now: float, seconds: float) -> None:
        if self.first is None:
            self.first = self._heard_until = now
        if now > self._heard_until + TOLERANCE:
            self.gaps.append(now - self._heard_until)
            self._heard_until = now
        self._heard_until += seconds

    @property
    def deadline(self) -> float:
        """The time at which the next segment is due, without regard to gaps."""
        return (self.arrival + DUE if self.first is None else self.first) + sum(self.segments[: self.ordered])


@dataclass(eq=False)
class _Run:
    """One block in the engine: prosody if the segment has none yet, then a window."""

    segment: SegmentWork
    window: Window
    last: bool
    steps: list[tuple[bool, float]]
    """Whether the step is the generator's, and its processor seconds."""
    threads: int = 0
    """Threads of the present step; 0 while the run is paused."""
    left: float = 0.0
    """Processor seconds that the present step still needs."""
    seconds: float = 0.0
    prosody_seconds: float = 0.0


class Machine:
    """The listeners come to an idle workbench; `run` lets time pass until all of them have heard everything."""

    def __init__(self, patch: pytest.MonkeyPatch, listeners: Sequence[Listener]) -> None:
        self.clock = FakeClock()
        for module in (worker.loop.workbench, worker.loop.segments, worker.engine):
            patch.setattr(module, "time", self.clock)
        self._listeners = listeners
        for listener in listeners:
            listener.arrival += self.clock.now
        ring = SAMPLE_RATE * round(max(sum(listener.segments) for listener in listeners) + 1)
        arena = Arena(reserve(len(listeners) * ring * SAMPLE_BYTES), len(listeners), ring)
        engine = ScriptedEngine()
        engine.info = msgspec.structs.replace(engine.info, first_block=SHAPE.first / FRAMES_PER_SECOND)
        self._bench = Workbench(engine, 1, arena, self._sent, lambda error: None)
        self._runs: list[_Run] = []
        self._commits: list[Commit] = []

    def _sent(self, message: CommitMessage) -> None:
        if isinstance(message, Commit):
            self._listeners[message.stream].take(self.clock.now, message.samples / SAMPLE_RATE)
            self._commits.append(message)
        elif isinstance(message, Done):
            self._listeners[message.stream].done += 1

    def run(self) -> None:
        """Let time pass until every segment of every listener is made."""
        while any(listener.done < len(listener.segments) for listener in self._listeners):
            self._order()
            while len(self._runs) < self._bench.threads and (segment := self._bench._take_up()):
                self._runs.append(self._begun(segment))
            for run in self._runs:
                self._follow_pause(run)
            self._pass_time()
            for run in [run for run in self._runs if run.threads and run.left <= 1e-9]:
                self._end_step(run)

    def _order(self) -> None:
        """Order what the front would: the segment that each listener needs next, as soon as the one before it ends."""
        for number, listener in enumerate(self._listeners):
            known = self.clock.now >= listener.arrival + READING
            if known and listener.ordered == listener.done < len(listener.segments):
                script = f"{number}-{listener.ordered}"
                self._bench.handle(an_order(number, listener.ordered, script, listener.deadline))
                listener.ordered += 1

    def _begun(self, segment: SegmentWork) -> _Run:
        frames = round(self._listeners[segment.order.stream].segments[segment.order.segment] * FRAMES_PER_SECOND)
        window = next(each for each in windows(0, frames, SHAPE) if each.begin == segment.made // FRAME_SAMPLES)
        steps = [(False, PROSODY * frames / FRAMES_PER_SECOND)] if window.begin == 0 else []
        made = min(window.end + CONTEXT, frames) - max(window.begin - CONTEXT, 0)
        return _Run(segment, window, window.end == frames, [*steps, (True, made * FRAME)])

    def _follow_pause(self, run: _Run) -> None:
        """Stop a run that was paused, whose work is lost, or begin its step."""
        if run.segment.control.is_paused:
            run.threads = 0
        elif not run.threads:
            vocodes, work = run.steps[0]
            alone = not any(other.threads for other in self._runs)
            run.threads = PROCESSORS if alone or not vocodes else 1
            run.left = work * (TWO_THREADS if vocodes and alone else 1.0)

    def _pass_time(self) -> None:
        """Move the clock to the next event: a step's end, a request, or the end of somebody's patience."""
        running = [run for run in self._runs if run.threads]
        pace = min(1.0, PROCESSORS / max(sum(run.threads for run in running), 1)) / (BESIDE if running[1:] else 1.0)
        now = self.clock.now
        events = [now + run.left / (run.threads * pace) for run in running]
        events += [run.segment.control._paused_until for run in self._runs if not run.threads]
        events += [each.arrival + READING for each in self._listeners if not each.ordered]
        wait = self._bench._first_blocks.seconds_to_wait(self._bench._patient())
        if wait is not None and len(self._runs) < self._bench.threads:
            events.append(now + wait + 1e-6)
        self.clock.now = max(min(events), now)
        seconds = self.clock.now - now
        for run in running:
            run.left -= seconds * run.threads * pace
            run.seconds += seconds

    def _end_step(self, run: _Run) -> None:
        vocodes, _ = run.steps.pop(0)
        run.threads = 0
        if not vocodes:
            run.prosody_seconds = run.seconds
            self._follow_pause(run)
            return
        self._runs.remove(run)
        samples = np.zeros((run.window.end - run.window.begin) * FRAME_SAMPLES, np.int16)
        block = Block(run.window.begin * FRAME_SAMPLES, samples, run.last, (), run.prosody_seconds)
        run.segment.record_time(run.seconds, block)
        self._bench._take_in(run.segment, block, "")
        for commit in self._commits:
            self._bench.handle(Release(commit.stream, commit.position + commit.samples))
        self._commits.clear()

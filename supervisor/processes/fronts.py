"""The front's role, the channels between fronts and workers, the messages that every front needs, and the front
that stands by."""

from __future__ import annotations

import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from shm.audio import SAMPLE_BYTES
from shm.in_flight import DeathCause, TextsInFlight, WorkSteps
from shm.memory import reserve
from shm.messages import Connect, ControlMessage, Disconnect, StandBy, Suspects
from shm.situation import Situation
from supervisor.processes.children import KILL_GRACE, OWN_FAULT, Incarnation, Nursery, ended
from supervisor.processes.role import Role, RoleState
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

BACKOFF = 5.0
"""Seconds after which a standby or a template that failed is replaced."""

PAUSE = 0.3
"""Seconds for which a front that has taken over, or that has just begun to speak, has the cores to itself, before the
next standby is started."""

LOAD_LIMIT = 20.0
"""Seconds for which a front waits for its template; then it is started without one."""


class StandbyFront:
    """One process at most, and its template. A front that was never told a situation serves nobody, so that this one
    differs from the front that serves only in what it was told."""

    def __init__(self, on: bool, nursery: Nursery, timers: Timers, *, forks: bool) -> None:
        """
        Args:
            on: False if there is to be none.
            forks: it is forked from a template.
        """
        self.process: Incarnation | None = None
        self.template: Incarnation | None = None
        self._on = on
        self._forks = on and forks
        self._nursery = nursery
        self._timers = timers
        self._not_before = self._no_template_before = 0.0

    @property
    def is_awaited(self) -> bool:
        """True while a front that is to be started waits for its template."""
        template = self.template
        return template is not None and not template.able and self._timers.clock() < template.started + LOAD_LIMIT

    def prepare(self) -> None:
        """Start a template if there is none."""
        if self._forks and self.template is None and self._timers.clock() >= self._no_template_before:
            self.template = self._nursery.start("template")
            self._timers.wake(LOAD_LIMIT)

    def take(self, _role: Role) -> Incarnation:
        """A process for the front's role: the standby, even one that is still starting, or a new one."""
        child, self.process = self.process, None
        self.wait(PAUSE)
        return child or self._nursery.start("front")

    def wait(self, seconds: float) -> None:
        """Start none for so many seconds."""
        self._not_before = self._timers.clock() + seconds
        self._timers.wake(seconds)

    def refill(self, english: bool) -> None:
        """Start a standby if there is none, and tell it what it will need. `english`: to pronounce English."""
        if self._on and self.process is None and self._timers.clock() >= self._not_before and not self.is_awaited:
            self.process = self._nursery.start("front")
        if self.process and self.process.able:
            message = StandBy(english)
            if self.process.told.get(StandBy) != message:
                self.process.told[StandBy] = message
                self.process.send(message)

    def fails(self, child: Incarnation, how: str) -> bool:
        """Note that this process has ended or hangs; returns False if it is neither the standby nor its template."""
        if child is self.template:
            log.error("the fronts' template has failed: %s", how)
            self.template = None
            self._no_template_before = self._timers.clock() + BACKOFF
            self._timers.wake(BACKOFF)
        elif child is self.process:
            log.error("the standby front[%d] has failed: %s", child.generation, how)
            self.process = None
            self.wait(BACKOFF)
        else:
            return child.role == "template"
        child.able = False
        return True

    def stop(self) -> None:
        """End both, for good."""
        self._on = self._forks = False
        self.drop()

    def drop(self) -> None:
        """End both: their settings are out of date, or the server ends."""
        for child in (self.process, self.template):
            if child:
                child.able = False
                child.kill()
        self.process = self.template = None


log = logging.getLogger(__name__)

MANY = 3
"""Deaths of fronts, all at work on the same place of a text, after which it is rejected: a front and its successor may
be killed from outside while they begin to read. Texts that only waited share a death among them."""

_ROUNDING = 1e-6

REFUSED_FOR = 600.0
"""Seconds for which a text is rejected. A suspected text is cleared after the same time."""

KEPT = 256
"""Most texts under suspicion at a time; a new one replaces the oldest."""


@dataclass(frozen=True, slots=True)
class _Suspicion:
    deaths: float
    steps: WorkSteps
    """Steps at which all of those fronts died; empty if none of them was at work."""
    until: float
    """Monotonic seconds at which the suspicion ends."""


class SuspectTexts:
    """Counts deaths by the text's digest. A text that was answered successfully in between is cleared."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._suspicions: OrderedDict[bytes, _Suspicion] = OrderedDict()
        self._cause = DeathCause.UNKNOWN

    def front_died(self, texts: TextsInFlight, status: int, *, from_outside: bool) -> None:
        """Note that a front has ended unasked. One that was killed from outside says nothing about its texts.

        The texts on which its threads worked are suspected. If there are none, and the front caused its own end (a
        signal that it raised, an exit status), all texts that waited in it are, each with its share of the death. A
        text that kills does so at the same place each time: deaths at different ones aren't counted together.
        """
        self._cause = DeathCause.TEXT if texts.working else DeathCause.UNKNOWN
        if from_outside:
            self._cause = DeathCause.OUTSIDE
            return
        by_itself = status > 0 or -status in OWN_FAULT
        blamed = texts.working or dict.fromkeys(texts.waiting if by_itself else (), WorkSteps())
        share = 1.0 if texts.working else 1 / max(len(blamed), 1)
        for digest, steps in blamed.items():
            deaths, until = share, self._clock() + REFUSED_FOR
            before = self._suspicions.pop(digest, None)
            if before and before.until > self._clock():
                shared = WorkSteps(filter(None, (one.shared(other) for one in before.steps for other in steps)))
                if shared or not (before.steps and steps):
                    deaths, steps = before.deaths + share, shared or before.steps or steps
            self._suspicions[digest] = _Suspicion(deaths, steps, until)
            if deaths - share < MANY - _ROUNDING <= deaths:
                at = ", ".join(f"{step.work.name.lower()} {step.start} to {step.end}" for step in sorted(steps))
                log.error(
                    "a text has ended fronts (%s): it is refused for %g minutes",
                    at or "while it waited",
                    REFUSED_FOR / 60,
                )
        while len(self._suspicions) > KEPT:
            self._suspicions.popitem(last=False)

    def cleared(self, digest: bytes) -> None:
        """Clear a text that a front has answered without dying."""
        self._suspicions.pop(digest, None)

    @property
    def message(self) -> Suspects:
        now = self._clock()
        current = {digest: found for digest, found in self._suspicions.items() if found.until > now}
        return Suspects(
            tuple(digest for digest, found in current.items() if found.deaths < MANY - _ROUNDING),
            {digest: found.until for digest, found in current.items() if found.deaths >= MANY - _ROUNDING},
            self._cause,
        )


@dataclass(frozen=True, slots=True)
class ChannelEnds:
    """The descriptors of a channel, three on each side: orders pipe, commits pipe, arena."""

    front: tuple[int, int, int]
    worker: tuple[int, int, int]


@contextmanager
def channel(rings: int, ring_samples: int) -> Iterator[ChannelEnds]:
    """A new channel. The supervisor's own descriptors close when the block ends, so that the surviving side sees EOF.

    Raises:
        shm.memory.NoMemory: the arena can't be reserved.
    """
    arena = reserve(rings * ring_samples * SAMPLE_BYTES)
    orders_read, orders_write = os.pipe()
    commits_read, commits_write = os.pipe()
    try:
        yield ChannelEnds((orders_write, commits_read, arena), (orders_read, commits_write, arena))
    finally:
        for fd in (arena, orders_read, orders_write, commits_read, commits_write):
            os.close(fd)


class Fronts:
    """The front that accepts requests, its successor, and those that finish their streams."""

    def __init__(
        self,
        settings: SupervisorSettings,
        drain_timeout: Callable[[], float],
        nursery: Nursery,
        timers: Timers,
        *,
        forks: bool,
    ) -> None:
        """
        Args:
            drain_timeout: seconds that streams have to finish, read from the present settings at each call.
            forks: fronts are forked from a template, if one stands by.
        """
        self.standby = StandbyFront(settings.standby_front, nursery, timers, forks=forks)
        self.role = Role("front", settings, nursery, timers, supply=self.standby.take)
        self._begun = self._spoke = False
        """True once the first front was started."""
        self.suspects = SuspectTexts(timers.clock)
        self.streams_cut = 0
        """Answers that ended in the middle because their front died."""
        self._drain_timeout = drain_timeout
        self._nursery = nursery
        self._settings = settings

    def started(self, child: Incarnation) -> None:
        """Handle the message of a front that it could serve, or of a template that fronts can be forked."""
        child.able = True
        self.role.serves(child)

    def hangs(self, child: Incarnation, reason: str) -> None:
        child.hung = True
        self.standby.fails(child, reason)
        self.role.condemn(child, reason)

    def outdate(self, why: str) -> None:
        """Have the front replaced by one that is started from now on."""
        self.standby.drop()
        self.role.outdate(why)

    def exited(self, child: Incarnation, status: int) -> None:
        if self.standby.fails(child, ended(status)):
            return
        self.streams_cut += child.in_flight.begun
        if status and not child.ending:
            self.suspects.front_died(child.in_flight, status, from_outside=child.killed_from_outside)
        self.role.exited(child, status)

    def reconcile(self) -> None:
        """Start the front if it is due, and its successor if it is outdated."""
        self.standby.prepare()
        if self.standby.is_awaited and not self.standby.process and (not self._begun or self.role.outdated):
            return
        if not self._begun:
            self._begun = self.role.start_due = True
        self.role.start_if_due()
        if self.role.outdated and self.role.state is RoleState.RUNNING:
            self.role.start_successor()

    def stand_by(self, workers: Sequence[Incarnation]) -> None:
        """Have a front stand by for the one that serves, once these workers speak."""
        if workers and self.role.state is RoleState.RUNNING and not self.role.successor:
            if not self._spoke:
                self._spoke = True
                self.standby.wait(PAUSE)
            self.standby.refill(any(worker.engine.speaks == "phonemes" for worker in workers))

    def end_predecessors(self) -> None:
        """Let fronts that another one has replaced finish their streams and end."""
        for child in self.role.draining:
            self._nursery.end(child, self._drain_timeout() + KILL_GRACE, replaced=True)

    def stop(self, seconds: float | None = None) -> None:
        """Let streams finish within the drain timeout, or within `seconds` if another server takes this one's place. A
        starting front has accepted none."""
        self.standby.stop()
        self._begun = True
        running = self.role.state is RoleState.RUNNING
        limit = (self._drain_timeout() if seconds is None else seconds) + KILL_GRACE
        self.role.stop(limit if running else 0.0, seconds=seconds)

    # -- channels to workers

    def join(self, workers: Iterable[Incarnation]) -> None:
        """Give each pair of a front and a worker a channel, unless it has one.

        Raises:
            shm.memory.NoMemory: a channel's arena can't be reserved.
        """
        for worker in workers:
            for front in self._listening:
                if worker.generation not in front.channels:
                    self._join(front, worker)

    def _join(self, front: Incarnation, worker: Incarnation) -> None:
        assert worker.load is not None
        front.channels[worker.generation] = False
        rings, samples = self._settings.rings, self._settings.ring_samples(worker.engine.sample_rate)
        with channel(rings, samples) as ends:
            worker.send(Connect(worker.generation, rings, samples), ends.worker)
            told = Connect(worker.generation, rings, samples, worker.engine, worker.load.slot)
            self.send_to_front(front, told, ends.front)

    def release(self, worker: Incarnation) -> bool:
        """Tell the fronts to send the worker no new segments; returns True if every front has released it."""
        joined = [front for front in self._listening if worker.generation in front.channels]
        for front in joined:
            if not front.channels[worker.generation]:
                front.channels[worker.generation] = True
                self.send_to_front(front, Disconnect(worker.generation, draining=True))
        return not joined

    def released(self, front: Incarnation, worker: int) -> None:
        """Note a front's message that it has no work left at the draining worker."""
        if front.channels.get(worker):
            del front.channels[worker]

    def worker_exited(self, worker: Incarnation) -> None:
        """Tell the fronts that were joined to the worker that it has ended."""
        for front in self._listening:
            if front.channels.pop(worker.generation, None) is not None:
                self.send_to_front(front, Disconnect(worker.generation))

    # -- messages to fronts

    @property
    def _listening(self) -> list[Incarnation]:
        """Fronts that follow messages. A draining front needs a worker until its last stream has ended."""
        role = self.role
        serving = role.process if role.state in (RoleState.RUNNING, RoleState.STOPPING) else None
        return [serving, *role.draining] if serving else role.draining

    def tell(self, situation: Situation) -> None:
        """Send each front the messages that it lacks. A front accepts requests after its first situation."""
        for front in self._listening:
            for message in (self.suspects.message, situation):
                if front.told.get(type(message)) != message:
                    front.told[type(message)] = message
                    self.send_to_front(front, message)

    def send_to_front(self, front: Incarnation, message: ControlMessage, fds: tuple[int, ...] = ()) -> None:
        """Send a message. A front that doesn't read its messages is killed."""
        if not front.send(message, fds):
            if not front.ending:
                log.error("front[%d] doesn't listen: ending it", front.generation)
            front.kill()

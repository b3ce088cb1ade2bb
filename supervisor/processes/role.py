"""One role of the server, such as the front or one of the workers: the process that serves, its successor, and its
draining predecessors.

A role records the events of its processes. `start_if_due` and `start_successor`, called after each event, start them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from enum import StrEnum

from shm.messages import ChildReady
from supervisor.processes.children import KILL_GRACE, Incarnation, Nursery, ended
from supervisor.processes.roles import ROLES
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings

log = logging.getLogger(__name__)


FIRST_BACKOFF = 0.1
MAX_BACKOFF = 5.0


class RoleState(StrEnum):
    STARTING = "starting"
    """The process exists and hasn't reported that it serves."""
    RUNNING = "running"
    RESTING = "resting"
    """The process has ended because nobody has needed it for a while; the next request starts another."""
    BACKOFF = "backoff"
    """The process died; the next start is due soon."""
    STOPPING = "stopping"
    STOPPED = "stopped"
    FATAL = "fatal"
    """The role keeps dying or can't start; `Role.reason` gives the cause. Most roles are tried again after minutes."""


_TRANSITIONS = {
    RoleState.STARTING: {RoleState.RUNNING, RoleState.BACKOFF, RoleState.STOPPING, RoleState.FATAL},
    RoleState.RUNNING: {RoleState.BACKOFF, RoleState.RESTING, RoleState.STOPPING, RoleState.FATAL},
    RoleState.RESTING: {RoleState.STARTING, RoleState.STOPPED},
    RoleState.BACKOFF: {RoleState.STARTING, RoleState.STOPPED},
    RoleState.STOPPING: {RoleState.STOPPED},
    RoleState.STOPPED: {RoleState.STARTING},
    RoleState.FATAL: {RoleState.STARTING, RoleState.STOPPED},
}
_ALIVE = (RoleState.STARTING, RoleState.RUNNING)


class Restarts:
    """The deaths of one role since a process of it last made progress.

    A crash loop is `max_deaths` such deaths; with 0 there is none. Once the role has served, they must also last
    `window` seconds: processes killed from outside within a few seconds, before they can do any work, are no crash
    loop.
    """

    def __init__(self, max_deaths: int, window: float, tries: Sequence[float] = ()) -> None:
        """`tries`: waits for the tries after a crash loop; none if there are none."""
        self._max_deaths = max_deaths
        self._window = window
        self._deaths = 0
        self._first = 0.0
        self._tries = 0
        """Waits for tries since the last progress."""
        self._waits = tries

    def after_death(self, now: float, progressed: bool, proven: bool) -> float | None:
        """Seconds to wait before the next start; None if this is a crash loop.

        The next process is started at once after progress, and after the first death without progress, because a client
        may be listening; each further death in a row doubles the wait.

        Args:
            progressed: the process did some of its work (a worker sealed a block, a front answered), or served for
                as long as the window.
            proven: a process of this role has served before.
        """
        if progressed or not self._max_deaths:
            self._deaths = self._tries = 0
            return 0.0
        if self._deaths == 0:
            self._first = now
        self._deaths += 1
        if self._deaths >= self._max_deaths and (not proven or now - self._first >= self._window):
            return None
        return 0.0 if self._deaths == 1 else min(FIRST_BACKOFF * 2 ** (self._deaths - 2), MAX_BACKOFF)

    def next_try(self) -> float | None:
        """Seconds to wait before the next start of a role that is in a crash loop, or can't start; None if there is no
        such start."""
        self._tries += 1
        return self._waits[min(self._tries, len(self._waits)) - 1] if self._waits else None

    def begin_again(self) -> None:
        """Let the next failure wait as short as the first one did: somebody may have removed its cause."""
        self._tries = 0


class Role:
    """The succession of one role's processes. Several worker roles are independent of one another."""

    def __init__(
        self,
        name: str,
        settings: SupervisorSettings,
        nursery: Nursery,
        timers: Timers,
        slot: int | None = None,
        supply: Callable[[Role], Incarnation] | None = None,
    ) -> None:
        """
        Args:
            name: of its row in `ROLES`.
            slot: which of the workers, from 0.
            supply: gives the role a process; without it, each process is started for the role.
        """
        self.name = name
        self.slot = slot
        self.state = RoleState.STOPPED
        self.reason = "not started"
        self.process: Incarnation | None = None
        self.successor: Incarnation | None = None
        """A starting process that takes over once it serves; `process` serves until then."""
        self.draining: list[Incarnation] = []
        """Predecessors that finish their streams."""
        self.start_due = False
        """True if a process is to be started now."""
        self.wanted = False
        """True while a role on demand has something to do of which no process knows: set by `want`, cleared by the
        caller."""
        self.outdated = ""
        """The reason why the process is to be replaced by a successor; empty if it is not."""
        self.ready: ChildReady | None = None
        """The last serving worker's message about its engine; None before the first."""
        self.boot_failed = False
        """True if the last process reported that starting again at once would not help."""
        self.ever_ran = False
        self.restarts = 0
        self.last_exit = ""
        """The signal or status with which the role's last process ended; empty while none has."""
        self.last_exit_at: float | None = None
        """Time of the last end, in monotonic seconds."""
        self._supply = supply or (lambda role: nursery.start(role.name))
        self._nursery = nursery
        self._timers = timers
        self._restarts = Restarts(settings.max_deaths, settings.death_window, ROLES[name].tries)
        self._death_window = settings.death_window
        self._on_demand = ROLES[name].on_demand
        self._serving_since = 0.0
        """Time since when the process serves, in monotonic seconds."""
        self._wait = object()
        """The last wait for a start; each has an identity of its own."""
        self._next_start: float | None = None

    def become(self, state: RoleState, reason: str = "") -> None:
        """Change the state; `reason` is shown by `/ready` while no engine can speak."""
        assert state in _TRANSITIONS[self.state], f"{self.name}: {self.state} -> {state}"
        self.state = state
        self.reason = reason
        self.start_due = False
        if state not in _ALIVE:
            self.outdated = ""  # the next process will be up to date
        self.ever_ran |= state is RoleState.RUNNING

    # -- coming up

    @property
    def next_start(self) -> float | None:
        """Time of the next try of a FATAL role, in monotonic seconds; None in all other cases."""
        return self._next_start if self.state is RoleState.FATAL else None

    @property
    def outlook(self) -> str:
        """The end of a log line about a role that has just become FATAL; empty if it isn't tried again."""
        if not self.next_start:
            return ""
        return f"; the next try is in {round((self.next_start - self._timers.clock()) / 60, 1):g} min"

    def retry(self) -> None:
        """Try a FATAL role at once: the cause may be gone."""
        if self.state is RoleState.FATAL:
            self._restarts.begin_again()
            self.start_due = True

    def want(self) -> None:
        """Have a process on demand started, even after the role was given up."""
        self.wanted = True
        if self.state is RoleState.FATAL:
            self.become(RoleState.STOPPED)

    @property
    def given_up(self) -> str:
        """The reason why the role has no process, and gets none for a while; empty if it has one or gets one."""
        return self.reason if self.state is RoleState.FATAL else ""

    def start_if_due(self) -> None:
        """Start the role's process if its time has come: the successor that was starting, or another one."""
        self.start_due |= self.wanted and self.state in (RoleState.STOPPED, RoleState.RESTING)
        if not self.start_due:
            return
        # A request has woken a resting worker, and waits for it: the server is as ready as it was.
        waking = self.state is RoleState.RESTING
        self.restarts += self.state is RoleState.FATAL
        self.become(RoleState.STARTING, "" if waking else f"the {self.name} is starting")
        self.boot_failed = False
        self.process, self.successor = self.successor or self._supply(self), None
        if self.process.ready or self.process.able:
            self.serves(self.process)

    def outdate(self, why: str, fresh: bool = True) -> None:
        """Have the process replaced once it serves. `fresh`: a successor that is starting is as outdated."""
        if self.successor and fresh:
            self._nursery.kill_after(self.successor)
            self.successor = None  # it may serve before it is killed, and must not take over
        if self.successor is None and self.state in _ALIVE:
            self.outdated = why

    def start_successor(self) -> None:
        log.info("bringing up another %s: %s", self.name, self.outdated)
        self.outdated = ""
        self.successor = self._supply(self)
        if self.successor.ready or self.successor.able:
            self.serves(self.successor)

    def serves(self, child: Incarnation) -> None:
        """Note that the child can serve. A successor takes over, and its predecessor drains."""
        if child is self.successor:
            if self.process:
                self.draining.append(self.process)
            self.process, self.successor = child, None
            if self.state not in _ALIVE:  # the predecessor has died meanwhile
                self.become(RoleState.STARTING)
        if child is self.process and self.state in _ALIVE:
            self._serving_since = self._timers.clock()
            self.ready = child.ready
            if self.state is RoleState.STARTING:
                self.become(RoleState.RUNNING)

    # -- going wrong

    def fails_to_boot(self, child: Incarnation, reason: str) -> None:
        """Note that the child can't start, and that starting again at once would not help."""
        if child is self.process and self.state in _ALIVE:
            self.boot_failed = True
            self._give_up(reason)
            self._nursery.kill_after(child, KILL_GRACE)

    def gives_way(self, child: Incarnation, reason: str) -> None:
        """Note that the child ends without a crash: the next one is started at once."""
        if child is self.successor:
            self.outdate(reason)
            return
        self._nursery.kill_after(child)
        if child is self.process and self.state in _ALIVE:
            self.process = None
            self._back_off(0.0, reason)

    def condemn(self, child: Incarnation, reason: str) -> None:
        """Replace a child that hangs or broke the protocol: at once, and kill it after it has written its stacks."""
        log.error("ending %s[%d]: %s", self.name, child.generation, reason)
        child.dump_stacks()
        self._nursery.kill_after(child)
        self._lost(child, reason)

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped process of this role. On demand, status 0 is the end of an idle one."""
        if self._on_demand and status == 0 and child is self.process and self.state is RoleState.RUNNING:
            self.rest()
        self.last_exit, self.last_exit_at = ended(status), self._timers.clock()
        self._lost(child, self.last_exit)

    def _lost(self, child: Incarnation, how: str) -> None:
        """Go on without the child. A child that was lost before has no place here any more."""
        if child in self.draining:
            self.draining.remove(child)
            log.info("%s[%d] has finished: %s", self.name, child.generation, how)
        elif child is self.successor:
            self.successor = None
            log.error("%s[%d], meant to take over, is gone: %s", self.name, child.generation, how)
        if child is not self.process:
            return
        self.process = None
        if self.state is RoleState.STOPPING:
            self.become(RoleState.STOPPED)
        if self.state not in _ALIVE:
            return
        now = self._timers.clock()
        lasted = self.state is RoleState.RUNNING and now - self._serving_since >= self._death_window
        delay = self._restarts.after_death(now, child.progressed or lasted, self.ever_ran)
        if delay is None:
            self._give_up(f"the {self.name} keeps dying (last: {how}); see the log")
            log.critical("%s%s", self.reason, self.outlook)
            return
        log.error("the %s died (%s); starting it again in %g s", self.name, how, delay)
        self.restarts += 1
        self._back_off(delay, f"the {self.name} is being restarted")

    def _give_up(self, reason: str) -> None:
        self._back_off(self._restarts.next_try(), reason, RoleState.FATAL)

    def _back_off(self, delay: float | None, reason: str, state: RoleState = RoleState.BACKOFF) -> None:
        self.become(state, reason)
        self._next_start = None if delay is None else self._timers.clock() + delay
        if delay is None:
            return
        wait = self._wait = object()

        def come_due() -> None:
            # A successor may have served and died meanwhile, and its death has a wait of its own.
            self.start_due |= self.state is state and self._wait is wait

        self._timers.after(delay, come_due)

    # -- ending

    def rest(self) -> None:
        """Let the serving process finish and end, and start none until one is needed."""
        assert self.process is not None
        self.drop_successor()
        self.draining.append(self.process)
        self.process = None
        self.become(RoleState.RESTING)

    def stop(self, limit: float, *, seconds: float | None = None) -> None:
        """Let the process finish within `limit` seconds, and start no more. Idempotent.

        Args:
            seconds: that the answers of a replaced front have; None: it isn't replaced.
        """
        self.wanted = False
        self.drop_successor()
        if self.process and self.state in _ALIVE:
            self.become(RoleState.STOPPING)
            self._nursery.end(self.process, limit, replaced=seconds is not None, seconds=seconds)
        elif self.process is None and self.state is not RoleState.STOPPED:
            self.become(RoleState.STOPPED)

    def drop_successor(self) -> None:
        """Cancel the succession: no process is to take over."""
        if self.successor:
            self.successor.kill()
            self.successor = None

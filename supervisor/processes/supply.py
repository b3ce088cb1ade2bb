"""Processes for the workers' slots: the standby or a new one, each told what to load."""

from __future__ import annotations

import logging
import signal
from collections import Counter
from collections.abc import Callable

import msgspec

from shm.messages import Load
from supervisor.processes.children import OWN_FAULT, Incarnation, Nursery
from supervisor.processes.role import Role
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings
from worker.providers.targets import CPU

log = logging.getLogger(__name__)

ACCELERATORS = {"CoreMLExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"}
"""Execution providers that leave the cores to others. OpenVINO by default runs on the cores."""

ORDER_LIMIT = 3.0
"""Seconds within which a worker that handles messages must have answered its `Load`."""

STANDBY_BACKOFF = 5.0
"""Seconds after which a standby that failed is replaced."""

MANY = 2
"""Crashes on one provider after which it is given up: a single crash may be a segment's fault, and
segments have a limit of their own."""


class ProviderFailures:
    """Providers that later workers do without. A crash in a native library doesn't show which provider caused it."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        """The reason for each provider that was given up."""
        self._crashes: Counter[str] = Counter()

    def give_up(self, provider: str, reason: str) -> None:
        log.error("%s is given up: %s", provider, reason)
        self.reasons[provider] = reason

    def crashed(self, provider: str, status: int) -> bool:
        """Count the end of a worker that spoke, or that loaded to speak; returns True if its provider is given up for
        it.

        Args:
            provider: as onnxruntime names it, or `native`; empty if nobody knows.
            status: an exit status; minus a signal's number, if one ended it.
        """
        if provider in (CPU, "native", "") or -status not in OWN_FAULT:
            return False
        self._crashes[provider] += 1
        if self._crashes[provider] < MANY:
            return False
        how = signal.Signals(-status).name
        self.give_up(provider, f"{self._crashes[provider]} workers that ran on it have crashed, the last with {how}")
        return True


class Supply:
    """The slots' roles, and the standby that they share: one worker that waits for another one's death.

    An imported standby has imported its libraries and fits any slot; a loaded one has loaded the model too, as slot 0
    would.
    """

    def __init__(
        self,
        settings: SupervisorSettings,
        nursery: Nursery,
        timers: Timers,
        overdue: Callable[[Incarnation], None],
        ignores: Callable[[Incarnation, bool], None],
    ) -> None:
        """
        Args:
            overdue: called with a worker that hasn't loaded within `--load-timeout`.
            ignores: called with a worker that hasn't answered its order within `ORDER_LIMIT`, and True if it had been
                a standby.
        """
        self.roles = [Role("worker", settings, nursery, timers, slot, self._take) for slot in range(settings.workers)]
        self.failures = ProviderFailures()
        self.standby: Incarnation | None = None
        self._standby_mode = settings.standby
        self._no_standby_before = 0.0
        self._load_timeout = settings.load_timeout
        self._nursery = nursery
        self._timers = timers
        self._overdue = overdue
        self._ignores = ignores
        self._divided_for: Incarnation | None = None
        """The process of slot 0 for which the cores were divided last."""

    def _take(self, role: Role) -> Incarnation:
        """A process for that role that has loaded or was told to load."""
        first = self.roles[0]
        like_first = role is first or bool(role.ready and first.ready and _provider(role) == _provider(first))
        child = self.standby
        if child is None or (child.load and not like_first):
            child = self._nursery.start("worker")
        else:
            self.standby = None
        self._tell(child, self._load(role))
        if child.attentive:
            self._expect_answer(child, was_standby=True)
        return child

    def attends(self, child: Incarnation) -> None:
        """Note that a worker handles messages: its order must be answered soon."""
        if child.order_open:
            self._expect_answer(child)

    def _expect_answer(self, child: Incarnation, was_standby: bool = False) -> None:
        order = child.load

        def look() -> None:
            if not child.order_open or child.load is not order or child not in self._nursery.children:
                return  # it was answered, and perhaps another one was given since
            found = None if was_standby else child.activity()
            if found and found.waits == "processor":
                self._timers.after(ORDER_LIMIT, look)  # the machine is busy: `overdue` is its limit
            else:
                self._ignores(child, was_standby)

        self._timers.after(ORDER_LIMIT, look)

    def _load(self, role: Role) -> Load:
        """The `Load` message for a process of that role. Slot 0 gets a share of the cores until it proves to need
        none."""
        assert role.slot is not None
        accelerated = role.slot > 0 and _provider(self.roles[0]) in ACCELERATORS
        return Load(tuple(self.failures.reasons), slot=role.slot, slots=len(self.roles), accelerated=accelerated)

    def _tell(self, child: Incarnation, load: Load) -> None:
        """Have the child load within the time limit: an execution provider without its compiled files may compile for
        ever."""
        child.load = load
        child.order_open = True
        child.send(load)

        def look() -> None:
            if child.ready is None and child in self._nursery.children:
                self._overdue(child)

        self._timers.after(self._load_timeout, look)

    def divide_cores(self) -> None:
        """Divide the cores by slot 0's engine, and outdate the processes that have a wrong share of them since."""
        first = self.roles[0]
        if first.process is None or first.process.ready is None or first.process is self._divided_for:
            return
        self._divided_for = first.process
        accelerated = _provider(first) in ACCELERATORS
        if accelerated and len(self.roles) > 1:
            first.process.send(msgspec.structs.replace(self._load(first), accelerated=True))
        for role in self.roles[1:]:
            latest = role.successor or role.process
            if latest and latest.load and latest.load.accelerated is not accelerated:
                role.outdate("the cores are divided again")

    # -- the standby

    def refill_standby(self, resting: bool) -> None:
        """Start a standby if there is none and its time has come. `resting`: the workers rest, so it holds no model
        either."""
        if self._standby_mode == "off" or self.standby or self._timers.clock() < self._no_standby_before:
            return
        self.standby = self._nursery.start("worker")
        if self._standby_mode == "loaded" and not resting:
            self._tell(self.standby, msgspec.structs.replace(self._load(self.roles[0]), standby=True))

    def drop_standby(self) -> None:
        """End the standby, because its settings are out of date."""
        if self.standby:
            self._nursery.kill_after(self.standby)
            self.standby = None

    def drop_loaded_standby(self) -> None:
        """End a standby that has loaded, because its provider doesn't work or its memory is to be given back."""
        if self.standby and self.standby.load:
            self.drop_standby()

    def standby_fails(self, child: Incarnation, reason: str) -> None:
        """Note that the child, if it is the standby, is of no use; the next one is started after a while."""
        if child is self.standby:
            log.error("the standby worker[%d] has failed: %s", child.generation, reason)
            self.drop_standby()
            self.delay_standby()

    def delay_standby(self) -> None:
        """Start no standby for a while, after a process died that was not needed yet."""
        self._no_standby_before = self._timers.clock() + STANDBY_BACKOFF
        self._timers.wake(STANDBY_BACKOFF)

    def stop(self) -> None:
        """Kill the processes that nobody needs while the server stops."""
        if self.standby:
            self.standby.kill()
            self.standby = None
        for role in self.roles:
            role.drop_successor()


def _provider(role: Role) -> str:
    """The execution provider of the role's last engine; empty before the first."""
    return role.ready.engine.provider if role.ready else ""

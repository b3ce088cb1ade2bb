"""The workers: one role for each slot, their events, and their processes: the standby or a new one, each told what to
load."""

from __future__ import annotations

import logging
import math

import msgspec

from shm.messages import ChildReady, Load
from supervisor.processes.children import KILL_GRACE, Incarnation, Nursery, ProviderFailures, ended
from supervisor.processes.role import Role, RoleState
from supervisor.processes.standing import coming_up, hopeless, speaking
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings
from worker.targets import CPU

log = logging.getLogger(__name__)

FIRST_ALONE = 10.0
"""Most seconds that the other slots wait for the first one, which may hang while it loads."""

ACCELERATORS = {"CoreMLExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"}
"""Execution providers that leave the cores to others. OpenVINO by default runs on the cores."""

ORDER_LIMIT = 3.0
"""Seconds within which a worker that handles messages must have answered its `Load`."""

SETTLED = 3.0
"""Seconds after the first worker's loading in which no standby is started: who asks at once has all cores."""

STANDBY_BACKOFF = 5.0
"""Seconds after which a standby that failed is replaced."""


class Workers:
    """The slots' roles, and the standby that they share: one worker that waits for another one's death.

    An imported standby has imported its libraries and fits any slot; a loaded one has loaded the model too, as slot 0
    would. Event handlers record events; `reconcile` starts the missing processes.
    """

    def __init__(self, settings: SupervisorSettings, nursery: Nursery, timers: Timers) -> None:
        self.roles = [Role("worker", settings, nursery, timers, slot, self._take) for slot in range(settings.workers)]
        self.failures = ProviderFailures()
        self.standby: Incarnation | None = None
        self.needed = True
        """False while the workers are to rest, because no stream has waited for one for `--idle-unload`."""
        self._load_timeout = settings.load_timeout
        self._standby_mode = settings.standby
        self._no_standby_before = math.inf
        self._first_block_by = 0.0
        """Time until which no standby is started unless each worker has made a block: those who waited through a death
        have all cores."""
        self._divided_for: Incarnation | None = None
        """The process of slot 0 for which the cores were divided last."""
        self._nursery = nursery
        self._timers = timers
        self._others_from = timers.clock() + FIRST_ALONE
        self._stopping = False
        """True once the server stops: then only workers that streams still need are started."""

        # Slot 0 starts first: its engine shows if it needs cores.
        self.roles[0].start_due = True
        timers.wake(FIRST_ALONE)

    # -- events

    def role_of(self, child: Incarnation) -> Role | None:
        """The role for which that worker was started; None for a standby."""
        return self.roles[child.load.slot] if child.load and not child.load.standby else None

    def ready(self, child: Incarnation, ready: ChildReady) -> None:
        """Handle a worker's message that its engine is loaded. A standby's message is kept until the standby is
        needed."""
        child.ready = ready
        name, provider = ready.engine.name, ready.engine.provider
        log.info("worker[%d] is ready after %.2f s: %s on %s", child.generation, ready.load_seconds, name, provider)
        if self._no_standby_before == math.inf:
            self._delay_standby(SETTLED)
        if role := self.role_of(child):
            if role.ever_ran:
                self._first_block_by = self._timers.clock() + SETTLED
                self._timers.wake(SETTLED)
            role.serves(child)

    def replace_all(self, why: str) -> None:
        """Have every worker replaced: it was started under other settings, or before the model's files existed."""
        self.drop_standby()
        self.needed = True  # a resting engine may not be the one that speaks next: the fronts must learn of it
        for role in self.roles:
            role.outdate(why)
            role.retry()  # the settings may have been the reason

    def recycle(self, child: Incarnation, why: str) -> None:
        role = self.role_of(child)
        if role and child is role.process:
            role.outdate(why, fresh=False)

    def boot_failure(self, child: Incarnation, reason: str) -> None:
        """Handle a worker's report that it can't start, and that starting again at once would not help."""
        role = self.role_of(child)
        if role:
            role.fails_to_boot(child, reason)
        log.error("%s%s", reason, role.outlook if role and not hopeless(self.roles) else "")

    def provider_failure(self, child: Incarnation, provider: str, reason: str) -> None:
        """Handle an execution provider's failure: the next generation starts without it, at once."""
        self.failures.give_up(provider, reason)
        self.standby_fails(child, reason)
        self.drop_loaded_standby()
        if role := self.role_of(child):
            role.gives_way(child, f"{provider} doesn't work; going on without it")

    def _overdue(self, child: Incarnation) -> None:
        reason = f"it hadn't loaded after {self._load_timeout:g} s (--load-timeout)"
        accelerated = child.loading not in ("", CPU)
        if accelerated:
            child.dump_stacks()
            self.provider_failure(child, child.loading, reason)
        else:
            self.hangs(child, reason)

    def _ignores(self, child: Incarnation, was_standby: bool) -> None:
        reason = f"it hasn't taken its order within {ORDER_LIMIT:g} s"
        role = self.role_of(child)
        if role and was_standby:
            # Not counted as a death of the role: another process is started at once, and it is no standby.
            log.error("ending worker[%d]: %s", child.generation, reason)
            role.gives_way(child, f"the {role.name} is being restarted")
        else:
            self.hangs(child, reason)

    def hangs(self, child: Incarnation, reason: str) -> None:
        """Replace a worker that hangs before it speaks."""
        if role := self.role_of(child):
            role.condemn(child, reason)
        else:
            child.dump_stacks()
            self.standby_fails(child, reason)

    def distrusted(self, generation: int, reason: str) -> None:
        """Handle a front's report that this worker hangs or broke the protocol."""
        for role in self.roles:
            for child in (role.process, *role.draining):
                if child and child.generation == generation:
                    role.condemn(child, reason)

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped worker."""
        self.standby_fails(child, ended(status))
        if role := self.role_of(child):
            if child is role.successor:
                self._delay_standby(STANDBY_BACKOFF)
            role.exited(child, status)
        if self.failures.crashed(child.engine.provider if child.ready else child.loading, status):
            self.drop_loaded_standby()

    # -- consequences of events

    def reconcile(self) -> None:
        """Start the due processes: slots, then successors one after another, then the standby."""
        self._rest_or_wake()
        self.roles[0].start_if_due()
        first_alone = self.roles[0].state is RoleState.STARTING and self._timers.clock() < self._others_from
        for role in () if first_alone or self._stopping else self.roles[1:]:
            role.start_due |= role.state is RoleState.STOPPED
        for role in self.roles:
            role.start_if_due()
        self.divide_cores()
        while outdated := self._next_outdated():
            outdated.start_successor()
            self.divide_cores()  # a loaded standby has taken over at once, and the next one is outdated
        at_rest = any(role.state is RoleState.RESTING for role in self.roles)
        if (at_rest or speaking(self.roles)) and not coming_up(self.roles) and not self._stopping:
            self.refill_standby(at_rest)

    def _rest_or_wake(self) -> None:
        for role in self.roles:
            if self.needed:
                role.start_due |= role.state is RoleState.RESTING
            elif role.state is RoleState.RUNNING:
                log.info("worker slot %s may rest: nobody has asked for speech for a while", role.slot)
                role.rest()
                self.drop_loaded_standby()

    def _next_outdated(self) -> Role | None:
        """The role whose process is to be replaced next. At most one additional worker loads at a time."""
        if self._stopping or any(role.successor for role in self.roles):
            return None
        return next((role for role in self.roles if role.outdated and role.state is RoleState.RUNNING), None)

    # -- processes for the slots

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
        return Load(
            tuple(self.failures.reasons),
            slot=role.slot,
            slots=len(self.roles),
            accelerated=role.slot > 0 and _provider(self.roles[0]) in ACCELERATORS,
            proven=role.ready.engine if role.ready and role.process is None and _provider(role) == CPU else None,
        )

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

    def refill_standby(self, at_rest: bool) -> None:
        """Start a standby if there is none and its time has come. `at_rest`: the workers rest, so it holds no model
        either."""
        now = self._timers.clock()
        makes_first_block = now < self._first_block_by and not all(each.progressed for each in speaking(self.roles))
        if self._standby_mode == "off" or self.standby or makes_first_block or now < self._no_standby_before:
            return
        self.standby = self._nursery.start("worker")
        if self._standby_mode == "loaded" and not at_rest:
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
            self._delay_standby(STANDBY_BACKOFF)

    def _delay_standby(self, seconds: float) -> None:
        self._no_standby_before = self._timers.clock() + seconds
        self._timers.wake(seconds)

    # -- ending

    def stop_spares(self) -> None:
        """Stop starting spare processes, because the server is about to stop."""
        self._stopping = True
        if self.standby:
            self.standby.kill()
            self.standby = None
        for role in self.roles:
            role.drop_successor()

    def stop(self) -> None:
        """End all workers, because no front is left. Idempotent."""
        for role in self.roles:
            role.stop(KILL_GRACE)
            for child in role.draining:
                self._nursery.end(child)


def _provider(role: Role) -> str:
    """The execution provider of the role's last engine; empty before the first."""
    return role.ready.engine.provider if role.ready else ""

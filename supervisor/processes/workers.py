"""The workers: one role for each slot, and the handling of their events."""

from __future__ import annotations

import logging

from shm.messages import ChildReady
from supervisor.processes.children import KILL_GRACE, Incarnation, Nursery, ended
from supervisor.processes.role import Role, RoleState
from supervisor.processes.standing import coming_up, hopeless, resting, speaking
from supervisor.processes.supply import ORDER_LIMIT, Supply
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings
from worker.providers.targets import CPU

log = logging.getLogger(__name__)

FIRST_ALONE = 10.0
"""Most seconds that the other slots wait for the first one, which may hang while it loads."""


class Workers:
    """Event handlers record events; `reconcile` starts the missing processes."""

    def __init__(self, settings: SupervisorSettings, nursery: Nursery, timers: Timers) -> None:
        self.supply = Supply(settings, nursery, timers, self._overdue, self._ignores)
        self.roles = self.supply.roles
        self.failures = self.supply.failures
        self.needed = True
        """False while the workers are to rest, because no stream has waited for one for `--idle-unload`."""
        self._load_timeout = settings.load_timeout
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
        if role := self.role_of(child):
            role.serves(child)

    def replace_all(self, why: str) -> None:
        """Have every worker replaced: it was started under other settings, or before the model's files existed."""
        self.supply.drop_standby()
        self.needed = True  # a resting engine may not be the one that speaks next: the fronts must learn of it
        for role in self.roles:
            role.outdate(why)
            role.retry()  # the settings may have been the reason

    def recycle(self, child: Incarnation, why: str) -> None:
        """Have one worker replaced."""
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
        self.supply.standby_fails(child, reason)
        self.supply.drop_loaded_standby()
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
            self.supply.standby_fails(child, reason)

    def distrusted(self, generation: int, reason: str) -> None:
        """Handle a front's report that this worker hangs or broke the protocol."""
        for role in self.roles:
            for child in (role.process, *role.draining):
                if child and child.generation == generation:
                    role.condemn(child, reason)

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped worker."""
        self.supply.standby_fails(child, ended(status))
        if role := self.role_of(child):
            if child is role.successor:
                self.supply.delay_standby()
            role.exited(child, status)
        if self.failures.crashed(child.engine.provider if child.ready else child.loading, status):
            self.supply.drop_loaded_standby()

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
        self.supply.divide_cores()
        while outdated := self._next_outdated():
            outdated.start_successor()
            self.supply.divide_cores()  # a loaded standby has taken over at once, and the next one is outdated
        at_rest = bool(resting(self.roles))
        if (at_rest or speaking(self.roles)) and not coming_up(self.roles) and not self._stopping:
            self.supply.refill_standby(at_rest)

    def _rest_or_wake(self) -> None:
        for role in self.roles:
            if self.needed:
                role.start_due |= role.state is RoleState.RESTING
            elif role.state is RoleState.RUNNING:
                log.info("worker slot %s may rest: nobody has asked for speech for a while", role.slot)
                role.rest()
                self.supply.drop_loaded_standby()

    def _next_outdated(self) -> Role | None:
        """The role whose process is to be replaced next. At most one additional worker loads at a time."""
        if self._stopping or any(role.successor for role in self.roles):
            return None
        return next((role for role in self.roles if role.outdated and role.state is RoleState.RUNNING), None)

    # -- ending

    def stop_spares(self) -> None:
        """Stop starting spare processes, because the server is about to stop."""
        self._stopping = True
        self.supply.stop()

    def stop(self) -> None:
        """End all workers, because no front is left. Idempotent."""
        for role in self.roles:
            role.stop(KILL_GRACE)
            for child in role.draining:
                self._nursery.end(child)

"""The workers: one role for each slot, the standby that they share, and the handling of their events."""

from __future__ import annotations

import logging

import msgspec

from shm.engine_info import Priority
from shm.messages import ProviderFailure, Ready
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import KILL_GRACE, Nursery, ended
from supervisor.processes.provider_failures import ProviderFailures
from supervisor.processes.replacements import Replacements
from supervisor.processes.role import Role, RoleState
from supervisor.processes.speaking import resting, speaking
from supervisor.processes.supply import Supply
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings
from worker.providers.records import CPU

log = logging.getLogger(__name__)

FIRST_ALONE = 10.0
"""Most seconds that the other slots wait for the first one, which may hang while it loads."""


class Workers:
    """Event handlers record events; `reconcile` starts the missing processes."""

    def __init__(self, settings: SupervisorSettings, nursery: Nursery, timers: Timers) -> None:
        self.roles = [Role("worker", settings, nursery, timers, slot) for slot in range(settings.workers)]
        self.failures = ProviderFailures()
        self._load_timeout = settings.load_timeout
        self._supply = Supply(self.roles, self.failures, settings, nursery, timers, self._overdue)
        self.standby = self._supply.standby
        self._replacements = Replacements()
        self._nursery = nursery
        self._timers = timers
        self._others_wait = True
        self._needed = True
        """False while the workers are to rest."""
        self._spares_wanted = True
        """False once the server stops: then only workers that streams still need are started."""

    # -- state

    @property
    def replacing(self) -> bool:
        """True if a successor is starting or queued."""
        return bool(self._replacements) or any(role.successor for role in self.roles)

    # -- events

    def start(self) -> None:
        """Start slot 0; the others wait until it speaks, which shows if it needs cores."""
        self.roles[0].start(self._supply.take(self.roles[0]))
        self._timers.after(FIRST_ALONE, self._let_others_start)

    def _let_others_start(self) -> None:
        if self._others_wait and self._spares_wanted:
            self._others_wait = False
            for role in self.roles[1:]:
                role.start_due = True

    def ready(self, child: Incarnation, ready: Ready) -> None:
        """Handle a worker's message that its engine is loaded. A standby's message is kept until the standby is
        needed."""
        child.ready = ready
        name, provider = ready.engine.name, ready.engine.provider
        log.info("worker[%d] is ready after %.2f s: %s on %s", child.generation, ready.load_seconds, name, provider)
        if role := self._supply.role_of(child.generation):
            role.serves(child)

    def replace(self, why: str, fresh: bool, only: Incarnation | None = None) -> None:
        """Start another generation alongside each speaking one, or alongside `only`.

        `fresh`: standbys and loading successors were started under other settings, or before the model's files existed.
        """
        if fresh:
            self.standby.drop()
            self._needed = True  # a resting engine may not be the one that speaks next: the fronts must learn of it
        for role in self.roles if self._spares_wanted else ():
            if only is None or role.process is only:
                self._replacements.want(role, why, fresh)

    def needed(self, needed: bool) -> None:
        """Note if streams wait for workers; without any for `--idle-unload`, the workers rest."""
        self._needed = needed

    def boot_failure(self, child: Incarnation, reason: str) -> None:
        """Handle a worker's report that it can't start, and that starting again would not help."""
        log.error("%s", reason)
        if role := self._supply.role_of(child.generation):
            role.fails_to_boot(child, reason)

    def provider_failure(self, child: Incarnation, failure: ProviderFailure) -> None:
        """Handle an execution provider's failure: the next generation starts without it, at once."""
        self.failures.give_up(failure.provider, failure.reason)
        self._supply.drop_loaded_standby(child)
        if role := self._supply.role_of(child.generation):
            role.gives_way(child, f"{failure.provider} doesn't work; going on without it")
        else:
            self._nursery.kill_after(child, 0.0)

    def _overdue(self, child: Incarnation) -> None:
        provider = child.loading
        reason = f"it hadn't loaded after {self._load_timeout:g} s (--load-timeout)"
        accelerated = provider not in ("", CPU)
        role = self._supply.role_of(child.generation)
        if role and not accelerated:
            role.condemn(child, reason)
            return
        child.dump_stacks()
        if role is None:
            log.error("ending the standby worker[%d]: %s", child.generation, reason)
            self.standby.drop()  # at once, so that no slot takes a standby that is about to be killed
            self.standby.rest()
            if accelerated:
                self.failures.give_up(provider, reason)
        else:
            self.provider_failure(child, ProviderFailure(provider, reason))

    def distrusted(self, generation: int, reason: str) -> None:
        """Handle a front's report that this worker hangs or broke the protocol."""
        role = self._supply.role_of(generation)
        mine = [role.process, *role.draining.values()] if role else []
        for child in mine:
            if role and child and child.generation == generation:
                role.condemn(child, reason)

    def exited(self, child: Incarnation, status: int) -> None:
        """Handle the end of a reaped worker."""
        role = self._supply.gone(child)
        if self.failures.crashed(child.ready.engine.provider if child.ready else child.loading, status):
            self._supply.drop_loaded_standby(child)
        if child is self.standby.process:
            self.standby.process = None
            log.error("the standby worker[%d] ended with %s", child.generation, ended(status))
            self.standby.rest()
        elif role:
            if child is role.successor:
                self.standby.rest()
            role.exited(child, status)

    # -- consequences of events

    def reconcile(self) -> None:
        """Start the due processes: slots, then successors one after another, then the standby."""
        self._rest_or_wake()
        self._divide_cores()
        if self.roles[0].state is not RoleState.STARTING:
            self._let_others_start()
        for role in self.roles:
            if role.start_due:
                role.start(role.successor or self._supply.take(role))
        self._divide_cores()
        while turn := self._replacements.next(self.roles):
            role, why = turn
            role.replace(self._supply.take(role), why)
            self._divide_cores()  # a loaded standby has taken over, and the next replacement is due
        at_rest = bool(resting(self.roles))
        if self._spares_wanted and (at_rest or speaking(self.roles)) and not any(r.is_coming_up for r in self.roles):
            self._supply.refill_standby(at_rest)

    def _rest_or_wake(self) -> None:
        if self._needed:
            for role in resting(self.roles):
                role.start_due = True
            return
        for _, child in speaking(self.roles):
            log.info("worker[%d] may rest: nobody has asked for speech for a while", child.generation)
            if served := self._supply.role_of(child.generation):
                served.rest()
            self._supply.drop_loaded_standby(child)

    def _divide_cores(self) -> None:
        for role in self._supply.divide_cores():
            if self._spares_wanted:
                self._replacements.want(role, "the cores are divided again", fresh=True)

    # -- ending

    def stop_spares(self) -> None:
        """Stop starting spare processes, because the server is about to stop."""
        if self.standby.process:
            self.standby.process.kill()
            self.standby.process = None
        for role in self.roles:
            role.drop_successor()
        self._replacements.clear()
        self._spares_wanted = False

    def stop(self) -> None:
        """End all workers, because no front is left. Idempotent."""
        for role in self.roles:
            role.stop(KILL_GRACE)
            for child in role.draining.values():
                self._nursery.end(child)


def placed(child: Incarnation, priority: Priority) -> None:
    """Note that a worker was moved to another slot's share of the machine."""
    if child.ready:
        engine = msgspec.structs.replace(child.ready.engine, priority=priority)
        child.ready = msgspec.structs.replace(child.ready, engine=engine)

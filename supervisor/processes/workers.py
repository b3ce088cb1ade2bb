"""The workers' role: the slots that speak, the one standby they share, and those that finish or are condemned."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import msgspec

from shm.engine_info import Priority
from shm.messages import ControlMessage, Disconnect, Load, ProviderFailure, Ready
from supervisor.processes.crashes import Crashes
from supervisor.processes.exit_codes import ExitCode
from supervisor.processes.incarnation import Incarnation
from supervisor.processes.nursery import Nursery, ended
from supervisor.processes.process_list import Beside
from supervisor.processes.retired import Retired
from supervisor.processes.service import Service, State
from supervisor.processes.slot import Slot
from supervisor.processes.standby import Standby
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings
from worker.providers.records import CPU

log = logging.getLogger(__name__)

FIRST_ALONE = 10.0
"""Seconds that the other slots wait for the first one at most, which may hang while it loads."""

ACCELERATORS = {"CoreMLExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"}
"""Execution providers that leave the cores to others. OpenVINO, as it comes, runs on them."""

_BEST_FIRST = (State.RUNNING, State.STARTING, State.BACKOFF, State.STOPPING, State.FATAL, State.STOPPED)


class WorkersHost(Protocol):
    """What the workers need of the rest of the house."""

    def connect(self, worker: Incarnation, slot: int) -> None:
        """Join it to every front by a channel."""
        ...

    def fronts(self) -> set[int]:
        """The generations of the fronts that follow messages."""
        ...

    def tell_fronts(self, message: ControlMessage) -> None: ...

    def report(self) -> None:
        """Tell the fronts how things stand."""
        ...

    def give_up(self, code: ExitCode) -> None:
        """End the server."""
        ...


@dataclass(frozen=True, slots=True)
class _Replacement:
    """A slot's process is to be replaced, unless it dies before: what is started then knows what is true now."""

    why: str
    fresh: bool
    """See `Workers.replace`."""


class Workers:
    """Each slot has a life of its own. They are replaced one after another, so that one more loads at most."""

    def __init__(self, settings: SupervisorSettings, nursery: Nursery, timers: Timers, host: WorkersHost) -> None:
        self.provider_failures: dict[str, str] = {}
        self._crashes = Crashes()
        self._load_timeout = settings.load_timeout
        self._loading: dict[int, str] = {}
        """By generation: the execution provider for which it loads; empty while that isn't known."""
        self._nursery = nursery
        self._timers = timers
        self._host = host
        self._slots = [Slot(number, settings, nursery, timers, self) for number in range(settings.workers)]
        self._slot_of: dict[int, Slot] = {}
        """By generation: all that have been given one and aren't reaped."""
        self._standby = Standby(settings, nursery, timers)
        self._retired = Retired(nursery)
        self._due: dict[int, _Replacement] = {}
        """By slot."""
        self._accelerated = False
        """Slot 0 speaks, or did last, on an accelerator."""
        self._told: dict[int, bool] = {}
        """By generation: whether it loaded as beside an accelerator."""
        self._others_wait = True
        self._wanted = True
        self._spares_wanted = True

    def start(self) -> None:
        """Bring up the first, and when it speaks the others, which then know whether it needs cores."""
        self._slots[0].start()
        self._timers.after(FIRST_ALONE, self._start_others)

    def _start_others(self) -> None:
        if self._others_wait and self._spares_wanted:
            self._others_wait = False
            for slot in self._slots[1:]:
                slot.start()

    def ready(self, child: Incarnation, ready: Ready) -> None:
        """Its engine is loaded. A standby's is kept until it is needed."""
        child.ready = ready
        self._loading.pop(child.generation, None)
        log.info(
            "worker[%d] is ready after %.2f s: %s on %s",
            child.generation,
            ready.load_seconds,
            ready.engine.name,
            ready.engine.provider,
        )
        if slot := self._slot_of.get(child.generation):
            slot.ready(child, ready)
        self.settle()

    def placed(self, child: Incarnation, priority: Priority) -> None:
        """It has moved to another slot's share of the machine."""
        if child.ready:
            engine = msgspec.structs.replace(child.ready.engine, priority=priority)
            child.ready = msgspec.structs.replace(child.ready, engine=engine)

    # -- how they stand

    @property
    def services(self) -> list[Service]:
        """One for each slot, in order."""
        return [slot.service for slot in self._slots]

    @property
    def service(self) -> Service:
        """That of the slot which stands best: while one speaks, the server can."""
        return min(self.services, key=lambda service: _BEST_FIRST.index(service.state))

    @property
    def restarts(self) -> int:
        """Of all of them."""
        return sum(service.restarts for service in self.services)

    @property
    def speaking(self) -> list[tuple[int, Incarnation]]:
        """Those that run, each with its slot, in the slots' order."""
        return [
            (slot.number, slot.service.process)
            for slot in self._slots
            if slot.service.process and slot.service.state is State.RUNNING
        ]

    @property
    def voice(self) -> Incarnation | None:
        """Of those that run, the one that is heard: the first with the best engine."""
        running = [process for _, process in self.speaking if process.ready]
        return max(running, key=lambda process: process.ready.engine.rank if process.ready else -1, default=None)

    @property
    def others(self) -> Iterator[Beside]:
        """Those beside the ones that speak."""
        if self._standby.process:
            yield Beside(self._standby.process, "standby", self._standby.state)
        for slot in self._slots:
            if slot.successor:
                yield Beside(slot.successor, "worker", State.STARTING, slot.number)
        yield from (Beside(child, "worker", "draining", slot) for child, slot in self._retired)

    @property
    def replacing(self) -> bool:
        """A successor is coming up, or will be."""
        return bool(self._due) or any(slot.successor for slot in self._slots)

    # -- what slots ask for

    def take(self, slot: Slot) -> Incarnation:
        """See `Crew`."""
        first = self._slots[0]
        like_first = slot is first or (bool(slot.provider) and slot.provider == first.provider)
        child = self._standby.take(like_first) or self._nursery.start("worker")
        self._slot_of[child.generation] = slot
        load = self._load(slot)
        self._told[child.generation] = load.accelerated
        child.send(load)
        self._mind_loading(child)
        return child

    def _load(self, slot: Slot) -> Load:
        """For what is to be that slot's. The first one has its part of the cores until it turns out to need none."""
        accelerated = self._accelerated and slot is not self._slots[0]
        return Load(tuple(self.provider_failures), slot=slot.number, slots=len(self._slots), accelerated=accelerated)

    def joins(self, slot: Slot) -> None:
        """See `Crew`."""
        assert slot.service.process
        self._host.connect(slot.service.process, slot.number)
        if slot is self._slots[0] and len(self._slots) > 1:
            self._divide_cores(slot, slot.service.process)

    def _divide_cores(self, first: Slot, process: Incarnation) -> None:
        self._accelerated = first.provider in ACCELERATORS
        if self._accelerated:
            process.send(msgspec.structs.replace(self._load(first), accelerated=True))
        for other in self._slots[1:]:
            child = other.successor or other.service.process
            if child and self._told[child.generation] is not self._accelerated and self._spares_wanted:
                self._due[other.number] = _Replacement("the cores are divided anew", fresh=True)

    def retire(self, slot: Slot, child: Incarnation) -> None:
        """See `Crew`."""
        fronts = self._host.fronts()
        self._host.tell_fronts(Disconnect(child.generation, draining=True))
        self._retired.add(child, slot.number, fronts)

    def disconnect(self, message: Disconnect) -> None:
        """See `Crew`."""
        self._host.tell_fronts(message)

    def report(self) -> None:
        """See `Crew`."""
        self._host.report()

    def settle(self) -> None:
        """See `Crew`; also if something has gone, or another thing is wanted."""
        if self._slots[0].service.state is not State.STARTING:
            self._start_others()
        self._go_on_replacing()
        busy = any(slot.is_coming_up for slot in self._slots)
        if self._spares_wanted and self.speaking and not busy:
            told = self._standby.refill(msgspec.structs.replace(self._load(self._slots[0]), standby=True))
            if told:
                self._mind_loading(told)

    # -- being replaced

    def replace(self, why: str, fresh: bool, only: Incarnation | None = None) -> None:
        """Bring up another generation beside each that speaks, or beside the `only` one that is meant.

        `fresh`: what stands by or loads was started under other settings, or before the model's files were there.
        """
        if fresh:
            self._drop_standby()
        for slot in self._slots if self._spares_wanted else ():
            if only is None or slot.service.process is only:
                self._due[slot.number] = _Replacement(why, fresh)
        self.settle()

    def _go_on_replacing(self) -> None:
        for number, due in list(self._due.items()):
            slot = self._slots[number]
            if self._due.get(number) is not due:
                continue  # what was replaced before it has gone on with this one already
            if slot.successor and not due.fresh:
                del self._due[number]
            elif slot.service.state is State.RUNNING:
                slot.drop_successor()
                if not any(other.successor for other in self._slots):
                    del self._due[number]
                    slot.replace(due.why)
            elif slot.service.state is not State.STARTING:  # what is starting is replaced when it speaks
                del self._due[number]

    def idle(self, front: int, generation: int) -> None:
        """That front has nothing left with that generation."""
        self._retired.idle(front, generation)

    def front_gone(self, front: int) -> None:
        self._retired.front_gone(front)

    # -- going wrong

    def boot_failure(self, child: Incarnation, reason: str) -> None:
        """It can't start, and starting again would not help: the end of the server, unless another can or could."""
        log.error("%s", reason)
        if slot := self._slot_of.get(child.generation):
            slot.boot_failure(child, reason)
        hopeless = all(service.state is State.FATAL and not service.ever_ran for service in self.services)
        if hopeless:
            self._host.give_up(ExitCode.ENGINE)
        self.settle()

    def provider_failure(self, child: Incarnation, failure: ProviderFailure) -> None:
        """An execution provider doesn't work: the next generation starts without it, at once."""
        self._give_up(failure.provider, failure.reason, child)
        slot = self._slot_of.get(child.generation)
        if slot is None:
            self._nursery.kill_after(child, 0.0)
            return
        slot.gives_way(child, f"{failure.provider} doesn't work; going on without it")
        self.settle()

    def _give_up(self, provider: str, reason: str, child: Incarnation) -> None:
        log.error("%s is given up: %s", provider, reason)
        self.provider_failures[provider] = reason
        if self._standby.was_told_to_load and self._standby.process is not child:
            self._drop_standby()  # it has loaded on what doesn't work

    def _mind_loading(self, child: Incarnation) -> None:
        """See that it doesn't load for ever, as one may that finds nothing of what was compiled before."""
        if child.ready is None and child.generation not in self._loading:
            self._loading[child.generation] = ""
            self._timers.after(self._load_timeout, lambda: self._is_overdue(child))

    def loading(self, child: Incarnation, provider: str) -> None:
        """It has begun to load for that execution provider."""
        if child.generation in self._loading:
            self._loading[child.generation] = provider

    def _is_overdue(self, child: Incarnation) -> None:
        provider = self._loading.pop(child.generation, None)
        if provider is None:
            return  # it has loaded, or is gone
        reason = f"it hadn't loaded after {self._load_timeout:g} s (--load-timeout)"
        if child is self._standby.process:
            log.error("ending the standby worker[%d]: %s", child.generation, reason)
            child.dump_stacks()
            self._drop_standby()  # at once: no slot is to take one that is about to be killed
            self._standby.later(self.settle)
            if provider not in ("", CPU):
                self._give_up(provider, reason, child)
        elif slot := self._slot_of.get(child.generation):
            if provider not in ("", CPU):
                child.dump_stacks()
                self.provider_failure(child, ProviderFailure(provider, reason))
            else:
                slot.condemn(child, reason)
                self.settle()

    def distrusted(self, generation: int, reason: str) -> None:
        """A front says that this worker hangs or broke its contract."""
        slot = self._slot_of.get(generation)
        if slot is None:
            return
        if (child := slot.service.process) and child.generation == generation:
            slot.condemn(child, reason)
        elif retired := self._retired.pop(generation):
            slot.condemn(retired, reason)
        self.settle()

    def exited(self, child: Incarnation, status: int) -> None:
        """It has ended and was reaped."""
        slot = self._slot_of.pop(child.generation, None)
        self._told.pop(child.generation, None)
        loading = self._loading.pop(child.generation, "")
        if slot:
            slot.service.saw_exit(ended(status), self._timers.clock())
        provider = child.ready.engine.provider if child.ready else loading
        if reason := self._crashes.saw(provider, status):
            self._give_up(provider, reason, child)
        if child is self._standby.process:
            self._standby.process = None
            log.error("the standby worker[%d] ended with %s", child.generation, ended(status))
            self._standby.later(self.settle)
        elif self._retired.pop(child.generation):
            self._host.tell_fronts(Disconnect(child.generation))
            log.info("worker[%d] has finished", child.generation)
        elif slot:
            if child is slot.successor:
                self._standby.later(self.settle)
            slot.exited(child, status)
        self.settle()

    # -- ending

    def _drop_standby(self) -> None:
        if child := self._standby.process:
            self._slots[0].let_go(child)
            self._standby.process = None

    def stop_spares(self) -> None:
        """The server is to stop: nothing is brought up for later any more."""
        for child in (self._standby.process, *(slot.successor for slot in self._slots)):
            if child:
                child.kill()
        self._standby.process = None
        for slot in self._slots:
            slot.successor = None
        self._due.clear()
        self._spares_wanted = False

    def stop(self) -> None:
        """No front is left: end them all. Idempotent."""
        if not self._wanted:
            return
        self._wanted = False
        for slot in self._slots:
            slot.stop()
        self._retired.stop()

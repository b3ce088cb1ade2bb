"""Children that are nothing but a record of what was said to them, and a clock that stands still until it is moved."""

import random
import signal
from collections.abc import Sequence
from typing import Literal, TypeVar

from shm.engine_info import EngineInfo
from shm.messages import (
    BootFailure,
    ChildProgress,
    ChildReady,
    Connect,
    ControlMessage,
    Distrust,
    Heartbeat,
    Idle,
    Load,
    PlayerLink,
    ProviderFailure,
    Recycle,
    Started,
    WorkersNeeded,
)
from shm.situation import Situation
from supervisor.processes.children import Activity, Incarnation
from supervisor.processes.errands import Errand
from supervisor.processes.lifecycle import Changes, Lifecycle, Outside
from supervisor.processes.standing import Standing
from supervisor.processes.workers import SETTLED
from supervisor.settings.supervisor import SupervisorSettings
from tests.engine_infos import espeak, kokoro

_Message = TypeVar("_Message")

ESPEAK = espeak()
KOKORO = kokoro(model="m.onnx", model_sha256="0", vocabulary="ab")

FETCH = Errand("fetcher", "the model was fetched", "the model is being fetched")


class FakeChild(Incarnation):
    def __init__(self, role: str, generation: int, subject: str = "") -> None:
        super().__init__(role, generation, 4711)
        self.subject = subject
        self.heard: list[ControlMessage] = []
        self.said: set[type] = set()
        self.deaf = self.killed = self.dumped = self.reaped = False
        self.status = 0
        self.hangs = False
        """True while it reads nothing and answers nothing."""
        self.asked = False
        """True while a heartbeat is to be answered."""
        self.uses: Activity | None = Activity(0.0)
        """The processor time that it has used; None if that can't be read."""
        self.share = 1.0
        """The share of a processor that it uses."""

    def send(self, message: ControlMessage, fds: Sequence[int] = ()) -> bool:
        if self.deaf:
            return False
        assert len(fds) == (3 if isinstance(message, Connect) else isinstance(message, PlayerLink))
        self.heard.append(message)
        self.asked |= isinstance(message, Heartbeat)
        return True

    def activity(self) -> Activity | None:
        return self.uses

    def dump_stacks(self) -> None:
        self.dumped = True

    def kill(self) -> None:
        self.killed = True
        self.status = -signal.SIGKILL

    def reap(self) -> int:
        assert not self.reaped
        self.reaped = True
        return self.status

    def something_to_say(self, chance: random.Random, generations: Sequence[int]) -> ControlMessage | None:
        """A message that a child of its role may send at any time; None if it has none. `generations`: of workers."""
        if {ProviderFailure, BootFailure} & self.said:
            return None  # it is ending
        if self.role == "front":
            needed = WorkersNeeded(chance.random() < 0.5)
            wrong = [Distrust(chance.choice(generations), "x"), Idle(chance.choice(generations)), needed]
            message: ControlMessage = chance.choice([*wrong, Started()] if Started not in self.said else wrong)
        elif self.role == "worker" and self.heard_of(Load):
            said = [
                chance.choice([Recycle("x"), ChildProgress()]),
                ProviderFailure("p", "x"),
                BootFailure("engine", "x"),
                ChildReady(ESPEAK, 0.1),
            ]
            message = chance.choice([*said[:1], *(said[1:] if ChildReady not in self.said else [])])
        else:
            return None
        if type(message) in (ProviderFailure, BootFailure) and self.said:
            return None  # too late for that
        self.said.add(type(message))
        return message

    def heard_of(self, kind: type[_Message]) -> list[_Message]:
        return [message for message in self.heard if isinstance(message, kind)]

    @property
    def situation(self) -> Situation:
        """The last report on the workers that it was told."""
        return self.heard_of(Situation)[-1]


class House(Outside):
    """A lifecycle among fakes, with words for what happens to it."""

    def __init__(
        self,
        *,
        fetch: bool = False,
        standby: Literal["off", "imported", "loaded"] = "off",
        workers: int = 1,
        errands: Sequence[Errand] = (),
        load_timeout: float = 300.0,
        standby_front: bool = False,
        forks: bool = False,
    ) -> None:
        """
        Args:
            errands: wanted whenever something speaks.
            forks: fronts are forked from a template.
        """
        self.now = 100.0
        self.children: list[FakeChild] = []
        self.announced: list[ChildReady] = []
        self.standings: list[Standing] = []
        self.listening = True
        self.fed: list[float] = []
        """Times at which the lifecycle reported that no front is silent."""
        self.changes = Changes(front=False, worker=False)
        self._fetch = fetch
        self._standby = standby
        self._errands = errands
        settings = SupervisorSettings(
            rings=1,
            ring_seconds=1,
            standby=standby,
            workers=workers,
            load_timeout=load_timeout,
            standby_front=standby_front,
        )
        self.forks = forks
        self.lifecycle = Lifecycle(settings, self._spawn, lambda: self.now, self)

    def errands(self, ready: ChildReady) -> Sequence[Errand]:
        return (*([FETCH] if self._fetch and ready.engine is ESPEAK else []), *self._errands)

    def announce(self, ready: ChildReady) -> None:
        self.announced.append(ready)

    def stands(self, standing: Standing) -> None:
        self.standings.append(standing)

    def answers(self) -> None:
        self.fed.append(self.now)

    def stop_listening(self) -> None:
        self.listening = False

    def drain_timeout(self) -> float:
        return 10.0

    def reload(self) -> Changes:
        return self.changes

    def _spawn(self, role: str, generation: int, subject: str = "") -> FakeChild:
        self.children.append(FakeChild(role, generation, subject))
        return self.children[-1]

    def all(self, role: str) -> list[FakeChild]:
        return [child for child in self.children if child.role == role]

    def newest(self, role: str) -> FakeChild:
        return [child for child in self.children if child.role == role][-1]

    def count(self, role: str) -> int:
        return sum(child.role == role for child in self.children)

    def up(self, engine: EngineInfo = ESPEAK) -> tuple[FakeChild, FakeChild]:
        """Start, let both say that they are ready, and the time pass before a standby is started: (front, worker)."""
        self.lifecycle.start()
        front, worker = self.newest("front"), self.newest("worker")
        self.lifecycle.message(front, Started())
        self.ready(worker, engine)
        if self._standby != "off":
            self.passes(SETTLED)
        return front, worker

    def ready(self, worker: FakeChild, engine: EngineInfo = ESPEAK) -> None:
        self.lifecycle.message(worker, ChildReady(engine, 0.1))

    def dies(self, child: FakeChild, status: int = -signal.SIGKILL) -> None:
        child.status = status
        self.lifecycle.exited(child)

    def reborn(self, child: FakeChild, seconds: float) -> FakeChild:
        """Let a child die and time pass; the newest one of its role."""
        self.dies(child)
        self.passes(seconds)
        return self.newest(child.role)

    def passes(self, seconds: float) -> None:
        """Let time pass. Ticks come when they are asked for, as the server's loop gives them."""
        end = self.now + seconds
        while (due := self.lifecycle.next_wakeup()) is not None and due <= end:
            self._moves(max(self.now, due))
            self.lifecycle.tick()
            self.replies()
        self._moves(end)

    def _moves(self, to: float) -> None:
        for child in self.children:
            if child.uses and not child.reaped:
                child.uses = Activity(child.uses.seconds + child.share * (to - self.now), child.uses.waits)
        self.now = to

    def replies(self) -> None:
        """Let all children that don't hang answer their heartbeats."""
        for child in self.children:
            if child.asked and not (child.hangs or child.reaped or child.killed):
                child.asked = False
                self.lifecycle.message(child, Heartbeat())

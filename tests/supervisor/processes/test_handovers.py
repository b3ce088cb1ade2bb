"""Handovers between processes: whichever step is the last one that a process takes before it is stopped for ever, the
others go on within a limit."""

import signal
from collections.abc import Callable, Iterator

import pytest

from shm.engine_info import Priority
from shm.lifeline import DONE
from shm.messages import (
    BooksNews,
    ChildReady,
    Connect,
    ControlMessage,
    Disconnect,
    Distrust,
    Drain,
    Idle,
    Load,
    Loading,
    Placed,
    PlayerLink,
    PlayerWanted,
    Started,
    WorkersNeeded,
)
from supervisor.processes.children import DUMP_GRACE
from supervisor.processes.errands import Errand
from supervisor.processes.lifecycle import Changes
from supervisor.processes.role import FIRST_BACKOFF
from supervisor.processes.workers import ORDER_LIMIT
from tests.supervisor.fakes import KOKORO, FakeChild, House

LOAD_TIMEOUT, ERRAND_TIMEOUT = 20.0, 20.0
NOTICED = 15.0
"""Seconds within which a process that answers heartbeats, or hasn't come up, is noticed."""
WATCHDOG = 10.0
"""Seconds after which a front distrusts a worker that is stopped: `frontend.scheduling.watch`, in these tests."""
LIMIT = max(NOTICED, LOAD_TIMEOUT, WATCHDOG, ERRAND_TIMEOUT) + 3 * ORDER_LIMIT
"""Seconds within which a server that has lost one process to a stop serves again, in these tests."""


class Troupe:
    """Children that do what real ones do, one step after another, until one of them is stopped."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.steps = 0
        self.stops_at = 0
        """The number of the step before which its process is stopped; 0 while none is to be."""
        self.stopped: FakeChild | None = None
        self.asks = False
        """True while somebody asks for speech."""
        self._scripts: dict[FakeChild, Iterator[ControlMessage | int | None]] = {}

    def play(self, seconds: float, done: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass, and children act, until it is done; returns True if it is."""
        end = self.house.now + seconds
        while self.house.now < end:
            while [child for child in list(self.house.children) if not child.reaped and self._acts(child)]:
                pass
            if done():
                return True
            due = self.house.lifecycle.next_wakeup()
            self.house.passes(min(max(due or end, self.house.now + 0.01), end, self.house.now + 1.0) - self.house.now)
        return done()

    def _acts(self, child: FakeChild) -> bool:
        if child.killed:
            self.house.dies(child)
            return True
        if child is self.stopped:
            return False
        step = next(self._scripts.setdefault(child, getattr(self, f"_{child.role}")(child)))
        if step is None:
            return False
        self.steps += 1
        if self.steps == self.stops_at:
            self.stopped, child.hangs, child.share = child, True, 0.0
        elif isinstance(step, int):
            self.house.dies(child, step)
        else:
            self.house.lifecycle.message(child, step)
        return True

    def _heard(self, child: FakeChild) -> Iterator[ControlMessage | None]:
        at = 0
        while True:
            yield child.heard[at] if at < len(child.heard) else None
            at += at < len(child.heard)

    def _front(self, child: FakeChild) -> Iterator[ControlMessage | int | None]:
        yield Started()
        joined: set[int] = set()
        since: float | None = None
        for message in self._heard(child):
            match message:
                case Connect():
                    joined.add(message.generation)
                case Disconnect(generation, draining):
                    joined.discard(generation)
                    if draining:
                        yield Idle(generation)
                case Drain():
                    yield 0
                case None:
                    if self.stopped and self.stopped.generation in joined:
                        since = since or self.house.now
                        if self.house.now - since >= WATCHDOG:
                            joined.discard(self.stopped.generation)
                            yield Distrust(self.stopped.generation, "it hangs")
                    yield WorkersNeeded(True) if self.asks and child.situation.worker_state == "resting" else None

    def _worker(self, child: FakeChild) -> Iterator[ControlMessage | int | None]:
        yield Started()
        for message in self._heard(child):
            match message:
                case Load() if child.ready:
                    yield Placed(Priority(nice=0))
                case Load():
                    yield Loading("")
                    yield Loading(KOKORO.provider)
                    yield ChildReady(KOKORO, 0.1)
                case Drain():
                    yield 0
                case None:
                    yield None

    def _player(self, child: FakeChild) -> Iterator[ControlMessage | int | None]:
        yield Started()
        for message in self._heard(child):
            yield 0 if isinstance(message, Drain) else None

    _books = _player

    def _trial(self, child: FakeChild) -> Iterator[ControlMessage | int | None]:
        yield DONE


def serves(house: House) -> bool:
    """True if a front that reads its messages is joined with a worker that does, and knows that it can speak."""
    fronts = [child for child in house.all("front") if not (child.reaped or child.killed or child.heard_of(Drain))]
    working = {child.generation for child in house.all("worker") if not (child.reaped or child.killed or child.hangs)}
    for front in fronts:
        gone = {message.generation for message in front.heard_of(Disconnect)}
        joined = {message.generation for message in front.heard_of(Connect)} - gone
        if not front.hangs and joined & working and front.situation.worker_state == "running":
            return True
    return False


def dies(role: str) -> Callable[[Troupe], None]:
    return lambda troupe: troupe.house.dies(next(c for c in troupe.house.all(role) if not c.reaped))


def reloads(front: bool, worker: bool) -> Callable[[Troupe], None]:
    def reload(troupe: Troupe) -> None:
        troupe.house.changes = Changes(front=front, worker=worker)
        troupe.house.lifecycle.signal(signal.SIGHUP)

    return reload


def rests_and_wakes(troupe: Troupe) -> None:
    front = troupe.house.newest("front")
    troupe.house.lifecycle.message(front, WorkersNeeded(False))
    troupe.play(5.0)
    troupe.asks = True


def wants(message: ControlMessage) -> Callable[[Troupe], None]:
    return lambda troupe: troupe.house.lifecycle.message(troupe.house.newest("front"), message)


def both_die(troupe: Troupe) -> None:
    dies("worker")(troupe)
    dies("front")(troupe)


EVENTS: dict[str, Callable[[Troupe], None]] = {
    "nothing": lambda _: None,
    "the worker dies": dies("worker"),
    "the front dies": dies("front"),
    "both die": both_die,
    "the front's settings change": reloads(front=True, worker=False),
    "the workers' settings change": reloads(front=False, worker=True),
    "all settings change": reloads(front=True, worker=True),
    "rest": rests_and_wakes,
    "a player is wanted": wants(PlayerWanted()),
    "books are wanted": wants(BooksNews("http://a", "key", True)),
}
HOUSES: dict[str, dict[str, object]] = {
    "no standby": {"standby": "off"},
    "imported": {"standby": "imported"},
    "loaded": {"standby": "loaded"},
    "two workers": {"standby": "imported", "workers": 2},
    "a trial": {"errands": [Errand("trial", "it was tried", "it is being tried", ERRAND_TIMEOUT, "p")]},
}


def history(kind: str, event: str, stops_at: int) -> Troupe:
    """A server to which something happens, and one of whose processes is stopped before its n-th step since its start
    (nothing else happens then) or since the event."""
    troupe = Troupe(House(load_timeout=LOAD_TIMEOUT, **HOUSES[kind]))  # type: ignore[arg-type]
    if event == "nothing":
        troupe.stops_at = stops_at
    troupe.house.lifecycle.start()
    troupe.play(2 * LIMIT if troupe.stops_at else 30.0, lambda: event == "nothing" and serves(troupe.house))
    if event != "nothing":
        troupe.steps, troupe.stops_at = 0, stops_at
        EVENTS[event](troupe)
    return troupe


def well(troupe: Troupe, event: str) -> bool:
    """True if the server serves, also with what was wanted."""
    house, role = troupe.house, {"a player is wanted": "player", "books are wanted": "books"}.get(event)
    if role is None:
        return serves(house)
    link = PlayerLink if role == "player" else BooksNews
    return serves(house) and any(
        child.heard_of(link) and not (child.reaped or child.killed or child.hangs) for child in house.all(role)
    )


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("kind", HOUSES)
def test_whichever_step_is_a_process_s_last_the_server_serves_within_a_limit(kind: str, event: str) -> None:
    troupe = history(kind, event, 0)
    assert troupe.play(LIMIT, lambda: well(troupe, event))
    troupe.play(5.0)
    for stops_at in range(1, troupe.steps + 1):
        troupe = history(kind, event, stops_at)
        assert troupe.play(LIMIT, lambda at=troupe: well(at, event)), f"step {stops_at}: {troupe.stopped}"
        troupe.play(2 * LIMIT)
        assert well(troupe, event), f"step {stops_at}: it has not lasted"
        assert troupe.house.lifecycle.exit_code is None
        troupe.house.lifecycle.signal(signal.SIGTERM)
        assert troupe.play(30.0, lambda at=troupe: at.house.lifecycle.exit_code is not None), f"step {stops_at}: no end"


@pytest.mark.parametrize("standby", ["imported", "loaded"])
def test_a_standby_that_is_stopped_costs_three_seconds(standby: str) -> None:
    """It takes no order, so a new process is started at once, and not as after a death."""
    troupe = Troupe(House(standby=standby))  # type: ignore[arg-type]
    troupe.house.lifecycle.start()
    troupe.play(30.0)
    (first, spare) = troupe.house.all("worker")
    troupe.stopped, spare.hangs, spare.share = spare, True, 0.0
    start = troupe.house.now
    troupe.house.dies(first)
    assert troupe.play(ORDER_LIMIT + FIRST_BACKOFF + DUMP_GRACE, lambda: spare.killed and serves(troupe.house))
    assert troupe.house.now - start >= ORDER_LIMIT
    assert troupe.house.newest("front").situation.restarts["worker"] == 1

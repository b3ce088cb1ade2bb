"""Times at which a dead process is started again, and kills of processes that serve, as fast as they come up."""

import itertools
import signal
from collections.abc import Callable

import pytest

from shm.messages import BooksNews, BootFailure, ChildProgress, ChildReady, Connect, PlayerWanted, Started
from shm.situation import ProcessReport
from supervisor.processes.children import Nursery
from supervisor.processes.lifecycle import Changes
from supervisor.processes.role import FIRST_BACKOFF, MAX_BACKOFF, Restarts, Role, RoleState
from supervisor.processes.standing import ExitCode
from supervisor.processes.timers import Timers
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import ESPEAK, KOKORO, FakeChild, House

MAX_DEATHS, WINDOW = SupervisorSettings().max_deaths, SupervisorSettings().death_window


def test_the_first_death_costs_no_wait_and_each_further_one_waits_longer() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    delays = [restarts.after_death(now, progressed=False, proven=True) for now in (0.0, 1.0, 2.0, 3.0)]
    assert delays[0] == 0.0
    assert delays == sorted(delays) and len(set(delays)) == len(delays)
    later = [restarts.after_death(4.0, progressed=False, proven=True) for _ in range(50)]
    assert max(later) == MAX_BACKOFF <= 10, "a listener waits a few seconds for any number of deaths"


def test_deaths_without_progress_for_the_whole_window_are_a_crash_loop() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for death in range(MAX_DEATHS * 4):
        assert restarts.after_death(death * 0.1, progressed=False, proven=True) is not None
    assert restarts.after_death(WINDOW, progressed=False, proven=True) is None


def test_a_process_that_has_never_served_is_given_up_after_so_many_deaths_however_fast() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for _ in range(MAX_DEATHS - 1):
        assert restarts.after_death(0.0, progressed=False, proven=False) is not None
    assert restarts.after_death(0.0, progressed=False, proven=False) is None


def test_progress_begins_the_count_again() -> None:
    restarts = Restarts(MAX_DEATHS, WINDOW)
    for now in range(0, 300, 10):
        assert restarts.after_death(now, progressed=now % 40 == 0, proven=True) is not None


class Clock:
    """A worker's role on a clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers = Timers(lambda: self.now)
        nursery = Nursery(FakeChild, self.timers)
        self.role = Role("worker", SupervisorSettings(), nursery, self.timers)
        self.role.start_due = True
        self.role.start_if_due()
        self.serves()

    def serves(self) -> None:
        child = self.role.successor or self.role.process
        assert child
        child.ready = ChildReady(ESPEAK, 0.1)
        self.role.serves(child)

    def dies(self) -> None:
        assert self.role.process
        self.role.exited(self.role.process, -9)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.timers.run_due()
        self.role.start_if_due()


def test_a_wait_that_a_successor_made_needless_does_not_shorten_the_next_one() -> None:
    """A process dies while its successor loads, which serves and dies before the first process would be started
    again: the second death's wait holds, not what is left of the first one's."""
    clock = Clock()
    for wait in (0.0, FIRST_BACKOFF):
        clock.dies()
        clock.passes(wait)
        clock.serves()
    clock.role.outdate("another model")
    clock.role.start_successor()
    clock.dies()  # to be started again in 2 * FIRST_BACKOFF
    clock.serves()
    clock.dies()  # to be started again in 4 * FIRST_BACKOFF
    clock.passes(2 * FIRST_BACKOFF)
    assert clock.role.state is RoleState.BACKOFF
    clock.passes(2 * FIRST_BACKOFF)
    assert clock.role.state is RoleState.STARTING


def test_the_minutes_to_the_next_try_are_whole_when_the_log_is_late() -> None:
    clock = Clock()
    for _ in range(MAX_DEATHS - 1):
        clock.dies()
        clock.passes(WINDOW / (MAX_DEATHS - 1))
    clock.dies()
    clock.now += 0.002
    assert clock.role.outlook == "; the next try is in 1 min"


@pytest.mark.parametrize("role", ["worker", "front"])
def test_a_process_that_dies_after_each_piece_of_work_is_started_again_at_once_for_ever(role: str) -> None:
    house = House()
    house.up()
    for _ in range(20 * MAX_DEATHS):
        child = house.newest(role)
        house.lifecycle.message(child, ChildProgress())
        house.dies(child)
        house.passes(0.05)
        assert house.newest(role) is not child, "no wait"
        if role == "worker":
            house.ready(house.newest(role))
        else:
            house.lifecycle.message(house.newest(role), Started())
    front, worker = house.newest("front"), house.newest("worker")
    assert front.heard_of(Connect)[-1].generation == worker.generation
    assert front.situation.worker_state == "running"
    assert house.listening and house.lifecycle.exit_code is None


@pytest.mark.parametrize(("role", "kills", "seconds"), [("worker", 20, 10.0), ("front", 6, 12.0)])
def test_kills_before_anything_was_done_are_no_crash_loop_within_a_few_seconds(
    role: str, kills: int, seconds: float
) -> None:
    house = House(standby="imported")
    house.up()
    for _ in range(kills):
        alive = [child for child in house.all(role) if not child.reaped]
        if alive:  # else the next one waits for its start
            house.dies(alive[0])
        house.passes(seconds / kills)
    house.passes(5.0)
    if role == "front":
        house.lifecycle.message(house.newest("front"), Started())
    else:
        loading = [child for child in house.all("worker") if not child.reaped and child.heard]
        house.ready(loading[0])
    told = house.newest("front").situation
    assert told.worker_state == "running" and house.listening and house.lifecycle.exit_code is None


def test_a_worker_that_served_for_the_whole_window_without_being_asked_dies_as_after_progress(house: House) -> None:
    _, worker = house.up()
    for _ in range(2 * MAX_DEATHS):
        house.passes(WINDOW)
        worker = house.reborn(worker, 0.05)
        house.ready(worker)
    assert not worker.reaped


def test_what_a_dead_process_did_says_nothing_of_the_next(house: House) -> None:
    front, worker = house.up()
    house.lifecycle.message(worker, ChildProgress())
    house.dies(worker)
    for _ in range(MAX_DEATHS):
        house.passes(WINDOW / (MAX_DEATHS - 1))
        house.dies(house.newest("worker"))
    assert front.situation.worker_state == "fatal"


MINUTES = [1.0, 2.0, 5.0, 10.0, 10.0, 10.0, 10.0]
"""Waits before the tries, as the documents promise them."""


class Patient:
    """A server one of whose roles is to fail again and again, while the others are well."""

    def __init__(self, role: str, workers: int = 1) -> None:
        self.role = role
        self.house = House(workers=workers)
        self.front, worker = self.house.up(KOKORO)
        if role == "books":
            self.house.lifecycle.message(self.front, BooksNews("http://a", "key", True))
        elif role == "player":
            self.house.lifecycle.message(self.front, PlayerWanted())
        elif workers > 1:
            worker = self.house.newest("worker")
            self.house.ready(worker, KOKORO)
        self.well = [child for child in self.house.children if child is not self.latest]

    @property
    def latest(self) -> FakeChild:
        """The role's last process; of several workers, the last slot's."""
        slot = max((child.load.slot for child in self.house.children if child.load), default=0)
        return [child for child in self.house.all(self.role) if child.load is None or child.load.slot == slot][-1]

    def serves(self) -> None:
        if self.role == "worker":
            self.house.ready(self.latest, KOKORO)
        else:
            self.house.lifecycle.message(self.latest, Started())

    def dies(self) -> None:
        self.house.dies(self.latest)

    def cannot_start(self) -> None:
        if self.role == "worker":
            self.house.lifecycle.message(self.latest, BootFailure("engine", "no memory"))
        self.house.dies(self.latest, 1)

    def given_up(self) -> None:
        """Let it die until it is not started again soon."""
        for _ in range(MAX_DEATHS - 1):
            self.dies()
            self.house.passes(WINDOW / (MAX_DEATHS - 1))
        self.dies()

    def waited(self) -> float:
        """Let time pass until the next process; returns the minutes."""
        before, start = self.latest, self.house.now
        while self.latest is before:
            due = self.house.lifecycle.next_wakeup()
            assert due is not None and due < start + 3600, "it is never tried again"
            self.house.passes(max(due - self.house.now, 0.0))
        return round((self.house.now - start) / 60, 3)

    @property
    def report(self) -> ProcessReport:
        """The last report on the role's slot."""
        return [each for each in self.front.situation.processes if each.role == self.role][-1]


ROLES = [("worker", 1), ("worker", 2), ("books", 1)]


@pytest.mark.parametrize("end", [Patient.dies, Patient.cannot_start])
@pytest.mark.parametrize(("role", "workers"), ROLES)
def test_it_is_tried_after_one_two_five_and_ten_minutes_for_ever(
    role: str, workers: int, end: Callable[[Patient], None]
) -> None:
    patient = Patient(role, workers)
    patient.given_up()
    for minutes in MINUTES:
        assert patient.waited() == minutes
        end(patient)
    assert patient.house.lifecycle.exit_code is None
    assert not any(child.reaped for child in patient.well), "nobody else is concerned"


@pytest.mark.parametrize("workers", [1, 2])
def test_everybody_is_told_when_the_next_try_is(workers: int, caplog: pytest.LogCaptureFixture) -> None:
    patient = Patient("worker", workers)
    for minutes in MINUTES:
        patient.given_up() if minutes == MINUTES[0] else patient.dies()
        assert patient.report.state == "fatal"
        assert patient.report.next_start == pytest.approx(patient.house.now + 60 * minutes)
        assert f"the next try is in {minutes:g} min" in caplog.records[-1].message
        assert patient.waited() == minutes
        assert (patient.report.state, patient.report.next_start) == ("starting", None)
    assert patient.front.situation.restarts["worker"] == MAX_DEATHS - 1 + len(MINUTES), "each try is a restart"


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize(("role", "workers"), ROLES)
def test_a_reload_tries_at_once_and_the_next_failure_waits_a_minute(role: str, workers: int, changed: bool) -> None:
    """A reload without a changed setting, too: the cause was perhaps none of the settings."""
    patient = Patient(role, workers)
    patient.given_up()
    for _ in range(3):
        patient.waited()
        patient.dies()
    before = patient.latest
    patient.house.changes = Changes(front=False, worker=changed)
    patient.house.lifecycle.signal(signal.SIGHUP)
    assert patient.latest is not before
    patient.dies()
    assert patient.waited() == MINUTES[0]


@pytest.mark.parametrize(("role", "workers"), ROLES)
def test_progress_ends_the_crash_loop(role: str, workers: int) -> None:
    patient = Patient(role, workers)
    patient.given_up()
    for _ in range(3):
        patient.waited()
        patient.dies()
    patient.waited()
    patient.serves()
    patient.house.lifecycle.message(patient.latest, ChildProgress())
    patient.dies()
    assert patient.waited() == 0.0
    patient.given_up()
    assert patient.waited() == MINUTES[0], "all is forgotten"


def test_each_role_is_tried_again_or_has_another_way_out() -> None:
    """The front ends the server, whose exit status tells the service manager; the player's texts are refused, and the
    next one is the next try; errands have waits of their own (`test_clients`)."""
    tried, told = {role for role, _ in ROLES}, Patient("worker").front.situation.restarts.keys()
    assert told == tried | {"front", "player"}
    front = Patient("front")
    front.given_up()
    for child in [child for child in front.house.children if not child.reaped]:
        front.house.dies(child, 0)
    assert front.house.lifecycle.exit_code is ExitCode.CRASH_LOOP
    player = Patient("player")
    player.given_up()
    player.house.passes(2 * 3600.0)
    assert player.latest.reaped and player.front.situation.player_reason
    player.house.lifecycle.message(player.front, PlayerWanted())
    assert not player.latest.reaped


def test_a_worker_that_never_spoke_is_tried_again_too(house: House) -> None:
    """Memory may have been short while the machine started."""
    house.lifecycle.start()
    house.lifecycle.message(house.newest("front"), Started())
    for _ in range(MAX_DEATHS):
        house.dies(house.newest("worker"))
        house.passes(6.0)
    assert house.newest("worker").reaped
    for minutes in itertools.islice(itertools.cycle(MINUTES), 3):
        house.passes(60 * minutes)
        house.dies(house.newest("worker"))
    house.passes(60 * MINUTES[3])
    house.ready(house.newest("worker"), KOKORO)
    assert house.newest("front").situation.worker_state == "running"

"""Roles that keep dying or can't start: each is tried again after minutes, for ever, or has another way out."""

import itertools
import signal
from collections.abc import Callable

import pytest

from shm.messages import BooksNews, BootFailure, ChildProgress, PlayerWanted, Started
from shm.situation import ProcessReport
from supervisor.processes.lifecycle import Changes
from supervisor.processes.standing import ExitCode
from supervisor.settings.supervisor import SupervisorSettings
from tests.supervisor.fakes import KOKORO, FakeChild, House

MAX_DEATHS = SupervisorSettings().max_deaths
WINDOW = SupervisorSettings().death_window
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
    next one is the next try; errands have waits of their own (`test_errands`)."""
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


def test_a_worker_that_never_spoke_is_tried_again_too() -> None:
    """Memory may have been short while the machine started."""
    house = House()
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

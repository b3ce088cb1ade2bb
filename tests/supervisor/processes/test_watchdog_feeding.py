"""When the service manager's watchdog is fed, on a clock that stands still until it is moved."""

from __future__ import annotations

from collections.abc import Callable

from supervisor.processes.timers import Timers
from supervisor.processes.watchdog import WatchdogFeed

LIMIT = 30.0


class Yard:
    """A watchdog, a front that answers when told to, and a clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.fed: list[float] = []
        self.asked: list[Callable[[], None]] = []
        self.answers = True
        self.timers = Timers(lambda: self.now)
        self.watchdog = WatchdogFeed(LIMIT, self.timers, self, lambda: self.fed.append(self.now - 100))

    def ask(self, answered: Callable[[], None]) -> None:
        self.asked.append(answered)
        if self.answers:
            answered()

    def passes(self, seconds: float) -> None:
        end = self.now + seconds
        while (due := self.timers.next) is not None and due <= end:
            self.now = due
            self.timers.run_due()
        self.now = end


def test_it_is_fed_at_half_the_limit_while_the_front_answers() -> None:
    yard = Yard()
    yard.watchdog.start()
    yard.passes(60)
    assert yard.fed == [0, 15, 30, 45, 60]


def test_it_starves_while_the_front_hangs_and_is_fed_as_soon_as_it_answers() -> None:
    yard = Yard()
    yard.watchdog.start()
    yard.answers = False
    yard.passes(40)
    assert yard.fed == [0]
    yard.asked[-1]()
    assert yard.fed == [0, 40]


def test_while_draining_nobody_is_asked_and_it_is_fed() -> None:
    yard = Yard()
    yard.watchdog.start()
    yard.watchdog.draining()
    asked = len(yard.asked)
    yard.passes(30)
    assert yard.fed == [0, 15, 30]
    assert len(yard.asked) == asked


def test_it_is_not_fed_before_it_is_started() -> None:
    yard = Yard()
    yard.passes(60)
    assert not yard.fed

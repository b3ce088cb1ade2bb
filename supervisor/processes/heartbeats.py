"""Heartbeats: they tell a process that hangs (stopped, in an endless loop, waiting for ever) from a busy one.

At each look a process with an event loop is sent a `Heartbeat`, which it sends back at once. A process that has not
started to handle messages yet can't do that, but it uses the processor or the disk. A silent process hangs if it has
used no processor time for a while, though a processor was to be had; if it has used much and still hasn't answered; or
if it is silent for very long. The time in which the supervisor itself didn't run never counts.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from shm.messages import Heartbeat
from supervisor.processes.children import Activity, Incarnation
from supervisor.processes.roles import ROLES
from supervisor.processes.timers import LATE, Timers

log = logging.getLogger(__name__)

INTERVAL = 4.0
"""Seconds between two looks. A hang is noticed after three of them at the latest."""

PATIENCE = 8.0
"""Seconds of silence after which a process may be judged to hang, by its processor time in the second half of them."""

STILL = 0.002
"""Share of one processor up to which a process counts as not running."""

LOOPS = 1.0
"""Processor seconds from which a silent process is in an endless loop: an answer takes a thousandth of them."""

LONGEST = 120.0
"""Seconds of silence after which a process hangs, however little of the processor it was given."""


@dataclass(slots=True)
class _Silence:
    """The time for which an answer, or a start, is waited for."""

    since: float
    first: tuple[float, Activity] | None = None
    """The first measurement of the silent process, with its time."""
    latest: tuple[float, Activity] | None = None
    condemned: bool = False


def _watched(child: Incarnation) -> bool:
    row = ROLES[child.role]
    return row.answers or not (child.attentive or row.errand)


class Heartbeats:
    """Looks at all processes every few seconds, and condemns those that hang."""

    def __init__(
        self,
        timers: Timers,
        children: Callable[[], Iterable[Incarnation]],
        condemn: Callable[[Incarnation, str], None],
        answers: Callable[[], None],
        *,
        limit: float,
        longest_start: float,
    ) -> None:
        """
        Args:
            children: gives the processes that run and weren't asked to end.
            condemn: called with a process that hangs, and the reason.
            answers: called at each look at which no front is silent.
            limit: seconds within which `answers` is expected to be called again.
            longest_start: seconds that a process may take to handle its first message.
        """
        self._timers = timers
        self._children = children
        self._condemn = condemn
        self._answers = answers
        self._interval = min(INTERVAL, limit / 2)
        self._longest_start = longest_start
        self._silences: dict[Incarnation, _Silence] = {}
        self._lost = timers.lost
        timers.after(self._interval, self._look)

    def heard(self, child: Incarnation) -> None:
        """Note the answer to a heartbeat, or that the process handles messages now."""
        if (silence := self._silences.get(child)) and not silence.condemned:
            del self._silences[child]

    def _look(self) -> None:
        self._timers.after(self._interval, self._look)
        children = [child for child in self._children() if _watched(child)]
        self._silences = {child: silence for child, silence in self._silences.items() if child in children}
        if self._timers.lost != self._lost:
            self._lost = self._timers.lost
            for each in self._silences.values():  # their answers may be on their way
                each.since, each.first, each.latest = self._timers.awake, None, None
        if not any(child.role == "front" and child.attentive for child in self._silences):
            self._answers()
        for child in children:
            if silence := self._silences.get(child):
                self._judge(child, silence)
            else:
                self._silences[child] = _Silence(self._timers.awake)
                if child.attentive:
                    child.send(Heartbeat())

    def _judge(self, child: Incarnation, silence: _Silence) -> None:
        now = self._timers.awake
        silent = now - silence.since
        if silence.condemned or silent < PATIENCE / 2 - LATE / 2:
            return
        if silence.latest and now - silence.latest[0] < PATIENCE / 2 - LATE / 2:
            return
        found = child.activity()
        if silence.first and silence.latest and found:
            used, looped = found.seconds - silence.latest[1].seconds, found.seconds - silence.first[1].seconds >= LOOPS
            still = used < STILL * (now - silence.latest[0]) and not found.waits
            if still or (looped and child.attentive):
                self._ends(child, silence, silent)
                return
        elif found and child.attentive:
            log.warning("%s[%d] hasn't answered for %.0f s", child.role, child.generation, silent)
        if silent >= (LONGEST if child.attentive else self._longest_start):
            self._ends(child, silence, silent)
        elif found:
            silence.first, silence.latest = silence.first or (now, found), (now, found)

    def _ends(self, child: Incarnation, silence: _Silence, silent: float) -> None:
        silence.condemned = True
        what = "answered" if child.attentive else "come up"
        self._condemn(child, f"it hangs: it hasn't {what} for {silent:.0f} s")

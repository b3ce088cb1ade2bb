"""Tells if one more stream can be served in time, and if not, when it could be.

Each stream wants its audio made before its listener's buffer runs dry, and then wants a second of audio each second.
With the nearest deadline first, a newcomer harms no stream whose deadlines are nearer, and all deadlines are met
if at no time more work has been due than the engine could have done by then (the processor demand criterion: Baruah,
Rosier and Howell, "Algorithms and complexity concerning the preemptive scheduling of periodic, real-time tasks on one
processor", 1990). Pure: the clock is an argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

MARGIN = 0.95
"""The share of the measured speed that may be promised."""

_NEAREST = 1.0
_STEP = 1.5
_SOONEST = 0.25


@dataclass(frozen=True, slots=True)
class Demand:
    """The audio that one stream still wants made. Times are in monotonic seconds."""

    dry_at: float
    """Time at which the stream's listener has heard all samples that are made."""
    seconds: float
    """Seconds of audio that isn't made yet."""
    work: float
    """Seconds of work of one inference thread for a second of audio, with all threads busy."""
    block: float = 0.0
    """Seconds of audio that must be whole at `dry_at`: the next segment, if its engine has no windows."""
    upfront: float = 0.0
    """Seconds of work of one inference thread that must be done for the segment, before `block`: its prosody. `work`
    has this work too, but spread over the segment's audio."""

    def due(self, time: float) -> float:
        """The work that is due by the given time, in seconds of one inference thread."""
        if time < self.dry_at:
            return 0.0
        return min(self.upfront + (time - self.dry_at + self.block) * self.work, self.seconds * self.work)

    @property
    def end(self) -> float:
        """The time after which the stream wants nothing more."""
        ahead = self.block + (self.upfront / self.work if self.upfront else 0.0)
        return self.dry_at + max(self.seconds - ahead, 0.0)


def fits(now: float, others: Sequence[Demand], newcomer: Demand, threads: float) -> bool:
    """True if the newcomer is served in time, and so is every stream whose deadlines are later than the newcomer's.

    Args:
        threads: all workers together, in inference threads of the kind that `Demand.work` speaks of.
    """
    demands = [*others, newcomer]
    times = {newcomer.dry_at, *(each.dry_at for each in others), *(each.end for each in demands)}
    return all(
        sum(each.due(time) for each in demands) <= MARGIN * threads * (time - now)
        for time in times
        if time >= newcomer.dry_at
    )


def load(now: float, demands: Sequence[Demand], threads: float) -> float:
    """The share of the possible work that is due: 1 if no more work could be done in time.

    The largest value over all times from `now` + `_NEAREST` on, as in the processor demand criterion; nearer times say
    more about a single window than about the machine.
    """
    times = {max(time, now + _NEAREST) for each in demands for time in (each.dry_at, each.end)}
    return max((sum(each.due(time) for each in demands) / (threads * (time - now)) for time in times), default=0.0)


def wait_for_room(now: float, others: Sequence[Demand], newcomer: Demand, threads: float) -> float:
    """Seconds after which the newcomer would fit if no other stream comes: 0 if it fits now.

    The result is exact to a factor of `_STEP`, and never earlier than the newcomer fits.
    """
    if not others or fits(now, others, newcomer, threads):
        return 0.0
    wait = _SOONEST
    while not fits(now, others, replace(newcomer, dry_at=newcomer.dry_at + wait), threads):
        wait *= _STEP
        if wait > 86_400:  # the newcomer never fits: the machine is slower than speech
            return max(_SOONEST, max(each.end for each in others) - now)
    return wait

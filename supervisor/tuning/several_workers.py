"""One worker or several: two real servers are asked in turn, and more than one is chosen only for a measured gain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, fields
from statistics import median
from typing import Protocol

from supervisor.processes.supply import ACCELERATORS
from supervisor.tuning.candidates import Changes
from supervisor.tuning.effort import BETTER
from supervisor.tuning.listening import Figures
from supervisor.tuning.profile_file import Attempt
from supervisor.tuning.servers import ServerFailed
from supervisor.tuning.trials import Trials, named

STAGE = "workers"

SEVERAL = 2
"""Workers beside which one is put."""

LOSS = 0.95
"""The ratio below which something has become worse."""

BESIDE_WORKERS = 250_000_000
"""Bytes of memory that a server takes beside its workers, at most."""


@dataclass(frozen=True, slots=True)
class Ratios:
    """A server with several workers against one with one. More than 1 is better."""

    first: float
    """Time to first audio of a lone text, its silences at their price."""
    real_time: float
    """Its audio per second."""
    first_together: float
    """Time to first audio with a crowd of listeners."""
    gapless: float
    """How many of them were taken at once and heard no gap; none counts as half a listener."""
    together: float
    """Audio per second, of all of them."""


GAINS = {
    "first": "first audio of a lone text",
    "first_together": "first audio with several listeners",
    "gapless": "listeners without a gap",
}
"""Of these ratios one must have gained, in every pair."""

NO_LOSSES = GAINS | {"together": "speed with several listeners"}
"""None of these may have lost. Nobody waits for the end of a lone text, unless it has silences."""


class Server(Protocol):
    """One that speaks, with all its workers."""

    def measure(self) -> Figures:
        """
        Raises:
            ServerFailed: it doesn't speak, or a worker of it crashed.
        """
        ...

    def memory(self) -> int:
        """Bytes of all its workers.

        Raises:
            ServerFailed: one is gone.
        """
        ...


Costs = dict[str, dict[str, float]]
"""By engine: see `frontend.planning.stored`."""

Start = Callable[[Changes, Costs, int], AbstractContextManager[Server]]
"""A server with those changes, whose plans begin with those costs, and with so many workers; it ends with the block.
Raises `ServerFailed`."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where servers may be measured."""

    start: Start
    cores: int
    """That a server's workers may use."""
    available: Callable[[], int]
    """Bytes of memory that nobody uses."""


def compare(several: Figures, one: Figures) -> Ratios:
    """Of one pair."""
    return Ratios(
        first=one.first / several.first,
        real_time=several.real_time / one.real_time,
        first_together=one.first_together / several.first_together,
        gapless=max(several.gapless, 0.5) / max(one.gapless, 0.5),
        together=several.together / one.together,
    )


def middle(pairs: Sequence[Ratios]) -> Ratios:
    """The medians."""
    return Ratios(*(median(getattr(each, field.name) for each in pairs) for field in fields(Ratios)))


def gained(pairs: Sequence[Ratios]) -> list[str]:
    """Which of `GAINS` are better by enough, and better in each pair."""
    best = middle(pairs)
    return [name for name in GAINS if getattr(best, name) >= BETTER and min(getattr(each, name) for each in pairs) > 1]


def lost(pairs: Sequence[Ratios]) -> list[str]:
    """Which of `NO_LOSSES` are worse."""
    best = middle(pairs)
    return [name for name in NO_LOSSES if getattr(best, name) < LOSS]


def judge(place: Place, trials: Trials, changes: Changes, pairs: int) -> str:
    """Compare, and keep as an attempt what came of it.

    Args:
        trials: that were made of one worker; these changes among them.
        changes: against the settings as they are, which both servers have.
        pairs: of measurements.

    Returns:
        What several workers gain, as a part of a sentence; empty if one is to stay.
    """
    several: Changes = {"workers": SEVERAL}
    if place.cores < SEVERAL and trials.provider(changes) not in ACCELERATORS:
        return ""
    needed = (1 + SEVERAL) * trials.memory(changes) + 2 * BESIDE_WORKERS
    if needed > (free := place.available()):
        said = f"left out: both servers need {needed / 1e9:.1f} GB of memory, and {free / 1e9:.1f} are free"
        trials.failed(STAGE, several, said)
        return ""
    try:
        one, more, memory = _measure(place, trials, changes, pairs)
    except ServerFailed as error:
        trials.failed(STAGE, several, str(error))
        return ""
    ratios = [compare(*pair) for pair in zip(more, one, strict=True)]
    best, gains, losses = middle(ratios), gained(ratios), lost(ratios)
    remark = (
        f"{more[0].crowd} listeners: first audio {best.first_together:.2f}, without a gap "
        f"{median(each.gapless for each in more):g}, with one worker {median(each.gapless for each in one):g}"
    )
    if not gains:
        remark += f"; no gain of {BETTER - 1:.0%} that each pair shows"
    elif losses:
        remark += f"; loses {', '.join(f'{NO_LOSSES[name]} {getattr(best, name):.2f}' for name in losses)}"
    too_large = trials.too_large(memory)
    trials.keep(
        Attempt(
            stage=STAGE,
            tried=named(several),
            first=best.first,
            real_time=best.real_time,
            together=best.together,
            memory=memory,
            first_together=best.first_together,
            gapless=best.gapless,
            note=f"{remark}; {too_large}" if too_large else remark,
        )
    )
    if not gains or losses or too_large:
        return ""
    return ", ".join(f"{GAINS[name]} {getattr(best, name) - 1:.1%} better" for name in gains)


def _measure(place: Place, trials: Trials, changes: Changes, pairs: int) -> tuple[list[Figures], list[Figures], float]:
    """The one worker's figures, the several's, and their memory as a multiple of the one's."""
    costs = trials.costs(changes)
    servers: dict[int, Server] = {}
    found: dict[int, list[Figures]] = {1: [], SEVERAL: []}
    with ExitStack() as stack:
        for count in found:
            trials.say(f"starting a server, workers {count}")
            with _told_of(count):
                servers[count] = stack.enter_context(place.start(changes, costs, count))
        for number in range(1 + pairs):
            trials.say(f"servers: workers 1 and {SEVERAL}, pair {number}" if number else "servers: settling")
            # What comes second finds another machine than what came first: they take turns in that.
            for count in (1, SEVERAL) if number % 2 else (SEVERAL, 1):
                with _told_of(count):
                    figures = servers[count].measure()
                if number:  # until then costs are learned, and memory grows
                    found[count].append(figures)
            trials.count()
        memory = {}
        for count, server in servers.items():
            with _told_of(count):
                memory[count] = server.memory()
    return found[1], found[SEVERAL], memory[SEVERAL] / memory[1]


@contextmanager
def _told_of(workers: int) -> Iterator[None]:
    try:
        yield
    except ServerFailed as error:
        raise ServerFailed(f"the server with workers {workers}: {error}") from error

"""The forms of `python -m benchmarks.chaos`: which process is killed where, and what is counted of it."""

from __future__ import annotations

import random
import re
import statistics
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shm.killpoint import VARIABLE
from tests.chaos.evidence import Kill, keep, tally
from tests.chaos.kill_points import FLAGS, FRONT, WORKER, Victim
from tests.chaos.listeners import Crowd, Heard
from tests.chaos.loops import kill, kill_again_and_again, kill_both, kill_supervisor, stop_worker
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.server import Server, server

Found = dict[str, Any]
"""One form's figures, by name."""

POINTS = {"worker-points": WORKER, "front-points": FRONT}
"""The places of each form of kill points."""

SEALED_BEFORE = 0.02
"""Seconds after a kill in which a listener may still get what was sealed before it."""


@dataclass(frozen=True)
class Setup:
    """Settings that all forms of one run share."""

    model: tuple[str, ...]
    """Flags that name the model."""
    listeners: int
    seed: int
    judged: bool = True
    """Recovery times have limits."""
    points: tuple[str, ...] = ()
    """Kill points to which a form of kill points is limited; empty: all."""


@dataclass(frozen=True)
class Kind:
    """One kind of kill: its victim, the server's flags, and the ends that streams may have."""

    strike: Callable[[Server, random.Random], list[Kill]]
    flags: tuple[str, ...] = ()
    may_cut: bool = False
    recovery: float | None = None
    """Promised seconds, beyond the model's load."""


def kill_worker(to: Server, _: random.Random) -> list[Kill]:
    return [kill(to, "worker")]


KINDS = {
    "worker-cold": Kind(kill_worker, ("--standby", "off"), recovery=0.6),
    "worker-imported": Kind(kill_worker, ("--standby", "imported"), recovery=0.2),
    "worker-loaded": Kind(kill_worker, ("--standby", "loaded"), recovery=0.1),
    "front": Kind(lambda to, _: [kill(to, "front")], may_cut=True),
    "both": Kind(kill_both, may_cut=True),
}


def percentile(values: Sequence[float], share: float) -> float | None:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else None


def stalls(histories: Sequence[Heard], kills: Sequence[Kill]) -> tuple[list[float], list[float]]:
    """Recovery of each kill, and the wait of each listener at each kill, in seconds."""
    recoveries, waits = [], []
    for one in kills:
        sealed = one.at + SEALED_BEFORE
        struck = [heard for heard in histories if heard.started < one.at < heard.ended]
        waiting = [heard for heard in struck if heard.pieces and heard.pieces[-1][0] > sealed]
        if after := [next(at for at, _ in heard.pieces if at > sealed) - one.at for heard in waiting]:
            recoveries.append(min(after))
            waits += after
    return recoveries, waits


def load_seconds(log: Sequence[str]) -> float:
    """Median seconds that a worker took to load, read from the log."""
    found = [re.search(r"is ready after ([\d.]+) s", line) for line in log]
    return statistics.median(float(match[1]) for match in found if match)


def run_kind(kind: Kind, kills: int, setup: Setup) -> Found:
    """A server, a crowd, and so many kills."""
    rng = random.Random(setup.seed)
    done: list[Kill] = []
    with server(*setup.model, *kind.flags) as target:
        warm_up(target)
        before = settled(target)
        crowd = Crowd(target, setup.listeners, setup.seed)

        def strike() -> list[Kill]:
            tell(len(done), kills, list(crowd.heard))
            return kind.strike(target, rng)

        stuck: list[str] = []
        try:
            kill_again_and_again(crowd, kills, rng, strike, done)
        except AssertionError as error:  # told with the figures and the histories
            stuck.append(str(error))
        finally:
            histories = crowd.leave()
        unchanged = comes_back_to(before, target) == before
        load = load_seconds(target.log)
    judged = kind if setup.judged else replace(kind, recovery=None)
    found = figures(judged, done, histories, load) | {"residue": "none" if unchanged else "CHANGED"}
    if stuck:
        found["broken"] = [*found["broken"], *stuck]
        found |= kept(stuck, histories, done)
    return found


def figures(kind: Kind, kills: Sequence[Kill], histories: Sequence[Heard], load: float) -> dict[str, Any]:
    counts = tally(histories)
    recoveries, waits = stalls(histories, kills)
    found: dict[str, Any] = {
        "kills": len(kills),
        **counts,
        "load_s": load,
        "recovery_p50_s": percentile(recoveries, 0.5),
        "recovery_p99_s": percentile(recoveries, 0.99),
        "stall_p50_s": percentile(waits, 0.5),
        "stall_p99_s": percentile(waits, 0.99),
    }
    broken = broken_promises(counts, kind.may_cut)
    loads = 0.0 if "loaded" in kind.flags else load
    if kind.recovery is not None and recoveries and found["recovery_p50_s"] > kind.recovery + loads:
        broken.append(f"recovery within {kind.recovery:g} s plus load")
    return found | {"broken": broken} | kept(broken, histories, kills)


def run_supervisor(kills: int, setup: Setup) -> Found:
    """A new server for each kill; `kill_supervisor` checks that nothing is left."""
    rng = random.Random(setup.seed)
    told: list[Heard] = []
    for number in range(kills):
        tell(number, kills, told)
        with server(*setup.model) as target:
            crowd = Crowd(target, setup.listeners, setup.seed + number)
            try:
                kill_supervisor(target, crowd, rng)
            finally:
                histories = crowd.leave()
        told += [heard for heard in histories if heard.ending != "refused"]
    counts = tally(told)
    return {"kills": kills, **counts, "residue": "none", "broken": broken_promises(counts, may_cut=True)}


def run_points(role: str, times: int, setup: Setup) -> Found:
    """Each kill point of that role so many times, under two streams; after a front's death one more, whole, stream."""
    victims: list[Victim] = []
    places = places_of(role, setup.points)
    broken: list[str] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        server(*setup.model, *FLAGS, environment={VARIABLE: folder}) as target,
    ):
        warm_up(target)
        before = settled(target)
        worker = target.child("worker[")
        for number, (place, passages) in enumerate(places.items()):
            victims.append(Victim(target, Path(folder), role, place, passages, setup.seed))
            broken += kill_at(victims[-1], times)
            tell_heard(f"{place}, {number + 1} of {len(places)} places", victims[-1].histories)
        if role == "front" and target.child("worker[") != worker:
            broken.append("the worker lost its model")
        unchanged = comes_back_to(before, target) == before
    histories = [heard for victim in victims for heard in victim.histories]
    kills = [one for victim in victims for one in victim.kills]
    counts = tally(histories)
    broken += broken_promises(counts, may_cut=role == "front")
    found = {"kills": len(kills), **counts, "residue": "none" if unchanged else "CHANGED", "broken": broken}
    return found | kept(broken, histories, kills)


def places_of(role: str, wanted: Collection[str]) -> dict[str, int]:
    """The role's kill points with their passages: the wanted ones, or all if none is named."""
    return {place: passages for place, passages in POINTS[f"{role}-points"].items() if not wanted or place in wanted}


def kill_at(victim: Victim, times: int) -> list[str]:
    """Kill the victim so many times at its place; the promises that it breaks."""
    broken: list[str] = []
    for _ in range(times):
        try:
            struck = victim.hear_two()
        except AssertionError as error:  # told with the figures and the histories
            return [*broken, str(error)]
        if victim.role == "front":
            broken += [f"{victim.place}: a stream after the kill is not whole"] * (not victim.hear_one().complete)
            broken += [f"{victim.place}: no stream was struck"] * (not any(heard.visibly_cut for heard in struck))
        tell(len(victim.kills), times, victim.histories)
    return broken


def run_stopped(stops: int, setup: Setup) -> Found:
    """A worker that is stopped, not killed, under the same crowd."""
    rng = random.Random(setup.seed)
    done: list[Kill] = []
    with server(*setup.model, "--hang-patience", "0.5") as target:
        warm_up(target)
        before = settled(target)
        crowd = Crowd(target, setup.listeners, setup.seed)
        try:
            for number in range(stops):
                tell(number, stops, list(crowd.heard))
                heard = len(crowd.heard)
                if not crowd.wait_for(lambda: len(crowd.heard) > heard + 2 * setup.listeners):  # noqa: B023
                    break
                if not crowd.going:
                    break
                done.append(stop_worker(target, rng))
        finally:
            histories = crowd.leave()
        unchanged = comes_back_to(before, target) == before
    counts = tally(histories)
    broken = broken_promises(counts, may_cut=False)
    found = {"kills": len(done), **counts, "residue": "none" if unchanged else "CHANGED", "broken": broken}
    return found | kept(broken, histories, done)


def broken_promises(counts: dict[str, int], may_cut: bool) -> list[str]:
    """Numbers of streams by forbidden fate."""
    wrong = ["wrong", "silently_short", "failed"] + ([] if may_cut else ["cut"])
    return [f"{counts[name]} streams {name}" for name in wrong if counts[name]]


def kept(broken: Sequence[str], histories: Sequence[Heard], kills: Sequence[Kill]) -> Found:
    """The file with all histories, if a promise was broken."""
    if not broken:
        return {}
    return {"histories": str(keep(histories, kills, Path(tempfile.mkdtemp(prefix="chaos-")), 0))}


def tell(done: int, of: int, histories: Iterable[Heard]) -> None:
    """Progress every tenth, with what was heard so far."""
    if done and done % max(of // 10, 1) == 0:
        tell_heard(f"{done} of {of}", histories)


def tell_heard(of: str, histories: Iterable[Heard]) -> None:
    """The fates of the streams, on standard error, so that a run that is stopped has said what it knew."""
    ended = [heard for heard in histories if heard.ended]
    counts = ", ".join(f"{count} {name}" for name, count in tally(ended).items())
    print(f"{of}: {counts}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Form:
    """A form by name: its share of `--kills`, and how it is run."""

    share: float
    run: Callable[[int, Setup], Found]


def kinds() -> Iterator[tuple[str, Form]]:
    for name, kind in KINDS.items():
        share = {"front": 0.3, "both": 0.1}.get(name, 1.0)
        yield name, Form(share, lambda count, setup, kind=kind: run_kind(kind, count, setup))  # type: ignore[misc]


FORMS = dict(kinds()) | {
    "supervisor": Form(0.1, run_supervisor),
    "worker-points": Form(0.1, lambda count, setup: run_points("worker", count, setup)),
    "front-points": Form(0.1, lambda count, setup: run_points("front", count, setup)),
    "worker-stopped": Form(0.05, run_stopped),
}
"""Forms of the kill loop by name, in the order in which they run."""

"""Kills processes of a real server under load, over and over: what listeners heard, and how long they waited.

    python -m benchmarks.chaos [--kills 1000] [--kinds worker-cold,front,...] [--listeners 8] [--seed 1] [--json FILE]

The model is the miniature, whose every sample says where it belongs. `recovery` is from a kill to the first sample that
any listener gets of what was made after it; `stall` is from a kill to the next sample of each listener who was waiting.
Exits 1 if a promise is broken: a wrong sample, an error to a client whose worker died, an end that isn't visible, or a
median recovery of more than 600 ms (no standby), 200 ms (standby), 200 ms (standby that has loaded), each plus
the model's load where that is still to be done.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.evidence import Kill, keep, tally
from tests.chaos.listeners import Crowd, Heard
from tests.chaos.loops import kill, kill_again_and_again, kill_both, kill_supervisor
from tests.chaos.residue import comes_back_to, settled, warm_up
from tests.system.oracle import miniature_arguments
from tests.system.server import Server, server

SEALED_BEFORE = 0.02
"""Seconds after a kill in which a listener may still get what was sealed before it."""


@dataclass(frozen=True)
class Kind:
    """One kind of kill: its victim, the server's flags, its share of `--kills`, and the ends that streams may have."""

    strike: Callable[[Server, random.Random], list[Kill]]
    flags: tuple[str, ...] = ()
    share: float = 1.0
    may_cut: bool = False
    recovery: float | None = None
    """Promised seconds, beyond the model's load."""


def kill_worker(to: Server, _: random.Random) -> list[Kill]:
    return [kill(to, "worker")]


KINDS = {
    "worker-cold": Kind(kill_worker, ("--standby", "off"), recovery=0.6),
    "worker-imported": Kind(kill_worker, ("--standby", "imported"), recovery=0.2),
    "worker-loaded": Kind(kill_worker, ("--standby", "loaded"), recovery=0.2),
    "front": Kind(lambda to, _: [kill(to, "front")], share=0.3, may_cut=True),
    "both": Kind(kill_both, share=0.3, may_cut=True),
}
SUPERVISOR_SHARE = 0.1


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


def run_kind(kind: Kind, kills: int, listeners: int, seed: int, model: tuple[str, ...]) -> dict[str, Any]:
    """A server, a crowd, and so many kills."""
    rng = random.Random(seed)
    done: list[Kill] = []
    with server(*model, *kind.flags) as target:
        warm_up(target)
        before = settled(target)
        crowd = Crowd(target, listeners, seed)
        try:
            kill_again_and_again(crowd, kills, rng, lambda: kind.strike(target, rng), done)
        finally:
            histories = crowd.leave()
        unchanged = comes_back_to(before, target) == before
        load = load_seconds(target.log)
    return figures(kind, done, histories, load) | {"residue": "none" if unchanged else "CHANGED"} | {"seed": seed}


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
    wrong = ["wrong", "silently_short", "failed"] + ([] if kind.may_cut else ["cut"])
    broken = [f"{counts[name]} streams {name}" for name in wrong if counts[name]]
    loads = 0.0 if "loaded" in kind.flags else load
    if kind.recovery is not None and recoveries and found["recovery_p50_s"] > kind.recovery + loads:
        broken.append(f"recovery within {kind.recovery:g} s plus load")
    if broken:
        found["histories"] = str(keep(histories, kills, Path(tempfile.mkdtemp(prefix="chaos-")), 0))
    return found | {"broken": broken}


def run_supervisor(kills: int, listeners: int, seed: int, model: tuple[str, ...]) -> dict[str, Any]:
    """A new server for each kill; `kill_supervisor` checks that nothing is left."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    for number in range(kills):
        with server(*model) as target:
            crowd = Crowd(target, listeners, seed + number)
            try:
                kill_supervisor(target, crowd, rng)
            finally:
                histories = crowd.leave()
        counts.update(tally(heard for heard in histories if heard.ending != "refused"))
    broken = [f"{counts[name]} streams {name}" for name in ("wrong", "silently_short", "failed") if counts[name]]
    return {"kills": kills, **counts, "residue": "none", "broken": broken, "seed": seed}


COLUMNS = ("kills", "streams", "wrong", "silently_short", "failed", "cut")
TIMES = ("recovery_p50_s", "recovery_p99_s", "stall_p50_s", "stall_p99_s", "load_s")


def table(results: dict[str, dict[str, Any]]) -> None:
    print(f"{'kind':16}" + "".join(f"{name:>15}" for name in COLUMNS + TIMES) + "  residue")
    for name, found in results.items():
        cells = [str(found[column]) for column in COLUMNS]
        cells += ["-" if found.get(column) is None else f"{found[column]:.3f}" for column in TIMES]
        print(f"{name:16}" + "".join(f"{cell:>15}" for cell in cells) + f"  {found['residue']}")


def main() -> int:
    names = [*KINDS, "supervisor"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=1000, help="of the worker; fewer of the others")
    parser.add_argument("--kinds", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--listeners", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        model = miniature_arguments(Path(folder), cost=1)
        for name in arguments.kinds.split(","):
            if name == "supervisor":
                count = max(int(arguments.kills * SUPERVISOR_SHARE), 1)
                results[name] = run_supervisor(count, arguments.listeners, arguments.seed, model)
            else:
                count = max(int(arguments.kills * KINDS[name].share), 1)
                results[name] = run_kind(KINDS[name], count, arguments.listeners, arguments.seed, model)
    table(results)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2))
    broken = [f"{name}: {promise}" for name, found in results.items() for promise in found["broken"]]
    broken += [f"{name}: something is left behind" for name, found in results.items() if found["residue"] != "none"]
    for promise in broken:
        print(f"BROKEN: {promise}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

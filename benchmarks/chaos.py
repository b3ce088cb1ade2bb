"""Kills processes of a real server under load, over and over: what listeners heard, and how long they waited.

    python -m benchmarks.chaos [--kills 1000] [--kinds worker-cold,front,...] [--points parsed,sealed,...] [--add]
        [--listeners 8] [--no-verdict] [--json F]

The model is the miniature, whose every sample says where it belongs. `--kills 1000` is the long form: 1,000 kills of a
worker for each kind of standby, 300 of the front, 100 of both at once, 100 of the supervisor, 100 at each kill point
of worker and front, 50 workers stopped; a smaller number is a smaller share of each. `--points` and `--add` run the
kill points in parts: `--add` adds the counts to those that the file of `--json` has. `recovery` is from a kill to the
first sample that any listener gets of what was made after it; `stall` is from a kill to the next sample of each
listener who was waiting. Exits 1 if a promise is broken: a wrong sample, an error to a client whose worker died, an end
that isn't visible, something left behind, or a median recovery of more than 600 ms (no standby), 200 ms (standby),
100 ms (standby that has loaded), each plus the model's load where that is still to be done.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.chaos_forms import FORMS, POINTS, Found, Setup
from tests.system.oracle import miniature_arguments

COLUMNS = ("kills", "streams", "wrong", "silently_short", "failed", "cut", "declined")
TIMES = ("recovery_p50_s", "recovery_p99_s", "stall_p50_s", "stall_p99_s", "load_s")


def row(name: str, found: Found) -> str:
    cells = [str(found[column]) for column in COLUMNS]
    cells += ["-" if found.get(column) is None else f"{found[column]:.3f}" for column in TIMES]
    return f"{name:16}" + "".join(f"{cell:>15}" for cell in cells) + f"  {found['residue']}"


def added(earlier: Found, found: Found) -> Found:
    """The figures of two parts of one form: counts added up, times left out."""
    counts = {column: earlier[column] + found[column] for column in COLUMNS}
    residue = "CHANGED" if "CHANGED" in (earlier["residue"], found["residue"]) else "none"
    return counts | {
        "residue": residue,
        "broken": [*earlier["broken"], *found["broken"]],
        "seed": found["seed"],
        "minutes": earlier["minutes"] + found["minutes"],
    }


def arguments_of(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=1000, help="of the worker; fewer of the others")
    parser.add_argument("--kinds", default=",".join(FORMS), help=f"of {', '.join(FORMS)}")
    parser.add_argument("--listeners", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-verdict", action="store_true", help="times have no limits: the machine has other work")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    parser.add_argument("--points", default="", help="only these places of worker-points and front-points")
    parser.add_argument("--add", action="store_true", help="add the counts to those that the file of --json has")
    found = parser.parse_args(given)
    found.kinds = found.kinds.split(",")
    if unknown := set(found.kinds) - set(FORMS):
        parser.error(f"no kind is called {', '.join(sorted(unknown))}; there are {', '.join(FORMS)}")
    found.points = tuple(filter(None, found.points.split(",")))
    for kind in found.kinds if found.points else ():
        if unknown := set(found.points) - set(POINTS.get(kind, ())):
            there_are = ", ".join(POINTS.get(kind, ())) or "none"
            parser.error(f"{kind} has no place {', '.join(sorted(unknown))}; there are {there_are}")
    if found.add and not found.json:
        parser.error("--add needs --json")
    return found


def main() -> int:
    arguments = arguments_of()
    results: dict[str, Found] = {}
    earlier: dict[str, Found] = {}
    if arguments.add and arguments.json.exists():
        earlier = json.loads(arguments.json.read_text())
        results = dict(earlier)
    print(f"{'kind':16}" + "".join(f"{name:>15}" for name in COLUMNS + TIMES) + "  residue", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        model = miniature_arguments(Path(folder), cost=1)
        setup = Setup(model, arguments.listeners, arguments.seed, not arguments.no_verdict, arguments.points)
        for name in arguments.kinds:
            began = time.monotonic()
            found = FORMS[name].run(max(int(arguments.kills * FORMS[name].share), 1), setup)
            results[name] = found | {"seed": arguments.seed, "minutes": (time.monotonic() - began) / 60}
            if name in earlier:
                results[name] = added(earlier[name], results[name])
            print(row(name, results[name]), flush=True)
            if arguments.json:
                arguments.json.write_text(json.dumps(results, indent=2))
    broken = [f"{name}: {promise}" for name, found in results.items() for promise in found["broken"]]
    broken += [f"{name}: something is left behind" for name, found in results.items() if found["residue"] != "none"]
    for promise in broken:
        print(f"BROKEN: {promise}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

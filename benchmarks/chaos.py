"""Kills processes of a real server under load, over and over: what listeners heard, and how long they waited.

    python -m benchmarks.chaos [--kills 1000] [--kinds worker-cold,front,...] [--listeners 8] [--no-verdict] [--json F]

The model is the miniature, whose every sample says where it belongs. `--kills 1000` is the long form: 1,000 kills of a
worker for each kind of standby, 300 of the front, 100 of both at once, 100 of the supervisor, 100 at each kill point
of worker and front, 50 workers stopped; a smaller number is a smaller share of each. `recovery` is from a kill to the
first sample that any listener gets of what was made after it; `stall` is from a kill to the next sample of each
listener who was waiting. Exits 1 if a promise is broken: a wrong sample, an error to a client whose worker died, an end
that isn't visible, something left behind, or a median recovery of more than 600 ms (no standby), 200 ms (standby),
200 ms (standby that has loaded), each plus the model's load where that is still to be done.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.chaos_forms import FORMS, Found, Setup
from tests.system.oracle import miniature_arguments

COLUMNS = ("kills", "streams", "wrong", "silently_short", "failed", "cut", "declined")
TIMES = ("recovery_p50_s", "recovery_p99_s", "stall_p50_s", "stall_p99_s", "load_s")


def row(name: str, found: Found) -> str:
    cells = [str(found[column]) for column in COLUMNS]
    cells += ["-" if found.get(column) is None else f"{found[column]:.3f}" for column in TIMES]
    return f"{name:16}" + "".join(f"{cell:>15}" for cell in cells) + f"  {found['residue']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=1000, help="of the worker; fewer of the others")
    parser.add_argument("--kinds", default=",".join(FORMS), help=f"of {', '.join(FORMS)}")
    parser.add_argument("--listeners", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-verdict", action="store_true", help="times have no limits: the machine has other work")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    results: dict[str, Found] = {}
    print(f"{'kind':16}" + "".join(f"{name:>15}" for name in COLUMNS + TIMES) + "  residue", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(
            miniature_arguments(Path(folder), cost=1), arguments.listeners, arguments.seed, not arguments.no_verdict
        )
        for name in arguments.kinds.split(","):
            began = time.monotonic()
            found = FORMS[name].run(max(int(arguments.kills * FORMS[name].share), 1), setup)
            results[name] = found | {"seed": arguments.seed, "minutes": (time.monotonic() - began) / 60}
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

"""`python -m tests.machines`: the README's commands on fresh Debian roots; prints a table for `docs/machines.md`.

It needs root, debootstrap, a package registry, and for arm64 `qemu-user-static`; about an hour on two cores for all.
The status is 0, or 1 after a failed check, or 3 if a root can't be made.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.machines.checks import ARM, FIRST, INSTALLED, MAKE, Check, suite
from tests.machines.root import NoRoot, Root, emulate_arm64, fresh_root

CLONE = Path(__file__).parents[2]
MACHINES = {
    "bookworm": ("Debian 12", "amd64"),
    "trixie": ("Debian 13", "amd64"),
    "sid": ("Debian sid", "amd64"),
    "arm64": ("Debian 13", "arm64"),
}
BEGIN, END = "<!-- machines -->\n", "<!-- machines end -->\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*", default=list(MACHINES), help=f"some of {', '.join(MACHINES)}; all")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp/kokoro-live-machines"), help="of the roots")
    parser.add_argument("--quick", action="store_true", help="one installation and one sentence for each machine")
    parser.add_argument("--tests", metavar="ARGS", help="run `make test ARGS=...` too; '' for all tests")
    parser.add_argument("--write", action="store_true", help="put the table into docs/machines.md")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        sys.exit("python -m tests.machines needs root and debootstrap (apt-get install debootstrap qemu-user-static)")
    rows: list[str] = []
    failed = 0
    for name in arguments.machines:
        label, architecture = MACHINES[name]
        if architecture == "arm64":
            emulate_arm64()
        arguments.folder.mkdir(parents=True, exist_ok=True)
        try:
            root = fresh_root("trixie" if name == "arm64" else name, architecture, arguments.folder)
        except NoRoot as reason:
            print(reason, file=sys.stderr)
            return 3
        root.prepare(CLONE)
        version = root.run("python3 --version", 60).stdout.strip()
        for check in checks_of(architecture, arguments.quick, arguments.tests):
            failed += not run(root, f"{label}, {version}, {architecture}", check, rows)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=CLONE, capture_output=True, text=True).stdout
    head = "| machine | what was run | result | s |\n|---|---|---|---|\n"
    table = f"{BEGIN}\n{head}{''.join(rows)}\nAt {commit.strip()}.\n\n{END}"
    print(table)
    if arguments.write:
        write(CLONE / "docs" / "machines.md", table)
    return 1 if failed else 0


def checks_of(architecture: str, quick: bool, tests: str | None) -> list[Check]:
    if architecture == "arm64":
        return ARM
    made = [FIRST[1], MAKE] if quick else [*FIRST, MAKE, *INSTALLED]
    return made if tests is None else [*made, Check(f"`make test ARGS='{tests}'`", suite(tests))]


def run(root: Root, machine: str, check: Check, rows: list[str]) -> bool:
    """Make a check, say so, and add its row."""
    started = time.monotonic()
    result = check.made(root)
    took = time.monotonic() - started
    verdict = "" if result.passed else "**FAILS** "
    told = re.sub(r"https?://\S+", "…", " ".join(result.told.split())).replace("|", "\\|")
    rows.append(f"| {machine} | {check.name} | {verdict}{told} | {took:.0f} |\n")
    print(rows[-1], end="", file=sys.stderr, flush=True)
    return result.passed


def write(document: Path, table: str) -> None:
    before, _, rest = document.read_text().partition(BEGIN)
    document.write_text(before + table + rest.partition(END)[2])


if __name__ == "__main__":
    sys.exit(main())

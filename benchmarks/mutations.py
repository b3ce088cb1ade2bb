"""Breaks the code on purpose, one break at a time, and says which test notices.

    python -m benchmarks.mutations [--only NAME,...] [--short] [--list]

The breaks are in `benchmarks.breaks`. Each break is made in a temporary copy of the tree, never in the tree itself, and
the tests that guard the broken rule are run there. Exits 1 if a break goes unnoticed or can't be made because the code
has changed, 2 if the tests fail without any.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.breaks import MUTATIONS
from benchmarks.breaks.mutation import Mutation

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "dist", "node_modules")
LONGEST = 300.0
"""Seconds for the tests of one break, at least; a hanging test is one that notices."""

SLOWER = 5.0
"""Multiple of what the tests take without a break, so that a busy machine is no hang."""

SHORT = 10
"""`--short` makes every so-manieth break whose tests start no server."""


def run_tests(tree: Path, tests: tuple[str, ...], limit: float | None = None, marked: str = "not slow") -> str:
    """Run them in that tree until the first failure; its name, empty if there was none. `limit`: seconds.

    Where all of them are slow ones, these run.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-m", marked, *tests]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return "(a test that never ended)"
    if done.returncode == 0:
        return ""
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED and marked != "slow":
        return run_tests(tree, tests, limit, "slow")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else done.stdout[-2000:] + done.stderr[-2000:]


def noticed(mutation: Mutation, tree: Path, limit: float) -> str:
    """Make the break in `tree`, run the tests, mend it; which test failed.

    Raises:
        ValueError: the text to replace isn't there exactly once.
    """
    file = tree / mutation.file
    whole = file.read_text()
    if whole.count(mutation.old) != 1:
        raise ValueError(f"{mutation.file} has the text of {mutation.name!r} {whole.count(mutation.old)} times")
    file.write_text(whole.replace(mutation.old, mutation.new))
    try:
        return run_tests(tree, mutation.tests, limit)
    finally:
        file.write_text(whole)


def starts_servers(mutation: Mutation) -> bool:
    return any(test.startswith(("tests/system", "tests/chaos")) for test in mutation.tests)


def copy_tree(to: Path) -> None:
    shutil.copytree(ROOT, to, ignore=LEFT_OUT, dirs_exist_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", help="these breaks, by name")
    parser.add_argument("--short", action="store_true", help="a tenth of those whose tests start no server")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    arguments = parser.parse_args()
    chosen: Sequence[Mutation] = MUTATIONS
    if arguments.only:
        chosen = [mutation for mutation in MUTATIONS if mutation.name in arguments.only.split(",")]
    if arguments.short:
        chosen = [mutation for mutation in chosen if not starts_servers(mutation)][::SHORT]
    if arguments.list:
        for mutation in chosen:
            print(f"{mutation.name:32}{mutation.file}")
        return 0
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        limits: dict[tuple[str, ...], float] = {}
        for tests in dict.fromkeys(mutation.tests for mutation in chosen):
            began = time.monotonic()
            failed = run_tests(tree, tests)
            limits[tests] = max(LONGEST, SLOWER * (time.monotonic() - began))
            if failed:
                print(f"{' '.join(tests)} fails without a break: {failed}", file=sys.stderr)
                return 2
        for mutation in chosen:
            try:
                found = noticed(mutation, tree, limits[mutation.tests])
            except ValueError as error:
                found, survived = f"NOT MADE: {error}", survived + 1
            survived += not found
            print(f"{mutation.name:32}{found or 'SURVIVED'}", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

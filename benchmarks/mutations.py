"""Breaks the code on purpose, one break at a time, and says which test notices.

    python -m benchmarks.mutations [--only NAME,...] [--list]

Each break is made in a temporary copy of the tree, never in the tree itself, and the tests that guard the broken rule
are run there. Exits 1 if a break goes unnoticed or can't be made because the code has changed, 2 if the tests fail
without any.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIED = ("shm", "worker", "frontend", "supervisor", "tests", "benchmarks", "pyproject.toml", "Procfile")
LONGEST = 300.0
"""Seconds for the tests of one break; a hanging test is one that notices."""


@dataclass(frozen=True)
class Mutation:
    """A rule of the code, and how to break it."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    """pytest's arguments."""


GENERATIONS = "frontend/scheduling/generations.py"
ORDERS = "frontend/scheduling/orders.py"
RECORDS = "frontend/scheduling/records.py"
TURNS = "frontend/scheduling/turns.py"
DISPATCHER_TESTS = ("tests/frontend/scheduling/test_dispatcher.py",)
SUSPECTS_TESTS = ("tests/frontend/scheduling/test_suspects.py",)
WORKBENCH = "worker/workbench.py"
WORKBENCH_TESTS = ("tests/worker/test_workbench.py",)
CHANNELS_TESTS = ("tests/supervisor/processes/test_channels.py",)

MUTATIONS = (
    Mutation(
        "blame-the-idle",
        "frontend/streams/planned.py",
        "if self.touched is not None and loss is not Loss.INNOCENT:",
        "if loss is not Loss.INNOCENT:",
        SUSPECTS_TESTS,
    ),
    Mutation("crc", "shm/ring.py", "if found != crc32:", "if False:", ("tests/shm/test_ring.py",)),
    Mutation(
        "ring-bounds",
        "shm/ring.py",
        "if len(samples) > self.room:",
        "if False:",
        ("tests/shm/test_ring.py", "tests/shm/test_ring_schedules.py"),
    ),
    Mutation(
        "release-bounds",
        "shm/ring.py",
        "if not self._released <= position <= self._position:",
        "if False:",
        ("tests/shm/test_ring.py",),
    ),
    Mutation(
        "partial-frame",
        "shm/frames.py",
        "            if len(self._buffer) < end:\n                break\n",
        "            end = min(end, len(self._buffer))\n",
        ("tests/shm/test_frames.py",),
    ),
    Mutation("lifeline", "shm/lifeline.py", "os._exit(ORPHANED)", "pass", ("tests/shm/test_lifeline.py",)),
    Mutation(
        "generation-of-a-record",
        RECORDS,
        "if message.generation != link.generation:",
        "if False:",
        DISPATCHER_TESTS,
    ),
    Mutation(
        "generation-of-an-order",
        WORKBENCH,
        "if order.generation != self._generation:",
        "if False:",
        WORKBENCH_TESTS,
    ),
    Mutation(
        "offset",
        RECORDS,
        "if commit.offset != planned.sealed or commit.position != lease.sealed:",
        "if False:",
        DISPATCHER_TESTS,
    ),
    Mutation("whole-segment", RECORDS, "if done.samples != planned.sealed:", "if False:", DISPATCHER_TESTS),
    Mutation("from-sample", ORDERS, "from_sample=planned.sealed,", "from_sample=0,", DISPATCHER_TESTS),
    Mutation("three-deaths", GENERATIONS, "MAX_DEATHS = 3", "MAX_DEATHS = 4", SUSPECTS_TESTS),
    Mutation(
        "quarantine",
        GENERATIONS,
        "self._shared.quarantine.add(planned.key)",
        "pass",
        DISPATCHER_TESTS,
    ),
    Mutation("innocent-end", "frontend/streams/planned.py", " and loss is not Loss.INNOCENT:", ":", SUSPECTS_TESTS),
    Mutation(
        "suspects-alone",
        TURNS,
        "if isolation and (segment.suspect or link is isolation.link):",
        "if False:",
        SUSPECTS_TESTS,
    ),
    Mutation(
        "credit",
        "frontend/streams/ring_room.py",
        "return segment.estimate - segment.sealed <= lease.room or lease.empty",
        "return True",
        DISPATCHER_TESTS,
    ),
    Mutation(
        "one-generation-at-a-time",
        TURNS,
        "if _predecessor_is_at(link, stream):",
        "if False:",
        SUSPECTS_TESTS,
    ),
    Mutation(
        "forget-on-disconnect",
        "frontend/streams/rings.py",
        "            self._forget(lease.number)\n",
        "",
        DISPATCHER_TESTS,
    ),
    Mutation(
        "nothing-for-the-forgotten",
        WORKBENCH,
        "        if segment.forgotten:\n",
        "        if False:\n",
        WORKBENCH_TESTS,
    ),
    Mutation(
        "ring-wait",
        "worker/stream_output.py",
        "while segment.unwritten and self.ring.room:",
        "while segment.unwritten:",
        WORKBENCH_TESTS,
    ),
    Mutation(
        "hang",
        "frontend/scheduling/watchdog.py",
        'self._link.lose("it hangs", Loss.HANG)',
        "pass",
        ("tests/frontend/scheduling/test_watchdog.py",),
    ),
    Mutation(
        "cut-on-error",
        "frontend/http/speech.py",
        "                cut(request)\n",
        "                pass\n",
        ("tests/frontend/http/test_speech_stream.py",),
    ),
    Mutation(
        "reset-for-old-clients",
        "frontend/http/answers/ending.py",
        'struct.pack("ii", on, 0)',
        'struct.pack("ii", False, 0)',
        ("tests/frontend/http/test_speech_stream.py",),
    ),
    Mutation(
        "cancel-when-the-client-leaves",
        "frontend/process.py",
        "handler_cancellation=True",
        "handler_cancellation=False",
        ("tests/chaos/test_disconnects.py", "-k", "first_sample"),
    ),
    Mutation(
        "eof-of-commits",
        "supervisor/processes/channels.py",
        "for fd in (arena, orders_read, orders_write, commits_read, commits_write):",
        "for fd in (arena, orders_read, orders_write, commits_read):",
        CHANNELS_TESTS,
    ),
    Mutation(
        "eof-of-orders",
        "supervisor/processes/channels.py",
        "for fd in (arena, orders_read, orders_write, commits_read, commits_write):",
        "for fd in (arena, orders_read, commits_read, commits_write):",
        CHANNELS_TESTS,
    ),
    Mutation(
        "an-arena-per-generation",
        "supervisor/processes/channels.py",
        "    arena = reserve(rings * ring_samples * SAMPLE_BYTES)\n",
        "    kept = globals().setdefault('KEPT', [])\n"
        "    kept[:] = kept or [reserve(rings * ring_samples * SAMPLE_BYTES)]\n"
        "    arena = os.dup(kept[0])\n",
        CHANNELS_TESTS,
    ),
    Mutation(
        "arena-given-back",
        WORKBENCH,
        "            self._arena = None  # gives its memory back, and a descriptor\n",
        "",
        ("tests/chaos/test_kill_points.py", "-k", "parsed-5"),
    ),
    Mutation(
        "hanging-worker-killed",
        "supervisor/processes/nursery.py",
        "        self.kill_after(child, DUMP_GRACE)\n",
        "        pass\n",
        ("tests/supervisor/processes/test_generations.py", "tests/supervisor/processes/test_lifecycle.py"),
    ),
    Mutation(
        "progress-counts",
        "supervisor/processes/restarts.py",
        "        if progressed:\n",
        "        if False:\n",
        ("tests/supervisor/processes/test_restart_intensity.py",),
    ),
    Mutation(
        "quick-kills-are-no-loop",
        "supervisor/processes/restarts.py",
        " and (not proven or now - self._first >= self._window)",
        "",
        ("tests/supervisor/processes/test_restart_intensity.py",),
    ),
    Mutation(
        "progress-is-told",
        "worker/channel.py",
        "                self._host.sealed()\n",
        "                pass\n",
        ("tests/chaos/test_restart_intensity.py", "-k", "at_once and worker"),
    ),
    Mutation(
        "deadly-text",
        "supervisor/processes/suspect_texts.py",
        "if found.deaths >= MANY",
        "if False",
        ("tests/supervisor/processes/test_suspect_texts.py",),
    ),
    Mutation(
        "innocent-company",
        "supervisor/processes/suspect_texts.py",
        "texts.working or (texts.waiting if by_itself else ())",
        "texts.working | texts.waiting",
        ("tests/supervisor/processes/test_suspect_texts.py",),
    ),
    Mutation(
        "texts-at-work-are-recorded",
        "frontend/streams/text_ahead.py",
        "        with self._text.working():\n            return",
        "        if True:\n            return",
        ("tests/system/test_deadly_texts.py", "-k", "SIGKILL"),
    ),
    Mutation(
        "languages-load-before-suspects",
        "frontend/process.py",
        "                if message.suspected:\n",
        "                if False:\n",
        ("tests/system/test_deadly_texts.py", "-k", "language"),
    ),
    Mutation(
        "answered-text-is-cleared",
        "frontend/contract/in_flight.py",
        "                self._tell(Cleared(digest))\n",
        "                pass\n",
        ("tests/frontend/http/test_texts_in_flight.py",),
    ),
    Mutation(
        "busy-is-no-hang",
        "frontend/scheduling/watchdog.py",
        "        return still or used",
        "        return True or used",
        ("tests/frontend/scheduling/test_watchdog.py",),
    ),
    Mutation(
        "endless-loop-is-a-hang",
        "frontend/scheduling/watchdog.py",
        "used >= first.work.limit or",
        "False or",
        ("tests/frontend/scheduling/test_watchdog.py",),
    ),
    Mutation(
        "no-quarantine-for-hangs",
        "frontend/scheduling/generations.py",
        "        if planned.hangs:\n",
        "        if False:\n",
        SUSPECTS_TESTS,
    ),
    Mutation(
        "a-sealed-block-clears",
        "frontend/streams/planned.py",
        "            if self.sealed != self._sealed_at_death:",
        "            if False:",
        SUSPECTS_TESTS,
    ),
    Mutation(
        "crash-loop",
        "supervisor/processes/restarts.py",
        "if self._deaths >= self._max_deaths and",
        "if False and",
        ("tests/supervisor/processes/test_restarts.py", "tests/supervisor/processes/test_lifecycle.py"),
    ),
)


def run_tests(tree: Path, tests: tuple[str, ...]) -> str:
    """Run them in that tree until the first failure; its name, empty if there was none."""
    command = [sys.executable, "-m", "pytest", "-x", "-m", "not slow", *tests]
    try:
        done = subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return "(a test that never ended)"
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else done.stdout[-2000:] + done.stderr[-2000:]


def noticed(mutation: Mutation, tree: Path) -> str:
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
        return run_tests(tree, mutation.tests)
    finally:
        file.write_text(whole)


def copy_tree(to: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, to / name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", help="these breaks, by name")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    arguments = parser.parse_args()
    names = set(arguments.only.split(",")) if arguments.only else {mutation.name for mutation in MUTATIONS}
    chosen = [mutation for mutation in MUTATIONS if mutation.name in names]
    if arguments.list:
        for mutation in chosen:
            print(f"{mutation.name:32}{mutation.file}")
        return 0
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        for tests in dict.fromkeys(mutation.tests for mutation in chosen):
            if failed := run_tests(tree, tests):
                print(f"{' '.join(tests)} fails without a break: {failed}", file=sys.stderr)
                return 2
        for mutation in chosen:
            try:
                found = noticed(mutation, tree)
            except ValueError as error:
                found, survived = f"NOT MADE: {error}", survived + 1
            survived += not found
            print(f"{mutation.name:32}{found or 'SURVIVED'}", flush=True)
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())

"""Fuzz the parsers of foreign bytes, one after another, guided by the code that inputs reach.

    python -m benchmarks.fuzzing [NAME ...] [--seconds 3 | --minutes 60] [--longer SECONDS] [--seed 1] [--processes 1]
        [--folder FOLDER] [--minimise]

Each target runs in a process of its own (libFuzzer by way of atheris) and begins with its seeds and the kept corpus. A
finding is an exception that isn't the parser's own, more processor time than the input's length allows, or a hang; with
findings the exit status is 1. --longer is for a fifth of the targets, another fifth at each of five seeds. Findings and
grown corpora stay in FOLDER. --minimise adds to `benchmarks/fuzzing/corpus` what reached more code, as few and as short
inputs as do. Where atheris can't be had (outside Linux on x86-64), the corpora are only replayed, and a line says so.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.fuzzing.target import Target

HANG_SECONDS = 60
"""Seconds for one input, after which libFuzzer ends the process."""

MEMORY_MB = 2048
_INSTRUMENTED = [
    "text",
    "books",
    "frontend",
    "shm",
    "client",
    "supervisor",
    "worker",
    "pypdf",
    "markdown_it",
    "wyoming",
]
_KEPT = 40
"""Most inputs in a target's file of the corpus, the shortest first."""
_KEPT_BYTES = 600
"""Longest input that is kept."""


def targets() -> dict[str, Target]:
    """The table, whose modules are imported here: instrumented, if atheris is there."""
    try:
        import atheris
    except ImportError:
        from benchmarks.fuzzing.targets import BY_NAME

        return BY_NAME
    with atheris.instrument_imports(include=_INSTRUMENTED):
        from benchmarks.fuzzing.targets import BY_NAME
    return BY_NAME


def has_atheris() -> bool:
    try:
        import atheris  # noqa: F401
    except ImportError:
        return False
    return True


def replay(target: Target) -> list[str]:
    """Judge seeds and corpus; the keys of the findings."""
    from benchmarks.fuzzing.target import judged

    return [found.key for data in target.inputs() if (found := judged(target, data))]


def forked(run: Callable[[], None]) -> int:
    """Run it in a process of its own; its exit status."""
    return ended(begun(run))


def ended(child: int) -> int:
    """Wait for a process; its exit status."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def begun(run: Callable[[], None]) -> int:
    """Run it in a process of its own; its number."""
    if child := os.fork():
        return child
    try:
        run()
    except SystemExit as ended:
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def fuzz(target: Target, folder: Path, seconds: float, seed: int, until_found: bool = False) -> tuple[int, list[str]]:
    """Fuzz one target; the number of inputs that were tried, and the keys of the findings.

    Args:
        until_found: end at the first finding.
    """
    from benchmarks.fuzzing import files

    for name in ("corpus", "findings"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for data in target.inputs():
        (folder / "corpus" / hashlib.sha1(data).hexdigest()).write_bytes(data)
    status = forked(lambda: _fuzzing(target, folder, seconds, seed, until_found))
    files.remove_abandoned()
    findings = sorted(each.read_text().splitlines()[0] for each in (folder / "findings").glob("*.txt"))
    if status != 0:
        findings.append(f"the process ended with {status}: see {folder / 'log'}")
    executed = folder / "executed"
    return int(executed.read_text()) if executed.exists() else 0, findings


def minimise(target: Target, folder: Path) -> None:
    """Keep of the grown corpus the shortest inputs that reach lines which no seed and no shorter one reaches."""
    from benchmarks.fuzzing.files import remove_scratch
    from benchmarks.fuzzing.target import CORPUS, judged, to_line

    seeds = list(target.seeds())
    grown = {each.read_bytes() for each in (folder / "corpus").iterdir()} - {*seeds, *target.corpus}
    short = sorted((each for each in grown if len(each) <= _KEPT_BYTES), key=lambda each: (len(each), each))
    reached: set[tuple[str, int]] = set()
    kept = list(target.corpus)
    for known in (*seeds, *kept, *short):
        lines = _lines(lambda data=known: judged(target, data))  # type: ignore[misc]
        if known in short and lines - reached and len(kept) < _KEPT:
            kept.append(known)
        reached |= lines
    remove_scratch()
    text = "".join(f"{line}\n" for line in sorted(map(to_line, kept)))
    (CORPUS / f"{target.name}.txt").write_text(text, "ascii")


def _lines(run: Callable[[], object]) -> set[tuple[str, int]]:
    """Lines of the product that run, as files' names and numbers."""
    found: set[tuple[str, int]] = set()

    def trace(frame: Any, event: str, _: object) -> Any:
        name = frame.f_code.co_filename
        if "site-packages" in name or "/lib/python" in name or "/fuzzing/" in name:
            return None
        found.add((name, frame.f_lineno))
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return found


def _fuzzing(target: Target, folder: Path, seconds: float, seed: int, until_found: bool) -> None:
    """libFuzzer on one target; it ends this process."""
    import atheris

    from benchmarks.fuzzing.files import remove_scratch
    from benchmarks.fuzzing.target import judged

    log = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    ends, executed = time.monotonic() + seconds, 0

    def one(data: bytes) -> None:
        nonlocal executed
        found = judged(target, data)
        if found is not None:
            name = folder / "findings" / hashlib.sha1(found.key.encode()).hexdigest()[:12]
            if not name.exists() or len(found.data) < name.stat().st_size:
                name.write_bytes(found.data)
                name.with_suffix(".txt").write_text(f"{found.key}\n{found.story}")
        executed += 1
        if time.monotonic() > ends or (found and until_found):
            # libFuzzer's own end runs the interpreter's, which has threads of a front.
            (folder / "executed").write_text(str(executed))
            remove_scratch()
            os._exit(0)

    options = [f"-seed={seed}", f"-timeout={HANG_SECONDS}", f"-rss_limit_mb={MEMORY_MB}", f"-max_len={target.longest}"]
    if target.words:
        words = folder / "words"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        options.append(f"-dict={words}")
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/findings/", str(folder / "corpus")], one)
    atheris.Fuzz()


FIFTH = 5


def shares(names: Sequence[str], seconds: float, longer: float, seed: int) -> dict[str, float]:
    """Seconds for each target, the longest first: every fifth one, counted from a place that the seed chooses, has
    `longer`."""
    given = {name: longer if number % FIFTH == seed % FIFTH else seconds for number, name in enumerate(names)}
    return dict(sorted(given.items(), key=lambda each: -each[1]))


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzzing", description=__doc__)
    parser.add_argument("names", nargs="*", help="targets; by default all")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each target")
    parser.add_argument("--minutes", type=float, help="instead of --seconds")
    parser.add_argument("--longer", type=float, metavar="SECONDS", help="for a fifth of the targets, by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="targets at a time")
    parser.add_argument("--folder", type=Path, help="where corpora and findings stay")
    parser.add_argument("--minimise", action="store_true", help="keep in the repository what reached more code")
    asked = parser.parse_args()
    table = targets()
    if unknown := set(asked.names) - table.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(table)}")
    if not has_atheris():
        print("NOT FUZZED: atheris isn't installed, so the corpora are only replayed", file=sys.stderr)
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="kokoro-live-fuzzing-"))
    seconds = asked.minutes * 60 if asked.minutes else asked.seconds
    due = shares(asked.names or [*table], seconds, asked.longer or seconds, asked.seed)
    parts = [dict([*due.items()][number :: asked.processes]) for number in range(asked.processes)]
    children = [begun(lambda part=part: sys.exit(_rounds(part, table, folder, asked))) for part in parts]  # type: ignore[misc]
    wrong = sum(map(ended, children))
    print(f"{len(due)} targets, {wrong} findings" + (f", in {folder}" if wrong or asked.folder else ""))
    return 1 if wrong else 0


def _rounds(due: Mapping[str, float], table: Mapping[str, Target], folder: Path, asked: argparse.Namespace) -> int:
    """Fuzz so many seconds each, one target after another; the number of findings."""
    wrong = 0
    for name, seconds in due.items():
        target, started = table[name], time.monotonic()
        if has_atheris():
            executed, findings = fuzz(target, folder / target.name, seconds, asked.seed)
            if asked.minimise:
                forked(lambda target=target: minimise(target, folder / target.name))  # type: ignore[misc]
        else:
            executed, findings = len(target.inputs()), replay(target)
        print(f"{target.name}: {executed} inputs in {time.monotonic() - started:.0f} s", flush=True)
        for finding in findings:
            print(f"  FOUND: {finding}", flush=True)
        wrong += len(findings)
    return wrong


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main())

"""A short request after a long one: the newcomer's wait for the long one's speech."""

from __future__ import annotations

import threading
import time
from dataclasses import asdict, dataclass

from benchmarks.measuring.alone import Alone
from benchmarks.measuring.figures import Summary, median
from benchmarks.measuring.judgement import at_most
from benchmarks.measuring.listening import FRESH, TOO_MANY, Heard, listen
from benchmarks.measuring.options import Options
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from benchmarks.measuring.subjects import Subject, kokoro_live, kokoro_onnx_server
from benchmarks.measuring.texts import PHRASE, article

BEHIND = (0.3, 2.0)
"""Seconds between the two: when the long one's listener has a block or two to hear, and when much more is made."""

RUNS = 10
FIFO_RUNS = 1
QUICK_ARTICLE = 1000
FIFO = "first come, first served"
WAIT_SHARE = 0.25
"""The share of its own time that a newcomer may wait for other people's work: one window of an engine with windows."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds to the short request's first audible sample."""

    after: float
    """Seconds between the long request and the short one."""
    alone: list[float]
    behind: list[float]
    """Seconds of each admitted request while the long one was being spoken."""
    rejected: int
    """Short requests rejected (429) while the long one was being spoken."""


def run(options: Options) -> Report:
    """
    Raises:
        CannotStart, ConnectionError, EngineUnavailable: something to be measured doesn't work.
    """
    alone = Alone(options.settings)
    long = article(QUICK_ARTICLE if options.quick else options.article)
    with kokoro_live(options.settings) as ours:
        for _ in range(options.count(10, quick=1)):
            listen(ours.port, PHRASE, alone.voice, headers=FRESH).assert_complete()
        waits = [measure(ours, alone.voice, long, after, options.count(RUNS), options) for after in BEHIND]
    rows = [_row("kokoro-live", each) for each in waits]
    raw: dict[str, object] = {"kokoro-live": [asdict(each) for each in waits]}
    if options.competes:
        assert options.settings.model and options.settings.voices
        with kokoro_onnx_server(options.settings.model, options.settings.voices) as theirs:
            fifo = measure(theirs, alone.voice, long, BEHIND[0], FIFO_RUNS, options)
        rows.append(_row(FIFO, fifo))
        raw[FIFO] = asdict(fifo)
    columns = (
        "",
        "seconds behind",
        "runs",
        "first audio alone, ms",
        "behind the long one, ms",
        "worst, ms",
        "rejected (429)",
    )
    tables = [Table(f"Three words behind {len(long):,} characters", columns, rows)]
    return Report("short-behind-long", alone.label, tables, [verdict(each) for each in waits], (), raw)


def verdict(waits: Waits) -> Verdict:
    """A newcomer that is rejected heard nothing within any time."""
    target = f"first audio {waits.after:g} s behind a long request at most {WAIT_SHARE:.0%} later than alone"
    if waits.rejected:
        said = f"{waits.rejected} of {len(waits.behind) + waits.rejected} rejected"
        return Verdict(target, said, False)
    most = median(waits.alone) * (1 + WAIT_SHARE)
    return at_most(target, waits.behind, most, lambda seconds: f"{seconds * 1e3:.0f} ms")


def measure(to: Subject, voice: str, long: str, after: float, runs: int, options: Options) -> Waits:
    """Ask for the short text alone, then so many seconds after the long one, so many times.

    Raises:
        ConnectionError: a request was neither answered nor rejected.
    """
    alone: list[float] = []
    behind: list[float] = []
    rejected = 0
    for number in range(runs):
        alone.append(_first_audible(listen(to.port, PHRASE, voice, headers=FRESH)))
        left = threading.Event()
        reader = threading.Thread(
            target=listen,
            args=(to.port, long, voice),
            kwargs={"headers": FRESH, "going": lambda left=left: not left.is_set()},
        )
        reader.start()
        time.sleep(after)
        try:
            heard = listen(to.port, PHRASE, voice, headers=FRESH | {"X-Session": "newcomer"})
        finally:
            left.set()
            reader.join()
        if heard.status == TOO_MANY:
            rejected += 1
        else:
            behind.append(_first_audible(heard))
        options.say(f"short-behind-long: {to.name}, {after:g} s behind, {number + 1} of {runs}")
    return Waits(after, alone, behind, rejected)


def _first_audible(heard: Heard) -> float:
    seconds = heard.assert_complete().to_first_audible
    assert seconds is not None
    return seconds


def _row(name: str, waits: Waits) -> list[Cell]:
    behind = Summary.of_any(waits.behind)
    times = (behind.median * 1e3, behind.most * 1e3) if behind else (None, None)
    return [name, waits.after, len(waits.alone), median(waits.alone) * 1e3, *times, waits.rejected]

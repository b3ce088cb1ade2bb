"""One long text made serially and side by side: how soon it is complete, and what that does to first audio.

A server that makes one segment after another, with all cores each, and one that makes as many as there are cores side
by side, take turns. Each is asked for a long text alone, for three words alone, and for three words while the long text
is being made.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from benchmarks.measuring.alone import label_and_voice
from benchmarks.measuring.figures import median
from benchmarks.measuring.judgement import at_least, at_most
from benchmarks.measuring.listening import FRESH, Heard, listen
from benchmarks.measuring.options import Options
from benchmarks.measuring.playback import play
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from benchmarks.measuring.subjects import Subject, kokoro_live
from benchmarks.measuring.texts import PHRASE, article
from worker.machine import cores

SERIALLY, SIDE_BY_SIDE = "serially", "side by side"

CHARACTERS, QUICK_CHARACTERS = 1200, 200
"""Characters of the long text at most: 1,200 are about 80 seconds of speech."""

RUNS = 6
"""The fewest by which the median's place can be told with 95 % confidence."""

FIRST_SHARE = 0.1
"""The share of its time by which the first sound may come later side by side: nothing competes with a stream's first
block."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One server's figures, once, in seconds."""

    first: float
    """Time to the first audible sample of the long text."""
    complete: float
    """Time to its last byte."""
    audio: float
    """Length of the long text's audio."""
    gaps: int
    """Gaps that a listener who played it as it came would have heard."""
    alone: float
    """Time to the first audible sample of three words that are requested alone."""
    behind: float
    """Time to the first audible sample of three words while the long text is being made."""


def run(options: Options) -> Report:
    """
    Raises:
        CannotStart, ConnectionError, EngineUnavailable: something to be measured doesn't work.
    """
    label, voice = label_and_voice(options.settings)
    text = article(QUICK_CHARACTERS if options.quick else min(options.article, CHARACTERS))
    wanted = {SERIALLY: 1, SIDE_BY_SIDE: max(cores(), 2)}
    turns: dict[str, list[Turn]] = {name: [] for name in wanted}
    with contextlib.ExitStack() as stack:
        servers = {
            name: stack.enter_context(kokoro_live(replace(options.settings, concurrency=count)))
            for name, count in wanted.items()
        }
        for server in servers.values():  # costs are learned, and memory grows
            listen(server.port, text, voice, headers=FRESH).assert_complete()
        for number in range(options.count(RUNS, 1)):
            for name in list(servers)[:: -1 if number % 2 else 1]:
                turns[name].append(measure(servers[name], voice, text))
                options.say(f"parallel: {name}, {number + 1} of {options.count(RUNS, 1)}")
    title = f"{len(text):,} characters, {turns[SERIALLY][0].audio:.0f} s of audio; medians"
    rows = [_row(name, wanted[name], turns[name]) for name in wanted]
    columns = (
        "segments made",
        "at once",
        "runs",
        "first audio, s",
        "complete, s",
        "times real time",
        "gaps",
        "three words alone: first audio, s",
        "three words meanwhile: first audio, s",
    )
    raw = {name: [asdict(turn) for turn in found] for name, found in turns.items()}
    return Report("parallel", label, [Table(title, columns, rows)], verdicts(turns), (), raw)


def measure(to: Subject, voice: str, text: str) -> Turn:
    """The long text, three words, and three words while the long text is made.

    Raises:
        ConnectionError: a request wasn't answered in full.
    """
    long = listen(to.port, text, voice, headers=FRESH).assert_complete()
    alone = listen(to.port, PHRASE, voice, headers=FRESH).assert_complete()
    asked, left = threading.Event(), threading.Event()

    def going() -> bool:
        asked.set()
        return not left.is_set()

    def read() -> None:
        try:
            listen(to.port, text, voice, headers=FRESH, going=going)
        finally:
            asked.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        asked.wait()
        behind = listen(to.port, PHRASE, voice, headers=FRESH | {"X-Session": "newcomer"}).assert_complete()
    finally:
        left.set()
        reader.join()
    return Turn(
        _first(long), long.to_end, long.audio_seconds, play(long.arrivals).underruns, _first(alone), _first(behind)
    )


def verdicts(turns: Mapping[str, Sequence[Turn]]) -> list[Verdict]:
    """The judgement on making segments side by side, by medians of each run's ratio to the same run made serially."""
    pairs = list(zip(turns[SERIALLY], turns[SIDE_BY_SIDE], strict=True))
    speeds = [one.complete / several.complete for one, several in pairs]
    first = [several.first / one.first for one, several in pairs]
    behind = [several.behind / one.behind for one, several in pairs]
    later = f"at most {FIRST_SHARE:.0%} later than serially"
    return [
        at_least("side by side the long text is complete sooner", speeds, 1.0, lambda times: f"{times:.2f} times"),
        at_most(f"its first audio {later}", first, 1 + FIRST_SHARE, _times),
        at_most(f"a newcomer's first audio {later}", behind, 1 + FIRST_SHARE, _times),
    ]


def _times(ratio: float) -> str:
    return f"{ratio:.2f} times the time"


def _first(heard: Heard) -> float:
    seconds = heard.to_first_audible
    assert seconds is not None
    return seconds


def _row(name: str, count: int, turns: Sequence[Turn]) -> list[Cell]:
    return [
        name,
        count,
        len(turns),
        median([turn.first for turn in turns]),
        median([turn.complete for turn in turns]),
        median([turn.audio / turn.complete for turn in turns]),
        sum(turn.gaps for turn in turns),
        median([turn.alone for turn in turns]),
        median([turn.behind for turn in turns]),
    ]

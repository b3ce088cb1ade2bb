"""Many listeners at once, each at playback speed: who hears gaps, who waits how long, who is rejected."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benchmarks.measuring.alone import label_and_voice
from benchmarks.measuring.figures import Summary, jain
from benchmarks.measuring.listening import FRESH, TOO_MANY, Heard, listen
from benchmarks.measuring.options import Options
from benchmarks.measuring.playback import play
from benchmarks.measuring.plots import Plot
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from benchmarks.measuring.subjects import Subject, kokoro_live, kokoro_onnx_server
from benchmarks.measuring.texts import article
from client.blocking import BlockingClient
from worker.machine import cores

LISTENERS = (1, 2, 4, 8, 16)
QUICK_LISTENERS = (1, 3)

MOST_FIFO = 8
"""Listeners at most of the server that makes one request after another: 16 would wait for minutes, and show no more."""

INTERVAL = 1.0
"""Mean seconds between arrivals, which are Poisson's."""

CHARACTERS, QUICK_CHARACTERS = 450, 60
"""Characters of each stream's text at most: about half a minute of speech."""

OF_SPEED = 0.95

RUNS = 3
"""Runs of the number of listeners that is judged; the others have one."""

AGAIN = 0.1
"""Seconds until a rejected listener, who has to be heard, asks again."""

FIFO = "first come, first served"


@dataclass(frozen=True, slots=True)
class Level:
    """Results of one number of simultaneous listeners; counts are those of all runs together."""

    listeners: int
    waits: list[float]
    """Seconds to the first audible sample, of those that heard one."""
    clean: int
    """Listeners who heard all of it without a gap."""
    underruns: int
    gap_seconds: float
    rejected: int
    broken: int
    """Listeners who neither heard everything nor were rejected."""
    runs: int = 1


def run(options: Options) -> Report:
    """
    Raises:
        CannotStart, ConnectionError, EngineUnavailable: something to be measured doesn't work.
    """
    label, voice = label_and_voice(options.settings)
    with kokoro_live(options.settings) as ours:
        speed, levels = measure(ours, voice, options)
        spent = BlockingClient(f"http://127.0.0.1:{ours.port}").get("/status")["work"]
    rows = [_row("kokoro-live", level) for level in levels]
    raw: dict[str, object] = {"kokoro-live": [_raw(level) for level in levels], "speed": speed, "work": spent}
    lines = {"kokoro-live": [(float(level.listeners), float(level.clean)) for level in levels]}
    speeds: list[list[Cell]] = [["kokoro-live", speed]]
    if options.competes:
        assert options.settings.model and options.settings.voices
        with kokoro_onnx_server(options.settings.model, options.settings.voices) as theirs:
            their_speed, their_levels = measure(theirs, voice, options, MOST_FIFO)
        rows += [_row(FIFO, level) for level in their_levels]
        raw |= {FIFO: [_raw(level) for level in their_levels], "FIFO's speed": their_speed}
        lines[FIFO] = [(float(level.listeners), float(level.clean)) for level in their_levels]
        speeds.append([FIFO, their_speed])
    columns = (
        "",
        "listeners",
        "runs",
        "without a gap",
        "gaps",
        "seconds of gaps",
        "rejected (429)",
        "broken",
        "first audio p50, s",
        "p95",
        "p99",
        "fairness of the waits (Jain)",
    )
    tables = [
        Table("Aggregate speed, everybody reading as fast as it comes", ("", "times real time"), speeds),
        Table(f"Listeners at playback speed, arriving every {INTERVAL:g} s on average", columns, rows),
    ]
    names = ("process", "stage", "processor_seconds", "joules")
    works: list[list[Cell]] = [[row.get(name) for name in names] for row in spent]
    tables.append(Table("Work for a second of speech (joules where the machine tells them)", names, works))
    plot = Plot("Streams without a gap", "listeners", "without a gap", lines)
    return Report("streams", label, tables, verdicts(speed, levels), (), raw, (plot,), in_short(speed, levels))


def in_short(speed: float, levels: Sequence[Level]) -> str:
    """Speed and listeners, in a sentence."""
    full = max((level.listeners for level in levels if level.clean == level.listeners * level.runs), default=0)
    return f"Speech is made at {speed:.1f} times real time; {full} listeners at once were all served without a gap."


def verdicts(speed: float, levels: Sequence[Level]) -> list[Verdict]:
    """Compares what the levels say with the speed of the same run."""
    gaps = sum(level.underruns for level in levels)
    broken = sum(level.broken for level in levels)
    gapless = Verdict("no admitted listener hears a gap", f"{gaps} gaps, {broken} broken", not gaps + broken)
    carried = max((level for level in levels if level.listeners <= OF_SPEED * speed), default=None, key=_listeners)
    if carried is None:  # a machine that is slower than speech carries nobody
        return [gapless]
    target = f"all of {carried.listeners} listeners hear no gap ({OF_SPEED:.0%} of the speed {speed:.2f}, rounded down"
    if carried.listeners == max(level.listeners for level in levels):
        target += ", and none more were tried"
    asked = carried.listeners * carried.runs
    found = f"{carried.clean} of {asked} in {carried.runs} runs, {carried.rejected} rejected"
    return [Verdict(f"{target})", found, carried.clean == asked), gapless]


def _listeners(level: Level) -> int:
    return level.listeners


def measure(to: Subject, voice: str, options: Options, most: int = max(LISTENERS)) -> tuple[float, list[Level]]:
    """The aggregate speed in seconds of audio per second, and each number of listeners up to `most`."""
    characters = QUICK_CHARACTERS if options.quick else min(CHARACTERS, options.article)
    speed = aggregate_speed(to, voice, characters, 2 * cores())
    carried = max(1, min(math.floor(OF_SPEED * speed), most))
    wanted = QUICK_LISTENERS if options.quick else sorted({*LISTENERS, carried})
    levels = []
    for count in wanted:
        if count > most:
            continue
        rng = random.Random(f"{options.seed} {count}")
        heard: list[Heard] = []
        runs = options.count(RUNS if count == carried else 1, quick=1)
        for _ in range(runs):
            heard += crowd(to, voice, characters, arrivals(count, rng), paced=True)
        levels.append(level(count, heard, runs))
        options.say(f"streams: {to.name}, {count} listeners")
    return speed, levels


def arrivals(count: int, rng: random.Random) -> list[float]:
    """Seconds after the first one at which each comes."""
    times = [0.0]
    while len(times) < count:
        times.append(times[-1] + rng.expovariate(1 / INTERVAL))
    return times


def aggregate_speed(to: Subject, voice: str, characters: int, count: int) -> float:
    """Seconds of audio per second with `count` listeners, who read as fast as they can and ask again when rejected."""
    began = time.monotonic()
    heard = [one.assert_complete() for one in crowd(to, voice, characters, [0.0] * count, paced=False)]
    return sum(one.audio_seconds for one in heard) / (max(one.ended for one in heard) - began)


def crowd(to: Subject, voice: str, characters: int, times: Sequence[float], *, paced: bool) -> list[Heard]:
    """Listeners who come at those times (seconds from now), each in a session of its own, with a text of its own.

    Args:
        paced: listeners play at speech's pace and leave when rejected; else they ask again until they are admitted.
    """
    everything = article(characters * (len(times) + 1))
    heard: list[Heard | None] = [None] * len(times)
    began = time.monotonic()

    def one(number: int) -> None:
        text = everything[number * characters : (number + 1) * characters]
        time.sleep(max(0.0, began + times[number] - time.monotonic()))
        headers = {"X-Session": f"listener {number}", **FRESH}
        found = listen(to.port, text, voice, headers=headers, paced=paced)
        while found.status == TOO_MANY and not paced:
            time.sleep(AGAIN)
            found = listen(to.port, text, voice, headers=headers)
        heard[number] = found

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(times))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found for found in heard if found is not None]


def level(listeners: int, heard: Sequence[Heard], runs: int = 1) -> Level:
    """Count what the listeners of all runs heard."""
    taken = [one for one in heard if one.status != TOO_MANY]
    whole = [one for one in taken if one.complete]
    played = [play(one.arrivals) for one in whole]
    return Level(
        listeners,
        [one.to_first_audible for one in whole if one.to_first_audible is not None],
        sum(not each.underruns for each in played),
        sum(each.underruns for each in played),
        sum(each.gap_seconds for each in played),
        len(heard) - len(taken),
        len(taken) - len(whole),
        runs,
    )


def _row(name: str, level: Level) -> list[Cell]:
    row: list[Cell] = [name, level.listeners, level.runs, level.clean]
    row += [level.underruns, level.gap_seconds, level.rejected]
    waits = Summary.of_any(level.waits)
    row += [level.broken, *((waits.median, waits.p95, waits.p99) if waits else (None, None, None))]
    return [*row, jain(level.waits) if level.waits else None]


def _raw(level: Level) -> dict[str, object]:
    return asdict(level)

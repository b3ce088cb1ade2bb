"""Time to the first audible sample and to the last byte, alongside the limit and alongside competitors."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.measuring.alone import Alone, Bare, plans_profile
from benchmarks.measuring.figures import Summary, median, median_interval
from benchmarks.measuring.judgement import at_least, at_most
from benchmarks.measuring.listening import FRESH, Heard, listen
from benchmarks.measuring.options import Options
from benchmarks.measuring.report import Cell, Report, Table, Verdict
from benchmarks.measuring.subjects import Subject, kokoro_live, kokoro_onnx_server
from benchmarks.measuring.texts import texts

COLD, WARM = "kokoro-live", "kokoro-live, spoken before"
ENGINE, BARE = "its engine alone", "bare session"
STREAM, WHOLE = "kokoro-onnx create_stream", "kokoro-onnx, whole text"

ADDED, ADDED_SHARE = 0.010, 0.03
"""Seconds, and of the limit: what a server may add to first audio."""
FASTER, FASTER_WINDOWED = 5.0, 12.0
TOTAL, TOTAL_WINDOWED = 1.05, 0.8
"""Time to the last byte relative to a bare session's. In windows the convolutions are packed and segments are made side
by side, so such an engine has to be sooner."""
WARM_SECONDS = 0.010

RUNS = {"phrase": 20, "sentence": 20, "paragraph": 6, "article": 1}
QUICK_ARTICLE = 300

Times = tuple[float | None, float | None]
"""Seconds to the first audible sample, and to the end; None where it isn't measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One competitor's times on one text."""

    first: list[float]
    end: list[float]


Results = Mapping[str, Mapping[str, Measured]]
"""Measurements by text, then by competitor."""


def run(options: Options) -> Report:
    """
    Raises:
        CannotStart, ConnectionError, EngineUnavailable: something to be measured doesn't work.
    """
    alone = Alone(options.settings)
    bare = Bare(options.settings, alone.voice) if options.competes else None
    results: dict[str, dict[str, Measured]] = {}
    segments: dict[str, int] = {}
    hits = misses = 0
    rng = random.Random(options.seed)
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(kokoro_live(options.settings))
        theirs = None
        if options.competes:
            assert options.settings.model and options.settings.voices
            theirs = stack.enter_context(kokoro_onnx_server(options.settings.model, options.settings.voices))
        chosen = texts(QUICK_ARTICLE if options.quick else options.article)
        _settle(ours, alone, chosen["sentence"], options)
        for name, text in chosen.items():
            runs = options.count(RUNS[name], quick=1)
            measured: dict[str, Measured] = {}
            for number in range(runs):
                # The order changes each time, so that no subject profits from being measured last.
                contenders = list(_contenders(text, ours, theirs, alone, bare))
                rng.shuffle(contenders)
                for competitor, once in contenders:
                    first, end = once()
                    found = measured.setdefault(competitor, Measured([], []))
                    found.first.extend(() if first is None else (first,))
                    found.end.extend(() if end is None else (end,))
                options.say(f"ttfa: {name}, {number + 1} of {runs}")
            listen(ours.port, text, alone.voice).assert_complete()
            for _ in range(max(runs, 3)):
                again = listen(ours.port, text, alone.voice).assert_complete()
                if again.headers.get("X-Cache") != "hit":
                    misses += 1
                    continue
                hits += 1
                _add(measured.setdefault(WARM, Measured([], [])), again)
            results[name] = measured
            segments[name] = len(alone.plan(text, plans_profile(ours)))
    notes = [f"Warm: {hits} answers came from the cache, {misses} did not and are not counted."]
    return Report(
        "ttfa",
        alone.label,
        _tables(results, segments),
        verdicts(results, alone.windowed),
        notes,
        {text: {who: {"first": m.first, "end": m.end} for who, m in found.items()} for text, found in results.items()},
        in_short=in_short(results),
    )


def in_short(results: Results) -> str:
    """The first sound of each text, in a sentence; empty where nothing was heard."""
    firsts = {text: found[COLD].first for text, found in results.items() if COLD in found and found[COLD].first}
    said = [f"{1000 * median(taken):.0f} ms ({text})" for text, taken in firsts.items()]
    return f"The first sound came after {', '.join(said)}: medians, nothing from the cache." if said else ""


def _settle(ours: Subject, alone: Alone, text: str, options: Options) -> None:
    """Until the server's plans follow what it measured: they must not change between what is compared."""
    for _ in range(options.count(10, quick=1)):
        listen(ours.port, text, alone.voice, headers=FRESH).assert_complete()


def _contenders(
    text: str, ours: Subject, theirs: Subject | None, alone: Alone, bare: Bare | None
) -> Iterator[tuple[str, Callable[[], Times]]]:
    plan = alone.plan(text, plans_profile(ours))

    def cold() -> Times:
        heard = listen(ours.port, text, alone.voice, headers=FRESH).assert_complete()
        return heard.to_first_audible, heard.to_end

    yield COLD, cold
    yield ENGINE, lambda: (alone.to_first_audible(plan[0]), None)
    if bare:

        def limit() -> Times:
            taken = bare.seconds(plan)
            return taken[0], sum(taken)

        yield BARE, limit
    if theirs:
        for name, streams in ((STREAM, True), (WHOLE, False)):

            def other(streams: bool = streams) -> Times:
                heard = listen(theirs.port, text, alone.voice, extra={"stream": streams}).assert_complete()
                return heard.to_first_audible, heard.to_end

            yield name, other


def _add(measured: Measured, heard: Heard) -> None:
    if heard.to_first_audible is not None:
        measured.first.append(heard.to_first_audible)
        measured.end.append(heard.to_end)


def _tables(results: Results, segments: Mapping[str, int]) -> list[Table]:
    rows: list[list[Cell]] = []
    for text, found in results.items():
        for competitor, measured in sorted(found.items()):
            first = Summary.of_any(measured.first)
            rows.append(
                [
                    text,
                    competitor,
                    len(measured.first),
                    first.median * 1e3 if first else None,
                    f"{first.least * 1e3:.0f}–{first.most * 1e3:.0f}" if first else None,
                    median(measured.end) if measured.end else None,
                ]
            )
    columns = ("text", "", "runs", "first audible sample, ms", "least–most", "last byte, s")
    planned: list[list[Cell]] = [[text, count] for text, count in segments.items()]
    return [
        Table("Time to the first audible sample", columns, rows),
        Table("Segments of the server's plan", ("text", "segments"), planned),
    ]


def verdicts(results: Results, windowed: bool) -> list[Verdict]:
    """The targets, as far as what they speak of was measured. A ratio compares the times of one round."""
    found: list[Verdict] = []
    faster, total = (FASTER_WINDOWED, TOTAL_WINDOWED) if windowed else (FASTER, TOTAL)
    for text, measured in results.items():
        ours = measured[COLD]
        if ENGINE in measured:
            found.append(_added(text, ours.first, measured[ENGINE].first))
        if STREAM in measured and text in ("sentence", "paragraph"):
            sooner = [theirs / first for theirs, first in zip(measured[STREAM].first, ours.first, strict=True)]
            target = f"{text}: first audio at least {faster:g} times sooner than {STREAM}"
            found.append(at_least(target, sooner, faster, lambda times: f"{times:.1f} times"))
        if BARE in measured and measured[BARE].end:
            shares = [end / bare for end, bare in zip(ours.end, measured[BARE].end, strict=True)]
            target = f"{text}: last byte after at most {total:.0%} of the time of {BARE}"
            found.append(at_most(target, shares, total, lambda share: f"{share:.1%}"))
        if WARM in measured and measured[WARM].first:
            target = f"{text}: first audio of what was spoken before within 10 ms"
            found.append(at_most(target, measured[WARM].first, WARM_SECONDS, lambda first: f"{first * 1e3:.1f} ms"))
    return found


def _added(text: str, ours: Sequence[float], engine: Sequence[float]) -> Verdict:
    """The server's share of first audio. The verdict is certain if the interval of our median lies on one side of the
    limit, and isn't below the engine's own: a server that is faster than its engine was measured on another machine's
    load."""
    alone = median(engine)
    most = alone * (1 + ADDED_SHARE) + ADDED
    bounds, least = median_interval(ours), median_interval(engine)
    target = f"{text}: first audio at most 10 ms + 3 % after {ENGINE}"
    said = f"{median(ours) * 1e3:.1f} ms, {(median(ours) - alone) * 1e3:+.1f} ms (limit {(most - alone) * 1e3:+.1f} ms)"
    if bounds is None or least is None:
        return Verdict(target, f"{said}; {len(ours)} runs are too few", median(ours) <= most, certain=False)
    said += f"; 95 %: {bounds[0] * 1e3:.1f} to {bounds[1] * 1e3:.1f} ms, {len(ours)} runs"
    one_sided = bounds[1] <= most or bounds[0] > most
    return Verdict(target, said, median(ours) <= most, one_sided and bounds[1] >= least[0])

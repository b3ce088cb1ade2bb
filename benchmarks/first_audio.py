"""Milliseconds before a segment's first block, stage by stage, alongside the same file run whole.

    python -m benchmarks.first_audio --model MODEL --voices VOICES [--rounds 9] [--threads N]

The engine alone, in this process, without text, HTTP or encoding. Three words and a sentence of 27 words take turns
with the same stages run on the whole segment, and with the whole model in one plain session. Figures are medians over
the rounds and, since other programs only slow a run down, the least. A stage's row has its name, how often it ran, the
length of its first input, and milliseconds; `between` is everything that isn't inference: slicing, joining, conversion
to 16 bits. At the end: what the file costs one core, the figures with which the planner begins
(`frontend.planning.profile`).
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from benchmarks.measuring.engine_subject import Published
from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from shm.audio import SAMPLE_RATE
from worker.engine import Block, Engine, RunControl, Utterance
from worker.engines.kokoro import KokoroEngine
from worker.session import graph_name
from worker.settings import WorkerSettings
from worker.split.segments.stage import LoadedStage

SCRIPTS = {
    "short enough for one run": "hˌW ɑɹ jˈu?",
    "three words": "ɡˌʊd mˈɔɹnɪŋ, ˈɛvɹiwˌʌn.",
    "27 words": (
        "ði ˈOld lˈIthˌWs kˈipəɹ klˈImd ðə nˈæɹO stˈɛɹz ˈɛvɹi ˈivnɪŋ, kˈæɹiɪŋ ɐ lˈæmp, ɐ flˈæsk ʌv tˈi, ænd ðə wˈɔɹn "
        "nˈOtbˌʊk ɪn wˌɪʧ hi dɹˈu pˈæsɪŋ ʃˈɪps."
    ),
}
VOICE = (("af_heart", 1.0),)


@dataclass
class Run:
    """One stage's part in a first block."""

    seconds: float = 0.0
    times: int = 0
    frames: int = 0


@dataclass
class Watch:
    """Listens to all stages."""

    runs: dict[str, Run] = field(default_factory=lambda: defaultdict(Run))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While the block runs, each stage's time counts."""
        plain = LoadedStage.run

        def timed(
            stage: LoadedStage, arrays: Sequence[NDArray[Any]], threads: int, control: RunControl
        ) -> list[NDArray[Any]]:
            started = time.perf_counter()
            try:
                return plain(stage, arrays, threads, control)
            finally:
                run = self.runs[graph_name(stage._file)]
                run.seconds += time.perf_counter() - started
                run.times += 1
                run.frames = max(run.frames, *(array.shape[-1] for array in arrays[:1]))

        LoadedStage.run = timed  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            LoadedStage.run = plain  # type: ignore[method-assign]


def first_block(engine: Engine, script: str) -> float:
    """Seconds until the first block is there; the rest isn't made."""
    started = time.perf_counter()
    next(iter(_blocks(engine, script)))
    return time.perf_counter() - started


def measured(engine: Engine, others: Mapping[str, Engine], script: str, rounds: int) -> Table:
    """Rows of one script. `others`: engines whose first blocks take turns with the engine's, by their rows' names."""
    totals, watches = [], []
    wholes: dict[str, list[float]] = {name: [] for name in others}
    for _ in range(rounds):
        for name, other in others.items():
            wholes[name].append(first_block(other, script))
        watch = Watch()
        with watch.watching():
            totals.append(first_block(engine, script))
        watches.append(watch)
    rows: list[Sequence[Cell]] = []
    stages = list(dict.fromkeys(name for watch in watches for name in watch.runs))
    total = median(totals)
    for name in stages:
        run = watches[-1].runs[name]
        rows.append((name, run.times, run.frames, *_times([watch.runs[name].seconds for watch in watches], total)))
    pairs = zip(totals, watches, strict=True)
    rests = [each - sum(run.seconds for run in watch.runs.values()) for each, watch in pairs]
    for name, seconds in (("between", rests), ("first block", totals), *wholes.items()):
        rows.append((name, None, None, *_times(seconds, total)))
    title = f"{script.count(' ') + 1} words, {len(script)} phonemes"
    return Table(title, ("stage", "runs", "length", "ms", "least ms", "% of first block"), rows)


def _times(seconds: Sequence[float], total: float) -> tuple[Cell, ...]:
    """Median and least in milliseconds, and the median's share of `total` in percent."""
    return 1000 * median(seconds), 1000 * min(seconds), 100 * median(seconds) / total


def core_costs(engine: Engine, whole: Engine) -> Table:
    """A cost profile's figures (`frontend.planning.profile`) in processor time, which other programs hardly change.

    Args:
        engine: in windows, with one thread.
        whole: the same file in one plain session, with one thread.
    """
    script = SCRIPTS["27 words"]
    rows: list[Sequence[Cell]] = []
    for name, each in (("in windows", engine), ("whole", whole)):
        started = time.process_time()
        made = [(time.process_time() - started, len(b.samples) / SAMPLE_RATE) for b in _blocks(each, script)]
        audio = sum(seconds for _, seconds in made)
        (first, begin), (total, _) = made[0], made[-1]
        per_audio = (total - first) / (audio - begin) if len(made) > 1 else 0.0
        rows.append((name, (first - per_audio * begin) / len(script), per_audio or None, audio / len(script)))
    return Table("One core", ("", "s per token", "s per second of audio", "audio per token, s"), rows)


def _blocks(engine: Engine, script: str) -> Iterator[Block]:
    return engine.begin(Utterance(script, "en-us", VOICE, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--first-window", type=float, default=WorkerSettings().first_window)
    arguments = parser.parse_args()
    settings = WorkerSettings(threads=arguments.threads, first_window=arguments.first_window)
    engine = KokoroEngine(arguments.model, arguments.voices, settings)
    others: dict[str, Engine] = {
        "the same stages, --vocoder whole": KokoroEngine(
            arguments.model, arguments.voices, replace(settings, vocoder="whole")
        ),
        "the same file, whole": Published(arguments.model, arguments.voices, settings),
    }
    for each in (engine, *others.values()):
        each.warm_up()
    print(described())
    for script in SCRIPTS.values():
        for each in (engine, *others.values()):
            first_block(each, script)
        print("\n" + measured(engine, others, script, arguments.rounds).as_markdown(), flush=True)
    one = WorkerSettings(threads=1, first_window=arguments.first_window)
    engine, whole = (
        KokoroEngine(arguments.model, arguments.voices, one),
        Published(arguments.model, arguments.voices, one),
    )
    engine.warm_up()
    whole.warm_up()
    print("\n" + core_costs(engine, whole).as_markdown())


if __name__ == "__main__":
    main()

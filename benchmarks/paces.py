"""Speech at screen readers' paces: words that Whisper misunderstands, by Kokoro and by espeak-ng at the same rate.

    python -m benchmarks.paces [--rates 200 400 500 600 700] [--sentences 30] [--engine kokoro]

Each engine is asked for the speed at which sentences of 6 to 20 words have so many words a minute, from the first
audible sample to the last. Needs the extra `quality`.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.measuring.evaluation.sentences import middling
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import spoken_words, word_errors
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from benchmarks.openings import segments, spoken
from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Notation
from worker.engine import Engine
from worker.engines.espeak import EspeakEngine
from worker.engines.kokoro import KokoroEngine
from worker.models.choice import kokoro_files
from worker.settings import WorkerSettings

TRIED = 6
"""Sentences by which an engine's speed for a rate is found."""


def said(engine: Engine, pipeline: TextPipeline, texts: Sequence[str], speed: float) -> tuple[list[Pcm], float]:
    """Samples of each text, and all texts' words per minute."""
    notation = Notation.of(engine.info)
    sounds = [spoken(engine, segments(text, pipeline, notation, words=0), speed) for text in texts]
    loud = [np.flatnonzero(np.abs(each.astype(np.int32)) > AUDIBLE) for each in sounds]
    seconds = sum(int(places[-1] + 1 - places[0]) for places in loud) / SAMPLE_RATE
    return sounds, 60 * sum(len(spoken_words(text)) for text in texts) / seconds


def rows(engines: Sequence[Engine], texts: Sequence[str], rates: Sequence[float]) -> Iterator[list[Cell]]:
    """For each rate and engine: the rate, the engine, its speed, words per minute, percent of words misunderstood."""
    pipeline, ears = TextPipeline(G2P()), Recognizer()
    count = sum(len(spoken_words(text)) for text in texts)
    for engine, rate in itertools.product(engines, rates):
        speed = 1.0
        for _ in range(3):  # pauses take another share of the time at another speed
            speed *= rate / said(engine, pipeline, texts[:TRIED], speed)[1]
        sounds, reached = said(engine, pipeline, texts, speed)
        pairs = zip(texts, map(ears.understood, sounds), strict=True)
        # Of what it doesn't understand Whisper makes long texts of its own.
        wrong = sum(min(word_errors(text, understood), len(spoken_words(text))) for text, understood in pairs)
        yield [rate, engine.info.name, speed, reached, 100 * wrong / count]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rates", type=float, nargs="*", default=[200.0, 400.0, 500.0, 600.0, 700.0], help="words a minute"
    )
    parser.add_argument("--sentences", type=int, default=30)
    parser.add_argument("--engine", choices=("kokoro", "espeak-ng"), help="only this one")
    arguments = parser.parse_args()
    texts, settings = middling()[: arguments.sentences], WorkerSettings()
    found = []
    made: dict[str, Callable[[], Engine]] = {
        "kokoro": lambda: KokoroEngine(*kokoro_files(settings), settings),
        "espeak-ng": EspeakEngine,
    }
    engines = [make() for name, make in made.items() if arguments.engine in (None, name)]
    for row in rows(engines, texts, arguments.rates):
        print(f"  {row}", file=sys.stderr, flush=True)
        found.append(row)
    columns = ("words a minute", "engine", "speed", "measured", "words misunderstood, %")
    print(Table(f"Heard by Whisper tiny.en, {len(texts)} sentences", columns, found).as_markdown())
    print(f"\nOn {described()}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One variant in a process of its own: how long it takes to load and to speak, and the memory that it then has.

    python -m benchmarks.variant_speed --model MODEL --voices VOICES --threads 1 --vocoder windowed --cache-dir DIR

Prints one line of JSON. `python -m benchmarks.variants` runs it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import psutil

from shm.audio import SAMPLE_RATE
from worker.engine import Utterance
from worker.kokoro import DEFAULT_VOICE, SAMPLE_SENTENCES, KokoroEngine
from worker.settings import WorkerSettings

TOKENS = 100
"""Of the segment that is spoken."""


def script(vocabulary: str) -> str:
    """So many phonemes of ordinary sentences, without those that the model doesn't know."""
    phonemes = "".join(filter(vocabulary.__contains__, " ".join(SAMPLE_SENTENCES)))
    return phonemes[:TOKENS]


def measured(engine: KokoroEngine, voice: str, repeats: int) -> float:
    """Real-time factor: the median of as many runs as asked for, after a short one."""
    factors = []
    for text in ["jˈɛs.", *[script(engine.info.vocabulary)] * repeats]:
        spoken = "".join(filter(engine.info.vocabulary.__contains__, text))
        started = time.perf_counter()
        samples = sum(
            len(block.samples) for block in engine.begin(Utterance(spoken, "en-us", ((voice, 1.0),), 1.0, seed=1))
        )
        factors.append((time.perf_counter() - started) * SAMPLE_RATE / samples)
    return sorted(factors[1:])[repeats // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--vocoder", choices=("windowed", "whole"), required=True)
    parser.add_argument("--cache-dir", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=1, help="0: only make what is kept in the cache")
    arguments = parser.parse_args()
    settings = WorkerSettings(
        threads=arguments.threads,
        concurrency=1,
        vocoder=arguments.vocoder,
        cache_dir=arguments.cache_dir,
        provider="cpu",
    )
    started = time.perf_counter()
    engine = KokoroEngine(arguments.model, arguments.voices, settings)
    load = time.perf_counter() - started
    voice = DEFAULT_VOICE if DEFAULT_VOICE in engine.info.voices else engine.info.voices[0]
    engine.warm_up()  # a voice whose statistics aren't known is spoken whole, whatever was asked for
    if not arguments.repeats:
        return
    factor = measured(engine, voice, arguments.repeats)
    rss = psutil.Process().memory_info().rss
    print(json.dumps({"load": load, "rss": rss, "rtf": factor}))


if __name__ == "__main__":
    main()

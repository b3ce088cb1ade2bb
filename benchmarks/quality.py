"""What windows cost and what they give: a model vocoded in windows beside the same model whole, with the same noise.

    python -m benchmarks.quality --model MODEL --voices VOICES [--voice af_heart]... [--pairs DIR] [--json FILE]

For each voice, over sentences that its statistics were not gathered from:

* `snr`, `lsd`, `mel`: signal to noise ratio, log-spectral and log-mel distance (dB) of windows against the whole;
* `noise lsd`: the same distance between two whole runs that differ in the seed of their noise alone: the yardstick;
* `seams`: the largest difference, in steps of 16 bits, between small windows and one that covers the segment, both with
  the voice's frozen statistics;
* `first`, `rtf`: seconds to the first block and real-time factor, in windows and whole.

With real weights, listen: `--pairs` writes each sentence both ways, and once with other noise. Times mean something
only on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import platform
import statistics
import time
import wave
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from shm.audio import SAMPLE_RATE, Pcm
from worker.engine import Utterance
from worker.fidelity import log_mel_distance, log_spectral_distance, snr
from worker.kokoro import SAMPLE_SENTENCES, KokoroEngine
from worker.settings import WorkerSettings

SENTENCES = (
    "ɪt wʌz ə bɹˈIt kˈOld dˈA ɪn ˈApɹəl, ænd ðə klˈɑks wɜɹ stɹˈIkɪŋ θˌɜɹtˈin.",
    "ˈɔl hˈæpi fˈæməliz ɑɹ əlˈIk; ˈiʧ ʌnhˈæpi fˈæməli ɪz ʌnhˈæpi ɪn ɪts ˈOn wˈA.",
    "nˈO, nˈO, nˈO!",
    "ðə tɹˈAn æt plˈætfɔɹm sˈɛvən ɪz ðə dəlˈAd ˈɛkspɹˌɛs tə ðə nˈɔɹθ, kˈɔlɪŋ æt ˈɔl stˈAʃənz.",
    "du ju nˈO hˌW fˈɑɹ ɪt ɪz fɹʌm hˈɪɹ tə ðə sˈi?",
)
"""In Kokoro's phonemes: other sentences than those from which statistics are gathered, long and short."""


@dataclasses.dataclass(frozen=True)
class Spoken:
    samples: Pcm
    first: float
    """Seconds to the first block."""
    total: float


def speak(engine: KokoroEngine, script: str, voice: str, seed: int = 0) -> Spoken:
    started = time.perf_counter()
    first, blocks = 0.0, []
    for block in engine.begin(Utterance(script, "en-us", ((voice, 1.0),), 1.0, seed)):
        first = first or time.perf_counter() - started
        blocks.append(block.samples)
    return Spoken(np.concatenate(blocks), first, time.perf_counter() - started)


def made_known(engine: KokoroEngine, voice: str) -> None:
    """Have the voice's statistics gathered."""
    for sentence in SAMPLE_SENTENCES:
        speak(engine, sentence, voice)


def measured(
    windows: KokoroEngine, one: KokoroEngine, whole: KokoroEngine, voice: str, pairs: Path | None
) -> dict[str, Any]:
    made_known(windows, voice)
    rows: list[dict[str, float]] = []
    for number, script in enumerate(SENTENCES):
        windowed, single, exact = (speak(engine, script, voice) for engine in (windows, one, whole))
        other_noise = speak(whole, script, voice, seed=1)
        seconds = len(exact.samples) / SAMPLE_RATE
        rows.append(
            {
                "seconds": seconds,
                "snr": snr(exact.samples, windowed.samples),
                "lsd": log_spectral_distance(exact.samples, windowed.samples),
                "mel": log_mel_distance(exact.samples, windowed.samples),
                "noise lsd": log_spectral_distance(exact.samples, other_noise.samples),
                "seams": float(np.abs(windowed.samples.astype(int) - single.samples).max()),
                "first": windowed.first,
                "first whole": exact.first,
                "rtf": windowed.total / seconds,
                "rtf whole": exact.total / seconds,
            }
        )
        if pairs:
            for kind, spoken in (("windows", windowed), ("whole", exact), ("other-noise", other_noise)):
                write(pairs / f"{voice}-{number}-{kind}.wav", spoken.samples)
    means = {name: statistics.fmean(row[name] for row in rows) for name in rows[0]}
    return {"voice": voice, **means, "seams": max(row["seams"] for row in rows), "sentences": rows}


def write(path: Path, samples: Pcm) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def compared(arguments: argparse.Namespace) -> Iterator[tuple[int, int, list[dict[str, Any]]]]:
    """Threads, megabytes of the engine in windows, and what was measured."""
    settings = WorkerSettings(cache_dir=arguments.cache_dir) if arguments.cache_dir else WorkerSettings()
    for threads in arguments.threads:
        engines = []
        for more in ({"vocoder": "windowed"}, {"vocoder": "windowed", "window": 30.0}, {"vocoder": "whole"}):
            asked: dict[str, Any] = {"threads": threads, **more}
            engines.append(KokoroEngine(arguments.model, arguments.voices, dataclasses.replace(settings, **asked)))
            engines[-1].warm_up()
            if len(engines) == 1:
                speak(engines[0], SENTENCES[0], arguments.voice[0])
                megabytes = round(psutil.Process().memory_info().rss / 1e6)
        windows, one, whole = engines
        yield threads, megabytes, [measured(windows, one, whole, voice, arguments.pairs) for voice in arguments.voice]


def show(console: Console, threads: int, megabytes: int, found: Sequence[dict[str, Any]]) -> None:
    names = [name for name in found[0] if name != "sentences"]
    table = Table(*names, title=f"{threads} thread{'s' * (threads > 1)}; resident in windows: {megabytes} MB")
    for row in found:
        table.add_row(*(row[name] if isinstance(row[name], str) else f"{row[name]:.2f}" for name in names))
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--voice", action="append", help="may be given several times")
    parser.add_argument("--threads", type=int, action="append", help="may be given several times; else 1")
    parser.add_argument("--pairs", type=Path, help="a folder for WAV files to listen to")
    parser.add_argument("--cache-dir", type=Path, help="instead of the server's own cache")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    arguments.voice = arguments.voice or ["af_heart"]
    arguments.threads = arguments.threads or [1]
    results = []
    for threads, megabytes, found in compared(arguments):
        show(Console(), threads, megabytes, found)
        results.append({"threads": threads, "megabytes": megabytes, "voices": found})
    if arguments.json:
        report = {"machine": platform.platform(), "model": arguments.model.name, "results": results}
        arguments.json.write_text(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

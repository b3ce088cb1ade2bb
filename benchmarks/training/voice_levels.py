"""Measure the loudness of Kokoro's voices: python -m benchmarks.training.voice_levels [--texts 8] [--also FILE]
[--check].

Each voice speaks texts of its own language without any gain; the loudness of all its sound together is that of EBU
R 128, gated. The table that the worker applies (`worker/voices/levels.tsv`) is written; the published one is the mean
of such a run and of what --check found on its other texts. With --check nothing is written, the table's gains apply,
and the exit status is 1 if a voice lies more than 1 dB off or peaks above -1 dBTP.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.measuring.evaluation.sentences import calibration, foreign, held_out
from books.writing.chapter_audio import measure
from shm.audio import Pcm
from worker.engine import Utterance
from worker.engines.kokoro import KokoroEngine
from worker.models.choice import kokoro_files
from worker.settings import WorkerSettings
from worker.voices.kokoro_voices import EMBEDDED, LEVELS
from worker.voices.voice_bank import VoiceBank

SHORT = 18
"""Phonemes of the shortest text."""
WITHIN = 1.0
"""dB."""
PEAK = -1.0
"""dBTP."""


def scripts(language: str, unseen: bool, texts: int) -> Sequence[str]:
    """Phonemes to speak; `unseen` ones aren't those of which the table was made."""
    if language.startswith("en"):
        ours = held_out() if unseen else calibration()
    else:
        ours = tuple(script for script in foreign()[language] if len(script) >= SHORT)[unseen::2]
    return [script for script in ours if len(script) >= SHORT][:texts]


def spoken(engine: KokoroEngine, voice: str, language: str, scripts: Sequence[str]) -> Iterator[Pcm]:
    for script in scripts:
        blocks = engine.begin(Utterance(script, language, ((voice, 1.0),), 1.0))
        yield np.concatenate([block.samples for block in blocks])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training.voice_levels", description=__doc__)
    parser.add_argument("--texts", type=int, default=8)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--also", nargs="*", type=Path, default=[], help="other files of the same voices")
    parser.add_argument("--voices", nargs="*", help="only these")
    options = parser.parse_args()
    settings = WorkerSettings() if options.check else WorkerSettings(loudness=0.0)
    engine = KokoroEngine(*kokoro_files(settings), settings)
    found: dict[str, float] = {}
    right = True
    for voice in engine.info.voices:
        if options.voices and voice.name not in options.voices:
            continue
        said = scripts(voice.language, options.check, options.texts)
        measured = measure(spoken(engine, voice.name, voice.language, said))
        loudness, peak = measured.integrated, measured.true_peak
        found[voice.name] = loudness
        print(f"{voice.name:14} {loudness:6.2f} LUFS, peak {peak:6.2f} dBTP", flush=True)
        if options.check:
            right &= abs(loudness - settings.loudness) <= WITHIN and peak <= PEAK
    print(f"from {min(found.values()):.2f} to {max(found.values()):.2f} LUFS")
    if not options.check:
        banks = [VoiceBank.open(file) for file in (*options.also, EMBEDDED)]
        rows = ([name, f"{found[name]:.2f}", *(bank.checksums[name] for bank in banks)] for name in found)
        LEVELS.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

"""Silence that the model makes at punctuation inside a sentence: python -m benchmarks.pauses --model FILE.

Each of three voices says a sentence with one mark between two clauses; the longest silence inside the sentence is that
of the mark. The table is that of `docs/pronunciation.md`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.measuring.report import Cell, Table
from benchmarks.quality.corpus import Item
from benchmarks.quality.speaking import Speaker
from benchmarks.quality.ways import Way
from shm.audio import SAMPLE_RATE, Pcm

SENTENCES = {
    "no mark": "The old man left the house and nobody saw him again.",
    "comma": "The old man left the house, and nobody saw him again.",
    "semicolon": "The old man left the house; nobody saw him again.",
    "colon": "The old man said one thing: nobody saw him again.",
    "dash": "The old man left the house — nobody saw him again.",
    "ellipsis": "The old man left the house… nobody saw him again.",
    "parenthesis": "The old man left the house (nobody saw him) one evening in May.",
    "quotation": "The old man left the house “without a word” one evening in May.",
}
VOICES = ("af_heart", "am_michael", "bf_emma")
_FRAME = SAMPLE_RATE // 100
_SILENT = 0.02
"""Level of a silent frame, relative to the loudest one."""


def longest_silence(samples: Pcm) -> float:
    """Longest silence inside a recording in seconds, without that before the first sound and after the last."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME).astype(np.float64)
    level = np.sqrt((frames**2).mean(axis=1))
    loud = np.flatnonzero(level > _SILENT * level.max())
    return float(np.diff(loud).max() - 1) * _FRAME / SAMPLE_RATE if len(loud) > 1 else 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    options = parser.parse_args()
    speaker = Speaker(Way("pauses", options.model), options.voices)
    rows: list[list[Cell]] = [
        [mark, *(longest_silence(speaker.speak(Item(mark, text, voice)).samples) for voice in VOICES)]
        for mark, text in SENTENCES.items()
    ]
    print(Table("Longest silence in seconds", ("mark", *VOICES), rows).as_markdown())


if __name__ == "__main__":
    main()

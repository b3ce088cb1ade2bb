"""Test of style rows: does a cut clause sound more like a part of its sentence with the sentence's style row?

    python -m benchmarks.style_rows --model MODEL --voices VOICES

A voice has a style for each number of tokens. Each sentence of the gate's texts and of the quality benchmark's passages
is given to the model whole, and each of its clauses alone, once with the style of the clause's own length and once with
that of the sentence's. Only prosody is made: durations and pitch of the same phonemes are compared, clause in sentence
against clause alone. Figures are means over all clauses and four voices.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring.evaluation.sentences import evaluation_texts
from benchmarks.measuring.machine import described
from benchmarks.measuring.renderer import Renderer, pitches
from benchmarks.measuring.report import Cell, Table
from benchmarks.quality.corpus import ENGLISH, PASSAGES
from text.g2p import G2P
from text.pipeline import TextPipeline
from text.words.segment import Cut, Notation, Sentence
from worker.engines.kokoro import KokoroEngine
from worker.settings import WorkerSettings
from worker.split.segments.segment import Prosody
from worker.voices.voice_bank import VoiceBank

_VOICED = 60.0
"""Hz of a phoneme's median F0 from which on it is voiced."""

_SHORTEST = 12
"""Tokens of a clause that is looked at."""

_LAST = 6
"""Voiced phonemes at a clause's end."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Part of a sentence's script, from its character `begin` to `end`."""

    begin: int
    end: int

    @property
    def place(self) -> str:
        return "a sentence's first clause" if self.begin == 0 else "what follows it"


@dataclass(frozen=True, slots=True)
class Difference:
    """A clause alone from the same clause in its sentence."""

    length: float
    """Times as long, without pauses."""
    pitch: float
    """Mean absolute difference in cents."""
    end_pitch: float
    """Cents by which its last phonemes are higher."""


def clauses(sentence: Sentence) -> Iterator[Clause]:
    """The parts of a sentence's script before and after each place between clauses."""
    whole = len(_script(sentence))
    place = len(sentence[0].script)
    for unit, following in itertools.pairwise(sentence):
        begin = place + len(following.lead)
        if unit.cut is Cut.CLAUSE and min(place, whole - begin) >= _SHORTEST:
            yield Clause(0, place)
            yield Clause(begin, whole)
        place = begin + len(following.script)


def difference(script: str, whole: Prosody, alone: Prosody, clause: Clause) -> Difference | None:
    """None where no phoneme is voiced in both."""
    spoken = np.array([phoneme.isalpha() for phoneme in script[clause.begin : clause.end]])
    ours, theirs = (_durations(prosody) for prosody in (whole, alone))
    own = ours[clause.begin : clause.end]
    first, second = pitches(whole)[clause.begin : clause.end], pitches(alone)
    voiced = spoken & (first > _VOICED) & (second > _VOICED)
    if not voiced.any():
        return None
    cents = 1200 * np.log2(second[voiced] / first[voiced])
    return Difference(
        float(theirs[spoken].sum() / own[spoken].sum()),
        float(np.abs(cents).mean()),
        float(np.median(cents[-_LAST:])),
    )


def _durations(prosody: Prosody) -> NDArray[np.int64]:
    """Durations of the script's characters, without the pads."""
    return prosody.durations[1:-1]


def _script(sentence: Sentence) -> str:
    return sentence[0].script + "".join(unit.lead + unit.script for unit in sentence[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    arguments = parser.parse_args()
    settings = WorkerSettings(threads=arguments.threads)
    notation = Notation.of(KokoroEngine(arguments.model, arguments.voices, settings).info)
    renderer = Renderer(arguments.model, VoiceBank.open(arguments.voices), settings, settings.cache_dir)
    found: dict[tuple[str, str], list[Difference]] = {}
    for voice, sentence in _sentences(notation):
        script = _script(sentence)
        for clause in clauses(sentence):
            whole = renderer.prosody(script, voice)
            part = script[clause.begin : clause.end]
            for row, tokens in (("its own", len(part)), ("the sentence's", len(script))):
                alone = renderer.prosody(part, voice, tokens)
                if told := difference(script, whole, alone, clause):
                    found.setdefault((clause.place, row), []).append(told)
    print(f"On {described()}.\n")
    print(_table(found).as_markdown())
    return 0


def _sentences(notation: Notation) -> Iterator[tuple[str, Sentence]]:
    pipeline = TextPipeline(G2P())
    texts = [*(text for text, _ in evaluation_texts()), *PASSAGES]
    for number, text in enumerate(texts):
        for sentence in pipeline.sentences(text, "en-us", notation):
            yield ENGLISH[number % len(ENGLISH)], sentence


def _table(found: dict[tuple[str, str], list[Difference]]) -> Table:
    columns = (
        "clause",
        "style of which length",
        "clauses",
        "times as long",
        "length off, %",
        "pitch off, cents",
        "higher at its end, cents",
    )
    rows: list[list[Cell]] = [
        [
            place,
            row,
            len(each),
            statistics.fmean(one.length for one in each),
            100 * statistics.fmean(abs(one.length - 1) for one in each),
            statistics.fmean(one.pitch for one in each),
            statistics.fmean(one.end_pitch for one in each),
        ]
        for (place, row), each in found.items()
    ]
    return Table("A clause alone, alongside the same clause in its sentence", columns, rows)


if __name__ == "__main__":
    sys.exit(main())

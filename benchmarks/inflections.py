"""Inflections, measured in the sound of the real model: python -m benchmarks.inflections [--voices 6] [--sentences 50]
[--questions 100].

Each sentence is spoken plain and inflected by the model itself, without a server. The pitch is measured by
autocorrelation (`benchmarks.quality.pitch`), levels as root mean squares, times as samples, and words by Whisper where
the extra `quality` is installed. Exits 1 if a median misses its mark.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.measuring.evaluation.sentences import evaluation_texts, questions
from benchmarks.measuring.hearing.opinion import OpinionScorer
from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import word_errors
from benchmarks.measuring.report import Table
from benchmarks.quality.pitch import pitches
from shm.audio import Pcm
from shm.inflection import InflectedSpan, Inflection
from text.g2p import G2P
from text.markup.inflections import EMPHASES
from text.pipeline import TextPipeline
from text.words.segment import Notation, Segment, SpokenWord
from worker.engine import Utterance
from worker.engines.kokoro import KokoroEngine
from worker.models.choice import kokoro_files
from worker.settings import WorkerSettings

VOICES = ("af_heart", "am_michael", "bf_emma", "bm_george", "af_bella", "am_puck")
LANGUAGES = {"a": "en-us", "b": "en-gb"}


@dataclass
class Measure:
    """One thing that is asked for, and what came of it."""

    name: str
    span: Inflection
    got: Callable[[Pcm, Pcm], float]
    """Of the plain sound and the inflected one."""
    asked: float
    within: float
    """How far the median may be from it."""
    found: list[float] = field(default_factory=list)
    errors: int = 0
    """Words that Whisper understood wrongly."""
    opinions: list[float] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return abs(median(self.found) - self.asked) <= self.within


def semitones(plain: Pcm, changed: Pcm) -> float:
    """Median shift of frames that are voiced in both, of sounds of the same length."""
    one, other = pitches(plain), pitches(changed)
    frames = min(len(one), len(other))
    both = ~np.isnan(one[:frames]) & ~np.isnan(other[:frames])
    return float(np.median(12 * np.log2(other[:frames][both] / one[:frames][both])))


def spread(samples: Pcm) -> float:
    """Distance of the pitch's tenth and ninetieth percentile in semitones."""
    voiced = pitches(samples)
    low, high = np.percentile(12 * np.log2(voiced[~np.isnan(voiced)]), [10, 90])
    return float(high - low)


def level(samples: Pcm) -> float:
    """dB relative to full scale, of the root mean square."""
    return float(20 * np.log10(max(np.sqrt((samples.astype(float) ** 2).mean()), 1e-9) / 32768))


def rise(samples: Pcm) -> float:
    """Semitones from the median pitch of the first third to that of the last one."""
    voiced = pitches(samples)
    voiced = 12 * np.log2(voiced[~np.isnan(voiced)])
    third = len(voiced) // 3
    return float(np.median(voiced[-third:]) - np.median(voiced[:third]))


def measures() -> list[Measure]:
    """What is measured on whole sentences."""
    found = [Measure(f"pitch {st:+g} st", Inflection(pitch=st), semitones, st, 0.4) for st in (-4, -2, 2, 4)]
    found += [
        Measure(
            f"range x {factor:g}", Inflection(range=factor), lambda a, b: spread(b) / spread(a), factor, 0.1 * factor
        )
        for factor in (0.5, 1.5)
    ]
    found += [
        Measure(f"volume {db:+g} dB", Inflection(volume=db), lambda a, b: level(b) - level(a), db, 1.0)
        for db in (-12, -6, 6)
    ]
    ramp = Inflection(contour=((0.0, -2.0), (1.0, 4.0)))
    # From the middle of the first third to that of the last one lie two thirds of the ramp.
    found.append(Measure("contour -2 to +4 st", ramp, lambda a, b: rise(b) - rise(a), 4.0, 0.4))
    return found


class Voice:
    """The model, by its own interface."""

    def __init__(self) -> None:
        settings = WorkerSettings()
        self._engine = KokoroEngine(*kokoro_files(settings), settings)
        self._notation = Notation.of(self._engine.info)
        self._pipeline = TextPipeline(G2P())

    def segment(self, text: str, voice: str) -> Segment | None:
        """The text as one segment; None if it is longer."""
        sentences = self._pipeline.sentences(text, LANGUAGES[voice[0]], self._notation)
        units = [unit for sentence in sentences for unit in sentence]
        script = units[0].script + "".join(unit.lead + unit.script for unit in units[1:])
        if len(script) > self._notation.max_tokens:
            return None
        words, position = [], -len(units[0].lead)
        for unit in units:
            position += len(unit.lead)
            words += [replace(each, start=each.start + position, end=each.end + position) for each in unit.words]
            position += len(unit.script)
        return Segment(text, script, len(script), units[-1].cut, tuple(words))

    def say(self, script: str, voice: str, *spans: InflectedSpan) -> Pcm:
        asked = Utterance(script, LANGUAGES[voice[0]], ((voice, 1.0),), 1.0, inflected=spans)
        return np.concatenate([block.samples for block in self._engine.begin(asked)])

    def timed(self, script: str, voice: str, *spans: InflectedSpan) -> tuple[Pcm, dict[int, int]]:
        """The sound, and the sample at which each character of the script begins to sound."""
        asked = Utterance(script, LANGUAGES[voice[0]], ((voice, 1.0),), 1.0, inflected=spans, marks=True)
        blocks = list(self._engine.begin(asked))
        return np.concatenate([block.samples for block in blocks]), dict(blocks[0].marks)


@dataclass
class Word:
    """One emphasised word: how it changed."""

    longer: bool
    higher: bool
    louder: bool
    neighbours: float
    """Largest change of the other words' pitch in semitones."""

    @property
    def prominent(self) -> bool:
        return self.longer and self.higher and self.louder and self.neighbours < 0.5


def emphasised(voice: Voice, script: str, name: str, words: Sequence[SpokenWord]) -> Iterator[Word]:
    """A word in the middle of the sentence that is long enough to be measured."""
    long_enough = [place for place, word in enumerate(words) if word.end - word.start >= 4]
    if not long_enough:
        return
    place = long_enough[len(long_enough) // 2]
    start, end = words[place].start, words[place].end
    plain, before = voice.timed(script, name)
    changed, after = voice.timed(script, name, InflectedSpan(start, end, EMPHASES["strong"]))
    one, other = plain[before[start] : before[end]], changed[after[start] : after[end]]
    pitch_one, pitch_other = pitches(one), pitches(other)
    if np.isnan(pitch_one).all() or np.isnan(pitch_other).all():
        return
    head = min(before[start], after[start]) - 1200
    neighbours = abs(semitones(plain[:head], changed[:head])) if head > 12_000 else 0.0
    yield Word(
        longer=len(other) > 1.1 * len(one),
        higher=bool(12 * np.log2(np.nanmedian(pitch_other) / np.nanmedian(pitch_one)) > 1),
        louder=level(other) - level(one) > 1,
        neighbours=neighbours,
    )


RISEN = 3.0
"""Semitones above the sentence's mean that the last 150 ms of a rising question have at least."""


def last_pitch(samples: Pcm) -> float:
    """Semitones between the median pitch of the last voiced 150 ms and the mean of all."""
    found = pitches(samples)
    last = int(np.flatnonzero(~np.isnan(found)).max(initial=0)) + 1
    return float(12 * np.log2(np.nanmedian(found[max(0, last - 15) : last]) / np.exp(np.nanmean(np.log(found)))))


def asked(voice: Voice, voices: int, most: int, ears: Recognizer | None, judge: OpinionScorer | None) -> bool:
    """Questions and other sentences as the server reads them, and without their rise; True if they are as asked."""
    rising = [text for text, rises in questions() if rises][:most]
    falling = [text for text, rises in questions() if not rises][:most]
    errors, opinions = [0, 0], [[0.0], [0.0]]
    found: dict[bool, list[float]] = {True: [], False: []}
    for place, text in enumerate([*rising, *falling]):
        name = VOICES[place % voices]
        segment = voice.segment(text, name)
        assert segment is not None
        read = voice.say(segment.script, name, *segment.inflected())
        found[text in rising].append(last_pitch(read))
        if (found[text in rising][-1] >= RISEN) is not (text in rising):
            print(f"{name} {found[text in rising][-1]:+.1f} st: {text}", flush=True)
        if segment.inflected() and (ears or judge):
            for way, sound in enumerate((voice.say(segment.script, name), read)):
                errors[way] += word_errors(text, ears.understood(sound)) if ears else 0
                opinions[way] += [judge.opinion(sound).p808] if judge else []
    up, other = (sum(each >= RISEN for each in found[kind]) for kind in (True, False))
    mean = [float(np.mean(each[1:] or [0])) for each in opinions]
    words = sum(len(text.split()) for text in rising)
    print(
        f"Rise by {RISEN:g} st: {up} of {len(rising)} yes/no questions (median {median(found[True]):.1f} st), {other} "
        f"of {len(falling)} other sentences; with the rise against without: {errors[1] - errors[0]:+d} word errors of "
        f"{words}, DNSMOS P.808 {mean[1] - mean[0]:+.3f}\n",
        flush=True,
    )
    return up >= 0.9 * len(rising) and other <= 0.05 * len(falling) and mean[1] - mean[0] >= -0.02


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--voices", type=int, default=len(VOICES))
    parser.add_argument("--sentences", type=int, default=50, help="0: questions alone")
    parser.add_argument("--questions", type=int, default=100, help="so many that rise, and as many others")
    parser.add_argument("--deaf", action="store_true", help="without Whisper and DNSMOS")
    parser.add_argument("--out", type=Path, help="a file for the table")
    options = parser.parse_args()
    voice = Voice()
    ears = Recognizer() if Recognizer.is_installed() and not options.deaf else None
    judge = OpinionScorer() if OpinionScorer.is_installed() and not options.deaf else None
    questions_rise = asked(voice, options.voices, options.questions, ears, judge)
    if not options.sentences:
        return 0 if questions_rise else 1
    inflections = measures()
    emphases: list[Word] = []
    seconds: list[float] = []
    plain_errors = spoken_words = 0
    plain_opinions: list[float] = []
    texts = [text for text, _ in evaluation_texts() if 6 <= len(text.split()) <= 20][: options.sentences]
    for place, text in enumerate(texts):
        name = VOICES[place % options.voices]
        segment = voice.segment(text, name)
        if segment is None:
            continue
        script, words = segment.script, segment.words
        plain = voice.say(script, name)
        spoken_words += len(text.split())
        plain_errors += word_errors(text, ears.understood(plain)) if ears else 0
        if judge:
            plain_opinions.append(judge.opinion(plain).p808)
        for each in inflections:
            changed = voice.say(script, name, InflectedSpan(0, len(script), each.span))
            each.found.append(each.got(plain, changed))
            if ears and each.name.startswith("pitch"):
                each.errors += word_errors(text, ears.understood(changed))
            if judge and each.name.startswith("pitch"):
                each.opinions.append(judge.opinion(changed).p808)
        wanted = 1.25 * len(plain) / 24_000
        timed = voice.say(script, name, InflectedSpan(0, len(script), Inflection(), wanted))
        seconds.append(len(timed) / 24_000 / wanted)
        emphases += emphasised(voice, script, name, words)
    rows = [
        (
            each.name,
            f"{each.asked:g}",
            f"{median(each.found):.2f}",
            f"{each.errors - plain_errors:+d} of {spoken_words}" if ears and each.name.startswith("pitch") else "",
            f"{np.mean(each.opinions) - np.mean(plain_opinions):+.3f}" if each.opinions else "",
        )
        for each in inflections
    ]
    rows.append(("duration x 1.25", "1", f"{median(seconds):.2f}", "", ""))
    good = sum(each.prominent for each in emphases)
    rows.append(("emphasis strong: longer, higher, louder", "95 %", f"{good} of {len(emphases)}", "", ""))
    table = Table("Inflections", ("inflection", "asked", "median", "word errors", "DNSMOS P.808"), rows).as_markdown()
    print(table)
    if options.out:
        options.out.write_text(table + "\n")
    return 0 if questions_rise and all(each.holds for each in inflections) and good >= 0.95 * len(emphases) else 1


if __name__ == "__main__":
    sys.exit(main())

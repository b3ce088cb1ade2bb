"""Distance of windows with predicted statistics from the whole run: python -m benchmarks.statistics_table.

    python -m benchmarks.statistics_table --model MODEL [--reference FLOAT] [--texts 3 | --every-voice] [--words 10,25]
        [--own | --predictor FILE...] [--in-one-run]

Texts of one word to 510 tokens that no predictor was made from, at each length by some voices, blends and speeds, are
made as the engine makes them (short ones in one run without most of their silence, others in windows) and whole. Level
and log-mel distance leave the lead out. Pauses: the mean level of 20 ms frames in which the whole run is 45 dB below
its loudest frame, where there are four, without zeros at the end. With `--reference`, the same model in floats
(`kokoro-live dequantize`), both are compared with that too, run whole on the same decoder's features: an int8 model
rounds each run by its ranges, so its own whole run has an error. `--in-one-run`: short texts alone.
`--every-voice`: three texts for each voice, one of them in a blend, so that all lengths come equally often; below the
table is each text beyond a limit. `--own`: windows with the segment's own statistics instead of predicted ones, the
limit of any prediction. With several predictors, there is a table for each, of the same texts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measuring.evaluation.sentences import held_out
from benchmarks.measuring.mel_distance import log_mel_distance
from benchmarks.measuring.report import Cell, Table
from benchmarks.training.statistics_samples import Speaker, Spoken, Task, script
from shm.audio import Pcm
from shm.messages import Voice
from worker.engine import EngineUnavailable, RunControl
from worker.pcm import to_pcm
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared, prepare
from worker.split.rewrites.stage_files import GENERATOR, WEIGHTED_GENERATOR
from worker.split.segments.segment import WindowedSegment
from worker.split.segments.stage import FittedStage, LoadedStage
from worker.split.segments.statistics import Predictor, Statistics, predictor_for
from worker.split.segments.windows import FRAME_SAMPLES, WindowShape, windows
from worker.split.speech import EXACT_BELOW, in_weighted_run
from worker.targets import StageTarget
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

LENGTHS = (1, 2, 4, 6, 10, 16, 25, 35, 45, 60, 90)
"""Words; 90 are about 510 tokens."""

COLUMNS = (
    "words",
    "texts",
    "in one run",
    "level",
    "worst",
    "log-mel",
    "worst",
    "to floats",
    "worst",
    "whole to floats",
    "pauses, worst",
    "loudest",
    "whole's loudest",
)
"""Column titles; all values but counts and loudest samples are in dB, levels and pauses without their sign."""

LEVEL, LOG_MEL, PAUSES = 1.0, 2.0, 3.0
"""Limits in dB: of level and pauses either way, of the log-mel distance to full precision where it is known."""

_SEED = 1_000
"""Far from those of the texts that predictors are made from."""

_PAUSE_DB, _PAUSE_FRAME = 45.0, 480


class Windows:
    """One model's generators: in the windows of the default settings, with given statistics; and in one run."""

    def __init__(self, prepared: Prepared, speaker: Speaker) -> None:
        self._generator = FittedStage(
            LoadedStage(prepared.folder / GENERATOR, WorkerSettings(threads=1), StageTarget())
        )
        self._one_run = LoadedStage(prepared.folder / WEIGHTED_GENERATOR, WorkerSettings(threads=1), StageTarget())
        self._speaker = speaker
        self._shape = WindowShape.of(WorkerSettings())

    def sound(self, spoken: Spoken, statistics: Statistics) -> Pcm:
        """A short segment's sound takes its own statistics.

        Raises:
            EngineError: the model can't speak this.
        """
        prosody, source = spoken.prosody, self._speaker.source(spoken.prosody)
        if prosody.frames < EXACT_BELOW:
            return to_pcm(in_weighted_run(prosody, spoken.features, source, self._one_run, 1, RunControl()))
        segment = WindowedSegment(prosody, spoken.features, source, statistics, self._generator, RunControl())
        plan = windows(prosody.lead, prosody.frames, self._shape)
        return np.concatenate([to_pcm(segment.samples(window, 1)) for window in plan])


@dataclass(frozen=True, slots=True)
class Judged:
    """One text's sound, made as the engine makes it, against the whole run."""

    words: int
    in_one_run: bool
    level: float
    """Level against the whole run's, in dB."""
    distance: float
    """Log-mel distance in dB."""
    pauses: float | None
    """dB louder where the whole run pauses; None if it has too few pauses."""
    loudest: int
    whole_loudest: int
    to_floats: float | None = None
    """Log-mel distance in dB to the model in floats, run whole."""
    whole_to_floats: float | None = None
    """The whole run's own."""

    @property
    def is_beyond(self) -> bool:
        """True if it is beyond a limit."""
        distance = self.distance if self.to_floats is None else self.to_floats
        return abs(self.level) > LEVEL or distance > LOG_MEL or abs(self.pauses or 0) > PAUSES


def judged(words: int, whole: Pcm, made: Pcm, in_floats: Pcm | None, in_one_run: bool) -> Judged:
    """Judge what was made; all sounds begin where its first window does."""
    frames = [_frame_levels(whole), _frame_levels(made)]
    quiet = frames[0] < frames[0].max() - _PAUSE_DB
    quiet[len(np.trim_zeros(made, "b")) // _PAUSE_FRAME :] = False  # zeros are no pause that one could hear
    pauses = float((frames[1] - frames[0])[quiet].mean()) if quiet.sum() >= 4 else None
    return Judged(
        words,
        in_one_run,
        _level(made) - _level(whole),
        log_mel_distance(whole, made),
        pauses,
        _loudest(made),
        _loudest(whole),
        None if in_floats is None else log_mel_distance(in_floats, made),
        None if in_floats is None else log_mel_distance(in_floats, whole),
    )


def _loudest(samples: Pcm) -> int:
    return int(np.abs(samples.astype(int)).max())


def _level(samples: Pcm) -> float:
    return float(10 * np.log10((samples.astype(float) ** 2).mean() + 1))


def _frame_levels(samples: Pcm) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    whole = samples[: len(samples) // _PAUSE_FRAME * _PAUSE_FRAME].reshape(-1, _PAUSE_FRAME).astype(float)
    levels: np.ndarray[tuple[int], np.dtype[np.float64]] = 10 * np.log10((whole**2).mean(axis=1) + 1)
    return levels


def unseen(bank: VoiceBank, texts: int) -> Iterator[tuple[int, Task]]:
    """Texts by length; each has another voice, every third is a blend, every fourth is slower or faster."""
    for length, words in enumerate(LENGTHS):
        for text in range(texts if words < max(LENGTHS) else 1):
            random = np.random.default_rng([_SEED, length, text])
            names = random.choice(bank.names, 2, replace=False)
            place = length + text
            blend: Voice = ((str(names[0]), 0.6), (str(names[1]), 0.4))
            voice = blend if place % 3 == 2 else ((str(names[0]), 1.0),)
            speed = float(random.choice((0.8, 1.3))) if place % 4 == 3 else 1.0
            yield words, Task("", voice, script(held_out(), words, random), speed)


def of_every_voice(bank: VoiceBank) -> Iterator[tuple[int, Task]]:
    """Texts by length: two by each voice alone, and one by a blend of it; every fourth is slower or faster.

    A voice's three lengths lie far apart, and are other ones than those of the voice before.
    """
    apart = len(LENGTHS) // 3
    for number, name in enumerate(bank.names):
        random = np.random.default_rng([_SEED + 1, number])
        other = str(random.choice([each for each in bank.names if each != name] or [name]))
        alone, blend = ((name, 1.0),), ((name, 0.6), (other, 0.4))
        for place, voice in enumerate((alone, alone, blend)):
            words = LENGTHS[(number + place * (apart + 1)) % len(LENGTHS)]
            speed = float(random.choice((0.8, 1.3))) if (number + place) % 4 == 3 else 1.0
            yield words, Task("", voice, script(held_out(), words, random), speed)


def rows(found: Sequence[Judged]) -> Iterator[list[Cell]]:
    """Rows of the table: one for each length."""
    for words in LENGTHS:
        if not (these := [each for each in found if each.words == words]):
            continue
        columns = (
            [abs(each.level) for each in these],
            [each.distance for each in these],
            [each.to_floats for each in these if each.to_floats is not None],
        )
        figures = [_told(value) for column in columns for value in (_mean(column), max(column, default=None))]
        yield [
            words,
            len(these),
            sum(each.in_one_run for each in these),
            *figures,
            _told(_mean([each.whole_to_floats for each in these if each.whole_to_floats is not None])),
            _told(max((abs(each.pauses) for each in these if each.pauses is not None), default=None)),
            max(each.loudest for each in these),
            max(each.whole_loudest for each in these),
        ]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _told(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


class Measurement:
    """Texts spoken by one model."""

    def __init__(self, model: Path, reference: Path | None, bank: VoiceBank) -> None:
        """
        Raises:
            Unprepared: a model can't be split.
        """
        cache = WorkerSettings().cache_dir
        prepared = prepare(model, cache)
        self._speaker = Speaker(prepared, bank)
        self._windows = Windows(prepared, self._speaker)
        self._reference = Speaker(prepare(reference, cache), bank) if reference else None

    def judged(self, words: int, task: Task, predictors: Sequence[Predictor | None]) -> list[Judged]:
        """The text made with each predictor's statistics; None is for the segment's own.

        Raises:
            EngineError: the model can't speak this.
        """
        spoken = self._speaker.speak(task)
        begin = spoken.prosody.lead * FRAME_SAMPLES
        in_one_run = spoken.prosody.frames < EXACT_BELOW
        whole, floats = spoken.audio[begin:], None
        if self._reference is not None:
            floats = self._reference.vocode(spoken.prosody, spoken.features)[0][begin:]
        found = []
        for predictor in predictors:
            statistics = predictor.predict(spoken.sample.described) if predictor else spoken.statistics
            found.append(judged(words, whole, self._windows.sound(spoken, statistics), floats, in_one_run))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--reference", type=Path, help="the same model in floats")
    parser.add_argument("--voices", type=Path, default=EMBEDDED)
    parser.add_argument(
        "--predictor", type=Path, action="append", help="in place of the one that the engine would take"
    )
    parser.add_argument("--own", action="store_true", help="the segment's own statistics in place of predicted ones")
    parser.add_argument("--texts", type=int, default=3, help="at each length but the longest, which has one")
    parser.add_argument("--every-voice", action="store_true", help="three texts for each voice in place of --texts")
    parser.add_argument("--in-one-run", action="store_true", help="only texts that are short enough for that")
    parser.add_argument("--words", help=f"lengths, of {','.join(map(str, LENGTHS))}  [default: all]")
    options = parser.parse_args()
    bank = VoiceBank.open(options.voices)
    measurement = Measurement(options.model, options.reference, bank)
    ways: dict[str, Predictor | None] = {str(file): Predictor.load(file) for file in options.predictor or ()}
    if not ways:
        ways["own statistics" if options.own else "predicted"] = None if options.own else predictor_of(options.model)
    wanted = {int(words) for words in options.words.split(",")} if options.words else set(LENGTHS)
    found: dict[str, list[Judged]] = {way: [] for way in ways}
    beyond = []
    for words, task in of_every_voice(bank) if options.every_voice else unseen(bank, options.texts):
        if words not in wanted:
            continue
        said = "+".join(name for name, _ in task.voice)
        for way, each in zip(ways, measurement.judged(words, task, list(ways.values())), strict=True):
            if options.in_one_run and not each.in_one_run:
                continue
            found[way].append(each)
            line = f"{way}: {said}, speed {task.speed}: {each}"
            print(line, file=sys.stderr, flush=True)
            beyond += [line] if each.is_beyond else []
    for way, these in found.items():
        title = f"Windows against the whole run, {options.model.name}, {way}"
        print(Table(title, COLUMNS, list(rows(these))).as_markdown())
    print("\n".join(["\nBeyond a limit:", *(beyond or ["nothing"])]))


def predictor_of(model: Path) -> Predictor:
    """The predictor that the engine takes.

    Raises:
        EngineUnavailable: no statistics are known for the model.
    """
    manifest = prepare(model, WorkerSettings().cache_dir).manifest
    predictor = predictor_for(model, manifest.fingerprint, manifest.channels)
    if predictor is None:
        raise EngineUnavailable(f"no statistics are known for {model}")
    return predictor


if __name__ == "__main__":
    main()

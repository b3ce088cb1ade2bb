"""Distance of windows with predicted statistics from the whole run: python -m benchmarks.statistics_table.

    python -m benchmarks.statistics_table --model MODEL [--texts 6]

Texts that no predictor was made from, at each length by some voices, blends and speeds, once whole and once in windows
with the same noise. Level and log-mel distance leave the lead out. Pauses: the mean level of 20 ms frames in which the
whole run is 45 dB below its loudest frame, where there are four. Segments that the engine makes whole are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.report import Cell, Table
from benchmarks.statistics_samples import Speaker, Spoken, Task, script
from shm.audio import Pcm
from shm.messages import Voice
from worker.cancellation import Cancellation
from worker.engine import EngineUnavailable
from worker.fidelity import log_mel_distance
from worker.pcm import to_pcm
from worker.providers.records import StageRecord
from worker.settings import WorkerSettings
from worker.split.fitted_stage import FittedStage
from worker.split.prepared import Prepared, prepare
from worker.split.segment import WindowedSegment
from worker.split.speech import EXACT_BELOW
from worker.split.stage import Stage
from worker.split.stage_files import GENERATOR
from worker.split.statistics import Predictor, Statistics, predictor_for
from worker.split.windows import FRAME_SAMPLES, WindowShape, windows
from worker.voices.low_rank import EMBEDDED
from worker.voices.voice_bank import VoiceBank

LENGTHS = (4, 6, 10, 16, 25, 45, 90)
"""Words; 90 are about 510 tokens."""

COLUMNS = ("words", "texts", "level", "worst", "log-mel", "worst", "pauses, worst", "loudest sample")
"""Column titles; all values but the last are in dB, levels without their sign."""

_SEED = 1_000
"""Far from those of the texts that predictors are made from."""

_PAUSE_DB, _PAUSE_FRAME = 45.0, 480


class Windows:
    """One model's generator in the windows of the default settings, with given statistics."""

    def __init__(self, prepared: Prepared, speaker: Speaker) -> None:
        self._generator = FittedStage(Stage(prepared.folder / GENERATOR, WorkerSettings(threads=1), StageRecord()))
        self._speaker = speaker
        self._shape = WindowShape.of(WorkerSettings())

    def sound(self, spoken: Spoken, statistics: Statistics) -> Pcm:
        """
        Raises:
            EngineError: the model can't speak this.
        """
        prosody, source = spoken.prosody, self._speaker.source(spoken.prosody)
        segment = WindowedSegment(prosody, spoken.features, source, statistics, self._generator, Cancellation())
        plan = windows(prosody.lead, prosody.frames, self._shape)
        return np.concatenate([to_pcm(segment.samples(window, 1)) for window in plan])


def judged(spoken: Spoken, made: Pcm) -> tuple[float, float, float | None, int]:
    """Level in dB, log-mel distance in dB, pauses in dB against the whole run; and the loudest sample."""
    whole = spoken.audio[spoken.prosody.lead * FRAME_SAMPLES :]
    frames = [_frame_levels(whole), _frame_levels(made)]
    quiet = frames[0] < frames[0].max() - _PAUSE_DB
    pauses = float((frames[1] - frames[0])[quiet].mean()) if quiet.sum() >= 4 else None
    level = _level(made) - _level(whole)
    return level, log_mel_distance(whole, made), pauses, int(np.abs(made.astype(int)).max())


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
            yield words, Task("", voice, script(words, random), speed)


def rows(found: Sequence[tuple[int, float, float, float | None, int]]) -> Iterator[list[Cell]]:
    """One for each length."""
    for words in LENGTHS:
        these = [each[1:] for each in found if each[0] == words]
        if these:
            levels = [abs(level) for level, *_ in these]
            distances = [distance for _, distance, *_ in these]
            pauses = [abs(quiet) for _, _, quiet, _ in these if quiet is not None]
            worst = f"{max(pauses):.1f}" if pauses else "–"
            figures = (np.mean(levels), max(levels), np.mean(distances), max(distances))
            yield [words, len(these), *(f"{figure:.2f}" for figure in figures), worst, max(loud for *_, loud in these)]


def measure(model: Path, bank: VoiceBank, predictor: Predictor | None, texts: int) -> list[list[Cell]]:
    """
    Raises:
        EngineUnavailable: no statistics are known for the model.
    """
    prepared = prepare(model, WorkerSettings().cache_dir)
    predictor = predictor or predictor_for(model, prepared.manifest.fingerprint, prepared.manifest.channels)
    if predictor is None:
        raise EngineUnavailable(f"no statistics are known for {model}")
    speaker = Speaker(prepared, bank)
    in_windows = Windows(prepared, speaker)
    found = []
    for words, task in unseen(bank, texts):
        spoken = speaker.speak(task)
        if spoken.prosody.frames >= EXACT_BELOW:
            made = in_windows.sound(spoken, predictor.predict(spoken.sample.described))
            found.append((words, *judged(spoken, made)))
            level, distance, pauses, loud = found[-1][1:]
            said = "+".join(name for name, _ in task.voice)
            print(f"{words} words, {said}, speed {task.speed}: {level:+.2f} {distance:.2f} {pauses} {loud}", flush=True)
    return list(rows(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, default=EMBEDDED)
    parser.add_argument("--predictor", type=Path, help="in place of the one that the engine would take")
    parser.add_argument("--texts", type=int, default=6, help="at each length")
    options = parser.parse_args()
    predictor = Predictor.load(options.predictor) if options.predictor else None
    found = measure(options.model, VoiceBank.open(options.voices), predictor, options.texts)
    print(Table(f"Windows against the whole run, {options.model.name}", COLUMNS, found).as_markdown())


if __name__ == "__main__":
    main()

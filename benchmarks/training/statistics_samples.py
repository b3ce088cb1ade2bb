"""Training samples of a predictor of AdaIN statistics: segments of many voices and lengths, with their statistics."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kokoro_onnx.config import DEFAULT_VOCAB, MAX_PHONEME_LENGTH
from numpy.typing import NDArray

from benchmarks.measuring.evaluation.sentences import calibration, foreign
from shm.audio import Pcm
from shm.messages import Voice
from worker.engine import RunControl
from worker.pcm import to_pcm
from worker.settings import WorkerSettings
from worker.split.prepared import Prepared
from worker.split.rewrites.stage_files import DECODER, EXACT_GENERATOR, PROSODY, SOURCE
from worker.split.segments.segment import HarmonicSource, Prosody, features_of
from worker.split.segments.stage import LoadedStage
from worker.split.segments.statistics import Statistics, describe
from worker.targets import StageTarget
from worker.voices.kokoro_voices import kokoro_voice
from worker.voices.voice_bank import VoiceBank

WORDS = (10, 20, 5, 32, 14, 7, 4, 45, 17, 3, 2, 1, 2, 1, 3, 2, 1)
"""Words in each text of a voice, give or take a fifth; the order covers all lengths early if a run stops early. Short
texts are the majority: they differ most from one another."""

BLENDS = 108
BLEND = "20-blend"
"""Prefix of the names of blends' samples."""

_SHARED = {3: (2, 0), 7: (3, 1)}
"""Texts that every second or third voice speaks alone, because they are long, and from which one on."""

_BLENDS_AFTER = 4
"""Number of texts after which the blends come."""

_LONGEST = 90
"""Words, which is about 510 tokens: every ninth voice's longest text."""

_SPEEDS = (0.5, 0.7, 1.4, 2.0)
"""Speeds of every sixth text; the others have speed 1."""

_SHORT = 4
"""Words up to which a text is cut out of a sentence anywhere."""

_NOBODY = RunControl()


@dataclass(frozen=True, slots=True)
class Task:
    """One text that one voice speaks."""

    name: str
    voice: Voice
    script: str
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One segment: what its statistics are predicted from, and they themselves."""

    described: list[NDArray[np.float64]]
    statistics: Statistics

    @property
    def frames(self) -> float:
        """Frames at 80 Hz, from the description."""
        return float(100 / self.described[0][0])


@dataclass(frozen=True, slots=True)
class Spoken:
    """One segment made whole."""

    prosody: Prosody
    features: NDArray[np.float32]
    audio: Pcm
    """The segment's audio with its leading silence."""
    statistics: Statistics

    @property
    def sample(self) -> Sample:
        prosody = self.prosody
        described = describe(self.features, prosody.f0, prosody.energy, prosody.durations, prosody.style)
        return Sample(described, self.statistics)


def tasks(bank: VoiceBank) -> Iterator[Task]:
    """Texts for the voices: the project's own sentences, in pieces and joined; the same in each run.

    Every second text of a voice of another language is in that language, the others are in English.
    """
    for text, words in enumerate(WORDS):
        if text == _BLENDS_AFTER:
            yield from _blends(bank)
        for number, voice in enumerate(bank.names):
            every, first = _SHARED.get(text, (1, 0))
            if number % every == first:
                random = np.random.default_rng([text, number])
                longest = words == max(WORDS) and number % 9 == 1
                count = _LONGEST if longest else max(1, round(words * random.uniform(0.8, 1.25)))
                speed = float(random.choice(_SPEEDS)) if (7 * text + number) % 6 == 0 else 1.0
                own = foreign().get(kokoro_voice(voice).language) if text % 2 else None
                said = script(own or calibration(), count, random)
                yield Task(f"{text:02d}-{voice}", ((voice, 1.0),), said, speed)


def _blends(bank: VoiceBank) -> Iterator[Task]:
    """Texts that two voices speak as one: a blend's statistics aren't halfway between theirs. One voice alone has
    none."""
    if len(bank.names) < 2:
        return
    for number in range(BLENDS):
        random = np.random.default_rng([len(WORDS), number])
        one, other = random.choice(bank.names, 2, replace=False)
        share = round(float(random.uniform(0.3, 0.7)), 2)
        words = max(1, round((9, 2, 14, 1, 5, 3)[number % 6] * random.uniform(0.8, 1.25)))
        voice = ((str(one), share), (str(other), round(1 - share, 2)))
        yield Task(f"{BLEND}-{number:02d}", voice, script(calibration(), words, random))


def few_tasks(bank: VoiceBank) -> Iterator[Task]:
    """Enough for a model whose shape, not its sound, is the point: two short texts for each voice."""
    random = np.random.default_rng(0)
    for voice in bank.names:
        for words in (4, 9):
            yield Task(f"{words}-{voice}", ((voice, 1.0),), script(calibration(), words, random))


def script(sentences: Sequence[str], words: int, random: np.random.Generator) -> str:
    """Phonemes of so many words, of whole sentences in some order; the last one is cut short."""
    said: list[str] = []
    while len(said) < words:
        sentence = sentences[int(random.integers(len(sentences)))].split(" ")
        if words <= _SHORT:
            begin = random.integers(max(1, len(sentence) - words))
            sentence = sentence[begin : begin + words]
        said += sentence
    said = said[:words]
    said[-1] = said[-1].rstrip(",.;:!?") + random.choice([*".!?,"])
    return "".join(filter(DEFAULT_VOCAB.__contains__, " ".join(said)))[:MAX_PHONEME_LENGTH]


class Speaker:
    """Speaks segments whole with one thread, and tells what they are made of."""

    def __init__(self, prepared: Prepared, bank: VoiceBank) -> None:
        settings = WorkerSettings(threads=1)
        self._noise = prepared.manifest.noise
        self._bank = bank
        self._prosody, self._source, self._decoder, self._generator = (
            LoadedStage(prepared.folder / name, settings, StageTarget())
            for name in (PROSODY, SOURCE, DECODER, EXACT_GENERATOR)
        )

    def speak(self, task: Task) -> Spoken:
        """
        Raises:
            EngineError: the model can't speak this.
        """
        tokens = [DEFAULT_VOCAB[phoneme] for phoneme in task.script]
        style = self._bank.style(task.voice, len(tokens))
        inputs = [np.array([[0, *tokens, 0]]), style, np.array([task.speed])]
        text, f0, energy, durations = self._prosody.run(inputs, 1, _NOBODY)
        prosody = Prosody(text, f0, energy, durations.ravel().astype(np.int64), style)
        features = features_of(prosody, self._decoder, 1, _NOBODY)
        return Spoken(prosody, features, *self.vocode(prosody, features))

    def vocode(self, prosody: Prosody, features: NDArray[np.float32]) -> tuple[Pcm, Statistics]:
        """The segment's audio with its leading silence, made in one run, and its statistics."""
        harmonics = self.source(prosody).harmonics(0, prosody.frames, 1)
        audio, *told = self._generator.run([features, harmonics, prosody.style], 1, _NOBODY)
        return to_pcm(audio.ravel()), Statistics(*told)

    def source(self, prosody: Prosody) -> HarmonicSource:
        """The segment's harmonics, with the noise of seed 0."""
        return HarmonicSource(self._source, self._noise, 0, prosody.f0, prosody.frames, _NOBODY)


def keep(folder: Path, task: Task, speaker: Speaker) -> None:
    """Make the task's sample and keep it in a folder of samples, whole or not at all."""
    made = speaker.speak(task).sample
    groups = {f"group_{place}": group for place, group in enumerate(made.described)}
    part = folder / f"{task.name}.{os.getpid()}.part.npz"
    np.savez(part, allow_pickle=False, **groups, **made.statistics._asdict())
    part.replace(file_of(folder, task))


def file_of(folder: Path, task: Task) -> Path:
    """The file in which the task's sample is kept."""
    return folder / f"{task.name}.npz"


def read(file: Path) -> Sample:
    """A sample that was kept."""
    with np.load(file) as archive:
        described = [archive[f"group_{place}"] for place in range(len(archive.files) - len(Statistics._fields))]
        return Sample(described, Statistics(archive["means"], archive["variances"]))

"""Renderings and their judgements, kept in a folder: an interrupted comparison continues where it stopped."""

from __future__ import annotations

import json
import wave
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring.hearing.ears import Ears, Heard
from benchmarks.measuring.hearing.opinion import Opinion
from benchmarks.quality.corpus import Item
from benchmarks.quality.speaking import Speaker
from benchmarks.quality.ways import Way
from shm import kept
from shm.audio import SAMPLE_RATE, Pcm
from text.words.segment import Cut
from worker.models.sources import cached_sha256_of
from worker.split.rewrites.choice import DEFAULT
from worker.split.segments.statistics import SHIPPED


@dataclass(frozen=True, slots=True)
class Rendering:
    """One text, spoken one way."""

    item: Item
    sound: Path
    """A WAV file."""
    cuts: tuple[tuple[Cut, int, int], ...]
    windows: tuple[int, ...]
    """Samples at which two windows of one segment meet, as in `benchmarks.quality.speaking.Spoken`."""
    heard: Heard

    @property
    def samples(self) -> Pcm:
        with wave.open(str(self.sound), "rb") as file:
            return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.int16)


class Renderings:
    """The kept renderings, in a folder for each way."""

    def __init__(self, folder: Path, voices: Path, threads: int = 0, cache: Path | None = None) -> None:
        self._folder = folder
        self._voices = voices
        self._threads = threads
        self._cache = cache
        self._ears: Ears | None = None

    def of(self, way: Way, items: Sequence[Item]) -> list[Rendering]:
        """Renderings from the folder; missing ones, and those that another model's file or another form of its graph
        made, are made now.

        Raises:
            EngineUnavailable, EngineError: the model can't be spoken this way.
        """
        folder = self._folder / way.slug
        folder.mkdir(parents=True, exist_ok=True)
        model = _form(way)
        speaker: Speaker | None = None
        found = []
        for item in items:
            rendering = _read(folder, item, model)
            if rendering is None:
                speaker = speaker or Speaker(way, self._voices, self._threads, self._cache)
                rendering = self._made(speaker, folder, item, model)
            found.append(rendering)
        return found

    def _made(self, speaker: Speaker, folder: Path, item: Item, model: str) -> Rendering:
        self._ears = self._ears or Ears(self._threads)
        spoken = speaker.speak(item)
        write_wav(folder / f"{item.name}.wav", spoken.samples)
        heard = self._ears.heard(item.text, spoken.samples, english=item.is_english)
        said = {
            "model": model,
            "text": item.text,
            "voice": item.voice,
            "cuts": spoken.cuts,
            "windows": spoken.windows,
            "heard": asdict(heard),
        }
        (folder / f"{item.name}.json").write_text(json.dumps(said))
        return _rendering(folder, item, said)


def _form(way: Way) -> str:
    """All that a text's sound depends on besides the text and the voice: the model, the layout and the rewrites of its
    graph and, in windows, the shipped predictor."""
    with as_file(files("worker.split.segments") / SHIPPED) as predictor:
        windows = cached_sha256_of(predictor)[:16] if way.vocoder == "windowed" else ""
    return " ".join([cached_sha256_of(way.model), str(kept.STAGES.version), *sorted(DEFAULT), windows]).strip()


def write_wav(path: Path, samples: Pcm) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def _read(folder: Path, item: Item, model: str) -> Rendering | None:
    try:
        said = json.loads((folder / f"{item.name}.json").read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    if (said["model"], said["text"], said["voice"]) != (model, item.text, item.voice):
        return None
    return _rendering(folder, item, said)


def _rendering(folder: Path, item: Item, said: dict[str, Any]) -> Rendering:
    heard = dict(said["heard"])
    opinion = heard.pop("opinion")
    if opinion is not None:
        opinion = Opinion(*(opinion.values() if isinstance(opinion, dict) else opinion))
    cuts = tuple((Cut(kind), ended, began) for kind, ended, began in said["cuts"])
    return Rendering(item, folder / f"{item.name}.wav", cuts, tuple(said["windows"]), Heard(**heard, opinion=opinion))

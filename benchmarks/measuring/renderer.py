"""A model's stages run one by one, so that the output of each can be examined, or given to another model's stages."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from kokoro_onnx import Kokoro
from numpy.typing import NDArray

from shm.audio import Pcm
from worker.engine import EngineError, RunControl
from worker.machine import cores
from worker.pcm import to_pcm
from worker.session import NUMPY_TYPES, open_session, run_session
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites.stage_files import DECODER, EXACT_GENERATOR, PROSODY, SOURCE
from worker.split.segments.segment import Prosody, draw_all
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

_NOBODY = RunControl()


def pitches(prosody: Prosody) -> NDArray[np.float64]:
    """Median F0 of each of the script's characters; 0 of one that lasts no frame."""
    ends = 2 * np.cumsum(prosody.durations)
    f0 = prosody.f0.ravel()
    return np.array([np.median(f0[a:b]) if b > a else 0.0 for a, b in itertools.pairwise(ends[:-1])])


class Renderer:
    """Speaks whole segments with their own statistics, with noise from a seed, on the CPU with all cores."""

    def __init__(self, model: Path, voices: VoiceBank, settings: WorkerSettings, cache: Path) -> None:
        """Split the model, or find its stages in the cache, and load them.

        Raises:
            Unprepared: the model can't be split.
            EngineUnavailable: onnxruntime can't load a stage.
        """
        prepared = prepare(model, cache)
        self._voices = voices
        self._noise = prepared.manifest.noise
        self._prosody, self._source, self._decoder, self._generator = (
            open_session(prepared.folder / name, settings, threads=settings.threads or cores())
            for name in (PROSODY, SOURCE, DECODER, EXACT_GENERATOR)
        )
        self._kokoro = Kokoro.from_session(self._prosody, str(EMBEDDED))  # opened, and never read

    def prosody(self, script: str, voice: str, row: int | None = None) -> Prosody:
        """Prosody of a script.

        Args:
            script: phonemes; those that the model doesn't know are left out.
            voice: name of one of the file's voices.
            row: the number of tokens that selects the voice's style; by default the script's own.

        Raises:
            EngineError: the model can't speak the script.
        """
        vocabulary = self._kokoro.tokenizer.vocab
        tokens = [vocabulary[phoneme] for phoneme in script if phoneme in vocabulary]
        if not tokens:
            raise EngineError("the model has none of the phonemes that it is calibrated and judged with")
        style = self._voices.style(((voice, 1.0),), row or len(tokens))
        inputs = [np.array([[0, *tokens, 0]]), style, np.array([self._kokoro._speed_value(1.0)])]
        text, f0, energy, durations = _run(self._prosody, inputs)
        return Prosody(text, f0, energy, durations.ravel().astype(np.int64), style)

    def generator_inputs(self, prosody: Prosody, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The generator's inputs: features, harmonics and style.

        Raises:
            EngineError: the model can't speak the prosody.
        """
        features = _run(self._decoder, [prosody.text, prosody.f0, prosody.energy, prosody.style])[0]
        [harmonics] = _run(self._source, [prosody.f0, *draw_all(self._noise, seed, prosody.frames)])
        return features, harmonics, prosody.style

    def sound(self, prosody: Prosody, seed: int) -> Pcm:
        """Samples of a prosody, made by this model or another one.

        Raises:
            EngineError: the model can't speak the prosody.
        """
        return to_pcm(_run(self._generator, self.generator_inputs(prosody, seed))[0].ravel())


def _run(session: Any, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    feeds = {
        given.name: np.ascontiguousarray(array, NUMPY_TYPES[given.type])
        for given, array in zip(session.get_inputs(), arrays, strict=True)
    }
    return run_session(session, feeds, _NOBODY)

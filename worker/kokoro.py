"""Kokoro-82M on onnxruntime: phonemes in, PCM out, a segment at a time."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator
from pathlib import Path

import numpy as np
from kokoro_onnx import Kokoro
from kokoro_onnx.config import MAX_PHONEME_LENGTH
from numpy.typing import NDArray

from shm.messages import EngineInfo
from worker.checksum_cache import cached_sha256_of
from worker.engine import Block, EngineError, EngineUnavailable, ProviderUnavailable, Utterance
from worker.pcm import to_pcm
from worker.providers import CPU
from worker.session import check_signature, open_session
from worker.settings import WorkerSettings
from worker.voices import VoiceBank


class KokoroEngine:
    """Any export with Kokoro's inputs and outputs. One session is shared by all threads.

    The session is ours, and kokoro-onnx runs it: it knows the exports' names and types and carries the vocabulary.
    Its `create` is passed by for the layer below, `_infer`: it refuses speeds outside 0.5 to 2 (the API has 0.25 to
    4), trims silence and inserts pauses of its own, which would change what a plan's segments are joined from.
    """

    def __init__(self, model: Path, voices: Path, settings: WorkerSettings, without: Collection[str] = ()) -> None:
        """Load the model and all voices; no execution provider of `without` is tried.

        Raises:
            EngineUnavailable: a file is missing, damaged or of the wrong kind. The message names it and the cure.
            ProviderUnavailable: the execution provider doesn't work here.
        """
        self._voices = VoiceBank.open(voices)
        session = open_session(model, settings, without)
        check_signature(session, model)
        with self._voices.as_archive() as archive:
            self._kokoro = Kokoro.from_session(session, archive)
        self._vocabulary: dict[str, int] = self._kokoro.tokenizer.vocab
        self.concurrency = settings.concurrency or _cores()
        self.info = EngineInfo(
            name="kokoro",
            provider=session.get_providers()[0],
            model=model.name,
            model_sha256=cached_sha256_of(model),
            speaks="phonemes",
            vocabulary="".join(self._vocabulary),
            max_tokens=MAX_PHONEME_LENGTH,
            voices=self._voices.names,
            concurrency=self.concurrency,
        )

    def begin(self, utterance: Utterance) -> Generator[Block, None, None]:
        """One block: the whole segment from `from_sample` on. The graph vocodes it in one run, so it is made again
        from its start whatever `from_sample` is."""
        tokens = self._tokens(utterance.script)
        style = self._voices.style(utterance.voice, len(tokens))
        samples = to_pcm(self._run(tokens, style, utterance.speed))[utterance.from_sample :]
        if len(samples):
            yield Block(utterance.from_sample, samples, last=True)

    def warm_up(self) -> None:
        """Run the model once.

        Raises:
            EngineUnavailable: it loads but doesn't work.
        """
        known = [phoneme for phoneme in self._vocabulary if phoneme.isalpha()][:3]
        try:
            for _ in self.begin(Utterance("".join(known), "en-us", ((self._voices.names[0], 1.0),), 1.0)):
                pass
        except EngineError as error:
            raise EngineUnavailable(
                f"the model {self.info.model} was loaded but can't speak: {error}; "
                "run `kokoro-live models fetch`, or name another with --model"
            ) from error

    def _tokens(self, script: str) -> list[int]:
        # The front plans within the vocabulary. Leaving out what isn't in it would lose a part of a word in silence.
        if unknown := sorted(set(script) - self._vocabulary.keys()):
            raise EngineError(f"the model has no phoneme {' '.join(unknown)}")
        if not 0 < len(script) <= MAX_PHONEME_LENGTH:
            raise EngineError(f"a segment has 1 to {MAX_PHONEME_LENGTH} phonemes, not {len(script)}")
        return [self._vocabulary[phoneme] for phoneme in script]

    def _run(self, tokens: list[int], style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        try:
            audio: NDArray[np.float32]
            audio, _ = self._kokoro._infer(tokens, style, speed)
        except Exception as error:  # onnxruntime's errors have no base class of their own
            if self.info.provider != CPU:
                raise ProviderUnavailable(self.info.provider, " ".join(str(error).split())) from error
            raise EngineError(f"the model failed on these phonemes: {' '.join(str(error).split())}") from error
        return audio


def _cores() -> int:
    """Those that this process may use, where the system says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

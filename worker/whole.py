"""Speech by a model that can't be split: one run per segment."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shm.marks import Mark
from worker.engine import Block, Utterance
from worker.pcm import to_pcm
from worker.providers.targets import StageTarget
from worker.session import NUMPY_TYPES, check_signature, open_session, run_session
from worker.settings import WorkerSettings
from worker.split.segments.windows import marks_of


class WholeSpeech:
    """Speech from one session, which all threads share; each run has one thread unless the settings say otherwise. A
    second session with more threads would have weights of its own."""

    def __init__(self, model: Path, settings: WorkerSettings, target: StageTarget) -> None:
        """Load the model.

        Raises:
            EngineUnavailable: the file is missing, damaged or of the wrong kind. The message names it and tells the
                user how to fix it.
            ProviderUnavailable: the execution provider doesn't work here.
        """
        self.provider = target.provider
        self.session = open_session(model, settings, target)
        check_signature(self.session, model)
        names = [output.name for output in self.session.get_outputs()]
        self._durations = next((names.index(name) for name in ("duration", "durations") if name in names), None)
        self.marks = self._durations is not None
        self.first_block = 0.0
        self.rendering = "whole"

    def blocks(self, inputs: Sequence[NDArray[Any]], utterance: Utterance) -> Generator[Block, None, None]:
        """Yield one block: the whole segment from `from_sample` on. `inputs` are tokens, style and speed.

        Raises:
            Cancelled, EngineError, ProviderUnavailable: the errors of `worker.session.run_session`.
        """
        feeds = {
            given.name: np.asarray(inputs[_ORDER.get(given.name, 0)], NUMPY_TYPES[given.type])
            for given in self.session.get_inputs()
        }
        outputs = run_session(self.session, feeds, utterance.control)
        samples = to_pcm(outputs[0].ravel())[utterance.from_sample :]
        if len(samples):
            marks: tuple[Mark, ...] = ()
            if utterance.marks and self._durations is not None:
                marks = marks_of(outputs[self._durations].ravel())
            here = tuple(mark for mark in marks if mark[1] >= utterance.from_sample)
            yield Block(utterance.from_sample, samples, last=True, marks=here)


_ORDER = {"style": 1, "speed": 2}
"""Index of each named input among `blocks`' inputs; the tokens, whatever their name, have index 0."""

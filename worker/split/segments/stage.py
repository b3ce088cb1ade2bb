"""A stage's sessions: the same graph and weights, run by a number of threads that depends on the current load."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.engine import BadOption, EngineUnavailable, ProviderUnavailable, RunControl
from worker.session import NUMPY_TYPES, open_session, run_session
from worker.settings import WorkerSettings
from worker.split.segments.windows import Window
from worker.targets import CPU, StageTarget


def optimized_name(stage: str) -> str:
    """The file name of a stage's optimised form, which `worker.split.optimized` makes."""
    return Path(stage).with_suffix(".cpu.onnx").name


log = logging.getLogger(__name__)


class LoadedStage:
    """A stage: takes arrays in the order of the graph's inputs, returns its outputs in theirs. Any thread may run
    it."""

    def __init__(self, file: Path, settings: WorkerSettings, target: StageTarget) -> None:
        self._settings = settings
        self._target = target
        optimized = file.with_name(optimized_name(file.name))
        self._optimized = target.provider == CPU and optimized.is_file()
        self._cut = file
        self._file = optimized if self._optimized else file
        self._sessions: dict[int, Any] = {}
        self._lock = threading.Lock()

    def session(self, threads: int) -> Any:
        """The session for a number of CPU threads, opened at its first use. An accelerator's stage has one session.

        Raises:
            EngineUnavailable: onnxruntime can't load the stage.
            BadOption, ProviderUnavailable: the execution provider can't.
        """
        threads = threads if self._target.provider == CPU else 1
        with self._lock:
            if threads not in self._sessions:
                self._sessions[threads] = self._opened(threads)
            return self._sessions[threads]

    def _opened(self, threads: int) -> Any:
        try:
            return open_session(self._file, self._settings, self._target, threads=threads, optimized=self._optimized)
        except (BadOption, ProviderUnavailable):
            raise  # the stage may be sound
        except EngineUnavailable as error:
            if self._optimized and self._file.is_file() and self._cut.is_file():
                log.warning("%s can't be loaded, so the stage is loaded as it was cut: %s", self._file.name, error)
                self._optimized, self._file = False, self._cut
                return self._opened(threads)
            # The file was made here: fetching the model again, as a model's own error advises, would change nothing.
            if not self._file.is_file():
                said = f"there is no {self._file} any more; the next start makes it again"
                raise EngineUnavailable(said) from error
            said = " ".join(str(error.__cause__ or error).split())
            raise EngineUnavailable(f"{self._file.name} can't be loaded by onnxruntime: {said}") from error

    def run(self, arrays: Sequence[NDArray[Any]], threads: int, control: RunControl) -> list[NDArray[Any]]:
        """
        Raises:
            Cancelled, Paused, EngineError, ProviderUnavailable: as `worker.session.run_session`.
        """
        session = self.session(threads)
        feeds = {
            given.name: np.ascontiguousarray(array, NUMPY_TYPES[given.type])
            for given, array in zip(session.get_inputs(), arrays, strict=True)
        }
        return run_session(session, feeds, control)


class FittedStage:
    """A stage with fixed-length variants. The segment alone decides which variant runs a window, so the same job gives
    the same samples."""

    def __init__(self, any_length: LoadedStage, fixed: Mapping[int, LoadedStage] | None = None) -> None:
        """`fixed`: stages by the length of the windows that they take."""
        self.any_length = any_length
        self._fixed = dict(sorted((fixed or {}).items()))

    def fitted(self, given: Window, within: Window) -> tuple[Window, LoadedStage | None]:
        """The window to run so that all of `given` is made, and the stage of exactly that length; None in place of the
        stage if `any_length` is to run the window.

        A window shorter than the fixed length is extended to the left, where all needed frames were made before, and to
        the right only where `within` begins. A window's edges are never padded: near a padded edge the samples would
        depend on another segment's frames.
        """
        for length, stage in self._fixed.items():
            if given.end - given.begin <= length <= within.end - within.begin:
                begin = max(within.begin, given.end - length)
                return Window(begin, begin + length), stage
        return given, None

    @property
    def stages(self) -> tuple[LoadedStage, ...]:
        return self.any_length, *self._fixed.values()


def open_sessions(wanted: Sequence[tuple[LoadedStage, int]], at_once: int) -> None:
    """Open stages' sessions, the first one alone, because it makes the arena that all of a process share.

    Args:
        wanted: stages, each with a number of threads.
        at_once: sessions opened side by side, since onnxruntime takes one core for each; 1 opens all in this thread.

    Raises:
        EngineUnavailable, BadOption, ProviderUnavailable: as `LoadedStage.session`.
    """

    def opened(each: tuple[LoadedStage, int]) -> Any:
        stage, threads = each
        return stage.session(threads)

    if at_once == 1:
        list(map(opened, wanted))
        return
    opened(wanted[0])
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(opened, wanted))

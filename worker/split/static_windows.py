"""The generator for windows of one length, for accelerators, which compile graphs of known shapes.

The static generator is a file alongside the stages, made at its first use; its large weights are the stages' own.
"""

from __future__ import annotations

import hashlib
import logging
import time
from pathlib import Path

import numpy as np

from worker.engine import EngineError, EngineUnavailable
from worker.models.checksum_cache import cached_sha256_of
from worker.split.prepared import Prepared, Unprepared, alone

log = logging.getLogger(__name__)


def static_generator(prepared: Prepared, frames: int) -> Path:
    """The generator for windows of this many frames at 80 Hz, with the statistics given.

    The generator takes features [1, channels, frames], harmonics [1, 22, 60 frames + 1], style, means and variances; it
    returns audio of 300 samples for each frame, in order, in any shape.

    Raises:
        Unprepared: there can be none; the message says why.
    """
    file = prepared.folder / f"generator-{frames}.onnx"
    if not _sound(file):
        with alone(prepared.folder.parent):
            if not _sound(file):
                started = time.monotonic()
                _make(prepared, frames, file)
                log.info("made the generator for windows of %d frames in %.1f s", frames, time.monotonic() - started)
    return file


def _checksum(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _sound(file: Path) -> bool:
    """True if the file exists with its checksum."""
    try:
        expected = _checksum(file).read_text()
        if cached_sha256_of(file) == expected:
            return True
    except (FileNotFoundError, UnicodeDecodeError):
        if not file.exists():
            return False
    log.warning("%s is made again: it isn't as it was written", file)
    return False


def _make(prepared: Prepared, frames: int, file: Path) -> None:
    # The onnx package is needed once, when the file is made.
    from onnx.shape_inference import InferenceError

    from worker.split.graph import CannotSplit
    from worker.split.rewrite import CROP
    from worker.split.static_graph import static_model
    from worker.split.trial_window import window_inputs

    part = file.with_suffix(".part")
    try:
        inputs = window_inputs(prepared, frames)
        fixed = {CROP: np.zeros(2, np.int64)}
        model = static_model(prepared.folder / "generator.onnx", inputs, fixed, file.with_suffix(".probe"))
        data = model.SerializeToString()
        part.write_bytes(data)
        # The checksum is written first: a file without the right checksum is never used.
        _checksum(file).write_text(hashlib.sha256(data).hexdigest())
        part.replace(file)
    except (CannotSplit, InferenceError) as error:
        raise Unprepared(f"its generator can't be made for windows of {frames} frames: {error}") from error
    except (EngineError, EngineUnavailable) as error:
        raise Unprepared(f"its generator doesn't run: {error}") from error
    except OSError as error:
        raise Unprepared(f"the cache {prepared.folder} can't be used: {error}") from error
    finally:
        part.unlink(missing_ok=True)

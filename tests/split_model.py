"""A small Kokoro that can be cut (`tests.small_kokoro`), as files: the model, its predictor, stages and voices."""

import functools
import hashlib
import io
import shutil
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.training.statistics_samples import Speaker, few_tasks
from benchmarks.training.statistics_training import fit
from tests.made_once import made_once
from tests.small_kokoro import Norms, small_kokoro
from worker.models.sources import sha256_of
from worker.split.prepared import Prepared, Unprepared, prepare
from worker.split.rewrites.choice import DEFAULT, Rewrite
from worker.split.segments.statistics import SUFFIX
from worker.voices.voice_bank import VoiceBank

FITTED = "statistics"


def make_split_model(
    path: Path,
    *,
    noise_inputs: bool = False,
    durations_output: bool = False,
    tokens_name: str = "tokens",
    folded: bool = True,
    random_in_generator: bool = False,
    norms: Norms = "node",
    predicted: bool = True,
) -> Path:
    """Write the model, 0.5 MB, and alongside it the predictor of its statistics, if it can be split.

    Args:
        path: the file to write.
        noise_inputs: take `uniform` [1, 3] and `normal` [1, samples, 3] instead of drawing them: the same model, with
            noise that a test knows.
        durations_output: give `duration` too, as newer exports do.
        tokens_name: `tokens` or `input_ids`.
        folded: AdaIN's factor and summand follow each norm directly, as torch writes it; else something lies between.
        random_in_generator: draw random numbers where Kokoro draws none.
        norms: one node each, or written out: each for itself with its mean and difference twice, or merged as an
            optimiser does, so that residual blocks share a division; `axes` writes the axis as opset 18 does, as an
            input. `none`: no norm at all.
        predicted: write the predictor too, which an engine needs and stages alone don't: it is fitted to six segments.
    """
    form = (noise_inputs, durations_output, tokens_name, folded, random_in_generator, norms)
    path.write_bytes(small_kokoro(*form))
    if predicted and (predictor := _predictor(*form)):
        path.with_name(f"{path.stem}{SUFFIX}").write_bytes(predictor)
    return path


@functools.cache
def _predictor(*form: Any) -> bytes | None:
    """Fitted to a few segments of each voice."""
    model = small_kokoro(*form)
    file = made_once(f"predictor-{hashlib.sha256(model).hexdigest()[:16]}", lambda folder: _fit(model, folder)) / FITTED
    return file.read_bytes() if file.exists() else None


def _fit(model: bytes, folder: Path) -> None:
    """Write the predictor into the folder, if the model can be split."""
    with tempfile.TemporaryDirectory() as scratch:
        (small := Path(scratch, "small.onnx")).write_bytes(model)
        try:
            prepared = stages_of(small, Path(scratch, "cache"))
        except Unprepared:
            return
        bank = VoiceBank.open(make_split_voices(Path(scratch, "voices.bin")))
        speaker = Speaker(prepared, bank)
        with (folder / FITTED).open("wb") as made:
            fit([speaker.speak(task).sample for task in few_tasks(bank)], prepared.manifest.fingerprint).save(made)


def stages_of(model: Path, cache: Path, rewrites: Collection[Rewrite] = DEFAULT) -> Prepared:
    """`prepare`, with the files that an earlier test made of the same model.

    Raises:
        Unprepared: the model can't be split.
    """
    name = "-".join(["stages", sha256_of(model)[:16], *sorted(rewrites)])
    shutil.copytree(made_once(name, lambda made: prepare(model, made, rewrites)), cache, dirs_exist_ok=True)
    return prepare(model, cache, rewrites)


def make_split_voices(path: Path, names: tuple[str, ...] = ("af_heart", "am_adam", "bf_emma")) -> Path:
    """An npz archive of voices with styles that make a difference."""
    path.write_bytes(_voices(names))
    return path


@functools.cache
def _voices(names: tuple[str, ...]) -> bytes:
    random = np.random.default_rng(7)
    file = io.BytesIO()
    tables = {name: random.standard_normal((510, 1, 256), np.float32) for name in names}
    np.savez_compressed(file, allow_pickle=False, **tables)
    return file.getvalue()

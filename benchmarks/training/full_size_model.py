"""Makes a model of Kokoro's full size with random weights: its cost is the published one's, its sound is noise.

    python -m benchmarks.training.full_size_model [--seed 1] [--voices FILE] [--torch REQUIREMENT] [--again]

The real weights can't be had on a machine without internet; what inference costs depends only on the architecture.
Torch and the `kokoro` package, which define it, go into a virtual environment of their own in the cache folder, next to
`full-size-SEED.onnx` and `full-size-voices.bin`. The same seed gives the same file.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
import venv
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import platformdirs
from kokoro_onnx.config import DEFAULT_VOCAB
from numpy.typing import NDArray

from benchmarks.training.statistics_samples import Speaker, few_tasks
from benchmarks.training.statistics_training import fit
from shm.audio import SAMPLE_RATE
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.segments.statistics import SUFFIX
from worker.voices.voice_bank import VoiceBank

TORCH = "torch==2.13.0"
BESIDE_TORCH = ("numpy==2.4.6", "onnx==1.23.2", "transformers==5.23.0", "loguru==0.7.3", "attrs==26.1.0")
KOKORO = "kokoro==0.9.4"
"""Installed without what it needs to pronounce, which nothing here imports."""

VOICES = ("af_heart", "af_bella", "am_adam", "am_michael", "bf_emma", "bm_george")
ROWS, STYLE = 510, 256
STYLE_STD = 0.15

_EXPORT = Path(__file__).with_name("full_size_export.py")


def folder() -> Path:
    """The folder of the generated files, outside of git."""
    return platformdirs.user_cache_path("kokoro-live", appauthor=False) / "benchmarks"


def model_file(seed: int = 1) -> Path:
    return folder() / f"full-size-{seed}.onnx"


def voices_file() -> Path:
    return folder() / "full-size-voices.bin"


def torch_environment(into: Path, torch: str = TORCH) -> Path:
    """The Python of a virtual environment that has torch and kokoro; made if it isn't there."""
    python = into / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    done = into / ".installed"
    if not done.exists():
        venv.create(into, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, torch, *BESIDE_TORCH], check=True)
        subprocess.run([*install, "--no-deps", KOKORO], check=True)
        done.touch()
    return python


def make_model(python: Path, seed: int, out: Path) -> None:
    part = out.with_suffix(".part")
    with as_file(files("kokoro_onnx") / "config.json") as config:
        command = [str(python), "-W", "ignore", str(_EXPORT), "--config", str(config), "--seed", str(seed)]
        subprocess.run([*command, "--out", str(part)], check=True)
    part.replace(out)


def make_voices(out: Path, seed: int) -> None:
    """Random styles, [510, 1, 256] each, that change slowly with the number of phonemes, as the published ones do."""
    rng = np.random.default_rng(seed)
    tables = {}
    for name in VOICES:
        start, end = rng.normal(0, STYLE_STD, (2, STYLE))
        share = np.linspace(0, 1, ROWS)[:, None]
        tables[name] = ((1 - share) * start + share * end).astype(np.float32)[:, None]
    with out.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **tables)


def make_statistics(model: Path, voices: Path, cache: Path) -> Path:
    """The file alongside the model that lets it be vocoded in windows, as a published one is: half a minute.

    Raises:
        Unprepared: the model can't be split.
    """
    prepared = prepare(model, cache)
    bank = VoiceBank.open(voices)
    speaker = Speaker(prepared, bank)
    predictor = fit([speaker.speak(task).sample for task in few_tasks(bank)], prepared.manifest.fingerprint)
    out = model.with_name(f"{model.stem}{SUFFIX}")
    with out.open("wb") as file:
        predictor.save(file)
    return out


def check(model: Path, voices: Path, tokens: int = 50) -> None:
    """Speak once with two threads.

    Raises:
        ValueError: what comes out isn't like speech in level or length.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    ids = np.random.default_rng(0).choice(sorted(set(DEFAULT_VOCAB.values())), tokens)
    style = np.load(voices)["af_heart"][tokens - 1]
    feed = {
        "tokens": np.array([[0, *ids, 0]], dtype=np.int64),
        "style": style,
        "speed": np.ones(1, dtype=np.float32),
    }
    session.run(None, feed)
    started = time.perf_counter()
    audio: NDArray[np.float32]
    audio, durations = session.run(None, feed)
    seconds = time.perf_counter() - started
    peak, frames = float(np.abs(audio).max()), float(durations.mean())
    print(
        f"{model.name}: {model.stat().st_size / 1e6:.0f} MB, {frames:.2f} frames per token, peak {peak:.2f}, "
        f"{seconds / (tokens + 2) * 1e3:.0f} ms per token, real-time factor {seconds * SAMPLE_RATE / len(audio):.2f}"
    )
    if not (np.isfinite(audio).all() and 0.1 < peak < 1 and 2 < frames < 4):
        raise ValueError(f"{model} doesn't sound like speech in level or length: choose another seed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--voices", type=Path, help="voices to take in place of random ones")
    parser.add_argument("--torch", default=TORCH, help=f"a wheel of torch, or a requirement (default: {TORCH})")
    parser.add_argument("--again", action="store_true", help="make what is there already")
    arguments = parser.parse_args()
    folder().mkdir(parents=True, exist_ok=True)
    model, voices = model_file(arguments.seed), voices_file()
    if arguments.voices:
        shutil.copyfile(arguments.voices, voices)
    elif arguments.again or not voices.exists():
        make_voices(voices, arguments.seed)
    if arguments.again or not model.exists():
        make_model(torch_environment(folder() / "torch-venv", arguments.torch), arguments.seed, model)
    check(model, voices)
    if arguments.again or not model.with_name(f"{model.stem}{SUFFIX}").exists():
        make_statistics(model, voices, WorkerSettings().cache_dir)
    print(f"--model {model} --voices {voices}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

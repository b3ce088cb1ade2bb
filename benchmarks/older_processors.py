"""Forms of the int8 model on x86 processors without VNNI, for which a processor that has it can stand in.

    python -m benchmarks.older_processors --model kokoro-v1.0.int8.onnx [--turns 3]

onnxruntime chooses its kernels by CPUID. A small library (`masked_cpuid.c`, compiled by `cc`) answers that instruction
without VNNI, or without AVX-512 as well, in processes of their own: kernels, and what they compute, are then those of
such a processor, at this one's clock and with its caches. Needs Linux and an Intel processor on which CPUID can fault.

Three forms of the model's stages speak the same sentences in windows, by two voices, in turn and with one thread: the
published operations, packed products, and floats. Times are processor time for a second of sound, medians; level and
log-mel distance are to the floats on the processor as it is.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from kokoro_onnx.config import DEFAULT_VOCAB

from benchmarks.measuring.machine import described
from benchmarks.measuring.mel_distance import log_mel_distance
from benchmarks.measuring.report import Cell, Table
from kokoro_live import own_command
from shm.audio import SAMPLE_RATE, Pcm
from shm.messages import Voice
from worker.engine import Utterance
from worker.graph.dynamic_int8 import float_path, write_float
from worker.providers.trial import SAMPLE_SENTENCES
from worker.settings import WorkerSettings
from worker.split.prepared import prepare
from worker.split.rewrites.choice import Rewrite
from worker.split.speech import SplitSpeech
from worker.targets import Assignment
from worker.voices.kokoro_voices import EMBEDDED
from worker.voices.voice_bank import VoiceBank

LIBRARY = Path(__file__).with_name("masked_cpuid.c")
AS_IT_IS = "as it is"
KINDS = {AS_IT_IS: "", "without VNNI": "vnni", "without AVX-512": "avx512"}
"""Names of processors, with what the library hides."""

PUBLISHED, PACKED, FLOATS = "published operations", "packed products", "floats"
FORMS = {
    PUBLISHED: frozenset(Rewrite) - {Rewrite.PACKED},
    PACKED: frozenset(Rewrite),
    FLOATS: frozenset(Rewrite),
}
"""The rewrites of each form's stages. `FLOATS` are of the model in floats."""

SCRIPTS = SAMPLE_SENTENCES[::2]
VOICES = ("af_heart", "bm_george")
IMPOSSIBLE = 99
"""The library's exit status where CPUID can't fault."""


def speak(model: Path, folder: Path, turns: int) -> None:
    """Speak on the processor as this process sees it, and write sounds and times into `folder`."""
    settings, bank = WorkerSettings(threads=1), VoiceBank.open(EMBEDDED)
    forms = {
        name: SplitSpeech(file, prepare(file, folder / "cache", rewrites), settings, Assignment())
        for name, rewrites in FORMS.items()
        for file in (float_path(model) if name == FLOATS else model,)
    }
    found: dict[str, np.ndarray] = {}
    times: dict[str, list[float]] = {name: [] for name in forms}
    for turn in range(turns):
        for number, script in enumerate(SCRIPTS):
            tokens = [DEFAULT_VOCAB[phoneme] for phoneme in script]
            voice: Voice = ((VOICES[number % len(VOICES)], 1.0),)
            inputs = [np.array([[0, *tokens, 0]]), bank.style(voice, len(tokens)), np.ones(1, np.float32)]
            for name, speech in forms.items():
                busy = time.process_time()
                blocks = list(speech.blocks(inputs, Utterance(script, "en-us", voice, 1.0)))
                busy = time.process_time() - busy
                sound = np.concatenate([block.samples for block in blocks])
                found[f"{name} {number}"] = sound
                if turn:  # the first one warms up
                    times[name].append(busy * SAMPLE_RATE / len(sound))
    np.savez(
        folder / "spoken.npz", allow_pickle=False, **found, **{name: np.array(each) for name, each in times.items()}
    )


def spoken(model: Path, hidden: str, library: Path, folder: Path, turns: int) -> Mapping[str, np.ndarray]:
    """The result of `speak` in a process that doesn't see what is hidden.

    Raises:
        SystemExit: CPUID can't fault here, or the process failed.
    """
    folder.mkdir()
    command = own_command("-m", "benchmarks.older_processors", "--model", str(model), "--turns", str(turns))
    masked = {"LD_PRELOAD": str(library), "MASKED_CPUID": hidden} if hidden else {}
    done = subprocess.run([*command, "--into", str(folder)], env=os.environ | masked)
    if done.returncode:
        raise SystemExit(
            "CPUID can't be made to fault on this processor" if done.returncode == IMPOSSIBLE else done.returncode
        )
    return dict(np.load(folder / "spoken.npz"))


def rows(found: Mapping[str, Mapping[str, np.ndarray]]) -> list[list[Cell]]:
    """A row for each kind of processor and each form."""
    made: list[list[Cell]] = []
    for kind, results in found.items():
        published = results[PUBLISHED]
        for form in FORMS:
            pairs = [
                (found[AS_IT_IS][f"{FLOATS} {number}"], results[f"{form} {number}"]) for number in range(len(SCRIPTS))
            ]
            levels = [_decibels(other) - _decibels(reference) for reference, other in pairs]
            distances = [log_mel_distance(reference, other) for reference, other in pairs]
            made.append(
                [
                    kind,
                    form,
                    float(np.median(results[form])),
                    float(np.median(results[form] / published)),
                    max(map(abs, levels)),
                    statistics.fmean(distances),
                    max(distances),
                ]
            )
    return made


def _decibels(sound: Pcm) -> float:
    return float(10 * np.log10((sound.astype(float) ** 2).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="in dynamic int8, as published")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--into", type=Path, help="speak on this processor only, and write into this folder")
    arguments = parser.parse_args()
    if arguments.into:
        speak(arguments.model, arguments.into, arguments.turns + 1)
        return
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch, arguments.model.name)
        model.symlink_to(arguments.model.resolve())
        write_float(model, float_path(model))  # alongside it, where the processes look for it
        library = Path(scratch, "masked_cpuid.so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, LIBRARY], check=True)
        found = {}
        for number, (kind, hidden) in enumerate(KINDS.items()):
            print(f"speaking: {kind}", file=sys.stderr, flush=True)
            found[kind] = spoken(model, hidden, library, Path(scratch, str(number)), arguments.turns)
    columns = ("processor", "form", "s per s of sound", "ratio", "level, worst dB", "log-mel, dB", "worst")
    print(Table("Forms of the model, one thread", columns, rows(found)).as_markdown())
    print(described())


if __name__ == "__main__":
    main()

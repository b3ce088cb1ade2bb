"""Forms of one model and of its session: is anything sooner loaded or faster than the plain ONNX file?

    python -m benchmarks.session_forms --model MODEL --voices VOICES [--rounds 5]

Against the file as it is: the graph that onnxruntime has optimised, saved as ONNX and as ORT; and the parallel
execution mode, which runs independent nodes side by side. All take turns; ratios are medians of each round's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from kokoro_onnx.config import DEFAULT_VOCAB

from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table
from worker.machine import cores
from worker.providers.trial import SAMPLE_SENTENCES
from worker.session import NUMPY_TYPES
from worker.voices.voice_bank import VoiceBank

PLAIN = "the file as it is"


def options(*, parallel: bool = False) -> ort.SessionOptions:
    made = ort.SessionOptions()
    made.intra_op_num_threads = cores()
    made.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if parallel:
        made.execution_mode = ort.ExecutionMode.ORT_PARALLEL
        made.inter_op_num_threads = cores()
    return made


def saved(model: Path, file: Path) -> Path:
    """The optimised graph in a file, in the form that its name asks for."""
    wanted = options()
    wanted.optimized_model_filepath = str(file)
    wanted.add_session_config_entry("session.save_model_format", "ORT" if file.suffix == ".ort" else "ONNX")
    ort.InferenceSession(model, wanted, providers=["CPUExecutionProvider"])
    return file


def forms(model: Path, folder: Path) -> Mapping[str, tuple[Path, ort.SessionOptions]]:
    optimised, as_ort = saved(model, folder / "optimised.onnx"), saved(model, folder / "optimised.ort")
    untouched = options()
    untouched.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return {
        PLAIN: (model, options()),
        "optimised, saved as ONNX": (optimised, untouched),
        "optimised, saved as ORT": (as_ort, options()),
        "parallel execution mode": (model, options(parallel=True)),
    }


def feeds(session: ort.InferenceSession, voices: Path) -> dict[str, Any]:
    bank = VoiceBank.open(voices)
    ids = [DEFAULT_VOCAB[phoneme] for phoneme in SAMPLE_SENTENCES[0]]
    values = {"style": bank.style(((bank.names[0], 1.0),), len(ids)), "speed": [1.0]}
    return {
        given.name: np.asarray(values.get(given.name, [[0, *ids, 0]]), NUMPY_TYPES[given.type])
        for given in session.get_inputs()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    loads: dict[str, list[float]] = {}
    runs: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        contenders = forms(arguments.model, Path(folder))
        for _ in range(arguments.rounds):
            for name, (file, how) in contenders.items():
                started = time.perf_counter()
                session = ort.InferenceSession(file, how, providers=["CPUExecutionProvider"])
                loads.setdefault(name, []).append(time.perf_counter() - started)
                given = feeds(session, arguments.voices)
                session.run(None, given)
                started = time.perf_counter()
                session.run(None, given)
                runs.setdefault(name, []).append(time.perf_counter() - started)
                del session
    rows: list[list[Cell]] = [
        [
            name,
            median(loads[name]),
            median([one / other for one, other in zip(loads[name], loads[PLAIN], strict=True)]),
            median(runs[name]),
            median([one / other for one, other in zip(runs[name], runs[PLAIN], strict=True)]),
        ]
        for name in loads
    ]
    print(Table("One sentence", ("", "load s", "ratio", "run s", "ratio"), rows).as_markdown())
    print(described())
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Costs of libraries and data that a process loads only when it needs them.

    python -m benchmarks.late_loading [--runs 3]

Each row is loaded in an interpreter of its own: seconds of processor time, and megabytes that no other process shares.
Packages that aren't installed are left out. Comments in the code name this command where they say that an import waits.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import msgspec

from benchmarks.measuring.figures import median
from benchmarks.measuring.machine import described
from benchmarks.measuring.report import Cell, Table

MEGABYTE = 1e6

_MEASURE = """
import sys, time
import psutil
{before}
used = psutil.Process().memory_full_info().uss
started = time.process_time()
{code}
taken = time.process_time() - started
print([taken, psutil.Process().memory_full_info().uss - used])
"""


@dataclass(frozen=True)
class Late:
    """Something that is loaded late."""

    name: str
    code: str
    before: str = ""
    """Imports that the process has made anyway."""
    package: str = ""
    """The package without which the row is left out."""


_DICTIONARIES = """
from importlib import resources
FILES = [resources.files("misaki") / "data" / f"us_{name}.json" for name in ("gold", "silver")]
"""

LATE = (
    *(
        Late(name, f"import {name}", "import numpy", name)
        for name in ("onnxruntime", "onnx", "aiohttp", "prometheus_client", "av", "spacy", "phonemizer")
    ),
    Late("the system's certificates", "ssl.create_default_context()", "import ssl"),
    Late(
        "misaki's dictionaries as dicts",
        "kept = [json.loads(file.read_text()) for file in FILES]",
        f"import json{_DICTIONARIES}",
        "misaki",
    ),
    Late(
        "misaki's dictionaries in place",
        "kept = [DictionaryFile(file) for file in FILES]",
        f"from text.english.dictionary_file import DictionaryFile{_DICTIONARIES}",
        "misaki",
    ),
    Late("English", 'kept = English("en-us")', "from text.english.english import English", "misaki"),
    Late("the English tagger", "kept = Perceptron.load()", "from text.english.perceptron import Perceptron"),
    Late(
        "all voices",
        "kept = VoiceBank.open(EMBEDDED)",
        "from worker.voices.kokoro_voices import EMBEDDED\nfrom worker.voices.voice_bank import VoiceBank",
    ),
)


def cost(late: Late) -> tuple[float, float]:
    """Seconds of processor time, and bytes, in a new interpreter.

    Raises:
        subprocess.CalledProcessError: it can't be loaded.
    """
    code = _MEASURE.format(before=late.before, code=late.code)
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=tuple[float, float])


def table(rows: Sequence[Late], runs: int) -> Table:
    """Medians of each row's runs."""
    cells: list[list[Cell]] = []
    for late in rows:
        costs = [cost(late) for _ in range(runs)]
        cells.append([late.name, median([taken for taken, _ in costs]), median([size for _, size in costs]) / MEGABYTE])
    return Table("Loaded late", ("", "processor seconds", "MB"), cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    installed = [late for late in LATE if not late.package or find_spec(late.package)]
    print(table(installed, arguments.runs).as_markdown())
    print(described())
    return 0


if __name__ == "__main__":
    sys.exit(main())

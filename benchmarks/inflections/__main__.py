"""Inflections, measured in the sound of the real model.

    python -m benchmarks.inflections [pitch values espeak emphasis rises marks ordinary speeds faults cost]
        [--sentences 50] [--questions 100] [--deaf] [--pairs FOLDER]

Each sentence is spoken plain and inflected by the model itself, without a server. The pitch is measured by
autocorrelation (`benchmarks.quality.pitch`), levels as root mean squares, times as samples, words by Whisper and
listeners' opinion by DNSMOS where the extra `quality` is installed. Exits 1 if a row misses what is asked.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.inflections.pairs import pairs
from benchmarks.inflections.rows import ROWS
from benchmarks.inflections.speaking import VOICES, Bench, Listeners, Speaker
from benchmarks.measuring.report import Table


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inflections", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="row")
    parser.add_argument("--voices", type=int, default=len(VOICES))
    parser.add_argument("--sentences", type=int, default=50)
    parser.add_argument("--questions", type=int, default=100, help="so many that rise, and as many others")
    parser.add_argument("--deaf", action="store_true", help="without Whisper and DNSMOS")
    parser.add_argument("--out", type=Path, help="a file for the table")
    parser.add_argument("--pairs", type=Path, help="only write a page to listen to, with plots of the pitch, there")
    options = parser.parse_args()
    if options.pairs:
        print(pairs(Speaker(), options.pairs))
        return 0
    bench = Bench(
        Speaker(), Listeners(deaf=options.deaf), options.voices, options.sentences, options.questions
    )  # fmt: skip
    verdicts = []
    for row in options.rows or ROWS:
        for verdict in ROWS[row](bench):
            verdicts.append(verdict)
            print(f"{verdict.target} | {verdict.found} | {verdict.shown}", flush=True)
    rows = [(verdict.target, verdict.found, verdict.shown) for verdict in verdicts]
    table = Table("Inflections", ("asked", "found", ""), rows).as_markdown()
    print(f"\n{table}")
    if options.out:
        options.out.write_text(table + "\n")
    return 0 if all(verdict.met for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())

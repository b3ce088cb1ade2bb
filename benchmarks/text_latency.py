"""Processor time from an English sentence to its phonemes, against another checkout of this project.

    git worktree add OTHER e68ea47
    python -m benchmarks.text_latency OTHER [--pairs 5] [--sentences 300]

Each sentence of the Wall Street Journal (`benchmarks.gold_tags`) is normalised and pronounced once, without cached
sentences. Both checkouts run in this Python environment, by turns, in processes of their own; the ratios are medians of
the pairs, so other load on the machine hardly changes them. The time of espeak-ng's helper processes isn't counted,
nor is the time to load the language.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

_WARM_UP = 100
"""Sentences pronounced before the measured ones."""


def measure() -> None:
    """Read sentences from the standard input as a JSON list; print the seconds of normalising and pronouncing them."""
    from text.g2p import G2P
    from text.normalization.normalize import normalize
    from text.normalization.settings import Normalization

    settings, g2p = Normalization(), G2P(cache_bytes=0)
    normalised = pronounced = 0.0
    for number, sentence in enumerate(json.load(sys.stdin)):
        begun = time.process_time()
        text = normalize(sentence, "en-us", settings)
        between = time.process_time()
        g2p.words(text, "en-us")
        ended = time.process_time()
        if number >= _WARM_UP:
            normalised += between - begun
            pronounced += ended - between
    print(json.dumps([normalised, pronounced]))


def ratios(sentences: Sequence[str], other: Path, pairs: int) -> list[tuple[float, float, float]]:
    """Time in this checkout by the time in the other one, a row for each pair of runs.

    Returns:
        Ratios of normalising, of pronouncing, and of both together.

    Raises:
        subprocess.CalledProcessError: a checkout can't pronounce English.
    """
    rows = []
    for _ in range(pairs):
        theirs, ours = (_measured(sentences, checkout) for checkout in (other, Path.cwd()))
        parts = [one / another for one, another in zip(ours, theirs, strict=True)]
        rows.append((parts[0], parts[1], sum(ours) / sum(theirs)))
    return rows


def _measured(sentences: Sequence[str], checkout: Path) -> tuple[float, float]:
    # This file runs as a script, since a checkout from before it has no such module.
    command = [sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])['measure']()", __file__]
    done = subprocess.run(
        command, cwd=checkout, input=json.dumps(sentences), text=True, check=True, capture_output=True
    )
    normalised, pronounced = json.loads(done.stdout)
    return normalised, pronounced


def main() -> None:
    """Run the benchmark from the command line."""
    from benchmarks.gold_tags import WALL_STREET_JOURNAL, treebank
    from benchmarks.measuring.archived import archived

    parser = argparse.ArgumentParser(prog="benchmarks.text_latency", description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--pairs", type=int, default=5, help="of runs, one in each checkout")
    parser.add_argument("--sentences", type=int, default=300, help="measured in each run")
    options = parser.parse_args()
    sentences = list(treebank(archived(*WALL_STREET_JOURNAL).splitlines()))
    chosen = [*sentences[-_WARM_UP:], *sentences[: options.sentences]]
    print("| ratio | normalise | pronounce | both |\n|---|---|---|---|")
    rows = ratios(chosen, options.other.resolve(), options.pairs)
    for number, row in enumerate(rows, 1):
        print(f"| pair {number} | " + " | ".join(f"{ratio:.2f}" for ratio in row) + " |")
    print("| median | " + " | ".join(f"{median(column):.2f}" for column in zip(*rows, strict=True)) + " |")


if __name__ == "__main__":
    main()

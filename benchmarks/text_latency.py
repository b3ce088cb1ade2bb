"""Processor time from a sentence to its phonemes, against another checkout of this project.

    git worktree add OTHER 231f757
    python -m benchmarks.text_latency OTHER [--language CODE] [--lines FILE] [--pairs 5] [--sentences 300]

Each sentence of the language's text (`benchmarks.espeak_clauses`), or of a file that has one in each line, is
normalised and pronounced once, without cached sentences. Both checkouts run in this Python environment, by turns, in
processes of their own; the ratios are medians of the pairs, so other load on the machine hardly changes them. The time
of espeak-ng's helper processes isn't counted, nor is the time to load the language.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from itertools import chain, islice, repeat
from pathlib import Path
from statistics import median

_WARM_UP = 100
"""Sentences pronounced before the measured ones."""


def measure() -> None:
    """Read a language and its sentences from the standard input as JSON; print the seconds of normalising and
    pronouncing them.
    """
    text = "text" if Path("text").is_dir() else "frontend.text"  # until 24 November 2026
    normalize = import_module(f"{text}.normalization.normalize").normalize
    settings = import_module(f"{text}.normalization.settings").Normalization()
    g2p = import_module(f"{text}.g2p").G2P(cache_bytes=0)
    language, sentences = json.load(sys.stdin)
    normalised = pronounced = 0.0
    for number, sentence in enumerate(sentences):
        if number == _WARM_UP:
            gc.collect()
            gc.freeze()  # as fronts do; else it's chance whether a collection of all that is loaded falls in between
        begun = time.process_time()
        read = normalize(sentence, language, settings)
        between = time.process_time()
        g2p.words(getattr(read, "text", read), language)
        ended = time.process_time()
        if number >= _WARM_UP:
            normalised += between - begun
            pronounced += ended - between
    print(json.dumps([normalised, pronounced]))


def ratios(language: str, sentences: Sequence[str], other: Path, pairs: int) -> list[tuple[float, float, float]]:
    """Time in this checkout by the time in the other one, a row for each pair of runs.

    Returns:
        Ratios of normalising, of pronouncing, and of both together.

    Raises:
        subprocess.CalledProcessError: a checkout can't pronounce the language.
    """
    rows = []
    for _ in range(pairs):
        theirs, ours = (_measured(language, sentences, checkout) for checkout in (other, Path.cwd()))
        parts = [one / another for one, another in zip(ours, theirs, strict=True)]
        rows.append((parts[0], parts[1], sum(ours) / sum(theirs)))
    return rows


def _measured(language: str, sentences: Sequence[str], checkout: Path) -> tuple[float, float]:
    # This file runs as a script, since a checkout from before it has no such module.
    command = [sys.executable, "-c", "import runpy, sys; runpy.run_path(sys.argv[1])['measure']()", __file__]
    given = json.dumps([language, sentences])
    done = subprocess.run(command, cwd=checkout, input=given, text=True, check=True, capture_output=True)
    normalised, pronounced = json.loads(done.stdout)
    return normalised, pronounced


def main() -> None:
    """Run the benchmark from the command line."""
    from benchmarks.espeak_clauses import TEXTS, sentences_of

    parser = argparse.ArgumentParser(prog="benchmarks.text_latency", description=__doc__.partition("\n")[0])
    parser.add_argument("other", type=Path, help="folder of the other checkout")
    parser.add_argument("--language", default="en-us", choices=TEXTS, help="of the sentences and their phonemes")
    parser.add_argument("--lines", type=Path, help="file whose lines are the sentences")
    parser.add_argument("--pairs", type=int, default=5, help="of runs, one in each checkout")
    parser.add_argument("--sentences", type=int, default=300, help="measured in each run, if there are as many")
    options = parser.parse_args()
    language = options.language
    sentences = options.lines.read_text().splitlines() if options.lines else sentences_of(language)
    warm_up = islice(chain.from_iterable(repeat(sentences[::-1])), _WARM_UP)
    chosen = [*warm_up, *sentences[: options.sentences]]
    print(f"| {language} | normalise | pronounce | both |\n|---|---|---|---|")
    rows = ratios(language, chosen, options.other.resolve(), options.pairs)
    for number, row in enumerate(rows, 1):
        print(f"| pair {number} | " + " | ".join(f"{ratio:.2f}" for ratio in row) + " |")
    print("| median | " + " | ".join(f"{median(column):.2f}" for column in zip(*rows, strict=True)) + " |")


if __name__ == "__main__":
    main()

"""Where sentences end in English: the Golden Rules, and gold sentences in paragraphs, alongside pysbd.

    python -m benchmarks.sentence_ends [--shown]

The 48 Golden Rules are pysbd's copy of pragmatic_segmenter's. The gold sentences are those of `benchmarks.gold_tags`,
five lines joined to a paragraph; F1 is of the sentence ends inside paragraphs. A line of that file may have several
sentences: one also ends at each mark that people tagged as final, if no word in lower case follows. pysbd is installed
into a temporary folder.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence

from benchmarks.gold_tags import WALL_STREET_JOURNAL, GoldWord, treebank
from benchmarks.measuring.archived import archived
from text.sentences.sentences import sentences

PYSBD = "pysbd==0.3.4"
GOLDEN_RULES = (
    "pysbd==0.3.3",
    "pysbd-0.3.3/benchmarks/english_golden_rules.py",
    "dec5428d111a4ac0bc83eaa07ad13dd7eeb44519031b3d04a425b84c8db5a4c5",
)
PARAGRAPH = 5
"""Sentences of a paragraph."""

_CLOSING = (".", "''", ")")
"""Tags of signs that belong to the sentence before them."""

Splitter = Callable[[str], list[str]]


def ours(text: str) -> list[str]:
    """Sentences as the server splits them."""
    return list(sentences(text, "en-us"))


def pysbd(folder: str) -> Splitter:
    """pysbd's splitter, installed in that folder."""
    install = [sys.executable, "-m", "pip", "-q", "install", "--no-deps", "--target", folder, PYSBD]
    subprocess.run(install, check=True, stderr=subprocess.PIPE)
    sys.path.insert(0, folder)
    import pysbd as library

    segmenter = library.Segmenter(language="en", clean=False)
    return lambda text: [part.strip() for part in segmenter.segment(text)]


def tagged_sentences(line: str, words: Sequence[GoldWord]) -> Iterator[str]:
    """The sentences of a line, by the tags of its marks."""
    start, ended = 0, False
    for word in words:
        if ended and word.tag_ not in _CLOSING:
            if not word.text[0].islower():
                yield line[start : word.idx].strip()
                start = word.idx
            ended = False
        ended = ended or word.tag_ == "."
    yield line[start:].strip()


def golden_rules(split: Splitter, shown: bool) -> str:
    """Number of the rules that a splitter keeps, as text."""
    (assignment,) = ast.parse(archived(*GOLDEN_RULES)).body
    assert isinstance(assignment, ast.Assign)
    rules = ast.literal_eval(assignment.value)
    kept = 0
    for text, wanted in rules:
        good = split(text) == [part.strip() for part in wanted]
        kept += good
        if shown and not good:
            print(f"{split(text)} for {wanted}", file=sys.stderr)
    return f"{kept} of {len(rules)}"


def f1(split: Splitter, gold: Sequence[Sequence[str]]) -> str:
    """Precision, recall and their harmonic mean for the sentence ends inside paragraphs, as text."""
    right = found = wanted = 0
    for start in range(0, len(gold), PARAGRAPH):
        sentences_of_it = [each for line in gold[start : start + PARAGRAPH] for each in line]
        said, true = _ends(split(" ".join(sentences_of_it))), _ends(sentences_of_it)
        right += len(said & true)
        found += len(said)
        wanted += len(true)
    precision, recall = right / found, right / wanted
    return f"{precision:.1%} | {recall:.1%} | {2 * precision * recall / (precision + recall):.1%}"


def _ends(parts: list[str]) -> set[int]:
    """Numbers of written characters before each end but the last one."""
    ends, place = set(), 0
    for part in parts[:-1]:
        place += len("".join(part.split()))
        ends.add(place)
    return ends


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.sentence_ends", description=__doc__.partition("\n")[0])
    parser.add_argument("--shown", action="store_true", help="print the rules that aren't kept, to the standard error")
    options = parser.parse_args()
    lines = treebank(archived(*WALL_STREET_JOURNAL).splitlines())
    gold = [list(tagged_sentences(line, words)) for line, words in lines.items()]
    with tempfile.TemporaryDirectory() as folder:
        splitters = {"kokoro-live": ours, PYSBD.replace("==", " "): pysbd(folder)}
        print("| splitter | Golden Rules | precision | recall | F1 | time |\n|---|---|---|---|---|---|")
        first = 0.0
        for name, split in splitters.items():
            start = time.perf_counter()
            scores = f1(split, gold)
            took = time.perf_counter() - start
            first = first or took
            print(f"| {name} | {golden_rules(split, options.shown)} | {scores} | {took / first:.1f} |")


if __name__ == "__main__":
    main()

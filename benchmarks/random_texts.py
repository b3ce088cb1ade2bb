"""Texts of random pieces, read in each language: no exception, and as many words as spans.

    python -m benchmarks.random_texts [--texts 100000] [--seed 1]

Pieces are what rules look for (digits, signs, units, cue words, marks of layout) and characters of any script, so that
most texts are nonsense that many rules half match.
"""

from __future__ import annotations

import argparse
import random
import sys

from text.normalization.normalize import normalized_sentences
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

LANGUAGES = ("en-us", "en-gb", "es", "fr-fr", "it", "pt-br", "hi", "ja", "cmn")
_RULED = """
12 3.5 $ 1½ - – / q 4h M-F <math> </math> <mi> | x " ' ( ) . : th Fed. R. Ex. A № ½ 10m oven mg 周 , é हि # ref: AB 0045
at % ° @ @@ { } [ ] \\( \\) $x^2$ ``` ** 5'11" 12:30 2024-01-02 https://a.b/c M/D 1st IV & + = −
"""
PIECES = (*_RULED.split(), *(" ",) * 24, "\n", 'File "a", line 3', "1 000,5", "@@ -1,2 +3,4 @@\n")
_LONGEST = 40


def text(chance: random.Random) -> str:
    """A text of up to 40 pieces."""
    return "".join(
        chance.choice(PIECES) if chance.random() < 0.9 else chr(chance.randrange(33, 0x3000))
        for _ in range(chance.randrange(1, _LONGEST))
    )


def main() -> None:
    """Read the texts; print the first that fail, and end with 1 if one does."""
    parser = argparse.ArgumentParser(prog="benchmarks.random_texts", description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", type=int, default=100_000, help="texts a language")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance, settings, failed = random.Random(options.seed), Normalization(), 0
    for _ in range(options.texts):
        written = sanitize(text(chance))
        for language in LANGUAGES:
            try:
                for sentence in normalized_sentences(written, language, settings):
                    starts = [word.start for word in sentence.words]
                    assert starts == sorted(starts)
                    assert all(0 <= word.start < word.end <= len(written) for word in sentence.words)
            except Exception as error:
                failed += 1
                if failed < 10:
                    print(f"{language} {written!r}: {error!r}")
    print(f"{options.texts} texts in {len(LANGUAGES)} languages, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

"""Test of numbers, names and dates, heard as words: python -m benchmarks.numbers_heard --model FILE.

The model speaks 30 English sentences twice: as people write them ("on 12/25") and in words ("on December twenty
fifth"). Whisper listens to both. A sentence is heard right if Whisper understands the words of the written form no
worse than the words of the spoken one. The sentences and words are in `benchmarks/numbers_heard.txt`.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import word_errors
from benchmarks.measuring.report import Table
from benchmarks.quality.corpus import Item
from benchmarks.quality.speaking import Speaker
from benchmarks.quality.ways import Way
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization

SENTENCES = Path(__file__).with_name("numbers_heard.txt")


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence and what Whisper understood of it."""

    written: str
    words: str
    of_written: str
    of_words: str

    @property
    def errors(self) -> int:
        """Words understood wrongly of the sentence as people write it."""
        return word_errors(self.words, _in_words(self.of_written))

    @property
    def floor(self) -> int:
        """Words understood wrongly of the same sentence in words, which no reading of numbers can better."""
        return word_errors(self.words, _in_words(self.of_words))


def sentences() -> list[tuple[str, str]]:
    """Each sentence as people write it, and in words."""
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    return [(written, words) for written, _, words in (line.partition("\t") for line in lines)]


def _in_words(understood: str) -> str:
    """Whisper's text in words; Whisper writes numbers as digits."""
    said = normalize(understood, "en-us", Normalization()).replace(".M", " m").replace("-", " ")
    return said.replace("a.m.", "a m").replace("p.m.", "p m")


def listen(model: Path, voices: Path, voice: str) -> list[Heard]:
    """All sentences, spoken both ways and listened to."""
    speaker = Speaker(Way("written", model), voices)
    ears = Recognizer()

    def understood(name: str, text: str) -> str:
        return ears.understood(speaker.speak(Item(name, text, voice)).samples)

    return [
        Heard(written, words, understood(f"{place}w", written), understood(f"{place}s", f"{words}."))
        for place, (written, words) in enumerate(sentences())
    ]


def main() -> None:
    """Print a table of the sentences that were heard wrongly, and the count of those that weren't."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--voice", default="af_heart")
    options = parser.parse_args()
    heard = listen(options.model, options.voices, options.voice)
    wrong = [each for each in heard if each.errors > each.floor]
    rows = [(each.written, each.of_written, each.errors, each.floor) for each in wrong]
    if rows:
        print(Table("Heard worse than in words", ("sentence", "understood", "errors", "in words"), rows).as_markdown())
    print(f"{len(heard) - len(wrong)} of {len(heard)} sentences are heard as well as in words.")


if __name__ == "__main__":
    main()

"""The ear as judge of the whole way: python -m benchmarks.numbers_heard --model FILE [--sample N].

`benchmarks/numbers_heard.txt` has some ten English lines a class, each as people paste it ("on 12/25") and in words
("on December twenty fifth"); a name or homograph has its IPA there. The model speaks both forms, Whisper listens. A
line agrees if Whisper understands no more of its words wrongly in the written form than in the other, which sounds as
good as the voice can be and Whisper hear. Both transcripts are rewritten alike by whisper-normalizer, which knows
nothing of the reader. Transcripts are kept in a file by their sounds: an interrupted run continues, and a mend costs
what it changes.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from whisper_normalizer.english import EnglishTextNormalizer

from benchmarks.measuring.hearing.recognizer import Recognizer
from benchmarks.measuring.hearing.words import word_errors
from benchmarks.measuring.report import Table
from benchmarks.quality.corpus import Item
from benchmarks.quality.speaking import Speaker
from benchmarks.quality.ways import Way
from worker.voices.kokoro_voices import EMBEDDED

LINES = Path(__file__).with_name("numbers_heard.txt")

_IPA = re.compile(r"\[([^]]+)\]\(/[^/]+/\)")
_SIGNS = {"$": " dollars ", "£": " pounds ", "€": " euros ", "¢": " cents "}


@dataclass(frozen=True, slots=True)
class Heard:
    """A line in both its forms, with the words that Whisper understood of each."""

    kind: str
    written: str
    words: str
    of_written: str
    of_words: str
    is_one_sound: bool = False
    """True if both forms have the same phonemes and the same pace."""

    @property
    def errors(self) -> int:
        """Number of words understood wrongly of the line as people write it."""
        return word_errors(rewritten(self.words), rewritten(self.of_written))

    @property
    def floor(self) -> int:
        """Number of words understood wrongly of the line in words."""
        return word_errors(rewritten(self.words), rewritten(self.of_words))

    @property
    def agrees(self) -> bool:
        return self.errors <= self.floor or rewritten(self.of_written) == rewritten(self.of_words)

    @property
    def cause(self) -> str:
        """Part of the way that a disagreement comes from: the reader, or the voice and Whisper, which also understand
        the words wrongly."""
        return "voice, Whisper" if self.is_one_sound or self.floor else "reader"


def lines() -> list[tuple[str, str, str]]:
    """The class of each line, its written form, and its words."""
    rows = (line.split("\t") for line in LINES.read_text(encoding="utf-8").splitlines())
    return [(kind, written, words) for kind, written, words in rows]


@cache
def _rewrite() -> Callable[[str], str]:
    rewrite: Callable[[str], str] = EnglishTextNormalizer()
    return rewrite


def rewritten(text: str) -> str:
    """A text with its numbers in digits, digits together, and the signs of money and measure in words.

    >>> rewritten("At six thirty it cost twelve dollars.") == rewritten("At 6:30, it cost $12")
    True
    """
    plain = re.sub(r"(?<=\d)[:/](?=\d)", "", _IPA.sub(r"\1", text).replace("°", " degrees "))
    said = re.sub(r"([$£€¢])([\d.]*\d)", lambda sum: sum[2] + _SIGNS[sum[1]], _rewrite()(plain))
    return " ".join(re.sub(r"(?<=\d) +(?=\d)", "", said.replace("%", " percent ")).split())


class Listener:
    """Speaks texts, and understands them."""

    def __init__(self, speaker: Speaker, ears: Recognizer, voice: str, kept: Path | None) -> None:
        """Args:
        kept: file of the transcripts, which grows.
        """
        self._speaker, self._ears, self._voice, self._kept = speaker, ears, voice, kept
        rows = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else ()
        self._known: dict[str, str] = dict(json.loads(row) for row in rows)

    def understood(self, text: str) -> tuple[str, str]:
        """The phonemes of a text, and what Whisper understands."""
        item = Item("heard", text, self._voice)
        script = " ".join(f"{segment.script} {segment.rate:g}" for segment in self._speaker.segments(item))
        if script not in self._known:
            self._known[script] = self._ears.understood(self._speaker.speak(item).samples)
            if self._kept:
                with self._kept.open("a", encoding="utf-8") as file:
                    print(json.dumps([script, self._known[script]], ensure_ascii=False), file=file)
        return script, self._known[script]

    def heard(self, kind: str, written: str, words: str) -> Heard:
        (sound, of_written), (other, of_words) = self.understood(written), self.understood(words)
        return Heard(kind, written, words, of_written, of_words, sound == other)


def tables(heard: Iterable[Heard]) -> list[Table]:
    """Counts by class, and the lines that disagree."""
    found = list(heard)
    kinds = {each.kind: [other for other in found if other.kind == each.kind] for each in found}
    rows = [
        (
            kind,
            len(of),
            sum(each.agrees for each in of),
            sum(each.errors == 0 for each in of),
            sum(each.floor == 0 for each in of),
            sum(each.is_one_sound for each in of),
        )
        for kind, of in (kinds | {"all": found}).items()
    ]
    wrong = [(each.kind, each.written, each.of_written, each.of_words, each.cause) for each in found if not each.agrees]
    return [
        Table(
            "Lines",
            ("class", "lines", "agree", "understood as written", "understood in words", "of one sound"),
            rows,
        ),
        Table("Disagree", ("class", "line", "understood", "in words", "cause"), wrong),
    ]


def main() -> None:
    """Print how many lines of each class agree, and those that don't."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--voices", type=Path, default=EMBEDDED)
    parser.add_argument("--voice", default="af_heart")
    parser.add_argument("--whisper", type=Path, help="folder of a model for CTranslate2  [default: tiny.en]")
    parser.add_argument("--kept", type=Path, help="file of transcripts, for these models and this voice")
    parser.add_argument("--sample", type=int, help="number of lines, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="of each model; 0: all cores")
    options = parser.parse_args()
    chosen = lines()
    if options.sample:
        chosen = random.Random(options.seed).sample(chosen, options.sample)
    speaker = Speaker(Way("heard", options.model), options.voices, options.threads)
    listener = Listener(speaker, Recognizer(options.threads, options.whisper), options.voice, options.kept)
    for table in tables(listener.heard(*line) for line in chosen):
        print(table.as_markdown(), end="\n\n")


if __name__ == "__main__":
    main()

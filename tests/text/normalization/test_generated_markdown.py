"""Generated Markdown in nine languages: nothing fails, and each word is heard once, in order, with its own span."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.share import share
from tests.text.normalization.test_normalization_golden import TEXT, LetterG2P
from text.normalization.normalize import normalized_sentences
from text.normalization.settings import Normalization
from text.pipeline import TextPipeline
from text.words.sanitize import sanitize

VOCABULARY = {
    "en-us": "apple river walking yellow gently winter bottle garden silver candle",
    "en-gb": "harbour kettle marble pillow ribbon saddle thunder velvet window meadow",
    "es": "manzana camino ventana puerta caballo silla mesa piedra bosque corriendo",
    "fr-fr": "pomme chemin fenêtre jardin cheval chaise pierre forêt lentement maison",
    "hi": "किताब दरवाज़ा पानी बगीचा घोड़ा कुर्सी पत्थर जंगल खिड़की रास्ता",
    "it": "mela finestra giardino cavallo sedia pietra foresta lentamente strada tavolo",
    "ja": "りんご さくら とけい つくえ みどり ひこうき かばん でんわ たまご えんぴつ",
    "pt-br": "janela caminho cavalo cadeira pedra floresta devagar cozinha livro garrafa",
    "cmn": "苹果 河流 窗户 花园 椅子 石头 森林 桌子 瓶子 蜡烛",
}
HIDDEN = "zzqa zzqb zzqc zzqd"
"""Words of addresses, titles, comments and labels, which nobody hears."""


@dataclass
class Document:
    language: str
    source: str = ""
    heard: list[str] = field(default_factory=list)
    """Words in the order in which they are heard, and those of hidden parts never."""


class Writer:
    """Writes one document; the same seed gives the same one."""

    def __init__(self, seed: int, language: str) -> None:
        self._random = random.Random(f"{seed} {language}")
        self._words = VOCABULARY[language].split()
        self._kinds: Sequence[int] = range(20)
        """Kinds of inline markup of the present block; one kind alone meets other shortcuts than a mixture."""
        self.document = Document(language)

    def write(self) -> Document:
        blocks = [self._block(depth=0) for _ in range(self._random.randint(1, 4))]
        self.document.source = "\n\n".join(blocks)
        return self.document

    def _word(self) -> str:
        word = self._random.choice(self._words)
        self.document.heard.append(word)
        return word

    def _hidden(self) -> str:
        return self._random.choice(HIDDEN.split())

    def _phrase(self) -> str:
        return " ".join(self._word() for _ in range(self._random.randint(1, 3)))

    def _inline(self, depth: int) -> str:
        """One to four pieces, each of which may hold others."""
        pieces: list[str] = []
        for _ in range(self._random.randint(1, 4 if depth == 0 else 2)):
            piece = self._piece(depth)
            pieces.append(piece + self._random.choice(["", "", "", ",", ".", "!", "?", ";", ":"]))
        return " ".join(pieces)

    def _piece(self, depth: int) -> str:
        if depth > 2:
            return self._phrase()
        label = self._random.choice(["1", "2", "x y", self._hidden(), "^"])
        address = self._random.choice(
            [f"https://{self._hidden()}.org/a_b*c", f"#{self._hidden()}", f"<{self._hidden()}>"]
        )
        more = depth + 1
        match self._random.choice(self._kinds):
            case 0:
                return f"*{self._phrase()}*"
            case 1:
                return f"**{self._inline(more)}**"
            case 2:
                return f"_{self._phrase()}_"
            case 3:
                return f"~~{self._phrase()}~~"
            case 4:
                return f"`{self._phrase()}`"
            case 5:
                return f"[{self._inline(more)}]({address})"
            case 6:
                return f'[{self._phrase()}]({address} "{self._hidden()}")'
            case 7:
                return f"[{self._inline(more)}][{label}]"
            case 8:
                return f"[{self._phrase()}][]"
            case 9:
                return f"{self._phrase()}[^{label.replace(' ', '')}]"
            case 10:
                return f"![{self._phrase()}]({address})"
            case 11:
                return f"[![{self._phrase()}]({address})]({address})"
            case 12:
                return f"[![{self._phrase()}][{label}]][{label}]"
            case 13:
                return f"<b>{self._inline(more)}</b>"
            case 14:
                return f'<a href="{self._hidden()}">{self._phrase()}</a>'
            case 15:
                return f"{self._phrase()}<!-- {self._hidden()} --> {self._word()}"
            case 16:
                return f"***{self._phrase()}***"
            case 17:
                return f"({self._inline(more)})"
            case 18:
                return f"[{self._phrase()}][{label}][^2]"
            case _:
                return self._phrase()

    def _lines(self) -> str:
        return "\n".join(self._inline(0) for _ in range(self._random.randint(1, 3)))

    def _block(self, depth: int) -> str:
        self._kinds = self._random.choice([range(20), [self._random.randrange(20), 19]])
        match self._random.randrange(14 if depth < 2 else 4):
            case 0:
                return f"{'#' * self._random.randint(1, 6)} {self._inline(0)}"
            case 1:
                return f"{self._inline(0)}\n{'=' * 4}"
            case 2 | 3 | 4:
                return self._lines()
            case 5:
                return "\n".join(f"{self._random.choice('-*+')} {self._inline(0)}" for _ in range(3))
            case 6:
                return "\n".join(f"{number}. {self._inline(0)}" for number in range(1, 4))
            case 7:
                return "\n".join(f"> {line}" for line in self._block(depth + 1).split("\n"))
            case 8:
                rows = [f"| {self._cell()} | {self._cell()} |" for _ in range(3)]
                return "\n".join([rows[0], "|---|:-:|", *rows[1:]])
            case 9:
                return f"```\n{self._phrase()}\n```"
            case 10:
                return f"<div>{self._inline(0)}</div>"
            case 11:
                return f'{self._lines()}\n\n[{self._hidden()}]: https://{self._hidden()}.org "{self._hidden()}"'
            case 12:
                return f"[^1]: {self._inline(0)}"
            case _:
                return f"- [x] {self._inline(0)}\n  - {self._inline(0)}"

    def _cell(self) -> str:
        return self._inline(0)


_KNOWN = {
    language: re.compile("|".join(sorted([*words.split(), *HIDDEN.split()], key=len, reverse=True)))
    for language, words in VOCABULARY.items()
}


def problem(seed: int, language: str) -> str:
    """Report on one generated document; empty if it is read as it should be."""
    document = Writer(seed, language).write()
    known, clean = _KNOWN[language], sanitize(document.source)
    heard: list[str] = []
    for sentence in normalized_sentences(clean, language, Normalization()):
        for word in sentence.words:
            found = known.findall(word.said)
            heard += found
            written = clean[slice(*word.span)]
            if any(each not in written for each in found):
                return f"{word.said!r} is said for {written!r} in {document.source!r}"
    if heard != document.heard:
        return f"{heard} is heard for {document.source!r}"
    units = [unit for sentence in TextPipeline(LetterG2P()).sentences(clean, language, TEXT) for unit in sentence]
    spoken = known.findall(" ".join(unit.text for unit in units))
    return "" if spoken == document.heard else f"{spoken} is spoken for {document.source!r}"


@pytest.mark.parametrize("language", VOCABULARY)
def test_every_word_of_markdown_is_heard_once_and_in_its_place(language: str) -> None:
    problems = [found for seed in range(25) if (found := problem(seed, language))]
    assert problems == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("language", VOCABULARY)
def test_thousands_of_generated_documents(language: str) -> None:
    problems = [found for seed in range(60, 60 + share(2240)) if (found := problem(seed, language))]
    assert problems[:20] == []

"""The rules by which a text without markup is inflected: one list, each row a finder of words and their inflection.

English questions that can be answered by yes or no rise from their last stress on, and so do statements that ask;
questions with a question word, and choices, fall (Quirk et al., A Comprehensive Grammar of the English Language, 11.5
to 11.23). Tags ("isn't it?") do either, and are left to the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from shm.inflection import PLAIN, Inflection
from text.units.prosody import rises
from text.units.stresses import STRESS, marked, shouted
from text.words.segment import Word


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence as the rules see it."""

    words: Sequence[Word]
    written: Sequence[str]
    """The user's spelling of each word; "" if the word before has it already."""

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words]

    def from_stress(self, end: int) -> Iterator[int]:
        """Places before `end` from the last stress on: of the last `_WEAK` words that sound, or the last one."""
        sounding = [at for at in range(end) if any(map(str.isalpha, self.words[at].phonemes))][-_WEAK:]
        if sounding:
            stressed = [at for at in sounding if "ˈ" in self.words[at].phonemes]
            yield from range((stressed or sounding)[-1], sounding[-1] + 1)


_WEAK = 3
"""Number of last words among which the last stress is looked for."""


def _question(sentence: ReadSentence) -> Iterator[int]:
    if any("?" in text for text in sentence.texts[-2:]) and rises(sentence.texts):
        yield from sentence.from_stress(len(sentence.words))


@dataclass(frozen=True, slots=True)
class ExpressionRule:
    """A kind of words, and how they are said."""

    inflection: Inflection
    find: Callable[[ReadSentence], Iterable[int]]
    """Places of the words."""
    english: bool = True
    """For English alone."""


RULES = {
    "marked": ExpressionRule(STRESS, lambda sentence: marked(sentence.written), english=False),
    "shouted": ExpressionRule(STRESS, lambda sentence: shouted(sentence.written)),
    "question": ExpressionRule(Inflection(rise=10.0), _question),
}


def expressed(sentence: ReadSentence, language: str, degree: float = 1.0) -> list[Word]:
    """The words, with the inflections of all rules that find some, to a degree; 0 leaves the words as they are."""
    words = list(sentence.words)
    for rule in RULES.values() if degree else ():
        if not rule.english or language.startswith("en"):
            inflection = rule.inflection.times(degree)
            for at in dict.fromkeys(rule.find(sentence)):
                words[at] = replace(words[at], inflection=inflection.within(words[at].inflection or PLAIN))
    return words

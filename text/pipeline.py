"""Text pipeline that sanitises, normalises and pronounces a request's text, and returns sentences of units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from text.espeak.espeak_g2p import by_rule, spelled
from text.g2p import G2P
from text.isolation.apart import apart
from text.isolation.mishap import Mishaps
from text.isolation.passages import ReadPassage, read_passages
from text.lexicon.given import Given
from text.lexicon.lexicon import Lexicon, LexiconFile
from text.markup.bookmarks import Bookmarks
from text.markup.marked import Marked, SentenceEnd
from text.mixed import MixedG2P
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.settings import TextSettings
from text.units.paced import Pacing, SourcedWords, paced_units
from text.units.prosody import LayoutElement, Pauses, place_of, with_full_stop, with_inner_pauses, with_pause
from text.units.segmentation import pronounceable, units_of
from text.words.punctuation import is_unpronounceable
from text.words.segment import Continuation, Cut, Notation, Sentence
from text.words.word import PhonemeSource, Word

_PASSAGE = 2
"""Most characters that are pronounced at once, as a multiple of the engine's limit.

The limit lets the first words of an endless sentence be spoken before its end.
"""

_BLANK_LINE = re.compile(r"(?:[^\w\n]|_)*(?:\n(?:[^\w\n]|_)+)*\n\n")
"""Text after a sentence without a word before its paragraph's end."""

_LETTERS = {"hi": "\u0904-\u0939", "ja": "\u3041-\u30fa\u4e00-\u9fff", "cmn": "\u4e00-\u9fff"}
_SOUNDS = {language: re.compile(rf"<[^<>]*>|[0-9A-Za-z{_LETTERS.get(language, '')}]") for language in ("", *_LETTERS)}
"""Patterns of letters that are sure to be pronounced, by language. A tag is matched as a whole, since its letters are
silent.
"""

_LOOK_AHEAD = 400
"""Characters after a sentence that are searched for such a letter, or for the paragraph's end."""

Words = tuple[Word, ...]


class Pronouncer(Protocol):
    """Interface of `text.g2p.G2P` that the pipeline uses."""

    def words(self, sentence: str, language: str) -> tuple[Word, ...]:
        """Pronounced words, one for each token between spaces."""
        ...


class TextPipeline:
    """Converts texts to sentences of units, and counts characters and phonemes that could not be spoken."""

    def __init__(
        self,
        g2p: Pronouncer,
        normalization: Normalization | None = None,
        lexicon: Callable[[], Lexicon] = Lexicon,
        pauses: Pauses | None = None,
        misread: Callable[[], None] = lambda: None,
    ) -> None:
        """Args:
        normalization: switches of the normalisation rules; by default those that are on by default.
        lexicon: callback that returns the user's current pronunciations; called once for each text.
        pauses: silence after headings, items and paragraphs.
        misread: callback for each sentence that is spoken by simpler rules because the others failed; runs in the
            calling thread.
        """
        self._g2p = g2p
        self._normalization = normalization or Normalization()
        self._lexicon = lexicon
        self._pauses = pauses or Pauses()
        self._misread = misread
        self.unpronounceable: Counter[str] = Counter()
        """Characters of words that got no sound, punctuation excluded, with their counts."""
        self.dropped: Counter[str] = Counter()
        """Phonemes outside the engine's vocabulary, with their counts."""

    def without(self, rules: Iterable[str]) -> TextPipeline:
        """This pipeline with some normalisation rules off, named as their settings are; both count together."""
        switches = dict.fromkeys(rules, False)
        if not switches:
            return self
        normalization = replace(self._normalization, **switches)
        other = TextPipeline(self._g2p, normalization, self._lexicon, self._pauses, self._misread)
        other.unpronounceable, other.dropped = self.unpronounceable, self.dropped
        return other

    def sentences(
        self,
        text: str | Marked,
        language: str,
        notation: Notation,
        speed: float = 1.0,
        then: Continuation | None = None,
    ) -> Iterator[Sentence]:
        """Sentences of the text in order, each word in one of them; no sentence if nothing can be pronounced.

        The iterator is lazy: a sentence is yielded as soon as it is pronounced. Silent text between two sentences (a
        row of asterisks) joins the later one, and after the last sentence the last one. The next sentence is pronounced
        ahead only if none of the next `_LOOK_AHEAD` characters is sure to sound. If these characters have no sound for
        this engine after all, and nothing follows, they are in no unit; they are counted like all others without sound.

        Args:
            then: the boundary to a text that is spoken next; None: the speech ends with this text. A text that another
                one follows gives no sentence if it has no sound. A paragraph ends after it if a blank line ends it.
        """
        marked = text if isinstance(text, Marked) else Marked.plain(text)
        lexicon = self._lexicon()
        can_speak = False
        reading = _Reading(language, notation, speed, then, Mishaps(self._misread))
        for sentence in self._sentences(marked, lexicon, reading, self._normalization):
            can_speak = True
            yield sentence
        if not can_speak and then is None and self._is_rewritten(marked, lexicon, language):
            # The text consists of markup only, which normalisation removes: read it unnormalised. Emoji stay out:
            # espeak-ng would name them, and Kokoro can't.
            emoji = self._normalization.normalize_emoji
            yield from self._sentences(marked, lexicon, reading, replace(Normalization.none(), normalize_emoji=emoji))

    def words(self, text: str | Marked, language: str, notation: Notation) -> Iterator[Word]:
        """Normalised words of the text with their pronunciations, in order."""
        marked = text if isinstance(text, Marked) else Marked.plain(text)
        given = Given(marked, self._lexicon(), language)
        limit, mishaps = _PASSAGE * notation.max_tokens, Mishaps(self._misread)
        for passage in read_passages(marked.text, language, self._normalization, given, limit, mishaps.note):
            yield from self._words(passage, given, language, notation, mishaps)

    def _is_rewritten(self, marked: Marked, lexicon: Lexicon, language: str) -> bool:
        given = Given(marked, lexicon, language)
        keeps = given.keeps if given else None
        try:
            said = apart.result(marked.text, normalize, marked.text, language, self._normalization, keeps)
        except Exception:
            return True  # the reading before has failed in the same way, and has told so
        return said.split() != marked.text.split()

    def _sentences(
        self, marked: Marked, lexicon: Lexicon, reading: _Reading, normalization: Normalization
    ) -> Iterator[Sentence]:
        bookmarks = Bookmarks(marked)
        return bookmarks.all_given(self._read(marked, lexicon, reading, normalization, bookmarks))

    def _read(
        self,
        marked: Marked,
        lexicon: Lexicon,
        reading: _Reading,
        normalization: Normalization,
        bookmarks: Bookmarks,
    ) -> Iterator[Sentence]:
        clean = marked.text
        language, notation = reading.language, reading.notation
        given = Given(marked, lexicon, language)
        pacing = Pacing(marked)
        sentence_ends = {each.at for each in marked.annotations if isinstance(each, SentenceEnd)}
        read = SourcedWords()
        ready: Cut | None = None
        """Kind of cut after the words; None until one of them sounds."""

        def units(end: Cut, last: bool = False) -> Sentence:
            nonlocal read
            spoken, read = read, SourcedWords()

            def laid_out() -> Sentence:
                place = LayoutElement.TEXT
                words = spoken
                if end in (Cut.SENTENCE, Cut.PARAGRAPH) and not last:
                    place = place_of(clean, spoken.origins[0][0], spoken.origins[-1][1])
                    if place is not LayoutElement.TEXT:
                        words = replace(spoken, words=with_full_stop(spoken.words, notation))
                found = paced_units(words, pacing, notation, self.dropped, end=end, language=language)
                found = with_inner_pauses(found, self._pauses, reading.speed)
                if not last:
                    found = with_pause(found, self._pauses.after(place, end), reading.speed)
                return found

            def plain() -> Sentence:
                return units_of(spoken.words, notation, self.dropped, written=spoken.written, end=end)

            return reading.mishaps.first_of((laid_out, plain), spoken.origins[0][0])

        limit = _PASSAGE * notation.max_tokens
        for passage in read_passages(clean, language, normalization, given, limit, reading.mishaps.note):
            more = self._words(passage, given, language, notation, reading.mishaps)
            more = bookmarks.given_to(more, passage.written, passage.origins)
            sounds = any(pronounceable(word, notation) for word in more)
            if ready and sounds:
                yield units(ready)
            read.extend(more, passage.written, passage.origins)
            if not (ready or sounds):
                continue
            ready, end = passage.cut, passage.end
            blank = _BLANK_LINE.match(clean, end, end + _LOOK_AHEAD) if passage.cut is Cut.SENTENCE else None
            if blank and blank.end() not in sentence_ends:
                ready = Cut.PARAGRAPH
            if _goes_on(clean, end, language):
                yield units(ready)
                ready = None
        if ready and reading.then is None:
            yield units(ready, last=True)
        elif ready and reading.then:
            cut = ready if ready is Cut.PARAGRAPH else reading.then.cut or ready
            yield with_pause(units(cut), reading.then.pause, 1.0)

    def _words(
        self, passage: ReadPassage, given: Given, language: str, notation: Notation, mishaps: Mishaps
    ) -> tuple[Word, ...]:
        ways = self._ways(passage, given, language, notation.speaks == "text")
        words = mishaps.first_of((partial(_one_each, way, passage) for way in ways), passage.origins[0][0])
        for word in words:
            if word.source is not PhonemeSource.USER and not pronounceable(word, notation):
                self.unpronounceable.update(filter(is_unpronounceable, word.text))
        return words

    def _ways(
        self, passage: ReadPassage, given: Given, language: str, as_text: bool
    ) -> Iterator[Callable[[str], Words]]:
        """The ways to pronounce a passage, each simpler than the one before."""
        if as_text:
            yield lambda text: given.respelled(text.split())
            yield lambda text: tuple(Word(token, token, PhonemeSource.ESPEAK) for token in text.split())
            return

        def say(text: str) -> Words:
            return self._g2p.words(text, language)

        if given:
            yield lambda text: given.words(text.split(), passage.origins, say)
        yield say
        yield lambda text: by_rule(text, language)
        yield lambda text: spelled(text, language)


def _one_each(way: Callable[[str], Words], passage: ReadPassage) -> Words:
    words = way(passage.text)
    if len(words) != len(passage.origins):
        raise ValueError(f"{len(words)} words were pronounced, {len(passage.origins)} were written")
    return words


@dataclass(frozen=True, slots=True)
class _Reading:
    """The way to read one text."""

    language: str
    notation: Notation
    speed: float
    then: Continuation | None
    mishaps: Mishaps


def _goes_on(clean: str, position: int, language: str) -> bool:
    """True if a character after `position` is sure to be pronounced."""
    sounds = _SOUNDS.get(language, _SOUNDS[""])
    return any(found[0][0] != "<" for found in sounds.finditer(clean, position, position + _LOOK_AHEAD))


def configured_pipeline(
    g2p: G2P,
    text: TextSettings,
    lexicon: LexiconFile | None,
    misread: Callable[[], None] = lambda: None,
) -> TextPipeline:
    """A pipeline whose lexicon follows its file.

    Args:
        lexicon: the file of `text.lexicon`, if that names one.
        misread: callback of `TextPipeline`.
    """
    return TextPipeline(
        MixedG2P(g2p) if text.mixed_languages else g2p,
        text.normalization,
        lexicon.current if lexicon else Lexicon,
        text.layout_pauses,
        misread,
    )

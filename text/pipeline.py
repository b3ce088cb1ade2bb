"""Text pipeline that sanitises, normalises and pronounces a request's text, and returns sentences of units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from text.apart import apart
from text.east_asian import LanguageUnavailable
from text.errors import Mishaps
from text.espeak.espeak_g2p import by_rule, spelled
from text.espeak.ipa import adapted
from text.g2p import G2P, MixedG2P
from text.given import Given
from text.lexicon import Entry, Lexicon, LexiconFile
from text.markup.marked import Bookmark, Marked, PerformedText, SentenceEnd
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.passages import ReadPassage, read_passages
from text.settings import PRONOUNCING, Pronouncing, TextSettings
from text.units.pacing import Reading, SourcedWords, paced
from text.units.prosody import Pauses
from text.units.segmentation import pronounceable
from text.words.language import EAST_ASIAN
from text.words.performer import Performer
from text.words.punctuation import is_unpronounceable
from text.words.segment import Continuation, Cut, Notation, PhonemeSource, Sentence, Word

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


class PronouncedPassage(NamedTuple):
    """A passage of normalised text with its pronounced words."""

    passage: ReadPassage
    words: Words
    sounds: bool
    """True if one of the words sounds."""


class TextPipeline:
    """Converts texts to sentences of units, and counts characters and phonemes that could not be spoken.

    A text passes through a chain of steps, each of which takes what the one before gives: it is sanitised and its
    markup read (`text.markup`), split and normalised into passages (`text.passages`), these are pronounced, gathered to
    sentences that sound, and paced (`text.units.pacing`).
    """

    def __init__(
        self,
        g2p: G2P | MixedG2P,
        normalization: Normalization | None = None,
        lexicon: Callable[[], Lexicon] = Lexicon,
        pauses: Pauses | None = None,
        misread: Callable[[], None] = lambda: None,
        pronouncing: Pronouncing = "misaki",
        emphasis: float = 1.0,
    ) -> None:
        """Args:
        normalization: switches of the normalisation rules; by default those that are on by default.
        lexicon: callback that returns the user's current pronunciations; called once for each text.
        pauses: silence after headings, items and paragraphs.
        misread: callback for each sentence that is spoken by simpler rules because the others failed; runs in the
            calling thread.
        pronouncing: the way that is tried first; without lexicons, foreign words are read in the text's language.
        emphasis: degree of the rules of expression (`text.units.prosody`); 0: no text is inflected by itself.
        """
        self._g2p = g2p
        self._pronouncing = pronouncing
        self._normalization = normalization or Normalization()
        self._lexicon = lexicon
        self._pauses = pauses or Pauses()
        self._misread = misread
        self._emphasis = emphasis
        self.unpronounceable: Counter[str] = Counter()
        """Characters of words that got no sound, punctuation excluded, with their counts."""
        self.dropped: Counter[str] = Counter()
        """Phonemes outside the engine's vocabulary, with their counts."""

    def without(self, rules: Iterable[str]) -> TextPipeline:
        """This pipeline with some normalisation rules off; both count together."""
        return self._otherwise(normalization=self._normalization.without(rules))

    def by(self, pronouncing: Pronouncing) -> TextPipeline:
        """This pipeline with another way that is tried first; both count together."""
        return self._otherwise(pronouncing=pronouncing)

    def emphasising(self, degree: float | None) -> TextPipeline:
        """This pipeline with rules of expression to another degree, unless it is None; both count together."""
        return self if degree is None else self._otherwise(emphasis=degree)

    @property
    def lexicon(self) -> Lexicon:
        """The user's, as it is now."""
        return self._lexicon()

    def saying(self, entries: Sequence[Entry]) -> TextPipeline:
        """This pipeline with pronunciations that precede the user's; both count together."""
        if not entries:
            return self
        return self._otherwise(lexicon=lambda: self._lexicon().with_entries(entries))

    def _otherwise(self, **changed: Any) -> TextPipeline:
        own: dict[str, Any] = {
            "normalization": self._normalization,
            "lexicon": self._lexicon,
            "pauses": self._pauses,
            "misread": self._misread,
            "pronouncing": self._pronouncing,
            "emphasis": self._emphasis,
        }
        if own | changed == own:
            return self
        other = TextPipeline(self._g2p, **(own | changed))
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
        return self._spoken(marked, language, notation, speed, then)

    def _spoken(
        self, marked: Marked, language: str, notation: Notation, speed: float, then: Continuation | None
    ) -> Iterator[Sentence]:
        mishaps = Mishaps(self._misread)
        reading = Reading(marked, language, notation, speed, then, self._lexicon(), mishaps, self._emphasis)
        can_speak = False
        for sentence in self._read(reading, self._normalization):
            can_speak = True
            yield sentence
        if not can_speak and then is None and self._is_rewritten(reading):
            # The text consists of markup only, which normalisation removes: read it unnormalised. Emoji stay out:
            # espeak-ng would name them, and Kokoro can't.
            yield from self._read(reading, self._normalization.only("emoji"))

    def performed(
        self,
        parts: Sequence[PerformedText],
        own: Performer,
        notation: Notation,
        speed: float,
        then: Continuation | None = None,
    ) -> Iterator[Sentence]:
        """Sentences of all parts in order, with their performers. No sentence belongs to two performers.

        Args:
            own: the performer of a speech's only part, which no unit names.
            then: the boundary to a text that is spoken after the last part; None: the speech ends with it.
        """
        soundless: tuple[Bookmark, ...] = ()
        alone = len(parts) == 1 and parts[0].performer == own
        for place, part in enumerate(parts, 1):
            performer = part.performer
            boundary = part.then if place < len(parts) else then
            marked = replace(part.marked, annotations=soundless + part.marked.annotations)
            soundless = tuple(Bookmark(0, each.name) for each in marked.annotations if isinstance(each, Bookmark))
            for sentence in self._spoken(marked, performer.language, notation, speed, boundary):
                soundless = ()
                yield sentence if alone else _performed_by(performer, sentence)

    def settled(self, words: Sequence[str], language: str) -> int:
        """Number of a sentence's first words that are pronounced alike whatever their sentence becomes, apart from the
        two words after each. Without white space between words (`EAST_ASIAN`), it is the number of characters before
        the first with which an entry of a lexicon may begin that isn't there whole."""
        if language in EAST_ASIAN:
            return self._lexicon().begun_in("".join(words))
        by_part = self._lexicon().by_part
        bare = (word.rstrip(",") for word in words)
        depend = (
            bool({word, word.lower()} & by_part) or self._g2p.depends_on_sentence(word, language) for word in bare
        )
        return next((place for place, depends in enumerate(depend) if depends), len(words))

    def words(self, text: str | Marked, language: str, notation: Notation) -> Iterator[Word]:
        """Normalised words of the text with their pronunciations, in order."""
        marked = text if isinstance(text, Marked) else Marked.plain(text)
        reading = Reading(marked, language, notation, 1.0, None, self._lexicon(), Mishaps(self._misread))
        for each in self._pronounced(reading, self._normalization):
            yield from each.words

    def _read(self, reading: Reading, normalization: Normalization) -> Iterator[Sentence]:
        gathered = _gathered(self._pronounced(reading, normalization), reading)
        return paced(gathered, reading, self._pauses, self.dropped)

    def _is_rewritten(self, reading: Reading) -> bool:
        given = Given(reading.marked, reading.lexicon, reading.language)
        clean = reading.marked.text
        try:
            keeps = given.keeps if given else None
            said = apart.result(clean, normalize, clean, reading.language, self._normalization, keeps)
        except Exception:
            return True  # the reading before has failed in the same way, and has told so
        return said.split() != clean.split()

    def _pronounced(self, reading: Reading, normalization: Normalization) -> Iterator[PronouncedPassage]:
        given = Given(
            reading.marked,
            reading.lexicon,
            reading.language,
            lambda *of: self._g2p.parts_of_speech(*of),
            lambda text, code: self._foreign(text, code, reading.language),
        )
        mishaps = reading.mishaps
        limit = _PASSAGE * reading.notation.max_tokens
        for passage in read_passages(reading.marked.text, reading.language, normalization, given, limit, mishaps.note):
            ways = (partial(_one_each, way, passage) for way in self._ways(passage, given, reading))
            words = mishaps.first_of(ways, passage.origins[0][0])
            silent = [word for word in words if not pronounceable(word, reading.notation)]
            for word in silent:
                if word.source is not PhonemeSource.USER:
                    self.unpronounceable.update(filter(is_unpronounceable, word.text))
            yield PronouncedPassage(passage, words, len(silent) < len(words))

    def _foreign(self, text: str, code: str, language: str) -> Words:
        """Words of another language in the sounds of the voice's; none if that language can't be read here."""
        try:
            words = self._g2p.words(text, code)
        except LanguageUnavailable:
            return ()
        return tuple(msgspec.structs.replace(word, phonemes=adapted(word.phonemes, language)) for word in words)

    def _ways(self, passage: ReadPassage, given: Given, reading: Reading) -> Iterator[Callable[[str], Words]]:
        """The ways to pronounce a passage, each simpler than the one before."""
        if reading.notation.speaks == "text":
            yield lambda text: given.respelled(text.split())
            yield lambda text: tuple(Word(token, token, PhonemeSource.ESPEAK) for token in text.split())
            return

        ways = (self._g2p.words, by_rule, spelled)[PRONOUNCING.index(self._pronouncing) :]
        says = [partial(_said, way, reading.language) for way in ways]
        if given:
            yield lambda text: given.words(text.split(), passage.origins, says[0])
        yield from says


def _said(way: Callable[[str, str], Words], language: str, text: str) -> Words:
    return way(text, language)


def _one_each(way: Callable[[str], Words], passage: ReadPassage) -> Words:
    words = way(passage.text)
    if len(words) != len(passage.origins):
        raise ValueError(f"{len(words)} words were pronounced, {len(passage.origins)} were written")
    return words


def _gathered(pronounced: Iterator[PronouncedPassage], reading: Reading) -> Iterator[SourcedWords]:
    """Words of whole sentences, at least one of which sounds."""
    clean = reading.marked.text
    sentence_ends = {each.at for each in reading.marked.annotations if isinstance(each, SentenceEnd)}
    read = SourcedWords()
    ready: Cut | None = None
    """Kind of cut after the words; None until one of them sounds."""
    for passage, words, sounds in pronounced:
        if ready and sounds:
            yield replace(read, end=ready)
            read = SourcedWords()
        read.words += words
        read.written += passage.written
        read.origins += passage.origins
        if not (ready or sounds):
            continue
        ready, end = passage.cut, passage.end
        blank = _BLANK_LINE.match(clean, end, end + _LOOK_AHEAD) if passage.cut is Cut.SENTENCE else None
        if blank and blank.end() not in sentence_ends:
            ready = Cut.PARAGRAPH
        if _goes_on(clean, end, reading.language):
            yield replace(read, end=ready)
            read, ready = SourcedWords(), None
    if ready and reading.then is None:
        yield replace(read, end=ready, last=True)
    elif ready and reading.then:
        cut = ready if ready is Cut.PARAGRAPH else reading.then.cut or ready
        yield replace(read, end=cut, pause=reading.then.pause)


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
        text.g2p,
        text.emphasis,
    )


def _performed_by(performer: Performer, sentence: Sentence) -> Sentence:
    return tuple(replace(unit, performer=performer, rate=unit.rate * performer.rate) for unit in sentence)

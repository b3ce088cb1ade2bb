"""Parser of SSML 1.1 (https://www.w3.org/TR/speech-synthesis11/), as far as its elements can be heard here.

`speak`, `p`, `s`, `break`, `mark`, `voice name`, `prosody`, `emphasis`, `phoneme`, `sub` and `say-as` follow the
recommendation. All other elements are read as their text, except `metadata` and `desc`, which the recommendation
excludes from it. Document types and entities are rejected, because a short document can expand to an endless one
through them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from xml.sax import SAXParseException
from xml.sax.expatreader import ExpatLocator
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, Locator

from defusedxml.common import DefusedXmlException
from defusedxml.expatreader import DefusedExpatParser

from shm.engine_info import EngineInfo
from shm.inflection import PLAIN, Inflection
from text.espeak.ipa import UnknownSymbols, ipa_of_xsampa
from text.markup.builder import MarkedBuilder, TagWriter
from text.markup.inflections import (
    EMPHASES,
    PITCHES,
    RANGES,
    VOLUMES,
    contour_of,
    decibels_of,
    hertz_of,
    range_of,
    semitones_of,
)
from text.markup.marked import Marked
from text.markup.meanings import MAX_DEPTH, MarkupError, Meanings, clamped_rate, over_limit, seconds_of
from text.words.language import UnknownLanguage
from text.words.performer import Performer
from text.words.voice_spec import UnknownVoice, VoiceError

T = TypeVar("T")

MAX_NAMES = 16
"""Most names that one `voice` element may list."""

STRENGTHS = {"x-weak": 0.1, "weak": 0.2, "medium": 0.4, "strong": 0.8, "x-strong": 1.2}
"""Seconds of a break by strength; `none` is no break."""

RATES = {"x-slow": 0.5, "slow": 0.75, "medium": 1.0, "default": 1.0, "fast": 1.25, "x-fast": 1.5}

ELEMENTS = {
    "speak": "encloses the whole text",
    "p": "ends a paragraph",
    "s": "ends a sentence",
    "break": "a pause, by time or strength: [pause:0.5s]",
    "voice": "another voice, by name: [voice:af_bella]",
    "prosody": "pace, pitch, range, contour, volume and duration: [rate:0.8] [pitch:+2] [range:0.5] [volume:-6dB]",
    "emphasis": "a stress, by level: [word](+2)",
    "phoneme": "a pronunciation, in IPA or X-SAMPA: [word](/ipa/)",
    "sub": "its alias, in place of its text",
    "say-as": "its text in words, by interpret-as",
    "lang": "its text by another language's rules, in the voice's sounds; tags have none",
    "mark": "a place whose time comes with the times of words, also as Azure's bookmark; tags have none",
}
"""Each element that has an effect, with tags that do the same."""

IGNORED = ("audio", "token", "w")
"""Elements of other documents of which only the text is read."""

_UNNAMED = frozenset((*ELEMENTS, "paragraph", "sentence", "bookmark", "metadata", "meta", "desc"))
_SKIPPED = re.compile(r"<!--.*?-->|<!\[CDATA\[.*?\]\]>", re.DOTALL)
_NAME = re.compile(r"<([A-Za-z][\w:.-]{0,57})")

_PROSODY = re.compile(r"<prosody\b([^<>]{0,400})")
_UNFOLLOWED = re.compile(r"""\b(contour|duration|pitch(?=\s?=\s?["']\s?\d{1,4}(?:\.\d{0,6})?\s?[Hh][Zz]))\s?=""")
"""Attributes that an engine without scores can't follow; a pitch in Hz is the mean."""
_INFLECTING = re.compile(r"\b(pitch|range|contour|volume|duration)\s?=")

_PARAGRAPHS = frozenset(("p", "paragraph"))
_SENTENCES = frozenset(("s", "sentence"))
_SILENT = frozenset(("metadata", "desc"))
_BOOKMARKS = {"mark": "name", "bookmark": "mark"}
"""The attribute with a bookmark's name; the second element is Azure's."""
_REPLACED = frozenset(("phoneme", "sub", "say-as"))
"""Elements that hold text only: tags inside them are ignored."""

_NUMBER = re.compile(r"(?P<sign>[+-])?(?P<number>\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(?P<percent>%)?")

_ALPHABETS: Mapping[str, Callable[[str], str]] = {"ipa": str, "x-sampa": ipa_of_xsampa}
"""Functions that make IPA of a phoneme element's `ph`."""

_LINE_END = re.compile(r"(?:(?<![ \t\r])[ \t\r]++)?\n[ \t\r\n]*")


def is_document(text: str) -> bool:
    """True if the text begins as an SSML document does."""
    return text.lstrip()[:9].lower().startswith(("<speak", "<?xml", "<!--", "<!doctype"))


def without_effect_in(document: str, engine: EngineInfo | None = None) -> list[str]:
    """Names of the document's elements of which only the text is read, each once, in order; then those of attributes
    that the engine can't follow.

    >>> without_effect_in('<speak><audio src="a">b</audio><amazon:effect name="whispered"><!--<x>--></speak>')
    ['ssml.audio', 'ssml.amazon:effect']
    """
    read = _SKIPPED.sub("", document)
    named = [name for name in dict.fromkeys(_NAME.findall(read)) if name not in _UNNAMED]
    if engine and not engine.scores:
        unfollowed = _UNFOLLOWED if engine.inflects else _INFLECTING
        found = dict.fromkeys(name for tag in _PROSODY.findall(read) for name in unfollowed.findall(tag))
        named += [f"prosody.{name}" for name in found]
    return [f"ssml.{name}" for name in named]


def parse_ssml(text: str, meanings: Meanings) -> Marked:
    """Text of the document as it is to be spoken, with the annotations of its elements.

    Raises:
        MarkupError: the document isn't well-formed XML, isn't inside `speak`, is nested too deep, has a document type,
            names an unknown voice, or has an invalid attribute.
    """
    builder = MarkedBuilder()
    read_ssml(text, meanings, builder)
    return builder.marked()


def read_ssml(text: str, meanings: Meanings, builder: MarkedBuilder | TagWriter) -> None:
    """Feed the document to a builder.

    Raises:
        MarkupError: see `parse_ssml`.
    """
    parser = DefusedExpatParser(forbid_dtd=True)
    reader = _Reader(meanings, builder, ExpatLocator(parser))
    parser.setContentHandler(reader)
    try:
        # XML can't hold lone surrogates; sanitising drops them in the same way.
        parser.feed(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore"))
        parser.close()
    except SAXParseException as error:
        line, column = error.getLineNumber() or 1, error.getColumnNumber() or 0
        raise MarkupError(_explained(error.getMessage()), line, column + 1) from error
    except DefusedXmlException as error:
        message = "a document type or entity declaration isn't taken: leave it out."
        raise reader.error(message) from error


def _explained(message: str) -> str:
    hint = " Write &amp; for & and &lt; for <." if "entity" in message or "token" in message else ""
    return f"this is no well-formed SSML: {message}.{hint}"


class _Reader(ContentHandler):
    """SAX handler that feeds a builder."""

    def __init__(self, meanings: Meanings, builder: MarkedBuilder | TagWriter, locator: Locator) -> None:
        super().__init__()
        self.builder = builder
        self._meanings = meanings
        self._locator = locator
        self._open: list[str] = []
        self._rates = [1.0]
        self._performers: list[Performer | None] = [None]
        self._languages = [""]
        """Languages of the open `lang` elements, the innermost last."""
        self._written: list[str] = []
        """Text since the last tag, in the parts that the parser gives."""
        self._replaced = 0
        """Depth of the open element of `_REPLACED`; 0 if none is open."""
        self._replacing: AttributesImpl | None = None
        self._replaced_place = (1, 1)
        self._replaced_bookmarks: list[str] = []
        """Names of the bookmarks inside the open element of `_REPLACED`; they count as standing after it."""
        self._silent = 0
        """Depth of the open element of `_SILENT`; 0 if none is open."""

    def error(self, message: str, code: str = "invalid_markup", place: tuple[int, int] | None = None) -> MarkupError:
        """Error at the parser's position, or at `place`."""
        line, column = place or self._place()
        return MarkupError(message, line, column, code)

    def _place(self) -> tuple[int, int]:
        """Line and column of the parser's position, counted from 1."""
        return self._locator.getLineNumber() or 1, (self._locator.getColumnNumber() or 0) + 1

    def characters(self, content: str) -> None:
        if not self._silent:
            self._written.append(content)

    def startElement(self, name: str, attrs: AttributesImpl) -> None:
        if not self._open and name != "speak":
            raise self.error(f"the outermost element is {name[:40]!r}: put all of it inside <speak>.")
        self._open.append(name)
        if len(self._open) > MAX_DEPTH:
            raise self.error(f"elements are nested deeper than {MAX_DEPTH}.")
        if self._silent:
            return
        if self._replaced:
            if name in _BOOKMARKS:
                self._replaced_bookmarks.append(attrs.get(_BOOKMARKS[name], ""))
            return
        self._flush()
        if name in _REPLACED:
            self._replaced, self._replacing, self._replaced_place = len(self._open), attrs, self._place()
            self._check_replacement(name, attrs)
        elif name in _SILENT:
            self._silent = len(self._open)
        elif name in _PARAGRAPHS:
            self.builder.paragraph()
        elif name in _SENTENCES:
            self.builder.sentence()
        elif name == "break":
            self._break(attrs)
        elif name in _BOOKMARKS:
            self.builder.bookmark(attrs.get(_BOOKMARKS[name], ""))
        elif name == "prosody":
            self._rates.append(self._rate(attrs.get("rate")))
            self.builder.inflect(self._inflection(attrs))
        elif name == "emphasis":
            self.builder.inflect(self._emphasis(attrs.get("level", "moderate")))
        elif name == "voice":
            self._change_performer(attrs.get("name"))
        elif name == "lang":
            self._languages.append(attrs.get("xml:lang", ""))

    def endElement(self, name: str) -> None:
        depth = len(self._open)
        self._open.pop()
        if self._silent:
            self._silent = 0 if self._silent == depth else self._silent
            return
        if self._replaced:
            if self._replaced == depth:
                self._replace(name)
                for bookmark in self._replaced_bookmarks:
                    self.builder.bookmark(bookmark)
                self._replaced_bookmarks = []
            return
        self._flush()
        if name in _PARAGRAPHS:
            self.builder.paragraph()
        elif name in _SENTENCES:
            self.builder.sentence()
        elif name == "prosody":
            self._rates.pop()
            self.builder.end_inflection()
        elif name == "emphasis":
            self.builder.end_inflection()
        elif name == "voice":
            self._performers.pop()
            self.builder.performer = self._performers[-1]
        elif name == "lang":
            self._languages.pop()

    def _flush(self) -> None:
        written, self._written = "".join(self._written), []
        if written:
            self._text(written)

    def _text(self, written: str, phonemes: str | None = None) -> None:
        """Add text whose lines may be wrapped, as in any XML: only a blank line separates paragraphs."""
        unwrapped = _LINE_END.sub(lambda end: "\n\n" if end[0].count("\n") > 1 else " ", written)
        language = self._meanings.language(self._languages[-1], self._performers[-1]) if phonemes is None else ""
        said = with_edges(unwrapped, self._meanings.normalized(unwrapped, language)) if language else unwrapped
        self.builder.text(said, rate=self._rates[-1], phonemes=phonemes, language=language)

    def _check_replacement(self, name: str, attrs: AttributesImpl) -> None:
        needed = {"phoneme": "ph", "sub": "alias", "say-as": "interpret-as"}[name]
        if not attrs.get(needed, "").strip():
            raise self.error(f"<{name}> needs the attribute {needed}.")
        if name == "phoneme" and attrs.get("alphabet", "ipa").lower() not in _ALPHABETS:
            raise self.error(f'the alphabet {attrs["alphabet"][:40]!r} isn\'t known: write IPA, with alphabet="ipa".')

    def _replace(self, name: str) -> None:
        written, self._written = "".join(self._written), []
        attrs, self._replacing, self._replaced = self._replacing, None, 0
        assert attrs is not None
        if name == "sub":
            self._text(attrs["alias"])
        elif name == "say-as":
            said = self._meanings.said_as(written, attrs["interpret-as"], attrs.get("format", ""), self._performers[-1])
            self._text(with_edges(written, said))
        elif not written.strip():
            raise self.error("<phoneme> needs the word that is pronounced so as its text.", place=self._replaced_place)
        else:
            try:
                ipa = _ALPHABETS[attrs.get("alphabet", "ipa").lower()](attrs["ph"])
                self._text(written, self._meanings.phonemes(ipa, self._performers[-1]))
            except UnknownSymbols as error:
                raise self.error(str(error), "unknown_phoneme", self._replaced_place) from error

    def _break(self, attrs: AttributesImpl) -> None:
        if (time := attrs.get("time")) is not None:
            seconds = seconds_of(time)
            if seconds is None:
                raise self.error(f"break: {time[:40]!r} is no time: write 1.5s or 300ms.")
        else:
            strength = attrs.get("strength", "medium")
            if strength == "none":
                return
            if strength not in STRENGTHS:
                raise self.error(f"break: no strength is called {strength[:40]!r}; use none, {', '.join(STRENGTHS)}.")
            seconds = STRENGTHS[strength]
        self.builder.pause(seconds)
        if wrong := over_limit(self.builder.pause_seconds, self._meanings.max_pause_seconds):
            raise self.error(wrong)

    def _change_performer(self, names: str | None) -> None:
        """Let the first of the names that is known speak the element: SSML lists names in order of preference."""
        performer = self._performers[-1]
        listed = (names or "").split(maxsplit=MAX_NAMES)
        if len(listed) > MAX_NAMES:
            raise self.error(f"voice: it lists more than {MAX_NAMES} names.", "invalid_voice")
        for place, name in enumerate(listed, 1):
            try:
                performer = self._meanings.performer(name)
                break
            except (VoiceError, UnknownLanguage) as error:
                if place == len(listed):
                    code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
                    raise self.error(f"voice: {error}", code) from error
        self._performers.append(performer)
        self.builder.performer = performer

    def _inflection(self, attrs: AttributesImpl) -> Inflection:
        """The inflection that a `prosody` element asks for besides its rate."""
        found: dict[str, Any] = {}
        if (written := attrs.get("pitch")) is not None:
            if hertz := hertz_of(written):
                found["hertz"] = hertz
            else:
                found["pitch"] = self._read(
                    semitones_of, "pitch", written, f"+2st, -10%, 180Hz, or {', '.join(PITCHES)}"
                )
        if (written := attrs.get("range")) is not None:
            found["range"] = self._read(range_of, "range", written, f"50%, +50%, or {', '.join(RANGES)}")
        if (written := attrs.get("volume")) is not None:
            found["volume"] = self._read(decibels_of, "volume", written, f"+6dB, or {', '.join(VOLUMES)}")
        if (written := attrs.get("contour")) is not None:
            found["contour"] = self._read(contour_of, "contour", written, "(0%,+2st) (50%,-10%) (100%,+0st)")
        if (written := attrs.get("duration")) is not None:
            found["duration"] = self._read(seconds_of, "duration", written, "2s or 800ms")
        return Inflection(**found)

    def _read(self, read: Callable[[str], T | None], name: str, written: str, forms: str) -> T:
        if (value := read(written)) is None:
            raise self.error(f"prosody: {written[:40]!r} is no {name}, or too large: write {forms}.")
        return value

    def _emphasis(self, level: str) -> Inflection:
        if level == "none":
            return PLAIN
        if level not in EMPHASES:
            raise self.error(f"emphasis: no level is called {level[:40]!r}; use none, {', '.join(EMPHASES)}.")
        return EMPHASES[level]

    def _rate(self, written: str | None) -> float:
        """Speaking rate of a `prosody` element: a number with a sign changes the rate around the element, one without a
        sign replaces it.
        """
        if written is None:
            return self._rates[-1]
        if (named := RATES.get(written.strip())) is not None:
            return named
        match = _NUMBER.fullmatch(written.strip())
        if match is None:
            raise self.error(
                f"prosody: {written[:40]!r} is no rate: write 80%, +20%, a factor such as 0.8, or {', '.join(RATES)}."
            )
        number = float(match["number"]) / (100 if match["percent"] else 1)
        if match["sign"]:
            number = self._rates[-1] * (1 + number if match["sign"] == "+" else 1 - number)
        if number <= 0:
            raise self.error(f"prosody: the rate {written[:40]!r} comes to {number:.0%}; it must be 25% to 400%.")
        return clamped_rate(number)


def with_edges(written: str, said: str) -> str:
    """Text of `said`, with white space at its edges where `written` has it."""
    before, after = written[: len(written) - len(written.lstrip())], written[len(written.rstrip()) :]
    return before + said.strip() + after if written.strip() else written

"""Parser of tags in plain text: `[pause:1.5s]`, `[word](/ipa/)`, `[voice:af_bella]` and `[rate:0.8]`.

The first two may stand in any text (`parse_basic`). Such a text may not be meant as markup, so a tag is recognised only
where it can't be ordinary text, and is never an error: Markdown's links have the form of the second tag
(`[docs](/docs/)`), but nearly all IPA of a word has a character outside ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import msgspec

from shm.inflection import PLAIN, Inflection
from text.espeak.ipa import UnknownSymbols
from text.markup.builder import MarkedBuilder
from text.markup.inflections import STRESSES, inflection_value
from text.markup.marked import Marked, MarkupKind
from text.markup.meanings import MarkupError, Meanings, clamped_rate, over_limit, rate_of, seconds_of
from text.markup.ssml import parse_ssml, with_edges
from text.words.language import UnknownLanguage
from text.words.performer import Cast
from text.words.segment import Notation
from text.words.voice_spec import MAX_CHARACTERS, UnknownVoice, VoiceError

_STRESS = r"\[(?P<stressed>[^\[\]\n]{1,200})\]\((?P<stress>[+-](?:[12]|0\.5))\)"

_FOREIGN = (
    r"(?P<open><(?!html|body)(?P<element>[a-z]\w{0,11})\b[^<>]{0,200}?\s(?:xml:)?lang=[\"']?(?P<lang>[\w-]{2,12})\b[^<>]{0,200}>)"
    r"(?P<foreign>(?>(?:[^<>]{1,400}+|<(?!/?(?P=element)\b)[^<>]{0,100}>){1,60}))(?=</(?P=element)>)"
)
"""Element of HTML that names its text's language."""

_TAG = re.compile(
    r"\[\s?pause\b(?P<pause>[^\[\]\n]{0,40})\]"
    rf"|\[\s?voice\s?:(?P<voice>[^\[\]\n]{{0,{MAX_CHARACTERS}}})\]"
    r"|\[\s?rate\s?:(?P<rate>[^\[\]\n]{0,40})\]"
    r"|\[\s?(?P<inflected>pitch|range|volume)\s?:(?P<value>[^\[\]\n]{0,40})\]"
    rf"|{_STRESS}|{_FOREIGN}"
    r"|\[(?P<words>[^\[\]\n]{1,200})\]\(/(?P<ipa>[^/()\n]{0,200})/\)",
    re.IGNORECASE,
)
_BASIC_TAG = re.compile(
    r"\[pause: ?(?P<pause>[\d.]{1,12} ?m?s) ?\]|\[(?P<words>[^\[\]\n]{1,200})\]\(/(?P<ipa>[^/()\n]{1,200})/\)"
    rf"|{_STRESS}|{_FOREIGN}",
    re.IGNORECASE,
)


def parse_tags(text: str, meanings: Meanings) -> Marked:
    """Text without its tags, with the tags' annotations.

    A `voice` tag changes the performer, and a `rate` tag the pace, of all text after it; the performer's own pace is
    restored by the next `voice` tag. Text that resembles a tag (a link of Markdown, `[1]`) stays.

    Raises:
        MarkupError: a tag's value can't be read, a voice is unknown, the pauses are too long in total, or IPA has
            unknown symbols.
    """
    return _TagReader(text, meanings).marked(_TAG)


def parse_basic(text: str, meanings: Meanings) -> Marked:
    """Text without its readable `pause` tags and IPA, with annotations of these and of HTML's `lang`; else as it is.

    Raises:
        MarkupError: the pauses are too long in total.
    """
    marked = "[" in text or "lang=" in text
    return _TagReader(text, meanings, tolerant=True).marked(_BASIC_TAG) if marked else Marked.plain(text)


class _TagReader:
    def __init__(self, text: str, meanings: Meanings, *, tolerant: bool = False) -> None:
        """`tolerant`: tags that can't be read are text."""
        self._builder = MarkedBuilder()
        self._text = text
        self._meanings = meanings
        self._tolerant = tolerant
        self._rate = 1.0
        self._inflection = PLAIN
        """The inflection that the tags so far ask of all text after them."""

    def marked(self, pattern: re.Pattern[str]) -> Marked:
        end = 0
        for tag in pattern.finditer(self._text):
            try:
                effect = self._effect(tag)
            except MarkupError:
                if self._tolerant:
                    continue
                raise
            self._builder.text(self._text[end : tag.start()], rate=self._rate)
            effect()
            end = tag.end()
        self._builder.text(self._text[end:], rate=self._rate)
        return self._builder.marked()

    def _effect(self, tag: re.Match[str]) -> Callable[[], None]:
        """The tag's effect, once the text before it has been added.

        Raises:
            MarkupError: the tag can't be read.
        """
        match tag.lastgroup:
            case "ipa":
                return self._pronunciation(tag)
            case "voice":
                return self._voice_change(tag)
            case "rate":
                return self._rate_change(tag)
            case "value":
                return self._inflection_change(tag)
            case "stress":
                return self._stressed(tag)
            case "foreign":
                return partial(self._in_language, tag)
        return self._pause(tag)

    def _in_language(self, tag: re.Match[str]) -> None:
        """Add an element's text in its own language; its tags stay, as markup of the text."""
        self._builder.text(tag["open"], rate=self._rate)
        language = self._meanings.language(tag["lang"], self._builder.performer)
        said = with_edges(tag["foreign"], self._meanings.normalized(tag["foreign"], language)) if language else ""
        self._builder.text(said or tag["foreign"], rate=self._rate, language=language)

    def _pronunciation(self, tag: re.Match[str]) -> Callable[[], None]:
        if self._tolerant and tag["ipa"].isascii():
            raise self._error("ASCII is no IPA here", tag)
        try:
            phonemes = self._meanings.phonemes(tag["ipa"], self._builder.performer)
        except UnknownSymbols as error:
            raise self._error(str(error), tag, "unknown_phoneme") from error
        return lambda: self._builder.text(tag["words"], rate=self._rate, phonemes=phonemes)

    def _voice_change(self, tag: re.Match[str]) -> Callable[[], None]:
        if not tag["voice"].strip():
            raise self._error(f"{tag[0]!r} names no voice: write [voice:af_bella].", tag)
        try:
            performer = self._meanings.performer(tag["voice"])
        except (VoiceError, UnknownLanguage) as error:
            code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
            raise self._error(str(error), tag, code) from error

        def change() -> None:
            self._builder.performer = performer
            self._rate = 1.0
            self._inflect(PLAIN)

        return change

    def _rate_change(self, tag: re.Match[str]) -> Callable[[], None]:
        rate = rate_of(tag["rate"])
        if rate is None:
            raise self._error(f"{tag[0]!r} names no rate: write [rate:0.8] or [rate:80%].", tag)
        return partial(setattr, self, "_rate", clamped_rate(rate))

    def _inflection_change(self, tag: re.Match[str]) -> Callable[[], None]:
        name = tag["inflected"].lower()
        value = inflection_value(name, tag["value"])
        if value is None:
            raise self._error(f"{tag[0]!r} names no {name}: write [pitch:+2], [range:0.5] or [volume:-6dB].", tag)
        return lambda: self._inflect(msgspec.structs.replace(self._inflection, **{name: value}))

    def _inflect(self, inflection: Inflection) -> None:
        """Have all text after this place inflected so, and no other way."""
        if self._inflection != PLAIN:
            self._builder.end_inflection()
        if inflection != PLAIN:
            self._builder.inflect(inflection)
        self._inflection = inflection

    def _stressed(self, tag: re.Match[str]) -> Callable[[], None]:
        def stress() -> None:
            self._builder.inflect(STRESSES[tag["stress"]])
            self._builder.text(tag["stressed"], rate=self._rate)
            self._builder.end_inflection()

        return stress

    def _pause(self, tag: re.Match[str]) -> Callable[[], None]:
        written = tag["pause"].lower() if self._tolerant else tag["pause"]
        seconds = seconds_of(written.lstrip().removeprefix(":"))
        if seconds is None:
            raise self._error(f"{tag[0]!r} names no length: write [pause:1.5s] or [pause:300ms].", tag)

        def pause() -> None:
            self._builder.pause(seconds)
            if wrong := over_limit(self._builder.pause_seconds, self._meanings.max_pause_seconds):
                raise self._error(wrong, tag)

        return pause

    def _error(self, message: str, tag: re.Match[str], code: str = "invalid_markup") -> MarkupError:
        return MarkupError.at(message, self._text, tag.start(), code)


_NOBODY = Cast()
_PARSERS = {MarkupKind.BASIC: parse_basic, MarkupKind.TAGS: parse_tags, MarkupKind.SSML: parse_ssml}


def parse_markup(
    kind: MarkupKind, text: str, language: str, notation: Notation, cast: Cast = _NOBODY, delimiters: str = ""
) -> Marked:
    """Text of a request with its markup's annotations. Takes linear time; run it in a thread.

    Args:
        language: a language code, as `text.words.language.language_of` returns it.
        notation: the input that the request's engine accepts.
        cast: the voices that the markup may name.
        delimiters: the user's own cut marks (`text.markup.delimiters`), after which segments end.

    Raises:
        MarkupError: 400; the markup can't be read, names an unknown voice, or exceeds a limit.
    """
    parse = _PARSERS.get(kind)
    marked = parse(text, Meanings(cast, language, notation)) if parse else Marked.plain(text)
    return marked.ended_after(delimiters)

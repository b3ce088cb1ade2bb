"""Parser of tags in plain text: `[pause:1.5s]`, `[word](/ipa/)`, `[voice:af_bella]` and `[rate:0.8]`."""

from __future__ import annotations

import re

from text.espeak.ipa import UnknownSymbols
from text.markup.builder import MarkedBuilder
from text.markup.error import MarkupError
from text.markup.limits import clamped_rate, over_limit, rate_of, seconds_of
from text.markup.marked import Marked
from text.markup.meanings import Meanings
from text.words.language import UnknownLanguage
from text.words.voice_spec import MAX_CHARACTERS, UnknownVoice, VoiceError

_TAG = re.compile(
    r"\[\s?pause\b(?P<pause>[^\[\]\n]{0,40})\]"
    rf"|\[\s?voice\s?:(?P<voice>[^\[\]\n]{{0,{MAX_CHARACTERS}}})\]"
    r"|\[\s?rate\s?:(?P<rate>[^\[\]\n]{0,40})\]"
    r"|\[(?P<words>[^\[\]\n]{1,200})\]\(/(?P<ipa>[^/()\n]{0,200})/\)",
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
    reader = _Reader(text, meanings)
    end = 0
    for tag in _TAG.finditer(text):
        reader.text(text[end : tag.start()])
        reader.tag(tag)
        end = tag.end()
    reader.text(text[end:])
    return reader.builder.marked()


class _Reader:
    """Feeds a `MarkedBuilder` with the tags of one text."""

    def __init__(self, text: str, meanings: Meanings) -> None:
        self.builder = MarkedBuilder()
        self._text = text
        self._meanings = meanings
        self._rate = 1.0

    def text(self, written: str) -> None:
        self.builder.text(written, rate=self._rate)

    def tag(self, tag: re.Match[str]) -> None:
        if tag["ipa"] is not None:
            self._pronounce(tag)
        elif tag["voice"] is not None:
            self._change_voice(tag)
        elif tag["rate"] is not None:
            self._change_rate(tag)
        else:
            self._pause(tag)

    def _pronounce(self, tag: re.Match[str]) -> None:
        try:
            phonemes = self._meanings.phonemes(tag["ipa"], self.builder.performer)
        except UnknownSymbols as error:
            raise self._error(str(error), tag, "unknown_phoneme") from error
        self.builder.text(tag["words"], rate=self._rate, phonemes=phonemes)

    def _change_voice(self, tag: re.Match[str]) -> None:
        if not tag["voice"].strip():
            raise self._error(f"{tag[0]!r} names no voice: write [voice:af_bella].", tag)
        try:
            self.builder.performer = self._meanings.performer(tag["voice"])
        except (VoiceError, UnknownLanguage) as error:
            code = "unknown_voice" if isinstance(error, UnknownVoice) else "invalid_voice"
            raise self._error(str(error), tag, code) from error
        self._rate = 1.0

    def _change_rate(self, tag: re.Match[str]) -> None:
        rate = rate_of(tag["rate"])
        if rate is None:
            raise self._error(f"{tag[0]!r} names no rate: write [rate:0.8] or [rate:80%].", tag)
        self._rate = clamped_rate(rate)

    def _pause(self, tag: re.Match[str]) -> None:
        seconds = seconds_of(tag["pause"].lstrip().removeprefix(":"))
        if seconds is None:
            raise self._error(f"{tag[0]!r} names no length: write [pause:1.5s] or [pause:300ms].", tag)
        self.builder.pause(seconds)
        if wrong := over_limit(self.builder.pause_seconds, self._meanings.max_pause_seconds):
            raise self._error(wrong, tag)

    def _error(self, message: str, tag: re.Match[str], code: str = "invalid_markup") -> MarkupError:
        return MarkupError.at(message, self._text, tag.start(), code)

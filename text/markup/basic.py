"""Parser of the two tags that any text may hold: `[pause:1.5s]` and `[word](/ipa/)`, where they can't be anything else.

Nobody asked for markup here, so nothing is an error that could be ordinary text: Markdown's links have the form of the
second tag (`[docs](/docs/)`), and are told from it by their ASCII.
"""

from __future__ import annotations

import re

from text.espeak.ipa import UnknownSymbols
from text.markup.builder import MarkedBuilder
from text.markup.error import MarkupError
from text.markup.limits import over_limit, seconds_of
from text.markup.marked import Marked
from text.markup.meanings import Meanings

_TAG = re.compile(
    r"\[pause: ?(?P<pause>[\d.]{1,12} ?m?s) ?\]|\[(?P<words>[^\[\]\n]{1,200})\]\(/(?P<ipa>[^/()\n]{1,200})/\)",
    re.IGNORECASE,
)


def parse_basic(text: str, meanings: Meanings) -> Marked:
    """Text without these tags, with their annotations; everything else stays.

    IPA is recognised by a character outside ASCII, as nearly all IPA of a word has one.

    Raises:
        MarkupError: the pauses are too long in total.
    """
    if "[" not in text:
        return Marked.plain(text)
    builder = MarkedBuilder()
    end = 0
    for tag in _TAG.finditer(text):
        if tag["ipa"] is not None:
            phonemes = _phonemes(tag["ipa"], meanings)
            if phonemes is None:
                continue
            builder.text(text[end : tag.start()])
            builder.text(tag["words"], phonemes=phonemes)
        else:
            seconds = seconds_of(tag["pause"].lower())
            if seconds is None:
                continue
            builder.text(text[end : tag.start()])
            builder.pause(seconds)
            if wrong := over_limit(builder.pause_seconds, meanings.max_pause_seconds):
                raise MarkupError.at(wrong, text, tag.start())
        end = tag.end()
    builder.text(text[end:])
    return builder.marked()


def _phonemes(ipa: str, meanings: Meanings) -> str | None:
    if ipa.isascii():
        return None
    try:
        return meanings.phonemes(ipa, None)
    except UnknownSymbols:
        return None

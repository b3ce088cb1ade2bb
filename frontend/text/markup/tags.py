"""Parser of the tags `[pause:1.5s]` and `[word](/ipa/)` in plain text."""

from __future__ import annotations

import re
from collections.abc import Callable

from frontend.text.ipa import UnknownSymbols
from frontend.text.markup.builder import MarkedBuilder
from frontend.text.markup.error import MarkupError
from frontend.text.markup.limits import over_limit, seconds_of
from frontend.text.markup.marked import Marked

_TAG = re.compile(
    r"\[\s?pause\b(?P<pause>[^\[\]\n]{0,40})\]|\[(?P<words>[^\[\]\n]{1,200})\]\(/(?P<ipa>[^/()\n]{0,200})/\)",
    re.IGNORECASE,
)


def parse_tags(text: str, phonemes_of: Callable[[str], str], max_pause_seconds: float) -> Marked:
    """Text without its tags, with the tags' annotations.

    Text that resembles a tag (a link of Markdown, `[1]`) stays.

    Args:
        phonemes_of: callback that returns phonemes for IPA; raises `UnknownSymbols`.

    Raises:
        MarkupError: a pause has no length, the pauses are too long in total, or IPA has unknown symbols.
    """
    builder = MarkedBuilder()
    end = 0
    for tag in _TAG.finditer(text):
        builder.text(text[end : tag.start()])
        end = tag.end()
        if tag["ipa"] is not None:
            try:
                builder.text(tag["words"], phonemes=phonemes_of(tag["ipa"]))
            except UnknownSymbols as error:
                raise _error(str(error), text, tag.start(), "unknown_phoneme") from error
            continue
        seconds = seconds_of(tag["pause"].lstrip().removeprefix(":"))
        if seconds is None:
            message = f"{tag[0]!r} names no length: write [pause:1.5s] or [pause:300ms]."
            raise _error(message, text, tag.start())
        builder.pause(seconds)
        if wrong := over_limit(builder, max_pause_seconds):
            raise _error(wrong, text, tag.start())
    builder.text(text[end:])
    return builder.marked()


def _error(message: str, text: str, place: int, code: str = "invalid_markup") -> MarkupError:
    line = text.count("\n", 0, place) + 1
    column = place - (text.rfind("\n", 0, place) + 1) + 1
    return MarkupError(message, line, column, code)

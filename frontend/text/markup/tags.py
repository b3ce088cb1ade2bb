"""`[pause:1.5s]` and `[word](/ipa/)` in a text that is otherwise as any."""

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
    """The text without its tags, and what they say.

    What only looks like a tag (a link of Markdown, `[1]`) stays.

    Args:
        phonemes_of: phonemes for IPA; raises `UnknownSymbols`.

    Raises:
        MarkupError: a pause without a length, pauses that are too long together, IPA with symbols that aren't known.
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

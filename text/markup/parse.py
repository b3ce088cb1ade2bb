"""Parser of a text in the markup that its request names."""

from __future__ import annotations

from text.markup.marked import Marked, MarkupKind
from text.markup.meanings import SpokenMeanings
from text.markup.ssml import parse_ssml
from text.markup.tags import parse_basic, parse_tags
from text.words.performer import Cast
from text.words.segment import Notation

_NOBODY = Cast()


def parse_markup(
    kind: MarkupKind, text: str, language: str, notation: Notation, max_pause_seconds: float, cast: Cast = _NOBODY
) -> Marked:
    """Text of a request with its markup's annotations. Takes linear time; run it in a thread.

    Args:
        language: a language code, as `text.words.language.language_of` returns it.
        notation: the input that the request's engine accepts.
        cast: the voices that the markup may name.

    Raises:
        MarkupError: 400; the markup can't be read, names an unknown voice, or exceeds a limit.
    """
    if kind is MarkupKind.NONE:
        return Marked.plain(text)
    meanings = SpokenMeanings(cast, language, notation, max_pause_seconds)
    match kind:
        case MarkupKind.BASIC:
            return parse_basic(text, meanings)
        case MarkupKind.TAGS:
            return parse_tags(text, meanings)
        case MarkupKind.SSML:
            return parse_ssml(text, meanings)

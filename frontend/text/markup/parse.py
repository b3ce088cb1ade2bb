"""Parser of a text in the markup that its request names."""

from __future__ import annotations

from functools import partial

from frontend.contract.request import MarkupKind
from frontend.text.ipa import UnknownSymbols, from_ipa
from frontend.text.markup.marked import Marked
from frontend.text.markup.say_as import said_as
from frontend.text.markup.ssml import parse_ssml
from frontend.text.markup.tags import parse_tags
from frontend.text.segment import Notation


def parse_markup(kind: MarkupKind, text: str, language: str, notation: Notation, max_pause_seconds: float) -> Marked:
    """Text of a request with its markup's annotations. Takes linear time; run it in a thread.

    An engine that takes text pronounces words as they are written, whatever IPA markup gives: espeak-ng's own notation,
    `[[...]]`, differs for each of its voices, and espeak-ng silently drops symbols that it doesn't know there, such as
    IPA.

    Args:
        language: a language code, as `frontend.text.language.language_of` returns it.
        notation: the input that the request's engine accepts.

    Raises:
        MarkupError: 400; the markup can't be read, or exceeds a limit.
    """

    def phonemes_of(ipa: str) -> str:
        if notation.speaks == "text":
            return ""
        phonemes = from_ipa(ipa, language)
        if missing := sorted(set(phonemes) - notation.vocabulary - {" "}):
            raise UnknownSymbols(ipa, "".join(missing))
        return phonemes

    match kind:
        case MarkupKind.TAGS:
            return parse_tags(text, phonemes_of, max_pause_seconds)
        case MarkupKind.SSML:
            return parse_ssml(text, phonemes_of, partial(said_as, language=language), max_pause_seconds)
        case MarkupKind.NONE:
            return Marked.plain(text)

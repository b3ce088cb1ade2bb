"""Reads a text in the markup that its request names."""

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
    """A request's text and what its markup says. Takes linear time; run it in a thread.

    An engine that speaks text pronounces words as they are written, whatever their IPA is: espeak-ng's own notation,
    `[[...]]`, is another one for each of its voices, and what it doesn't know in it (IPA, say) it drops without a word.

    Args:
        language: as `frontend.text.language.language_of` gives it.
        notation: of the engine that will speak.

    Raises:
        MarkupError: 400; the markup can't be read, or asks for too much.
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

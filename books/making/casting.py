"""The voices of a book: its cast, the division of a text by its speakers, and the narrator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from books.book import BookError
from books.making.settings import BookCast
from shm.book_jobs import CastFile
from shm.engine_info import VoiceInfo
from text.locales.tables import languages, table
from text.words.language import UnknownLanguage, language_code
from text.words.voice_spec import preference


def read_cast(data: bytes) -> BookCast:
    """The cast in TOML: `narrator` and `quotes` are voices, the table `speakers` has names with theirs.

    Raises:
        BookError: the file is no such TOML; the message says where.
    """
    try:
        return cast_of(msgspec.toml.decode(data, type=CastFile))
    except (UnicodeDecodeError, RecursionError, msgspec.DecodeError) as error:
        raise BookError(f"The file with the cast can't be read: {error}.") from error


def cast_of(file: CastFile) -> BookCast:
    return BookCast(file.narrator, file.quotes, file.speakers)


_QUOTATION = re.compile(r"“[^“”]+”?|«[^«»]+»?|„[^„“”]+[“”]?|「[^「」]+」?|『[^『』]+』?|(?<!\w)\"[^\"]+\"?")
_CUE = re.compile(r"([^\W\d_][\w .'’-]{0,40}?)\s*[:.]\s+(?=\S)")
_SAYS = "|".join(word for language in languages("books") for word in table(language, "books").get("says", "").split())


def parts(text: str, cast: BookCast) -> Iterator[tuple[str, str]]:
    """Stretches of a block's text with the voice of each, in order; together they are the whole text."""
    cue = _CUE.match(text)
    if cue and (voice := _voice_of(cue[1], cast)):
        # The name of a play's speaker is no part of the speech, and the voice tells it.
        yield text[cue.end() :], voice
        return
    if not cast.quotes and not cast.speakers:
        yield text, cast.narrator
        return
    position = 0
    for quotation in _QUOTATION.finditer(text):
        between = text[position : quotation.start()]
        if between.strip():
            yield between, cast.narrator
        yield quotation[0], _speaker(text, quotation, cast) or cast.quotes or cast.narrator
        position = quotation.end()
    if text[position:].strip():
        yield text[position:], cast.narrator


def _voice_of(name: str, cast: BookCast) -> str:
    wanted = name.strip().casefold()
    return next((voice for speaker, voice in cast.speakers.items() if speaker.casefold() == wanted), "")


def _speaker(text: str, quotation: re.Match[str], cast: BookCast) -> str:
    """Voice of the speaker whom the words next to a quotation name; empty if they name none of the cast."""
    beside = (text[quotation.end() : quotation.end() + 60], text[max(0, quotation.start() - 60) : quotation.start()])
    for speaker, voice in cast.speakers.items():
        name = re.escape(speaker)
        after = rf"[\s,–—-]*(?:(?:{_SAYS})\s+(?:\w+\s+)?{name}\b|{name}\s+(?:{_SAYS})\b)"
        before = rf"(?:{name}\s+(?:\w+ly\s+)?(?:{_SAYS})|(?:{_SAYS})\s+{name})\b[^.!?]{{0,30}}[,:]\s*$"
        if re.match(after, beside[0], re.IGNORECASE) or re.search(before, beside[1], re.IGNORECASE):
            return voice
    return ""


def narrator(voices: Sequence[VoiceInfo], usual: str, language: str) -> str:
    """The engine's best voice that speaks the book's language; empty, for the usual voice, if that one speaks it or
    none does.

    An English book of any region has the usual voice: it is the best one, and the region picks the pronunciation.

    Args:
        usual: the speaker's default voice.
        language: as the book or the settings name it; empty if neither does.
    """
    if not language:
        return ""
    try:
        wanted = language_code(language, voices).partition("-")[0]
    except UnknownLanguage:
        return ""  # the server says what is wrong with it
    native = {voice.name: voice for voice in voices if voice.language.partition("-")[0] == wanted}
    return "" if usual in native or not native else min(native.values(), key=preference).name

"""What a request's text passes through: markup, normalisation, sentences that are still being written, and names."""

from __future__ import annotations

from benchmarks.fuzzing.target import unicode_text
from tests.engine_infos import kokoro
from text.lexicon import Lexicon, read_entries
from text.markup.marked import Marked, MarkupKind
from text.markup.parse import parse_markup
from text.normalization.normalize import normalized_sentences
from text.normalization.settings import Normalization
from text.sentences.growth import Growth
from text.words.language import language_code
from text.words.performer import Cast
from text.words.sanitize import sanitize
from text.words.segment import Notation
from text.words.voice_spec import parse_voice

ENGINE = kokoro("af_heart", "am_echo", "bf_emma", "zf_xiaobei", vocabulary="abc")
LANGUAGES = ("en-us", "en-gb", "de", "fr-fr", "es", "it", "pt-br", "hi", "ja", "cmn")
_NORMALIZATION = Normalization()


def markup(kind: MarkupKind, data: bytes) -> Marked:
    return parse_markup(kind, sanitized(data), "en-us", Notation.of(ENGINE), Cast(ENGINE.voices))


def sanitized(data: bytes) -> str:
    return sanitize(unicode_text(data))


def normalization(data: bytes) -> None:
    """The first byte chooses the language. Each word stands for a span of the text, in order."""
    clean, language = sanitized(data[1:]), LANGUAGES[(data[:1] or b"\0")[0] % len(LANGUAGES)]
    for sentence in normalized_sentences(clean, language, _NORMALIZATION):
        for word in sentence.words:
            assert 0 <= word.start <= word.end <= len(clean), word


def growing(data: bytes) -> None:
    """A text in pieces, between zero bytes, after a byte that chooses the language. Nothing is lost or doubled."""
    language = LANGUAGES[(data[:1] or b"\0")[0] % len(LANGUAGES)]
    growth, taken = Growth(language), []
    for piece in unicode_text(data[1:]).split("\0"):
        growth.add(piece)
        while (found := growth.take()) is not None:
            taken.append(found.text)
    if (rest := growth.take_rest()) is not None:
        taken.append(rest.text)
    whole = unicode_text(data[1:]).replace("\0", "")
    assert _letters(" ".join(taken)) == _letters(whole), taken


def _letters(text: str) -> str:
    return "".join(sanitize(text).split())


def lexicon(data: bytes) -> None:
    entries, _ = read_entries(data)
    found = Lexicon(entries)
    for entry in entries[:8]:
        for language in ("en-us", "ja"):
            found.find(f'"{entry.word}",', language)
            found.inside(f"x{entry.word}{entry.word}", language)


def names(data: bytes) -> None:
    """A voice, and a language."""
    voice, _, language = unicode_text(data).partition("\n")
    if language:
        language_code(language, ENGINE.voices)
    blend = parse_voice(voice, ENGINE.voices)
    assert abs(sum(weight for _, weight in blend) - 1) < 1e-6

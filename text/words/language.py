"""Language of a request: the language that it names, else its voice's own."""

from __future__ import annotations

from collections.abc import Iterable

from shm.engine_info import VoiceInfo
from shm.messages import Voice

DEFAULT = "en-us"

EAST_ASIAN = frozenset(("ja", "cmn"))
"""Languages without spaces between words: Japanese and Mandarin."""

# Language codes are espeak-ng's, as in `shm.messages.SegmentOrder`. Clients of Kokoro-FastAPI send Kokoro's letters.
_LETTERS = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "j": "ja",
    "p": "pt-br",
    "z": "cmn",
}
_NAMES = {"en": "en-us", "en-uk": "en-gb", "fr": "fr-fr", "pt": "pt-br", "zh": "cmn"}
_CODES = {code: code for code in _LETTERS.values()} | _NAMES | _LETTERS


class UnknownLanguage(ValueError):
    """Error for a request that names a language without a voice. Its message lists the accepted codes."""

    def __init__(self, lang: str, codes: Iterable[str] = _CODES) -> None:
        super().__init__(
            f"unknown language {lang[:40]!r}; accepted are {', '.join(sorted(set(codes) - _LETTERS.keys()))}, "
            f"these with a region or script (es-MX, zh-Hans), and Kokoro's letters {', '.join(sorted(_LETTERS))}"
        )


def language_of(voice: Voice, voices: Iterable[VoiceInfo], named: str | None = None) -> str:
    """Language code as espeak-ng names it: that of `named` if given, else that of the blend's heaviest voice.

    Args:
        voice: names from `voices`.
        voices: the engine's.

    Raises:
        UnknownLanguage: `named` is given, and is neither one of ours nor a language of the voices.
    """
    if named is not None and named.strip():
        return language_code(named, voices)
    heaviest, _ = max(voice, key=lambda part: part[1], default=("", 0.0))
    return next((each.language for each in voices if each.name == heaviest), DEFAULT)


def language_code(named: str, voices: Iterable[VoiceInfo] = ()) -> str:
    """The code of a language that a request, a file or a setting names.

    Unknown regions and scripts are ignored, as in RFC 4647's lookup: `es-MX` is `es`, `en-AU` is `en`.

    Args:
        voices: an engine's, which may speak languages of their own.

    Raises:
        UnknownLanguage: neither we nor a voice know the language.
    """
    codes = {each.language: each.language for each in voices} | _CODES
    tag = named.strip().lower().replace("_", "-")
    while tag not in codes:
        tag, separator, _ = tag.rpartition("-")
        # Kokoro's one-letter codes count only alone: in a longer tag a letter has another meaning (`a-x`, `i-klingon`).
        if not separator or tag in _LETTERS:
            raise UnknownLanguage(named, codes)
    return codes[tag]

"""Language of a request: the language it names, else the language its voice was made for."""

from __future__ import annotations

import re

from shm.messages import Voice

DEFAULT = "en-us"

EAST_ASIAN = frozenset(("ja", "cmn"))
"""Languages without spaces between words: Japanese and Mandarin."""

# Language codes (espeak-ng's, which `shm.messages.SegmentOrder` uses) by the first letter of Kokoro's voice names.
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

_VOICE_NAME = re.compile(f"([{''.join(_LETTERS)}])[fm]_")


class UnknownLanguage(ValueError):
    """Error for a request that names a language without a voice. Its message lists the accepted codes."""

    def __init__(self, lang: str) -> None:
        super().__init__(
            f"unknown language {lang[:40]!r}; accepted are {', '.join(sorted(_CODES.keys() - _LETTERS.keys()))}, "
            f"these with a region or script (es-MX, zh-Hans), and Kokoro's letters {', '.join(sorted(_LETTERS))}"
        )


def language_of(voice: Voice, lang: str | None = None) -> str:
    """Language code as espeak-ng names it: that of `lang` if given, else that of the blend's heaviest voice.

    Unknown regions and scripts are ignored, as in RFC 4647's lookup: `es-MX` is `es`, `en-AU` is `en`. A voice without
    a name in Kokoro's form (`af_heart`) speaks American English.

    Raises:
        UnknownLanguage: `lang` is given and is unknown.
    """
    if lang is not None and lang.strip():
        return _code(lang)
    name, _ = max(voice, key=lambda part: part[1], default=("", 0.0))
    match = _VOICE_NAME.match(name)
    return _LETTERS[match[1]] if match else DEFAULT


def _code(lang: str) -> str:
    tag = lang.strip().lower().replace("_", "-")
    while tag not in _CODES:
        tag, separator, _ = tag.rpartition("-")
        # Kokoro's one-letter codes count only alone: in a longer tag a letter has another meaning (`a-x`, `i-klingon`).
        if not separator or tag in _LETTERS:
            raise UnknownLanguage(lang)
    return _CODES[tag]

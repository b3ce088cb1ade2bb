"""Which language a request is spoken in: the one it names, else the one its voice was made for."""

from __future__ import annotations

import re

from shm.messages import Voice

DEFAULT = "en-us"

# Kokoro's first letter of a voice, by the language code that espeak and `shm.messages.SegmentOrder` use for it.
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
    """The request names a language that no voice speaks. The message lists those that are accepted."""

    def __init__(self, lang: str) -> None:
        super().__init__(
            f"unknown language {lang[:40]!r}; accepted are {', '.join(sorted(_CODES.keys() - _LETTERS.keys()))}, "
            f"these with a region or script (es-MX, zh-Hans), and Kokoro's letters {', '.join(sorted(_LETTERS))}"
        )


def language_of(voice: Voice, lang: str | None = None) -> str:
    """Language code as espeak names it: `lang`'s if given, else that of the blend's heaviest voice.

    A region or script that is not known is left out, as in RFC 4647's lookup: `es-MX` is `es`, `en-AU` is `en`.
    A voice that isn't named in Kokoro's way (`af_heart`) speaks American English.

    Raises:
        UnknownLanguage: `lang` is given and isn't known.
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
        # A lone letter is Kokoro's only by itself: in a tag it says something else (`a-x`, `i-klingon`).
        if not separator or tag in _LETTERS:
            raise UnknownLanguage(lang)
    return _CODES[tag]

"""The languages that espeak-ng speaks for the front and the worker, by espeak-ng's own names."""

from __future__ import annotations

LANGUAGE_FILES = {
    "en-us": "en-us",
    "en-gb": "en",
    "es": "es",
    "fr-fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt-br": "pt-br",
    "cmn": "cmn",
}
"""espeak-ng's voice file by language code. It finds `en-gb` and `fr-fr` by voice name only, not by file, and `en-gb`
not with a variant (`en-gb+f2`)."""

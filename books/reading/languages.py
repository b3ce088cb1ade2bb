"""A book's language as a BCP 47 tag, however its file names it."""

from __future__ import annotations

import re

_TAG = re.compile(
    r"[a-z]{2,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z0-9]{5,8}|\d[a-z0-9]{3}))*", re.IGNORECASE
)
"""Language, script, region and variants (RFC 5646): the parts that books use."""

_NAMES = {
    "en": "eng english",
    "fr": "fra fre french français francais",
    "es": "spa spanish español espanol castellano",
    "it": "ita italian italiano",
    "pt": "por portuguese português portugues",
    "hi": "hin hindi हिन्दी",
    "ja": "jpn japanese 日本語",
    "zh": "zho chi cmn chinese mandarin 中文",
    "de": "deu ger german deutsch",
    "nl": "nld dut dutch nederlands",
    "ru": "rus russian русский",
}
"""Names of languages, and their codes of three letters where there is one of two, which BCP 47 demands."""
_BY_NAME = {name: code for code, names in _NAMES.items() for name in names.split()}
_NONE = frozenset(("und", "mul", "zxx", "mis", "xx"))
"""Codes that name no language."""


def language_tag(named: str) -> str:
    """The tag of a language that a file names as "en-GB", "en_US", "eng" or "English"; empty if it names none."""
    plain = named.strip().replace("_", "-").partition(",")[0].partition(";")[0].strip()
    first, _, rest = plain.partition("-")
    code = _BY_NAME.get(first.lower(), first.lower())
    tag = f"{code}-{rest}" if rest else code
    if code in _NONE or not code.isascii():
        return ""
    if _TAG.fullmatch(tag):
        return tag
    return code if _TAG.fullmatch(code) else ""

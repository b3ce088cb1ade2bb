"""The notations of a request's text."""

from __future__ import annotations

from enum import StrEnum


class MarkupKind(StrEnum):
    """The notation of a request's text."""

    NONE = "none"
    """No markup: every character is text."""
    BASIC = "basic"
    """`[pause:1.5s]` and `[word](/ipa/)`, where they can't mean anything else; other brackets are text."""
    TAGS = "tags"
    """`[pause:1.5s]`, `[word](/ipa/)`, `[voice:af_bella]` and `[rate:0.8]`; a tag with a fault is an error."""
    SSML = "ssml"

"""Word lists in source code."""

from __future__ import annotations


def word_list(listed: str) -> frozenset[str]:
    """The words of a text that separates them by white space."""
    return frozenset(listed.split())

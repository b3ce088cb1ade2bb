"""Tables of words, TOML files that a translator can edit: a folder for each language, `all` for what is in no language.

A file is read when its first word is needed, and once.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


WordLists = defaultdict[str, frozenset[str]]
"""Lists of words by name; a language without a list has an empty one."""


def word_list(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


def word_lists(listed: Mapping[str, Any]) -> WordLists:
    """Lists of a table's rows; rows that are no lists are left out."""
    return WordLists(frozenset, {name: word_list(words) for name, words in listed.items() if isinstance(words, str)})


@cache
def table(language: str, name: str) -> dict[str, Any]:
    """The file `<language>/<name>.toml`, which callers must not change; empty if the language has no such file.

    Args:
        language: a language code's first part (en, es, cmn), or "all".

    Raises:
        ValueError: the file is no TOML.
    """
    try:
        return tomllib.loads((_FOLDER / language / f"{name}.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


@cache
def words(language: str, name: str) -> frozenset[str]:
    """A list of words in the language's `sentences.toml`; empty if it has no such list."""
    return word_list(table(language, "sentences").get(name, ""))


def languages(name: str) -> tuple[str, ...]:
    """The languages that have a file of that name, in the order of their codes."""
    return tuple(sorted(file.parent.name for file in _FOLDER.glob(f"*/{name}.toml")))

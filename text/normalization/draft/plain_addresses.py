"""Web and mail addresses in languages that read their words as they are written and their signs by name."""

from __future__ import annotations

import re
from collections.abc import Mapping

ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|(?:https?://|www\.)[\w./-]{3,200}(?<![.,/])", re.ASCII
)


def spoken_address(written: str, signs: Mapping[str, str], gap: str) -> str:
    """Address without its scheme and "www.", with the names of its signs; `gap` stands between its parts."""
    bare = re.sub(r"^(?:https?://)?(?:www\.)?", "", written)
    return gap.join(signs.get(part, part) for part in re.findall(r"[^\W_]+|[^\w\s]|_", bare))

"""The header that names a request's fields without effect, so that nobody waits for one in vain."""

from __future__ import annotations

import re
from collections.abc import Collection

HEADER = "X-Warning"

_NAME = re.compile(r"[\w.\[\]-]{1,64}", re.ASCII)
_MOST = 12


def warning(names: Collection[str]) -> dict[str, str]:
    """The header, `no effect: instructions, foo`; none if there are no names. Names that a header can't hold are left
    out, and counted."""
    if not names:
        return {}
    shown = [name for name in names if _NAME.fullmatch(name)][:_MOST]
    rest = len(names) - len(shown)
    return {HEADER: f"no effect: {', '.join([*shown, *([f'{rest} more'] if rest else [])])}"}

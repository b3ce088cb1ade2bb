"""The list of all dialects over HTTP: each file of this folder that declares a `DIALECT`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from frontend import dialects
from frontend.dialects.dialect import Dialect
from frontend.settings.front import FrontSettings


def _declared() -> list[Dialect]:
    files = (
        import_module(f"{dialects.__name__}.{each.name}") for each in iter_modules(dialects.__path__) if not each.ispkg
    )
    return [file.DIALECT for file in files if hasattr(file, "DIALECT")]


ALL = tuple(sorted(_declared(), key=lambda dialect: (dialect.optional, dialect.name != "openai", dialect.name)))
"""All dialects in the documentation's order: first those that can't be turned off."""


def served(settings: FrontSettings) -> list[Dialect]:
    """The dialects that the settings don't turn off."""
    return [dialect for dialect in ALL if not dialect.optional or settings.answers_dialect(dialect.name)]

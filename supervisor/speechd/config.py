"""The module's configuration file: a key and its value a line, as in Speech Dispatcher's own files."""

from __future__ import annotations

import logging
import shlex
from dataclasses import dataclass
from pathlib import Path

_log = logging.getLogger(__name__)

DEFAULT_URL = "http://127.0.0.1:8880"


@dataclass(frozen=True, slots=True)
class ModuleConfig:
    url: str = DEFAULT_URL
    voice: str = ""
    """The voice of clients that choose none, whose voice type is therefore male1; empty: a male voice."""
    instant_words: int = 3
    """Texts of at most so many words sound at once: as the server has made them before, or by espeak-ng."""
    instant_characters: bool = True
    """Characters and keys sound at once."""

    def written(self) -> str:
        """The file's content, which `read_config` reads."""
        return (
            "# Written by `kokoro-live install-speechd`. Speech Dispatcher reads changes when it starts again.\n"
            "# The server; its key, if it wants one, is in the variable KOKORO_LIVE_API_KEY.\n"
            f"Url {shlex.quote(self.url)}\n"
            "# The voice of clients that choose none.\n"
            + (f"Voice {shlex.quote(self.voice)}\n" if self.voice else "# Voice af_heart\n")
            + "# Texts of at most so many words sound at once; with 0 the server makes them when they come.\n"
            f"InstantWords {self.instant_words}\n"
            "# Characters and keys sound at once (on or off).\n"
            f"InstantCharacters {'on' if self.instant_characters else 'off'}\n"
        )


def read_config(path: Path) -> ModuleConfig:
    """The file's configuration. A line that can't be read is logged and left out; without the file all is default."""
    found: dict[str, object] = {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        _log.warning("%s can't be read: %s", path, error)
        lines = []
    for number, line in enumerate(lines, 1):
        try:
            words = shlex.split(line, comments=True)
            if words:
                found |= _entry(*words)
        except (ValueError, TypeError, KeyError):
            _log.warning("%s, line %d isn't known: %s", path, number, line)
    return ModuleConfig(**found)  # type: ignore[arg-type]


def _entry(key: str, value: str) -> dict[str, object]:
    match key.lower():
        case "url":
            return {"url": value.rstrip("/")}
        case "voice":
            return {"voice": value}
        case "instantwords":
            return {"instant_words": int(value)}
        case "instantcharacters":
            return {"instant_characters": {"on": True, "off": False}[value.lower()]}
    raise KeyError(key)

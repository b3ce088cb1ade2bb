"""Writer of a text with tags, with the interface of `MarkedBuilder`: it turns SSML into what `parse_tags` reads."""

from __future__ import annotations

import re

from text.words.performer import Performer

_SPACES = re.compile(r"[ \t\r]*\n[ \t\r\n]*\n[ \t\r\n]*|\s+")


class TagWriter:
    """Collects text and tags in the order of the text."""

    def __init__(self, voice: str) -> None:
        """Args:
        voice: the voice of all text that names no other; without it, tags that change voice or pace are left out.
        """
        self.pause_seconds = 0.0
        """Total seconds of all pauses so far."""
        self.performer: Performer | None = None
        """Performer of the following text; None: `voice`."""
        self._voice = voice
        self._speaking: Performer | None = None
        self._rate = 1.0
        self._parts: list[str] = []

    def text(self, written: str, *, rate: float = 1.0, phonemes: str | None = None) -> None:
        """Add a stretch of text, after the tags for its voice and pace."""
        if not written.strip():
            self._parts.append(written)
            return
        if self._voice and self.performer != self._speaking:
            self._speaking, self._rate = self.performer, 1.0
            self._parts.append(f" [voice:{self.performer.name if self.performer else self._voice}] ")
        if self._voice and rate != self._rate:
            self._rate = rate
            self._parts.append(f" [rate:{rate:.6g}] ")
        self._parts.append(written if phonemes is None else f"[{written.strip()}](/{phonemes}/)")

    def pause(self, seconds: float) -> None:
        """Add a pause."""
        self.pause_seconds += seconds
        self._parts.append(f" [pause:{seconds:.6g}s] ")

    def bookmark(self, name: str) -> None:
        """Leave the bookmark out: tags have none."""

    def paragraph(self) -> None:
        """Begin or end a paragraph here."""
        self._parts.append("\n\n")

    def sentence(self) -> None:
        """Begin or end a sentence here."""
        self._parts.append(" ")

    def written(self) -> str:
        """The finished text."""
        joined = "".join(self._parts)
        return _SPACES.sub(lambda space: "\n\n" if space[0].count("\n") > 1 else " ", joined).strip()

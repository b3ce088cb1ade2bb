"""The result of both ways of speaking, in this process and through a server: pieces of PCM, or a reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontend.contract.word_timing import WordTiming


@dataclass(frozen=True, slots=True)
class SpokenPiece:
    """Consecutive audio, in order: `shm.audio`'s samples as bytes, which a server may cut within a sample."""

    pcm: bytes
    characters: int = 0
    """Characters of the text that this piece completes; 0 if the source doesn't know."""
    words: tuple[WordTiming, ...] = ()
    """Timings of words since the last piece, if requested."""


class CannotSpeak(Exception):
    """The text can't be spoken, or not to its end. The message says why and what to do."""

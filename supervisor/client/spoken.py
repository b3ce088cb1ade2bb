"""What both ways of speaking give, in this process and through a server: pieces of PCM, or a reason why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from frontend.contract.word_timing import WordTiming


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive audio, in order: `shm.audio`'s samples as bytes, which a server may cut within a sample."""

    pcm: bytes
    characters: int = 0
    """Of the text, that are spoken to their end with this piece; 0 where the source can't tell."""
    words: tuple[WordTiming, ...] = ()
    """When words sound that were not told of before, where that was asked for."""


class CannotSpeak(Exception):
    """The text can't be spoken, or not to its end. The message says why and what to do."""

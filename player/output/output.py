"""The interface of an output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from shm.audio import Pcm

Fill = Callable[[int], Pcm]
"""Gives exactly so many samples; called in the output's own thread (`player.deck.Deck.fill`)."""


class NoOutput(Exception):
    """There is no sound card, or it can't be used. The message says why."""


class Output(Protocol):
    """An open output: it takes samples as they are due, from its opening to its closing."""

    name: str
    """The output's name, for people."""

    @property
    def delay(self) -> int:
        """Samples that were taken and haven't sounded."""
        ...

    def close(self) -> None:
        """Close the device: silence at once, whatever it has taken. Idempotent."""
        ...


class Opener(Protocol):
    """Opens an output. Blocks for as long as the device needs."""

    def __call__(self, fill: Fill) -> Output:
        """
        Raises:
            NoOutput: there is none.
        """
        ...

"""The urgency of a request: how soon its audio is wanted."""

from __future__ import annotations

from enum import Enum, auto


class Urgency(Enum):
    """The listener who waits for a request's audio, in the order of service."""

    LISTENING = auto()
    """Somebody hears it while it is made: the first sample is due at once, and the rest without a gap."""
    WHOLE = auto()
    """Nothing is heard before all of it is made (`stream: false`): it yields to those who listen."""
    IDLE = auto()
    """Nobody waits for it (a self-check, a phrase spoken ahead): it yields to everyone, and ends when anyone comes."""

"""PCM: mono, signed 16-bit little-endian. Inside the server each engine's samples keep the engine's own rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # the supervisor imports this file and must stay without numpy
    import numpy as np
    from numpy.typing import NDArray

SAMPLE_RATE = 24_000
"""Samples per second of an answer whose client asks for no rate (the rate of OpenAI's `pcm`), and Kokoro's own rate.
The player and the other clients of this server speak at it."""

SAMPLE_BYTES = 2
"""Bytes per sample."""

AUDIBLE = 64
"""Amplitude (-54 dBFS) above which a sample counts as sound; an engine's lead-in and its pauses stay at or below it."""

SLOWEST, FASTEST = 0.25, 5.0
"""Limits of a pace, as a factor on the voice's own: of requests, of markup, of the player."""

Pcm: TypeAlias = "NDArray[np.int16]"
"""Samples, shape [n]."""

"""What listeners of a real server hear: how soon, whether without a gap, and how much of it a second.

Each reads as fast as sound comes and is thought to play it as it comes. The time before a sound that can't be heard is
no first audio: the clock stops at the first sample of speech.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shm.audio import SAMPLE_BYTES, SAMPLE_RATE
from supervisor.tuning.score import geometric_mean, waited
from supervisor.tuning.servers import ServerFailed
from worker.tuning.records import silence

if TYPE_CHECKING:
    import aiohttp

AUDIBLE = 64
"""Of an int16: -54 dBFS. Samples no further from 0 are silence."""

GAP = 0.02
"""Seconds of silences together that a player bridges."""

_TOO_MANY = 429
_AGAIN = 0.1
"""Seconds until somebody who was sent away asks again."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One text, from its first asking on. Seconds."""

    first: float
    """Until speech is heard."""
    whole: float
    """Until all of it is there."""
    silence: float
    """Heard in its middle."""
    audio: float
    """Of sound."""
    at_once: bool
    """It was taken when it asked first."""

    @property
    def gapless(self) -> bool:
        return self.at_once and self.silence <= GAP


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one server, once."""

    first: float
    """Seconds until a lone text is heard, its silences at their price (`supervisor.tuning.score`)."""
    real_time: float
    """Seconds of a lone text's audio per second."""
    crowd: int
    """How many listened at once;"""
    first_together: float
    """seconds until they heard something (geometric mean), those sent away from their first asking on,"""
    gapless: int
    """how many of them were taken at once and heard no gap,"""
    together: float
    """and seconds of audio per second that they were given."""


def measure(url: str, text: str, crowd: Sequence[str], patience: float) -> Figures:
    """A text by itself, then one for each of a crowd.

    Args:
        patience: seconds without a byte after which the server counts as broken.

    Raises:
        ServerFailed: it doesn't speak one of them to its end.
    """
    alone = hear(url, [text], patience)[0]
    began = time.monotonic()
    heard = hear(url, crowd, patience)
    taken = time.monotonic() - began
    return Figures(
        first=waited(alone.first, alone.silence),
        real_time=alone.audio / alone.whole,
        crowd=len(heard),
        first_together=geometric_mean(each.first for each in heard),
        gapless=sum(each.gapless for each in heard),
        together=sum(each.audio for each in heard) / taken,
    )


def hear(url: str, texts: Sequence[str], patience: float) -> list[Heard]:
    """All the texts, each by a listener of its own; all come at the same time.

    Raises:
        ServerFailed: see `measure`.
    """
    return asyncio.run(_hear_all(url, texts, patience))


async def _hear_all(url: str, texts: Sequence[str], patience: float) -> list[Heard]:
    import aiohttp

    async def one(session: aiohttp.ClientSession, number: int, text: str) -> Heard:
        started = time.monotonic()
        at_once = True
        while (heard := await _hear(session, url, number, text, started, at_once)) is None:
            at_once = False
            await asyncio.sleep(_AGAIN)
        return heard

    limits = aiohttp.ClientTimeout(total=None, sock_connect=patience, sock_read=patience)
    try:
        async with aiohttp.ClientSession(timeout=limits) as session:
            return await asyncio.gather(*(one(session, number, text) for number, text in enumerate(texts)))
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise ServerFailed(f"it didn't speak to the end: {error or type(error).__name__}") from error


async def _hear(
    session: aiohttp.ClientSession, url: str, number: int, text: str, started: float, at_once: bool
) -> Heard | None:
    """One asking; None if it is sent away."""
    # A session each: what one client asks for in a row may be made one after the other.
    headers = {"X-Session": f"listener {number}", "Cache-Control": "no-store"}
    body = {"input": text, "response_format": "pcm"}
    async with session.post(f"{url}/v1/audio/speech", json=body, headers=headers) as response:
        if response.status == _TOO_MANY:
            return None
        if response.status != 200:
            raise ServerFailed(f"it answers with {response.status}: {(await response.text())[:200]}")
        received = bytearray()
        blocks: list[tuple[int, float]] = []
        before, samples, first = started, 0, None
        async for part in response.content.iter_any():
            now = time.monotonic()
            received += part
            came = len(received) // SAMPLE_BYTES - samples
            if first is None and _audible(received, samples, came):
                first = now - started
            blocks.append((came, now - before))
            before, samples = now, samples + came
    if first is None:
        raise ServerFailed("it gives silence")
    return Heard(first, before - started, silence(tuple(blocks)), samples / SAMPLE_RATE, at_once)


def _audible(received: bytearray, start: int, count: int) -> bool:
    """Whether so many samples from that one on have sound."""
    samples = np.frombuffer(bytes(received[start * SAMPLE_BYTES : (start + count) * SAMPLE_BYTES]), "<i2")
    return bool(np.any(np.abs(samples.astype(np.int32)) > AUDIBLE))

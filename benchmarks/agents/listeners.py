"""Listeners of answers that are being written: what each hears, alone, among others, and when a server is killed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

import aiohttp
import numpy as np

from benchmarks.agents.ways import WAYS, Server, Written
from benchmarks.growing_text import tokens
from benchmarks.measuring.figures import median
from benchmarks.measuring.playback import Arrival, Playback, play
from shm.audio import SAMPLE_RATE

MOMENTS = (0.0, 1.0)
"""Seconds after an answer's first sound at which the server is killed, in turn."""

PATIENCE = 20.0
"""Seconds in which a killed server must speak to the next who asks."""

WHOLE = 0.95
"""Share of an undisturbed answer's sound from which on an answer that ended is whole: where sentences are begun early,
the same text isn't always the same samples."""

AT_ONCE = 1000.0
"""Tokens per second."""

_FRAME = SAMPLE_RATE // 100
_LOUD = 0.01
_ESPEAK_RATE = 22_050


@dataclass
class Heard:
    """One answer, in seconds from its first token."""

    began: float = field(default_factory=time.perf_counter)
    arrivals: list[Arrival] = field(default_factory=list)
    sound: float | None = None
    """The first sound of 10 ms."""
    wrong: str = ""
    """Reason why it was refused, cut or silent."""
    _rest: bytes = b""

    def take(self, data: bytes, rate: int) -> bool:
        """More bytes at so many samples a second; true if the first sound is among them."""
        now = time.perf_counter() - self.began
        self.arrivals.append((now, len(data) * SAMPLE_RATE // rate))
        if self.sound is not None:
            return False
        data = self._rest + data
        whole = len(data) - len(data) % (2 * _FRAME)
        frames = np.frombuffer(data[:whole], "<i2").reshape(-1, _FRAME).astype(np.float64) / 32_768
        self._rest = data[whole:]
        if (np.sqrt((frames**2).mean(axis=1)) > _LOUD).any():
            self.sound = now
        return self.sound is not None

    @property
    def playback(self) -> Playback:
        return play(self.arrivals)

    def assert_whole(self) -> Heard:
        """
        Raises:
            ConnectionError: it was refused, cut or silent.
        """
        if self.wrong:
            raise ConnectionError(self.wrong)
        return self


async def written_at(text: str, rate: float) -> Written:
    """Tokens at so many per second."""
    began = time.perf_counter()
    for number, token in enumerate(tokens(text)):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        yield token


async def hear(
    way: str,
    server: Server,
    text: str,
    rate: float,
    leaves: bool = False,
    at_sound: Callable[[], object] = lambda: None,
) -> Heard:
    """An answer to its end, whatever happens.

    Args:
        leaves: closes the connection at the first sound.
        at_sound: is called at the first sound.
    """
    heard = Heard()
    try:
        async with aclosing(WAYS[way](server, written_at(text, rate))) as audio:  # type: ignore[type-var]
            async for data in audio:
                if heard.take(data, _ESPEAK_RATE if way == "espeak-ng" else SAMPLE_RATE):
                    at_sound()
                    if leaves:
                        break
    except (aiohttp.ClientError, OSError) as error:
        heard.wrong = f"{way}: {error!r}"
    if heard.sound is None:
        heard.wrong = heard.wrong or f"{way}: nothing was heard of {text!r}"
    return heard


async def round_of(way: str, server: Server, texts: Sequence[str], rate: float, listeners: int) -> list[Heard]:
    """All texts, so many at once."""
    found: list[Heard] = []
    for start in range(0, len(texts), listeners):
        found += await asyncio.gather(*(hear(way, server, text, rate) for text in texts[start : start + listeners]))
    return found


async def interrupted(way: str, server: Server, texts: Sequence[str], rate: float) -> float | None:
    """Seconds from an answer's first token to its sound, whose listener has just left the one before at its sound."""
    heard = [await hear(way, server, text, rate, leaves=True) for text in texts]
    found = [each.assert_whole().sound or 0.0 for each in heard[1:]]
    return median(found) if found else None


@dataclass(frozen=True, slots=True)
class Killed:
    """An answer in whose middle the server was killed."""

    share: float
    """Its sound as a share of the undisturbed answer's."""
    cut: bool
    gaps: float
    """Seconds of silence more than in the undisturbed answer, as heard by one who plays at once."""
    newcomer: float | None
    """Seconds from the kill to the first sound of somebody who asks then, and again until it sounds; None: never."""

    @property
    def whole(self) -> bool:
        return not self.cut and self.share >= WHOLE


async def killed(way: str, server: Server, text: str, rate: float, kill: Callable[[], object], moment: float) -> Killed:
    """A text undisturbed, then with a kill so many seconds after its first sound."""

    async def newcomer() -> float | None:
        await asyncio.sleep(moment)
        kill()
        began = time.perf_counter()
        while time.perf_counter() - began < PATIENCE:
            heard = await hear(way, server, "Is anybody there?", AT_ONCE)
            if heard.sound is not None:
                return heard.began + heard.sound - began
            await asyncio.sleep(0.05)
        return None

    undisturbed = (await hear(way, server, text, rate)).assert_whole().playback
    asking: list[asyncio.Task[float | None]] = []
    heard = await hear(way, server, text, rate, at_sound=lambda: asking.append(asyncio.create_task(newcomer())))
    sounds_after = await asking[0] if asking else None
    share = heard.playback.audio_seconds / undisturbed.audio_seconds
    gaps = heard.playback.gap_seconds - undisturbed.gap_seconds
    return Killed(share, bool(heard.wrong), gaps, sounds_after)

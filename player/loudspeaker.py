"""The loudspeaker: opens the output at the first sound, closes it some time after the last, and reopens it when it
vanishes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from player.deck import Deck
from player.output.output import NoOutput, Opener, Output, RewritingOutput
from shm.audio import SAMPLE_RATE

TOO_LATE = SAMPLE_RATE * 40 // 1000
"""Samples before silence begins to sound below which it can't be filled any more: 40 ms."""

log = logging.getLogger(__name__)

CLOSE_AFTER = 10.0
"""Seconds after the last sound until the output is closed: a held device keeps Bluetooth busy and a machine awake."""

LOST_AFTER = 1.0
"""Seconds without a pull after which an output has vanished; outputs pull every 10 to 100 ms."""

RETRY_AFTER = 1.0
"""Seconds until a vanished output is opened again, if that fails."""


class Loudspeaker:
    """The output, or its lack. Outputs are opened and closed in threads, because both may block."""

    def __init__(self, deck: Deck, opener: Opener, changed: Callable[[], None]) -> None:
        """`changed` is called when the output was opened, can't be opened, or has vanished."""
        self.output: Output | None = None
        self.name = ""
        """The name of the last output that was opened; empty before the first."""
        self.reason = ""
        """The reason why there is no output although one is wanted; empty otherwise."""
        self._deck = deck
        self._opener = opener
        self._changed = changed
        self._being_closed: set[asyncio.Future[None]] = set()
        self._work: asyncio.Task[None] | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._settled = asyncio.Event()
        """Set while it is known whether the output that is wanted can be opened, and while none is wanted."""
        self._settled.set()

    @property
    def delay(self) -> int:
        """Samples between the deck and the ear."""
        return self.output.delay if self.output else 0

    @property
    def at_once(self) -> int:
        """Samples that the device needs when playback begins: one that can be given them later needs none."""
        return 0 if isinstance(self.output, RewritingOutput) else self.delay

    @property
    def seconds_to_silence(self) -> float:
        """Seconds for which the device has more to play than silence, if that silence can still be filled; else 0."""
        held = self.delay - self._deck.padding - TOO_LATE
        return max(held, 0) / SAMPLE_RATE if isinstance(self.output, RewritingOutput) else 0.0

    def fill_silence(self) -> None:
        """Have samples sound that are there now, instead of silence that the device has taken for lack of them."""
        if isinstance(self.output, RewritingOutput) and self._deck.padding:
            self.output.fill_silence(lambda: self._deck.padding, self._deck.take_back)

    def want(self) -> None:
        if self._closing:
            self._closing.cancel()
            self._closing = None
        if self._work is None:
            self._settled.clear()
            self._work = asyncio.create_task(self._keep_open())

    async def settled(self) -> bool:
        """Wait until the output that is wanted was opened or can't be; False if it can't be."""
        await self._settled.wait()
        return self.output is not None or self._work is None

    def rest(self) -> None:
        """Close the output in a while, because nothing sounds."""
        if self._work and self._closing is None:
            self._closing = asyncio.get_running_loop().call_later(CLOSE_AFTER, self.cut)

    def cut(self) -> None:
        """Silence at once: close the output; the deck goes back to the sample that sounded."""
        if self._closing:
            self._closing.cancel()
            self._closing = None
        if self.output and self.output.takes_fade:
            self._deck.fade()
        else:
            self._deck.stop(self.delay)
        if self._work:
            self._work.cancel()
            self._work = None
        self._settled.set()
        if output := self._gone():
            self._close(output)

    async def close_outputs(self) -> None:
        self.cut()
        if self._being_closed:
            await asyncio.wait(self._being_closed, timeout=LOST_AFTER)

    def _close(self, output: Output) -> None:
        """Close it in a thread: a library may wait for a server that is gone."""
        closing = asyncio.ensure_future(asyncio.to_thread(output.close))
        self._being_closed.add(closing)
        closing.add_done_callback(self._being_closed.discard)

    async def _keep_open(self) -> None:
        if self._being_closed:  # two outputs would share the samples
            await asyncio.wait(self._being_closed, timeout=LOST_AFTER)
        self._deck.begin()
        while True:
            if await self._open():
                await self._until_lost()
            else:
                await asyncio.sleep(RETRY_AFTER)

    async def _open(self) -> bool:
        opening = asyncio.ensure_future(asyncio.to_thread(self._opener, self._deck.fill))
        try:
            self.output, self.reason = await asyncio.shield(opening), ""
            self.name = self.output.name
        except asyncio.CancelledError:
            opening.add_done_callback(
                lambda done: None if done.cancelled() or done.exception() else done.result().close()
            )
            raise
        except (NoOutput, OSError) as error:
            self.reason = str(error)
            log.error("no sound: %s", error)
        self._settled.set()
        self._changed()
        return self.output is not None

    async def _until_lost(self) -> None:
        taken = -1
        while self._deck.taken != taken:
            taken = self._deck.taken
            await asyncio.sleep(LOST_AFTER + self.delay / SAMPLE_RATE)
        output = self._gone()
        assert output
        log.warning("%s has vanished: opening the default output", output.name)
        self._deck.rewind(output.delay)
        self._close(output)
        self._changed()

    def _gone(self) -> Output | None:
        output, self.output = self.output, None
        return output

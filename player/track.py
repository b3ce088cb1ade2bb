"""A track: one text that is played or comes next, with its audio, and the request that fetches the rest of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from threading import RLock

from player.assembly import Assembly
from player.fetching import FIRST_RETRY, LAST_RETRY, CannotFetch, Fetcher
from player.prebuffer import needed, room
from player.reel import Reel, ReelPlace
from player.timeline import Timeline
from shm.audio import SAMPLE_RATE
from shm.playing import Item

MOST_TRIES = 5
"""Requests for one sentence that may end early before the text is given up."""


class Track:
    """Keeps a text's reel supplied. Implements `FetchHost`."""

    def __init__(self, item: Item, sentence: int, fetcher: Fetcher, lock: RLock, changed: Callable[[], None]) -> None:
        """
        Args:
            sentence: number of the first sentence to play.
            lock: guards the reel (`Deck.lock`).
            changed: called when audio has arrived, or none will.
        """
        self.item = item
        self.speed = item.speed
        self.voice = item.voice
        self.reel = Reel(sentence)
        self.timeline = Timeline(len(item.input))
        self.failure = ""
        """The reason why the missing audio won't come; empty while it may."""
        self.ran_dry = False
        """True if playback ran out of samples before the text's end."""
        self._fetcher = fetcher
        self._lock = lock
        self._changed = changed
        self._factor: float | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._moved = asyncio.Event()
        """Set when audio has arrived."""
        self._tries = 0
        """Requests in a row that ended early without completing a sentence."""

    # -- supply

    def supply(self) -> None:
        """Fetch what is missing, if there is room for it."""
        with self._lock:
            missing, ahead = self.reel.missing, self.reel.ahead
        if ahead < room(self._needed()):
            self._room.set()
        else:
            self._room.clear()
        if missing is not None and self._fetching is None and not self.failure and self._room.is_set():
            self._fetch(missing)

    def _fetch(self, number: int) -> Assembly:
        assembly = Assembly(self.reel, self._lock, partial(self._note, self.speed))
        self._fetching = asyncio.create_task(self._run(number, assembly))
        self._fetching.add_done_callback(lambda _: self._moved.set())  # a cancelled one moves nothing else
        return assembly

    async def _run(self, number: int, assembly: Assembly) -> None:
        try:
            await self._fetcher.fetch(self.item, number, self.speed, self.voice, assembly, self)
            with self._lock:
                if not assembly.sentences and self.reel.last is None:
                    self.reel.last = number - 1
            self._tries = 0
        except CannotFetch as error:
            self.failure = str(error)
        except ConnectionError as error:
            self._tries = self._tries + 1 if self.reel.missing == number else 0
            if self._tries > MOST_TRIES:
                self.failure = str(error)
            await asyncio.sleep(min(FIRST_RETRY * 2**self._tries, LAST_RETRY))
        finally:
            if self._fetching is asyncio.current_task():
                self._fetching = None
        self._moved.set()
        self._changed()

    def _note(self, speed: float, number: int) -> None:
        held = self.reel.get(number)
        if held:
            self.timeline.note(number, held.text, held.length / SAMPLE_RATE, speed)

    async def room(self) -> None:
        """Implements `FetchHost.room`."""
        await self._room.wait()

    def arrived(self, real_time_factor: float | None) -> None:
        """Implements `FetchHost.arrived`."""
        if real_time_factor is not None:
            self._factor = real_time_factor
        self.timeline.last = self.reel.last
        self._moved.set()
        self._changed()

    def close(self) -> None:
        """Cancel the request."""
        if self._fetching:
            self._fetching.cancel()
            self._fetching = None

    # -- playing

    def ready(self, at_once: int) -> bool:
        """True if enough is there for playback to begin or continue, where the output takes `at_once` samples when it
        begins."""
        with self._lock:
            ahead, complete = self.reel.ahead, self.reel.missing is None
        return complete or bool(self.failure and ahead) or ahead >= self._needed() + at_once

    @property
    def over(self) -> bool:
        """True if no more of the text will sound."""
        with self._lock:
            return self.reel.exhausted or bool(self.failure and not self.reel.ahead)

    def _needed(self) -> int:
        place = self.reel.place
        before = self.timeline.before(place.number, self.speed) + place.offset / SAMPLE_RATE
        remaining = max(self.timeline.total(self.speed) - before, 0.0) * SAMPLE_RATE
        return needed(self._factor, remaining, self.ran_dry)

    # -- changes

    def retake(self, speed: float | None, voice: str | None) -> None:
        """Have the sentences after the one that sounds made again, at another speed or by another voice."""
        with self._lock:
            self.speed = self.speed if speed is None else speed
            self.voice = voice or self.voice
            self.reel.retake()
            current = self.reel.get(self.reel.place.number)
        if current is None or current.whole:
            self.close()  # a request that is inside the sentence that sounds goes on to this sentence's end
        self.ran_dry = False
        self.supply()

    async def reach(self, number: int) -> bool:
        """Wait until the sentence's first samples are there; False if the text ends before it.

        The sentence that sounds keeps sounding meanwhile: a place beyond the end leaves the playback as it is.
        """
        if self.reel.holds(number):
            return True
        if self.reel.last is not None and number > self.reel.last:
            return False
        self.close()
        self._room.set()
        assembly = self._fetch(number)
        running = self._fetching
        while running and not running.done() and not self.reel.holds(number):
            self._moved.clear()
            await self._moved.wait()
        return bool(assembly.sentences) and self.reel.holds(number)

    def seconds(self, place: ReelPlace) -> float:
        """Seconds of the text before that place, at the present speed."""
        return self.timeline.before(place.number, self.speed) + place.offset / SAMPLE_RATE

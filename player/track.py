"""A track: one text that is played or comes next, with its audio, and the request that fetches the rest of it."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from threading import RLock

import msgspec

from player.fetching import FIRST_RETRY, LAST_RETRY, CannotFetch, Fetcher, WrittenPart
from player.reel import Assembly, Reel, ReelPlace
from shm.audio import SAMPLE_RATE
from shm.playing import Item

# The timeline of a text: how long its sentences are, as far as that is known, and how long it will be.

_SECONDS_PER_CHARACTER = 1 / 15
"""Pace of speech at speed 1, until a sentence of the text was measured."""


class Timeline:
    """Lengths of sentences. They are kept at speed 1, so that they survive a change of speed."""

    def __init__(self, characters: int) -> None:
        self.characters = characters
        self._seconds: dict[int, float] = {}
        self._lengths: dict[int, int] = {}
        self.last: int | None = None
        """Number of the text's last sentence, once it is known."""

    def note(self, number: int, text: str, seconds: float, speed: float) -> None:
        """Note a whole sentence's length at that speed."""
        self._seconds[number] = seconds * speed
        self._lengths[number] = len(text) + 1

    def before(self, number: int, speed: float) -> float:
        """Seconds of the sentences before that one; an unknown sentence counts as an average one."""
        average = self._average
        return sum(self._seconds.get(each, average) for each in range(number)) / speed

    def total(self, speed: float) -> float:
        known = sum(self._seconds.values())
        if self.last is not None and len(self._seconds) > self.last:
            return known / speed
        unknown = max(self.characters - sum(self._lengths.values()), 0)
        return (known + unknown * self._pace) / speed

    def number_at(self, seconds: float, speed: float) -> int | None:
        """Number of the sentence that sounds at that time; None if the text is expected to have ended before."""
        if seconds >= self.total(speed):
            return None
        number, passed, average = 0, 0.0, self._average
        while self.last is None or number < self.last:
            passed += self._seconds.get(number, average) / speed
            if passed > seconds:
                break
            number += 1
        return number

    @property
    def _pace(self) -> float:
        heard = sum(self._lengths.values())
        return sum(self._seconds.values()) / heard if heard else _SECONDS_PER_CHARACTER

    @property
    def _average(self) -> float:
        known = len(self._seconds)
        return sum(self._seconds.values()) / known if known else 60 * _SECONDS_PER_CHARACTER


# The adaptive pre-buffer: the audio that must be there before playback begins, so that playback never runs dry.

AT_LEAST = SAMPLE_RATE // 10
"""Samples before playback begins where the engine is faster than speech: 100 ms."""

AFTER_A_GAP = SAMPLE_RATE // 2
"""Samples before playback continues after it ran dry: the prediction was wrong, and one gap is better than several."""

ORDINARY = 20 * SAMPLE_RATE
"""Samples fetched ahead where the engine is faster than speech."""

MOST = 600 * SAMPLE_RATE
"""Most samples waited for: ten minutes, 29 MB."""

_MARGIN = 1.1
"""Factor on the predicted work: a prediction may be off by a tenth without a gap."""


BEGUN_AHEAD = SAMPLE_RATE
"""Samples left to hear from which on a sentence is waited for until it is whole: it sounds better then."""


def needed(real_time_factor: float | None, remaining: float, ran_dry: bool) -> int:
    """Samples that must be there before playback begins.

    The engine makes the A - B samples that are missing in f * (A - B) sample times. Playback lasts for the B samples
    that are there and for those that are made meanwhile, so it doesn't run dry if B >= A * (f - 1) / f.

    Args:
        real_time_factor: predicted seconds of work for a second of audio; None if nothing is predicted.
        remaining: expected samples from the place to the text's end, those that are there included.
        ran_dry: playback ran dry before.
    """
    least = AFTER_A_GAP if ran_dry else AT_LEAST
    factor = (real_time_factor or 0.0) * _MARGIN
    if factor <= 1:
        return least
    return min(max(least, round(remaining * (factor - 1) / factor)), MOST)


def room(wanted: int) -> int:
    """Samples that may be fetched ahead of the place, where `wanted` are needed to begin."""
    return max(ORDINARY, wanted + ORDINARY // 4)


MOST_TRIES = 5
"""Requests for one sentence that may end early before the text is given up."""


class Track:
    """Keeps a text's reel supplied."""

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
        self.waiting = ""
        """The reason while the server has to be waited for."""
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
        self._parts = [(0, 0)]
        """First sentence and first character of each part of the text: what had come when it was asked for, or was
        written while it was spoken."""
        self._written: WrittenPart | None = None
        """The part that is asked for, while it is being written."""

    # -- supply

    def supply(self) -> None:
        with self._lock:
            missing, ahead = self.reel.missing, self.reel.ahead
        if ahead < room(self._needed()):
            self._room.set()
        else:
            self._room.clear()
        if missing is None or self._fetching or self.failure or not self._room.is_set():
            return
        if self._part_of(missing).strip():
            self._fetch(missing)
        elif self.item.rest is None:
            self.reel.last = missing - 1
            self._changed()
        elif ahead < BEGUN_AHEAD and self._may_be_begun(missing):
            self._fetch(missing, WrittenPart(self._part_of(missing) + self.item.rest))

    def _may_be_begun(self, number: int) -> bool:
        """True if that sentence, which isn't whole, may be asked for while it is being written."""
        begins_part = number == self._parts[-1][0] and not self.reel.holds(number)
        return begins_part and self.item.markup == "none" and bool((self.item.rest or "").strip())

    def extend(self, item: Item) -> None:
        """Take the item with more of its text, or its end."""
        self.item = item
        self.timeline.characters = len(item.input)
        written, whole = self._written, item.input[self._parts[-1][1] :]
        if written and not written.ended and not written.write(whole, item.rest):
            self.stop_fetching()  # and ask again for what it is now

    @property
    def awaits_text(self) -> bool:
        """True if all of the text that may be spoken is there, and more will come."""
        with self._lock:
            missing = self.reel.missing
        return self.item.rest is not None and missing is not None and not self._part_of(missing).strip()

    def _part_at(self, number: int) -> int:
        return bisect_right(self._parts, number, key=lambda part: part[0]) - 1

    def _part_of(self, number: int) -> str:
        """The part of the text that has the sentence of that number."""
        at = self._part_at(number)
        end = self._parts[at + 1][1] if at + 1 < len(self._parts) else None
        return self.item.input[self._parts[at][1] : end]

    def _fetch(self, number: int, written: WrittenPart | None = None) -> Assembly:
        note, at = partial(self._note, self.speed), self._part_at(number)
        part = msgspec.structs.replace(self.item, input=self._part_of(number))
        is_last = self.item.rest is None and at + 1 == len(self._parts)
        before = self._parts[at][0]
        assembly = Assembly(self.reel, self._lock, note, self._arrived, self._room.wait, before, is_last)
        self._written = written
        self._fetching = asyncio.create_task(self._run(part, number, assembly, written))
        self._fetching.add_done_callback(lambda _: self._moved.set())  # a cancelled one moves nothing else
        return assembly

    async def _run(self, part: Item, number: int, assembly: Assembly, written: WrittenPart | None) -> None:
        before = assembly.before
        try:
            await self._fetcher.fetch(part, number - before, self.speed, self.voice, assembly, self._wait, written)
            with self._lock:
                following = number if assembly.following is None else assembly.following
                if assembly.is_last:
                    if not assembly.sentences and self.reel.last is None:
                        self.reel.last = number - 1
                elif assembly.ended and before == self._parts[-1][0] and following == self.reel.missing:
                    self._parts.append((following, self._parts[-1][1] + len((written and written.text) or part.input)))
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
                self._fetching = self._written = None
        self._moved.set()
        self._changed()

    def _wait(self, reason: str) -> None:
        if reason != self.waiting:
            self.waiting = reason
            self._changed()

    def _note(self, speed: float, number: int) -> None:
        held = self.reel.get(number)
        if held:
            self.timeline.note(number, held.text, held.length / SAMPLE_RATE, speed)

    def _arrived(self, real_time_factor: float | None) -> None:
        if real_time_factor is not None:
            self._factor = real_time_factor
        self.timeline.last = self.reel.last
        self._moved.set()
        self._changed()

    def stop_fetching(self) -> None:
        if self._fetching:
            self._fetching.cancel()
            self._fetching = self._written = None
            self.waiting = ""

    # -- playing

    def ready(self, at_once: int) -> bool:
        """True if enough is there for playback to begin or continue, where the output takes `at_once` samples when it
        begins."""
        with self._lock:
            ahead, complete = self.reel.ahead, self.reel.missing is None
        return complete or bool(ahead and (self.failure or self.awaits_text)) or ahead >= self._needed() + at_once

    @property
    def over(self) -> bool:
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
            self.stop_fetching()  # a request that is inside the sentence that sounds goes on to this sentence's end
        self.ran_dry = False
        self.supply()

    async def reach(self, number: int) -> bool:
        """Wait until the sentence's first samples are there; False if the text ends before it.

        The sentence that sounds keeps sounding meanwhile: a place beyond the end leaves the playback as it is.
        """
        if self.reel.holds(number):
            return True
        if not self._part_of(number).strip() or (self.reel.last is not None and number > self.reel.last):
            return False
        self.stop_fetching()
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

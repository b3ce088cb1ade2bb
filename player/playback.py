"""Playback: the items, the one that sounds, and every command about them.

Handlers record what happened, and one `_reconcile` compares what should sound with what does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from player.deck import Deck
from player.fetching import Fetcher
from player.loudspeaker import Loudspeaker
from player.output.output import Opener
from player.reel import Place
from player.report import Reporter
from player.tempo import faster, slower
from player.track import Track
from player.waiting import WaitingItems
from shm.audio import SAMPLE_RATE
from shm.playing import Answer, Change, Item, Play, Playing, Remove, State, Steer, Verb, WhenBusy, Word

log = logging.getLogger(__name__)

MOST_WAITING = 1000
"""Texts that may wait: each is held by the player and by the front, and every state names them all."""

BACK_WITHIN = SAMPLE_RATE
"""Samples of a sentence within which `back` goes to the sentence before."""


class Playback:
    """Plays items one after another. Lives on the event loop; only the deck is shared with the output's thread."""

    def __init__(self, fetcher: Fetcher, opener: Opener, tell: Callable[[State | Word], None]) -> None:
        """`tell` is called with each new state and with each word as it sounds."""
        loop = asyncio.get_running_loop()

        def starved() -> None:
            loop.call_soon_threadsafe(self.changed)

        self.deck = Deck(starved)
        self.loudspeaker = Loudspeaker(self.deck, opener, self.changed)
        self.waiting = WaitingItems()
        self.track: Track | None = None
        self.paused = False
        self.trouble = ""
        """The reason why the last item ended early; empty if it didn't."""
        self._fetcher = fetcher
        self._following: Track | None = None
        """The next item's audio, fetched once the present item's is there."""
        self._reporter = Reporter(self, tell)
        self._reconciling = False
        self._seeks = 0
        """Commands to go to another place of the text."""
        self._loop = loop

    @property
    def idle(self) -> bool:
        """True if there is nothing to play."""
        return self.track is None and not self.waiting

    @property
    def state(self) -> State:
        """The state as the API shows it."""
        return self._reporter.state()

    @property
    def phase(self) -> Playing:
        if self.track is None:
            return Playing.IDLE
        if self.paused:
            return Playing.PAUSED
        return Playing.PLAYING if self.deck.running and self.loudspeaker.output else Playing.BUFFERING

    @property
    def items(self) -> list[Item]:
        """All items, the playing one first."""
        return [*([self.track.item] if self.track else []), *self.waiting]

    # -- commands

    def play(self, message: Play) -> Answer:
        """Take an item."""
        if message.item.id in {item.id for item in self.items}:
            return Answer(message.number)  # sent again, because the answer was lost
        if len(self.waiting) >= MOST_WAITING and message.on_busy is not WhenBusy.INTERRUPT:
            refusal = f"{MOST_WAITING} texts wait already: ask again when some have been played."
            return Answer(message.number, refusal=refusal, code="queue_full")
        self.loudspeaker.want()
        busy = self.track is not None
        place = self.waiting.add(message.item, message.on_busy, busy)
        if not busy or message.on_busy is WhenBusy.INTERRUPT:
            self.paused = message.paused
            self._next_item(message.sentence)
        self.changed()
        return Answer(message.number, place)

    def steer(self, message: Steer) -> Answer:
        """Obey a command. Nothing to obey is no error."""
        match message.verb:
            case Verb.TOGGLE:
                self.paused = not self.paused and self.track is not None
            case Verb.PAUSE:
                self.paused = self.track is not None
            case Verb.RESUME:
                self.paused = False
            case Verb.STOP:
                self.waiting.clear()
                self._drop_following()
                self.loudspeaker.cut()
                self._next_item()
            case Verb.SKIP:
                self._step(1)
            case Verb.BACK:
                self._step(-1)
            case Verb.FASTER:
                self._set_pace(faster)
            case Verb.SLOWER:
                self._set_pace(slower)
        if self.paused:
            self.loudspeaker.cut()
        self.changed()
        return Answer(message.number)

    async def change(self, message: Change) -> Answer:
        """Change volume, speed, voice or place."""
        if message.volume is not None:
            self.deck.volume = message.volume
        track = self.track
        wanted = (message.speed, message.voice, message.seek, message.sentence)
        if track is None and any(each is not None for each in wanted):
            return Answer(message.number, refusal="Nothing is being played.", code="nothing_playing")
        if track and (message.seek is not None or message.sentence is not None):
            number = message.sentence
            if message.seek is not None:
                number = track.timeline.number_at(message.seek, track.speed)
            self._seeks = seek = self._seeks + 1
            there = number is not None and await track.reach(number)
            if track is not self.track:
                return Answer(message.number, refusal="The text has ended meanwhile.", code="nothing_playing")
            if seek != self._seeks:
                return Answer(message.number)  # a later command has cancelled the request for this place
            if number is None or not there:
                self.changed()
                length = track.timeline.total(track.speed)
                refusal = f"The text ends before that: it has about {length:.0f} seconds."
                return Answer(message.number, refusal=refusal, code="seek_beyond_end")
            self._go(track, number)
        if track and (message.speed is not None or message.voice is not None):
            track.retake(message.speed, message.voice)
        self.changed()
        return Answer(message.number)

    def remove(self, message: Remove) -> Answer:
        """End the item of that id, or take it out of the queue; the others stay."""
        track = self.track
        if track and track.item.id == message.id:
            if not self.waiting:
                self.loudspeaker.cut()
            self._next_item()
        elif not self.waiting.remove(message.id):
            refusal = "There is no such text: it was played, or never taken."
            return Answer(message.number, refusal=refusal, code="not_found")
        elif self._following and self._following.item.id == message.id:
            self._drop_following()
        self.changed()
        return Answer(message.number)

    def pause(self) -> None:
        """Pause, because the machine has slept."""
        self.steer(Steer(0, Verb.PAUSE))

    def _set_pace(self, change: Callable[[float], float]) -> None:
        if self.track and (speed := change(self.track.speed)) != self.track.speed:
            self.track.retake(speed, None)

    # -- items

    def _next_item(self, sentence: int = 0) -> None:
        """End the playing item and begin the next one, at that sentence."""
        if self.track:
            self.track.close()
        item, following = self.waiting.take(), self._following
        if following and following.item is item:
            self.track, self._following = following, None
        else:
            self._drop_following()
            self.track = self._track(item, sentence) if item else None
        self.deck.jump(self.track.reel if self.track else None, run=False)
        if self.track is None:
            self.paused = False

    def _track(self, item: Item, sentence: int) -> Track:
        return Track(item, sentence, self._fetcher, self.deck.lock, self.changed)

    def _drop_following(self) -> None:
        if self._following:
            self._following.close()
            self._following = None

    # -- places

    @property
    def place(self) -> Place | None:
        """The sample that sounds, of the playing item; its first one before it sounds."""
        if self.track is None:
            return None
        found = self.deck.sounding(self.loudspeaker.delay)
        if found and found[0] is self.track.reel and self.deck.running:
            return found[1]
        return self.track.reel.place

    def _step(self, by: int) -> None:
        """Go one sentence on or back; after the last sentence to the next item."""
        track, place = self.track, self.place
        if track is None or place is None:
            return
        number = place.number + by
        if by < 0:
            number = max(place.number - (place.offset < BACK_WITHIN), 0)
        if track.reel.last is not None and number > track.reel.last:
            self._next_item()
        else:
            self._go(track, number)

    def _go(self, track: Track, number: int) -> None:
        there = track.reel.holds(number)
        self.deck.jump(track.reel, Place(number), run=there and self.deck.running)
        if not there:
            track.close()  # the request continues elsewhere in the text

    # -- consequences

    def changed(self) -> None:
        """Reconcile soon, once for all that has happened by then."""
        if not self._reconciling:
            self._reconciling = True
            self._loop.call_soon(self._reconcile)

    def _reconcile(self) -> None:
        self._reconciling = False
        track = self.track
        if track:
            track.supply()
            if track.over:
                # The output holds the item's last samples: the next item begins after them.
                self._loop.call_later(self.loudspeaker.delay / SAMPLE_RATE, self._finish, track)
            elif not self.paused:
                self._sound(track)
        if self.track and self.deck.running:
            self.loudspeaker.want()
        elif self.track is None or self.paused:
            self.loudspeaker.rest()
        self._fetch_ahead()
        self._reporter.report()

    def _sound(self, track: Track) -> None:
        with self.deck.lock:
            ahead = track.reel.ahead
        if self.deck.running and not ahead:
            self.deck.running = False
            track.ran_dry = True
            log.warning("playback has run dry in sentence %d", track.reel.place.number)
        if not self.deck.running:
            self.loudspeaker.want()
            if self.loudspeaker.output and track.ready(self.loudspeaker.delay):
                self.deck.run()

    def _finish(self, track: Track) -> None:
        """End an item whose last sample has sounded."""
        if track is not self.track or not track.over:
            return
        self.trouble = track.failure
        if track.failure:
            log.error("%s is not played to its end: %s", track.item.id, track.failure)
        self._next_item()
        self.changed()

    def _fetch_ahead(self) -> None:
        item = self.waiting.next
        if self.track and self.track.reel.missing is None and item:
            if self._following is None or self._following.item is not item:
                self._drop_following()
                self._following = self._track(item, 0)
            self._following.supply()

    def close(self) -> None:
        """Cancel all requests and timers."""
        self._drop_following()
        if self.track:
            self.track.close()
        self._reporter.close()

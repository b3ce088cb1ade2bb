"""Playback: every command about what is played, and its consequences.

Handlers record what happened, and one `_reconcile` compares what should sound with what does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from player.deck import Deck
from player.fetching import Fetcher
from player.lineup import Lineup, Places
from player.loudspeaker import Loudspeaker
from player.output.output import Opener
from player.report import Reporter
from player.track import Track
from shm.audio import SAMPLE_RATE
from shm.playing import Change, Play, PlayedWord, PlayerAnswer, PlayerState, Playing, Remove, Steer, Verb, WhenBusy

STEPS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""The usual speeds, as factors of the voice's own pace, through which `faster` and `slower` go."""


def faster(speed: float) -> float:
    return next((step for step in STEPS if step > speed), speed)


def slower(speed: float) -> float:
    return next((step for step in reversed(STEPS) if step < speed), speed)


log = logging.getLogger(__name__)

MOST_WAITING = 1000
"""Texts that may wait: each is held by the player and by the front, and every state names them all."""


class ItemPlayback:
    """Plays items one after another. Lives on the event loop; only the deck is shared with the output's thread."""

    def __init__(self, fetcher: Fetcher, opener: Opener, tell: Callable[[PlayerState | PlayedWord], None]) -> None:
        """`tell` is called with each new state and with each word as it sounds."""
        loop = asyncio.get_running_loop()

        def starved() -> None:
            loop.call_soon_threadsafe(self.changed)

        self.deck = Deck(starved)
        self.loudspeaker = Loudspeaker(self.deck, opener, self.changed)
        self.lineup = Lineup(fetcher, self.deck, self.changed)
        self.places = Places(self.lineup, self.deck, self.loudspeaker)
        self.paused = False
        self.trouble = ""
        """The reason why the last item ended early; empty if it didn't."""
        self._reporter = Reporter(self.places, lambda: (self.phase, self.trouble), self.changed, tell)
        self._reconciling = False
        self._loop = loop

    @property
    def state(self) -> PlayerState:
        return self._reporter.state()

    @property
    def phase(self) -> Playing:
        if self.lineup.track is None:
            return Playing.IDLE
        if self.paused:
            return Playing.PAUSED
        return Playing.PLAYING if self.deck.running and self.loudspeaker.output else Playing.BUFFERING

    # -- commands

    def play(self, message: Play) -> PlayerAnswer:
        if message.item.id in {item.id for item in self.lineup.items}:
            return PlayerAnswer(message.number)  # sent again, because the answer was lost
        if len(self.lineup.waiting) >= MOST_WAITING and message.on_busy is not WhenBusy.INTERRUPT:
            refusal = f"{MOST_WAITING} texts wait already: ask again when some have been played."
            return PlayerAnswer(message.number, refusal=refusal, code="queue_full")
        self.loudspeaker.want()
        busy = self.lineup.track is not None
        place = self.lineup.add(message.item, message.on_busy)
        if not busy or message.on_busy is WhenBusy.INTERRUPT:
            self.paused = message.paused
            self._advance(message.sentence)
        self.changed()
        return PlayerAnswer(message.number, place)

    def steer(self, message: Steer) -> PlayerAnswer:
        """Obey a command. Nothing to obey is no error."""
        match message.verb:
            case Verb.TOGGLE:
                self.paused = not self.paused and self.lineup.track is not None
            case Verb.PAUSE:
                self.paused = self.lineup.track is not None
            case Verb.RESUME:
                self.paused = False
            case Verb.STOP:
                self.lineup.clear()
                self.loudspeaker.cut()
                self._advance()
            case Verb.SKIP:
                if not self.places.step(1):
                    self._advance()
            case Verb.BACK:
                self.places.step(-1)
            case Verb.FASTER:
                self._set_pace(faster)
            case Verb.SLOWER:
                self._set_pace(slower)
        if self.paused:
            self.loudspeaker.cut()
        self.changed()
        return PlayerAnswer(message.number)

    async def change(self, message: Change) -> PlayerAnswer:
        if message.volume is not None:
            self.deck.volume = message.volume
        track = self.lineup.track
        wanted = (message.speed, message.voice, message.seek, message.sentence)
        if track is None and any(each is not None for each in wanted):
            return PlayerAnswer(message.number, refusal="Nothing is being played.", code="nothing_playing")
        if track and (message.seek is not None or message.sentence is not None):
            answer = await self.places.seek(track, message)
            self.changed()
            if answer:
                return answer
        if track and (message.speed is not None or message.voice is not None):
            track.retake(message.speed, message.voice)
        self.changed()
        return PlayerAnswer(message.number)

    def remove(self, message: Remove) -> PlayerAnswer:
        """End the item of that id, or take it out of the queue; the others stay."""
        track = self.lineup.track
        if track and track.item.id == message.id:
            if not self.lineup.waiting:
                self.loudspeaker.cut()
            self._advance()
        elif not self.lineup.remove(message.id):
            refusal = "There is no such text: it was played, or never taken."
            return PlayerAnswer(message.number, refusal=refusal, code="not_found")
        self.changed()
        return PlayerAnswer(message.number)

    def pause(self) -> None:
        """Pause, because the machine has slept."""
        self.steer(Steer(0, Verb.PAUSE))

    def _set_pace(self, change: Callable[[float], float]) -> None:
        track = self.lineup.track
        if track and (speed := change(track.speed)) != track.speed:
            track.retake(speed, None)

    def _advance(self, sentence: int = 0) -> None:
        self.lineup.advance(sentence)
        if self.lineup.track is None:
            self.paused = False

    # -- consequences

    def changed(self) -> None:
        """Reconcile soon, once for all that has happened by then."""
        if not self._reconciling:
            self._reconciling = True
            self._loop.call_soon(self._reconcile)

    def _reconcile(self) -> None:
        self._reconciling = False
        track = self.lineup.track
        if track:
            track.supply()
            if track.over:
                # The output holds the item's last samples: the next item begins after them.
                self._loop.call_later(self.loudspeaker.delay / SAMPLE_RATE, self._finish, track)
            elif not self.paused:
                self._sound(track)
        if self.lineup.track and self.deck.running:
            self.loudspeaker.want()
        elif self.lineup.track is None or self.paused:
            self.loudspeaker.rest()
        self.lineup.fetch_ahead()
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
        if track is not self.lineup.track or not track.over:
            return
        self.trouble = track.failure
        if track.failure:
            log.error("%s is not played to its end: %s", track.item.id, track.failure)
        self._advance()
        self.changed()

    def close(self) -> None:
        self.lineup.close()
        self._reporter.close()

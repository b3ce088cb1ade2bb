"""Playback: every command about what is played, and its consequences.

Handlers record what happened, and one `_reconcile` compares what should sound with what does.
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_right
from collections.abc import Callable

import msgspec

from player.deck import Deck
from player.fetching import Fetcher
from player.lineup import Lineup, Places
from player.loudspeaker import Loudspeaker
from player.output.output import Opener
from player.reel import HeldSentence, ReelPlace
from player.track import Track
from shm.audio import SAMPLE_RATE
from shm.playing import (
    Change,
    Extend,
    Item,
    Play,
    PlayedWord,
    PlayerAnswer,
    PlayerState,
    Playing,
    QueuedItem,
    Remove,
    Steer,
    Verb,
    WhenBusy,
)

_SOON = 0.005
"""Seconds added to a wake-up, so that it comes after the sample that it is for."""

_LONGEST = 5.0
"""Longest sleep in seconds: the audio that was heard meanwhile makes room for more."""


class Reporter:
    """Tells what sounds. Between two reports it sleeps until the next word or sentence."""

    def __init__(
        self,
        places: Places,
        phase: Callable[[], tuple[Playing, str]],
        changed: Callable[[], None],
        tell: Callable[[PlayerState | PlayedWord], None],
    ) -> None:
        """
        Args:
            phase: the player's phase, and the reason why the last item ended early.
            changed: called when the next word or sentence begins to sound.
            tell: called with each new state, and with each word.
        """
        self._places = places
        self._lineup, self._deck, self._loudspeaker = places.lineup, places.deck, places.loudspeaker
        self._phase = phase
        self._changed = changed
        self._tell = tell
        self._told: PlayerState | None = None
        self._word: tuple[str, int, int] | None = None
        """Item, sentence and index of the last word that was told."""
        self._timer: asyncio.TimerHandle | None = None

    def state(self) -> PlayerState:
        phase, trouble = self._phase()
        output = self._loudspeaker.output
        state = PlayerState(
            state=phase,
            volume=self._deck.volume,
            queue=tuple(
                QueuedItem(item.id, item.title or "", item.source or "", len(item.input), item.voice)
                for item in self._lineup.waiting
            ),
            device=output.name if output else None,
            reason=(self._loudspeaker.reason or trouble) or None,
        )
        track, place = self._lineup.track, self._places.now
        if track is None or place is None:
            return state
        if track.waiting and phase is Playing.BUFFERING:
            state = msgspec.structs.replace(state, reason=track.waiting)
        with self._deck.lock:
            held = track.reel.get(place.number)
            index = _word_at(held, place.offset)
        return msgspec.structs.replace(
            state,
            id=track.item.id,
            title=track.item.title or "",
            source=track.item.source or "",
            sentence=held.text if held else None,
            sentence_number=place.number,
            word=held.words[index][1] if held and index >= 0 else None,
            seconds=round(track.seconds(place), 3),
            of=round(max(track.timeline.total(track.speed), track.seconds(place)), 1),
            voice=track.voice,
            speed=track.speed,
        )

    def report(self) -> None:
        state = self.state()
        if self._told is None or _lasting(state) != _lasting(self._told):
            self._told = state
            self._tell(state)
        self._tell_word(state)
        self._sleep()

    def _tell_word(self, state: PlayerState) -> None:
        track, place = self._lineup.track, self._places.now
        if track is None or place is None or state.state is not Playing.PLAYING:
            return
        held = track.reel.get(place.number)
        index = _word_at(held, place.offset)
        word = (track.item.id, place.number, index)
        if held and index >= 0 and word != self._word:
            self._word = word
            start, text = held.words[index]
            seconds = round(track.seconds(ReelPlace(place.number, start)), 3)
            self._tell(PlayedWord(track.item.id, text, place.number, seconds))

    def _sleep(self) -> None:
        """Wake up when the next word or sentence begins to sound."""
        self.stop_timer()
        track, place = self._lineup.track, self._places.now
        if track is None or place is None or not self._deck.running:
            return
        with self._deck.lock:
            held = track.reel.get(place.number)
            marks = [*([at for at, _ in held.words]), held.length] if held else []
        following = bisect_right(marks, place.offset)
        if following < len(marks):
            seconds = (marks[following] - place.offset) / SAMPLE_RATE + _SOON
            self._timer = asyncio.get_running_loop().call_later(min(seconds, _LONGEST), self._changed)

    def stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def _gone(number: int) -> PlayerAnswer:
    refusal = "There is no such text: it was played, or never taken."
    return PlayerAnswer(number, refusal=refusal, code="not_found")


def _word_at(held: HeldSentence | None, offset: int) -> int:
    return bisect_right(held.words, offset, key=lambda word: word[0]) - 1 if held else -1


def _lasting(state: PlayerState) -> tuple[object, ...]:
    """The parts of a state whose change is told; time and word go on by themselves."""
    return (
        *(state.state, state.id, state.sentence_number, state.sentence, state.voice, state.speed),
        *(state.volume, state.queue, state.device, state.reason),
    )


STEPS = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""The usual speeds, as factors of the voice's own pace, through which `faster` and `slower` go."""


def faster(speed: float) -> float:
    return next((step for step in STEPS if step > speed), speed)


def slower(speed: float) -> float:
    return next((step for step in reversed(STEPS) if step < speed), speed)


log = logging.getLogger(__name__)

MOST_WAITING = 1000
"""Texts that may wait: each is held by the player and by the front, and every state names them all."""


TEXT_SECONDS = 60.0
"""Seconds of silence after which a text counts as complete, though its writer hasn't ended it."""


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

    def extend(self, message: Extend) -> PlayerAnswer:
        if not self.lineup.extend(message.item):
            return _gone(message.number)
        self.changed()
        return PlayerAnswer(message.number)

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
            return _gone(message.number)
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
        if self.deck.running and not ahead and (seconds := self.loudspeaker.seconds_to_silence):
            self._loop.call_later(seconds, self.changed)
        elif self.deck.running and not ahead:
            self.deck.running = False
            if not track.awaits_text:
                track.ran_dry = True
                log.warning("playback has run dry in sentence %d", track.reel.place.number)
        if not ahead and track.awaits_text:
            self._loop.call_later(TEXT_SECONDS, self._end_text, track, track.item)
        if not self.deck.running:
            self.loudspeaker.want()
            if self.loudspeaker.output and track.ready(self.loudspeaker.at_once):
                self.deck.run()
        if self.deck.running:
            self.loudspeaker.fill_silence()

    def _finish(self, track: Track) -> None:
        if track is not self.lineup.track or not track.over:
            return
        self.trouble = track.failure
        if track.failure:
            log.error("%s is not played to its end: %s", track.item.id, track.failure)
        self._advance()
        self.changed()

    def _end_text(self, track: Track, item: Item) -> None:
        """End a text that its writer has left."""
        if track is self.lineup.track and track.item is item and not self.paused:
            log.warning("%s: no more text has come", item.id)
            track.extend(msgspec.structs.replace(item, input=item.input + (item.rest or ""), rest=None))
            self.changed()

    def stop_work(self) -> None:
        self.lineup.stop_fetching()
        self._reporter.stop_timer()

"""Reports: the player's state whenever it changes, and each word when it sounds, by the output's clock."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable

import msgspec

from player.lineup import Places
from player.reel import HeldSentence, ReelPlace
from shm.audio import SAMPLE_RATE
from shm.playing import PlayedWord, PlayerState, Playing, QueuedItem

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
        self.close()
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

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


def _word_at(held: HeldSentence | None, offset: int) -> int:
    return bisect_right(held.words, offset, key=lambda word: word[0]) - 1 if held else -1


def _lasting(state: PlayerState) -> tuple[object, ...]:
    """The parts of a state whose change is told; time and word go on by themselves."""
    return (
        *(state.state, state.id, state.sentence_number, state.sentence, state.voice, state.speed),
        *(state.volume, state.queue, state.device, state.reason),
    )

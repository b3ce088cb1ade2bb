"""Places: where the playing text sounds, and the way to another sentence of it."""

from __future__ import annotations

from player.deck import Deck
from player.lineup import Lineup
from player.loudspeaker import Loudspeaker
from player.reel import ReelPlace
from player.track import Track
from shm.audio import SAMPLE_RATE
from shm.playing import Change, PlayerAnswer

BACK_WITHIN = SAMPLE_RATE
"""Samples of a sentence within which a step back goes to the sentence before."""


class Places:
    """Goes through the playing text by sentence."""

    def __init__(self, lineup: Lineup, deck: Deck, loudspeaker: Loudspeaker) -> None:
        self._lineup = lineup
        self._deck = deck
        self._loudspeaker = loudspeaker
        self._seeks = 0
        """Commands to go to another place of a text."""

    @property
    def now(self) -> ReelPlace | None:
        """The sample that sounds, of the playing item; its first one before it sounds."""
        track = self._lineup.track
        if track is None:
            return None
        found = self._deck.sounding(self._loudspeaker.delay)
        if found and found[0] is track.reel and self._deck.running:
            return found[1]
        return track.reel.place

    def step(self, by: int) -> bool:
        """Go one sentence on or back; False after the last sentence."""
        track, place = self._lineup.track, self.now
        if track is None or place is None:
            return True
        number = place.number + by
        if by < 0:
            number = max(place.number - (place.offset < BACK_WITHIN), 0)
        if track.reel.last is not None and number > track.reel.last:
            return False
        self._go(track, number)
        return True

    async def seek(self, track: Track, message: Change) -> PlayerAnswer | None:
        """Go to the sentence that the message names by its number or its time; the answer, if the message's other
        changes don't count: the place is beyond the end, the text has ended, or a later command goes elsewhere."""
        number = message.sentence
        if message.seek is not None:
            number = track.timeline.number_at(message.seek, track.speed)
        self._seeks = seek = self._seeks + 1
        there = number is not None and await track.reach(number)
        if track is not self._lineup.track:
            return PlayerAnswer(message.number, refusal="The text has ended meanwhile.", code="nothing_playing")
        if seek != self._seeks:
            return PlayerAnswer(message.number)  # a later command has cancelled the request for this place
        if number is None or not there:
            length = track.timeline.total(track.speed)
            refusal = f"The text ends before that: it has about {length:.0f} seconds."
            return PlayerAnswer(message.number, refusal=refusal, code="seek_beyond_end")
        self._go(track, number)
        return None

    def _go(self, track: Track, number: int) -> None:
        there = track.reel.holds(number)
        self._deck.jump(track.reel, ReelPlace(number), run=there and self._deck.running)
        if not there:
            track.close()  # the request continues elsewhere in the text

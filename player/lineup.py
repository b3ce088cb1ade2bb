"""The lineup: the text that is played, the texts that wait, the next one's audio, and the place that sounds."""

from __future__ import annotations

from collections.abc import Callable

from player.deck import Deck
from player.fetching import Fetcher
from player.loudspeaker import Loudspeaker
from player.reel import ReelPlace
from player.track import Track
from shm.audio import SAMPLE_RATE
from shm.playing import Change, Item, PlayerAnswer, WhenBusy


class Lineup:
    """Puts one text after another on the deck."""

    def __init__(self, fetcher: Fetcher, deck: Deck, changed: Callable[[], None]) -> None:
        """`changed` is called when audio has arrived, or none will."""
        self.track: Track | None = None
        """The text that is played."""
        self.waiting: list[Item] = []
        """Texts in the order in which they will be played."""
        self._fetcher = fetcher
        self._deck = deck
        self._changed = changed
        self._following: Track | None = None
        """The next text's audio, fetched once the playing text's is there."""

    @property
    def idle(self) -> bool:
        """True if there is nothing to play."""
        return self.track is None and not self.waiting

    @property
    def items(self) -> list[Item]:
        """All items, the playing one first."""
        return [*([self.track.item] if self.track else []), *self.waiting]

    def add(self, item: Item, on_busy: WhenBusy) -> int:
        """Take an item; returns the number of items before it, the playing one included. An interrupting item is put
        before all that wait; the caller ends the playing one."""
        busy = self.track is not None
        if on_busy is WhenBusy.QUEUE:
            self.waiting.append(item)
            return len(self.waiting) - 1 + busy
        self.waiting.insert(0, item)
        return int(busy and on_busy is WhenBusy.NEXT)

    def extend(self, item: Item) -> bool:
        """Take an item with more of its text, or its end; False if no item of its id awaits any."""
        for track in filter(None, (self.track, self._following)):
            if track.item.id == item.id and track.item.rest is not None:
                track.extend(item)
        for place, each in enumerate(self.waiting):
            if each.id == item.id and each.rest is not None:
                self.waiting[place] = item
        return item in self.items

    def advance(self, sentence: int = 0) -> None:
        if self.track:
            self.track.stop_fetching()
        item, following = self.waiting.pop(0) if self.waiting else None, self._following
        if following and following.item is item:
            self.track, self._following = following, None
        else:
            self._drop_following()
            self.track = self._track(item, sentence) if item else None
        self._deck.jump(self.track.reel if self.track else None, run=False)

    def clear(self) -> None:
        self.waiting.clear()
        self._drop_following()

    def remove(self, name: str) -> bool:
        """Take the item of that id out of the queue; False if it doesn't wait."""
        if self._following and self._following.item.id == name:
            self._drop_following()
        before = len(self.waiting)
        self.waiting = [item for item in self.waiting if item.id != name]
        return len(self.waiting) < before

    def fetch_ahead(self) -> None:
        """Fetch the next item's audio, if the playing item's is all there."""
        if self.track and self.track.reel.missing is None and self.waiting:
            item = self.waiting[0]
            if self._following is None or self._following.item is not item:
                self._drop_following()
                self._following = self._track(item, 0)
            self._following.supply()

    def stop_fetching(self) -> None:
        self._drop_following()
        if self.track:
            self.track.stop_fetching()

    def _track(self, item: Item, sentence: int) -> Track:
        return Track(item, sentence, self._fetcher, self._deck.lock, self._changed)

    def _drop_following(self) -> None:
        if self._following:
            self._following.stop_fetching()
            self._following = None


BACK_WITHIN = SAMPLE_RATE
"""Samples of a sentence within which a step back goes to the sentence before."""


class Places:
    """Goes through the playing text by sentence."""

    def __init__(self, lineup: Lineup, deck: Deck, loudspeaker: Loudspeaker) -> None:
        self.lineup = lineup
        self.deck = deck
        self.loudspeaker = loudspeaker
        self._seeks = 0
        """Commands to go to another place of a text."""

    @property
    def now(self) -> ReelPlace | None:
        """The sample of the playing item that is heard now; its first sample until one is heard."""
        track = self.lineup.track
        if track is None:
            return None
        found = self.deck.sounding(self.loudspeaker.delay)
        if found and found[0] is track.reel and self.deck.running:
            return found[1]
        return track.reel.place

    def step(self, by: int) -> bool:
        """Go one sentence on or back; False after the last sentence."""
        track, place = self.lineup.track, self.now
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
        if track is not self.lineup.track:
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
        self.deck.jump(track.reel, ReelPlace(number), run=there and self.deck.running)
        if not there:
            track.stop_fetching()  # the request continues elsewhere in the text

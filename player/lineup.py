"""The lineup: the text that is played, the texts that wait, the next one's audio, and the place that sounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from player.deck import Deck
from player.fetching import Fetcher
from player.loudspeaker import Loudspeaker
from player.reel import ReelPlace
from player.track import Track
from shm.audio import SAMPLE_RATE
from shm.playing import Change, Item, PlayerAnswer, WhenBusy

# The queue of items that wait for their turn.


class WaitingItems:
    """Items in the order in which they will be played."""

    def __init__(self) -> None:
        self._items: list[Item] = []

    def add(self, item: Item, on_busy: WhenBusy, busy: bool) -> int:
        """Take an item; returns the number of items before it, the playing one included.

        Args:
            busy: an item is being played. An interrupting item is then put before all others; the caller ends the
                playing one.
        """
        if on_busy is WhenBusy.QUEUE:
            self._items.append(item)
            return len(self._items) - 1 + busy
        self._items.insert(0, item)
        return int(busy and on_busy is WhenBusy.NEXT)

    def take(self) -> Item | None:
        """Remove the next item; None if none waits."""
        return self._items.pop(0) if self._items else None

    def remove(self, name: str) -> bool:
        """Remove the item of that id; False if it doesn't wait."""
        before = len(self._items)
        self._items = [item for item in self._items if item.id != name]
        return len(self._items) < before

    @property
    def next(self) -> Item | None:
        return self._items[0] if self._items else None

    def clear(self) -> None:
        self._items.clear()

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class Lineup:
    """Puts one text after another on the deck."""

    def __init__(self, fetcher: Fetcher, deck: Deck, changed: Callable[[], None]) -> None:
        """`changed` is called when audio has arrived, or none will."""
        self.track: Track | None = None
        """The text that is played."""
        self.waiting = WaitingItems()
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

    def advance(self, sentence: int = 0) -> None:
        """End the playing item and begin the next one, at that sentence."""
        if self.track:
            self.track.close()
        item, following = self.waiting.take(), self._following
        if following and following.item is item:
            self.track, self._following = following, None
        else:
            self._drop_following()
            self.track = self._track(item, sentence) if item else None
        self._deck.jump(self.track.reel if self.track else None, run=False)

    def clear(self) -> None:
        """Forget all items that wait."""
        self.waiting.clear()
        self._drop_following()

    def remove(self, name: str) -> bool:
        """Take the item of that id out of the queue; False if it doesn't wait."""
        if self._following and self._following.item.id == name:
            self._drop_following()
        return self.waiting.remove(name)

    def fetch_ahead(self) -> None:
        """Fetch the next item's audio, if the playing item's is all there."""
        item = self.waiting.next
        if self.track and self.track.reel.missing is None and item:
            if self._following is None or self._following.item is not item:
                self._drop_following()
                self._following = self._track(item, 0)
            self._following.supply()

    def close(self) -> None:
        """Cancel all requests."""
        self._drop_following()
        if self.track:
            self.track.close()

    def _track(self, item: Item, sentence: int) -> Track:
        return Track(item, sentence, self._fetcher, self._deck.lock, self._changed)

    def _drop_following(self) -> None:
        if self._following:
            self._following.close()
            self._following = None


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

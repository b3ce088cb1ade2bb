"""A sound card that a test drives by hand, and texts whose audio a test gives piece by piece."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import numpy as np

from player.fetching import Fetcher, WrittenPart
from player.output.output import Fill, NoOutput
from player.playback import ItemPlayback
from player.reel import Assembly
from shm.audio import Pcm
from shm.playing import Item, Play, PlayedWord, PlayerState, Playing, Steer, Verb, WhenBusy

TEXT = "one two three four"

SENTENCE = 24_000
"""Samples of a fake sentence."""

LONG = 4
"""Characters of a sentence that is begun before it is known to be whole."""


def voice_of(text: str, number: int, speed: float = 1.0) -> Pcm:
    """The audio of a sentence: loud, and unlike that of any other sentence."""
    count = round(SENTENCE / speed)
    first = 1000 + 3000 * number + 97 * (sum(text.encode()) % 20)
    return (first + np.arange(count) % 2000).astype(np.int16)


class RecordingSink:
    """Takes samples when the test pulls, and keeps them."""

    def __init__(self, fill: Fill) -> None:
        self.name = "fake"
        self.takes_fade = False
        self.delay = 0
        self.closed = False
        self.heard: list[Pcm] = []
        self._fill = fill

    def pull(self, count: int) -> Pcm:
        samples = self._fill(count)
        assert len(samples) == count and samples.dtype == np.int16
        self.heard.append(samples)
        return samples

    def close(self) -> None:
        self.closed = True


class RewritingSink(RecordingSink):
    """Holds some samples before they sound, and takes silence back."""

    held = 6000

    def __init__(self, fill: Fill) -> None:
        super().__init__(fill)
        self._device = self._fill(self.held)
        self.delay = self.held

    def pull(self, count: int) -> Pcm:
        """Let so many samples sound."""
        self._device = np.concatenate([self._device, self._fill(count)])
        sounding, self._device = self._device[:count], self._device[count:]
        self.heard.append(sounding)
        return sounding

    def fill_silence(self, most: Callable[[], int], taken_back: Callable[[int], None]) -> None:
        count = min(most(), len(self._device))
        taken_back(count)
        self._device = np.concatenate([self._device[: len(self._device) - count], self._fill(count)])


@dataclass
class Cards:
    """Opens recording sinks; none while `there` is false."""

    there: bool = True
    opened: list[RecordingSink] = field(default_factory=list)
    kind: type[RecordingSink] = RecordingSink

    def __call__(self, fill: Fill) -> RecordingSink:
        if not self.there:
            raise NoOutput("nothing is plugged in")
        self.opened.append(self.kind(fill))
        return self.opened[-1]


@dataclass
class Request:
    """One fetch, as the player made it."""

    item: Item
    sentence: int
    speed: float
    voice: str
    cancelled: bool = False


class FakeFetcher(Fetcher):
    """Gives the sentences of a text, split at spaces, as fast as there is room; `gate` closed, it gives nothing."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.factor: float | None = 0.5
        self.on_sentence: Callable[[int], None] = lambda number: None

    async def fetch(
        self,
        item: Item,
        sentence: int,
        speed: float,
        voice: str,
        into: Assembly,
        tell: Callable[[str], None] = print,
        written: WrittenPart | None = None,
    ) -> None:
        """Give its audio; half of the first sentence of a text that is being written comes before the text ends."""
        request = Request(item, sentence, speed, voice)
        self.requests.append(request)
        try:
            begun = 0
            if written:
                async for _ in written:
                    if not begun and len(first := written.text.split()[0]) == LONG:
                        begun = SENTENCE // 2
                        into.sentence(0, first[0], 0)
                        into.audio(voice_of(first, 0, speed)[:begun])
                        into.arrived(self.factor)
                request.item = msgspec.structs.replace(item, input=written.text)
            at = 0
            for number, text in enumerate(request.item.input.split()):
                if number < sentence:
                    continue
                await self.gate.wait()
                self.on_sentence(number)
                audio = voice_of(text, number, speed)
                into.sentence(number, text, at)
                into.word(text, at / 24_000)
                if not into.audio(audio[begun:]):
                    return
                at, begun = at + len(audio), 0
                into.arrived(self.factor)
                await into.room()
            into.end()
            into.arrived(None)
        except asyncio.CancelledError:
            request.cancelled = True
            raise


class House:
    """A playback, and all around it."""

    def __init__(self) -> None:
        self.fetcher, self.cards = FakeFetcher(), Cards()
        self.told: list[PlayerState | PlayedWord] = []
        self.news = asyncio.Event()
        self.playback = ItemPlayback(self.fetcher, self.cards, self._tell)
        self._names = iter(range(1000))

    def _tell(self, message: PlayerState | PlayedWord) -> None:
        self.told.append(message)
        self.news.set()

    @property
    def card(self) -> RecordingSink:
        return self.cards.opened[-1]

    def play(self, text: str = TEXT, on_busy: WhenBusy = WhenBusy.INTERRUPT, **fields: object) -> Item:
        item = Item(id=f"i{next(self._names)}", input=text, voice="v", speed=1.0)
        answer = self.playback.play(Play(0, item, on_busy, **fields))  # type: ignore[arg-type]
        assert not answer.refusal
        return item

    def steer(self, verb: Verb) -> None:
        self.playback.steer(Steer(0, verb))

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110 - several parts change it
                await asyncio.sleep(0.001)

    async def sounds(self) -> None:
        await self.until(lambda: self.playback.phase is Playing.PLAYING)

    async def hear(self, seconds: float) -> None:
        """Pull that much, with time for the loop between."""
        for _ in range(round(seconds * 10)):
            self.card.pull(2400)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

"""Puts one response's audio into a reel: its samples come in a row, and events say where sentences and words begin."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from threading import RLock

from player.reel import Reel
from shm.audio import SAMPLE_RATE, Pcm


class Assembly:
    """The sentences of one response, in order. Events precede the samples that they are about."""

    def __init__(self, reel: Reel, lock: RLock, whole: Callable[[int], None]) -> None:
        """`lock` is held while the reel changes; `whole` is called with the number of each sentence that is whole."""
        self.sentences = 0
        """Sentences that were announced."""
        self._reel = reel
        self._lock = lock
        self._whole = whole
        self._take = reel.take
        self._announced: list[tuple[int, int, str]] = []
        """First sample in the response, number and text of each sentence that was announced."""
        self._begun = 0
        """Announced sentences that have begun."""
        self._words: list[tuple[int, str]] = []
        self._received = 0

    @property
    def stale(self) -> bool:
        """True if the reel's speed or voice has changed since the request: only the sentence that has begun counts."""
        return self._take != self._reel.take

    def sentence(self, number: int, text: str, sample: int) -> None:
        """A sentence begins at that sample of the response."""
        self._announced.append((sample, number, text))
        self.sentences += 1

    def word(self, word: str, seconds: float) -> None:
        """A word begins to sound at that time of the response."""
        self._words.append((round(seconds * SAMPLE_RATE), word))

    def audio(self, samples: Pcm) -> bool:
        """More samples of the response; returns False once no more of them are wanted, because the reel's take has
        changed or the next sentence is held already."""
        with self._lock:
            while len(samples):
                if self._begun < len(self._announced) and self._announced[self._begun][0] <= self._received:
                    if not self._begin():
                        return False
                    continue
                count = len(samples)
                if self._begun < len(self._announced):
                    count = min(count, self._announced[self._begun][0] - self._received)
                if self._begun:
                    self._reel.append(self._announced[self._begun - 1][1], samples[:count])
                self._received += count
                samples = samples[count:]
            self._place_words()
        return True

    def end(self) -> None:
        """The response is complete, and so is the text."""
        with self._lock:
            while self._begun < len(self._announced) and self._begin():
                pass
            if self._begun:
                self._place_words()
                self._finish()
            if self._announced:
                self._reel.last = self._announced[-1][1]

    def _begin(self) -> bool:
        if self._begun:
            self._finish()
        _, number, text = self._announced[self._begun]
        held = self._reel.get(number)
        if self.stale or (held and held.whole and held.take == self._take):
            return False
        self._reel.begin(number, text)
        self._begun += 1
        return True

    def _finish(self) -> None:
        number = self._announced[self._begun - 1][1]
        self._reel.finish(number)
        self._whole(number)

    def _place_words(self) -> None:
        """Put words into the sentences in which they sound; their audio has come."""
        while self._words and self._words[0][0] < self._received:
            sample, word = self._words.pop(0)
            index = bisect_right(self._announced, sample, hi=self._begun, key=lambda each: each[0]) - 1
            if index >= 0:
                start, number, _ = self._announced[index]
                self._reel.word(number, sample - start, word)

"""A reel: the sentences of one text whose audio is there, and the assembly that puts each response's audio into it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from threading import RLock

import numpy as np

from shm.audio import SAMPLE_RATE, Pcm

KEPT_BEHIND = 600 * SAMPLE_RATE
"""Samples kept before the sentence that sounds, so that going back needs no request: ten minutes, 29 MB."""

NOTHING: Pcm = np.zeros(0, np.int16)


@dataclass(frozen=True, slots=True)
class ReelPlace:
    """A sample of a text's audio."""

    number: int
    """The sentence's number."""
    offset: int = 0
    """The sample within the sentence."""


@dataclass(slots=True)
class HeldSentence:
    """A sentence's audio, as far as it has come."""

    number: int
    text: str
    take: int
    """The reel's take in which the audio was made."""
    length: int = 0
    whole: bool = False
    words: list[tuple[int, str]] = field(default_factory=list)
    """Words with the offsets at which they begin to sound, in order."""
    _pieces: list[Pcm] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    def append(self, samples: Pcm) -> None:
        if len(samples):
            self._pieces.append(samples)
            self._starts.append(self.length)
            self.length += len(samples)

    def read(self, offset: int, most: int) -> Pcm:
        found: list[Pcm] = []
        at = max(bisect_right(self._starts, offset) - 1, 0)
        while most > 0 and offset < self.length:
            piece = self._pieces[at][offset - self._starts[at] :][:most]
            found.append(piece)
            offset, most, at = offset + len(piece), most - len(piece), at + 1
        return np.concatenate(found) if found else NOTHING


class Reel:
    """Sentences arrive by `begin`, `append` and `finish`, in any order of numbers, and leave by `read`, in order."""

    def __init__(self, first: int = 0) -> None:
        """`first`: number of the sentence at which reading begins."""
        self.place = ReelPlace(first)
        """The next sample to read."""
        self.last: int | None = None
        """Number of the text's last sentence, once it is known."""
        self.take = 0
        """Counts changes of speed or voice: sentences of an earlier take are made again."""
        self._held: dict[int, HeldSentence] = {}
        self._checked: int | None = None
        """Samples of a sentence that came again and equal those that are held; None if the sentence is new."""

    # -- arriving

    def begin(self, number: int, text: str) -> None:
        """Note that a sentence begins to arrive; after a cut request, perhaps again.

        A sentence that is being read when its request is cut is compared with its second arrival: equal samples are the
        same audio, and reading continues inside it; otherwise it is read again from its beginning.
        """
        held = self._held.get(number)
        if held and held.length and self.place.number == number:
            self._checked = 0
            return
        self._checked = None
        self._held[number] = HeldSentence(number, text, self.take)

    def append(self, number: int, samples: Pcm) -> None:
        """Take more samples of the sentence that began last (shape [n])."""
        held = self._held[number]
        if self._checked is not None:
            known = held.read(self._checked, len(samples))
            if np.array_equal(known, samples[: len(known)]):
                self._checked += len(known)
                samples = samples[len(known) :]
            else:
                again = HeldSentence(number, held.text, self.take)
                again.append(held.read(0, self._checked))
                self._held[number] = held = again
                self._checked = None
                self.place = ReelPlace(number) if self.place.number == number else self.place
        held.append(samples)

    def word(self, number: int, offset: int, word: str) -> None:
        held = self._held.get(number)
        if held and (not held.words or held.words[-1][0] < offset):
            held.words.append((offset, word))

    def finish(self, number: int) -> None:
        self._held[number].whole = True

    def retake(self) -> None:
        """Drop all sentences but the one that is being read: the others are to be made again."""
        self.take += 1
        self._held = {number: held for number, held in self._held.items() if number == self.place.number}

    # -- reading

    def read(self, most: int) -> list[tuple[ReelPlace, Pcm]]:
        """Up to `most` samples from the place on, by sentence, each with the place of its first sample."""
        found: list[tuple[ReelPlace, Pcm]] = []
        while most > 0 and (held := self._held.get(self.place.number)):
            samples = held.read(self.place.offset, most)
            if len(samples):
                found.append((self.place, samples))
                most -= len(samples)
                self.place = ReelPlace(held.number, self.place.offset + len(samples))
            if self.place.offset < held.length or not held.whole or not self.holds(held.number + 1):
                break
            self.place = ReelPlace(held.number + 1)
            self._forget_far_behind()
        return found

    @property
    def ahead(self) -> int:
        number, found = self.place.number, -self.place.offset
        while held := self._held.get(number):
            found += held.length
            number += 1
            if not held.whole:
                break
        return max(found, 0)

    @property
    def missing(self) -> int | None:
        """Number of the first sentence from the place on that isn't held whole; None if all are."""
        number = self.place.number
        while (held := self._held.get(number)) and held.whole:
            number += 1
        return None if self.last is not None and number > self.last else number

    @property
    def exhausted(self) -> bool:
        held = self._held.get(self.place.number)
        if self.last is None or self.place.number < self.last:
            return False
        return held is None or (held.whole and self.place.offset >= held.length)

    def holds(self, number: int) -> bool:
        """True if the sentence's first sample is there, in the present take."""
        held = self._held.get(number)
        return held is not None and held.take == self.take and (held.length > 0 or held.whole)

    def get(self, number: int) -> HeldSentence | None:
        return self._held.get(number)

    def _forget_far_behind(self) -> None:
        behind = 0
        for number in sorted((each for each in self._held if each < self.place.number), reverse=True):
            behind += self._held[number].length
            if behind > KEPT_BEHIND:
                del self._held[number]


class Assembly:
    """The sentences of one response, in order. Events precede the samples that they are about."""

    def __init__(
        self,
        reel: Reel,
        lock: RLock,
        whole: Callable[[int], None],
        arrived: Callable[[float | None], None],
        room: Callable[[], Awaitable[object]],
        before: int = 0,
        is_last: bool = True,
    ) -> None:
        """
        Args:
            before: sentences of the text before the part that the response speaks.
            is_last: True if the text ends with that part.
            lock: held while the reel changes.
            whole: called with the number of each sentence that is whole.
            arrived: to be called after audio has arrived, with the front's prediction of the real-time factor, if any.
            room: waits until more audio is wanted.
        """
        self.arrived = arrived
        self.room = room
        self.sentences = 0
        """Sentences that were announced."""
        self.ended = False
        """True once the response is complete."""
        self.before = before
        self.is_last = is_last
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

    @property
    def following(self) -> int | None:
        """Number of the sentence after those that were announced; None if none was."""
        return self._announced[-1][1] + 1 if self._announced else None

    def sentence(self, number: int, text: str, sample: int) -> None:
        """A sentence begins at that sample; or one that began before it was whole goes on, with more of its text."""
        if self._announced and self._announced[-1][1] == self.before + number:
            self._announced[-1] = (self._announced[-1][0], self.before + number, text)
            if held := self._reel.get(self.before + number):
                held.text = text
            return
        self._announced.append((sample, self.before + number, text))
        self.sentences += 1

    def word(self, word: str, seconds: float) -> None:
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
        """The response is complete, and so is the part of the text."""
        with self._lock:
            while self._begun < len(self._announced) and self._begin():
                pass
            if self._begun:
                self._place_words()
                self._finish()
            if self._announced and self.is_last:
                self._reel.last = self._announced[-1][1]
            self.ended = True

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

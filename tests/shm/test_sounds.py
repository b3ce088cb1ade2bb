"""Sounds that outlive a front: one that is killed at any store leaves each sound as before the step or after it."""

import mmap
import os
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from shm.audio import Pcm
from shm.memory import sparse
from shm.sounds import PAGE, Sound, Sounds, memory_bytes
from shm.timing import Mark
from tests import platforms
from tests.shm.test_records import left_by_kills

SAMPLES = PAGE // 2
"""Samples of a page."""
ROWS = 16
MARKS = ((0, 0), (3, 50))


class RecordedSounds(Sounds):
    """Sounds that note their stores before they make them."""

    def __init__(self, pages: int, public: int) -> None:
        self.stores: list[tuple[int, bytes]] = []
        self.memory = bytearray(memory_bytes(pages * PAGE, ROWS))
        super().__init__(self.memory, public * PAGE, ROWS)
        self.take_over()

    def _store(self, at: int, data: bytes | memoryview) -> None:
        self.stores.append((at, bytes(data)))
        super()._store(at, data)


def sounds(pages: int = 8, public: int = 8) -> Sounds:
    made = Sounds(bytearray(memory_bytes(pages * PAGE, ROWS)), public * PAGE, ROWS)
    made.take_over()
    return made


def successor(memory: bytearray | mmap.mmap, public: int = 8) -> Sounds:
    made = Sounds(memory, public * PAGE, ROWS)
    made.take_over()
    return made


def tone(samples: int, seed: int = 0) -> Pcm:
    return np.random.default_rng(seed).integers(-9000, 9000, samples).astype(np.int16)


Held = tuple[bytes, tuple[Mark, ...], bool] | None


def held(by: Sounds, key: bytes) -> Held:
    """Kept part of a sound. One of which nothing was kept yet is none."""
    found = by.get(key)
    if not found or not (len(found[0]) or found[1] or found[2].row.whole):
        return None
    return found[0].tobytes(), found[1], found[2].row.whole


def whole(by: Sounds, key: bytes, samples: int = SAMPLES, marks: tuple[Mark, ...] = ()) -> Sound:
    """Make a whole sound that anybody may have."""
    sound = by.begin(b"own " + key)
    assert sound
    by.append(sound, tone(samples, samples))
    if marks:
        by.mark(sound, marks)
    by.finish(sound, key)
    return sound


class Front:
    """Makes random steps, over few pages, so that sounds must make room for one another."""

    def __init__(self, of: Sounds, draw: random.Random) -> None:
        self.sounds, self.draw = of, draw
        self.open: dict[bytes, Sound] = {}
        self.stepped = b""

    def step(self) -> Callable[[], object]:
        draw = self.draw
        key = self.stepped = draw.choice(KEYS)
        sound = self.open.get(key)
        if sound is None or not sound.kept:
            return lambda: self._begin(key)
        samples = tone(draw.choice((1, 500, SAMPLES, 2 * SAMPLES)), draw.randrange(1 << 20))
        marks = tuple((place, place * draw.randrange(9)) for place in range(draw.randrange(1, 4)))
        return draw.choice(
            (
                lambda: self.sounds.append(sound, samples),
                lambda: self.sounds.append(sound, samples),
                lambda: self.sounds.mark(sound, marks),
                lambda: self._finish(key),
                lambda: self.sounds.drop(self.open.pop(key)),
            )
        )

    def _begin(self, key: bytes) -> None:
        if sound := self.sounds.begin(key):
            self.open[key] = sound

    def _finish(self, key: bytes) -> None:
        self.sounds.finish(self.open.pop(key), self.draw.choice((None, b"public " + key)))


KEYS = (b"a", b"b", b"c")
ALL = (*KEYS, *(b"public " + key for key in KEYS))


@pytest.mark.parametrize("seed", range(20))
def test_a_kill_at_any_store_leaves_each_sound_as_before_the_step_or_after_it_or_none(seed: int) -> None:
    draw = random.Random(seed)
    made = RecordedSounds(pages=9, public=5)
    front = Front(made, draw)
    for _ in range(25):
        memory = bytearray(made.memory)
        before = {key: held(made, key) for key in ALL}
        made.stores.clear()
        front.step()()
        after = {key: held(made, key) for key in ALL}
        for left in left_by_kills(memory, made.stores, draw):
            found = successor(left, 5)
            for key in ALL:
                assert held(found, key) in (before[key], after[key], None)
            stepped = {key for key in ALL if before[key] != after[key]} | {front.stepped, b"public " + front.stepped}
            for key in set(ALL) - stepped:
                assert held(found, key) == before[key], "a sound that the step doesn't concern"


def test_a_successor_finds_what_was_made_and_goes_on_with_it() -> None:
    made = RecordedSounds(8, 8)
    one, two = tone(700), tone(SAMPLES, 1)
    sound = made.begin(b"a")
    assert sound
    made.append(sound, one)
    made.mark(sound, MARKS)
    whole(made, b"b", marks=MARKS)
    after = successor(made.memory)
    assert held(after, b"b") == (tone(SAMPLES, SAMPLES).tobytes(), MARKS, True)
    found = after.get(b"a")
    assert found
    after.append(found[2], two)
    assert held(successor(made.memory), b"a") == (one.tobytes() + two.tobytes(), MARKS, False)


def test_a_front_that_another_one_has_followed_writes_nothing_and_hears_nothing_foreign() -> None:
    made = RecordedSounds(2, 2)
    whole(made, b"old")
    sound = made.begin(b"open")
    after = successor(made.memory, 2)
    bytes_before = bytes(made.memory)
    assert sound
    made.append(sound, tone(10))
    assert made.begin(b"late") is None
    assert bytes(made.memory) == bytes_before
    assert held(made, b"old") is not None
    for key in (b"x", b"y"):
        whole(after, key, SAMPLES - 1)
    assert held(made, b"old") is None, "its page is another sound's"


def test_the_least_recently_used_goes_first() -> None:
    made = sounds(8, 3)
    for key in (b"a", b"b", b"c"):
        whole(made, key)
    assert made.get(b"a")
    whole(made, b"d")
    assert [bool(made.get(key)) for key in (b"a", b"b", b"c", b"d")] == [True, False, True, True]


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_holds_whatever_comes(seed: int) -> None:
    draw = random.Random(seed)
    made = sounds(12, bound := draw.randrange(9))
    for _ in range(40):
        key = bytes([draw.randrange(6)])
        sound = whole(made, key, draw.randrange(3 * SAMPLES))
        if sound.row.own:
            made.drop(sound)
        assert made.bytes <= bound * PAGE
    held_now = [found[2] for key in range(6) if (found := made.get(bytes([key])))]
    assert made.bytes == sum(sound.bytes for sound in held_now)
    assert len(made) == len(held_now)


def test_a_sound_without_room_is_dropped_and_others_stay() -> None:
    made = sounds(4, 4)
    whole(made, b"a")
    sound = made.begin(b"b")
    assert sound
    made.append(sound, tone(5 * SAMPLES))
    assert (sound.kept, held(made, b"b")) == (False, None)
    made.append(sound, tone(5))
    made.finish(sound, b"c")
    assert held(made, b"c") is None


def test_what_no_text_takes_is_known() -> None:
    made = RecordedSounds(8, 8)
    for key in (b"a", b"b"):
        sound = made.begin(key)
        assert sound
        made.append(sound, tone(5))
    after = successor(made.memory)
    assert after.get(b"a")
    assert after.strangers == (b"b",)
    after.drop_key(b"b")
    assert held(successor(made.memory), b"b") is None


@pytest.fixture
def memory() -> Iterator[int]:
    fd = sparse("test")
    yield fd
    os.close(fd)


@platforms.linux_only("the memory that fronts share is memfd_create's")
def test_a_memory_grows_and_takes_only_what_was_written(memory: int) -> None:
    for bound in (4 * PAGE, 1 << 28):
        made = Sounds.of(memory, bound, 4 * PAGE)
        made.take_over()
    whole(made, b"a", 100)
    assert os.fstat(memory).st_blocks * 512 <= 64 << 10

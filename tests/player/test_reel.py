"""Reels: each sample once, in order, whatever arrives when."""

import numpy as np

from player.reel import Reel, ReelPlace
from tests.player.fakes import SENTENCE, voice_of


def full(reel: Reel, *numbers: int) -> Reel:
    for number in numbers:
        reel.begin(number, f"s{number}")
        reel.append(number, voice_of("x", number))
        reel.finish(number)
    return reel


def read(reel: Reel, count: int) -> list[int]:
    return [int(value) for _, samples in reel.read(count) for value in samples]


def test_samples_leave_in_order_across_sentences() -> None:
    reel = full(Reel(), 0, 1)
    got = read(reel, SENTENCE - 10) + read(reel, 100)
    wanted = [*voice_of("x", 0), *voice_of("x", 1)]
    assert got == wanted[: len(got)] and len(got) == SENTENCE + 90
    assert reel.place == ReelPlace(1, 90)


def test_reading_waits_inside_a_sentence_that_is_not_whole() -> None:
    reel = Reel()
    reel.begin(0, "x")
    reel.append(0, voice_of("x", 0)[:100])
    assert len(read(reel, 500)) == 100 and reel.missing == 0 and not reel.exhausted
    reel.append(0, voice_of("x", 0)[100:])
    assert len(read(reel, 500)) == 500


def test_a_sentence_that_comes_again_continues_where_it_was_cut() -> None:
    reel, audio = Reel(), voice_of("x", 0)
    reel.begin(0, "x")
    reel.append(0, audio[:1000])
    got = read(reel, 600)
    reel.begin(0, "x")
    reel.append(0, audio[:700])
    reel.append(0, audio[700:])
    reel.finish(0)
    got += read(reel, SENTENCE)
    assert got == audio.tolist()


def test_a_sentence_that_comes_again_otherwise_is_read_from_its_beginning() -> None:
    reel, audio, other = Reel(), voice_of("x", 0), voice_of("x", 1)
    reel.begin(0, "x")
    reel.append(0, audio[:1000])
    read(reel, 600)
    reel.begin(0, "x")
    reel.append(0, other)
    reel.finish(0)
    assert read(reel, SENTENCE) == other.tolist()


def test_the_end_is_known_and_reached() -> None:
    reel = full(Reel(1), 1, 2)
    assert reel.missing == 3
    reel.last = 2
    assert reel.missing is None and not reel.exhausted
    read(reel, 2 * SENTENCE)
    assert reel.exhausted and reel.ahead == 0


def test_a_text_without_sentences_is_exhausted() -> None:
    reel = Reel()
    reel.last = -1
    assert reel.exhausted and reel.missing is None


def test_another_take_keeps_only_the_sentence_that_sounds() -> None:
    reel = full(Reel(), 0, 1, 2)
    read(reel, SENTENCE + 10)
    reel.retake()
    assert reel.missing == 2 and not reel.holds(0) and not reel.holds(2)
    assert len(read(reel, 2 * SENTENCE)) == SENTENCE - 10, "the sentence goes on to its end"


def test_words_are_kept_once_and_in_order() -> None:
    reel = full(Reel(), 0)
    for at, word in ((0, "a"), (50, "b"), (50, "b"), (20, "late")):
        reel.word(0, at, word)
    held = reel.get(0)
    assert held and held.words == [(0, "a"), (50, "b")]


def test_what_was_heard_long_ago_is_forgotten(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr("player.reel.KEPT_BEHIND", 2 * SENTENCE)
    reel = full(Reel(), *range(6))
    read(reel, 5 * SENTENCE)
    assert [number for number in range(6) if reel.holds(number)] == [3, 4, 5]
    assert np.array_equal(reel.read(10)[0][1], voice_of("x", 5)[:10])

"""Marks of scripts become times of words, whatever an engine marks and whatever joins do to the samples."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.timestamps import VISEMES, align, visemes_of, without_overlaps
from shm.timing import Mark, VisemeTiming, WordTiming
from text.espeak.ipa import ALPHABET
from text.words.segment import SpokenWord

SECOND = 24_000


def words_of(script: str) -> list[SpokenWord]:
    """One for each token between spaces."""
    words, place = [], 0
    for token in script.split(" "):
        words.append(SpokenWord(token, token.lower(), place, place + len(token)))
        place += len(token) + 1
    return words


def times(script: str | list[SpokenWord], marks: list[Mark], shift: float = 0.0) -> list[tuple[str, float, float]]:
    words = words_of(script) if isinstance(script, str) else script
    in_samples = [(place, round(seconds * SECOND)) for place, seconds in marks]
    found = align(words, in_samples, lambda sample: sample / SECOND + shift)
    return [(timing.word, timing.start, timing.end) for timing in found]


@pytest.mark.parametrize(
    ("script", "marks", "expected"),
    [
        # an engine that knows how long each phoneme is
        ("ab cd", [(0, 0.1), (1, 0.3), (2, 0.5), (3, 1.0), (4, 1.1), (5, 2.0)], [(0.1, 0.5), (1.0, 2.0)]),
        # espeak-ng marks beginnings: a word ends where the next one begins
        ("ab cd ef", [(0, 0.0), (3, 1.0), (6, 3.0), (8, 4.0)], [(0.0, 1.0), (1.0, 3.0), (3.0, 4.0)]),
        # a word is marked behind its quotation mark
        ('"ab" "cd"', [(1, 0.25), (6, 1.0), (9, 2.0)], [(0.25, 1.0), (1.0, 2.0)]),
        # a pause after a word belongs to nobody
        ("ab, cd", [(0, 0.0), (3, 1.0), (4, 2.0), (6, 3.0)], [(0.0, 1.0), (2.0, 3.0)]),
        # what is said as several words is one: "$5" has a mark for each of its characters
        ("a $5 b", [(0, 0.0), (2, 1.0), (3, 2.0), (5, 3.0), (6, 4.0)], [(0.0, 1.0), (1.0, 3.0), (3.0, 4.0)]),
        # words that were run together share their time, the second of them up to where the next word is marked
        ("of the dog", [(0, 0.0), (7, 7.0), (10, 10.0)], [(0.0, 2.0), (3.0, 7.0), (7.0, 10.0)]),
        # the last words and the first may lack a mark
        ("ab cd", [(0, 0.0), (5, 5.0)], [(0.0, 2.0), (3.0, 5.0)]),
        ("ab cd", [(3, 3.0), (5, 5.0)], [(0.0, 3.0), (3.0, 5.0)]),
    ],
)
def test_a_word_has_the_time_of_its_marks(script: str, marks: list[Mark], expected: list[tuple[float, float]]) -> None:
    assert times(script, marks) == [(word, *time) for word, time in zip(script.split(), expected, strict=True)]


def test_a_silent_word_stands_at_the_end_of_the_one_before() -> None:
    words = [
        SpokenWord("*", "*", 0, 0),
        SpokenWord("ab", "ab", 0, 2),
        SpokenWord("~", "~", 2, 2),
        SpokenWord("cd", "cd", 3, 5),
        SpokenWord("~", "~", 5, 5),
    ]
    assert times(words, [(0, 0.5), (3, 1.0), (5, 2.0)]) == [
        ("*", 0.5, 0.5),
        ("ab", 0.5, 1.0),
        ("~", 1.0, 1.0),
        ("cd", 1.0, 2.0),
        ("~", 2.0, 2.0),
    ]


def test_nothing_but_silence() -> None:
    assert times([SpokenWord("*", "*", 0, 0)], [(3, 0.5)]) == [("*", 0.5, 0.5)]
    assert times([], [(0, 0.5)]) == []


def test_the_rest_of_a_word_that_began_in_another_segment_is_not_told_again() -> None:
    words = [SpokenWord("", "", 0, 4), SpokenWord("ab", "ab", 5, 7)]
    assert times(words, [(0, 0.0), (5, 1.0), (7, 2.0)]) == [("ab", 1.0, 2.0)]


def test_what_was_written_and_what_was_said() -> None:
    word = SpokenWord("2026", "twenty twenty-six", 0, 9)
    [timing] = align([word], [(0, 0), (9, SECOND)], lambda sample: sample / SECOND)
    assert timing == WordTiming("2026", "twenty twenty-six", 0.0, 1.0)


def test_times_are_of_what_is_heard() -> None:
    """The segment lies later in the stream, and of its leading silence half a second was cut away."""
    marks = [(0, 12_000), (3, 36_000), (5, 48_000)]
    found = align(words_of("ab cd"), marks, lambda sample: 10 + max(sample - 12_000, 0) / SECOND)
    assert [(timing.start, timing.end) for timing in found] == [(10.0, 11.0), (11.0, 11.5)]


def test_a_segment_without_marks() -> None:
    with pytest.raises(ValueError, match="without marks"):
        align(words_of("ab"), [], lambda sample: sample)


@st.composite
def segments(draw: st.DrawFn) -> tuple[list[SpokenWord], list[Mark], tuple[int, int, int]]:
    words, place = [], draw(st.integers(0, 3))
    for number in range(draw(st.integers(0, 12))):
        length = draw(st.integers(0, 8))
        words.append(SpokenWord(f"w{number}", "said", place, place + length))
        place += length + draw(st.integers(0, 2))
    places = sorted(draw(st.sets(st.integers(0, place), max_size=20)) | {place})
    samples = sorted(draw(st.lists(st.integers(0, 500_000), min_size=len(places), max_size=len(places))))
    trimmed, length, before = (draw(st.integers(0, 500_000)) for _ in range(3))
    return words, list(zip(places, samples, strict=True)), (trimmed, length, before)


@given(segments())
def test_starts_rise_and_no_word_reaches_into_the_next(segment: tuple) -> None:
    words, marks, (trimmed, length, before) = segment

    def to_stream(sample: int) -> float:
        return (before + min(max(sample - trimmed, 0), length)) / SECOND

    found = align(words, marks, to_stream)
    assert [timing.word for timing in found] == [word.written for word in words]
    assert all(timing.start <= timing.end for timing in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(before / SECOND - 0.001 <= t.start and t.end <= (before + length) / SECOND + 0.001 for t in found)


@given(segments())
def test_a_word_with_a_mark_at_its_start_begins_there(segment: tuple) -> None:
    words, marks, _ = segment
    where = dict(marks)
    for word, timing in zip(words, align(words, marks, lambda sample: sample / SECOND), strict=True):
        if word.start in where and word.end > word.start:
            assert timing.start == round(where[word.start] / SECOND, 4)


def test_a_text_s_words_are_parted_where_silence_between_segments_was_taken_away() -> None:
    words = [WordTiming("a.", "a.", 0.0, 0.9), WordTiming("b", "b", 0.7, 1.0), WordTiming("c", "c", 1.0, 1.5)]
    assert [(word.start, word.end) for word in without_overlaps(words)] == [(0.0, 0.7), (0.7, 1.0), (1.0, 1.5)]
    assert without_overlaps([]) == []


OCULUS = {"sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou"}


def visemes(script: str, start: int, end: int) -> tuple[VisemeTiming, ...]:
    marks = [(place, 2400 * place) for place in range(len(script) + 1)]
    return visemes_of(SpokenWord("w", "w", start, end), script, marks, lambda sample: sample / 24_000)


def test_a_words_visemes_are_at_its_phonemes_times() -> None:
    assert visemes("ə bˈit", 2, 6) == (
        VisemeTiming("PP", 21, 0.2, 0.3),
        VisemeTiming("ih", 6, 0.3, 0.5),
        VisemeTiming("DD", 19, 0.5, 0.6),
    )
    assert visemes("mˈu:mbɔː", 0, 3) == (VisemeTiming("PP", 21, 0.0, 0.1), VisemeTiming("ou", 7, 0.1, 0.3))
    assert visemes("pbmɔː", 0, 5) == (VisemeTiming("PP", 21, 0.0, 0.3), VisemeTiming("oh", 3, 0.3, 0.5))
    assert visemes("ˈ", 0, 1) == visemes("a", 0, 0) == ()


def test_every_sound_of_english_has_one_of_both_tables() -> None:
    assert {name for name, _ in VISEMES.values()} == OCULUS
    assert {number for _, number in VISEMES.values()} == set(range(22))
    sounds = {each for each in ALPHABET if each.isalpha()}
    assert set("AIOQWYaɑæʌəɚɛɜɪiɔʊuɒᵊᵻbdðfɡhjklmnŋpɹsʃtTθvwzʒʤʧɾɐ") <= VISEMES.keys() & (sounds | set("QTᵊ"))


@given(st.text(st.sampled_from("bˈˌaː, tə"), min_size=1, max_size=12), st.data())
def test_visemes_of_any_word_have_no_gaps_and_lie_within_it(script: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(script)))
    end = data.draw(st.integers(start, len(script)))
    found = visemes(script, start, end)
    assert all(one.end == other.start for one, other in pairwise(found))
    assert all(one.start < one.end for one in found)
    if found:
        assert start / 10 <= found[0].start + 1e-9 and found[-1].end == round(end / 10, 4)


def test_a_later_word_has_later_visemes() -> None:
    word = WordTiming("a", "a", 1.0, 2.0, visemes=(VisemeTiming("aa", 1, 1.0, 2.0),))
    assert word.later(2.0).visemes == (VisemeTiming("aa", 1, 3.0, 4.0),)

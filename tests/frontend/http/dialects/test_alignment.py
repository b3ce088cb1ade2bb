"""Alignments: each covers exactly the audio since the last one, so that their sums are the words' times."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.dialects.elevenlabs import TimedLines
from frontend.dialects.elevenlabs_times import Alignments
from shm.timing import WordTiming


def word(text: str, start: float, end: float) -> WordTiming:
    return WordTiming(text, text.upper(), start, end)


def check(alignment: dict[str, Any], milliseconds: int) -> None:
    starts, durations = alignment["charStartTimesMs"], alignment["charDurationsMs"]
    assert len(alignment["chars"]) == len(starts) == len(durations)
    assert all(earlier <= later for earlier, later in pairwise(starts))
    assert all(duration >= 0 for duration in durations)
    assert starts[-1] + durations[-1] == milliseconds
    assert alignment["chars"][-1] == " ", "a word is complete at its space"


def test_words_are_in_the_message_in_which_they_begin() -> None:
    alignments = Alignments()
    alignments.add([word("Hello", 0.05, 0.4), word("you", 0.45, 0.9)])
    first = alignments.cover(0.1)
    assert first is not None
    check(first[0], 100)
    assert "".join(first[0]["chars"]) == "Hello " and first[0]["charStartTimesMs"][0] == 50
    assert "".join(first[1]["chars"]) == "HELLO "
    assert alignments.cover(0.2) is None and alignments.cover(0.4) is None
    second = alignments.cover(0.5)
    assert second is not None
    check(second[0], 400)
    assert second[0]["charStartTimesMs"][0] == 350, "relative to the last alignment's end, at 0.1 s"


def test_absolute_times_need_no_clock_of_the_client() -> None:
    alignments = Alignments(absolute=True)
    alignments.add([word("Hello", 0.05, 0.4), word("you", 0.45, 0.9)])
    first, second = alignments.cover(0.42), alignments.cover(1.0)
    assert first and second
    assert (first[0]["charStartTimesMs"][0], second[0]["charStartTimesMs"][0]) == (50, 450)
    assert second[0]["charStartTimesMs"][-1] + second[0]["charDurationsMs"][-1] == 1000


@given(st.lists(st.tuples(st.floats(0, 0.5), st.floats(0.02, 0.6)), min_size=1, max_size=20), st.floats(0.02, 0.7))
def test_a_clients_running_clock_finds_every_word(gaps: list[tuple[float, float]], step: float) -> None:
    words, now = [], 0.0
    for number, (gap, length) in enumerate(gaps):
        words.append(word(f"w{number}", now + gap, now + gap + length))
        now += gap + length
    alignments = Alignments()
    alignments.add(words)
    clock, found, sent = 0, [], 0.0
    while sent <= now:
        sent += step
        if each := alignments.cover(sent):
            written = each[0]
            text = "".join(written["chars"])
            place = 0
            for part in text.split():
                found.append((part, clock + written["charStartTimesMs"][text.index(part, place)]))
                place = text.index(part, place) + len(part)
            clock += written["charStartTimesMs"][-1] + written["charDurationsMs"][-1]
            assert clock == round(sent * 1000)
    assert [text for text, _ in found] == [each.word for each in words]
    for (_, at), each in zip(found, words, strict=True):
        assert at == pytest.approx(each.start * 1000, abs=1)


def test_the_one_shot_form_is_in_seconds() -> None:
    found = msgspec.json.decode(TimedLines().whole(b"", [word("Hi", 0.1, 0.5)], 0.75))
    written, said = found["alignment"], found["normalized_alignment"]
    assert written["characters"] == ["H", "i", " "] and said["characters"] == ["H", "I", " "]
    assert written["character_start_times_seconds"] == [0.1, 0.3, 0.5]
    assert written["character_end_times_seconds"] == [0.3, 0.5, 0.75]
    assert msgspec.json.decode(TimedLines().whole(b"", [], 1.0))["alignment"]["characters"] == []

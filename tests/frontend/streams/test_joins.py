"""Joins: silence at ends goes, pauses come, no step, no drift, and pieces don't matter."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.streams import joins
from frontend.streams.joins import PAUSES, Joiner, pause_after
from frontend.streams.segments import StreamSegment
from frontend.streams.stream import word_timings
from shm.audio import AUDIBLE, SAMPLE_RATE, Pcm
from text.words.performer import Performer
from text.words.segment import Cut, Segment, SpokenWord

SECOND = SAMPLE_RATE
FADE, LEAD, LONGEST_LEAD, TRAIL = (
    round(each * SECOND) for each in (joins.FADE, joins.LEAD, joins.LONGEST_LEAD, joins.TRAIL)
)


def tone(samples: int, level: int = 8000) -> Pcm:
    """Speech for these tests: every sample audible, its steps small."""
    wave = np.sin(np.arange(samples) * 0.05) * (level / 4) + level
    return wave.astype(np.int16)


def noise(samples: int) -> Pcm:
    """An engine's silence: not zero, not audible."""
    return np.random.default_rng(samples).integers(-AUDIBLE, AUDIBLE + 1, samples).astype(np.int16)


def segment(lead: int, speech: int, trail: int) -> Pcm:
    return np.concatenate((noise(lead), tone(speech), noise(trail)))


def joined(segments: Sequence[tuple[Pcm, Cut]], pieces: int = 1 << 30, speed: float = 1.0, told: bool = False) -> Pcm:
    """`told`: with each piece, the pause after its segment."""
    joiner = Joiner()
    out: list[Pcm] = []
    for samples, cut in segments:
        for start in range(0, len(samples), pieces):
            out += joiner.push(samples[start : start + pieces], pause_after(cut, speed) if told else 0.0)
        joiner.end(cut, speed)
    out += joiner.finish()
    assert joiner.position == sum(map(len, out))
    return np.concatenate(out) if out else np.zeros(0, np.int16)


def gaps(samples: Pcm) -> list[int]:
    """Lengths of the silences between speech and speech."""
    audible = np.flatnonzero(np.abs(samples.astype(np.int32)) > AUDIBLE)
    steps = np.diff(audible) - 1
    return [int(step) for step in steps if step > 0]


@pytest.mark.parametrize("cut", [Cut.PARAGRAPH, Cut.SENTENCE, Cut.CLAUSE, Cut.PHRASE, Cut.WORD])
@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_the_pause_is_the_punctuation_s_whatever_silence_the_engine_made(cut: Cut, speed: float) -> None:
    wanted = PAUSES[cut] / speed * SECOND
    for trail, lead in ((0, 0), (SECOND // 2, SECOND // 3), (SECOND, 0), (0, SECOND)):
        parts = [(segment(100, SECOND, trail), cut), (segment(lead, SECOND, 0), Cut.SENTENCE)]
        (gap,) = gaps(joined(parts, speed=speed)) or (0,)
        margins = min(trail, TRAIL) + min(lead, LEAD)
        # Faded speech at the very edges falls below the level for a few samples.
        assert abs(gap - max(wanted, margins)) <= 2 * FADE, (trail, lead)


def test_leading_silence_goes_and_its_margin_stays() -> None:
    whole = joined([(segment(SECOND, SECOND, 0), Cut.SENTENCE)])
    assert int(np.flatnonzero(np.abs(whole.astype(np.int32)) > AUDIBLE)[0]) == LEAD
    assert np.array_equal(whole[LEAD:-FADE], tone(SECOND)[:-FADE])


def test_silence_inside_a_segment_stays_as_it_is() -> None:
    inside = np.concatenate((tone(SECOND), noise(2 * SECOND), tone(SECOND)))
    assert np.array_equal(joined([(inside, Cut.SENTENCE)], pieces=1000)[FADE:-FADE], inside[FADE:-FADE])


def test_speech_is_never_trimmed_even_where_it_runs_to_the_edge() -> None:
    first, second = tone(SECOND), tone(SECOND, 4000)
    whole = joined([(first, Cut.WORD), (second, Cut.SENTENCE)])
    gap = round(PAUSES[Cut.WORD] * SECOND)
    assert len(whole) == 2 * SECOND + gap
    assert np.array_equal(whole[FADE : SECOND - FADE], first[FADE : SECOND - FADE])
    assert np.array_equal(whole[SECOND + gap + FADE : -FADE], second[FADE:-FADE])


def test_a_stream_that_begins_and_ends_in_the_middle_of_sound_does_not_click() -> None:
    whole = joined([(tone(SECOND), Cut.SENTENCE)])
    assert whole[0] == whole[-1] == 0
    assert np.abs(np.diff(whole.astype(np.int32))).max() <= 9000 // FADE + 100


def test_no_sample_of_speech_is_faded_where_silence_surrounds_it() -> None:
    speech = tone(SECOND)
    whole = joined([(segment(5000, SECOND, 5000), cut) for cut in (Cut.CLAUSE, Cut.SENTENCE)])
    audible = np.flatnonzero(np.abs(whole.astype(np.int32)) > AUDIBLE)
    assert len(audible) == 2 * SECOND
    assert np.array_equal(whole[audible], np.concatenate((speech, speech)))


def test_a_pause_is_the_engine_s_own_silence_as_far_as_there_is_any() -> None:
    """Digital silence in the middle of a voice's faint noise would be heard as a hole."""
    pause = round(PAUSES[Cut.SENTENCE] * SECOND)
    parts = [(segment(0, SECOND, SECOND), Cut.SENTENCE), (segment(SECOND, SECOND, 0), Cut.SENTENCE)]
    between = joined(parts)[SECOND : SECOND + pause]
    assert np.count_nonzero(between == 0) < 3 * FADE
    own = segment(0, SECOND, SECOND)[SECOND:]
    kept = pause - LONGEST_LEAD - FADE
    assert np.array_equal(between[:kept], own[:kept])


def test_a_soft_beginning_stays_where_the_pause_has_room() -> None:
    def lead_after(cut: Cut) -> int:
        first, second = segment(0, SECOND, 0), segment(SECOND, SECOND, 0)
        between = joined([(first, cut), (second, Cut.SENTENCE)])[SECOND:]
        silent = np.flatnonzero(between)
        audible = int(np.flatnonzero(np.abs(between.astype(np.int32)) > AUDIBLE)[0])
        return audible - int(silent[0])

    assert LONGEST_LEAD - FADE < lead_after(Cut.CLAUSE) <= LONGEST_LEAD
    assert LEAD - FADE < lead_after(Cut.WORD) <= LEAD


@pytest.mark.parametrize("cut", list(Cut))
def test_no_join_steps_further_than_the_speech_itself(cut: Cut) -> None:
    for lead, trail in ((0, 0), (0, 50), (50, 0), (50, 5000), (5000, 50)):
        part = segment(lead, SECOND, trail)
        own = np.abs(np.diff(part.astype(np.int32))).max()
        fade = np.abs(part.astype(np.int32)).max() // FADE + 1
        whole = joined([(part, cut), (part, cut), (part, cut)])
        assert np.abs(np.diff(whole.astype(np.int32))).max() <= own + fade, (lead, trail)


def test_an_end_s_own_silence_is_bounded_by_its_pause() -> None:
    short, long = (joined([(segment(0, SECOND, trail), Cut.SENTENCE)]) for trail in (100, 10 * SECOND))
    assert len(short) == SECOND + 100
    assert len(long) == SECOND + round(PAUSES[Cut.SENTENCE] * SECOND)


def test_a_silent_segment_is_its_pause() -> None:
    joiner = Joiner()
    out = joiner.push(tone(SECOND))
    joiner.end(Cut.CLAUSE, 1.0)
    out += joiner.push(noise(SECOND))
    joiner.end(Cut.SENTENCE, 1.0)
    out += joiner.push(tone(SECOND))
    joiner.end(Cut.SENTENCE, 1.0)
    out += joiner.finish()
    (gap,) = gaps(np.concatenate(out))
    assert abs(gap - PAUSES[Cut.SENTENCE] * SECOND) <= 2 * FADE
    assert len(joined([(noise(SECOND), Cut.SENTENCE)])) == round(PAUSES[Cut.SENTENCE] * SECOND)


def test_a_pause_that_the_text_asks_for_wins() -> None:
    joiner = Joiner()
    out = joiner.push(tone(SECOND))
    joiner.end(Cut.WORD, 2.0, pause=1.5)
    out += joiner.push(tone(SECOND))
    joiner.end(Cut.SENTENCE, 2.0)
    (gap,) = gaps(np.concatenate([*out, *joiner.finish()]))
    assert abs(gap - 1.5 * SECOND) <= 2 * FADE


parts = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(1, 3000), st.integers(0, 20_000), st.sampled_from(Cut)),
    min_size=1,
    max_size=5,
)


@given(parts, st.integers(1, 2000), st.booleans())
def test_pieces_do_not_matter_and_places_are_true(
    shapes: list[tuple[int, int, int, Cut]], pieces: int, told: bool
) -> None:
    """Each sample of a segment lies where `placed` says: what marks become timestamps by."""
    segments = [(segment(lead, speech, trail), cut) for lead, speech, trail, cut in shapes]
    whole = joined(segments)
    assert np.array_equal(joined(segments, pieces, told=told), whole)
    joiner = Joiner()
    for samples, cut in segments:
        joiner.push(samples)
        assert joiner.placed is not None
        own, stream = joiner.placed
        joiner.end(cut, 1.0)
        speech = np.flatnonzero(np.abs(samples.astype(np.int32)) > AUDIBLE)
        first, last = int(speech[0]) + FADE, int(speech[-1]) + 1 - FADE
        if last > first:
            assert np.array_equal(whole[stream + first - own : stream + last - own], samples[first:last])


@pytest.mark.parametrize("cut", list(Cut))
def test_silence_is_heard_at_once_as_far_as_the_pause_has_room_whatever_follows(cut: Cut) -> None:
    """The published model pauses for half a second at a comma: a listener who has less to hear would hear a gap."""
    joiner, room = Joiner(), max(TRAIL, round(PAUSES[cut] * SECOND) - LONGEST_LEAD)
    given = sum(map(len, joiner.push(segment(0, SECOND, SECOND), pause_after(cut, 1.0))))
    assert given == SECOND + room - FADE
    assert not joiner.push(noise(SECOND), pause_after(cut, 1.0)), "more might be cut off at the segment's end"
    rest = sum(map(len, joiner.push(tone(SECOND), pause_after(cut, 1.0))))
    assert given + rest == 4 * SECOND - FADE


@pytest.mark.parametrize("trailing", [0, 500, 3000, 30_000])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("pause", [None, 0.0, 0.9])
def test_a_drained_stream_has_the_same_speech_at_the_same_places(
    trailing: int, pause: float | None, told: bool
) -> None:
    """Only silence differs: that of the engine is given earlier, and faded elsewhere."""
    segment = np.concatenate([np.full(2000, 9000), np.full(trailing, 7), np.zeros(0)]).astype(np.int16)
    results = []
    for drains in (0, 1, 2):
        joiner = Joiner()
        pieces = []
        for _ in range(3):
            pieces += joiner.push(segment, pause_after(Cut.SENTENCE, 1.0, pause) if told else 0.0)
            joiner.end(Cut.SENTENCE, 1.0, pause)
            for _ in range(drains):
                pieces += joiner.drain()
            assert not drains or sum(map(len, pieces)) >= 2000
        pieces += joiner.finish()
        results.append(np.concatenate(pieces))
    plain, *drained = results
    for other in drained:
        places = [np.flatnonzero(np.abs(each) > 4000) for each in (plain, other)]
        assert np.array_equal(*places)
        assert abs(len(plain) - len(other)) <= LONGEST_LEAD


def sound(silence: int, length: int = 4800) -> Pcm:
    return np.concatenate([np.zeros(silence), np.full(length, 9000)]).astype(np.int16)


@pytest.mark.parametrize("pieces", [1, 7])
def test_a_word_begins_where_it_is_heard(pieces: int) -> None:
    """Two segments, each of one word after a second of silence; the times are those of the sound in what was given."""
    joiner = Joiner()
    given: list[Pcm] = []
    told: list[float] = []
    for index in range(2):
        word = SpokenWord("word", "word", 0, 4)
        spoken = Segment("word", "word", 4, Cut.SENTENCE, (word,))
        segment = StreamSegment(spoken, Performer((), "en-us"), 1.0, 0, index=index)
        segment.marks = [(0, SAMPLE_RATE), (4, SAMPLE_RATE + 4800)]
        for piece in np.array_split(sound(SAMPLE_RATE), pieces):
            given += [part.copy() for part in joiner.push(piece)]
        assert joiner.placed is not None
        told += [word.start * SAMPLE_RATE for word in word_timings(segment, *joiner.placed, SAMPLE_RATE)]
        joiner.end(Cut.SENTENCE, 1.0)
    given += joiner.finish()
    loud = np.flatnonzero(np.concatenate(given) > 8000)
    begins = [loud[0], loud[np.flatnonzero(np.diff(loud) > 1)[0] + 1]]
    assert told == pytest.approx(begins, abs=SAMPLE_RATE * 0.006)
    assert told[0] <= LONGEST_LEAD, "a second of silence was taken away"


@pytest.mark.parametrize("pieces", [1 << 30, 997, 64])
def test_parts_of_one_run_are_joined_without_losing_or_adding_a_sample(pieces: int) -> None:
    first, second = segment(600, 9000, 700), segment(2400, 8000, 3000)
    whole = joined([(np.concatenate((first, second)), Cut.SENTENCE)])
    parts = joined([(first, Cut.SEAM), (second, Cut.SENTENCE)], pieces)
    assert len(parts) == len(whole), "the silence around the seam is the run's own"
    differ = np.flatnonzero(parts != whole)
    assert len(differ) <= 2 * FADE and np.ptp(differ) < 2 * FADE


def test_what_a_part_ends_with_is_given_before_the_next_one_is_there_and_ends_in_silence() -> None:
    joiner = Joiner()
    given = joiner.push(tone(9000))
    joiner.end(Cut.SEAM, 1.0)
    given += joiner.drain()
    heard = np.concatenate(given)
    assert len(heard) == 9000 and abs(int(heard[-1])) < 100
    after = np.concatenate(joiner.push(tone(9000)))
    assert abs(int(after[0])) < 100 and joiner.placed == (0, 9000)

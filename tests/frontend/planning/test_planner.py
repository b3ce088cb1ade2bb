"""Where texts are cut: soon for the first sound, at good places, ahead of playback, and nothing lost in it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, combinations, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.planning.cuts import CUT_PRICES, Row, best_cuts, parts
from frontend.planning.planner import BEGUN, MIN_FIRST_TOKENS, Limits, plan, replan
from frontend.planning.profile import GUESS, WINDOWED_GUESS, CostProfile
from tests.frontend.plans import (
    FAST,
    FP32,
    KOKORO,
    LIMIT_CHOICES,
    LIMITS,
    PROFILES,
    SENTENCES,
    TEXTS,
    WINDOWED,
    sentence,
    token_limit,
    words_of,
)
from tests.growth import grows_with_the_length
from text.units.segmentation import phoneme_sentences, units_of
from text.words.segment import Cut, Notation, PhonemeSource, Segment, Sentence, SpokenWord, Unit, Word

ESPEAK = Notation("text", frozenset(), 1000)


def planned(*texts: str, profile: CostProfile = FP32, speed: float = 1.0, limits: Limits = LIMITS) -> list[Segment]:
    return list(plan([sentence(text) for text in texts], profile, speed, KOKORO, limits))


def shape(segments: Sequence[Segment]) -> list[tuple[int, str]]:
    return [(segment.tokens, segment.cut.value) for segment in segments]


def test_a_long_sentence_without_a_comma_is_cut_between_words_only_as_often_as_its_limit_asks() -> None:
    text = words_of(160)
    first, *rest = planned(text)
    assert len(rest) == 1 and first.cut is Cut.WORD, "an engine that makes segments whole takes 100 tokens at most"
    assert f"{first.text} {rest[0].text}" == text
    assert shape(planned(text, profile=WINDOWED)) == [(160, "sentence")]


@pytest.mark.parametrize("limits", [LIMITS, replace(LIMITS, opens_from=80)])
@given(counts=st.lists(st.integers(1, 40), min_size=1, max_size=4))
def test_a_long_first_segment_is_begun_and_each_word_is_spoken_once(limits: Limits, counts: list[int]) -> None:
    texts = [" ".join(f"w{number}{'abcde'[: number % 5]}" for number in range(count)) + "." for count in counts]
    wholes = planned(*texts, profile=WINDOWED)
    segments = planned(*texts, profile=WINDOWED, limits=limits)
    assert [word.written for each in segments for word in each.words] == " ".join(texts).split()
    if limits.opens_from == 0 or wholes[0].tokens < 80:
        assert segments == wholes
        return
    slow = replace(WINDOWED, per_audio=0.9, per_token=0.006)
    assert not any(each.part for each in planned(*texts, profile=slow, limits=limits)), "the rest would come late"
    begun, rest, *later = segments
    assert begun.part and rest.part and (begun.cut, begun.styled) == (Cut.SEAM, wholes[0].tokens)
    assert rest.script.startswith(begun.script) and BEGUN - 1 <= len(begun.script) < BEGUN + 10
    assert begun.part[1] == rest.part[0] < len(begun.script) and rest.part[1] == len(rest.script)
    assert (rest.script, rest.cut, rest.styled, later) == (wholes[0].script, wholes[0].cut, 0, wholes[1:])


@pytest.mark.parametrize("per_token", [0.001, 0.0044, 0.006, 0.012])
def test_no_first_sound_is_worth_a_cut_inside_a_clause(per_token: float) -> None:
    """Costs that jitter, or a slow machine, don't make the pitch fall in the middle of a clause."""
    profile = replace(WINDOWED, per_token=per_token)
    text = f"{words_of(170, ',')} {words_of(40)}"
    assert {segment.cut for segment in planned(text, profile=profile)} <= {Cut.CLAUSE, Cut.SENTENCE}


def test_a_predicted_gap_is_worth_one() -> None:
    profile = replace(WINDOWED, per_token=0.02, per_audio=0.9)
    sentences = [sentence(f"{words_of(40, ',')} {words_of(250)}")]
    units = [unit for each in sentences for unit in each]
    assert {segment.cut for segment in replan(units, 0.0, profile, 1.0, KOKORO, LIMITS)} >= {Cut.WORD}


@pytest.mark.parametrize("clause", [31, 38, 45])
def test_an_early_clause_is_cut_at_its_end(clause: int) -> None:
    first, *_ = planned(f"{words_of(clause, ',')} {words_of(110)}")
    assert (first.tokens, first.cut) == (clause, Cut.CLAUSE)


def test_a_phrase_is_preferred_to_a_word_and_a_clause_to_a_phrase() -> None:
    assert CUT_PRICES[Cut.CLAUSE] < CUT_PRICES[Cut.PHRASE] < CUT_PRICES[Cut.WORD] < CUT_PRICES[Cut.INSIDE]
    first, *_ = planned(f"{words_of(71, 'z')} under {words_of(90)}")
    assert (first.tokens, first.cut) == (71, Cut.PHRASE)


def test_what_is_said_for_one_written_word_is_not_parted() -> None:
    number = ["one", "thousand", "two", "hundred", "fifty", "dollars", "and", "seventy-five", "cents"]
    said = ["exactly", "seventeen", *number, "were", *["somewhere"] * 9]
    written = ["exactly", "seventeen", "$1,250.75", *[""] * 8, "were", *["somewhere"] * 9]
    units = units_of([Word(each, each, PhonemeSource.LEXICON) for each in said], KOKORO, Counter(), written=written)
    segments = list(plan([units], FP32, 1.0, KOKORO, LIMITS))
    assert len(segments) > 1
    assert all(segment.words[0].written for segment in segments)


def test_a_fast_engine_speaks_sentences_whole() -> None:
    assert shape(planned(words_of(160), words_of(80), profile=FAST)) == [(160, "sentence"), (80, "sentence")]


def test_an_engine_that_vocodes_in_windows_speaks_ordinary_sentences_whole_and_cuts_where_prosody_is_long() -> None:
    text = f"{words_of(60, ',')} {words_of(100)}"
    assert shape(planned(text, profile=WINDOWED)) == [(161, "sentence")]
    slow = replace(WINDOWED, per_token=0.006)
    assert shape(planned(text, profile=slow)) == [(60, "clause"), (100, "sentence")]
    assert max(segment.tokens for segment in planned(words_of(1200), profile=WINDOWED)) <= LIMITS.max_tokens


def test_short_sentences_of_a_paragraph_are_spoken_with_their_neighbours() -> None:
    forty, eighty = words_of(40), words_of(80)
    segments = planned("Yes.", "No.", forty, "Good.", "Fine.", eighty, "So.")
    assert [segment.text for segment in segments] == [f"Yes. No. {forty}", f"Good. Fine. {eighty} So."]
    segments = planned(forty, "Good.", profile=FAST)
    assert [segment.text for segment in segments] == [forty, "Good."], "the first one doesn't wait to see what follows"


def test_what_is_left_of_a_first_sentence_takes_up_a_short_one_behind_it() -> None:
    *_, last = planned(f"{words_of(60, ',')} {words_of(60)}", "No.")
    assert last.text.endswith(". No.") and last.tokens > 60


@pytest.mark.parametrize("profile", [FP32, WINDOWED])
def test_a_sentence_that_is_planned_in_parts_leaves_no_crumbs(profile: CostProfile) -> None:
    for length in range(290, 900, 11):
        assert min(segment.tokens for segment in planned(words_of(length), profile=profile)) >= MIN_FIRST_TOKENS


def test_a_short_first_sentence_takes_a_clause_of_a_long_one_but_no_part_of_a_clause() -> None:
    first, *_ = planned("Yes.", f"{words_of(35, ',')} {words_of(120)}")
    assert (first.tokens, first.cut) == (40, Cut.CLAUSE)
    assert [segment.tokens for segment in planned("Yes.", words_of(160), profile=WINDOWED)] == [165]


def test_a_paragraph_a_pause_and_a_change_of_pace_end_a_segment_wherever_they_are() -> None:
    title = sentence("Title", Cut.PARAGRAPH)
    row = sentence("one two three four five six.")
    paused = (*row[:2], replace(row[2], pause=1.5), *(replace(unit, rate=0.5) for unit in row[3:]))
    segments = list(plan([title, paused, row], FP32, 1.0, KOKORO, LIMITS))
    assert [(segment.text, segment.cut, segment.pause, segment.rate) for segment in segments] == [
        ("Title", Cut.PARAGRAPH, None, 1.0),
        ("one two three", Cut.WORD, 1.5, 1.0),
        ("four five six.", Cut.SENTENCE, None, 0.5),
        ("one two three four five six.", Cut.SENTENCE, None, 1.0),
    ]


def test_the_end_of_a_paragraph_is_known_without_reading_on() -> None:
    """Pronouncing the next sentence takes time that the listener to a short title would wait."""
    read: list[str] = []

    def text() -> Iterator[Sentence]:
        for name, end in (("Title", Cut.PARAGRAPH), (words_of(60), Cut.SENTENCE)):
            read.append(name)
            yield sentence(name, end)

    first = next(plan(text(), WINDOWED, 1.0, KOKORO, LIMITS))
    assert first.text == "Title" and read == ["Title"]


def test_no_segment_is_longer_than_the_engine_takes_whatever_the_limits_allow() -> None:
    """The model's graph refuses a longer one, and the stream would be cut."""
    wide = replace(LIMITS, max_tokens=KOKORO.max_tokens * 3)
    segments = planned(words_of(1200), profile=WINDOWED, limits=wide)
    assert max(segment.tokens for segment in segments) <= KOKORO.max_tokens
    assert sum(len(unit.words) for segment in segments for unit in segment.units) == len(words_of(1200).split())


def test_one_word_is_spoken_and_nothing_is_not() -> None:
    assert [segment.text for segment in planned("Hi")] == ["Hi"]
    assert planned() == []
    assert replan([], 1.0, FP32, 1.0, KOKORO, LIMITS) == []


def test_an_engine_that_speaks_text_gets_sentences_whole() -> None:
    texts = ["Yes.", words_of(300), "No."]
    units = [units_of([Word(t, t, PhonemeSource.ESPEAK) for t in each.split()], ESPEAK, Counter()) for each in texts]
    assert [segment.text for segment in plan(units, GUESS, 1.0, ESPEAK, Limits(max_tokens=50))] == texts
    small = replace(ESPEAK, max_tokens=160)
    parts_of_it = list(plan(units[1:2], GUESS, 1.0, small, LIMITS))
    assert len(parts_of_it) == 2
    assert abs(parts_of_it[0].tokens - parts_of_it[1].tokens) < 12


def test_a_segment_is_no_more_work_than_a_newcomer_may_have_to_wait_for() -> None:
    texts = [words_of(250)] * 6
    assert max(segment.tokens for segment in planned(*texts)) <= 100
    assert max(segment.tokens for segment in planned(*texts, limits=Limits(max_segment_seconds=4.0))) <= 148
    slow = replace(FP32, per_token=0.06)
    assert max(segment.tokens for segment in planned(*texts, profile=slow)) <= 2 * MIN_FIRST_TOKENS
    assert max(segment.tokens for segment in planned(*texts, speed=2.0)) > 100


def test_later_segments_grow_as_far_as_playback_is_ahead() -> None:
    """One thread: 44 ms of work for 70 ms of audio."""
    slow = CostProfile(per_token=0.044, audio_per_token=0.0695)
    segments = planned(*[words_of(300)] * 4, profile=slow, limits=Limits(max_segment_seconds=9.0))
    sizes = [segment.tokens for segment in segments]
    assert sizes[0] < sizes[2] < max(sizes[3:])
    ahead = slow.first_audio(sizes[0], 1.0)
    free = ahead
    for before, size in pairwise(sizes):
        ahead += slow.audio(before, 1.0)
        free += slow.seconds(size, 1.0)
        assert free <= ahead


def test_a_stream_about_to_run_dry_is_planned_again_in_smaller_segments() -> None:
    segments = planned(words_of(90), words_of(95), words_of(95))
    rest = [unit for segment in segments[1:] for unit in segment.units]
    ample = replan(rest, 20.0, FP32, 1.0, KOKORO, LIMITS)
    dry = replan(rest, 0.5, FP32, 1.0, KOKORO, LIMITS)
    assert ample == segments[1:] or len(ample) <= len(segments[1:])
    assert MIN_FIRST_TOKENS <= dry[0].tokens < ample[0].tokens
    assert [unit for segment in dry for unit in segment.units] == rest
    assert replan(rest, 0.5, FP32, 1.0, KOKORO, LIMITS) == dry


def test_a_segment_names_the_written_words_at_their_places() -> None:
    one = replace(sentence("ab")[0], words=(SpokenWord("12", "ab", 0, 2),))
    more = Unit("cd", "cd", " ", Cut.WORD, (SpokenWord("", "cd", 0, 2),))
    last = Unit("ef.", "ef.", " ", Cut.SENTENCE, (SpokenWord("E.", "ef.", 0, 3),))
    (segment,) = plan([(replace(one, cut=Cut.WORD), more, last)], FP32, 1.0, KOKORO, LIMITS)
    assert segment.script == "ab cd ef."
    assert segment.words == (SpokenWord("12", "ab cd", 0, 5), SpokenWord("E.", "ef.", 6, 9))


@given(TEXTS, PROFILES, st.sampled_from([0.5, 1.0, 1.7]), LIMIT_CHOICES)
def test_any_text_is_planned_whole_within_limits_and_read_no_further_than_needed(
    text: list[Sentence], profile: CostProfile, speed: float, limits: Limits
) -> None:
    """Drawing a text takes several times as long as planning it, so each text is planned in all ways."""
    _has_every_unit_once_in_order_within_limits_and_segments_end_where_they_must(text, profile, speed, limits)
    _is_the_same_however_its_text_comes(text, profile, limits)
    _reads_no_more_before_the_first_segment_than_the_minimum_needs(text, profile, limits)
    _has_a_short_first_segment_only_where_it_must(text, profile)


def _has_every_unit_once_in_order_within_limits_and_segments_end_where_they_must(
    text: list[Sentence], profile: CostProfile, speed: float, limits: Limits
) -> None:
    segments = list(plan(text, profile, speed, KOKORO, limits))
    units = [unit for each in text for unit in each]
    assert [unit for segment in segments for unit in segment.units] == units
    for segment in segments:
        assert (
            segment.script == "".join(unit.lead + unit.script for unit in segment.units)[len(segment.units[0].lead) :]
        )
        assert segment.tokens == len(segment.script)
        assert segment.tokens <= token_limit(profile, speed * segment.rate, limits) or len(segment.units) == 1
        assert not any(parts(unit, following) for unit, following in pairwise(segment.units))
        assert {unit.rate for unit in segment.units} == {segment.rate}
        assert (segment.cut, segment.pause) == (segment.units[-1].cut, segment.units[-1].pause)


def _is_the_same_however_its_text_comes(text: list[Sentence], profile: CostProfile, limits: Limits) -> None:
    def lazily() -> Iterator[Sentence]:
        yield from text

    eager = list(plan(text, profile, 1.0, KOKORO, limits))
    assert list(plan(lazily(), profile, 1.0, KOKORO, limits)) == eager


def _reads_no_more_before_the_first_segment_than_the_minimum_needs(
    text: list[Sentence], profile: CostProfile, limits: Limits
) -> None:
    read: list[Sentence] = []

    def lazily() -> Iterator[Sentence]:
        for each in text:
            read.append(each)
            yield each

    next(plan(lazily(), profile, 1.0, KOKORO, limits), None)
    if len(read) > 1:
        units = [unit for each in read[:-1] for unit in each]
        tail = units[max((n + 1 for n, pair in enumerate(pairwise(units)) if parts(*pair)), default=0) :]
        assert sum(len(unit.lead) + len(unit.script) for unit in tail) - len(tail[0].lead) < MIN_FIRST_TOKENS


def _has_a_short_first_segment_only_where_it_must(text: list[Sentence], profile: CostProfile) -> None:
    segments = list(plan(text, profile, 1.0, KOKORO, LIMITS))
    if len(segments) > 1 and segments[0].tokens < MIN_FIRST_TOKENS:
        units, following = segments[0].units, segments[1].units[0]
        longer = segments[0].tokens + len(following.lead) + len(following.script)
        assert parts(units[-1], following) or longer > token_limit(profile, units[0].rate, LIMITS)


@pytest.mark.parametrize("unit", ["a ", "word ", "word, ", "of ", "Yes. ", "x" * 29 + " "])
@pytest.mark.parametrize("profile", [FP32, WINDOWED])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str, profile: CostProfile) -> None:
    def planned_units(length: int) -> int:
        text = [sentence(each) for each in (unit * (length // len(unit))).replace(". ", ".\n").splitlines()]
        return sum(len(segment.units) for segment in plan(text, profile, 1.0, KOKORO, LIMITS))

    assert planned_units(40)
    assert grows_with_the_length(planned_units, 2_000)


def test_no_segment_is_shorter_than_the_limit_and_a_shorter_limit_starts_sooner() -> None:
    script = " ".join(["kˈæt,", "dˈɔɡ,", "hˈWs,", "ɡˈɑɹdᵊn,"] * 12) + "."
    notation = Notation("phonemes", frozenset(script), 510)
    found = {
        minimum: [
            each.tokens
            for each in plan(
                phoneme_sentences(script, notation), WINDOWED_GUESS, 1.0, notation, Limits(min_first_tokens=minimum)
            )
        ]
        for minimum in (10, 30, 60, 120)
    }
    assert all(min(tokens) >= minimum for minimum, tokens in found.items())
    firsts = [tokens[0] for tokens in found.values()]
    assert firsts == sorted(set(firsts)) and firsts[0] < 30


def _row(units: Sequence[Unit], profile: CostProfile, limit: int = 100) -> Row:
    return Row(units, lambda rate: (profile.at_speed(rate), limit), MIN_FIRST_TOKENS)


@given(st.lists(SENTENCES, min_size=1, max_size=3), PROFILES, st.none() | st.floats(0, 8))
def test_no_other_cuts_are_cheaper(text: list[Sentence], profile: CostProfile, slack: float | None) -> None:
    units = [unit for each in text for unit in each][:11]
    _assert_cheapest(_row(units, profile), slack)


def test_a_way_that_is_dearer_so_far_and_leaves_more_slack_is_followed_too() -> None:
    lengths = [17, 18, 13, 13, 24, 5, 5, 9, 10]
    w, c, p, s = Cut.WORD, Cut.CLAUSE, Cut.PHRASE, Cut.SENTENCE
    cuts = [c, p, w, p, s, p, s, w, s]
    units = [Unit("a", "x" * length, " ", cut) for length, cut in zip(lengths, cuts, strict=True)]
    _assert_cheapest(_row(units, CostProfile(per_token=0.1, audio_per_token=0.07)), 3.0)


def _assert_cheapest(row: Row, slack: float | None) -> None:
    count = len(row.units)
    prices = [
        row.price([*inner, count], slack)[0]
        for number in range(count)
        for inner in combinations(range(1, count), number)
        if all(row.holds(*pair) for pair in pairwise([0, *inner, count]))
    ]
    found = row.price([end for end, _ in best_cuts(row, slack)], slack)[0]
    assert found == pytest.approx(min(prices))


@given(st.lists(st.integers(1, 2), min_size=65, max_size=75), st.lists(st.integers(90, 99), max_size=2), st.randoms())
def test_among_many_tiny_units_there_is_always_a_place_within_reach(
    tiny: list[int], long: list[int], random: Random
) -> None:
    lengths = [*tiny, *long]
    random.shuffle(lengths)
    row = _row([Unit("a", "x" * length, " ", Cut.WORD) for length in lengths], FP32)
    places = row.places()
    assert all(row.holds(*pair) for pair in pairwise(places))
    assert (places[0], places[-1]) == (0, len(lengths))
    assert len(_row([Unit("a", "x", " ", Cut.WORD)] * 150, FP32).places()) <= 66


@given(TEXTS.filter(bool), PROFILES, st.none() | st.floats(0, 8), st.integers(20, 400))
def test_no_row_is_cut_dearer_than_at_its_sentences_ends(
    text: list[Sentence], profile: CostProfile, slack: float | None, limit: int
) -> None:
    row = _row([unit for each in text for unit in each], profile, limit)
    ends = row.sentence_ends()
    assert all(row.holds(*pair) for pair in pairwise([0, *ends]))
    sentences = {place + 1 for place, unit in enumerate(row.units) if unit.cut in (Cut.SENTENCE, Cut.PARAGRAPH)}
    assert sentences <= {*ends, len(row.units)}
    found = [end for end, _ in best_cuts(row, slack)]
    assert all(row.holds(*pair) for pair in pairwise([0, *found])) and found[-1] == len(row.units)
    assert row.price(found, slack)[0] <= row.price(ends, slack)[0]


@given(st.lists(st.integers(10, 200), min_size=1, max_size=8), st.sampled_from([FP32, GUESS, WINDOWED, FAST]))
def test_a_text_is_not_cut_dearer_than_at_its_sentences_ends(lengths: list[int], profile: CostProfile) -> None:
    text = [sentence(words_of(length)) for length in lengths]
    segments = list(plan(text, profile, 1.0, KOKORO, LIMITS))
    row = _row([unit for each in text for unit in each], profile, token_limit(profile, 1.0, LIMITS))
    ends = list(accumulate(len(segment.units) for segment in segments))
    assert row.price(ends, None)[0] <= row.price(row.sentence_ends(), None)[0] + 1e-9

"""How sentences that don't fit an engine are cut, and that nothing is lost in it."""

from __future__ import annotations

import json
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import kokoro_onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontend.text.cuts import balanced_ends, divided
from frontend.text.segment import Cut, Notation, Segment
from frontend.text.segmentation import passages, segment_words
from frontend.text.speakable import is_phone
from frontend.text.word import Source, Word

VOCABULARY = frozenset(json.loads((Path(kokoro_onnx.__file__).parent / "config.json").read_text())["vocab"])
KOKORO = Notation("phonemes", VOCABULARY, 510)


def phonemes(limit: int) -> Notation:
    return Notation("phonemes", VOCABULARY, limit)


def text_of(limit: int) -> Notation:
    return Notation("text", frozenset(), limit)


def word(text: str, spoken: str | None = None) -> Word:
    return Word(text, text if spoken is None else spoken, Source.LEXICON)


def words(sentence: str) -> list[Word]:
    return [word(token) for token in sentence.split()]


def segmented(some: list[Word], notation: Notation) -> list[Segment]:
    return segment_words(some, notation, Counter())


def test_a_sentence_that_fits_is_one_segment() -> None:
    assert segmented(words("hello there, you."), KOKORO) == [
        Segment("hello there, you.", "hello there, you.", 17, Cut.SENTENCE)
    ]


def test_a_sentence_of_exactly_the_limit_is_not_cut() -> None:
    assert len(segmented([*words("aaa bbb"), word("—", "")], phonemes(7))) == 1
    assert [segment.script for segment in segmented(words("aaa bbb"), phonemes(6))] == ["aaa", "bbb"]


def test_a_long_sentence_is_cut_at_its_clauses() -> None:
    clauses = ["a " * 100 + "a,", "b " * 120 + "b;", "c " * 90 + "c —", "d " * 110 + "d."]
    segments = segmented(words(" ".join(clauses)), KOKORO)
    assert [segment.cut for segment in segments] == [Cut.CLAUSE, Cut.SENTENCE]
    assert [segment.text for segment in segments] == [" ".join(clauses[:2]), " ".join(clauses[2:])]


def test_without_clauses_it_is_cut_between_words_into_like_parts() -> None:
    segments = segmented(words("abcd " * 104), KOKORO)
    assert [segment.cut for segment in segments] == [Cut.WORD, Cut.SENTENCE]
    assert abs(segments[0].tokens - segments[1].tokens) <= 5


def test_a_clause_that_would_leave_a_tiny_rest_is_passed_over() -> None:
    segments = segmented([*words("so, " + "abcd " * 110 + "well, no.")], KOKORO)
    assert min(segment.tokens for segment in segments) > 100


def test_a_word_over_the_limit_is_cut_inside_and_gives_its_text_once() -> None:
    long = word("supercalifragilistic", "ab" * 600)
    segments = segmented([word("so"), long, word("…", "…"), word("then")], KOKORO)
    assert "".join(segment.script for segment in segments).replace(" ", "") == "so" + "ab" * 600 + "…then"
    assert " ".join(segment.text for segment in segments if segment.text) == "so supercalifragilistic … then"
    assert all(segment.tokens <= 510 for segment in segments)


def test_pieces_of_a_word_that_share_a_segment_are_joined_as_they_were() -> None:
    spaced = ", ".join(letter * length for letter, length in zip("abcd", (299, 208, 299, 291), strict=True))
    segments = segmented([word("many", spaced)], KOKORO)
    assert len(segments) == 3
    assert " ".join(segment.script for segment in segments) == spaced
    solid = spaced.replace(" ", "")
    assert "".join(segment.script for segment in segmented([word("one", solid)], KOKORO)) == solid


def test_inside_a_word_marks_stay_with_their_phoneme() -> None:
    for piece in divided("tˈɑːlɔ̃↗" * 100, 31):
        assert piece[0] not in "ː\u0303↗"
        assert piece[-1] != "ˈ"
    assert divided("今日は晴れです、" * 11, 50) == ["今日は晴れです、" * 5, "今日は晴れです、" * 6]


def test_what_the_vocabulary_lacks_is_dropped_and_counted() -> None:
    dropped: Counter[str] = Counter()
    segments = segment_words([word("x", "aጀbጀ c\tÿ"), word("y", "ጀ")], KOKORO, dropped)
    assert [(segment.text, segment.script, segment.tokens) for segment in segments] == [("x y", "ab c", 4)]
    assert dropped == {"ጀ": 3, "ÿ": 1}


def test_a_word_without_a_sound_gives_its_text_to_a_neighbour_and_of_a_row_of_pauses_one_is_kept() -> None:
    sentence = [
        word("—", "—"),
        word("***", ""),
        word("hi"),
        word("😀", ""),
        word("…", "…"),
        word("—", "—"),
        word("you"),
    ]
    assert segmented(sentence, KOKORO) == [Segment("— *** hi 😀 … — you", "— hi … you", 10, Cut.SENTENCE)]


def test_a_clause_ends_at_a_dash_that_stands_alone() -> None:
    segments = segmented(words("aa " * 100 + "— " + "bb " * 120), KOKORO)
    assert [(segment.text[-1], segment.cut) for segment in segments] == [("—", Cut.CLAUSE), ("b", Cut.SENTENCE)]


def test_nothing_to_pronounce_is_no_segment() -> None:
    assert segmented([word("—", "—"), word("😀", ""), word("x", "ጀ"), word("'", "ˈ")], KOKORO) == []
    assert segmented([word("—"), word("..."), word("|")], text_of(100)) == []
    assert segmented([], KOKORO) == []


def test_a_row_of_signs_is_no_longer_a_pause_than_a_few() -> None:
    (segment,) = segmented([word("well" + "." * 5000, "well" + "." * 5000)], KOKORO)
    assert segment.script == "well......"
    (segment,) = segmented([word("well" + "." * 5000 + "😀" * 9 + "!")], text_of(1000))
    assert segment.script == "well......" + "😀" * 9 + "!"


def test_an_abbreviation_a_number_and_an_address_are_not_cut_where_text_is_spoken() -> None:
    tokens = ["e.g.", "1,250.75", "https://example.com/a,b;c?d=e", "U.S."] * 20
    segments = segmented(words(" ".join(tokens)), text_of(100))
    assert [token for segment in segments for token in segment.script.split()] == tokens


_texts = st.text("abcdeɹəˈːㄅ😀1", min_size=1, max_size=12) | st.sampled_from(["—", "a,", "b;", "(c)", "***", "x" * 90])
_phonemes = st.text("abcdɹəɑː ˈ,.…—ጀ↗\u0303", max_size=14) | st.sampled_from(["", "a" * 75, "…" * 50, "ˈaː" * 40])
_words = st.lists(st.builds(Word, _texts, _phonemes, st.just(Source.ESPEAK)), max_size=60)


@settings(max_examples=300, deadline=None)
@given(_words, st.integers(1, 60))
def test_no_word_and_no_phoneme_is_lost_doubled_or_moved_and_no_segment_is_over(some: list[Word], limit: int) -> None:
    dropped: Counter[str] = Counter()
    segments = segment_words(some, phonemes(limit), dropped)
    sounds = [phone for each in some for phone in each.phonemes if is_phone(phone)]
    known = [phone for phone in sounds if phone in VOCABULARY]
    assert [phone for segment in segments for phone in segment.script if is_phone(phone)] == known
    assert sum(map(dropped.__getitem__, set(dropped))) == sum(each.phonemes.count("ጀ") for each in some)
    assert all(segment.tokens == len(segment.script) <= limit for segment in segments)
    assert all(any(map(is_phone, segment.script)) and set(segment.script) <= VOCABULARY for segment in segments)
    if known:
        assert " ".join(segment.text for segment in segments if segment.text) == " ".join(each.text for each in some)
        assert segments[-1].cut is Cut.SENTENCE
    assert segment_words(some, phonemes(limit), Counter()) == segments


@settings(max_examples=300, deadline=None)
@given(st.lists(_texts, max_size=60), st.integers(1, 60))
def test_the_same_holds_where_text_is_spoken(texts: list[str], limit: int) -> None:
    segments = segmented(words(" ".join(texts)), text_of(limit))
    spoken = [character for character in "".join(texts) if character.isalnum() or character == "😀"]
    if any(character.isalnum() or character == "😀" for character in spoken):
        assert " ".join(segment.text for segment in segments if segment.text) == " ".join(texts)
    script = "".join(segment.script for segment in segments)
    assert [character for character in script if character.isalnum() or character == "😀"] == spoken
    assert all(segment.tokens == len(segment.script) <= limit for segment in segments)


def test_no_piece_is_smaller_than_half_a_share_if_units_are_small() -> None:
    free_at_the_edges = [0.0 if place < 10 or place > 490 else 3.0 for place in range(520)]
    assert balanced_ends([1] * 520, [0] * 520, free_at_the_edges, 510) == [260, 520]
    assert balanced_ends([3] * 200, [1] * 200, [0.4] * 200, 510) == [100, 200]


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 40))
def test_cuts_cover_the_row_and_fit(data: st.DataObject, limit: int) -> None:
    lengths = data.draw(st.lists(st.integers(1, limit), max_size=80))
    leads = data.draw(st.lists(st.integers(0, 1), min_size=len(lengths), max_size=len(lengths)))
    costs = data.draw(st.lists(st.sampled_from([0.0, 0.4, 3.0]), min_size=len(lengths), max_size=len(lengths)))
    ends = balanced_ends(lengths, leads, costs, limit)
    assert all(before < after for before, after in pairwise([0, *ends]))
    assert not lengths or ends[-1] == len(lengths)
    for start, end in pairwise([0, *ends]):
        assert sum(lengths[start:end]) + sum(leads[start + 1 : end]) <= limit


@settings(max_examples=200, deadline=None)
@given(st.lists(_texts, min_size=1, max_size=80), st.integers(1, 60))
def test_passages_fit_and_hold_the_sentence(texts: list[str], limit: int) -> None:
    found = list(passages(" ".join(texts), limit))
    assert "".join("".join(passage.split()) for passage, _ in found) == "".join(texts)
    assert all(0 < len(passage) <= limit for passage, _ in found)
    assert found[-1][1] is Cut.SENTENCE
    if all(len(text) <= limit for text in texts):
        assert " ".join(passage for passage, _ in found) == " ".join(texts)


@pytest.mark.parametrize("unit", ["a", "a ", "abc, ", ".", "字", "aˈ", "\u0303", "😀", "a. "])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    def seconds(length: int, notation: Notation) -> float:
        some = words((unit * length)[:length])
        spent = []
        for _ in range(2):
            started = time.perf_counter()
            segmented(some, notation)
            spent.append(time.perf_counter() - started)
        return min(spent)

    for notation in (KOKORO, text_of(1000)):
        assert seconds(60_000, notation) < 40 * seconds(6_000, notation) + 0.01

"""Segmentation: the parts of sentences, the cuts of those that don't fit an engine, and no word lost."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.planning.planner import Limits, plan
from frontend.planning.profile import CostProfile
from tests.growth import grows_with_the_length
from tests.text.letters import KOKORO, VOCABULARY
from text.units.cuts import balanced_ends, divided
from text.units.segmentation import TOGETHER, passages, units_of
from text.words.punctuation import is_phone
from text.words.segment import Cut, Notation, PhonemeSource, Segment, SpokenWord, Word


def phonemes(limit: int) -> Notation:
    return Notation("phonemes", VOCABULARY, limit)


def text_of(limit: int) -> Notation:
    return Notation("text", frozenset(), limit)


def word(text: str, spoken: str | None = None) -> Word:
    return Word(text, text if spoken is None else spoken, PhonemeSource.LEXICON)


def words(sentence: str) -> list[Word]:
    return [word(token) for token in sentence.split()]


def segmented(some: list[Word], notation: Notation, dropped: Counter[str] | None = None) -> list[Segment]:
    """The segments of a text on an engine so fast that only its limit makes cuts."""
    sentence = units_of(some, notation, Counter() if dropped is None else dropped)
    fast = CostProfile(per_token=1e-9, audio_per_token=0.07)
    return list(plan([sentence] if sentence else [], fast, 1.0, notation, Limits(notation.max_tokens)))


def bare(segment: Segment) -> tuple[str, str, int, Cut]:
    return segment.text, segment.script, segment.tokens, segment.cut


def test_a_sentence_that_fits_is_one_segment() -> None:
    (segment,) = segmented(words("hello there, you."), KOKORO)
    assert bare(segment) == ("hello there, you.", "hello there, you.", 17, Cut.SENTENCE)


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
    segments = segmented([word("x", "aጀbጀ c\tÿ"), word("y", "ጀ")], KOKORO, dropped)
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
    (segment,) = segmented(sentence, KOKORO)
    assert bare(segment) == ("— *** hi 😀 … — you", "— hi … you", 10, Cut.SENTENCE)


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


def cuts(sentence: str, language: str = "en-us") -> list[tuple[str, Cut]]:
    return [(unit.text, unit.cut) for unit in units_of(words(sentence), KOKORO, Counter(), language=language)]


def test_units_end_at_clauses_before_phrases_and_at_words_that_do_not_cling() -> None:
    assert cuts("Yesterday, old men sat in the sun because of it.") == [
        ("Yesterday,", Cut.CLAUSE),
        ("old", Cut.WORD),
        ("men", Cut.WORD),
        ("sat", Cut.PHRASE),
        ("in the sun", Cut.PHRASE),
        ("because of it.", Cut.SENTENCE),
    ]
    assert ("A house", Cut.PHRASE) in cuts("A house (old) fell.")


@pytest.mark.parametrize(
    ("language", "sentence", "first"),
    [
        ("es", "Llegó tarde porque llovía.", ["Llegó tarde", "porque llovía."]),
        ("fr-fr", "Je pense qu’il dort.", ["Je pense", "qu’il dort."]),
        ("it", "Vado dall'amico.", ["Vado", "dall'amico."]),
        ("pt-br", "Fomos até ao mar.", ["Fomos", "até ao mar."]),
        ("hi", "वह आया और बैठा।", ["वह आया", "और बैठा।"]),
        ("ja", "a porque b.", ["a porque b."]),
    ],
)
def test_each_language_has_phrases_of_its_own(language: str, sentence: str, first: list[str]) -> None:
    units = units_of([word(token, "a") for token in sentence.split()], KOKORO, Counter(), language=language)
    phrases = [""]
    for unit in units:
        phrases[-1] = f"{phrases[-1]} {unit.text}".strip()
        phrases += [""] * (unit.cut is Cut.PHRASE)
    assert phrases == first


def test_clauses_of_a_language_without_spaces_are_units_if_text_and_phonemes_have_as_many() -> None:
    both = Word("今日は晴れ、明日は雨。", "koɯ, aɕ.", PhonemeSource.LEXICON)
    units = units_of([both], KOKORO, Counter(), language="ja")
    assert [(unit.text, unit.script, unit.lead, unit.cut) for unit in units] == [
        ("今日は晴れ、", "koɯ,", " ", Cut.CLAUSE),
        ("明日は雨。", "aɕ.", " ", Cut.SENTENCE),
    ]
    assert [each.written for unit in units for each in unit.words] == ["今日は晴れ、", "明日は雨。"]
    unlike = Word("今日は、晴れ、雨", "koɯ, aɕ", PhonemeSource.LEXICON)
    assert len(units_of([unlike], KOKORO, Counter(), language="ja")) == 1


def test_what_is_said_for_one_written_word_is_one_spoken_word_of_one_unit() -> None:
    (unit, after) = units_of(
        words("five dollars and fifty cents then"), KOKORO, Counter(), written=["$5.50", "", "", "", "", "then"]
    )
    assert unit.script == "five dollars and fifty cents"
    assert unit.words == (SpokenWord("$5.50", "five dollars and fifty cents", 0, 28),)
    assert after.words == (SpokenWord("then", "then", 0, 4),)


def test_a_written_word_that_is_said_too_long_goes_on_in_the_next_unit() -> None:
    said = ["seven"] * 20
    units = units_of([word(each) for each in said], KOKORO, Counter(), written=["7" * 20] + [""] * 19)
    assert all(len(unit.script) <= TOGETHER for unit in units)
    assert [[each.written for each in unit.words] for unit in units] == [["7" * 20], [""], [""], [""]]
    (segment,) = plan([units], CostProfile(1e-9, 0.07), 1.0, KOKORO, Limits())
    assert segment.words == (SpokenWord("7" * 20, " ".join(said), 0, segment.tokens),)


def test_spoken_words_lie_where_they_are_in_the_script() -> None:
    sentence = [word("—", "—"), word("Hi", "haɪ"), word("***", ""), word("you!", "ju!"), word("…", "…")]
    (segment,) = segmented(sentence, KOKORO)
    assert segment.script == "— haɪ ju! …"
    assert [(each.written, segment.script[each.start : each.end]) for each in segment.words] == [
        ("—", "—"),
        ("Hi", "haɪ"),
        ("***", ""),
        ("you!", "ju!"),
        ("…", "…"),
    ]


_texts = st.text("abcdeɹəˈːㄅ😀1", min_size=1, max_size=12) | st.sampled_from(["—", "a,", "b;", "(c)", "***", "x" * 90])
_phonemes = st.text("abcdɹəɑː ˈ,.…—ጀ↗\u0303", max_size=14) | st.sampled_from(["", "a" * 75, "…" * 50, "ˈaː" * 40])
_words = st.lists(st.builds(Word, _texts, _phonemes, st.just(PhonemeSource.ESPEAK)), max_size=60)


@given(_words, st.integers(1, 60))
def test_no_word_and_no_phoneme_is_lost_doubled_or_moved_and_no_segment_is_over(some: list[Word], limit: int) -> None:
    dropped: Counter[str] = Counter()
    segments = segmented(some, phonemes(limit), dropped)
    sounds = [phone for each in some for phone in each.phonemes if is_phone(phone)]
    known = [phone for phone in sounds if phone in VOCABULARY]
    assert [phone for segment in segments for phone in segment.script if is_phone(phone)] == known
    assert sum(map(dropped.__getitem__, set(dropped))) == sum(each.phonemes.count("ጀ") for each in some)
    assert all(segment.tokens == len(segment.script) <= limit for segment in segments)
    assert all(any(map(is_phone, segment.script)) and set(segment.script) <= VOCABULARY for segment in segments)
    if known:
        assert " ".join(segment.text for segment in segments if segment.text) == " ".join(each.text for each in some)
        assert segments[-1].cut is Cut.SENTENCE
        spoken = [each for segment in segments for each in segment.words]
        assert [each.written for each in spoken if each.written] == [each.text for each in some]
        assert [each.said for each in spoken if each.said] == [each.text for each in some]
    for segment in segments:
        places = [place for each in segment.words for place in (each.start, each.end)]
        assert places == sorted(places) and places[-1] <= segment.tokens
    assert segmented(some, phonemes(limit)) == segments


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


@given(st.lists(_texts, min_size=1, max_size=80), st.integers(1, 60))
def test_passages_fit_and_hold_the_sentence(texts: list[str], limit: int) -> None:
    found = list(passages(" ".join(texts), limit))
    assert "".join("".join(passage.text.split()) for passage in found) == "".join(texts)
    assert all(0 < len(passage.text) <= limit for passage in found)
    assert found[-1].cut is Cut.SENTENCE
    assert all(len(passage.places) == len(passage.text.split()) for passage in found)
    parts = [
        (place, part) for passage in found for place, part in zip(passage.places, passage.text.split(), strict=True)
    ]
    assert ["".join(part for at, part in parts if at == place) for place in range(len(texts))] == texts
    if all(len(text) <= limit for text in texts):
        assert " ".join(passage.text for passage in found) == " ".join(texts)


@pytest.mark.parametrize("unit", ["a", "a ", "abc, ", ".", "字", "aˈ", "\u0303", "😀", "a. "])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    for notation in (KOKORO, text_of(1000)):
        assert grows_with_the_length(lambda length: segmented(words((unit * length)[:length]), notation), 2_000)  # noqa: B023

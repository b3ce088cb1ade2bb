"""A text's way to sentences of units and to segments: each word once, in order, a sentence at a time."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.planning.planner import MIN_FIRST_TOKENS, Limits, plan
from frontend.planning.profile import GUESS
from tests.frontend.segments import segments_of
from tests.growth import first_takes_a_fraction, grows_with_the_length
from tests.text.letters import ESPEAK, KOKORO, VOCABULARY, LetterG2P
from text.g2p import G2P
from text.markup.marked import Marked, Pause, Pronunciation
from text.normalization.settings import AS_WRITTEN
from text.pipeline import TextPipeline, configured_pipeline
from text.settings import Pronouncing, TextSettings
from text.words.punctuation import is_phone, speakable
from text.words.sanitize import sanitize
from text.words.segment import Cut, Notation, Sentence


@pytest.fixture
def g2p() -> LetterG2P:
    return LetterG2P()


@pytest.fixture
def pipeline(g2p: LetterG2P) -> TextPipeline:
    return TextPipeline(g2p, AS_WRITTEN)


def text_of(sentence: Sentence) -> str:
    return " ".join(unit.text for unit in sentence if unit.text)


def texts(sentences: Iterator[Sentence]) -> list[str]:
    return [text_of(sentence) for sentence in sentences]


@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
def test_sentences_end_where_they_end_and_paragraphs_at_blank_lines(pipeline: TextPipeline, notation: Notation) -> None:
    text = "Hello  world.\r\nHow are\u00a0you?\n\nFine. *\n***\n\nAnd you?"
    sentences = list(pipeline.sentences(text, "en-us", notation))
    assert [(text_of(sentence), sentence[-1].cut) for sentence in sentences] == [
        ("Hello world.", Cut.SENTENCE),
        ("How are you?", Cut.PARAGRAPH),
        ("Fine.", Cut.PARAGRAPH),
        ("* *** And you?", Cut.SENTENCE),
    ]


def test_segments_are_the_plan_of_the_sentences_with_the_profile_that_is_not_measured(pipeline: TextPipeline) -> None:
    text = "Hello world. How are you?\n\n" + "It rained on the day before, and on the day after. " * 9
    planned = plan(pipeline.sentences(text, "en-us", KOKORO), GUESS, 2.0, KOKORO, Limits())
    assert list(segments_of(pipeline, text, "en-us", KOKORO, 2.0)) == list(planned)


def test_the_g2p_is_asked_for_sentences_in_the_requests_language(pipeline: TextPipeline, g2p: LetterG2P) -> None:
    list(segments_of(pipeline, "Uno. Dos.", "es", KOKORO))
    assert g2p.asked == [("Uno.", "es"), ("Dos.", "es")]


def test_an_engine_that_reads_text_gets_the_text_and_no_g2p(pipeline: TextPipeline, g2p: LetterG2P) -> None:
    (segment,) = segments_of(pipeline, "It's  3.5%, né?", "en-us", ESPEAK)
    assert (segment.script, segment.tokens, g2p.asked) == ("It's 3.5%, né?", 14, [])


@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
def test_what_can_not_be_pronounced_goes_with_a_neighbour(pipeline: TextPipeline, notation: Notation) -> None:
    text = "***\n\nOne.\n\n---\n\n…\n\nTwo.\n\n| |\n\n'"
    assert texts(pipeline.sentences(text, "en-us", notation)) == ["*** One.", "--- … Two. | | '"]


def test_a_mark_after_the_last_sentence_that_only_seemed_to_be_followed_by_words_is_counted(
    pipeline: TextPipeline,
) -> None:
    without_e = Notation("phonemes", VOCABULARY - {"e"}, 510)
    assert texts(pipeline.sentences("A dog.\n\nE e", "en-us", without_e)) == ["A dog."]
    assert pipeline.dropped == {"e": 2} or sum(pipeline.unpronounceable.values()) == 2


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Pay $5.50 on 2026-11-21, Dr. X!", "Pay five dollars and fifty cents"),
        ("See **bold** words &amp; <b>tags</b>.", "See bold words"),
        ("word " * 700 + "$5 " + "x" * 3000 + " end.", "word word"),
    ],
)
@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
def test_spoken_words_name_what_was_written_each_once_in_order(written: str, said: str, notation: Notation) -> None:
    units = [unit for sentence in TextPipeline(LetterG2P()).sentences(written, "en-us", notation) for unit in sentence]
    assert "".join(word.written for unit in units for word in unit.words).split() == "".join(written.split()).split()
    assert " ".join(word.said for unit in units for word in unit.words if word.said).startswith(said)
    for unit in units:
        assert all(0 <= word.start <= word.end <= len(unit.script) for word in unit.words)


@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
@pytest.mark.parametrize("text", ["", " \n", "...", "— * —\n\n***", "\u200b\ufeff", "\ue000 \ufffd"])
def test_a_text_with_nothing_to_pronounce_has_no_segments(
    pipeline: TextPipeline, text: str, notation: Notation
) -> None:
    assert list(segments_of(pipeline, text, "en-us", notation)) == []
    assert not speakable(text)


@pytest.mark.parametrize("text", ["a", "7", "...é", "你", "€", "%", "+", "½", "😀", "हि", "* b"])
def test_letters_digits_and_signs_with_a_name_are_speakable(text: str) -> None:
    assert speakable(text)


def test_what_was_not_pronounced_is_counted(pipeline: TextPipeline) -> None:
    list(segments_of(pipeline, "Hi \ue000\ue000 你好 — there. *** 你", "en-us", KOKORO))
    list(segments_of(pipeline, "你 क्\u200dष \u0378", "en-us", KOKORO))
    assert pipeline.unpronounceable == {"\ue000": 2, "你": 3, "好": 1, "क": 1, "ष": 1, "\u0378": 1}
    list(segments_of(pipeline, "grass", "en-us", Notation("phonemes", VOCABULARY - {"s"}, 510)))
    assert pipeline.dropped == {"s": 2}


def test_a_sentence_is_there_when_it_is_pronounced(pipeline: TextPipeline, g2p: LetterG2P) -> None:
    sentences = pipeline.sentences("A short sentence. " * 600, "en-us", KOKORO)
    for taken in range(1, 4):
        assert text_of(next(sentences)) == "A short sentence."
        assert len(g2p.asked) == taken


@pytest.mark.parametrize(
    ("text", "language", "ahead"),
    [("Eins. <b> Zwei.", "de", 0), ("Eins. *** Zwei.", "de", 0), ("a आ। आ a।", "hi", 0), ("a。 é", "fr-fr", 1)],
)
def test_the_next_one_is_pronounced_ahead_only_where_it_may_have_no_sound(
    pipeline: TextPipeline, g2p: LetterG2P, text: str, language: str, ahead: int
) -> None:
    next(pipeline.sentences(text, language, KOKORO))
    assert len(g2p.asked) == 1 + ahead


def test_the_first_segment_waits_for_its_own_sentence_only(pipeline: TextPipeline, g2p: LetterG2P) -> None:
    sentence = "It was a bright cold day in April, and the clocks were striking thirteen. "
    next(segments_of(pipeline, sentence * 600, "en-us", KOKORO))
    assert len(g2p.asked) == 1
    next(segments_of(pipeline, "Yes. " + sentence * 600, "en-us", KOKORO))
    assert len(g2p.asked) == 3


def test_a_sentence_without_end_is_pronounced_in_parts(pipeline: TextPipeline, g2p: LetterG2P) -> None:
    text = "word " * 3000
    segments = segments_of(pipeline, text, "en-us", KOKORO)
    first = next(segments)
    assert first.cut is Cut.WORD and first.tokens >= MIN_FIRST_TOKENS
    assert sum(len(passage) for passage, _ in g2p.asked) < 2 * 2 * KOKORO.max_tokens
    rest = list(segments)
    assert " ".join([first.text, *(segment.text for segment in rest)]) == text.strip()
    assert rest[-1].cut is Cut.SENTENCE


@pytest.mark.parametrize("before", ["", "one two three ", "x" * 50])
@pytest.mark.parametrize("covered", ["four five six seven eight nine", "four, " * 20 + "five", "y" * 70])
def test_a_sentence_that_is_too_long_is_not_parted_inside_a_given_pronunciation(
    pipeline: TextPipeline, before: str, covered: str
) -> None:
    """Its other words, and the pause after it, belong to the one that has its sound."""
    notation = Notation("phonemes", VOCABULARY, 12)
    spans = len(before), len(before + covered)
    marked = Marked(f"{before}{covered}, ten eleven", (Pronunciation(*spans, "ˈa"), Pause(spans[1] + 1, 2.0)))
    found = [unit for sentence in pipeline.sentences(marked, "en-us", notation) for unit in sentence]
    [place] = [place for place, unit in enumerate(found) if "ˈa" in unit.script]
    assert found[place].script.endswith("ˈa,")
    assert [unit.pause for unit in found] == [None] * place + [2.0, None, None]
    assert [unit.text for unit in found[place + 1 :]] == ["ten", "eleven"]
    assert "".join(unit.script for unit in found) == "".join(before.split()) + "ˈa,teneleven"


@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
def test_a_hundred_thousand_characters_without_a_space_are_cut(pipeline: TextPipeline, notation: Notation) -> None:
    segments = list(segments_of(pipeline, "abcdefghij" * 10_000, "en-us", notation))
    assert "".join(segment.script for segment in segments).replace("\u0261", "g") == "abcdefghij" * 10_000
    assert "".join(segment.text for segment in segments) == "abcdefghij" * 10_000
    assert max(segment.tokens for segment in segments) <= notation.max_tokens


@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
def test_chinese_without_spaces_is_cut_at_its_stops(pipeline: TextPipeline, notation: Notation) -> None:
    text = "a你好。b你，好吗？c再见"
    assert texts(pipeline.sentences(text, "cmn", notation)) == ["a你好。", "b你，好吗？", "c再见"]


_fragments = st.lists(
    st.sampled_from(
        ["Hello", "world.", "Dr.", "3.5", "e.g.", "***", "—", "…", "no!", "\n\n", "\n- ", "a,", "U.S.", "😀", "x" * 130]
    )
    | st.text(max_size=6),
    max_size=50,
).map(" ".join)


@given(_fragments, st.sampled_from(["phonemes", "text"]), st.integers(40, 120))
def test_no_word_is_lost_doubled_or_moved_and_the_plan_is_the_same_each_time(
    text: str, speaks: str, limit: int
) -> None:
    notation = Notation(speaks, VOCABULARY, limit)
    segments = list(segments_of(TextPipeline(LetterG2P(), AS_WRITTEN), text, "en-us", notation))
    clean = sanitize(text)
    if segments:
        assert "".join("".join(segment.text.split()) for segment in segments) == "".join(clean.split())
        if max(map(len, clean.split())) <= limit and not re.search("[。！？｡।॥؟۔።։။]|[!?]", clean):
            assert " ".join(segment.text for segment in segments).split() == clean.split()
    else:
        assert not re.search("[A-Za-z0-9]", clean)
    assert all(0 < segment.tokens == len(segment.script) <= limit for segment in segments)
    if speaks == "phonemes":
        spoken = [phone for word in LetterG2P().words(clean, "en-us") for phone in word.phonemes if is_phone(phone)]
        assert [phone for segment in segments for phone in segment.script if is_phone(phone)] == spoken
    else:
        script = "".join(segment.script for segment in segments)
        assert [c for c in script if c.isalnum()] == [c for c in clean if c.isalnum()]
    assert list(segments_of(TextPipeline(LetterG2P(), AS_WRITTEN), text, "en-us", notation)) == segments


@pytest.mark.parametrize("unit", ["A sentence, with clauses. ", "*** ", "---\n\n", "a\n", "1. x\n"])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    """The parts of the pipeline have more units, each in its own test."""

    def read(length: int) -> None:
        for _ in segments_of(TextPipeline(LetterG2P()), (unit * length)[:length], "en-us", KOKORO):
            pass

    assert grows_with_the_length(read, 800)


def test_the_first_segment_of_a_long_text_takes_a_fraction_of_the_whole(pipeline: TextPipeline) -> None:
    text = "It was a bright cold day in April, and the clocks were striking thirteen. " * 300
    assert sum(1 for _ in segments_of(pipeline, text, "en-us", KOKORO)) >= 300
    assert first_takes_a_fraction(lambda: segments_of(pipeline, text, "en-us", KOKORO), 1 / 4)


@pytest.mark.parametrize(("way", "source"), [("misaki", "lexicon"), ("espeak", "espeak"), ("letters", "letters")])
def test_the_settings_say_what_pronounces(way: Pronouncing, source: str) -> None:
    made = configured_pipeline(G2P(), TextSettings(g2p=way), None).without(["dates"])
    words = list(made.words("Hello there, (you).", "en-us", KOKORO))
    assert [word.source.value for word in words] == [source] * 3
    assert [word.phonemes[-1] for word in words[1:]] == [",", "."]
    units = [unit for sentence in made.sentences("Hello there.", "en-us", KOKORO) for unit in sentence]
    assert "".join(unit.lead + unit.script for unit in units).strip()[-1] == "."

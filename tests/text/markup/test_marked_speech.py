"""Markup and the user's lexicon on their way through the pipeline: into scripts, rates and pauses."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.text.letters import ESPEAK, KOKORO, VOCABULARY, LetterG2P
from text.espeak.ipa import ALPHABET, adapted
from text.g2p import G2P
from text.lexicon import Lexicon, read_entries
from text.markup.marked import Marked, MarkupKind
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup
from text.normalization.settings import AS_WRITTEN, Normalization
from text.pipeline import TextPipeline
from text.units.prosody import Pauses
from text.words.segment import Cut, Notation, PhonemeSource, Unit

BOOK = Lexicon(read_entries("nginx\tengine x\nSQL\t/ˈsiːkwəl/\nk8s\tkates\n5\tfie ve".encode())[0])


KOKORO_SOUNDS = Notation("phonemes", ALPHABET | frozenset(' ;:,.!?—…"()“”'), 510)


@pytest.fixture(scope="module")
def plain() -> TextPipeline:
    return TextPipeline(G2P())


@pytest.fixture(scope="module")
def english() -> TextPipeline:
    return TextPipeline(G2P(), lexicon=lambda: BOOK)


def marked(kind: MarkupKind, text: str, notation: Notation = KOKORO) -> Marked:
    return parse_markup(kind, text, "en-us", notation)


def units(pipeline: TextPipeline, text: str | Marked, notation: Notation = KOKORO) -> list[Unit]:
    return [unit for sentence in pipeline.sentences(text, "en-us", notation) for unit in sentence]


def spoken(pipeline: TextPipeline, text: str | Marked, notation: Notation = KOKORO) -> str:
    return " ".join(unit.script for unit in units(pipeline, text, notation))


def tags(text: str, notation: Notation = KOKORO) -> Marked:
    return marked(MarkupKind.TAGS, text, notation)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("[tomato](/bˈi/).", "bˈi."),
        ('He said "[tomato](/bˈi/)", twice', "hˌi sˈɛd “bˈi”, twˈIs"),
        ("**[Tom](/bˈi/)** sat", "bˈi sˈæt"),
        ("[New York](/bˈi/), now", "bˈi, nˈW"),
        ("in [5 km](/bˈi/) or 5 km", "ɪn bˈi ɔɹ fˈIv kəlˈɑməTəɹz"),
        ("[Dr.](/bˈi/) Dr. Lee", "bˈi dˈɑktəɹ lˈi"),
        ("un[believ](/bˈi/)able", "ˈʌnbˈiˈAbᵊl"),
        ("[a](/bˈi/)[b](/sˈi/)", "bˈisˈi"),
    ],
)
def test_a_given_pronunciation_is_what_is_said(plain: TextPipeline, text: str, script: str) -> None:
    assert spoken(plain, tags(text)) == script


def test_an_engine_that_reads_text_reads_the_word(english: TextPipeline) -> None:
    assert spoken(english, tags("[tomato](/bˈi/), ok", ESPEAK), ESPEAK) == "tomato, ok"


def test_the_lexicon_is_what_is_said(english: TextPipeline) -> None:
    assert spoken(english, "Nginx, SQL and k8s!") == "ˈɛnʤən ˈɛks, sˈikwəl ænd kˈAts!"
    assert spoken(english, "Nginx, SQL and k8s!", ESPEAK) == "engine x, SQL and kates!"


def test_the_lexicon_knows_words_as_they_are_written_and_as_they_are_said(english: TextPipeline) -> None:
    assert spoken(english, "5 km", ESPEAK) == "fie ve km"
    assert [word.source for word in english.words("five nginx", "en-us", KOKORO)] == [
        PhonemeSource.LEXICON,
        PhonemeSource.USER,
    ]


def test_markup_wins_over_the_lexicon(english: TextPipeline) -> None:
    assert spoken(english, tags("[nginx](/bˈi/) nginx")) == "bˈi ˈɛnʤən ˈɛks"


def test_a_change_of_the_lexicon_is_heard_in_the_next_text() -> None:
    book = BOOK
    pipeline = TextPipeline(G2P(), lexicon=lambda: book)
    assert spoken(pipeline, "Try nginx now.") == "tɹˈI ˈɛnʤən ˈɛks nˈW."
    book = Lexicon(read_entries("nginx\t/bˈi/".encode())[0])
    assert spoken(pipeline, "Try nginx now.") == "tɹˈI bˈi nˈW."
    book = Lexicon()
    assert "bˈi" not in spoken(pipeline, "Try nginx now.")


@pytest.mark.parametrize("notation", [KOKORO, ESPEAK])
def test_a_pause_ends_a_unit(english: TextPipeline, notation: Notation) -> None:
    found = units(english, tags("One [pause:1s] two, [pause:2s]three.[pause:500ms] *** Four.", notation), notation)
    assert [(unit.text, unit.pause, unit.cut) for unit in found] == [
        ("One", 1.0, Cut.CLAUSE),
        ("two,", 2.0, Cut.CLAUSE),
        ("three.", 0.5, Cut.SENTENCE),
        ("*** Four.", None, Cut.SENTENCE),
    ]


@pytest.mark.parametrize(
    ("text", "pauses"),
    [
        ("[pause:1s] One.", [None]),
        ("One. [pause:1s]", [1.0]),
        ("One.\n\n---\n\n[pause:1s]\n\nTwo.", [1.0, None]),
        ("One [pause:1s] --- [pause:2s] two.", [3.0, None]),
        ("$5[pause:1s]m", [1.0, None]),
        ("One.\n\n[pause:0s]\n\nTwo.", [0.0, None]),
    ],
)
def test_a_pause_is_after_the_word_before_it(plain: TextPipeline, text: str, pauses: list[float | None]) -> None:
    found = units(plain, tags(text))
    assert [unit.pause for unit in found] == pauses


def test_rates_part_units(english: TextPipeline) -> None:
    text = '<speak>One two <prosody rate="50%">three <prosody rate="2">four</prosody> $5</prosody> six.</speak>'
    found = units(english, marked(MarkupKind.SSML, text))
    assert [(unit.text, unit.rate) for unit in found] == [
        ("One", 1.0),
        ("two", 1.0),
        ("three", 0.5),
        ("four", 2.0),
        ("five dollars", 0.5),
        ("six.", 1.0),
    ]


def test_sentences_and_paragraphs_end_where_ssml_says(english: TextPipeline) -> None:
    text = "<speak><p><s>One</s><s>two</s></p><p>Three. Four</p></speak>"
    found = units(english, marked(MarkupKind.SSML, text))
    assert [(unit.text, unit.cut) for unit in found] == [
        ("One", Cut.SENTENCE),
        ("two", Cut.PARAGRAPH),
        ("Three.", Cut.SENTENCE),
        ("Four", Cut.SENTENCE),
    ]


_PARTS = st.lists(
    st.sampled_from(
        [
            *(
                "one",
                "Two.",
                "3,",
                "***",
                "—",
                "\n\n",
                "[pause:1s]",
                "[pause:0s]",
                "[four five](/bˈi/)",
                "[six](/sˈi/)",
            ),
            *("x" * 90, "[" + "y" * 90 + "](/bˈi/)", "nginx,", "(SQL)", "$5", "😀", "z[seven](/sˈi/)[a](/bˈi/)"),
        ]
    ),
    max_size=25,
)


@given(_PARTS, st.sampled_from(["phonemes", "text"]), st.sampled_from([Normalization(), AS_WRITTEN]))
def test_nothing_is_lost_with_markup_and_no_pause_between_words_either(
    parts: list[str], speaks: str, normalization: Normalization
) -> None:
    notation = Notation(speaks, VOCABULARY, 40)
    text = " ".join(parts)
    source = tags(text, notation)
    found = units(
        TextPipeline(LetterG2P(), normalization, lambda: BOOK, pauses=Pauses(None, None, None)), source, notation
    )
    if not found:
        assert not re.search("[a-zA-Z0-9]", source.text)
        return
    if normalization == AS_WRITTEN:
        assert "".join("".join(unit.text.split()) for unit in found) == "".join(source.text.split())
    assert all(0 < len(unit.script) <= notation.max_tokens for unit in found)
    if speaks == "phonemes":
        assert sum(unit.script.count("ˈ") for unit in found) == text.count("ˈ") + text.count("SQL")
    spoken = "[a-zA-Z0-9😀]" if (speaks, normalization) == ("text", AS_WRITTEN) else "[a-zA-Z0-9]"
    places = [place for place, part in enumerate(parts) if re.search(spoken, part) and "pause" not in part]
    if not places:
        return  # what has no letters may go to the engine as it is, with the pauses after it
    after_first = parts[places[0] :]
    assert sum(unit.pause or 0.0 for unit in found) == after_first.count("[pause:1s]")


def test_plain_text_is_read_as_if_there_were_no_markup() -> None:
    def all_units(text: str | Marked) -> Iterator[Unit]:
        yield from units(TextPipeline(LetterG2P()), text)

    text = "One  two.\n\nThree [pause:1s], [a](/b/)."
    assert list(all_units(text)) == list(all_units(marked(MarkupKind.NONE, text)))


def test_markup_that_is_refused_is_refused_before_anything_is_spoken() -> None:
    with pytest.raises(MarkupError):
        tags("One. [pause:61s] Two.")


@pytest.mark.parametrize("code", ["es", "fr-fr", "it", "pt-br", "hi"])
def test_text_in_a_lang_element_is_read_by_that_languages_rules(code: str, plain: TextPipeline) -> None:
    def said(text: str, language: str) -> list[str]:
        document = parse_markup(MarkupKind.SSML, f"<speak>{text}</speak>", language, KOKORO_SOUNDS)
        return [word.phonemes for word in plain.words(document, language, KOKORO_SOUNDS)]

    for text in ("Paris, 21%", "x 5 km"):
        own = [adapted(phonemes, "en-us") for phonemes in said(text, code)]
        marked_up = said(f'One <lang xml:lang="{code}">{text}</lang> two.', "en-us")
        assert marked_up[1:-1] == own
        for tag in ("span", "b class='x'"):
            html = f'One <{tag} lang="{code}">{text}</{tag.split()[0]}> two.'
            assert [word.phonemes for word in plain.words(Marked.plain(html), "en-us", KOKORO_SOUNDS)] != marked_up
            basic = parse_markup(MarkupKind.BASIC, html, "en-us", KOKORO_SOUNDS)
            assert [word.phonemes for word in plain.words(basic, "en-us", KOKORO_SOUNDS)] == marked_up
        assert [marked_up[0], marked_up[-1]] == [said("One two.", "en-us")[0], said("One two.", "en-us")[1]]
    assert said('A <lang xml:lang="xx">cat</lang>.', "en-us") == said("A cat.", "en-us")
    assert said(f'<lang xml:lang="{code}">Paris</lang>', code) == said("Paris", code)

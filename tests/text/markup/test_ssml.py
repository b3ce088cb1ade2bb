"""SSML: what its elements say, what of it is text, and what is refused."""

import re
import unicodedata
from html import unescape
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shm.inflection import Inflection
from tests.growth import grows_with_the_length
from tests.text.letters import KOKORO
from text.markup.inflections import EMPHASES
from text.markup.marked import Inflected, Marked, MarkupKind, Pause, Pronunciation, Rate, SentenceEnd
from text.markup.meanings import MAX_DEPTH, MarkupError
from text.markup.parse import parse_markup
from text.words.sanitize import sanitize


def parsed(text: str, language: str = "en-us") -> Marked:
    return parse_markup(MarkupKind.SSML, text, language, KOKORO)


def inside(content: str, language: str = "en-us") -> Marked:
    return parsed(f"<speak>{content}</speak>", language)


def test_a_whole_document() -> None:
    marked = parsed(
        """<?xml version="1.0" encoding="UTF-16"?>
<speak version="1.1" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="en-US">
  <!-- said to nobody -->
  <metadata><x>neither</x></metadata>
  <p><s>Tom &amp; <emphasis>Ann</emphasis>.</s> <s>They <![CDATA[<left>]]>.</s></p>
  <p>End</p>
</speak>"""
    )
    assert marked.text == "Tom & Ann.\n\nThey <left>.\n\nEnd"
    assert marked.annotations == (SentenceEnd(12), Inflected(6, 9, EMPHASES["moderate"]))


def test_lines_may_be_wrapped_anywhere() -> None:
    assert inside('one\n  <sub alias="two\n three">2</sub>:\n\n \n four').text == "one two three:\n\nfour"


def test_sentences_and_paragraphs_are_set_apart() -> None:
    marked = inside("<p>a<s>b</s></p>c<s>d</s><s>e</s>f")
    assert marked.text == "a\n\nb\n\nc\n\nd\n\ne\n\nf"
    assert marked.annotations == (SentenceEnd(3), SentenceEnd(9), SentenceEnd(12), SentenceEnd(15))


@pytest.mark.parametrize(
    ("attributes", "seconds"),
    [
        ('time="1.5s"', 1.5),
        ('time="250ms"', 0.25),
        ('time="+.5s"', 0.5),
        ("", 0.4),
        ('strength="x-strong"', 1.2),
        ('strength="weak" time="2s"', 2.0),
        ('time="0s"', 0.0),
    ],
)
def test_breaks(attributes: str, seconds: float) -> None:
    assert inside(f"one<break {attributes}/>two") == Marked("one two", (Pause(3, seconds),))


def test_a_break_of_no_strength_is_none() -> None:
    assert inside('one <break strength="none"/>two') == Marked("one two")


@pytest.mark.parametrize(
    ("written", "rate"),
    [("x-slow", 0.5), ("fast", 1.25), ("80%", 0.8), ("1.5", 1.5), ("+20%", 1.2), ("-50%", 0.5), (" 200% ", 2.0)],
)
def test_rates(written: str, rate: float) -> None:
    assert inside(f'a <prosody rate="{written}">b c</prosody> d') == Marked("a b c d", (Rate(2, 5, rate),))


def test_inner_rates_win_and_signed_ones_change_what_is_around_them() -> None:
    marked = inside('<prosody rate="50%">a <prosody rate="+100%">b</prosody> <prosody rate="2">c</prosody></prosody>')
    assert marked.annotations == (Rate(0, 1, 0.5), Rate(4, 5, 2.0))
    assert inside('<prosody rate="50%">a <prosody pitch="high">b</prosody></prosody>').annotations == (
        Rate(0, 1, 0.5),
        Rate(2, 3, 0.5),
        Inflected(2, 3, Inflection(pitch=2.0)),
    )


def test_a_phoneme_element() -> None:
    marked = inside('Say <phoneme alphabet="ipa" ph="təˈmɑːtoʊ">tomato</phoneme>.')
    assert marked == Marked("Say tomato.", (Pronunciation(4, 10, "təmˈɑtO"),))
    assert inside('<phoneme ph="təˈmɑːtəʊ">tomato</phoneme>', "en-gb").annotations == (Pronunciation(0, 6, "təmˈɑːtQ"),)


def test_an_alias_takes_the_texts_place() -> None:
    assert inside('the <sub alias="World Wide Web &lt;3">W<b>3</b></sub>, too').text == "the World Wide Web <3, too"


@pytest.mark.parametrize(
    ("attributes", "written", "said"),
    [
        ('interpret-as="characters"', "AB1-c", "A.B one dash C"),
        ('interpret-as="spell-out"', "A", "eh"),
        ('interpret-as="cardinal"', "1,234", "one thousand two hundred thirty-four"),
        ('interpret-as="ordinal"', "22", "twenty-second"),
        ('interpret-as="date" format="dmy"', "5/6/2026", "June fifth, twenty twenty-six"),
        ('interpret-as="date" format="md"', "Dec. 1st", "December first"),
        ('interpret-as="date" format="mdy"', "13/32/2026", "13/32/2026"),
        ('interpret-as="date"', "2026-11-21", "November twenty-first, twenty twenty-six"),
        ('interpret-as="time" format="hms12"', "2:30pm", "two thirty PM"),
        ('interpret-as="telephone"', "+44 20 123", "plus four four, two zero, one two three"),
        ('interpret-as="ordinal"', "many", "many"),
        ('interpret-as="vxml:boolean"', "22", "22"),
    ],
)
def test_say_as(attributes: str, written: str, said: str) -> None:
    assert inside(f"So <say-as {attributes}> {written}</say-as>!").text == f"So {said}!"


def test_other_languages_have_their_numbers() -> None:
    assert inside('<say-as interpret-as="ordinal">2</say-as>', "fr-fr").text == "deuxième"
    assert inside('<say-as interpret-as="cardinal">2</say-as>', "cmn").text == "2"


def test_unknown_elements_are_their_text() -> None:
    assert inside(
        'a <mstts:express-as style="sad">b<mark name="x"/></mstts:express-as> <audio src="x">c</audio>'
    ).text == ("a b c")


@pytest.mark.parametrize(
    ("document", "place", "message"),
    [
        ("<speak>\n a <b></speak>", (2, 9), "mismatched tag"),
        ("<speak>a & b</speak>", (1, 11), "&amp;"),
        ("<speak>&nbsp;</speak>", (1, 8), "undefined entity"),
        ("plain text", (1, 1), "syntax error"),
        ("", (1, 1), "no element found"),
        ("<speak>a", (1, 9), "no element found"),
        ("<speak>\x00</speak>", (1, 8), "not well-formed"),
        ("<voice>a</voice>", (1, 1), "inside <speak>"),
        ('<speak><break time="soon"/></speak>', (1, 8), "write 1.5s"),
        ('<speak><break strength="huge"/></speak>', (1, 8), "none, x-weak"),
        ('<speak><prosody rate="quick">a</prosody></speak>', (1, 8), "write 80%"),
        ('<speak><prosody rate="-100%">a</prosody></speak>', (1, 8), "25% to 400%"),
        ('<speak><phoneme ph="k">a</phoneme><phoneme>b</phoneme></speak>', (1, 35), "needs the attribute ph"),
        ('<speak><phoneme ph="k"/></speak>', (1, 8), "needs the word"),
        ('<speak><phoneme alphabet="sapi" ph="k">a</phoneme></speak>', (1, 8), 'alphabet="ipa"'),
        ('<speak><sub alias=" ">a</sub></speak>', (1, 8), "attribute alias"),
        ("<speak><say-as>a</say-as></speak>", (1, 8), "attribute interpret-as"),
    ],
)
def test_what_can_not_be_read_is_refused_with_its_place(document: str, place: tuple[int, int], message: str) -> None:
    with pytest.raises(MarkupError, match=re.escape(message)) as refusal:
        parsed(document)
    assert (refusal.value.status, refusal.value.code) == (400, "invalid_markup")
    assert (refusal.value.line, refusal.value.column) == place


@pytest.mark.parametrize(
    "declaration", ["<!DOCTYPE s>", '<!DOCTYPE s [<!ENTITY a "b">]>', '<!DOCTYPE s SYSTEM "file:///etc/passwd">']
)
def test_a_document_type_is_refused(declaration: str) -> None:
    with pytest.raises(MarkupError, match=r"line 1, .*leave it out"):
        parsed(f"{declaration}<speak>a</speak>")


def test_symbols_without_a_sound_are_named() -> None:
    with pytest.raises(MarkupError, match=r"'5' \(U\+0035\)") as refusal:
        inside('a\n<phoneme ph="k5t">a</phoneme>')
    assert (refusal.value.code, refusal.value.line, refusal.value.column) == ("unknown_phoneme", 2, 1)


def test_depth_and_pauses_are_bounded() -> None:
    deep = MAX_DEPTH - 1
    assert inside("<x>" * deep + "a" + "</x>" * deep).text == "a"
    with pytest.raises(MarkupError, match="deeper than"):
        inside("<x>" * (deep + 1) + "a" + "</x>" * (deep + 1))
    with pytest.raises(MarkupError, match="at most 60 seconds"):
        parsed('<speak><break time="30.1s"/>a<break time="30s"/></speak>')


_TAGS = ["p", "s", "prosody", "emphasis", "voice", "lang"]
_document = st.recursive(
    st.text(max_size=5).map(lambda text: escape(re.sub("[\x00-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]", "", text)))
    | st.sampled_from(["<break/>", "\n", " ", "e", "\u0301", "각", "\u11a8", '<sub alias="x">y</sub>', "<mark/>"]),
    lambda inner: st.tuples(st.sampled_from(_TAGS), st.lists(inner, max_size=4)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"
    ),
    max_leaves=12,
)


@given(_document)
def test_no_text_is_lost_and_places_are_true(content: str) -> None:
    marked = inside(content)
    assert sanitize(marked.text) == marked.text
    text = unescape(re.sub("<[^>]*>", "", re.sub("<sub.*?</sub>", "x", content)))
    assert _letters(marked.text) == _letters(sanitize(text))
    for annotation in marked.annotations:
        match annotation:
            case SentenceEnd(at):
                assert marked.text[at - 2 : at] == "\n\n"
            case Pause(at, _):
                assert marked.text[at - 1 : at].strip() or at == 0


def _letters(text: str) -> list[str]:
    return [c for c in unicodedata.normalize("NFD", text) if c.isascii() and c.isalnum()]


_ANYTHING = st.lists(
    st.sampled_from(
        [
            *("<speak>", "</speak>", "<p>", "</p>", "<break time=", '"1s"', "/>", "<", ">", "&", "&lt;", "&#0;"),
            *('<prosody rate="', '">', "<phoneme ph='k'>", "</phoneme>", "<!DOCTYPE x", "<![CDATA[", "]]>"),
            *(
                "<?x",
                "?>",
                '<say-as interpret-as="date" format="ymd">',
                "</say-as>",
                "1",
                "-",
                "\ud800",
                "\x00",
                "\ufeff",
                "²",
            ),
        ]
    )
    | st.text(max_size=4),
    max_size=20,
).map("".join)


@given(_ANYTHING | _ANYTHING.map(lambda inner: f"<speak>{inner}</speak>"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert sanitize(parsed(text).text) == parsed(text).text
    except MarkupError as error:
        assert error.line >= 1
        assert error.column >= 1


_KINDS = ["characters", "digits", "cardinal", "ordinal", "date", "time", "telephone"]


@given(
    st.sampled_from(_KINDS),
    st.sampled_from(["", "ymd", "dmy", "my", "d", "x"]),
    st.text("0123456789/-.:, apmNovthst½²٣", max_size=14) | st.text(max_size=5),
    st.sampled_from(["en-us", "en-gb", "es", "ja", "hi"]),
)
def test_say_as_reads_anything(kind: str, form: str, written: str, language: str) -> None:
    clean = escape(re.sub("[\x00-\x08\x0b-\x1f\ufffe\uffff\ud800-\udfff]", "", written))
    marked = inside(f'<say-as interpret-as="{kind}" format="{form}">{clean}</say-as>', language)
    assert bool(marked.text) or not any(map(str.isalnum, sanitize(written)))


@pytest.mark.parametrize("unit", ["<p>a</p>", "<break time='0s'/>", "a &amp; ", "<x/>", "<s/>", "\n", "&#10;"])
def test_time_grows_with_the_length_and_not_with_its_square(unit: str) -> None:
    assert grows_with_the_length(lambda count: parsed("<speak>" + unit * count + "</speak>"), 1_000)

"""Inflections on their way from markup to the spans of a segment's script."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.planning.planner import _segment
from shm.inflection import PLAIN, InflectedSpan, Inflection, at_fraction
from tests.text.letters import ESPEAK, KOKORO, LetterG2P
from text.markup.inflections import EMPHASES, STRESSES
from text.markup.marked import Inflected, Marked, MarkupKind
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup
from text.pipeline import TextPipeline
from text.words.segment import Notation, Segment


def marked(kind: MarkupKind, text: str) -> Marked:
    return parse_markup(kind, text, "en-us", KOKORO)


def ssml(inner: str) -> list[Inflected]:
    found = marked(MarkupKind.SSML, f"<speak>{inner}</speak>").annotations
    return [each for each in found if isinstance(each, Inflected)]


def tags(text: str, kind: MarkupKind = MarkupKind.TAGS) -> list[Inflected]:
    return [each for each in marked(kind, text).annotations if isinstance(each, Inflected)]


def segment(text: str, kind: MarkupKind = MarkupKind.TAGS, notation: Notation = KOKORO) -> Segment:
    sentences = TextPipeline(LetterG2P()).sentences(marked(kind, text), "en-us", notation)
    return _segment([unit for sentence in sentences for unit in sentence])


@pytest.mark.parametrize(
    ("attribute", "inflection"),
    [
        ('pitch="+2st"', Inflection(pitch=2)),
        ('pitch="-1.5 semitones"', Inflection(pitch=-1.5)),
        ('pitch="+100%"', Inflection(pitch=12)),
        ('pitch="+20st"', Inflection(pitch=12)),
        ('pitch="-100%"', Inflection(pitch=-12)),
        ('pitch="+170Hz"', Inflection(pitch=12)),
        ('pitch="180Hz"', Inflection(hertz=180)),
        ('pitch="x-low"', Inflection(pitch=-4)),
        ('range="+50%"', Inflection(range=1.5)),
        ('range="50%"', Inflection(range=0.5)),
        ('range="x-high"', Inflection(range=1.8)),
        ('volume="+6dB"', Inflection(volume=6)),
        ('volume="silent"', Inflection(volume=-60)),
        ('volume="+0.5"', Inflection(volume=0.5)),
        ('contour="(0%,+2st)(50%,-10%) (100%,default)"', None),
        ('pitch="medium"', PLAIN),
    ],
)
def test_prosody_by_its_attributes(attribute: str, inflection: Inflection | None) -> None:
    found = ssml(f"a <prosody {attribute}>b c</prosody> d")
    if inflection is None:
        [only] = found
        assert only.inflection.contour == ((0, 2), (0.5, pytest.approx(12 * math.log2(0.9))), (1, 0))
    else:
        assert found == ([] if inflection == PLAIN else [Inflected(2, 5, inflection)])


def test_a_level_without_a_unit_is_a_share_of_the_voices_own() -> None:
    [half] = ssml('<prosody volume="50">b</prosody>')
    assert half.inflection.volume == pytest.approx(-6.02, abs=0.01)


@pytest.mark.parametrize(
    "wrong",
    [
        'pitch="2 octaves"', 'pitch="20Hz"', 'pitch="50%"', 'range="400%"', 'range="+1"',
        'volume="+30dB"', 'volume="loudest"', 'contour="(0%,+2st) up"', 'contour="(50%,+2st) (10%,+1st)"',
        'contour="(110%,+2st)"', 'contour=""', 'duration="long"',
    ],
)  # fmt: skip
def test_a_value_that_cant_be_read_is_an_error_with_its_place(wrong: str) -> None:
    with pytest.raises(MarkupError, match=r"line 1, column 10: prosody"):
        ssml(f"a <prosody {wrong}>b</prosody>")


def test_an_unknown_emphasis_is_an_error_and_none_is_none() -> None:
    assert ssml('<emphasis level="none">a</emphasis>') == []
    assert ssml("<emphasis>a</emphasis>") == [Inflected(0, 1, EMPHASES["moderate"])]
    with pytest.raises(MarkupError, match="no level is called"):
        ssml('<emphasis level="huge">a</emphasis>')


def test_inner_elements_add_to_what_is_around_them() -> None:
    inner = '<prosody pitch="-1st" volume="-6dB">b</prosody>'
    assert ssml(f'<prosody pitch="+3st" range="50%" volume="-1dB">a {inner} c</prosody>') == [
        Inflected(0, 1, Inflection(pitch=3, range=0.5, volume=-1)),
        Inflected(2, 3, Inflection(pitch=2, range=0.5, volume=-7)),
        Inflected(4, 5, Inflection(pitch=3, range=0.5, volume=-1)),
    ]
    assert ssml('<prosody pitch="+8st"><prosody pitch="+8st">a</prosody></prosody>')[0].inflection.pitch == 12


def test_a_contour_and_a_duration_are_those_of_the_whole_element() -> None:
    first, rest = ssml(
        '<prosody contour="(0%,+0st) (100%,+8st)" duration="4s">aaaa<emphasis level="none"> bbb</emphasis></prosody>'
    )
    assert [at_fraction(first.inflection.contour, place) for place in (0, 1)] == [0, 4]
    assert at_fraction(rest.inflection.contour, 1) == 8
    assert first.inflection.duration == rest.inflection.duration == pytest.approx(4 / 7)


def test_tags_hold_until_the_next_one_or_the_next_voice() -> None:
    assert tags("a [pitch:+2]b [volume:-6dB]c [pitch:0]d") == [
        Inflected(2, 3, Inflection(pitch=2)),
        Inflected(4, 5, Inflection(pitch=2, volume=-6)),
        Inflected(6, 7, Inflection(volume=-6)),
    ]
    assert tags("[range:0.5]a") == [Inflected(0, 1, Inflection(range=0.5))]
    with pytest.raises(MarkupError, match="names no pitch"):
        tags("[pitch:high up]a")


@pytest.mark.parametrize("kind", [MarkupKind.BASIC, MarkupKind.TAGS])
@pytest.mark.parametrize("stress", STRESSES)
def test_stress_is_marked_as_misaki_marks_it(kind: MarkupKind, stress: str) -> None:
    assert tags(f"not [that]({stress}) one", kind) == [Inflected(4, 8, STRESSES[stress])]


@pytest.mark.parametrize("text", ["[a](+3)", "[a](1)", "[a](+1.5)", "[1](+)", "[that](link)"])
def test_what_is_no_stress_stays(text: str) -> None:
    assert tags(text, MarkupKind.BASIC) == []
    assert marked(MarkupKind.BASIC, text).text == text


@pytest.mark.parametrize(
    ("text", "stresses"),
    [
        ("This is *really* important.", {"*really*": "+0.5"}),
        ("Now **do not** touch it.", {"**do": "+0.5", "not**": "+0.5"}),
        (
            "**Note:** wait, it's *Peter*'s, “*not* mine”.",
            {"**Note:**": "+0.5", "*Peter*'s,": "+0.5", "“*not*": "+0.5"},
        ),
        ("It costs **12 euros** today.", {"**12": "+0.5", "euros**": "+0.5"}),
        ("I said NEVER do that, it is NOT, mind you, a joke.", {"NEVER": "+0.5", "NOT,": "+0.5"}),
        ("You asked IT and NASA of the US.", {}),
        ("STOP right THERE NOW!", {}),
        ("*All of it is marked.*", {}),
        ("He **said one two three four five six** then.", {}),
        ("2 * 3 * 4 is _snake_ and **kwargs.", {}),
    ],
)
def test_stresses_of_plain_text(text: str, stresses: dict[str, str]) -> None:
    words = segment(text, MarkupKind.BASIC).words
    found = {word.written: word.inflection for word in words if word.inflection}
    assert found == {written: STRESSES[number] for written, number in stresses.items()}


def test_words_keep_their_inflection_to_the_script() -> None:
    found = segment("One [pitch:+2]two three[pitch:0] four.")
    script = found.script
    [span] = found.inflected()
    assert script[span.start : span.end].split() == script.split()[1:3]
    assert span.inflection == Inflection(pitch=2)


def test_a_whole_texts_inflection_adds_to_the_markups() -> None:
    found = segment("One [pitch:+2]two.")
    spans = found.inflected(Inflection(pitch=1, range=0.5))
    assert [span.inflection for span in spans] == [Inflection(pitch=1, range=0.5), Inflection(pitch=3, range=0.5)]
    assert found.inflected() != ()
    assert segment("One two.").inflected() == ()


def test_a_duration_counts_the_written_words_of_its_span() -> None:
    found = segment('<speak>a <prosody duration="3s">bcd efg</prosody> h</speak>', MarkupKind.SSML)
    [span] = found.inflected()
    assert span.seconds == pytest.approx(3)


def test_an_engine_that_takes_text_gets_no_marks_in_its_text() -> None:
    assert segment("not [that](+1) one.", MarkupKind.BASIC, ESPEAK).script == "not that one."


VALUES = st.sampled_from(["+2st", "-3st", "x-high", "low", "+12st"])
PARTS = st.lists(st.tuples(st.integers(0, 3), VALUES), min_size=1, max_size=12)


@given(PARTS)
def test_spans_lie_in_order_within_the_script_and_cover_what_is_inflected(parts: list[tuple[int, str]]) -> None:
    text = " ".join(
        f'<prosody pitch="{value}" contour="(0%,+1st) (100%,+2st)">ab cd</prosody>' if kind else "ef"
        for kind, value in parts
    )
    found = segment(f"<speak>{text}.</speak>", MarkupKind.SSML)
    spans = found.inflected()
    assert all(0 <= span.start < span.end <= len(found.script) for span in spans)
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
    inflected_words = sum(len(found.script[span.start : span.end].split()) for span in spans)
    assert inflected_words == 2 * sum(bool(kind) for kind, _ in parts)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_part_of_a_contour_has_its_values(begin: float, end: float, place: float) -> None:
    begin, end = sorted((begin, end))
    whole = Inflection(contour=((0.1, -2.0), (0.4, 5.0), (0.9, 1.0)))
    part = whole.part(begin, end)
    if end - begin > 1e-3:
        at = begin + place * (end - begin)
        assert at_fraction(part.contour, place) == pytest.approx(at_fraction(whole.contour, at), abs=1e-6)


def test_spans_cross_a_pipe_whole() -> None:
    import msgspec

    span = InflectedSpan(1, 4, Inflection(pitch=2, contour=((0.0, 1.0), (1.0, 2.0))), 0.5)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(span), type=InflectedSpan) == span

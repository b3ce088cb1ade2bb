"""SSML as the W3C, Azure, Google and Polly write it in their documents: each form sounds as it says, or the reader
learns why it doesn't (`docs/markup.md` has the same list)."""

import re

import msgspec
import pytest

from shm.inflection import Inflection
from tests.frontend.http_fakes import ENGINE
from tests.text.letters import KOKORO
from text.g2p import G2P
from text.markup.inflections import EMPHASES
from text.markup.marked import Annotation, Bookmark, Inflected, MarkupKind, Pause, Rate
from text.markup.marked import Pronunciation as Said
from text.markup.meanings import MarkupError
from text.markup.parse import parse_markup
from text.markup.ssml import without_effect_in
from text.pipeline import TextPipeline

INFLECTING = msgspec.structs.replace(ENGINE, inflects=True)
PIPELINE = TextPipeline(G2P())

SOUNDS: list[tuple[str, str, list[Annotation]]] = [
    # SSML 1.1, sections 3.1 to 3.3
    ('<prosody contour="(0%,+20Hz) (10%,+30%) (40%,+10Hz)">good morning</prosody>', "good morning",
     [Inflected(0, 12, Inflection(contour=((0.0, 1.926), (0.1, 4.542), (0.4, 0.989), (1.0, 0.989))))]),
    ('is <prosody rate="-10%">$45</prosody>', "is forty-five dollars", [Rate(3, 6, 0.9)]),
    ("a <emphasis>big</emphasis> car", "a big car", [Inflected(2, 5, EMPHASES["moderate"])]),
    ('a <emphasis level="strong">huge</emphasis> bank', "a huge bank", [Inflected(2, 6, EMPHASES["strong"])]),
    ("a deep breath <break/> then", "a deep breath then", [Pause(13, 0.4)]),
    ('the tone. <break time="3s"/> I', "the tone. I", [Pause(9, 3.0)]),
    ('you! <break strength="weak"/> Please', "you! Please", [Pause(4, 0.2)]),
    ('<sub alias="World Wide Web Consortium">W3C</sub>', "World Wide Web Consortium", []),
    ('from <mark name="here"/> here', "from here", [Bookmark(5, "here")]),
    ('<audio src="prompt.au">What city?</audio>', "What city?", []),
    ('<token role="claws:VVI">close</token>', "close", []),
    ('<prosody pitch="high" range="low">x</prosody>', "x", [Inflected(0, 1, Inflection(pitch=2, range=0.7))]),
    ('<prosody duration="2s">x</prosody>', "x", [Inflected(0, 1, Inflection(duration=2))]),
    # Azure, "Customize voice and sound" and "Structure and events"
    ('<prosody rate="+30.00%">Enjoy</prosody>', "Enjoy", [Rate(0, 5, 1.3)]),
    ('<prosody volume="+20.00%">x</prosody>', "x", [Inflected(0, 1, Inflection(volume=1.584))]),
    ('<prosody volume="75">x</prosody>', "x", [Inflected(0, 1, Inflection(volume=-2.499))]),
    ('<prosody volume="+10">x</prosody>', "x", [Inflected(0, 1, Inflection(volume=10))]),
    ('<prosody pitch="600Hz">x</prosody>', "x", [Inflected(0, 1, Inflection(hertz=600))]),
    ('<prosody pitch="+80Hz">x</prosody>', "x", [Inflected(0, 1, Inflection(pitch=6.67))]),
    ('<prosody pitch="-2st">x</prosody>', "x", [Inflected(0, 1, Inflection(pitch=-2))]),
    ('<prosody contour="(60%,-60%) (100%,+80%)">Were you?</prosody>', "Were you?",
     [Inflected(0, 9, Inflection(contour=((0.0, -12.0), (0.6, -12.0), (1.0, 10.176))))]),
    ('<bookmark mark="flower_1"/>roses', "roses", [Bookmark(0, "flower_1")]),
    ('<say-as interpret-as="address">150th CT NE, Redmond, WA</say-as>',
     "one hundred fiftieth Court NE, Redmond, Washington", []),
    ('<say-as interpret-as="number_digit">1234</say-as>', "one two three four", []),
    ('<say-as interpret-as="fraction">3/8</say-as>', "three eighths", []),
    ('<say-as interpret-as="duration" format="hms">01:18:30</say-as>',
     "one hour, eighteen minutes, thirty seconds", []),
    ('<say-as interpret-as="name">ED</say-as>', "ED", []),
    ('<say-as interpret-as="currency">99.9 USD</say-as>', "ninety-nine point nine US dollars", []),
    ('<phoneme alphabet="ipa" ph="tə.ˈmeɪ.toʊ">tomato</phoneme>', "tomato", [Said(0, 6, "təmˈAtO")]),
    # Google, "Speech Synthesis Markup Language (SSML)"
    ('<say-as interpret-as="currency" language="en-US">$42.01</say-as>', "forty-two dollars and one cent", []),
    ('<say-as interpret-as="telephone" google:style="zero-as-zero">(800) 202-1212</say-as>',
     "eight zero zero, two zero two, one two one two", []),
    ('<say-as interpret-as="verbatim">abc</say-as>', "A.B.C", []),
    ('<say-as interpret-as="date" format="yyyymmdd" detail="1">1960-09-10</say-as>',
     "September tenth, nineteen sixty", []),
    ('<say-as interpret-as="date" format="dm">10-9</say-as>', "September tenth", []),
    ('<say-as interpret-as="fraction">5+1/2</say-as>', "5 and one half", []),
    ('<say-as interpret-as="bleep">censor this</say-as>', "bleep", []),
    ('<say-as interpret-as="unit">10 foot</say-as>', "10 foot", []),
    ('<say-as interpret-as="time" format="hms12">2:30pm</say-as>', "two thirty PM", []),
    ('<prosody rate="slow" pitch="-2st">hear</prosody>', "hear",
     [Rate(0, 4, 0.75), Inflected(0, 4, Inflection(pitch=-2))]),
    ("<phoneme alphabet=\"x-sampa\" ph='m@\"hA:g@%ni:'>mahogany</phoneme>", "mahogany",
     [Said(0, 8, "məhˈɑɡənˌi")]),
    # Polly, "Supported SSML tags"
    ('I <emphasis level="strong">really like</emphasis> it', "I really like it",
     [Inflected(2, 13, EMPHASES["strong"])]),
    ("<phoneme alphabet=\"x-sampa\" ph='pI\"kA:n'>pecan</phoneme>", "pecan", [Said(0, 5, "pɪkˈɑn")]),
    ('<prosody volume="+4.5dB">x</prosody>', "x", [Inflected(0, 1, Inflection(volume=4.5))]),
    ('<prosody rate="20%">x</prosody>', "x", [Rate(0, 1, 0.25)]),
    ('<prosody pitch="+50%">x</prosody>', "x", [Inflected(0, 1, Inflection(pitch=7.02))]),
    ('<say-as interpret-as="telephone">2122241555</say-as>', "two one two two two four one five five five", []),
    ('<say-as interpret-as="date" format="mdy">3/6/2016</say-as>', "March sixth, twenty sixteen", []),
    ('<say-as interpret-as="time">1\'21"</say-as>', "one minute, twenty-one seconds", []),
    ('may be <w role="amazon:VB">read</w>', "may be read", []),
]  # fmt: skip


def _as_shown(annotation: Annotation) -> str:
    """The annotation with its numbers to three digits."""
    if isinstance(annotation, Inflected):
        had = annotation.inflection
        contour = [(at, float(round(value, 1))) for at, value in had.contour]
        numbers = [float(round(getattr(had, name), 1)) for name in ("pitch", "hertz", "range", "volume", "stretch")]
        return f"{annotation.start} {annotation.end} {numbers} {had.duration > 0} {contour}"
    return str(annotation)


@pytest.mark.parametrize(("document", "said", "annotations"), SOUNDS, ids=[each[0] for each in SOUNDS])
def test_it_sounds_as_it_says(document: str, said: str, annotations: list[Annotation]) -> None:
    marked = parse_markup(MarkupKind.SSML, f"<speak>{document}</speak>", "en-us", KOKORO)
    sentences = PIPELINE.sentences(marked, "en-us", KOKORO)
    words = [word.said for sentence in sentences for unit in sentence for word in unit.words]
    assert " ".join(words) == said
    assert [_as_shown(each) for each in marked.annotations] == [_as_shown(each) for each in annotations]


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ('<mstts:express-as style="cheerful">x</mstts:express-as>', "mstts:express-as"),
        ('<mstts:silence type="Sentenceboundary" value="200ms"/>x', "mstts:silence"),
        ('<mstts:viseme type="redlips_front"/>x', "mstts:viseme"),
        ('<mstts:audioduration value="20s"/>x', "mstts:audioduration"),
        ('<mstts:backgroundaudio src="https://a/b.wav" volume="0.7"/>x', "mstts:backgroundaudio"),
        ('<lexicon uri="https://a/b.xml"/>x', "lexicon"),
        ('<audio src="a.wav">x</audio>', "audio"),
        ('<par><media begin="0.5s"><speak>x</speak></media></par>', "par"),
        ('<google:style name="lively">x</google:style>', "google:style"),
        ("<amazon:auto-breaths>x</amazon:auto-breaths>", "amazon:auto-breaths"),
        ('<amazon:domain name="news">x</amazon:domain>', "amazon:domain"),
        ('<amazon:effect name="whispered">x</amazon:effect>', "amazon:effect"),
    ],
)
def test_an_element_without_effect_is_read_and_named(document: str, named: str) -> None:
    assert parse_markup(MarkupKind.SSML, f"<speak>{document}</speak>", "en-us", KOKORO).text == "x"
    assert without_effect_in(f"<speak><!-- <b> --><![CDATA[<i>]]>{document}</speak>")[0] == f"ssml.{named}"


@pytest.mark.parametrize(
    ("attributes", "unfollowed"),
    [
        ('contour="(0%,+2st)" rate="80%"', "contour"),
        ("duration = '2s' volume='loud'", "duration"),
        ('range="high" pitch="180Hz"', "pitch"),
        ('pitch="+20Hz" range="high" volume="+6dB"', ""),
    ],
)
def test_what_espeak_cant_follow_is_named(attributes: str, unfollowed: str) -> None:
    document = f"<speak><prosody {attributes}>x</prosody> duration=2</speak>"
    shown = [f"ssml.prosody.{unfollowed}"] if unfollowed else []
    assert without_effect_in(document, INFLECTING) == shown
    assert without_effect_in(document, msgspec.structs.replace(INFLECTING, scores=True)) == []
    every = without_effect_in(document, ENGINE)
    assert set(every) == {f"ssml.prosody.{name}" for name in re.findall(r"(\w+) ?=", attributes) if name != "rate"}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ('<voice name="en-US-AvaNeural">x</voice>', "No voice is called 'en-US-AvaNeural'"),
        ('<phoneme alphabet="sapi" ph="iy eh n">x</phoneme>', "the alphabet 'sapi' isn't known"),
        ('<phoneme alphabet="ups" ph="JH AU">x</phoneme>', "the alphabet 'ups' isn't known"),
        ('<phoneme alphabet="x-amazon-pinyin" ph="bao2">x</phoneme>', "the alphabet 'x-amazon-pinyin' isn't known"),
        ('<prosody range="+20Hz">x</prosody>', "is no range"),
    ],
)
def test_what_cant_be_spoken_is_refused_by_its_name(document: str, reason: str) -> None:
    with pytest.raises(MarkupError, match=reason):
        parse_markup(MarkupKind.SSML, f"<speak>{document}</speak>", "en-us", KOKORO)

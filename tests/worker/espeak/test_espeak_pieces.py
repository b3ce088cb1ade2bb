"""Text that crashes espeak-ng, or loses its end there, as `pieces` gives it over."""

import json
import random
import subprocess
import sys

import pytest

from shm.espeak.pieces import pieces
from tests.growth import grows_with_the_length
from worker.engine import Utterance
from worker.engines.espeak import EspeakEngine

LANGUAGES = ("en-us", "en-gb", "es", "fr-fr", "hi", "it", "ja", "pt-br", "cmn")
ORDINARY = (
    "The quick brown fox jumps over the lazy dog, and then it sleeps in the sun.",
    "It's a well-known e-mail - pre- and post-war, at -5 degrees--really! See https://example.com/a-b?c=d.",
    "कुत्ता धूप में सोता है और लोमड़ी उसके ऊपर से कूदती-फाँदती है।",
    "狗在阳光下睡觉，狐狸从它身上跳过去。" * 20,
    "いぬはひなたでねていて、きつねがそのうえをとびこえます。" * 20,
    "A sentence of usual length stands here, and the next one follows. " * 15,
    "a" * 40,
)
CRASHING = (
    "-----हह",
    "(कुछ)-हह",
    "٣-्ब",
    "͇͊-͕",
    "؟-Nላ",
    "⎚-Ⅰ⌲⎆-,≆",
    "a." * 500,
    "A." * 500,
    "'s" * 500,
    "A.#をshgdLkgFCkPMtUAwqmCUYjZdnqiOvKpjlsfJgFbBrtUbiTuQIWGuPZvSuEtqEBLxVmiQRcNxFNOmLmzRqAELvkKvFdMGLoABowww.a-$x",
    "⣿ ǰ",
    "\ue000\U00100000" * 100,
)
"""All but the last two kill a process that gives them to espeak-ng as they are, in some languages or all."""

SPEAK = """
import json, sys
from worker.engine import Utterance
from worker.engines.espeak import EspeakEngine
engine = EspeakEngine()
for line in sys.stdin:
    language, text = json.loads(line)
    [block] = engine.begin(Utterance(text, language, (("af_heart", 1.0),), 2.5))
    print(len(block.samples), flush=True)
"""


def survived(cases):
    """Number of cases that a process speaks before it dies."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    run = subprocess.run([sys.executable, "-c", SPEAK], input=lines, capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr, run.stderr
    return len(run.stdout.splitlines())


def random_text(chance):
    """Words, numbers, addresses, signs and pictures of all scripts, and repetitions of them."""
    blocks = (0x20, 0x5F), (0xA0, 0x500), (0x5D0, 0x6FF), (0x900, 0xDFF), (0x2000, 0x2BFF), (0x3040, 0x7FFF)
    words = (
        "fox's U.S.A. naïve हह क्षत्रिय привет سلام 中华 ひなた 안녕 ሰላም a. $1,250.75 12:34 http://a.b/c-d 😀 👍🏽 ---"
    )
    tokens = words.split()

    def strange():
        first, last = chance.choice([*blocks, (0x1F300, 0x1FAFF), (0xE000, 0xF8FF)])
        return "".join(chr(chance.randint(first, last)) for _ in range(chance.choice([1, 3, 9])))

    def token():
        one = chance.choice(
            [chance.choice(tokens), strange(), chance.choice(".,;:!?()-'/%&@#…—") * chance.randint(1, 5)]
        )
        return one * chance.choice([1, 1, 1, 1, 2, 30])

    length = chance.choice([10, 50, 300, 1000])
    text = ""
    while len(text) < length:
        text += token() + chance.choice(["", " ", " ", "-"])
    return text[:length]


def texts_of(script):
    return [piece.text for piece in pieces(script)]


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_is_one_piece_and_unchanged(text):
    [piece] = pieces(text)
    assert (piece.text, piece.places) == (text, tuple(range(len(text))))


@pytest.mark.parametrize(
    "text", ["wonderful " * 100, "狗" * 1000, "a." * 500, "7" * 1000, "😀" * 100, "क्ष " * 250, "x" * 99]
)
def test_nothing_is_lost_by_cutting(text):
    cut = texts_of(text)
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(cut)


@pytest.mark.parametrize(
    "text", [*CRASHING, "one\x00two (a)-b -c ---d e", "x" * 99 + " y-" + "z'" * 50, "क्ष " * 250, "狗" * 1000]
)
def test_every_character_knows_its_place(text):
    """So does what was put in for another: it has that one's, or its neighbour's."""
    cut = pieces(text)
    places = [place for piece in cut for place in piece.places]
    assert all(len(piece.text) == len(piece.places) for piece in cut)
    assert places == sorted(places)
    written = "".join(piece.text for piece in cut)
    assert all(character in (text[place], " ", "-") for character, place in zip(written, places, strict=True))
    spaces_and_hyphens = {place for place, character in enumerate(text) if character in " -" or character < " "}
    assert set(range(len(text))) - set(places) <= spaces_and_hyphens


def test_words_are_cut_at_their_ends():
    assert all(piece.split() == ["wonderful"] * len(piece.split()) for piece in texts_of("wonderful " * 100))


def test_nothing_is_cut_off_from_its_mark():
    for piece in texts_of("e\u0323\u0301" * 300):
        assert all(word[0] == "e" for word in piece.split())


@pytest.mark.parametrize("share", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_crashing_texts_are_spoken(share):
    cases = [(each, text) for place, text in enumerate(CRASHING) for each in LANGUAGES[place % share :: share]]
    assert survived(cases) == len(cases)


@pytest.mark.slow
def test_random_texts_are_spoken():
    chance = random.Random(20_26)
    cases = [(chance.choice(LANGUAGES), random_text(chance)) for _ in range(40)]
    assert (done := survived(cases)) == len(cases), f"dies of {cases[done]}"


@pytest.mark.parametrize(
    ("language", "word"), [("en-us", "A/"), ("cmn", "中华人民"), ("ja", "ひなた"), ("en-us", "1.5 "), ("hi", "कख")]
)
def test_a_long_clause_is_spoken_to_its_end(language, word):
    engine = EspeakEngine()

    def length(times):
        [block] = engine.begin(Utterance(word * times, language, (("af_heart", 1.0),), 2.0))
        return len(block.samples)

    assert length(200) == pytest.approx(10 * length(20), rel=0.15)


@pytest.mark.parametrize("unit", ["-", "a.", "- ", "abc. ", "狗", "\u0301"])
def test_linear_time(unit):
    assert grows_with_the_length(lambda times: pieces(unit * times), 4_000)

"""Text that crashes espeak-ng, or loses its end there, as `pieces` gives it over."""

import json
import logging
import random
import re
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from shm.espeak.installation import cure
from shm.espeak.messages import PRONOUNCING
from shm.espeak.pieces import pieces
from shm.expendable import Expendable
from tests.espeak_copies import DATA, LIBRARY, PARTS, copied, damage, damages
from tests.growth import grows_with_the_length
from tests.worker.espeak_speech import FOX, TEXTS, one, spoken
from text.espeak import espeak
from text.g2p import G2P
from text.words.segment import PhonemeSource
from worker.engine import Block, EngineUnavailable, Utterance
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


@pytest.fixture(scope="module")
def engine():
    return EspeakEngine()


def marked(engine, script, language="en-us", speed=1.0, from_sample=0):
    """The marks, and the samples from the utterance's start."""
    asked = Utterance(script, language, one("af_heart"), speed, 0, from_sample, marks=True)
    [block] = engine.begin(asked)
    return list(block.marks), np.concatenate([np.zeros(from_sample, np.int16), block.samples])


def level(samples):
    return np.abs(samples.astype(int)).max()


@pytest.mark.parametrize("speed", [0.25, 0.4, 1.0, 1.7, 2.6, 4.0, 5.0])
def test_words_are_marked_where_they_sound(engine, speed):
    """Silence lies between "stop" and "Now" at the usual pace and slower, and its borders are marked."""
    script = "Please stop, Now let it go."
    marks, samples = marked(engine, script, speed=speed)
    where = dict(marks)
    pause = [12] if speed <= 1 else []
    assert [place for place, _ in marks] == [0, 7, *pause, 13, 17, 21, 24, 27]
    assert level(samples[where[27] :]) <= 64 < level(samples[where[24] : where[27]])
    if pause:
        assert level(samples[where[12] : where[13]]) < 300 < level(samples[where[7] : where[12]])
        assert where[13] - where[12] > 0.05 * 24_000
    for place, word in ((7, "stop"), (17, "let"), (24, "go")):
        following = min(sample for at, sample in marks if at > place)
        alone = len(spoken(engine, word, speed=speed))
        assert 0.3 * alone < following - where[place] < 1.7 * alone, word


def test_without_being_asked_it_marks_nothing(engine):
    [block] = engine.begin(Utterance(FOX, "en-us", one("af_heart"), 1.0))
    assert block.marks == ()


def test_marks_are_whole_wherever_the_samples_begin(engine):
    assert marked(engine, FOX, from_sample=30_000)[0] == marked(engine, FOX)[0]


@pytest.mark.parametrize("speed", [0.25, 1.0, 4.0, 5.0])
@pytest.mark.parametrize(
    ("language", "script"),
    [
        *TEXTS.items(),
        ("en-us", '"It costs $5," he said in 2026 (of the year).'),
        ("en-us", "★ ✓"),
        ("en-us", ""),
        ("en-us", " leading and trailing  "),
        ("en-us", "wonderful " * 100),
        ("en-us", "---हह (कुछ)-हह 😀👍🏽 U.S.A. naïve \x00 www.a-b.com/c?d=e"),
    ],
)
def test_marks_rise_and_end_with_the_script(engine, language, script, speed):
    marks, samples = marked(engine, script, language, speed)
    places, at = zip(*marks, strict=True)
    assert list(places) == sorted(set(places)) and list(at) == sorted(at)
    assert marks[-1][0] == len(script) and 0 < marks[-1][1] <= len(samples)
    assert places[0] >= 0 and at[0] >= 0


def test_what_is_read_as_several_words_is_one_written_word(engine):
    marks, _ = marked(engine, "in 2026 a lot")
    assert [place for place, _ in marks] == [0, 3, 4, 8, 10, 13]
    assert marks[3][1] - marks[1][1] > 4 * (marks[1][1] - marks[0][1]), "the whole number"


def test_a_text_that_is_cut_into_pieces_is_marked_through(engine):
    script = "wonderful " * 100
    marks, samples = marked(engine, script)
    begun = [sample for place, sample in marks if place % 10 == 0 and place < len(script)]
    assert len(begun) == 100
    assert np.allclose(np.diff(begun), len(samples) / 100, rtol=0.35)


def test_what_was_rewritten_is_marked_in_the_script(engine):
    """The hyphen next to the bracket is taken out before espeak-ng counts, and a long word gets spaces."""
    script = "say (it)-well " + "x" * 50 + " then"
    marks, _ = marked(engine, script)
    assert {0, script.index("it"), script.index("then"), len(script)} <= {place for place, _ in marks}


EVERY = [(part, how) for part in PARTS for how in damages(part)]
SHORT = [(part, damages(part)[place % len(damages(part))]) for place, part in enumerate(PARTS)]
SHORT.append((f"{DATA}/en_dict", "noise"))
"""One damage of each part, all damages among them, and one of which only the silence tells."""

_LIKELY_HARMLESS = {f"{DATA}/intonations", f"{DATA}/voices/!v"}
"""Parts without which there is another melody, or another voice."""


@pytest.fixture(params=SHORT + [pytest.param(case, marks=pytest.mark.slow) for case in EVERY if case not in SHORT])
def damaged(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A damaged copy is the one that helper processes find."""
    part, how = request.param
    damage(copied(tmp_path / "site", part), how)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return part, how


def test_the_engine_refuses_with_one_line_or_speaks(damaged: tuple[str, str]) -> None:
    part, how = damaged
    try:
        engine = EspeakEngine()
        engine.warm_up()
    except EngineUnavailable as error:
        assert cure() in str(error) and "\n" not in str(error)
        # the end of a halved library may be found when the system loads it: SIGBUS names no file
        assert how == "noise" or part.rpartition("/")[2] in str(error) or (part == LIBRARY and "SIGBUS" in str(error))
        return
    assert part in _LIKELY_HARMLESS
    blocks = engine.begin(Utterance("Good morning.", "en-us", (("af_heart", 1.0),), 1.0))
    assert any(block.samples.any() for block in blocks)
    engine._helper.end_helper()


def test_an_engine_without_a_sound_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise in place of a dictionary is silence on one processor, and a crash on another."""
    engine = EspeakEngine()
    monkeypatch.setattr(engine, "begin", lambda *_: iter([Block(0, np.zeros(2400, np.int16))]))
    with pytest.raises(EngineUnavailable, match="no sound") as refusal:
        engine.warm_up()
    assert cure() in str(refusal.value)


def test_english_is_pronounced_and_it_is_said_once(
    damaged: tuple[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    helper = Expendable(PRONOUNCING, "kokoro-live: g2p")
    monkeypatch.setattr(espeak, "_helper", helper)
    monkeypatch.setattr(espeak, "_unavailable", [])
    monkeypatch.setattr(espeak, "_memory", OrderedDict())
    g2p = G2P()
    hello, *names = g2p.words("Hello Kbrntz Kbrntzel.", "en-us")
    assert hello.source is PhonemeSource.LEXICON
    assert all(name.phonemes and name.source in (PhonemeSource.LETTERS, PhonemeSource.ESPEAK) for name in names)
    assert g2p.fallbacks.total() == 3
    helper.end_helper()
    assert not any(record.exc_info for record in caplog.records)
    told = [record for record in caplog.records if record.levelno >= logging.ERROR]
    part, how = damaged
    if part not in _LIKELY_HARMLESS and how != "noise":
        assert [name.source for name in names] == [PhonemeSource.LETTERS] * 2
        assert len(told) == 1 and cure() in told[0].message


def test_a_language_whose_data_is_whole_is_pronounced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    damage(copied(tmp_path / "site", f"{DATA}/fr_dict"), "halved")
    monkeypatch.syspath_prepend(tmp_path / "site")
    helper = Expendable(PRONOUNCING, "kokoro-live: g2p")
    monkeypatch.setattr(espeak, "_helper", helper)
    monkeypatch.setattr(espeak, "_unavailable", [])
    monkeypatch.setattr(espeak, "_memory", OrderedDict())
    assert espeak.phonemes("hola", "es")
    with pytest.raises(espeak.EspeakUnavailable, match=f"fr_dict.*{re.escape(cure())}"):
        espeak.phonemes("bonjour", "fr")
    assert espeak.phonemes("hello", "en-us")
    helper.end_helper()

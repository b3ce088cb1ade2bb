"""No text ends this process: espeak-ng dies in its helper, for one word."""

import datetime
import logging
import os
import random
import signal
from collections import Counter

import pytest

from shm.espeak.messages import LANGUAGE_FILES
from text.east_asian import missing
from text.espeak import espeak
from text.g2p import G2P
from text.words.segment import PhonemeSource

_g2p = G2P()

POISON = "\u033e\u093dn\u115cQ"
"""Ends espeak-ng 1.52 in its voice `hi`."""

LANGUAGES = [language for language in sorted(LANGUAGE_FILES) if language not in ("ja", "cmn") or not missing(language)]

_BLOCKS = ((0x20, 0x7E), (0xA0, 0x250), (0x300, 0x52F), (0x590, 0x6FF), (0x900, 0xDFF), (0x1100, 0x11FF))
_MORE_BLOCKS = ((0x13A0, 0x13FF), (0x2000, 0x2BFF), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xE000, 0xE0FF))


@pytest.fixture
def deaths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(espeak._helper, "restarted", lambda: found.append(1))
    espeak._memory.clear()
    return found


@pytest.mark.parametrize("word", [POISON, "\u13e8a\u115c"])
def test_a_word_that_kills_espeak_has_no_phonemes_and_is_asked_once(word: str, deaths: list[int]) -> None:
    assert espeak.phonemes(word, "hi") == ""
    assert len(deaths) == 1
    assert espeak.phonemes(word, "hi") == ""
    assert len(deaths) == 1
    assert espeak.phonemes("नमस्ते", "hi")


def test_the_texts_that_are_asked_for_with_it_are_pronounced(deaths: list[int]) -> None:
    said = espeak.phonemes_of(["नमस्ते", POISON, "दुनिया"], "hi")
    assert said == [espeak.phonemes("नमस्ते", "hi"), "", espeak.phonemes("दुनिया", "hi")]
    assert deaths


@pytest.mark.parametrize("language", ["en-us", "hi"])
def test_it_is_spelled_by_its_letters_and_no_word_is_lost(language: str, deaths: list[int]) -> None:
    words = _g2p.words(f"so {POISON} so", language)
    assert [word.text for word in words] == ["so", POISON, "so"]
    assert all(any(map(str.isalpha, word.phonemes)) for word in words)
    assert deaths


def test_a_helper_killed_from_outside_is_not_noticed_by_the_text(deaths: list[int]) -> None:
    expected = espeak.phonemes("zorbling", "en-us")
    espeak._memory.clear()
    os.kill(espeak.helper_pids()[1], signal.SIGKILL)
    assert espeak.phonemes("zorbling", "en-us") == expected
    assert len(deaths) == 1


def test_several_texts_take_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[bytes] = []
    ask = espeak._helper.ask
    monkeypatch.setattr(espeak._helper, "ask", lambda request: requests.append(request) or ask(request))
    espeak._memory.clear()
    together = espeak.phonemes_of(["hola", "mundo", "hola"], "es")
    assert len(requests) == 1
    assert together == [espeak.phonemes(text, "es") for text in ("hola", "mundo", "hola")]
    assert len(requests) == 1, "those are remembered"


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak, "_REMEMBERED", 10)
    for count in range(30):
        espeak.phonemes(f"zorb{'aeiou'[count % 5] * (count // 5 + 1)}", "en-us")
    assert len(espeak._memory) <= 10


def test_a_voice_that_is_missing_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        for _ in range(2):
            with pytest.raises(espeak.EspeakUnavailable, match="no voice xx9"):
                espeak.phonemes("hola", "xx9")
    assert len(caplog.records) == 1


def _random_text(chance: random.Random) -> str:
    def word() -> str:
        if chance.random() < 0.2:
            return chance.choice(["hello", "नमस्ते", "$1,250.75", "12:30", "a.b@c.de", "😀", "Kubernetes", "don't", "3²"])
        blocks = [chance.choice(_BLOCKS + _MORE_BLOCKS) for _ in range(chance.randint(1, 3))]
        return "".join(chr(chance.randint(*chance.choice(blocks))) for _ in range(chance.randint(1, 9)))

    return " ".join(word() for _ in range(chance.randint(1, 30)))


@pytest.mark.timeout(300)
def test_random_texts_of_today() -> None:
    """The seed is the date, so that each day tries other texts; a failure names the seed and the text."""
    seed = int(os.environ.get("KOKORO_LIVE_FUZZ_SEED") or datetime.date.today().strftime("%Y%m%d"))
    logging.getLogger(__name__).warning("seed %d (KOKORO_LIVE_FUZZ_SEED repeats it)", seed)
    chance = random.Random(seed)
    silent: Counter[str] = Counter()
    for _ in range(80):
        text, language = _random_text(chance), chance.choice(LANGUAGES)
        try:
            words = _g2p.words(text, language)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {language} {text!r}") from error
        assert [word.text for word in words] == text.split(), f"seed {seed}: {language} {text!r}"
        for word in words:
            if word.source is PhonemeSource.NONE and any(c.isascii() and c.isalnum() for c in word.text):
                silent[f"{language} {word.text!r}"] += 1
    assert not silent, f"seed {seed}: words without a sound: {silent}"

"""The independent reader notices what a listener would: a word, a sample or a pause that is lost, doubled or moved."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.miniature import expected, tokens_of
from tests.system.reading import FADE, RATE, check, read

TEXT = "A cat follows the river. It goes on, and here is number 21."
SAID = ["ɐ kˈæt fˈɑlOz ðə ɹˈɪvəɹ.", "ɪt ɡˈOz ˌɔn,", "ænd hˈɪɹ ɪz nˈʌmbəɹ twˈɛnti wˈʌn."]
SECONDS = [0.43, 0.36, 0.1]


def spoken(said: list[str], pauses: list[float], speed: float = 1.0) -> NDArray[np.int16]:
    rise = np.arange(FADE) / FADE
    pieces = []
    for phonemes, pause in zip(said, pauses, strict=True):
        segment = expected(tokens_of(phonemes), speed).astype(float)
        segment[:FADE] *= rise
        segment[-FADE:] *= rise[::-1]
        pieces += [segment, np.zeros(round(pause * RATE / speed))]
    return np.concatenate(pieces).astype(np.int16)


@pytest.mark.parametrize("speed", [1.0, 1.5])
def test_what_was_said_is_read_back(speed: float) -> None:
    samples = spoken(SAID, SECONDS, speed)
    heard = list(read(samples, speed))
    assert [each.phonemes for each in heard] == SAID
    assert [each.pause * speed for each in heard[:-1]] == pytest.approx(SECONDS[:-1], abs=1e-3)
    check(TEXT, samples, speed)


@pytest.mark.parametrize(
    ("said", "pauses"),
    [
        (["ɐ kˈæt fˈɑlOz ɹˈɪvəɹ.", *SAID[1:]], SECONDS),
        (["ɐ kˈæt kˈæt fˈɑlOz ðə ɹˈɪvəɹ.", *SAID[1:]], SECONDS),
        (["ɐ ɹˈɪvəɹ fˈɑlOz ðə kˈæt.", *SAID[1:]], SECONDS),
        (["ɐ kˈæt fˈɑlOz ðə ɹˈɪvə.", *SAID[1:]], SECONDS),
        (SAID[1:], SECONDS[1:]),
        ([*SAID, SAID[2]], [*SECONDS, 0.0]),
        ([SAID[1], SAID[0], SAID[2]], SECONDS),
        (SAID, [0.05, *SECONDS[1:]]),
        (SAID, [2.0, *SECONDS[1:]]),
    ],
)
def test_other_words_and_other_pauses_are_noticed(said: list[str], pauses: list[float]) -> None:
    with pytest.raises(AssertionError):
        check(TEXT, spoken(said, pauses))


@pytest.mark.parametrize("place", [1000, 30_000, -3000])
def test_a_sample_that_is_lost_doubled_or_wrong_is_noticed(place: int) -> None:
    samples = spoken(SAID, SECONDS)
    assert samples[place]
    wrong = samples.copy()
    wrong[place] += 1
    for other in (np.delete(samples, place), np.insert(samples, place, samples[place]), wrong):
        with pytest.raises((AssertionError, ValueError)):
            check(TEXT, other)

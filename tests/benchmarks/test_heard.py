"""A recording compared with what should sound: gaps of silence are told from samples that are wrong."""

import numpy as np
import pytest

from benchmarks.measuring.heard import WINDOW, Break, Gap, Heard, compare
from shm.audio import SAMPLE_RATE, Pcm

AUDIO = np.random.default_rng(1).integers(1000, 30_000, 6 * WINDOW).astype(np.int16)
AUDIO[2000:2500] = 0  # a pause
PLACE = 3 * WINDOW


def silence(count: int) -> Pcm:
    return np.zeros(count, np.int16)


def recorded(*parts: Pcm) -> Pcm:
    """The parts, with silence before and after them."""
    return np.concatenate([silence(100), *parts, silence(SAMPLE_RATE)])


def test_each_sample_once_in_order_is_whole() -> None:
    assert compare(recorded(AUDIO), AUDIO) == Heard()


@pytest.mark.parametrize("place", [PLACE, 2000, 2100, 2500, len(AUDIO) - 1])
def test_silence_between_samples_is_a_gap_and_no_break(place: int) -> None:
    heard = compare(recorded(AUDIO[:place], silence(700), AUDIO[place:]), AUDIO)
    (gap,) = heard.gaps
    assert gap.length == 700 and 100 + place <= gap.at <= 100 + 2500 + place
    assert not heard.breaks


@pytest.mark.parametrize(
    ("parts", "kind", "length"),
    [
        ((AUDIO[:PLACE], AUDIO[PLACE + 5 :]), "lost", 5),
        ((AUDIO[:PLACE], AUDIO[PLACE - 40 :]), "doubled", 40),
        ((AUDIO[:2000], AUDIO[2100:]), "lost", 100),
        ((AUDIO[:-1],), "lost", 1),
        ((AUDIO, AUDIO[:30]), "unasked", 30),
    ],
    ids=["lost", "doubled", "a pause that is cut", "the end", "too much"],
)
def test_wrong_samples_are_a_break(parts: tuple[Pcm, ...], kind: str, length: int) -> None:
    heard = compare(recorded(*parts), AUDIO)
    assert [(each.kind, each.length) for each in heard.breaks] == [(kind, length)]
    assert not heard.gaps


def test_a_gap_that_swallows_samples_is_both() -> None:
    heard = compare(recorded(AUDIO[:PLACE], silence(700), AUDIO[PLACE + 700 :]), AUDIO)
    assert heard == Heard([Gap(100 + PLACE, 700)], [Break(800 + PLACE, "lost", 700)])


def test_a_fade_is_a_change() -> None:
    faded = AUDIO.copy()
    faded[PLACE : PLACE + 200] //= 2
    (found,) = compare(recorded(faded), AUDIO).breaks
    assert (found.kind, found.at) == ("changed", 100 + PLACE) and 200 <= found.length <= WINDOW // 10

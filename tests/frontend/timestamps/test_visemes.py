"""Visemes: one for each sound of a word, without gaps, at the times of the segment's marks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from frontend.timestamps.align import VISEMES, visemes_of
from shm.timing import VisemeTiming, WordTiming
from text.espeak.ipa import ALPHABET
from text.words.segment import SpokenWord

OCULUS = {"sil", "PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "ih", "oh", "ou"}


def visemes(script: str, start: int, end: int) -> tuple[VisemeTiming, ...]:
    marks = [(place, 2400 * place) for place in range(len(script) + 1)]
    return visemes_of(SpokenWord("w", "w", start, end), script, marks, lambda sample: sample / 24_000)


def test_a_words_visemes_are_at_its_phonemes_times() -> None:
    assert visemes("ə bˈit", 2, 6) == (
        VisemeTiming("PP", 21, 0.2, 0.3),
        VisemeTiming("ih", 6, 0.3, 0.5),
        VisemeTiming("DD", 19, 0.5, 0.6),
    )
    assert visemes("mˈu:mbɔː", 0, 3) == (VisemeTiming("PP", 21, 0.0, 0.1), VisemeTiming("ou", 7, 0.1, 0.3))
    assert visemes("pbmɔː", 0, 5) == (VisemeTiming("PP", 21, 0.0, 0.3), VisemeTiming("oh", 3, 0.3, 0.5))
    assert visemes("ˈ", 0, 1) == visemes("a", 0, 0) == ()


def test_every_sound_of_english_has_one_of_both_tables() -> None:
    assert {name for name, _ in VISEMES.values()} == OCULUS
    assert {number for _, number in VISEMES.values()} == set(range(22))
    sounds = {each for each in ALPHABET if each.isalpha()}
    assert set("AIOQWYaɑæʌəɚɛɜɪiɔʊuɒᵊᵻbdðfɡhjklmnŋpɹsʃtTθvwzʒʤʧɾɐ") <= VISEMES.keys() & (sounds | set("QTᵊ"))


@given(st.text(st.sampled_from("bˈˌaː, tə"), min_size=1, max_size=12), st.data())
def test_visemes_of_any_word_have_no_gaps_and_lie_within_it(script: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(script)))
    end = data.draw(st.integers(start, len(script)))
    found = visemes(script, start, end)
    assert all(one.end == other.start for one, other in pairwise(found))
    assert all(one.start < one.end for one in found)
    if found:
        assert start / 10 <= found[0].start + 1e-9 and found[-1].end == round(end / 10, 4)


def test_a_later_word_has_later_visemes() -> None:
    word = WordTiming("a", "a", 1.0, 2.0, visemes=(VisemeTiming("aa", 1, 1.0, 2.0),))
    assert word.later(2.0).visemes == (VisemeTiming("aa", 1, 3.0, 4.0),)

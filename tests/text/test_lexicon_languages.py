"""The user's lexicon wins over normalisation, dictionaries and foreign words, in every language."""

import pytest

from text.espeak.ipa import ALPHABET
from text.g2p import G2P, MixedG2P
from text.lexicon import Entry, Lexicon
from text.pipeline import TextPipeline
from text.words.segment import Notation, PhonemeSource, Word

_NOTATION = Notation("phonemes", ALPHABET | frozenset(" .,!?;:—…“”()"), 510)
_g2p = G2P()


def spoken(text: str, language: str, **given: str) -> tuple[Word, ...]:
    lexicon = Lexicon([Entry(word, ipa, None, None) for word, ipa in given.items()])
    pipeline = TextPipeline(MixedG2P(_g2p), lexicon=lambda: lexicon)
    return tuple(pipeline.words(text, language, _NOTATION))


@pytest.mark.parametrize(
    ("language", "text", "word"),
    [
        ("en-us", "We met Siobhan here.", "Siobhan"),
        ("en-gb", "We met Siobhan here.", "Siobhan"),
        ("es", "El Sr. Gómez paga 5 €.", "Gómez"),
        ("es", "Usa el software aquí.", "software"),
        ("es", "Vive en Москва.", "Москва"),
        ("fr-fr", "M. Dupont a trois amis.", "Dupont"),
        ("it", "Il Sig. Rossi dorme.", "Rossi"),
        ("pt-br", "O Sr. Silva dorme.", "Silva"),
        ("hi", "डॉ. शर्मा आए।", "शर्मा"),
        ("en-us", "In 2026 it ends.", "2026"),
        ("es", "En 2026 acaba.", "2026"),
    ],
)
def test_a_given_pronunciation_wins(language: str, text: str, word: str) -> None:
    words = spoken(text, language, **{word: "mina"})
    (given,) = (each for each in words if each.source is PhonemeSource.USER)
    assert given.text.strip(".,") == word
    assert given.phonemes.strip(".") in ("mina", "minɑ")


@pytest.mark.slow
@pytest.mark.usefixtures("language_extras")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("language", "text", "given"),
    [("ja", "明日は東京で会う。", "東京"), ("cmn", "我们在北京见面。", "北京"), ("ja", "GPT-4を使う。", "GPT-4")],
)
def test_without_spaces_a_given_pronunciation_wins_inside_the_run(language: str, text: str, given: str) -> None:
    (word,) = spoken(text, language, **{given: "mina"})
    assert word.source is PhonemeSource.USER
    assert "mina" in word.phonemes and len(word.phonemes) > len("mina")


def test_the_longest_entry_inside_a_run_is_found_and_none_overlap() -> None:
    lexicon = Lexicon([Entry(word, "mina", None, None) for word in ("東", "東京", "京都")])
    assert [(found.start, found.end) for found in lexicon.inside("東京都の東", "ja")] == [(0, 2), (4, 5)]

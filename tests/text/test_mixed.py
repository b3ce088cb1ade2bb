"""Foreign words, quotations and sentences are found, and said with the sounds of the request's language."""

import pytest

from text.espeak.ipa import SOUNDS, adapted
from text.g2p import G2P, MixedG2P, languages

_g2p = G2P()
_MARKS = frozenset("ˈˌ,.;:!?…—“”() ")


def foreign(text: str, language: str) -> dict[str, str]:
    words = text.split()
    return {word: code for word, code in zip(words, languages(words, language), strict=True) if code != language}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("es", "El software de Washington funciona.", {"software": "en-us", "Washington": "en-us"}),
        ("es", "Vive en Москва desde ayer.", {"Москва": "en-us"}),
        ("es", "Los niños y las niñas juegan en el parque.", {}),
        ("es", "Dijo «no me gusta nada» y salió.", {}),
        ("it", "La casa è bella e il cane dorme.", {}),
        ("pt-br", "A casa é bonita e o cão dorme.", {}),
        ("fr-fr", "Le week-end, il lit こんにちは et 東京.", {"こんにちは": "ja", "東京.": "ja"}),
        ("en-us", "I met José in Los Angeles and El Paso.", {}),
        ("en-us", "Le Monde, La Stampa and El País agree.", {}),
        ("en-us", "The sign says 北京 today.", {"北京": "cmn"}),
        ("hi", "मुझे Python पसंद है।", {"Python": "en-us"}),
        ("ja", "Pythonで書く hello", {}),
    ],
)
def test_single_words_are_foreign_by_script_or_spelling(language: str, text: str, expected: dict[str, str]) -> None:
    assert foreign(text, language) == expected


@pytest.mark.parametrize(
    ("language", "text", "code", "words"),
    [
        ("en-us", "He said «je ne sais pas ce que vous voulez» and left.", "fr-fr", 8),
        ("es", "Dijo «I have no idea what you mean» y salió.", "en-us", 7),
        ("fr-fr", 'Il a crié "the show must go on" hier.', "en-us", 5),
        ("it", "Ha detto (I love this old game) ieri.", "en-us", 5),
        ("en-us", "La casa es muy grande y está en el campo.", "es", 10),
        ("es", "The weather is very nice today.", "en-us", 6),
    ],
)
def test_quotations_and_sentences_are_foreign_by_their_function_words(
    language: str, text: str, code: str, words: int
) -> None:
    found = foreign(text, language)
    assert set(found.values()) == {code} and len(found) == words


def test_foreign_words_are_said_in_the_voices_sounds_and_the_others_as_before() -> None:
    text = "El software de la casa."
    alone, mixed = _g2p.words(text, "es"), MixedG2P(_g2p).words(text, "es")
    assert [word.text for word in mixed] == text.split()
    assert mixed[0] == alone[0] and mixed[2:] == alone[2:]
    assert mixed[1].phonemes == "sˈoftwˌɛɾ"


@pytest.mark.parametrize("language", SOUNDS)
def test_every_sound_becomes_one_of_the_language(language: str) -> None:
    every = "AIOQSTWYabcdefhijklmnopqrstuvwxyzæçðøŋœɐɑɒɔɕɖəɛɜɟɡɣɥɨɪɯɲɳɸɹɻɽɾʁʂʃʈʊʋʌʎʒʝʤʧʰβθχᵊᵻˈˌː"
    said = adapted(every, language)
    assert set(said) <= SOUNDS[language] | _MARKS
    own = "".join(sorted(SOUNDS[language] - {"\u0303"}))
    assert adapted(own, language) == own


def test_english_voices_say_foreign_sounds_as_english_and_east_asian_ones_know_all() -> None:
    assert adapted("xose ʁy", "en-us") == "hɔsɛ ɹu"
    assert adapted("ʁy", "ja") == "ʁy"

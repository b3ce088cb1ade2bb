"""Names and words of other languages in English text: the table of names, and the rules of the language that a word's
letters show.
"""

import random
import string
import time

import pytest

from text.english.english import English, names
from text.english.foreign import LONGEST, in_dialect, origin_of, origins, said_as
from text.espeak import misaki
from text.locales.tables import table
from text.words.segment import PhonemeSource


@pytest.fixture(scope="module")
def english() -> English:
    return English("en-us")


@pytest.mark.parametrize("language", ["en-us", "en-gb"])
def test_each_name_of_the_table_has_sounds_of_the_voice_and_a_stress(language: str) -> None:
    alphabet = misaki.alphabet(language) | set(" ")
    assert len(names()) > 5000
    for name, ipa in names().items():
        said = in_dialect(ipa, language)
        assert set(said) <= alphabet, name
        assert 1 <= said.count("ˈ") <= 2, name


@pytest.mark.parametrize(
    ("name", "phonemes"),
    [
        ("PostgreSQL", "pˈOstɡɹɛskjˌuˌɛl"),
        ("Nguyen", "wˈɪn"),
        ("nguyen", "wˈɪn"),
        ("NGUYEN", "wˈɪn"),
        ("Nguyễn", "wˈɪn"),
        ("Joaquin's", "wɑkˈinz"),
        ("Goethe", "ɡˈɜɹTə"),
        ("Czestochowa", "ʧˌɛnstəhˈOvə"),
        ("jalapeno", "hˌɑləpˈAnjO"),
        ("YAML", "jˈæməl"),
    ],
)
def test_a_name_of_the_table_is_read_however_it_is_written(english: English, name: str, phonemes: str) -> None:
    (word,) = english.words(name)
    assert (word.phonemes, word.source) == (phonemes, PhonemeSource.LEXICON)


@pytest.mark.parametrize(
    ("name", "origin", "phonemes"),
    [
        ("Wierzbowski", "pl", "vɛʒbˈɑfski"),
        ("Xueqin", "zh", "ʃwAʧˈɪn"),
        ("Hromádka", "cs", "hɹˈOmətkə"),
        ("Tabakovich", "ru", "təbəkˈOvɪʧ"),
        ("Yoshikawa", "ja", "jˌOʃikˈɑwə"),
        ("Gudmundsson", "sv", "ɡˈʊdmʊndsɑn"),
        ("Ferragnini", "it", "fɛɹɑnjˈini"),
        ("Minjoon", "ko", "mˈinʤun"),
        ("Etxeberria", "eu", "ˌɛʧɛbɛɹˈiə"),
        ("Kealakekua", "haw", "kˌAˌɑləkɛkˈuə"),
        ("Gelashvili", "ka", "ɡɛləʃvˈɪli"),
        ("Rhydderch", "cy", "ɹˈʌðɛɹk"),
        ("Brackenby", "", ""),
        ("overclocked", "", ""),
    ],
)
def test_a_word_that_no_lexicon_has_is_read_by_its_languages_rules(name: str, origin: str, phonemes: str) -> None:
    assert name not in names()
    assert (origin_of(name), said_as(name, "en-us")) == (origin, phonemes)


@pytest.mark.parametrize(
    ("word", "american", "british"),
    [
        ("mulokinumab", "mjˌʊləkˈɪnjumæb", "mjˌʊləkˈɪnjuːmab"),
        ("lomaprazole", "lɑmˈæpɹəzOl", "lɒmˈapɹəzQl"),
        ("Mydaktinib", "mIdˈæktɪnɪb", "mIdˈaktɪnɪb"),
        ("fralensis", "fɹælˈɛnsɪs", "fɹalˈɛnsɪs"),
        ("plenis", "plˈɛnis", "plˈɛnis"),
        ("sumirezodone", "sˌumIˈɛɹzədOn", "sˌuːmIˈɛzədQn"),
    ],
)
def test_an_ending_says_where_the_stress_of_an_unknown_word_is(word: str, american: str, british: str) -> None:
    assert [English(language).words(word)[0].phonemes for language in ("en-us", "en-gb")] == [american, british]


def test_vietnamese_letters_are_no_other_languages(english: English) -> None:
    for word in ("gỏng", "cuổng", "Vượng", "Trấm"):
        assert origin_of(word) == "vi"
        assert len(english.words(word)[0].phonemes) < 9


def test_each_origin_has_rules_that_read_it() -> None:
    rules = table("en", "origins")
    assert {each.language for each in origins("Example")} == {*rules, "en"} - {"all"}
    for word in ("Maravin", "Tokuda", "Łęczyca", "Žižkov", "Ørsta", "Ñuble"):
        for language in rules.keys() - {"all"}:
            assert isinstance(said_as(word, "en-gb"), str), language


def test_a_long_capitalised_word_is_no_abbreviation(english: English) -> None:
    assert english.words("WIERZBOWSKA")[0].phonemes == english.words("Wierzbowska")[0].phonemes
    assert english.words("HTTPSQ")[0].phonemes.count("ˈ") + english.words("HTTPSQ")[0].phonemes.count("ˌ") > 2


def test_random_words_raise_nothing_and_take_linear_time(english: English) -> None:
    randomness = random.Random(4)
    letters = string.ascii_letters + "éèñçøåßłšžőğıαжи中'’-"
    for _ in range(300):
        word = "".join(randomness.choices(letters, k=randomness.randint(1, 60)))
        assert english.words(word)
    assert origins("a" * (LONGEST + 1)) == ()
    start = time.process_time()
    english.words(" ".join("Wo" + letter * 5000 for letter in "aeiou"))
    assert time.process_time() - start < 5

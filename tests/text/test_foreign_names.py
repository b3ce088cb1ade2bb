"""Names, words and sentences of other languages in a text: found, and said with the sounds of the one that speaks."""

import random
import string
import time

import pytest

from shm.engine_info import VoiceInfo
from tests.engine_infos import voices
from text.english.english import NAMES, English, names
from text.english.foreign import LONGEST, in_dialect, origin_of, origins, said_as
from text.espeak import misaki
from text.espeak.ipa import SOUNDS, adapted
from text.g2p import G2P, MixedG2P, languages
from text.locales.tables import table
from text.normalization.normalize import normalize
from text.normalization.settings import Normalization
from text.words.language import UnknownLanguage, language_code, language_of
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
        ("Piotrkowska", "pl", "pjɑtɹkˈɑfskə"),
        ("Vasconcelos", "es", "vəskɑnsˈɛlɑs"),
        ("Jáuregui", "es", "hˈWɹˌɛɡi"),
        ("Desrosiers", "fr", "dAɹOzjˈA"),
        ("Grünewald", "de", "ɡɹˈunɛvˌɑld"),
        ("Oosterhuis", "nl", "OstɛɹhˈWs"),
        ("Kiselyov", "ru", "kisɛljˈɑf"),
        ("Lourenço", "pt", "lˌOɹˈAnsO"),
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
        ("Simon", "", ""),
        ("Ryan", "", ""),
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


def test_a_long_ending_is_stronger_than_another_languages_letters(english: English) -> None:
    endings = [ending for section in table("en", "endings").values() for ending in section if len(ending) > 4]
    assert len(endings) > 100
    for word in (start + ending for start in ("ol", "ris", "vapi") for ending in endings):
        assert english.words(word.capitalize())[0].phonemes == english.words(word)[0].phonemes, word


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


def test_a_phrase_of_another_language_is_said_as_one_word_of_the_table() -> None:
    rows = (NAMES / "phrases.tsv").read_text(encoding="utf-8").splitlines()[1:]
    forms = {said: written for written, said in table("en", "forms")["anywhere"].items() if isinstance(said, str)}
    for key in (row.split("\t")[0] for row in rows):
        for written in (forms[key], forms[key].capitalize()):
            said = normalize(f"It is {written} now.", "en-us", Normalization())
            assert said.lower() == f"it is {key} now."


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


_g2p = G2P()
_MARKS = frozenset("ˈˌ,.;:!?…—“”() ")


def foreign(text: str, language: str) -> dict[str, str]:
    words = text.split()
    return {word: code for word, code in zip(words, languages(words, language), strict=True) if code != language}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("es", "El software de Washington funciona.", {"software": "en-us", "Washington": "en-us"}),
        (
            "es",
            "Vimos Black Mirror y House of Cards.",
            dict.fromkeys(["Black", "Mirror", "House", "of", "Cards."], "en-us"),
        ),
        ("it", "Produce un file binario o altro da un testo.", {}),
        ("es", "Con licencia (GPL dos o posterior).", {}),
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


VOICES = (*voices("af_heart", "af_bella", "bf_emma", "ff_siwis"), VoiceInfo("beep", language="x-tone"))


@pytest.mark.parametrize(
    ("lang", "language"),
    [
        ("en", "en-us"),
        ("en-US", "en-us"),
        ("en_GB", "en-gb"),
        ("EN-gb", "en-gb"),
        ("fr", "fr-fr"),
        ("fr-fr", "fr-fr"),
        ("fr-CA", "fr-fr"),
        ("pt", "pt-br"),
        ("pt-BR", "pt-br"),
        ("zh", "cmn"),
        ("zh-cn", "cmn"),
        ("zh-Hans-CN", "cmn"),
        ("cmn", "cmn"),
        ("ja", "ja"),
        ("ja-JP", "ja"),
        ("es", "es"),
        ("es-ES", "es"),
        ("hi", "hi"),
        ("it", "it"),
        (" IT ", "it"),
        ("a", "en-us"),
        ("B", "en-gb"),
        ("e", "es"),
        ("f", "fr-fr"),
        ("h", "hi"),
        ("i", "it"),
        ("j", "ja"),
        ("p", "pt-br"),
        ("z", "cmn"),
    ],
)
def test_the_language_asked_for_comes_before_the_voices(lang: str, language: str) -> None:
    voice = "ff_siwis" if language == "en-us" else "af_heart"
    assert language_of(((voice, 1.0),), VOICES, lang) == language


@pytest.mark.parametrize("lang", ["klingon", "de", "xx-YY", "i-klingon", "a-x", "-", "nn-us\n\nx", "é" * 300])
def test_an_unknown_language_is_refused_with_the_list_of_those_known(lang: str) -> None:
    with pytest.raises(UnknownLanguage) as refusal:
        language_code(lang, VOICES)
    message = str(refusal.value)
    assert isinstance(refusal.value, ValueError)
    assert all(code in message for code in ("en-us", "en-gb", "es", "fr-fr", "hi", "it", "ja", "pt-br", "cmn", "zh"))
    assert len(message) < 400
    assert "\n" not in message


@pytest.mark.parametrize("lang", [None, "", "  "])
def test_no_language_leaves_it_to_the_voice(lang: str | None) -> None:
    assert language_of((("ff_siwis", 1.0),), VOICES, lang) == "fr-fr"


def test_the_heaviest_voice_of_a_blend_decides_and_the_first_of_equals() -> None:
    assert language_of((("af_heart", 0.3), ("ff_siwis", 0.4), ("af_bella", 0.3)), VOICES) == "fr-fr"
    assert language_of((("bf_emma", 0.5), ("ff_siwis", 0.5)), VOICES) == "en-gb"
    assert language_of((), VOICES) == "en-us"


def test_a_language_that_only_a_voice_speaks_can_be_asked_for() -> None:
    assert language_of((("beep", 1.0),), VOICES) == "x-tone"
    assert language_code("X_Tone", VOICES) == "x-tone"
    with pytest.raises(UnknownLanguage):
        language_code("x-tone")


def test_a_tag_of_a_million_subtags_is_looked_up_at_once() -> None:
    """A request's field may be as long as its body; the front's event loop looks it up."""
    took = time.process_time()
    with pytest.raises(UnknownLanguage):
        language_code("x" + "_x" * 1_000_000)
    assert language_code("en-AU" + "-x" * 1_000_000) == "en-us"
    assert time.process_time() - took < 5

"""Languages of espeak-ng get the phonemes that misaki's own `EspeakG2P` gives, word by word."""

import random
from collections.abc import Iterator
from difflib import SequenceMatcher

import pytest

from benchmarks.measuring.evaluation.sentences import answers
from shm.espeak.messages import LANGUAGE_FILES
from tests.share import share
from text.espeak import espeak, misaki
from text.espeak.espeak_g2p import EspeakG2P, groups
from text.g2p import G2P
from text.words.segment import PhonemeSource

SENTENCES = {
    "es": (
        "En el año 1999 los niños de la escuela no se lo dijeron a él, porque no quería.",
        "Me lo ha dicho y no se le ha olvidado; para que a la vez lo sepas.",
        "¿Qué es lo que más te gusta de la que fue una de las mejores obras de los años ochenta?",
        "A ella le va bien en la vida, aunque no tenga 25 amigos.",
    ),
    "fr-fr": (
        "Les enfants ont été à l'école et ils ont un ami qui est arrivé parce que tu n'es pas allé chez elle.",
        "Il y a des hommes et des femmes, c'est un grand événement pour eux.",
        "On en a parlé avec vous tous les ans, mais il ne s'en est pas aperçu en 1998.",
        "Je ne le lui ai pas dit: vous avez trois amis.",
    ),
    "it": (
        "Gli amici di mia madre sono andati a casa con l'autobus e non c'era nessuno.",
        "Non me l'ha detto perché non ce n'è bisogno, e da un po' di tempo lo so.",
        "Che cosa ne pensi di quello che è successo nel 1998 a Roma?",
    ),
    "pt-br": (
        "Eu não sei o que ela quer que eu faça com os livros que estão na mesa.",
        "Na casa do meu avô há uma árvore que deu muitos frutos em 2010.",
        "Para o homem e a mulher, o dia a dia é o que há de mais importante.",
    ),
    "hi": (
        "मुझे नहीं पता कि वह क्या चाहता है और मैं क्या करूँ।",
        "यह किताब उसने मुझे कल दी थी, लेकिन मैंने अभी तक नहीं पढ़ी।",
        "भारत में २०१० में बहुत से लोग रहते थे।",
    ),
}

SHORT_WORDS = {
    "es": "a y o e u el la lo de en se ni no sí su me te es fue los que con por casa años hay él más",
    "fr-fr": "il y a un à et ou où de la le l'an d'un en on se ne ni eu est ans que qui c'est s'il les amis eux très",
    "it": "è e o a ai al i il la lo l'anno d'un ed di da in no né si ne fu sono che per gli amici c'è più",
    "pt-br": "é e o a os as à em no na um de do da se só eu nós foi que com por casa anos há já",
    "hi": "में से को का की है और न तो ही वह यह एक पर हो था जो कि भी",
}
"""Words of templates in which espeak-ng makes more spoken words than were written, because numbers stand among them."""


def with_numbers(language: str, count: int) -> Iterator[str]:
    drawn = random.Random(language)
    words = SHORT_WORDS[language].split()
    for _ in range(count):
        sentence = drawn.choices(words, k=drawn.randint(2, 9))
        for _ in range(drawn.randint(1, 3)):
            number = drawn.choice((drawn.randint(0, 99), drawn.randint(100, 2030), drawn.randint(10**4, 10**7)))
            sentence.insert(drawn.randint(0, len(sentence)), str(number))
        yield " ".join(sentence)


def check_clauses(language: str, count: int) -> None:
    """Each written word is a `Word`, and all of them say what espeak-ng says of the clause, no more and no less."""
    g2p = EspeakG2P(language)
    wrong = []
    for sentence in with_numbers(language, count):
        words = g2p.words(sentence)
        said = "".join(("" if word.joins else " ") + word.phonemes for word in words).split()
        clause = misaki.from_espeak(espeak.phonemes(sentence, LANGUAGE_FILES[language]), language).split()
        if [word.text for word in words] != sentence.split() or said != clause:
            wrong.append((sentence, said, clause))
    assert wrong == []


@pytest.mark.parametrize("language", SHORT_WORDS)
def test_no_word_is_said_twice_beside_a_number(language: str) -> None:
    check_clauses(language, 30)


@pytest.mark.slow
@pytest.mark.parametrize("language", SHORT_WORDS)
def test_no_word_is_said_twice_beside_numbers(language: str) -> None:
    check_clauses(language, share(1000))


def clauses(sentence: str) -> list[str]:
    """Phonemizer cuts a text at its marks; so does this."""
    for mark in ",;:?¿!.।":
        sentence = sentence.replace(mark, "\n")
    return [clause.strip() for clause in sentence.split("\n") if clause.strip()]


@pytest.mark.parametrize("language", SENTENCES)
def test_words_are_those_of_misaki(language: str) -> None:
    g2p, file = G2P(), LANGUAGE_FILES[language]
    same = total = 0
    for sentence in SENTENCES[language]:
        expected = " ".join(
            misaki.from_espeak(espeak.phonemes(clause, file), language) for clause in clauses(sentence)
        ).split()
        words = g2p.words(sentence, language)
        assert all(word.source is PhonemeSource.ESPEAK for word in words)
        said = "".join(("" if word.joins else " ") + word.phonemes for word in words)
        found = [word.strip(",;:?¿!.।") for word in said.split()]
        total += len(expected)
        same += sum(match.size for match in SequenceMatcher(None, expected, found, False).get_matching_blocks())
    assert same / total >= 0.995, f"{same} of {total}"


@pytest.mark.parametrize(
    ("alone", "spoken", "expected"),
    [
        (["a", "b"], ["a", "b"], [["a"], ["b"]]),
        (["en", "mil nove", "los"], ["ˈen", "mˈil", "nˈove", "los"], [["ˈen"], ["mˈil nˈove"], ["los"]]),
        (["paʁs", "kə", "ty"], ["paʁskə", "ty"], [["paʁs", "kə"], ["ty"]]),
        (["a"], [], [[""]]),
    ],
)
def test_spoken_words_are_given_to_written_ones(alone: list[str], spoken: list[str], expected: list[list[str]]) -> None:
    assert [own for _, own in groups(alone, spoken)] == expected


@pytest.mark.parametrize("language", ["es", "fr-fr", "hi", "it", "pt-br"])
def test_a_silent_sign_moves_no_sound_to_another_word(language: str) -> None:
    """Words beside which nothing changes sound as they do without the sign."""
    g2p = EspeakG2P(language)
    for text in answers(language)[:4]:
        written = text.split()
        plain = [word.phonemes for word in g2p.words(text)]
        for place in range(1, len(written)):
            signed = [word.phonemes for word in g2p.words(" ".join([*written[:place], "-", *written[place:]]))]
            assert signed[: place - 1] == plain[: place - 1]
            assert signed[place + 2 :] == plain[place + 1 :]


def test_a_word_that_espeak_joins_to_another_stays_joined() -> None:
    words = G2P().words("parce que tu dors", "fr-fr")
    assert [word.joins for word in words] == [False, True, False, False]
    assert words[0].phonemes + words[1].phonemes == "paʁskˌə"

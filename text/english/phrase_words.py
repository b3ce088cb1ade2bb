"""Function words that begin a phrase, and words that belong to the word after them. Both are closed classes, so short
lists suffice.
"""

from __future__ import annotations

from text.english import word_classes
from text.words.word_list import word_list

_PARTICLES = word_list("up down out off than as like per via besides")
"""Particles that belong to the word before them as often as not ("turn off", "more than"), so they begin no phrase."""

_OPENERS = "([{（［｛“«「『"
_AROUND = "\"'“”‘’«»()[]{}*_¿¡.,;:!?…—-"
_APOSTROPHES = str.maketrans("’ʼ", "''")

_PHRASE_BEGINS = {
    "en": (word_classes.PREPOSITIONS - _PARTICLES)
    | word_classes.SUBORDINATORS
    | word_classes.CONJUNCTIONS
    | {"who", "whom", "whose", "which", "to"},
    "es": word_list(
        "y e o u pero sino aunque porque pues que quien quienes cual cuales cuyo cuya donde cuando mientras como si a "
        "al ante bajo con contra de del desde durante en entre hacia hasta para por según sin sobre tras mediante"
    ),
    "fr": word_list(
        "et ou mais donc or ni car que qu' qui dont où quand lorsque lorsqu' comme si puisque puisqu' parce pendant à "
        "au aux avec chez contre dans de d' du des depuis derrière devant en entre jusque jusqu' par parmi pour sans "
        "sous sur vers"
    ),
    "it": word_list(
        "e ed o oppure ma però perché che chi cui quale quali dove quando mentre come se poiché a ad al allo alla ai "
        "agli alle con contro da dal dalla dai dalle di del dello della dei degli delle dell' dall' nell' all' sull' "
        "in nel nella nei nelle per su sul sulla tra fra verso senza sotto sopra dopo"
    ),
    "pt": word_list(
        "e ou mas porém porque pois que quem qual quais cujo cuja onde quando enquanto como se a ao aos à às ante após "
        "até com contra de do da dos das desde em no na nos nas entre para pra por pelo pela pelos pelas sem sob sobre"
    ),
    "hi": word_list("और या लेकिन मगर परंतु किंतु कि क्योंकि इसलिए ताकि जो जिसने जिसे जिसका जिसकी जिसके जब जहाँ जैसे अगर यदि तो"),
}
"""Words that begin a phrase, by language: conjunctions, prepositions, relative pronouns."""

_ARTICLES = {
    "en": word_classes.POSSESSIVES | word_list("the a an this these those every each no"),
    "es": word_list("el la los las un una unos unas mi tu su mis tus sus este esta estos estas cada"),
    "fr": word_list(
        "le la l' les un une ce cet cette ces mon ma mes ton ta tes son sa ses leur leurs notre votre chaque"
    ),
    "it": word_list("il lo la l' i gli le un uno una un' questo questa questi queste ogni"),
    "pt": word_list("o a os as um uma uns umas meu minha seu sua este esta esse essa cada"),
    "hi": frozenset[str](),
}
"""Articles and determiners by language, which belong to the word after them, as words that begin phrases do. Hindi's
postpositions belong to the word before them, so Hindi has no list.
"""

_CLINGING = {code: words | _PHRASE_BEGINS[code] for code, words in _ARTICLES.items() if code != "hi"}


def begins_phrase(word: str, language: str) -> bool:
    """True if a phrase begins with the word.

    Args:
        language: a code of `shm.espeak_languages.LANGUAGE_FILES`; Japanese and Chinese have no word lists and so no
            phrases.
    """
    return word[:1] in _OPENERS or _is_one_of(word, _PHRASE_BEGINS, language)


def clings(word: str, language: str) -> bool:
    """True if the word belongs to the word after it: speakers don't pause after "of the"."""
    return _is_one_of(word, _CLINGING, language)


def _is_one_of(word: str, lists: dict[str, frozenset[str]], language: str) -> bool:
    known = lists.get(language.partition("-")[0])
    if not known:
        return False
    bare = word.strip(_AROUND).lower().translate(_APOSTROPHES)
    stem, apostrophe, _ = bare.partition("'")
    return bare in known or (apostrophe != "" and stem + apostrophe in known)

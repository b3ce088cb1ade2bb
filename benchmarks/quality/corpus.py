"""Texts to judge: 1 to 60 words in four languages, and passages that plans cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.measuring.evaluation.sentences import evaluation_texts
from benchmarks.measuring.texts import PARAGRAPH, SENTENCE

ENGLISH = ("af_heart", "am_michael", "bf_emma", "bm_george")
"""Voices that speak the English texts in turn."""

_FOREIGN: dict[str, tuple[str, ...]] = {
    "ef_dora": (
        "Sí.",
        "Buenos días a todos.",
        "El tren de la mañana llega siempre con diez minutos de retraso.",
        "Mi abuela guardaba las llaves de la casa en una caja de madera, debajo de la ventana de la cocina.",
    ),
    "ff_siwis": (
        "Oui.",
        "Bonsoir tout le monde.",
        "Le vieux pont de pierre traverse la rivière au milieu du village.",
        "Quand la pluie a cessé, les enfants sont sortis dans le jardin pour chercher des escargots sous les feuilles.",
    ),
    "im_nicola": (
        "No.",
        "Buona sera a tutti.",
        "La biblioteca chiude alle otto, ma il bar resta aperto fino a tardi.",
        "Il maestro aprì la finestra, guardò la neve che cadeva sulla piazza, e disse ai ragazzi di tornare a casa.",
    ),
}
"""Texts by voice, in Spanish, French and Italian."""

PASSAGES = (
    SENTENCE,
    PARAGRAPH,
    "The committee decided, after a long discussion about the cost of the new bridge, that the work should begin in "
    "the spring of next year, and that the old bridge should stay open to people on foot until the new one was there.",
    "The morning train was late again. Nobody on the platform said anything about it; they had all stopped complaining "
    "years ago. A boy with a violin case sat down on the only bench, and two women shared an umbrella.",
    "Because the road along the coast had been closed since the storm, the driver took us over the hills, through "
    "villages that none of us had ever heard of, past a lake that was almost black, and at last down to the harbor.",
    "If you have never tried to carry a piano up four flights of stairs with three friends who do not agree about "
    "anything, you cannot imagine how long an afternoon can be. We started at one. By six we were on the third floor.",
)
"""English texts of 25 to 60 words, long enough that a plan cuts them."""


@dataclass(frozen=True, slots=True)
class Item:
    """A text by a voice."""

    name: str
    """Name of the item's files."""
    text: str
    voice: str
    is_english: bool = True


def texts(quick: bool = False) -> list[Item]:
    """Texts that aren't passages: over 500 words of English, and some of each other language. Quick: a dozen, of every
    length."""
    english = [
        Item(f"en-{number:02}", text, ENGLISH[number % len(ENGLISH)])
        for number, (text, _) in enumerate(evaluation_texts())
    ]
    if quick:
        return _some_of_each_length(english)
    foreign = [
        Item(f"{voice[0]}-{number:02}", text, voice, is_english=False)
        for voice, sentences in _FOREIGN.items()
        for number, text in enumerate(sentences)
    ]
    return english + foreign


def passages(quick: bool = False) -> list[Item]:
    """Passages that plans cut, each spoken by every English voice: scores of six differ by 0.12 from one to another,
    six times as much as the limit."""
    found = [Item(f"plan-{number}-{voice}", text, voice) for number, text in enumerate(PASSAGES) for voice in ENGLISH]
    return found[:1] if quick else found


_QUICK = 8


def _some_of_each_length(items: Sequence[Item]) -> list[Item]:
    short = sorted((item for item in items if len(item.text.split()) <= 16), key=lambda item: len(item.text.split()))
    return [short[round(place * (len(short) - 1) / (_QUICK - 1))] for place in range(_QUICK)]

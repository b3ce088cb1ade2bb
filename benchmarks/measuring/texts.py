"""Texts to speak: three words, a sentence, a paragraph, an article; and short phrases that all differ."""

from __future__ import annotations

from collections.abc import Mapping

PHRASE = "Good morning, everyone."

SENTENCE = (
    "The old lighthouse keeper climbed the narrow stairs every evening, carrying a lamp, a flask of tea, "
    "and the worn notebook in which he drew passing ships."
)

PARAGRAPH = (
    "The harbour was quiet when the first boats came home. Gulls circled above the market, waiting for what the "
    "fishermen would throw away. A woman in a green coat counted crates, wrote a number on each of them, and waved "
    "to a driver at the gate. By eight o'clock the square smelled of salt, bread and wet rope, and nobody remembered "
    "the storm."
)

_THINGS = ["bridge", "mill", "garden", "school", "tower", "station", "orchard", "library", "bakery", "meadow"]
_DEEDS = (
    "was built by people who had never seen the sea",
    "kept its doors open through the longest winter",
    "stood empty until a family of weavers moved in",
    "gave its name to the street that leads down to the river",
    "lost its roof in a storm, and had a new one by the spring",
    "has a clock that strikes a quarter of an hour too late",
    "smells of apples when the first cold mornings come",
)

ARTICLE_CHARACTERS = 10_000


def article(characters: int = ARTICLE_CHARACTERS) -> str:
    """Paragraphs of ordinary sentences, no two alike, about so many characters long and not more."""
    sentences: list[str] = []
    length = 0
    number = 0
    while True:
        thing, deed = _THINGS[number % len(_THINGS)], _DEEDS[number * 3 % len(_DEEDS)]
        sentence = f"In the year {1850 + number}, the {thing} of the village {deed}."
        separator = "\n\n" if number % 6 == 0 else " "
        if length + len(separator) + len(sentence) > characters:
            return "".join(sentences)
        sentences.append(sentence if not sentences else separator + sentence)
        length += len(sentences[-1])
        number += 1


def texts(article_characters: int = ARTICLE_CHARACTERS) -> Mapping[str, str]:
    """Texts by name, the shortest first."""
    return {
        "phrase": PHRASE,
        "sentence": SENTENCE,
        "paragraph": PARAGRAPH,
        "article": article(article_characters),
    }


def phrase(number: int) -> str:
    """A short one, another for each number."""
    return f"The {_THINGS[number % len(_THINGS)]} has number {number}."

"""Full stops of abbreviations: the splitter knows each one that the rules read in full."""

from itertools import product
from pathlib import Path

import pytest

from text.locales import tables
from text.sentences import abbreviations as table
from text.sentences.sentences import sentences
from text.words.sanitize import sanitize

ENDS = Path(__file__).with_name("ends.txt").read_text().splitlines()
"""Sentences with short words before a full stop, and sentences with abbreviations; "|" where a sentence ends. Some of
their abbreviations aren't in the table.
"""

HARD = Path(__file__).with_name("hard_ends.txt").read_text().splitlines()
"""Lines of what people write to each other, with 206 ends inside them."""

NAMES = (*table.TITLES, *table.STREETS, *(name for name in table.ANYWHERE if name.lower() not in table.LAST_OR_NOT))
NUMBERS = (*NAMES, *table.ANYWHERE, *table.LABELS, *table.PARTS, *table.PLACES)


def spellings(name: str) -> set[str]:
    forms = {name.capitalize(), name.upper()}
    return forms if name.lower() in table._WORDS else {*forms, name.lower()}


def ended(before: str, after: tuple[str, ...], language: str) -> list[str]:
    texts = [f"{start} {before}. {end}" for start, end in product(("Then we saw", "It is in the"), after)]
    return [text for text in texts if list(sentences(sanitize(text), language)) != [text]]


def test_nine_of_ten_hard_ends_are_found_and_hardly_any_others() -> None:
    missed = false = 0
    for line in HARD:
        parts = [part.strip() for part in line.split("|")]
        found = list(sentences(" ".join(parts), "en-us"))
        right, said = ({" ".join(each[:count]) for count in range(1, len(each))} for each in (parts, found))
        missed += len(right - said)
        false += len(said - right)
    assert missed <= 10 and false <= 1


def test_no_english_abbreviation_that_is_read_ends_a_sentence_before_a_number_or_a_name() -> None:
    before_numbers = [ended(form, ("7 here.", "1984 again."), "en-us") for name in NUMBERS for form in spellings(name)]
    before_names = [ended(form, ("Xylem came.", "Smith left."), "en-us") for name in NAMES for form in spellings(name)]
    assert [text for found in before_numbers + before_names for text in found] == []


@pytest.mark.parametrize(("code", "language"), [("es", "es"), ("fr", "fr-fr"), ("it", "it"), ("pt", "pt-br")])
def test_no_abbreviation_of_a_locale_ends_a_sentence_before_a_number_or_a_name(code: str, language: str) -> None:
    read = [name[:-1] for name in tables.table(code, "locale")["abbreviations"] if name[-1] == "."]
    found = [
        ended(name, ("7 Xylem.", "Xylem Smith."), language)
        for name in read
        if name.split(" ")[-1].lower() not in table._ENDS
    ]
    months = [
        f"12 {month[:length]}"
        for month in tables.table(code, "locale")["months"]
        for length in (3, 4)
        if len(month) > length
    ]
    found += [ended(month, ("2024 Xylem.",), language) for month in months]
    assert [text for texts in found for text in texts] == []


def test_short_words_end_sentences_and_abbreviations_do_not() -> None:
    wanted = [[sentence.strip() for sentence in line.split("|")] for line in ENDS]
    found = [list(sentences(line.replace("|", ""), "en-us")) for line in ENDS]
    pairs = list(zip(found, wanted, strict=True))
    false_joins = [sentences for sentences, marked in pairs if len(sentences) < len(marked)]
    false_ends = [sentences for sentences, marked in pairs if len(sentences) > len(marked)]
    assert len(ENDS) >= 170
    assert len(false_joins) <= 1, false_joins
    assert len(false_ends) <= 11, false_ends

"""Classes read in whatever form they are written: sampled fields in many forms, shipped cases in other spellings."""

import random
import re
from functools import cache
from itertools import combinations

import pytest

from benchmarks.reading import SPELLINGS, right, spelled, spelled_right
from benchmarks.reading_forms import Written, held_out, written
from text.locales.tables import languages, table
from text.normalization.classes.cover import Classed, cheapest
from text.normalization.classes.tokens import Tokens
from text.normalization.normalize import normalize, normalized_sentences
from text.normalization.settings import Normalization
from text.words.sanitize import sanitize

SHARES = {"date": 0.96, "time": 1, "time span": 1, "duration": 1, "ratio": 1, "range": 1, "percent": 1} | {
    "money": 1,
    "measure": 1,
    "verse": 0.75,
    "identifier": 0.94,
    "label": 1,
    "phone": 1,
    "roman": 1,
    "score": 1,
    "height": 1,
    "cardinal": 1,
    "ordinal": 1,
    "fraction": 0.97,
    "version": 1,
}
"""Least share of forms read right, by class."""
SPELLED = {"brackets": 0.99, "quotes": 0.99, "bold": 1, "sentence's end": 0.99, "dash": 0.99} | {
    "lower case": 0.98,
    "capitals": 0.98,
    "title case": 0.98,
}
"""Least share of shipped cases read right, by spelling."""


@cache
def sampled() -> list[Written]:
    return list(written(3, 120))


@pytest.mark.parametrize("family", SHARES)
def test_fields_are_read_in_most_of_their_forms(family: str) -> None:
    cases = [case for case in sampled() if case.family == family and not held_out(family, case.form)]
    wrong = [case.text for case in cases if not right(case)]
    assert len(wrong) <= (1 - SHARES[family]) * len(cases) + 1e-9, wrong[:5]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_shipped_cases_are_read_in_other_spellings(spelling: str) -> None:
    cases = spelled(spelling)
    wrong = [text for _, text, expected in cases if not spelled_right(spelling, text, expected)]
    assert len(wrong) <= (1 - SPELLED[spelling]) * len(cases), wrong[:5]


def test_what_is_said_for_any_form_lies_in_order_and_covers_the_text() -> None:
    for case in written(5, 20):
        text = case.text.replace("*", "")
        said = [word for sentence in normalized_sentences(text, "en-us", Normalization()) for word in sentence.words]
        assert [word.start for word in said] == sorted(word.start for word in said)
        assert {place for word in said for place in range(word.start, word.end)} >= {
            place for place, character in enumerate(text) if character.isdigit()
        }


def test_glued_runs_are_cut() -> None:
    tokens = Tokens("on Jan-15-2020, 12ft").tokens
    assert [token.text for token in tokens] == ["on", "Jan", "-", "15", "-", "2020", ",", "12", "ft"]
    assert [token.gap for token in tokens] == [True, True, *[False] * 5, True, False]


def test_the_cheapest_cover_is_the_cheapest_of_all() -> None:
    drawn = random.Random(8)
    for _ in range(300):
        length = drawn.randint(1, 6)
        spans = [sorted(drawn.sample(range(length + 1), 2)) for _ in range(drawn.randint(0, 6))]
        found = [Classed(first, last, None, drawn.choice((0.3, 0.5, 1.7))) for first, last in spans]
        covers = (
            chosen
            for count in range(len(found) + 1)
            for chosen in combinations(found, count)
            if all(one.last <= two.first or two.last <= one.first for one, two in combinations(chosen, 2))
        )

        def cost(chosen: tuple[Classed, ...] | list[Classed], length: int = length) -> float:
            return length + sum(each.cost - (each.last - each.first) for each in chosen)

        assert cost(cheapest(found, length)) == pytest.approx(min(map(cost, covers)))


VOICES = {"en": "en-us", "es": "es", "fr": "fr-fr", "it": "it", "pt": "pt-br", "hi": "hi"}
FILLED = {"n": "6", "o": "6th", "c": "K", "t": "14.35", "d": "6", "i": "6", "y": "2024"}
PLACE = re.compile(r"\{([a-z])\}")


def said(text: str, language: str) -> str:
    return normalize(sanitize(text), language, Normalization())


def rows(code: str) -> list[tuple[str, str, str]]:
    """A cue of the section or "", what is written, and what is said."""
    sections = table(code, "forms")
    return [
        (section.get("cues", "").partition(" ")[0], written, words)
        for name, section in sections.items()
        if name not in ("per", "modifiers")
        for written, words in section.items()
        if written != "cues"
    ]


def fixed_words(words: str) -> list[str]:
    plural = re.sub(r"\([^|()]*\|([^|()]*)\)", r"\1", words)
    return [word for part in PLACE.split(plural)[::2] for word in re.split(r"[\s,.;()-]+", part.lower())]


@pytest.mark.parametrize("code", languages("forms"))
def test_every_row_is_said_as_its_table_says(code: str) -> None:
    wrong = []
    lists = {"p": "per", "k": "modifiers"}
    filled = FILLED | {place: next(iter(table(code, "forms").get(name, ())), "") for place, name in lists.items()}
    for cue, example, words in rows(code):
        text = PLACE.sub(lambda match: filled[match[1]], example)
        spoken = re.split(r"[\s,.;()-]+", said(f"{cue} ; {text} ; so", VOICES[code]).lower())
        if not set(fixed_words(words)) <= set(spoken) | {""}:
            wrong.append((text, words, spoken))
    assert wrong == []


OTHERWISE = {"-": "–", "(?<=[a-z]{2})\\.$": "", r"(?<=[a-z]{2})\.(?= |$)": "", r"(?<=^6) (?=[a-z]{3})": ""}
"""Signs of a row, and what may stand for them where the row has more than one word."""


@pytest.mark.parametrize("sign", OTHERWISE)
def test_a_row_is_said_whatever_dash_stop_or_gap_it_is_written_with(sign: str) -> None:
    texts = [(f"{cue} ;", PLACE.sub(lambda match: FILLED.get(match[1], "day"), row)) for cue, row, _ in rows("en")]
    several = [(cue, text, re.sub(sign, OTHERWISE[sign], text)) for cue, text in texts if " " in text]
    others = [(cue, text, other) for cue, text, other in several if other != text]
    wrong = [
        other
        for cue, text, other in others
        if said(f"{cue} {text} ; so", "en-us") != said(f"{cue} {other} ; so", "en-us")
    ]
    assert len(wrong) <= len(others) / 10, wrong


def test_a_row_of_two_words_is_said_in_capitals_too() -> None:
    texts = [(cue, PLACE.sub(lambda match: FILLED.get(match[1], "day"), row)) for cue, row, _ in rows("en")]
    several = [(cue, text) for cue, text in texts if text.islower() and len(re.findall("[a-z]{2,}", text)) > 1]
    wrong = []
    for cue, text in several:
        small, large = (
            re.findall(r"\w+", said(f"{cue} ; then {it} ; so", "en-us").lower()) for it in (text, text.upper())
        )
        wrong += [text] * (small != large)
    assert len(wrong) < len(several) / 4, wrong


BESIDE = {
    "abbreviations": "SON {} MAS|EL {} MAS",
    "before_numbers": "el {} IV y",
    "before_names": "Y {} de Ana y",
    "between_names": "El Ana {} Juan y",
    "before_women": "la {} Ana y",
    "after_numbers": "el V {} y",
    "units": "son 5.5 {} y|son 5 {}.|son 500{} y",
    "pers": "son 5 €/{} y",
    "currencies": "son 5 {} y",
    "magnitudes": "son 5 {} € y",
}
"""Texts in which a section's rows are read."""


@pytest.mark.parametrize("code", languages("locale"))
def test_no_row_of_a_locale_is_read_by_another(code: str) -> None:
    for section, texts in BESIDE.items():
        for row, words in table(code, "locale").get(section, {}).items():
            spoken = [said(text.format(row), VOICES[code]).lower() for text in texts.split("|")]
            forms = words if isinstance(words, list) else re.split(r"\||; \*?", words.removeprefix("*"))
            assert any(form.lower() in each for form in forms for each in spoken), (row, spoken)


@pytest.mark.parametrize("code", languages("locale"))
def test_each_of_several_words_of_a_row_is_said_somewhere(code: str) -> None:
    cues = table(code, "locale").get("cues", {})
    before = [*" ".join(cues.get(f"determiners_{kind}", "") for kind in ("one", "many")).split(), "xyl,"]
    for row, words in table(code, "locale").get("abbreviations", {}).items():
        beside = [*before, "zona"] if set(cues.get("agree", "").split()) & set(words.split("; ")) else before
        spoken = {said(f"Xyl {word} {row} xyl", VOICES[code]).lower() for word in beside if "; " in words}
        stems = [form.removeprefix("*").lower() for form in words.split("; ")] * ("; " in words)
        assert [stem for stem in stems if not any(stem[:-1] in each for each in spoken)] == [], row


def test_no_row_is_its_own_cue() -> None:
    sections = [section for section in table("en", "forms").values() if "cues" in section]
    own = [(row, words) for section in sections for row, words in section.items() if row in section["cues"].split()]
    assert [row for row, words in own if words in said(f"So {row} 2 it is.", "en-us")] == [] != own


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meet at 5 PT.", "Meet at 5 PT."),
        ("It is 10m away.", "It is ten meters away."),
        ("Take 2 tabs q6h with food.", "Take two tablets every six hours with food."),
        ("Prep takes 10m.", "Prep takes ten minutes."),
        ("Fed. R. Civ. P. 12 applies.", "Federal Rule of Civil Procedure 12 applies."),
        ("Your ref: AB/2024/0178.", "Your ref: A B, two zero two four, zero one seven eight."),
        ("He is 6'4 and fast.", "He is six foot four and fast."),
        ("Simmer 1½-2 hrs.", "Simmer one and a half to two hours."),
        ("It was HDMI 2.1 - was it?", "It was HDMI 2.1 - was it?"),
        ("It runs on Windows 10/11 now.", "It runs on Windows ten eleven now."),
        ("Open M-F 6a-10p.", "Open Monday to Friday six a.m. to ten p.m."),
        ("We got 1.2k likes & 30 in <1hr.", "We got one point two thousand likes and 30 in less than one hour."),
    ],
)
def test_a_form_is_read_by_what_stands_around_it(text: str, expected: str) -> None:
    assert said(text, "en-us") == expected


def test_a_row_of_one_letter_needs_a_word_of_its_domain_near_it_or_two_of_them() -> None:
    far = "and then walk on to the hill behind the old farm, which is 10m"
    said = {text: normalize(text, "en-us", Normalization()) for text in ("Prep 10m.", f"Prep it {far}.")}
    assert [("minutes" in each, "meters" in each) for each in said.values()] == [(True, False), (False, True)]
    assert "minutes" in normalize(f"Prep it, cook it {far}.", "en-us", Normalization())

"""The loop over misaki's lexicon, against misaki's own loop over the whole sentence."""

import csv
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.share import share
from text.english.english import English, english_lexicon
from text.english.pronouncing import Pronouncer
from text.english.tagger import LightTagger
from text.english.tokenizer import Token, tokens
from text.espeak import misaki

_ODD = (
    "The twenty-one-year-old A-level student didn't want 3-D, B2B or 4,000.5 at $5, £3.20, or 20%: did you?",
    "I used to go to “Amster-dam” (in an ice-age), to a TO-do: rock 'n' roll—to I/O, e.g. kwyjibo's well-being…",
    "He'll ask: in? By the by, am I to? The 1990s' O'Neill, MacDonald's iPhone-like NASA-ISRO thing. $ 5 to ",
)


@pytest.fixture(scope="module", params=["en-us", "en-gb"])
def english(request: pytest.FixtureRequest) -> English:
    return English(request.param, LightTagger())


def _written() -> list[str]:
    with Path(__file__).with_name("homographs.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [*_ODD, *(row["sentence"] for row in rows)]


def _drawn(count: int) -> Iterator[str]:
    """Sentences of words of the dictionary and of the written sentences, some of them joined."""
    drawn = random.Random(1)
    known = list(english_lexicon(british=False).golds)
    used = [word for sentence in _written() for word in sentence.split()]
    odd = (
        "$",
        "£",
        "5",
        "2",
        "1,234",
        "a.m.",
        "-",
        "—",
        "'s",
        "B2B",
        "to",
        "TO",
        "kwyjibo",
        "zzyzx",
        "é",
        "A",
        "/",
        "…",
    )
    for _ in range(count):
        words = [drawn.choice(drawn.choice((known, used, used, odd))) for _ in range(drawn.randint(2, 12))]
        yield "".join(word + drawn.choice((" ", " ", " ", " ", "-", "", "'", "/", ", ")) for word in words)


def _by_misakis_loop(english: English, found: Sequence[Token], tags: Sequence[str]) -> list[tuple[int, str]]:
    from misaki.token import MToken

    en: Any = misaki.english()
    given = [
        MToken(
            each.text,
            tag,
            " " * each.space,
            None,
            float(each.word),
            None,
            MToken.Underscore(is_head=True, num_flags=""),
        )
        for each, tag in zip(found, tags, strict=True)
    ]
    loop = en.G2P.__new__(en.G2P)
    loop.version, loop.british, loop.unk = None, False, ""
    loop.lexicon = english._pronouncer._lexicon
    loop.fallback = lambda token: english._fallback(token.text)
    loop.tokenize = lambda text, tokens, features: given
    return [(int(each.start_ts), each.phonemes or "") for each in loop("", preprocess=False)[1]]


def _differences(english: English, sentences: Sequence[str]) -> list[tuple[str, object, object]]:
    found = []
    for sentence in sentences:
        words = sentence.split()
        cut = list(tokens(words))
        tags = english._tagger.tags(words, cut)
        try:
            theirs = _by_misakis_loop(english, cut, tags)
        except Exception as error:
            with pytest.raises(type(error)):
                english._pronouncer.pronounced(cut, tags)
            continue
        ours = [(each.word, each.phonemes) for each in english._pronouncer.pronounced(cut, tags)]
        if ours != theirs:
            found.append((sentence, ours, theirs))
    return found


def test_sentences_sound_as_in_misakis_loop(english: English) -> None:
    assert _differences(english, [*_written()[::3], *_ODD, *_drawn(100)]) == []


@pytest.mark.slow
def test_ten_thousand_sentences_sound_as_in_misakis_loop(english: English) -> None:
    assert _differences(english, list(_drawn(share(10_000)))) == []


def test_a_common_word_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tag and a context decide the look-up; the context is no more than misaki's own."""
    pronouncer: Pronouncer = English("en-us", LightTagger())._pronouncer
    found = list(tokens(["the", "apple", "and", "the", "pear", "and", "the", "apple"]))
    tags = ["DT", "NN", "CC", "DT", "NN", "CC", "DT", "NN"]
    first = pronouncer.pronounced(found, tags)
    asked: list[str] = []
    monkeypatch.setattr(pronouncer, "_lexicon", lambda token, context: asked.append(token.text) or ("", 4))
    assert pronouncer.pronounced(found, tags) == first
    assert not asked
    assert [spoken.phonemes for spoken in first if spoken.word in (0, 3)] == ["ði", "ðə"]

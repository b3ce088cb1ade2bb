"""Searches that the English rules leave out: they would have found nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from frontend.text.normalization.draft import Draft
from frontend.text.normalization.normalize import normalize
from frontend.text.normalization.settings import Normalization
from frontend.text.sanitize import sanitize

_ODD = (
    "$5|St.|v.|No.|1/2|-.5|+1|(0)|Mr.|Jan.|I|IV|Part|x|×|°|'80s|±|£|US|Co.|vs|etc.|#7|§|9:05|Fig.|ft.|km|–|=|>|U.S.|&"
)


def _cases() -> list[str]:
    files = (Path(__file__).with_name(name).read_text().splitlines() for name in ("golden.tsv", "hard.tsv"))
    written = [line.split("\t")[2] for lines in files for line in lines]
    drawn = random.Random(20)
    words = [word for text in written for word in text.split()] + 40 * _ODD.split("|")
    return written + [drawn.choice(("", " ")).join(drawn.choices(words, k=6)) for _ in range(200)]


def test_rules_say_the_same_if_they_search_every_sentence_for_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [sanitize(text) for text in _cases()]
    said = [normalize(text, "en-us", Normalization()) for text in cases]
    for asks in ("has", "says", "says_folded"):
        monkeypatch.setattr(Draft, asks, lambda draft, wanted: True)
    monkeypatch.setattr(Draft, "replace_numbers", Draft.replace)
    assert said == [normalize(text, "en-us", Normalization()) for text in cases]

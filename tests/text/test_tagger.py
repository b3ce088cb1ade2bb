"""The light tagger's choices, where a word's sound hangs on them."""

import pytest

from text.english.tagger import LightTagger
from text.english.tokenizer import tokens

_tagger = LightTagger(frozenset(("record", "object", "increase")))


def tags_of(sentence: str) -> dict[str, str]:
    words = sentence.split()
    found = list(tokens(words))
    return {token.text: tag for token, tag in zip(found, _tagger.tags(words, found), strict=True)}


@pytest.mark.parametrize(
    ("sentence", "word", "tag"),
    [
        ("to record it", "record", "VB"),
        ("the record", "record", "NN"),
        ("Can you record it?", "record", "VB"),
        ("The lawyers often object.", "object", "VB"),
        ("It was read aloud.", "read", "VBN"),
        ("She read it.", "read", "VBD"),
        ("I will read it.", "read", "VB"),
        ("We are used to noise.", "used", "JJ"),
        ("The knife is used to cut.", "used", "VBN"),
        ("We used to sing.", "used", "VBD"),
        ("He plays bass guitar.", "bass", "JJ"),
        ("He caught a bass.", "bass", "NN"),
        ("She dove into the pool.", "dove", "VBD"),
        ("A dove flew off.", "dove", "NN"),
        ("a learned professor", "learned", "JJ"),
        ("She learned it.", "learned", "VBN"),
        ("an invalid.", "invalid", "NN"),
        ("an invalid ticket", "invalid", "JJ"),
        ("I know that he left.", "that", "IN"),
        ("Who said that?", "that", "DT"),
        ("vitamin A", "A", "NN"),
        ("a cat", "a", "DT"),
        ("10 am", "am", "NN"),
        ("I am", "am", "VB"),
        ("The US won.", "US", "NNP"),
        ("They saw us.", "us", "PRP"),
        ("I met Kate Winslet.", "Winslet", "NNP"),
    ],
)
def test_readings(sentence: str, word: str, tag: str) -> None:
    assert tags_of(sentence)[word] == tag


def test_the_tokenizers_own_tags_stay() -> None:
    assert tags_of('("$5, 20%") — 3rd;') == {
        "(": "-LRB-",
        '"': "''",
        "$": "$",
        "5": "CD",
        ",": ",",
        "20": "CD",
        "%": "NN",
        ")": "-RRB-",
        "—": ":",
        "3rd": "CD",
        ";": ":",
    }


def test_never_vbp_whose_entries_in_misakis_dictionaries_are_of_the_past() -> None:
    assert tags_of("I read and you read and they wound and we live.")["read"] == "VB"

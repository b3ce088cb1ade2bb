"""Other forms of pronouncing dictionaries: W3C's Pronunciation Lexicon Specification (PLS 1.0) and the CMU dictionary's
lines.

Both become lines of `text.lexicon`: a word, a tab, /IPA/ or other words, a tab, a language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

_ARPABET, _IPA = (
    "AA AE AH AH0 AO AW AY B CH D DH EH ER ER0 EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH",
    "ɑː æ ʌ ə ɔː aʊ aɪ b tʃ d ð ɛ ɜːr ər eɪ f ɡ h ɪ iː dʒ k l m n ŋ oʊ ɔɪ p r s ʃ t θ ʊ uː v w j z ʒ",
)
_SOUNDS = dict(zip(_ARPABET.split(), _IPA.split(), strict=True))
_STRESSES = {"1": "ˈ", "2": "ˌ"}
_CMU = re.compile(r"(?P<word>[^\s(]+)(?:\(\d\))? {1,3}(?P<sounds>[A-Z]{1,2}[012]?(?: [A-Z]{1,2}[012]?)*)(?: #.*)?")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class NoLexicon(ValueError):
    """Error for a file of XML that is no lexicon of PLS; its message is the reason."""


def from_cmu(line: str) -> str:
    """A line of the CMU dictionary as one of ours, for a word in any capitals; any other line unchanged."""
    match = _CMU.fullmatch(line.strip())
    sounds = match["sounds"].split(" ") if match else []
    if match is None or not all(sound in _SOUNDS or sound.rstrip("012") in _SOUNDS for sound in sounds):
        return line
    ipa = "".join(
        _STRESSES.get(sound[-1], "") + (_SOUNDS.get(sound) or _SOUNDS[sound.rstrip("012")]) for sound in sounds
    )
    return f"{match['word'].lower()}\t/{ipa}/\ten"


def is_pls(content: bytes) -> bool:
    return content.lstrip().startswith((b"<?xml", b"<lexicon"))


def from_pls(content: bytes) -> Iterator[str]:
    """Lines for each grapheme of a PLS document, with its first phoneme or alias.

    Raises:
        NoLexicon: it is no such document, or has a document type, entities, or another alphabet than IPA.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise NoLexicon("document types and entities aren't read")
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise NoLexicon(str(error)) from error
    if _name(root) != "lexicon":
        raise NoLexicon(f"its root is <{_name(root)}>, not <lexicon>")
    if (alphabet := root.get("alphabet", "ipa")) != "ipa":
        raise NoLexicon(f"its alphabet is {alphabet!r}, not ipa")
    language = root.get(_LANGUAGE, "")
    for lexeme in root:
        words = [_text(each) for each in lexeme if _name(each) == "grapheme"]
        said = next((each for each in lexeme if _name(each) in ("phoneme", "alias")), None)
        if said is not None:
            spoken = f"/{_text(said)}/" if _name(said) == "phoneme" else _text(said)
            yield from (f"{word}\t{spoken}\t{language}".rstrip("\t") for word in words)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element) -> str:
    return " ".join((element.text or "").split())

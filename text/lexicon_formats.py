"""Lexicons of other programs as lines of ours: the CMU dictionary and W3C's PLS."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

_ARPABET, _KOKORO = (
    "AA AE AH AH0 AO AW AY B CH D DH EH ER ER0 EY F G HH IH IY JH K L M N NG OW OY P R S SH T TH UH UW V W Y Z ZH",
    "ɑː æ ʌ ə ɔː aʊ aɪ b tʃ d ð ɛ ɜːr ər eɪ f ɡ h ɪ iː dʒ k l m n ŋ oʊ ɔɪ p r s ʃ t θ ʊ uː v w j z ʒ",
)
_SOUNDS = dict(zip(_ARPABET.split(), _KOKORO.split(), strict=True))
_STRESSES = {"1": "ˈ", "2": "ˌ"}
_CMU = re.compile(r"(?P<word>[^\s(]+)(?:\(\d\))? {1,3}(?P<sounds>[A-Z]{1,2}[012]?(?: [A-Z]{1,2}[012]?)*)(?: #.*)?")
ALTERNATE = re.compile(rb"(?P<word>[^\s(]+)\(\d\) ")
"""Line of the CMU dictionary with another way to say a word: TOMATO(2)."""
_PLS = "http://www.w3.org/2005/01/pronunciation-lexicon"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


PARTS = ("noun", "verb", "adjective", "adverb")
"""Parts of speech that an English entry may be for."""

_ROLES = {"nn": "noun", "n": "noun", "vb": "verb", "v": "verb", "jj": "adjective", "adj": "adjective", "rb": "adverb"}
_ROLES |= {"j": "adjective", "aj": "adjective", "r": "adverb", "av": "adverb"}
"""Names of parts of speech in the `role` of a lexeme of PLS, other than these."""


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
    """Lines for each grapheme of a PLS document, with its preferred or first phoneme or alias.

    Raises:
        NoLexicon: it is no such document, or has a document type, entities, or another alphabet than IPA.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise NoLexicon("document types and entities aren't read")
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # the latter two: an unknown encoding
        raise NoLexicon(str(error)) from error
    if root.tag not in ("lexicon", f"{{{_PLS}}}lexicon"):
        raise NoLexicon(f"its root is <{root.tag}>, not <lexicon> of {_PLS}")
    if (alphabet := root.get("alphabet", "ipa")) != "ipa":
        raise NoLexicon(f"its alphabet is {alphabet!r}, not ipa")
    language = root.get(_LANGUAGE, "")
    for lexeme in root:
        words = [_text(each) for each in lexeme if _name(each) == "grapheme"]
        ways = [each for each in lexeme if _name(each) in ("phoneme", "alias")]
        said = max(ways, key=lambda way: way.get("prefer") == "true", default=None)
        if said is not None:
            spoken = f"/{_text(said)}/" if _name(said) == "phoneme" else _text(said)
            spoken = spoken if said.get("alphabet", "ipa") == "ipa" else ""  # a problem of its own
            roles = (role.rpartition(":")[2].lower() for role in lexeme.get("role", "").split())
            part = next(filter(None, map(_part, roles)), "")
            yield from (f"{word}\t{spoken}\t{language}\t{part}".rstrip("\t") for word in words)


def _part(role: str) -> str:
    """Part of speech by its name or by a tag of a corpus: vb, VVI, NN1, AJ0."""
    if role in PARTS:
        return role
    return _ROLES.get(role) or (_ROLES.get(role[:2]) or _ROLES.get(role[:1]) or "" if len(role) < 5 else "")


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element) -> str:
    return " ".join((element.text or "").split())

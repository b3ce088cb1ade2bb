"""Rules for notes, keys and chords: F#, E♭ major, C#m7, Bb minor, an Am chord."""

from __future__ import annotations

import re

from text.normalization.draft.draft import END, MASK, START, Draft
from text.normalization.draft.words import cardinal

_QUALITIES = {"maj": "major", "M": "major", "min": "minor", "m": "minor", "dim": "diminished", "aug": "augmented"} | {
    "sus": "suspended",
    "add": "add",
}
_QUALITY = rf"(?:{'|'.join(_QUALITIES)})"
_NUMBER = r"(?:1[13]|[245679])"
_CHORD = re.compile(
    rf"{START}(?P<note>[A-G])(?P<sign>[#♯♭♮b])?(?P<quality>{_QUALITY})?(?P<number>{_NUMBER})?(?![\w{MASK}#♯♭♮+]|-\w|'\w|’\w)"
)
_CONTEXT = re.compile(
    r"\b(?:chords?|keys? of|(?:in|to) [A-G][#♯♭b]?|guitar|piano|riff|strum|arpeggio|progression|capo|tun(?:ed|ing))\b"
    rf"|[♯♭♮]|\b[A-G](?:#|b)?{_QUALITY}{_NUMBER}\b|\b[A-G]#|\b[A-G][b#]? (?:major|minor|sharp|flat)\b(?! [a-z])"
)
_JOINT = r"(?:[ ,|/–-]{1,2}|,? (?:to|and|then|or) )"
_OTHER = rf"(?:[B-G]|A(?! [a-z])|[A-G](?:[#♯♭b]|[#♯♭b]?{_QUALITY}){_NUMBER}?)"
_BEFORE_CHORD = re.compile(rf"(?:\b(?:[Cc]hords?(?: (?:is|are|of))?:?|[Kk]eys? of|capo) |{START}{_OTHER}{_JOINT})$")
_AFTER_CHORD = re.compile(rf"{_JOINT}(?:(?:chord|key|scale|arpeggio)s?\b|{_OTHER}{END})")
"""A chord that may be a word (Am, Asus, Edim) stands beside another one or beside its class."""
_KEY = re.compile(rf"{START}(?P<note>[A-G])b(?= (?:major|minor)\b)")
_TIME = re.compile(
    rf"{START}(?P<above>[2-9]|12)/(?P<below>[248]|16)(?= (?:time|signature|beat|meter|rhythm|groove|feel)\b){END}"
)
_SIGNS = {"#": "sharp", "♯": "sharp", "♭": "flat", "b": "flat", "♮": "natural"}
_LANGUAGES = frozenset("CFJ")


def apply(draft: Draft) -> None:
    british = draft.british
    if draft.has("/"):
        draft.replace(
            _TIME, lambda match: f"{cardinal(int(match['above']), british)} {cardinal(int(match['below']), british)}"
        )
    draft.replace(_KEY, lambda match: f"{match['note']} flat")
    draft.replace(_CHORD, lambda match: _chord(match, draft.sentence, british))


def _chord(match: re.Match[str], sentence: str, british: bool) -> str | None:
    sign, quality, interval = match["sign"], match["quality"], match["number"]
    if not (sign or quality or interval):
        return None
    certain = sign in ("♯", "♭", "♮") or (sign == "#" and (quality or match["note"] not in _LANGUAGES))
    if not certain and quality and not (sign or interval):
        before = sentence[max(0, match.start() - 24) : match.start()]
        certain = bool(_BEFORE_CHORD.search(before) or _AFTER_CHORD.match(sentence, match.end()))
        if not certain:
            return None
    if not certain and not ((quality or sign or interval == "7") and _CONTEXT.search(sentence)):
        return None
    said = [match["note"]]
    if sign:
        said.append(_SIGNS[sign])
    if quality:
        said.append(_QUALITIES[quality])
    if interval:
        said.append(cardinal(int(interval), british))
    return " ".join(said)

"""Rules for emoji and emoticons, which are left out or said by their Unicode name from the standard library."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial

from text.locales.tables import table
from text.normalization.draft import END, Draft, Rule

_PICTURES = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\U0001f000-\U0001faff"
)
_JOINED = rf"[{_PICTURES}\u20e3\ufe0f]"
_CUE = (
    r"(?:[☎☏📞📱📲](?=\ufe0f? ?[+(]?\d)|[♩♪](?= ?= ?\d)|(?:(?<=\w)|(?<=\w ))♭"
    r"|[♠♣♥♦](?=10|[2-9TJQKA])|(?<=[2-9TJQKA0])[♠♣♥♦]|[⬆⬇📈📉](?=\ufe0f? ?[$£€+~]?\d)|(?<=\w )➡(?=\ufe0f? \w))"
)
"""Cue before a number, flat after a note, suit of a card, or step, which stay until the classes are read."""
_CUES = re.compile("[☎☏📞📱📲♩♪♠♣♥♦] ?")
_PICTURE = re.compile(rf" ?(?:(?!{_CUE}){_JOINED})+")
_BEFORE = rf"(?:^| |(?<={_JOINED}))"
_EMOTICON = re.compile(rf"{_BEFORE}[:;=]['’]?-?[()DPp/|\\*]{END}(?=[\s.,!?]|{_JOINED}|$)|{_BEFORE}<3{END}(?![.,]\d)")
_SKIN_TONES, _FLAG_LETTERS = range(0x1F3FB, 0x1F400), range(0x1F1E6, 0x1F200)
_STARS = re.compile(
    r"(?<=\d)(?: ?[★⭐]\ufe0f?)+|(?P<full>[★⭐]{1,5})☆{1,5}|(?P<some>[★⭐]{1,5})½☆{0,4}"
    r"|(?P<all>[★⭐]{4,5}|⭐{2,3})(?![★⭐])"
)
_RATED: dict[str, dict[str, str]] = table("all", "emoji")
_OPENING = frozenset(("", *" \n([{“‘\"'«*"))
_ONE = re.compile(r"(?<![\d.,])1$")
_NOUN = re.compile(r" (?!(?:and|or|from|on|for|in|by|is|with|out|to|of|but|at)\b)[a-z]")
_BOXES = {"☐": "unchecked:", "☑": "checked:", "☒": "crossed:"}
_BOX = re.compile("[☐☑☒]")
_LOVED = re.compile(" <3(?= (?:u|you|ya|my|this|it|him|her|them)\\b)")
_MARK = re.compile("(?P<tick>[✓✔✅])|[✗✘✖❌]")
_NEGATIVE = re.compile(r"(?i) ?(?:\d|(?:no|not|never|avoid|without|wrong|cons|don.t|incorrect|false|un\w+|\w+n.t)\b)")
_BEGINS = re.compile(
    r" (?:[A-Z]\w|\d|(?:u|ur|im|he|she|they|we|it|its|so|but|call|need|can|pls|plz|text|see|dm|what|when|where|how)\b)"
)
_ENDS = re.compile("[\\w)%”\"’']$")


def _stars(match: re.Match[str], english: bool, one: str, several: str) -> str:
    """Stars of a rating; `several` has those with a half before a bar, and those without it."""
    full, text, end = match["full"] or match["all"] or match["some"] or "", match.string, match.end()
    described = english and _NOUN.match(text, end)
    single = (
        match["some"] is None if len(full) == 1 else not full and (described or _ONE.search(text, 0, match.start()))
    )
    half, _, plain = several.rpartition("|")
    pause = "," * bool(english and _BEGINS.match(text, end))
    gap = " " * (text[match.start() - 1 : match.start()] not in _OPENING)
    return f"{gap}{f'{len(full)} ' * bool(full)}{one if single else half if match['some'] else plain}{pause}"


def _read(match: re.Match[str]) -> str | None:
    """English words for ticks and crosses in columns or beside each other, and for pictures in a word's place."""
    written, text, (start, end) = match[0].strip(), match.string, match.span()
    before, after = text[max(start - 2, 0) : start], text[end : end + 24]
    if mark := _MARK.match(written):
        kinds = {near["tick"] is None for near in _MARK.finditer(text, max(start - 99, 0), end + 99)}
        if (asked := before[-1:] == ":") or (len(kinds) > 1 and (not after or after[0] in ",.;|)")):
            return f" {'yes' if mark['tick'] else 'no'}{',' * (after[:1] == ' ')}"
        if len(kinds) > 1 and not (asked or mark["tick"] or _NEGATIVE.match(after)):
            return f"{',' * bool(_ENDS.search(before))} no:"
    if written == "💯" and _ENDS.search(before) and after[1:2].islower() and before[-1] != "%":
        return " one hundred percent"
    return " love" if "❤" in written and before[-1:] == "I" and not before[:-1].isalnum() else None


def _without_pictures(match: re.Match[str]) -> str | None:
    """Picture match without its silent pictures; circled digits and arrows match as pictures too, and are read."""
    written, text = match[0].strip(), match.string
    if kept := "".join(each for each in written if unicodedata.category(each) in ("No", "Sm", "Nd", "Ps", "Pe")):
        return None if kept == written else f" {kept}"
    begins = _BEGINS.match(text, match.end()) or (
        _MARK.match(written) and text[match.end() + 1 : match.end() + 2].isalpha()
    )
    return "," * bool(begins and _ENDS.search(text, match.start() - 1, match.start()) and match.start())


def omit(draft: Draft, pictures: Callable[[re.Match[str]], str | None] = _without_pictures) -> None:
    if stars := _RATED.get(draft.language):
        one, several, english = stars["one"], stars["several"], draft.english
        draft.replace(_STARS, lambda match: _stars(match, english, one, several), "★⭐")
    if draft.english:
        first = _BOX.search(draft.sentence)
        labelled = first is not None and _ENDS.search(draft.sentence[: first.start()].rstrip()) is not None
        draft.replace(_BOX, lambda match: _BOXES[match[0]][:-1] + "," if labelled else _BOXES[match[0]])
        draft.replace(_LOVED, lambda match: " love", "<")
    # Before emoji: an emoticon next to one ends at a character that is hidden afterwards.
    draft.replace(_EMOTICON, lambda match: "", ":;=<")
    if draft.english and pictures is _without_pictures:
        draft.replace(_PICTURE, _read)
    draft.replace(_PICTURE, pictures)


def _named(match: re.Match[str]) -> str:
    names: list[str] = []
    flag = ""
    for picture in match[0].strip():
        if ord(picture) in _FLAG_LETTERS:
            flag += chr(ord(picture) - _FLAG_LETTERS.start + ord("A"))
            if len(flag) == 2:
                names.append(f"flag of {flag}")
                flag = ""
        elif ord(picture) not in _SKIN_TONES and picture not in "\u20e3\ufe0f":
            names.append(unicodedata.name(picture, "emoji").lower())
    following = match.string[match.end() : match.end() + 1]
    return f" {', '.join(names)}{' ' if following.isalnum() else ''}" if names else ""


_NEEDED = re.compile(rf"{_JOINED}|[:;=<][^ ]")
OMITTED = Rule("emoji", omit, _NEEDED)
CUES = Rule("emoji", lambda draft: draft.replace(_CUES, lambda match: ""), _CUES)
"""The last rule of all languages."""
NAMED = Rule("emoji", partial(omit, pictures=_named), _NEEDED)
"""The rule that all languages share, and its English form with `emoji_names`."""

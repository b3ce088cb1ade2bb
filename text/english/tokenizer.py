"""Tokenizer that splits English sentences into the tokens that misaki's rules expect, with tags for tokens that aren't
words.

misaki was written for spaCy's tokens and Penn tags. A token's text may differ from the written text: addresses, times
and signs become words here, because misaki has none for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from text.espeak.espeak import MAX_WORD
from text.locales.english import ABBREVIATIONS, ADDRESS_PART, ADDRESS_SIGNS, CURRENCY_NAMES, MAGNITUDES, SIGNS
from text.words.punctuation import MARKS, kinds

MAX_LEXICAL = 256
"""Most characters of a word: misaki takes very long for words of many thousands, such as `a-a-a`; espeak-ng doesn't."""

_PLAIN_WORD = 16
"""Characters under which a word of plain letters is one token: a longer one may hold `_MAX_JOINED` joined words."""

_MAX_DIGITS, _MAX_GROUPED = 15, 27
_MAX_JOINED = 8

_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,15}://|www\.|mailto:)\S"
    r"|[\w.+-]{1,64}@[\w-]{1,64}\.\w"
    r"|(?:[a-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|dev|ai|edu|gov|uk|de|fr|eu|ca|au|jp|cn|info|app|co)\b(?![.\w@])",
    re.IGNORECASE | re.ASCII,
)
_EDGES = re.compile(r"[\"'“”‘’(\[{<«]*+(.*?)[\"'“”‘’)\]}>».,;:!?…]*+", re.DOTALL)

# The pattern matches a string of character classes (`text.words.punctuation.kinds`).
_PIECE = re.compile(
    r"(?P<time>(?<![a0:.,])0{1,2}:00(?![0:]))"
    r"|(?P<phone>(?<![a0:.,-])(?:000-)?000-0000(?![0-]))"
    r"|(?P<number>(?:(?<![a0])-)?0+(?:[.,]0+)*)"
    r"|(?P<dotted>(?<!a)a(?:\.a)+(?!a)\.?)"
    r"|(?P<word>'?a+(?:'a+)*)"
    r"|(?P<dots>\.\.+)"
    r"|(?P<dashes>--+|-(?![a0]))"
    r"|(?P<mark>[.,:m])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_NUMBER_ENDING = re.compile(r"(?:st|nd|rd|th|['’]?s)(?![^\W_])")
_LEADING_APOSTROPHE = frozenset(
    ("'tis", "'twas", "'twere", "'twill", "'twould", "'em", "'cause", "'til", "'n", "'neath", "'gainst", "'bout")
)
_TAGS = {".": ".", "!": ".", "?": ".", ",": ",", "“": "``", "”": "''", "(": "-LRB-", ")": "-RRB-"}
_WORDS_WITH_STOP = frozenset(["dr", "esq", "mr", "mrs", "ms", "etc"])
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")


class Token(msgspec.Struct):
    """Input of misaki for a word or a part of it."""

    text: str
    """Spoken text; empty for a silent character that separates its neighbours."""
    word: int
    """Index of its word in the sentence."""
    start: int
    """Offset of the token in its word, in characters."""
    tag: str = ""
    """Penn tag; empty for words, which a tagger must tag."""
    space: bool = False
    """True if a space follows: the token and the next one are separate spoken words."""


def tokens(words: list[str]) -> Iterator[Token]:
    """Tokens of a sentence's words, in order; silent words (emoji) have none."""
    for place, word in enumerate(words):
        bare = word.removesuffix(",")
        if len(bare) < _PLAIN_WORD and bare.isascii() and bare.isalpha():
            yield Token(bare, place, 0, space=len(bare) == len(word))
            if len(bare) < len(word):
                yield Token(",", place, len(bare), ",", space=True)
            continue
        following = words[place + 1] if place + 1 < len(words) else ""
        found: list[Token] = []
        joined = 0
        for token in _word(word, following):
            token.word = place
            if found and (token.space or not token.text):
                found[-1].space = True
            if not token.text:
                continue
            found.append(token)
            joined = 0 if token.space else joined + 1
            if joined == _MAX_JOINED:
                token.space, joined = True, 0
        if found:
            found[-1].space = True
        yield from found


def _word(word: str, following: str) -> Iterator[Token]:
    if ("." in word[:-1] or ":" in word or "@" in word) and _ADDRESS.search(word):
        edges = _EDGES.fullmatch(word)
        start, stop = edges.span(1) if edges else (0, len(word))
        if _ADDRESS.match(word, start):
            yield from _plain(word[:start], "", "", 0)
            yield from _address(word[start:stop], start)
            yield from _plain(word[stop:], word[:stop], following, stop)
            return
    yield from _plain(word, "", following, 0)


def _address(text: str, offset: int) -> Iterator[Token]:
    """Tokens for each part and sign of an address, without omissions."""
    for part in ADDRESS_PART.finditer(text):
        start, written = offset + part.start(), part[0]
        if written in ADDRESS_SIGNS:
            yield Token(ADDRESS_SIGNS[written], 0, start, "NN", space=True)
        elif written.isdecimal():
            if len(written) <= 4:
                yield Token(written, 0, start, "CD", space=True)
            else:
                yield from _one_by_one(written, start)
        elif written[0].isalpha():
            for piece_start in range(0, len(written), MAX_WORD):
                yield Token(written[piece_start : piece_start + MAX_WORD], 0, start + piece_start, "NN", space=True)


def _plain(text: str, before: str, following: str, offset: int) -> Iterator[Token]:
    """Args:
    before: the word's characters before the text.
    following: the next word.
    """
    shape = kinds(text)
    end = 0
    after_currency = False
    while piece := _PIECE.match(shape, end):
        start, end = piece.span()
        written, place = text[start:end], offset + start
        match piece.lastgroup:
            case "time":
                yield from _time(written, place, followed_by_half=text[end:].lower() + following.lower())
            case "phone":
                for count, digits in enumerate(written.split("-")):
                    if count:
                        yield Token(",", 0, place, ",")
                    yield from _one_by_one(digits, place)
            case "number":
                if ending := _NUMBER_ENDING.match(text, end):
                    written, end = written + ending[0], ending.end()
                magnitude = re.match(r"(?:bn|[kKMBT])(?![^\W_])", text[end:]) if after_currency else None
                if magnitude:
                    end += magnitude.end()
                yield from _number(written, place, apart=end < len(text) and shape[end] in "as")
                if magnitude:
                    yield Token(MAGNITUDES[magnitude[0].lower()], 0, place, "CD")
            case "dotted":
                yield Token(written, 0, place, "NNP" if written.isupper() else "RB")
                if written[-1] == "." and not following and not text[end:].strip("\"'”’)"):
                    yield Token(".", 0, place, ".")
            case "word":
                if abbreviated := _with_stop(written, text[end:], following, place):
                    end += 1
                    yield from abbreviated
                else:
                    yield from _letters(written, place)
            case "dots":
                yield Token("…", 0, place, ":")
            case "dashes":
                alone = end - start > 1 or (start == 0 and end == len(text) and not before)
                yield Token("—", 0, place, ":") if alone else Token("-", 0, place, "HYPH")
            case "mark":
                yield from _mark(text, shape, start, place)
            case _:
                after_number = start > 0 and shape[start - 1] == "0"
                before_number = shape[end : end + 1] in ("0", "-") or (end == len(text) and following[:1].isdecimal())
                after_currency = shape[start] == "$" and before_number
                first, named = not text[:start] + before, shape[end : end + 1] in ("a", "_")  # $HOME
                yield from _sign(written, shape[start], place, after_number, before_number, first, named)


def _with_stop(written: str, rest: str, following: str, place: int) -> list[Token]:
    """Tokens of a word with the full stop that belongs to it (abbreviation or initial); none if no stop belongs to it.

    Args:
        rest: the text after the word.
        following: the next word.
    """
    if not rest.startswith("."):
        return []
    lower = written.lower()
    if lower in ABBREVIATIONS and (len(rest) > 1 or following):
        return [Token(ABBREVIATIONS[lower], 0, place)]
    if lower in _WORDS_WITH_STOP and (following or lower == "etc"):
        abbreviation = Token("etc." if lower == "etc" else f"{written.capitalize()}.", 0, place, "NNP")
        return [abbreviation] if following else [abbreviation, Token(".", 0, place, ".")]
    if len(written) == 1 and written.isupper() and len(rest) == 1 and following[:1].isupper():
        return [Token(written, 0, place, "NNP")]
    return []


def _mark(text: str, shape: str, start: int, place: int) -> Iterator[Token]:
    mark = MARKS[text[start]]
    if start > 0 and text[start - 1] == text[start]:
        return
    inside = start > 0 and shape[start - 1] in "a0" and shape[start + 1 : start + 2] in ("a", "0")
    if inside and mark == "—" and shape[start - 1] == shape[start + 1] == "0":
        yield Token("to", 0, place, "IN", space=True)
    elif inside and mark == "." and not (text[start - 1].islower() and text[start + 1].isupper()):
        yield Token("dot", 0, place, "NN", space=True)
    elif inside and mark == ":" and shape[start - 1] == "0":
        yield Token(",", 0, place, ",")
    else:
        yield Token(mark, 0, place, _TAGS.get(mark, ":"))


def _sign(
    written: str, kind: str, place: int, after_number: bool, before_number: bool, first: bool, named: bool
) -> Iterator[Token]:
    if kind == '"':
        yield Token('"', 0, place, "``" if first else "''")
    elif kind == "$":
        if before_number and written in "$£€":
            yield Token(written, 0, place, "$")
        else:
            name = CURRENCY_NAMES.get(written, written)
            yield Token(name.removesuffix("s") if named else name, 0, place, "NNS", space=True)
    elif kind == "-":
        yield Token("" if after_number else "-", 0, place, "HYPH")
    elif kind == "/":
        yield Token("/", 0, place, "HYPH")
    elif kind == "s":
        spoken = "number" if written == "#" and before_number else SIGNS.get(written, written)
        for name in spoken.split():
            yield Token(name, 0, place, "NN", space=True)
    else:
        yield Token("", 0, place)


def _letters(written: str, place: int) -> Iterator[Token]:
    if written[0] in "'’‘ʼ＇" and "'" + written[1:].lower() not in _LEADING_APOSTROPHE:
        written, place = written[1:], place + 1
    if not any(map(str.isalpha, written)):
        yield Token("", 0, place)
        return
    humps = [match.start() for match in _HUMP.finditer(written)]
    cuts = humps if len(humps) >= _MAX_JOINED else list(range(MAX_WORD, len(written), MAX_WORD)) * (len(written) > 48)
    for start, stop in zip([0, *cuts], [*cuts, len(written)], strict=True):
        yield Token(written[start:stop], 0, place + start, space=stop < len(written))


def _number(written: str, place: int, apart: bool) -> Iterator[Token]:
    digits = sum(map(str.isdecimal, written))
    if digits > (_MAX_GROUPED if "," in written else _MAX_DIGITS):
        yield from _one_by_one(written, place)
    else:
        yield Token(written, 0, place, "CD", space=apart)


def _one_by_one(written: str, place: int) -> Iterator[Token]:
    for offset, digit in enumerate(written):
        if digit.isdecimal():
            yield Token(digit, 0, place + offset, "CD", space=True)


def _time(written: str, place: int, followed_by_half: str) -> Iterator[Token]:
    hours, _, minutes = written.partition(":")
    yield Token(str(int(hours)), 0, place, "CD", space=True)
    if minutes[0] == "0" and minutes[1] != "0":
        yield Token("oh", 0, place, "CD", space=True)
    if int(minutes):
        yield Token(str(int(minutes)), 0, place, "CD", space=True)
    elif not re.match(r"[ap]\.?m", followed_by_half):
        yield Token("o'clock" if 1 <= int(hours) <= 12 else "hundred", 0, place, "RB", space=True)

"""Sanitiser that removes characters for display or machines from a text, and keeps every audible one."""

from __future__ import annotations

import re
import unicodedata

_JOINERS = "\u200c\u200d"

# A (non-)joiner changes letters' shape and words' meaning in these scripts: Unicode, chapters 9, 12, 13 and 16.
_JOINING = "\u0620-\u06ff\u0750-\u077f\u08a0-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufb50-\ufdff\ufe70-\ufefc"

_JOINER_ELSEWHERE = re.compile(f"[{_JOINERS}](?:(?![{_JOINING}])|(?<![{_JOINING}].))")
_NOT_PLAIN = re.compile(r"[^ -~\n]+")
_TERMINAL_CODE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_GROUPED_NUMBER = re.compile(r"(?<![\d.,])\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)")
_GROUPING = re.compile(r"[\u00a0\u2009\u202f]")
_ABBREVIATED = re.compile(r"(?<=[\u0901-\u0963])[०॰](?!\d)")
"""Circle that stands for a full stop after a part of a word in Devanagari: डॉ०."""
_LINE_END = re.compile("\r\n?|[\v\f\u2028]")
_SPACES = re.compile(" {2,}")
_AROUND_NEWLINE = re.compile(r" ?\n ?")
_BLANK_LINES = re.compile(r"\n{3,}")

# Variation selectors, the object replacement character, and code points that Unicode promises never to assign.
_UNHEARD = ((0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0xFFFC, 0xFFFC), (0xFDD0, 0xFDEF), (0xFFFE, 0xFFFF))


_FULL_WIDTH = frozenset(
    [*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *map(ord, "％＄＃＆＋－＝＠")]
)
"""Full-width forms of ASCII letters, digits and signs. Full-width punctuation is left out, because it is pronounced as
pauses.
"""

_STYLED = range(0x1D400, 0x1D800)
"""Mathematical letters and digits, which people write for bold and script."""

_CIRCLED = frozenset([*range(0x249C, 0x24EA), *range(0x1F130, 0x1F14A)])
"""Letters in circles, squares and parentheses."""


class _Characters(dict[int, str]):
    """Replacement for each character, computed at the character's first use, since all of Unicode would take too long
    at start.
    """

    def __missing__(self, code: int) -> str:
        self[code] = heard = self._heard(code)
        return heard

    @staticmethod
    def _heard(code: int) -> str:
        character = chr(code)
        if character in _JOINERS or character == "\n":
            return character
        if code in _FULL_WIDTH:
            return chr(code - 0xFEE0)
        if code in _STYLED or code in _CIRCLED:
            plain = unicodedata.normalize("NFKC", character).strip("()")
            return plain if len(plain) == 1 and ord(plain) < 0x400 else character
        if 0x1F150 <= code < 0x1F18A and (name := unicodedata.name(character)).startswith("NEGATIVE"):
            return name[-1]
        if character == "\t":
            return " "
        if character == "\u2029":
            return "\n\n"
        if 0x80 <= code < 0xA0:
            # HTML reads these control codes as Windows-1252, since in practice they come from there.
            return bytes([code]).decode("cp1252", "ignore")
        match unicodedata.category(character):
            case "Zs":
                return " "
            case "Cc" | "Cf":
                return ""
        return "" if any(start <= code <= end for start, end in _UNHEARD) else character


_characters = _Characters()


def sanitize(text: str) -> str:
    """Sanitised text in NFC: lines of words with one space between them, and at most one blank line between lines.

    Removed are control and formatting characters (terminal colours, zero-width spaces, soft hyphens, byte order and
    bidi marks, variation selectors), lone surrogates, and spaces inside a number that group its digits by three. A
    (non-)joiner stays between letters of a script that spells with it. The function is idempotent and takes linear
    time.
    """
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    text = _TERMINAL_CODE.sub("", text)
    text = _LINE_END.sub("\n", text)
    if _GROUPING.search(text):
        text = _GROUPED_NUMBER.sub(lambda number: _GROUPING.sub("", number[0]), text)
    text = _ABBREVIATED.sub(".", text)
    text = _NOT_PLAIN.sub(lambda run: run[0].translate(_characters), text)
    text = unicodedata.normalize("NFC", _JOINER_ELSEWHERE.sub("", text)).replace("+/-", "±")
    text = _AROUND_NEWLINE.sub("\n", _SPACES.sub(" ", text))
    return _BLANK_LINES.sub("\n\n", text).strip(" \n")

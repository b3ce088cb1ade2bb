"""Words of a text and of its recognition, in a form in which they can be compared."""

from __future__ import annotations

import re
import unicodedata

from num2words import num2words

_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?(?:st|nd|rd|th)?(?![a-z])|[^\W\d_]+")

_SPELLED: dict[str, tuple[str, ...]] = {
    "harbour": ("harbor",),
    "harbours": ("harbors",),
    "colour": ("color",),
    "colours": ("colors",),
    "grey": ("gray",),
    "metres": ("meters",),
    "metre": ("meter",),
    "neighbour": ("neighbor",),
    "neighbours": ("neighbors",),
    "towards": ("toward",),
    "mr": ("mister",),
    "mrs": ("missus",),
    "dr": ("doctor",),
    "ok": ("okay",),
}
"""Words that sound alike and have two spellings, by the spelling that is replaced."""

_FIRST_YEAR, _LAST_YEAR = 1100, 2099


def spoken_words(text: str) -> list[str]:
    """Words of an English text in lower case, without punctuation, with numbers written out, in American spelling.

    Apostrophes aren't heard: "Saturday's" is "saturdays". "At 8 o'clock, the Harbour-master" and "at eight oclock the
    harbor master" are the same words.
    """
    plain = unicodedata.normalize("NFKC", text).replace("’", "'").replace("'", "").lower()
    plain = re.sub(r"£(\d+)\.(\d\d)", r"\1 pounds and \2 pence", plain)  # as the recogniser writes what it hears
    words: list[str] = []
    for token in _TOKEN.findall(plain):
        words += _number(token) if token[0].isdigit() else _SPELLED.get(token, (token,))
    return words


def _number(token: str) -> list[str]:
    digits = token.rstrip("stndrh").replace(",", "")
    if token[-1] in "tdh":
        said = num2words(int(float(digits)), to="ordinal")
    elif "," not in token and digits.isdigit() and _FIRST_YEAR <= int(digits) <= _LAST_YEAR:
        said = num2words(int(digits), to="year")
    else:
        said = num2words(float(digits) if "." in digits else int(digits))
    return re.findall(r"[a-z]+", said)


def word_errors(said: str, understood: str) -> int:
    """Smallest number of words to substitute, insert or delete to turn one text into the other, after `spoken_words`.

    Two words understood as one, or one as two ("light house"), are no error if their letters are the same.
    """
    reference, hypothesis = spoken_words(said), spoken_words(understood)
    rows = [list(range(len(hypothesis) + 1))]
    for i, word in enumerate(reference, 1):
        row = [i]
        for j, other in enumerate(hypothesis, 1):
            best = min(rows[-1][j] + 1, row[j - 1] + 1, rows[-1][j - 1] + (word != other))
            if i > 1 and reference[i - 2] + word == other:
                best = min(best, rows[i - 2][j - 1])
            if j > 1 and hypothesis[j - 2] + other == word:
                best = min(best, rows[i - 1][j - 2])
            row.append(best)
        rows.append(row)
    return rows[-1][-1]

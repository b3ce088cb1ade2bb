"""English words for signs and abbreviations."""

from __future__ import annotations

import re

ADDRESS_PART = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
"""One part of an address: letters, digits or a sign."""

ADDRESS_SIGNS = {
    ".": "dot",
    "/": "slash",
    ":": "colon",
    "@": "at",
    "-": "dash",
    "_": "underscore",
    "?": "question",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "%": "percent",
    "~": "tilde",
    "+": "plus",
    ",": "comma",
    ";": "semicolon",
    "!": "exclamation",
    "*": "star",
}
"""Names of signs in web and mail addresses, where every sign is read."""

SIGNS = {
    "#": "hash",
    "=": "equals",
    "°": "degrees",
    "℃": "degrees Celsius",
    "℉": "degrees Fahrenheit",
    "×": "times",
    "÷": "divided by",
    "±": "plus or minus",
    "−": "minus",
    "≈": "approximately equals",
    "≠": "does not equal",
    "≤": "less than or equal to",
    "≥": "greater than or equal to",
    "→": "to",
    "§": "section",
    "©": "copyright",
    "®": "registered",
    "™": "trademark",
    "№": "number",
    "½": "one half",
    "¼": "one quarter",
    "¾": "three quarters",
    "²": "squared",
    "³": "cubed",
    "∞": "infinity",
    "\\": "backslash",
}

CURRENCY_NAMES = {
    "$": "dollars",
    "£": "pounds",
    "€": "euros",
    "¥": "yen",
    "₹": "rupees",
    "₽": "rubles",
    "₩": "won",
    "¢": "cents",
    "₿": "bitcoin",
}
"""Names of currency signs, for places where misaki's own rule (a dollar, pound or euro sign before a number) does not
apply.
"""

MAGNITUDES = {"k": "thousand", "m": "million", "b": "billion", "bn": "billion", "t": "trillion"}
"""Names of magnitude letters after an amount: $5M."""

ABBREVIATIONS = {
    "prof": "professor",
    "jr": "junior",
    "sr": "senior",
    "vs": "versus",
    "approx": "approximately",
    "dept": "department",
    "gov": "governor",
    "gen": "general",
    "capt": "captain",
    "lt": "lieutenant",
    "sgt": "sergeant",
    "col": "colonel",
    "rev": "reverend",
    "hon": "honorable",
    "st": "saint",
    "vol": "volume",
    "fig": "figure",
    "inc": "incorporated",
    "corp": "corporation",
    "ltd": "limited",
}
"""Abbreviations that are read in full if their full stop follows inside a sentence. misaki's lexicon has Mr., Mrs.,
Ms., Dr., Esq. and etc.
"""

"""Signs and abbreviations of English texts in the words that are said for them."""

from __future__ import annotations

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
"""In web and mail addresses, where each sign counts."""

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
"""Where misaki's own rule, a dollar, pound or euro sign before a number, does not apply."""

MAGNITUDES = {"k": "thousand", "m": "million", "b": "billion", "bn": "billion", "t": "trillion"}
"""After a currency's number: $5M."""

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
"""With their full stop, inside a sentence. misaki's lexicon has Mr., Mrs., Ms., Dr., Esq. and etc."""

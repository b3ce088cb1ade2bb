"""Patterns that several rules share. All repetitions are bounded or possessive, so matching takes linear time."""

from __future__ import annotations

MASK = "\ufdd0"
"""Placeholder for each character that a rule has rewritten: a noncharacter, which sanitised text never contains."""

START = rf"(?<![\w{MASK}])"
"""Position at which a word can begin."""

END = rf"(?![\w{MASK}])"
"""Position at which a word can end."""

NUMBER_START = rf"(?<![\w{MASK}$£€¥₹])(?<!\d[.,:/-])(?<![^\W\d][-/])(?<!\^)(?<!\^[-−])(?<![^\s(\[\"“‘'—]\.)"
"""Position at which a number can begin: outside addresses, versions, exponents, model names (F-16), other numbers."""

NUMBER_END = rf"(?![\w{MASK}])(?![.,:/^-]\d)"

NUMBER = (
    r"(?:\d{1,3}(?:,\d{3}){1,4}(?!\d)|\d{1,2}(?:,\d{2}){1,5},\d{3}(?!\d)|\d{1,3}(?:['’]\d{3}){1,4}(?!\d)|\d{1,15})"
    r"(?:\.\d{1,15})?"
)
"""Cardinal or decimal number with its digits grouped by commas in thousands, as in India (2,50,000) or in Switzerland
(1'950), or ungrouped.
"""

MINUS = r"(?:(?<![^\s(\[\"“‘'=<>≤≥~×*/+,:–—])[-−](?=[\d.$£€¥]))"
"""Minus sign that belongs to the number after it."""

DASH = r"(?: ?[–—] ?|[-‐‑−])"
"""Dash between a range's ends."""
